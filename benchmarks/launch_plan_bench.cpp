// Measures the host's planning of one CUDA launch, without the driver. Needs no device.
#include <benchmark/benchmark.h>

#include <vector>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/cuda/plans/plan.h>

namespace {

using catena::BoundOperand;
using catena::Dtype;
using catena::Shape;
using catena::Strides;

struct Operands {
  Shape shape;
  Strides strides;
  std::vector<BoundOperand> all;
  Operands(const Shape& s, bool strided) : shape(s), strides(catena::c_strides(s, sizeof(float))) {
    if (strided) std::reverse(strides.begin(), strides.end());
    all.assign(3, {nullptr, Dtype::float32, false, &shape, &strides});
  }
};

int loop_of(const catena::KernelDef& def) { return catena::choose_loop_by_output(def, Dtype::float32); }

void elementwise(benchmark::State& state, const Shape& shape, bool strided) {
  Operands x(shape, strided);
  const catena::Strides packed = catena::c_strides(shape, sizeof(float));
  if (strided) x.all[2].strides = &packed;  // so that the axes are not merged
  const catena::EagerProgram add(catena::kernels::add, loop_of(catena::kernels::add));
  for (auto _ : state) benchmark::DoNotOptimize(nd::cuda::plan_elementwise(add, x.all, shape, 100));
}
BENCHMARK_CAPTURE(elementwise, contiguous, Shape{100}, false);
BENCHMARK_CAPTURE(elementwise, strided, Shape{64, 48}, true);

void reduce(benchmark::State& state, const Shape& shape) {
  Operands x(shape, false);
  catena::bound::Reduce call;
  call.kernel = &catena::kernels::sum;
  call.loop = loop_of(catena::kernels::sum);
  call.in = x.all[0];
  call.axes = {1};
  Shape kept = shape;
  kept[1] = 1;
  Strides strides = catena::c_strides(kept, sizeof(float));
  strides[1] = 0;
  call.out = {nullptr, Dtype::float32, false, &kept, &strides};
  for (auto _ : state) benchmark::DoNotOptimize(nd::cuda::plan_reduce(call, 100));
}
BENCHMARK_CAPTURE(reduce, one_launch, Shape{1000, 500});
BENCHMARK_CAPTURE(reduce, two_launches, Shape{10, 100000});

}  // namespace

BENCHMARK_MAIN();
