// Finds the kernels in a CUDA text and inserts a registration behind each. Internal to ndarray/cpu.
#pragma once

#include <string>
#include <string_view>

namespace nd::cpu {

// Returns `code` with a registration behind the body of every kernel that is not a template. The registration is on the
// same line, so line numbers do not change and the preprocessor removes it together with its kernel.
std::string with_registrations(std::string_view code);

// Returns a definition that registers the kernel under its name; `suffix` makes the definition unique.
std::string registration(std::string_view kernel, std::string_view suffix);

}  // namespace nd::cpu
