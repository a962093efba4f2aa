// Fourier transforms by cuFFT. Plans are kept per device (ndarray/device/fft_plans.h); their work space is memory of
// the pool for the time of a call.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <string>

#include <catena/kernels/base/export.h>
#include <catena/kernels/registry/fft.h>
#include <catena/ndarray/cuda/api/cufft.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/ndarray/device/types.h>

namespace nd::cuda {

namespace api {
struct CufftFunctions {
  CATENA_CUFFT_FUNCTIONS(CATENA_FIELD)
};
struct CufftNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CUFFT_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Cufft : api::CufftFunctions {
  std::string path;
  int version = 0;  // 12000
};
// RuntimeError "cuFFT is unavailable: libcufft.so.12 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Cufft& cufft();

// True if the transforms of this thread are cuFFT's: the library is there, and no OwnTransforms exists.
CATENA_EXPORT bool uses_cufft();

// While it exists, the transforms of this thread are those of Catena's own kernels, as without the library.
class CATENA_EXPORT OwnTransforms {
 public:
  OwnTransforms();
  ~OwnTransforms();
  OwnTransforms(const OwnTransforms&) = delete;
  OwnTransforms& operator=(const OwnTransforms&) = delete;

 private:
  bool before_;
};

// Enqueues a transform with the scale 1, of any kind and length and of up to three axes. CudaError for a failure of the
// library.
CATENA_EXPORT void transform_by_cufft(const catena::bound::Fft& call, StreamRef stream);

}  // namespace nd::cuda
