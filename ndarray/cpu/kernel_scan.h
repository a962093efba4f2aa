// Finds the kernels in a CUDA text and writes a registration behind each. Internal to ndarray/cpu.
#pragma once

#include <string>
#include <string_view>

namespace nd::cpu {

// `code` with a registration right behind the body of every kernel that is no template, in its line: line numbers stay,
// and what the preprocessor removes goes with the kernel.
std::string with_registrations(std::string_view code);

// A definition that lists the kernel under its name; `suffix` tells definitions apart.
std::string registration(std::string_view kernel, std::string_view suffix);

}  // namespace nd::cpu
