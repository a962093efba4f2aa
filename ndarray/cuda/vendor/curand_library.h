// cuRAND's table of entry points.
#pragma once

#include <string>

#include <catena/ndarray/cuda/api/curand.h>
#include <catena/ndarray/cuda/runtime/library.h>

namespace nd::cuda {

namespace api {
struct CurandFunctions {
  CATENA_CURAND_FUNCTIONS(CATENA_FIELD)
};
struct CurandNames {
#define CATENA_NAME(symbol, field, ...) static constexpr const char* field = #symbol;
  CATENA_CURAND_FUNCTIONS(CATENA_NAME)
#undef CATENA_NAME
};
}  // namespace api

struct Curand : api::CurandFunctions {
  std::string path;
  int version = 0;  // 10400
};
// RuntimeError "cuRAND is unavailable: libcurand.so.10 not found (tried: ...)", with the same text at every call.
CATENA_EXPORT const Curand& curand();

}  // namespace nd::cuda
