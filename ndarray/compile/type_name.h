// The names of element types in generated texts.
#pragma once

#include <string_view>

#include <catena/kernels/base/dtype.h>

namespace nd::compile {

// Returns the C++ name of a dtype: "int64_t", "float", "catena::bfloat16". TypeError for a value that is no dtype.
std::string_view type_name(catena::Dtype t);

}  // namespace nd::compile
