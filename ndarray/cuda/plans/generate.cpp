// The text of a kernel: chooses the family.
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan.h>

namespace nd::cuda {

using catena::concat;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;

namespace {

bool fits(const KernelDef& def, Family family, bool is_fused) {
  switch (family) {
    case Family::random: return def.is(catena::is_random);
    case Family::reduce: return def.kind == KernelKind::reduction;
    case Family::scan: return def.kind == KernelKind::reduction && !is_fused;
    case Family::row_wise: return def.kind == KernelKind::row_wise;
    case Family::multi_tensor: return def.kind == KernelKind::multi_tensor;
    default: return false;
  }
}

}  // namespace

GeneratedKernel generate(const KernelDef& def, const Loop& loop, const KernelKey& key, const FusedPrograms& fused) {
  const bool is_fused = fused.pre != nullptr || fused.post != nullptr;
  const Family family = family_of(key.form);
  catena::check<catena::ValueError>(fits(def, family, is_fused), "code generation", "the form ", name_of(key.form),
                                    " does not fit the kernel ", def.name);
  GeneratedKernel k;
  k.name = kernel_name(concat(fused.pre != nullptr ? steps_name(*fused.pre) + "_then_" : "", def.name,
                              fused.post != nullptr ? "_then_" + steps_name(*fused.post) : ""),
                       key);
  add_header(k, def.header);
  k.body = is_fused ? description(def, loop, key, fused) : description(def, loop, key);
  if (family == Family::random) add_random(k, def, loop, key);
  else if (family == Family::scan) add_scan(k, def, loop, key);
  else if (family == Family::reduce) add_reduction(k, def, loop, key, fused);
  else if (family == Family::row_wise) add_row_wise(k, def, loop, key);
  else add_multi_tensor(k, def, loop);
  return k;
}

GeneratedKernel generate(const KernelKey& key) {
  const Family family = family_of(key.form);
  catena::check<catena::ValueError>(family >= Family::gather, "code generation", "the form ", name_of(key.form),
                                    " needs a kernel or a program");
  GeneratedKernel k;
  k.name = kernel_name("array", key);
  const bool has_places = family == Family::sort && key.dtypes[1] == catena::Dtype::int64;
  k.body = description("array -", key, 1 + key.index_arrays + int(has_places));
  switch (family) {
    case Family::gather: add_gather(k, key); break;
    case Family::matmul: add_matmul(k, key); break;
    case Family::nonzero: add_nonzero(k, key); break;
    case Family::compress: add_compress(k, key); break;
    case Family::offsets: add_offsets(k, key); break;
    case Family::index_check: add_index_check(k, key); break;
    case Family::join: add_join(k, key); break;
    case Family::sort: add_sort(k, key); break;
    case Family::depthwise: add_depthwise(k, key); break;
    case Family::fft: add_fft(k, key); break;
    case Family::attention: add_attention(k, key); break;
    default: catena::fail<catena::ValueError>("code generation", "no text is made from the key of ", name_of(key.form));
  }
  return k;
}

GeneratedKernel generate(const LaunchPlan& plan) {
  if (plan.program != nullptr) return generate(*plan.program, plan.key);
  if (plan.kernel != nullptr) return generate(*plan.kernel, plan.kernel->loop_table[plan.loop], plan.key, plan.fused);
  return generate(plan.key);
}

}  // namespace nd::cuda
