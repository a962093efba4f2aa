// Umbrella header of nn/link_hooks: spectral normalization, normalization and standardization of weights, times.
#pragma once

#include <catena/nn/link_hooks/parametrizations.h>
#include <catena/nn/link_hooks/pruning.h>
#include <catena/nn/link_hooks/spectral_normalization.h>
#include <catena/nn/link_hooks/timer_hook.h>
#include <catena/nn/link_hooks/weight_normalization.h>
#include <catena/nn/link_hooks/weight_standardization.h>
