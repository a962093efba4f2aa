#include <catena/kernels/base/cuda_error.h>

#include <initializer_list>
#include <string_view>

namespace catena {

#define CATENA_DEFINE_DESTRUCTOR(Name, ...) Name::~Name() = default;
CATENA_CUDA_ERRORS(CATENA_DEFINE_DESTRUCTOR)
#undef CATENA_DEFINE_DESTRUCTOR

void throw_cuda_error(const std::string& library, std::int64_t code, const std::string& symbol,
                      const std::string& what) {
#define CATENA_THROW_OF(Name, ...)                                                         \
  for (const std::string_view name : std::initializer_list<std::string_view>{__VA_ARGS__}) \
    if (name == library) throw Name(library, code, symbol, what);
  CATENA_CUDA_ERRORS(CATENA_THROW_OF)
#undef CATENA_THROW_OF
  throw CudaError(library, code, symbol, what);
}

}  // namespace catena
