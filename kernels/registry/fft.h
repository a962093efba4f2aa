// The bound call of discrete Fourier transforms. Lengths, norms and axes are decided by ndarray/routines/fft.h, in the
// same way for every backend.
#pragma once

#include <cstddef>
#include <cstdint>

#include <catena/kernels/base/dtype.h>

namespace catena::bound {

inline constexpr int kLargestFftFactor = 31;
// True for a length with a larger prime factor.
constexpr bool has_large_factor(std::int64_t n) {
  for (int p = 2; p <= kLargestFftFactor; ++p)
    while (n % p == 0) n /= p;
  return n > 1;
}

enum class FftKind : std::uint8_t {
  complex,          // n complex numbers to n complex numbers
  real_to_complex,  // n real numbers to the first n / 2 + 1 complex numbers of their transform
  complex_to_real,  // n / 2 + 1 complex numbers, the first of a Hermitian transform, to n real numbers. The imaginary
                    // parts of the first number and, if n is even, of the last one are not used
};

// out[k] = scale * sum_j in[j] exp(-2 pi i j k / n), with + instead of - if `inverse`, for each row of two C-contiguous
// matrices that do not overlap. `dtype` is that of the complex numbers; real numbers have the dtype of their parts.
// real_to_complex is never inverse, complex_to_real always is. There are rows, and n > 0. The CPU executes every call
// of one axis; other devices execute `complex` of one axis for lengths without prime factors above kLargestFftFactor. A
// device whose library for transforms can be used also executes every call with the scale 1: it may change the input of
// complex_to_real, whose first and, if n is even, last number of a row must be real.
struct Fft {
  FftKind kind = FftKind::complex;
  Dtype dtype = Dtype::complex128;
  bool inverse = false;
  std::int64_t rows = 0, n = 0;
  double scale = 1;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  // The lengths of axes before the last one that are transformed, too; 1: no such axis. A row is then a block.
  std::int64_t before[2] = {1, 1};
  // `complex` on the CPU: the transforms of an axis before others, whose elements are so many. Number j of a transform
  // is `columns` numbers behind number j - 1, and `rows` is a multiple.
  std::int64_t columns = 1;
};

}  // namespace catena::bound
