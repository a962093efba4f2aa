// The tables that an object with compiled kernels exports, whether the build compiled it from the manifest or the
// software device from a text. Included after shim.h and before the texts.
#pragma once

#include <utility>

#include <catena/tests/support/cuda_device/shim.h>

namespace cuda_device {

struct KernelEntry {
  const char* name;                       // null: end of the table
  uint64_t text_hash;                     // fnv1a of a generated kernel's body; 0: a text compiled at run time
  bool barriers;                          // false: its threads cannot wait for each other
  void (*call)(void* const* parameters);  // runs one thread
  const size_t* parameter_bytes;          // one entry per parameter
  size_t parameters;
};
// A variable named by a name expression.
struct VariableEntry {
  const char* name;  // null: end of the table
  void* address;
  size_t bytes;
};
struct KernelTable {
  const KernelEntry* kernels;
  const VariableEntry* variables;
};

template <auto Kernel> struct KernelCall;
template <class... A, void (*Kernel)(A...)> struct KernelCall<Kernel> {
  static constexpr size_t bytes[sizeof...(A) + 1] = {sizeof(A)...};
  static constexpr size_t parameters = sizeof...(A);

  // Not instrumented, because reading the parameters is not an access by the kernel.
  template <size_t... I>
  __attribute__((no_sanitize("thread"))) static void run(void* const* p, std::index_sequence<I...>) {
    Kernel(*static_cast<std::remove_cv_t<A>*>(p[I])...);
  }
  static void call(void* const* p) { run(p, std::make_index_sequence<sizeof...(A)>()); }
};

template <auto Kernel> constexpr KernelEntry entry(const char* name, bool barriers, uint64_t text_hash = 0) {
  using Call = KernelCall<Kernel>;
  return {name, text_hash, barriers, &Call::call, Call::bytes, Call::parameters};
}
template <auto Variable> constexpr VariableEntry variable(const char* name) {
  return {name, const_cast<void*>(static_cast<const void*>(Variable)), sizeof(*Variable)};
}

}  // namespace cuda_device

extern "C" {
// The tables of an object, terminated by null.
SHIM_EXPORT extern const cuda_device::KernelTable* const catena_kernel_tables[];
// The hash of the headers with which it was compiled, from store_headers().
SHIM_EXPORT extern const uint64_t catena_kernel_headers;
}
