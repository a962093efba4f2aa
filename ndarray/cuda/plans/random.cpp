// Random fills: plans and texts.
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>
#include <catena/ndarray/device/random_kernel.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::KernelDef;
using catena::Loop;

LaunchPlan plan_random(const catena::bound::Random& call, const std::uint64_t* device_offset, int processors) {
  LaunchPlan plan;
  const auto& [def, loop] = random_kernel(call);
  const std::int64_t n = catena::size_of(*call.out.shape);
  plan.kernel = &def;
  plan.loop = loop;
  plan.key.program = kernel_hash(def, def.loop_table[loop]);
  plan.key.form = Form::random;
  plan.key.dtypes[0] = call.out.dtype;
  plan.key.index32 = n <= kMax31;
  ParameterBlock& p = plan.parameters;
  p.put_head(device::RandomParameters{.n = n,
                                      .seed = call.seed,
                                      .offset = call.offset,
                                      .device_offset = device_offset,
                                      .low = call.low,
                                      .high = call.high,
                                      .out = call.out.data});
  plan.grid_x = blocks(ceil_divide(ceil_divide(n, 4), device::kBlock), processors, 16);
  return plan;
}

void add_random(GeneratedKernel& k, const KernelDef& def, const Loop& loop, const KernelKey& key) {
  add_header(k, "catena/kernels/device/random.h");
  set_parameters<device::RandomParameters>(k, "RandomParameters");
  const bool range = def.nin == 4;  // seed, offset, low, high
  add_function(k, concat("catena::device::random_fill<catena::k::", def.name, ", ", type_name(key.dtypes[0]), ", ",
                         type_name(loop.type[static_cast<std::size_t>(def.first_output())]), ", ",
                         range ? "true" : "false", ", ", index_name(key), ">"));
}

}  // namespace nd::cuda
