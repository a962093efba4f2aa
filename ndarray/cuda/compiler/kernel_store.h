// What the disk cache holds for compiled kernels, and under which keys. Internal to ndarray/cuda.
//
// A kernel that was compiled alone is one record. Those of a batch share their code, which is hundreds of kilobytes: it
// lies in a record of its own that is read and loaded once, and every kernel has a small record that names it. So a
// kernel is found by its key alone whatever it was compiled with, and records can be dropped in any order.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/codegen.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/compiler/once_table.h>

namespace nd::cuda {

// That of the environment, as it was at the first call.
CATENA_EXPORT DiskCache& disk_cache();

// All of a key but architecture and text, which are the same for all kernels of a device.
PackedKey pack(const KernelKey& key);

struct StoredKernel {
  KernelResources resources;  // with the kernel's name
  std::size_t parameter_bytes = 0;
  PackedKey batch;  // of the record with the code; all zero: the code is here
  Module module;
  bool alone() const { return batch == PackedKey{}; }
};

// text_hash(), as part of keys. Where there is no compiler: that of the one which warm_up() told last, so kernels that
// were compiled on another machine are found. RuntimeError when there is neither.
std::uint64_t record_text();
void remember_compiler();

// Keys of records: of a generated kernel (arch and text filled in), of the code of a batch, of a text by the user.
// Complete: equal keys compile to the same code.
std::string record_key(const KernelKey& key);
std::string record_key(const PackedKey& batch);
std::string record_key(const CompileRequest& request);
// Identity of a batch: by architecture, compiler, and 128 bits of hashes of its text.
PackedKey batch_key(int arch, std::uint64_t text, std::string_view source);

// A module without its log.
std::string encode(const Module& module);
std::string encode(const StoredKernel& kernel);
// Nothing when the record does not hold what it should, or code for another architecture than `arch`.
std::optional<Module> decode_module(std::string_view record, int arch);
std::optional<StoredKernel> decode_kernel(std::string_view record, int arch);

// What the compiler said about the kernel `name` of `module`; nothing but the name when it is PTX.
KernelResources resources_of(const Module& module, const std::string& name);

// False for a text that includes files of the file system: what they hold is not part of its key.
bool is_complete(const CompileRequest& request);

// Compiles; `keep` stores the result and says whether it is on disk now. A compilation of more than a second is told on
// stderr.
Module compile_and_keep(const CompileRequest& request, const std::function<bool(const Module&)>& keep);
// How often compile_and_keep() has compiled; a batch counts as all its kernels.
std::uint64_t compilation_count() noexcept;
void count_compilations(std::size_t kernels) noexcept;

}  // namespace nd::cuda
