// Everything: arrays, automatic differentiation, neural networks, training. Programs that include this make their arrays with ndarray.
#pragma once

#include "autograd/array.h"
#include "autograd/backward.h"
#include "autograd/debug.h"
#include "autograd/flag.h"
#include "autograd/function.h"
#include "autograd/function_node.h"
#include "autograd/functions/array.h"
#include "autograd/functions/basic_math.h"
#include "autograd/functions/math.h"
#include "autograd/functions/reduction.h"
#include "autograd/gradient_check.h"
#include "autograd/hooks.h"
#include "autograd/ndarray_backend/convert.h"
#include "autograd/ndarray_backend/ndarray_backend.h"
#include "autograd/operators.h"
#include "autograd/variable.h"
#include "ndarray/ndarray.h"
#include "nn/nn.h"
#include "training/training.h"

namespace autograd::internal {

// In the user's own translation unit, so that the framework's libraries need no array library.
inline const bool arrays_are_ndarrays = (set_default_backend(&ndarray_backend), true);

}  // namespace autograd::internal
