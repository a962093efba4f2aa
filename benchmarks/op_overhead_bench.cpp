// Cost of one operation on arrays too small for the arithmetic to matter: dispatch, binding, allocation, graph.
#include <benchmark/benchmark.h>

#include "catena.h"

namespace {

// c = a + b on 100 floats, the result allocated every time.
void array_add(benchmark::State& state) {
  const nd::Array a = nd::ones({100}, {.dtype = nd::float32}), b = nd::ones({100}, {.dtype = nd::float32});
  for (auto _ : state) benchmark::DoNotOptimize(a + b);
}
BENCHMARK(array_add);

void array_add_scalar(benchmark::State& state) {
  const nd::Array a = nd::ones({100}, {.dtype = nd::float32});
  for (auto _ : state) benchmark::DoNotOptimize(a + 1.5);
}
BENCHMARK(array_add_scalar);

void array_view(benchmark::State& state) {
  const nd::Array a = nd::ones({10, 10}, {.dtype = nd::float32});
  for (auto _ : state) benchmark::DoNotOptimize(a(3));
}
BENCHMARK(array_view);

void array_sum(benchmark::State& state) {
  const nd::Array a = nd::ones({100}, {.dtype = nd::float32});
  for (auto _ : state) benchmark::DoNotOptimize(a.sum());
}
BENCHMARK(array_sum);

autograd::Variable hundred() { return autograd::Variable(autograd::ones({100})); }

// One operation on Variables without a graph.
void variable_add_no_graph(benchmark::State& state) {
  const auto mode = autograd::no_backprop_mode();
  autograd::Variable x(autograd::ones({100}), {.volatile_ = autograd::AUTO});
  for (auto _ : state) benchmark::DoNotOptimize(x + x);
}
BENCHMARK(variable_add_no_graph);

void variable_add(benchmark::State& state) {
  autograd::Variable x = hundred();
  for (auto _ : state) benchmark::DoNotOptimize(x + x);
}
BENCHMARK(variable_add);

// (x * x).sum().backward()
void square_sum_backward(benchmark::State& state) {
  autograd::Variable x = hundred();
  for (auto _ : state) {
    x.cleargrad();
    autograd::Variable y = sum(x * x);
    y.backward();
    benchmark::DoNotOptimize(x.grad());
  }
}
BENCHMARK(square_sum_backward);

}  // namespace
BENCHMARK_MAIN();
