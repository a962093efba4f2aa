// The functions of autograd that Chainer has in `chainer.functions`, as names of nn: nn::sum, nn::concat.
// (nn::functions has all functions, see modules.h.)
#pragma once

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/einsum.h>
#include <catena/autograd/functions/fft.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>

namespace nn {

using autograd::absolute, autograd::arccos, autograd::arcsin, autograd::arctan, autograd::arctan2, autograd::argmax,
    autograd::argmin, autograd::as_strided, autograd::average, autograd::batch_inv, autograd::batch_l2_norm_squared,
    autograd::batch_matmul, autograd::bias, autograd::broadcast, autograd::broadcast_to, autograd::cast, autograd::ceil,
    autograd::clip, autograd::concat, autograd::cos, autograd::cosh, autograd::cumprod, autograd::cumsum, autograd::det,
    autograd::diagonal, autograd::digamma, autograd::dstack, autograd::einsum, autograd::erf, autograd::erfc,
    autograd::exp, autograd::expand_dims, autograd::expm1, autograd::fix, autograd::flatten, autograd::flip,
    autograd::fliplr, autograd::flipud, autograd::floor, autograd::fmod, autograd::get_item, autograd::hstack,
    autograd::inv, autograd::lgamma, autograd::linear_interpolate, autograd::log, autograd::log10, autograd::log1p,
    autograd::log2, autograd::log_ndtr, autograd::logsumexp, autograd::matmul, autograd::max, autograd::maximum,
    autograd::mean, autograd::min, autograd::minimum, autograd::moveaxis, autograd::ndtr, autograd::ndtri,
    autograd::pad, autograd::polygamma, autograd::prod, autograd::reshape, autograd::rollaxis, autograd::rsqrt,
    autograd::scale, autograd::scatter_add, autograd::sigmoid, autograd::sign, autograd::sin, autograd::sinh,
    autograd::split_axis, autograd::sqrt, autograd::square, autograd::squared_difference, autograd::squeeze,
    autograd::stack, autograd::sum, autograd::sum_to, autograd::swapaxes, autograd::tan, autograd::tanh,
    autograd::tensordot, autograd::tile, autograd::transpose, autograd::vstack, autograd::where;
// Chainer's functions of pairs of real variables; autograd::fft is a namespace.
using autograd::pairs::fft, autograd::pairs::ifft, autograd::pairs::rfft, autograd::pairs::irfft;
namespace functions {
using nn::fft;
}

}  // namespace nn
