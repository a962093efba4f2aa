// The part of NVRTC's interface that the CUDA backend calls, declared here so that it compiles without a toolkit. A
// test compares these declarations with the toolkit's header if that is installed.
#pragma once

#include <cstddef>

struct _nvrtcProgram;  // the library's name of the opaque type

namespace nd::cuda::api {

using nvrtc_program = _nvrtcProgram*;

// nvrtcResult, an enumeration of the size of int
using nvrtc_result = int;
inline constexpr nvrtc_result nvrtc_success = 0;
inline constexpr nvrtc_result nvrtc_error_out_of_memory = 1;
inline constexpr nvrtc_result nvrtc_error_compilation = 6;

// Name of the function in the library, its name in the table of entry points, and its type.
#define CATENA_NVRTC_FUNCTIONS(X)                                                                                  \
  X(nvrtcGetErrorString, get_error_string, const char*(nvrtc_result))                                              \
  X(nvrtcVersion, version, nvrtc_result(int* major, int* minor))                                                   \
  X(nvrtcGetNumSupportedArchs, get_num_supported_archs, nvrtc_result(int* count))                                  \
  X(nvrtcGetSupportedArchs, get_supported_archs, nvrtc_result(int* archs))                                         \
  X(nvrtcCreateProgram, create_program,                                                                            \
    nvrtc_result(nvrtc_program*, const char* source, const char* name, int headers, const char* const* texts,      \
                 const char* const* names))                                                                        \
  X(nvrtcDestroyProgram, destroy_program, nvrtc_result(nvrtc_program*))                                            \
  X(nvrtcAddNameExpression, add_name_expression, nvrtc_result(nvrtc_program, const char* expression))              \
  X(nvrtcGetLoweredName, get_lowered_name, nvrtc_result(nvrtc_program, const char* expression, const char** name)) \
  X(nvrtcCompileProgram, compile_program, nvrtc_result(nvrtc_program, int count, const char* const* options))      \
  X(nvrtcGetProgramLogSize, get_program_log_size, nvrtc_result(nvrtc_program, std::size_t* size))                  \
  X(nvrtcGetProgramLog, get_program_log, nvrtc_result(nvrtc_program, char* log))                                   \
  X(nvrtcGetCUBINSize, get_cubin_size, nvrtc_result(nvrtc_program, std::size_t* size))                             \
  X(nvrtcGetCUBIN, get_cubin, nvrtc_result(nvrtc_program, char* cubin))                                            \
  X(nvrtcGetPTXSize, get_ptx_size, nvrtc_result(nvrtc_program, std::size_t* size))                                 \
  X(nvrtcGetPTX, get_ptx, nvrtc_result(nvrtc_program, char* ptx))

}  // namespace nd::cuda::api
