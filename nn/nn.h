// The neural-network library: functions, links, initializers, serializers, reports.
#pragma once

#include "nn/functions.h"
#include "nn/initializer.h"
#include "nn/link.h"
#include "nn/links.h"
#include "nn/parameter.h"
#include "nn/reporter.h"
#include "nn/serializers/npz.h"
#include "nn/serializers/serializer.h"
