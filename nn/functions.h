// All neural-network functions.
#pragma once

#include "nn/functions/activation.h"
#include "nn/functions/connection.h"
#include "nn/functions/evaluation.h"
#include "nn/functions/loss.h"
#include "nn/functions/noise.h"
#include "nn/functions/normalization.h"
#include "nn/functions/pooling.h"
