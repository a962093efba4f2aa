// Differentiable Fourier transforms along the last axis. Complex numbers are pairs of Variables, their real and their
// imaginary parts, as in Chainer, whose F.fft is nn::fft. (autograd::fft has the functions of torch.fft.)
//
//   auto [real, imag] = autograd::pairs::fft({x, y});
#pragma once

#include <cstdint>
#include <optional>

#include <catena/autograd/variable.h>

namespace autograd {

// An imaginary part that is null is 0.
struct ComplexPair {
  Variable real, imag = {};
};

namespace pairs {
// X[k] = sum_j x[j] exp(-2 pi i j k / n), and its inverse x[j] = 1/n sum_k X[k] exp(2 pi i j k / n), of the shape of
// the operands. Both parts are floating, of one shape and dtype, and of at least one axis (InvalidType), whose length
// is not 0 (ValueError). 16-bit floats are computed in float32.
CATENA_EXPORT ComplexPair fft(const ComplexPair& x);
CATENA_EXPORT ComplexPair ifft(const ComplexPair& x);
// Of real numbers: the first n / 2 + 1 numbers, and the inverse, n real numbers (2 (length - 1) by default). Imaginary
// parts of the first number and, if n is even, of the last one are ignored. ValueError unless n / 2 + 1 are given.
CATENA_EXPORT ComplexPair rfft(const Variable& x);
CATENA_EXPORT Variable irfft(const ComplexPair& x, std::optional<std::int64_t> n = {});
}  // namespace pairs

}  // namespace autograd
