// Building blocks that all generated texts share. Internal to ndarray/cuda.
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/kernels/device/parameters.h>
#include <catena/ndarray/compile/type_name.h>
#include <catena/ndarray/cuda/compiler/codegen.h>

namespace nd::cuda {

inline constexpr int kPerRowBit = 8;  // first bit in KernelKey::scalars for inputs with one element per row

using compile::type_name;
// Return the C++ names of a dtype's compute type and of the type of positions.
std::string_view compute_name(Dtype t);
std::string_view index_name(const KernelKey& key);

std::string kernel_name(std::string_view what, KernelKey key);
// Returns the first line of every kernel: a comment that describes its origin. `what` is the kernel and its loop, or
// the hash of a program.
std::string description(std::string_view what, const KernelKey& key, int operands);
std::string description(const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key);
std::string description(const catena::KernelDef& def, const catena::Loop& loop, const KernelKey& key,
                        const Surroundings& around);
std::string description(const catena::Program& program, const KernelKey& key);

// Returns the steps of a program as statements on the variables s0, s1, ... of its slots; `index` is the position in
// indexed steps.
std::string steps_text(const catena::Program& program);
// Returns declarations of the slots from number `first` on.
std::string slots_text(const catena::Program& program, int first);
// Returns a name for the steps of a program in names and comments: "multiply", "multiply_and_2_more".
std::string steps_name(const catena::Program& program);
void add_step_headers(GeneratedKernel& k, const catena::Program& program);

void add_header(GeneratedKernel& k, const std::string& header);
std::string list_of_indices(int begin, int end);
// Returns ", catena::device::In<float, float>".
std::string tag(std::string_view name, Dtype stored, Dtype slot);
// Adds the extern "C" function; `call` is the skeleton with its template arguments. `blocks` is the number of blocks
// that a multiprocessor should hold at once; 0: unspecified.
void add_function(GeneratedKernel& k, const std::string& call, int blocks = 0);

}  // namespace nd::cuda
