// What an object with compiled kernels exports: one made by the build from the manifest, or by the software device's
// compiler from a text. Included behind shim.h, ahead of the texts.
#pragma once

#include <utility>

#include <catena/tests/support/cuda_device/shim.h>

namespace cuda_device {

struct KernelEntry {
  const char* name;                       // null: behind the last entry of a table
  uint64_t text_hash;                     // fnv1a of a generated kernel's body; 0: of a text compiled at run time
  bool barriers;                          // false: its threads cannot wait for each other
  void (*call)(void* const* parameters);  // runs one thread
  const size_t* parameter_bytes;          // one per parameter
  size_t parameters;
};
// A variable that was asked for by a name expression.
struct VariableEntry {
  const char* name;  // null: behind the last
  void* address;
  size_t bytes;
};
struct KernelTable {
  const KernelEntry* kernels;
  const VariableEntry* variables;
};

template <auto Kernel>
struct KernelCall;
template <class... A, void (*Kernel)(A...)>
struct KernelCall<Kernel> {
  static constexpr size_t bytes[sizeof...(A) + 1] = {sizeof(A)...};
  static constexpr size_t parameters = sizeof...(A);

  // Not instrumented: reading the parameters is no access of the kernel.
  template <size_t... I>
  __attribute__((no_sanitize("thread"))) static void run(void* const* p, std::index_sequence<I...>) {
    Kernel(*static_cast<std::remove_cv_t<A>*>(p[I])...);
  }
  static void call(void* const* p) { run(p, std::make_index_sequence<sizeof...(A)>()); }
};

template <auto Kernel>
constexpr KernelEntry entry(const char* name, bool barriers, uint64_t text_hash = 0) {
  using Call = KernelCall<Kernel>;
  return {name, text_hash, barriers, &Call::call, Call::bytes, Call::parameters};
}
template <auto Variable>
constexpr VariableEntry variable(const char* name) {
  return {name, const_cast<void*>(static_cast<const void*>(Variable)), sizeof(*Variable)};
}

}  // namespace cuda_device

extern "C" {
// The tables of an object, ended by null.
SHIM_EXPORT extern const cuda_device::KernelTable* const catena_kernel_tables[];
// Hash of the headers that it was compiled with, as store_headers() makes it.
SHIM_EXPORT extern const uint64_t catena_kernel_headers;
}
