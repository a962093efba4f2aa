#include <algorithm>
#include <string>
#include <vector>

#include <catena/kernels/registry/families.h>

namespace catena {

std::span<const RegisteredKernel> all_kernels() {
  // The list is explicit instead of being built by static initialisers, so that linking a static library needs no
  // whole-archive.
  static constexpr RegisteredKernel kKernels[] = {
#define CATENA_KERNEL(name, use) {&kernels::name, KernelUse::use},
#include <catena/kernels/lists/kernels.inc>
#undef CATENA_KERNEL
  };
  return kKernels;
}

namespace {

struct Entry {
  KernelId id;
  const RegisteredKernel* kernel;
};

// The kernels sorted by id, for binary search. Built once.
const std::vector<Entry>& index_by_id() {
  static const std::vector<Entry> index = [] {
    std::vector<Entry> v;
    for (const RegisteredKernel& r : all_kernels()) v.push_back({r.kernel->id, &r});
    std::sort(v.begin(), v.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
    for (std::size_t i = 1; i < v.size(); ++i)
      check<ValueError>(v[i - 1].id != v[i].id, "kernel registry", "kernels ", v[i - 1].kernel->kernel->name, " and ",
                        v[i].kernel->kernel->name, " have the same id");
    return v;
  }();
  return index;
}

const RegisteredKernel* look_up(KernelId id) {
  const std::vector<Entry>& index = index_by_id();
  const auto at =
      std::lower_bound(index.begin(), index.end(), id, [](const Entry& e, KernelId wanted) { return e.id < wanted; });
  return at != index.end() && at->id == id ? at->kernel : nullptr;
}

}  // namespace

const KernelDef& find_kernel(KernelId id) {
  const RegisteredKernel* kernel = look_up(id);
  check<KeyError>(kernel != nullptr, "find_kernel", "no kernel has the id ", id);
  return *kernel;
}

const RegisteredKernel* find_registered_if_any(std::string_view name) { return look_up(kernel_id(name)); }

const RegisteredKernel& find_registered(std::string_view name) {
  const RegisteredKernel* kernel = find_registered_if_any(name);
  check<KeyError>(kernel != nullptr, "find_kernel", "there is no kernel named \"", name, '"');
  return *kernel;
}

std::string signature(const KernelDef& def, const Loop& loop) {
  std::string text;
  const int group_end[4] = {def.nin, def.nin + def.ninout, def.nin + def.ninout + def.nout, def.num_operands()};
  for (int group = 0, k = 0; group < 4; ++group) {
    if (group == 1 && def.ninout > 0) text += '&';
    if (group == 2) text += "->";
    if (group == 3 && def.nrow > 0) text += ';';
    for (; k < group_end[group]; ++k) {
      if ((def.raw >> k) & 1) text += '*';
      if ((def.shared >> k) & 1) text += '@';
      text += char_of(loop.type[std::size_t(k)]);
    }
  }
  return text;
}

}  // namespace catena
