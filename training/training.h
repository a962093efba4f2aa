// Training: optimizers, data, the trainer and its extensions.
#pragma once

#include "training/dataset.h"
#include "training/datasets/mnist.h"
#include "training/extensions.h"
#include "training/iterator.h"
#include "training/optimizer.h"
#include "training/optimizer_hooks.h"
#include "training/optimizers.h"
#include "training/trainer.h"
#include "training/updater.h"
