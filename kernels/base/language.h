// The first code of the libraries that a compiler reads. If the language version or options lack something that they
// need, the program gets this message alone, instead of the errors of every header.
#pragma once

#if __cplusplus < 202002L
#error "Catena needs C++20: compile with -std=c++20 (CMake: by linking to catena::ndarray or catena::training)"
#include <end_of_the_compilation>  // a missing file is the only error after which compilers stop
#elif !defined(__cpp_exceptions) || !defined(__cpp_rtti)
#error "Catena needs exceptions and run-time type information: compile without -fno-exceptions and -fno-rtti"
#include <end_of_the_compilation>
#endif
