// Finds the system's C++ compiler and determines the environment in which it runs. Internal to ndarray/cpu.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nd::cpu {

struct Compiler {
  std::vector<std::string> command;  // path of the program, and the options given with it
  std::string identity;              // changes with the program
};

// Returns $CATENA_HOST_COMPILER if it is set, else the first existing program of $CXX, c++, g++, clang++ and the
// compiler that compiled this library. Programs are searched for in the absolute folders of the PATH, then in
// /usr/local/bin, /usr/bin and /bin, so PATH may be unset. RuntimeError starting with `what` if there is none.
Compiler find_compiler(std::string_view what);

// Returns the environment of the compiler, as "NAME=value": the environment of this process, with messages in English,
// temporary files in `folder`, and a PATH on which the compiler finds the assembler and the linker.
std::vector<std::string> compiler_environment(const Compiler& compiler, const std::string& folder);

}  // namespace nd::cpu
