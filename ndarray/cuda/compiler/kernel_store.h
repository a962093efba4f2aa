// Records of compiled kernels in the disk cache, and their keys. Internal to ndarray/cuda.
//
// A kernel that was compiled alone is one record. Kernels of a batch share their code, hundreds of kilobytes: the code
// is a record of its own, read and loaded once, and each kernel has a small record that refers to it. A kernel is thus
// found by its key whatever it was compiled with, and records can be deleted in any order.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/compiler/generated_kernel.h>
#include <catena/ndarray/cuda/compiler/kernel_key.h>
#include <catena/ndarray/cuda/compiler/once_table.h>

namespace nd::cuda {

// The cache with the settings that the environment had at the first call.
CATENA_EXPORT DiskCache& disk_cache();

// The key without architecture and text, which are the same for all kernels of a device.
PackedKey pack(const KernelKey& key);

struct StoredKernel {
  KernelResources resources;  // with the kernel's name
  std::size_t parameter_bytes = 0;
  PackedKey batch;  // of the record with the code; all zero if this record contains it
  Module module;
  bool alone() const { return batch == PackedKey{}; }
};

// text_hash() as part of keys. Without a compiler: that of the compiler that warm_up() recorded last, so that kernels
// compiled on another machine are found. RuntimeError if there is neither.
std::uint64_t record_text();
void remember_compiler();

// Keys of records: of a generated kernel (arch and text filled in), of the code of a batch, of a user's text. They are
// complete: equal keys compile to the same code.
std::string record_key(const KernelKey& key);
std::string record_key(const PackedKey& batch);
std::string record_key(const CompileRequest& request);
// Identifies a batch by architecture, compiler and a 128-bit hash of its text.
PackedKey batch_key(int arch, std::uint64_t text, std::string_view source);

// A module without its log.
std::string encode(const Module& module);
std::string encode(const StoredKernel& kernel);
// Nothing if the record is damaged or contains code for another architecture than `arch`.
std::optional<Module> decode_module(std::string_view record, int arch);
std::optional<StoredKernel> decode_kernel(std::string_view record, int arch);

// The resources of the kernel `name` of `module`; only the name if the module is PTX.
KernelResources resources_of(const Module& module, const std::string& name);

// False for a text that includes files of the file system, whose content is not part of the key.
bool is_complete(const CompileRequest& request);

// Compiles; `keep` stores the result and returns whether it is on disk. A compilation of more than a second is reported
// on stderr.
Module compile_and_keep(const CompileRequest& request, const std::function<bool(const Module&)>& keep);
// Number of compilations by compile_and_keep(); a batch counts as the number of its kernels.
std::uint64_t compilation_count() noexcept;
void count_compilations(std::size_t kernels) noexcept;

}  // namespace nd::cuda
