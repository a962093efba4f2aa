// Folder kernels/: the bodies of all computations, each written once as a plain functor. Families of bodies are folders
// (elementwise/, reduction/, nn/, training/); the headers of this folder are shared by them: element types, numeric
// rules, indices, random numbers. Launches, allocations and error texts are in kernels/registry/ and above. The headers
// with bodies include only each other.
//
// This header is the first include of every kernel header. It is compiled by g++ for the CPU backend, by NVRTC for CUDA
// (as embedded text, without system headers), and again by g++ for tests that run generated CUDA text on the CPU
// (CATENA_CPU_SHIM).
#pragma once

#if defined(__CUDACC_RTC__)
#define CATENA_DEVICE 1
#define ND_FN __device__ __forceinline__
#define ND_RESTRICT __restrict__
#define ND_UNROLL _Pragma("unroll")
#define ND_NO_UNROLL _Pragma("unroll 1")
using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long;
using uint64_t = unsigned long;
#else
#define CATENA_DEVICE 0
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define ND_FN inline __attribute__((always_inline))
#define ND_RESTRICT __restrict__
#define ND_UNROLL
#define ND_NO_UNROLL
#endif
