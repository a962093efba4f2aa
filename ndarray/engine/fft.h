// Fourier transforms (kernels/registry/fft.h) of arrays.
//
// Thread safety: may be called from any thread.
#pragma once

#include <cstdint>

#include <catena/kernels/registry/fft.h>
#include <catena/ndarray/core/array.h>

namespace nd::internal {

using catena::bound::FftKind;

// Returns the transforms of length n along the last axis of `a`, a C-contiguous array of the numbers that the kind
// transforms: float32, float64, complex64 or complex128. The length of that axis fits the kind and n. The device must
// execute the kind.
CATENA_EXPORT Array fft_rows(FftKind kind, const Array& a, std::int64_t n, bool inverse, double scale);

}  // namespace nd::internal
