#include <catena/ndarray/compile/type_name.h>

#include <cstddef>

#include <catena/kernels/base/error.h>

namespace nd::compile {

std::string_view type_name(catena::Dtype t) {
  constexpr std::string_view names[] = {
      "bool",    "int8_t",   "uint8_t",          "int16_t",           "uint16_t",
      "int32_t", "uint32_t", "int64_t",          "uint64_t",          "catena::float16",
      "float",   "double",   "catena::bfloat16", "catena::complex64", "catena::complex128"};
  catena::check<catena::TypeError>(static_cast<int>(t) < catena::kNumDtypes, "code generation", "dtype ",
                                   static_cast<int>(t), " is no element type");
  return names[static_cast<std::size_t>(t)];
}

}  // namespace nd::compile
