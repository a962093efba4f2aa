// Records of compiled kernels in the disk cache, and their keys. Internal to ndarray/cuda.
//
// A kernel that was compiled alone is one record. Kernels of a batch share their code, which is large: the code has its
// own record, which is read and loaded once, and each kernel has a small record that refers to it. A kernel is thus
// found by its key, whatever it was compiled with, and records can be deleted in any order.
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

// Returns the cache for the present settings of the environment.
CATENA_EXPORT DiskCache& disk_cache();

// Returns the key without architecture and text, which are the same for all kernels of a device.
PackedKey pack(const KernelKey& key);

struct StoredKernel {
  KernelResources resources;  // with the kernel's name
  std::size_t parameter_bytes = 0;
  PackedKey batch;  // key of the record with the code; all zero if this record contains the code
  Module module;
  std::string source;  // of a kernel that was compiled alone, for recompile()
  bool alone() const { return batch == PackedKey{}; }
};

// Returns toolchain_hash() as part of keys. Without a compiler, returns the hash for the compiler that warm_up()
// recorded last, so that kernels compiled on another machine are found. RuntimeError if there is neither.
std::uint64_t recorded_toolchain();
void remember_compiler(DiskCache& cache);

// Return the keys of records: for a generated kernel (with arch and text), for the code of a batch, for a user's text.
// The keys are complete: equal keys compile to the same code.
std::string record_key(const KernelKey& key);
std::string record_key(const PackedKey& batch);
std::string record_key(const CompileRequest& request);
// Returns the key of a batch: architecture, compiler and a 128-bit hash of its text.
PackedKey batch_key(int arch, std::uint64_t text, std::string_view source);

// Return records. The log of a module is not part of its record.
std::string encode(const Module& module);
std::string encode(const StoredKernel& kernel);
// Return nothing if the record is damaged or contains code for another architecture than `arch`.
std::optional<Module> decode_module(std::string_view record, int arch);
std::optional<StoredKernel> decode_kernel(std::string_view record, int arch);

// The text of a record.
struct StoredText {
  CompileRequest request;                // with the architecture of the record
  std::optional<PackedKey> kernel = {};  // of a generated kernel, with its parameters
  std::size_t parameter_bytes = 0;
};
// Returns nothing for a record of another compiler or of other headers, and for kernels of a batch.
std::optional<StoredText> stored_text(std::string_view key, std::string_view record);
// Return the key and the record of a text that has been compiled for request.arch.
std::string record_key(const StoredText& text);
std::string encode(const StoredText& text, const Module& module);

// Returns the resources of the kernel `name` of `module`; only the name if the module is PTX.
KernelResources resources_of(const Module& module, const std::string& name);

// Returns false for a text that includes files of the file system, whose content is not part of the key.
bool is_complete(const CompileRequest& request);

// Compiles a text; `keep` must store the result and return true if it is on disk. Long compilations are reported on
// stderr.
Module compile_and_keep(const CompileRequest& request, const std::function<bool(const Module&)>& keep);
// Returns the number of compilations by compile_and_keep(); a batch counts as the number of its kernels.
std::uint64_t compilation_count() noexcept;
void count_compilations(std::size_t kernels) noexcept;

}  // namespace nd::cuda
