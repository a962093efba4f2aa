// The functions of autograd that Chainer has in `chainer.functions`, as names of nn: nn::sum, nn::concat.
// (nn::functions has all functions, see modules.h.)
#pragma once

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>

namespace nn {

using autograd::absolute;
using autograd::argmax;
using autograd::argmin;
using autograd::broadcast_to;
using autograd::cast;
using autograd::clip;
using autograd::concat;
using autograd::cos;
using autograd::cumsum;
using autograd::exp;
using autograd::expand_dims;
using autograd::flatten;
using autograd::flip;
using autograd::log;
using autograd::logsumexp;
using autograd::matmul;
using autograd::max;
using autograd::maximum;
using autograd::mean;
using autograd::min;
using autograd::minimum;
using autograd::pad;
using autograd::prod;
using autograd::reshape;
using autograd::rsqrt;
using autograd::sigmoid;
using autograd::sin;
using autograd::split_axis;
using autograd::sqrt;
using autograd::square;
using autograd::squeeze;
using autograd::stack;
using autograd::sum;
using autograd::swapaxes;
using autograd::tanh;
using autograd::tile;
using autograd::transpose;
using autograd::where;

}  // namespace nn
