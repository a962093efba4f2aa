// Running the plans of structural calls, and arrays whose sums are exact.
#pragma once

#include <catena/tests/support/cuda_device/execute.h>

namespace cuda_device {

// A loop of a registered kernel.
struct Row {
  const catena::KernelDef& def;
  int number;
  const catena::Loop& loop;
  Row(const char* name, const char* signature)
      : def(catena::find_kernel(name)), number(loop_number(def, signature)), loop(def.loop_table[number]) {}
};

inline void run_plan(const nd::cuda::LaunchPlan& plan, Order order) { run(nd::cuda::generate(plan), plan, order); }

inline void run_sequence(nd::cuda::Sequence sequence, Order order) {
  std::vector<Line> scratch(sequence.scratch_bytes / sizeof(Line) + 4);
  std::memset(scratch.data(), 0xcd, scratch.size() * sizeof(Line));
  auto* first = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 255) / 256 * 256);
  sequence.set_scratch(first);
  for (const nd::cuda::LaunchPlan& plan : sequence.launches) run_plan(plan, order);
}

inline double number(Dtype t, const std::byte* p) {
  alignas(16) std::byte v[16];
  convert(t, p, Dtype::float64, v);
  return *reinterpret_cast<double*>(v);
}

inline constexpr Dtype kAll[] = {Dtype::bool_,    Dtype::int8,    Dtype::uint8,  Dtype::int16,  Dtype::uint16,
                                 Dtype::int32,    Dtype::uint32,  Dtype::int64,  Dtype::uint64, Dtype::float16,
                                 Dtype::bfloat16, Dtype::float32, Dtype::float64};

// Integers in every dtype, so that sums are exact in any order. bool: both values.
inline HostArray small_integers(Dtype dtype, const Shape& shape, unsigned seed, int limit = 3) {
  HostArray a = make_array(dtype, shape);
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i)
    catena::Scalar(double(int(random() % unsigned(limit)) - (catena::is_floating(dtype) ? limit / 2 : 0)))
        .store(dtype, a.data() + i * std::int64_t(catena::itemsize(dtype)));
  return a;
}

}  // namespace cuda_device
