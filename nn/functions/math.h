// The functions of autograd that Chainer has in `chainer.functions`, as names of nn: nn::sum, nn::concat.
// (nn::functions has all functions, see modules.h.)
#pragma once

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

namespace nn {

using autograd::absolute, autograd::argmax, autograd::argmin, autograd::broadcast_to, autograd::cast, autograd::clip,
    autograd::concat, autograd::cos, autograd::cumsum, autograd::exp, autograd::expand_dims, autograd::flatten,
    autograd::flip, autograd::log, autograd::logsumexp, autograd::matmul, autograd::max, autograd::maximum,
    autograd::mean, autograd::min, autograd::minimum, autograd::pad, autograd::prod, autograd::reshape, autograd::rsqrt,
    autograd::sigmoid, autograd::sin, autograd::split_axis, autograd::sqrt, autograd::square, autograd::squeeze,
    autograd::stack, autograd::sum, autograd::swapaxes, autograd::tanh, autograd::tile, autograd::transpose,
    autograd::where;

}  // namespace nn
