// Fourier transforms: plans and texts.
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;

Sequence plan_fft(const catena::bound::Fft& call, int processors) {
  std::vector<std::int64_t> radices;
  std::int64_t rest = call.n;
  for (; rest % 4 == 0; rest /= 4) radices.push_back(4);
  for (std::int64_t p = 2; rest > 1; ++p)
    for (; rest % p == 0; rest /= p) radices.push_back(p);
  if (radices.empty()) radices.push_back(1);

  Sequence sequence;
  const std::size_t stages = radices.size();
  const std::int64_t numbers = call.rows * call.n;
  const std::size_t between = sequence.reserve(
      stages > 1 ? static_cast<std::size_t>(numbers) * static_cast<std::size_t>(catena::itemsize(call.dtype)) : 0);
  std::int64_t m = call.n, s = 1;
  // The stages write alternately to the scratch memory and to the output, which the last one writes.
  for (std::size_t k = 0; k < stages; ++k) {
    const bool to_out = (stages - 1 - k) % 2 == 0, last = k + 1 == stages;
    m /= radices[k];
    LaunchPlan plan;
    plan.key.form = Form::fft_stage;
    plan.key.dtypes[0] = call.dtype;
    plan.parameters.put_head(device::FftStageParameters{.rows = call.rows,
                                                        .n = call.n,
                                                        .radix = radices[k],
                                                        .m = m,
                                                        .s = s,
                                                        .inverse = call.inverse ? 1 : 0,
                                                        .scale = last ? call.scale : 1.0,
                                                        .from = k == 0   ? call.in
                                                                : to_out ? nullptr
                                                                         : call.out,
                                                        .to = to_out ? call.out : nullptr});
    if (k > 0 && to_out) plan.parameters.put_scratch(&device::FftStageParameters::from, between);
    if (!to_out) plan.parameters.put_scratch(&device::FftStageParameters::to, between);
    plan.grid_x = blocks(ceil_divide(numbers, device::kBlock), processors, 16);
    sequence.launches.push_back(plan);
    s *= radices[k];
  }
  return sequence;
}

void add_fft(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/fft.h");
  set_parameters<device::FftStageParameters>(k, "FftStageParameters");
  add_function(k, concat("catena::device::fft_stage<", type_name(catena::real_dtype(key.dtypes[0])), ">"));
}

}  // namespace nd::cuda
