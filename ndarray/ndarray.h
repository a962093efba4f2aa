// All of ndarray: n-dimensional arrays on the CPU and on NVIDIA GPUs.
#pragma once

#include "ndarray/core/array.h"
#include "ndarray/core/dtype.h"
#include "ndarray/core/storage.h"
#include "ndarray/device/device.h"
#include "ndarray/device/memory_hook.h"
#include "ndarray/device/memory_pool.h"
#include "ndarray/device/stream.h"
#include "ndarray/kernel/ufunc.h"
#include "ndarray/routines/creation.h"
#include "ndarray/routines/logic.h"
#include "ndarray/routines/math.h"
#include "ndarray/routines/reduction.h"
#include "ndarray/routines/statistics.h"
