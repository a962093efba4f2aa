// Attention in tiles on CUDA, for the framework (kernels/device/attention.h).
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/registry/attention.h>
#include <catena/ndarray/cuda/plans/plan.h>
#include <catena/ndarray/device/stream.h>

namespace nd::cuda {

// 16-bit floats are computed in float32, except that weights and gradients of scores are rounded to them before they
// are multiplied on tensor cores.
using catena::bound::Attention;

// True for float16, bfloat16 and float32, columns d = dv of 16, 32, 64, 96 or 128 elements, and at most 4 axes before
// the group.
CATENA_EXPORT bool takes_attention(const Attention& a);
// True if the kernels can read and write the operand in place: its columns are neighbours in memory, and its rows begin
// at multiples of 16 bytes, less than 16 MiB apart.
CATENA_EXPORT bool has_attention_rows(const catena::ArrayHeader& operand);

// Enqueue attention that takes_attention(), of operands that have_attention_rows (the mask may have any strides), as
// nd::cpu::attention and attention_backward do. log_sums is (..., G, Lq), float32; row_numbers is scratch memory of
// twice its size.
CATENA_EXPORT void attention(const Attention& a, const catena::ArrayHeader& y, const catena::ArrayHeader& log_sums,
                             StreamRef stream);
CATENA_EXPORT void attention_backward(const Attention& a, const catena::ArrayHeader& y,
                                      const catena::ArrayHeader& log_sums, const catena::ArrayHeader& row_numbers,
                                      const catena::ArrayHeader& gy, const catena::ArrayHeader& gq,
                                      const catena::ArrayHeader& gk, const catena::ArrayHeader& gv, StreamRef stream);

// The kernels; the last three compute the gradients of k, of v, or of both.
enum class AttentionPass : std::uint8_t { forward, queries, keys, values, keys_and_values };
// The key of a kernel; `mask`: null, bool or `dtype`. Tensor cores need compute capability 8.0 and a 16-bit dtype.
CATENA_EXPORT KernelKey attention_key(AttentionPass pass, Dtype dtype, std::int64_t depth, const Dtype* mask,
                                      bool tensor_cores);

}  // namespace nd::cuda
