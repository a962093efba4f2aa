// Building blocks of generated texts that all forms share. Internal to ndarray/cuda.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/kernels/device/parameters.h>
#include <catena/ndarray/compile/type_name.h>
#include <catena/ndarray/cuda/plans/codegen.h>

namespace nd::cuda {

inline constexpr int kPerRowBit = 8;  // first bit in KernelKey::scalars for inputs with one element per row

using compile::type_name;
// C++ names of a dtype's compute type and of the type of positions.
std::string_view compute_name(Dtype t);
std::string_view index_name(const KernelKey& key);

std::string kernel_name(std::string_view what, KernelKey key);
// The first line of every kernel: a comment that describes its origin. `what`: kernel and loop, or the hash of a
// program.
std::string description(std::string_view what, const KernelKey& key, int operands);
std::string description(const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key);
std::string description(const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key,
                        const FusedPrograms& fused);
std::string description(const catena::Program& program, const KernelKey& key);

// The steps of a program as statements on the variables s0, s1, ... of its slots; `index` is the position in indexed
// steps.
std::string steps_text(const catena::Program& program);
// Declarations of the slots from number `first` on.
std::string slots_text(const catena::Program& program, int first);
// The steps of a program in names and comments: "multiply", "multiply_and_2_more".
std::string steps_name(const catena::Program& program);
void add_step_headers(GeneratedKernel& k, const catena::Program& program);

void add_header(GeneratedKernel& k, const std::string& header);
std::string list_of_indices(int begin, int end);
// ", catena::device::In<float, float>"
std::string tag(std::string_view name, Dtype stored, Dtype slot);
// The type and the bytes of the parameters Parameters<rank>, whose size grows by the same number of bytes with every
// axis; rank 0 stands for kGenericRank.
template <template <int> class Parameters> void set_parameters(GeneratedKernel& k, std::string_view name, int rank) {
  const int axes = rank != 0 ? rank : int(catena::device::kGenericRank);
  k.parameters = catena::concat("catena::device::", name, "<", axes, ">");
  k.parameter_bytes =
      sizeof(Parameters<1>) + static_cast<std::size_t>(axes - 1) * (sizeof(Parameters<2>) - sizeof(Parameters<1>));
}
// The same for parameters without axes.
template <class Parameters> void set_parameters(GeneratedKernel& k, std::string_view name) {
  k.parameters = catena::concat("catena::device::", name);
  k.parameter_bytes = sizeof(Parameters);
}
// The bytes of a head with data and cells of that many operands behind it.
inline std::size_t operand_bytes(std::size_t head, std::size_t operands) {
  return (head + 8 * operands + 15) / 16 * 16 + 16 * operands;
}
inline std::size_t aligned_bytes(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

// Adds the extern "C" function; `call` is the skeleton with its template arguments. `blocks`: the number of blocks that
// a processor should hold at once, an expression; none or 0: unspecified. `threads`: of a block.
void add_function(GeneratedKernel& k, const std::string& call, std::string_view blocks = "",
                  int threads = catena::device::kBlock);

// The texts of the families, each in the file of its family: the headers, the type of the parameters and the function.
void add_reduction(GeneratedKernel& k, const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key,
                   const FusedPrograms& fused);
void add_row_wise(GeneratedKernel& k, const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key);
void add_multi_tensor(GeneratedKernel& k, const catena::KernelDef& def, const catena::Loop& loop);
void add_random(GeneratedKernel& k, const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key);
void add_scan(GeneratedKernel& k, const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key);
void add_gather(GeneratedKernel& k, const KernelKey& key);
void add_matmul(GeneratedKernel& k, const KernelKey& key);
void add_nonzero(GeneratedKernel& k, const KernelKey& key);
void add_compress(GeneratedKernel& k, const KernelKey& key);
void add_depthwise(GeneratedKernel& k, const KernelKey& key);
void add_fft(GeneratedKernel& k, const KernelKey& key);
void add_attention(GeneratedKernel& k, const KernelKey& key);
void add_offsets(GeneratedKernel& k, const KernelKey& key);
void add_sort(GeneratedKernel& k, const KernelKey& key);
void add_index_check(GeneratedKernel& k, const KernelKey& key);
void add_join(GeneratedKernel& k, const KernelKey& key);

}  // namespace nd::cuda
