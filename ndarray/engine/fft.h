// Fourier transforms (kernels/registry/fft.h) of arrays.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>

#include <catena/kernels/registry/fft.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

using catena::bound::FftKind;

// Returns the transforms of the given lengths along the last axes of `a`, at most three: a C-contiguous array of the
// numbers that the kind transforms, float32, float64, complex64 or complex128. The lengths of these axes fit the kind
// and the lengths. The device must execute the call (kernels/registry/fft.h).
CATENA_EXPORT Array fft_blocks(FftKind kind, const Array& a, const Shape& lengths, bool inverse, double scale);
// The same for the last axis.
inline Array fft_rows(FftKind kind, const Array& a, std::int64_t n, bool inverse, double scale) {
  return fft_blocks(kind, a, Shape{n}, inverse, scale);
}

// The elements of the axes behind one.
inline std::int64_t elements_behind(const Shape& shape, int axis) {
  std::int64_t elements = 1;
  for (int k = axis + 1; k < shape.size(); ++k) elements *= shape[k];
  return elements;
}
// The complex transforms along an axis of a C-contiguous array of the CPU, complex64 or complex128.
CATENA_EXPORT Array fft_along_axis(const Array& a, int axis, bool inverse, double scale);

}  // namespace nd::internal
