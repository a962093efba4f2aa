// Arrays in host memory, a naive reference (the host loops of the registry, element by element), and execution of plans
// on the shim.
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen.h>
#include <catena/ndarray/cuda/plans/plan.h>
#include <catena/tests/support/cuda_device/engine.h>
#include <catena/tests/support/cuda_device/jit.h>
#include <catena/tests/support/cuda_device/manifest.h>

namespace cuda_device {

using catena::BoundOperand;
using catena::Dtype;
using catena::Shape;
using catena::Strides;
using shim::Order;

inline constexpr Order kOrders[] = {Order::ascending, Order::descending, Order::shuffled};
inline constexpr int kProcessors = 2;  // few, so that every block processes several parts of the work

// Memory aligned to 64 bytes, and a strided view of it.
struct alignas(64) Line {
  std::byte bytes[64];
};
struct HostArray {
  Dtype dtype;
  Shape shape;
  Strides strides;
  std::vector<Line> memory;
  std::int64_t offset = 0;
  bool immediate = false;
  std::size_t bytes = 0;

  std::byte* first() { return memory.data()->bytes; }
  std::byte* data() { return first() + offset; }
  BoundOperand operand() { return {data(), dtype, immediate, &shape, &strides}; }
  std::string content() { return {reinterpret_cast<const char*>(first()), bytes}; }
  template <class T> T* as() { return reinterpret_cast<T*>(data()); }
};

inline HostArray make_array(Dtype dtype, const Shape& shape, std::int64_t skip_bytes = 0) {
  HostArray a{dtype, shape, catena::c_strides(shape, catena::itemsize(dtype)), {}, skip_bytes};
  a.bytes = static_cast<std::size_t>(catena::size_of(shape)) * catena::itemsize(dtype) +
            static_cast<std::size_t>(skip_bytes) + 32;
  a.memory.resize(a.bytes / sizeof(Line) + 1);
  std::memset(a.first(), 0xcd, a.memory.size() * sizeof(Line));
  return a;
}

// Returns values that differ between elements and are exact in all dtypes of the test; for bool, both values.
inline HostArray random_array(Dtype dtype, const Shape& shape, unsigned seed, std::int64_t skip_bytes = 0) {
  HostArray a = make_array(dtype, shape, skip_bytes);
  std::mt19937 random(seed);
  const auto n = catena::size_of(shape);
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = catena::is_floating(dtype) ? (int(random() % 4001) - 2000) / 512.0 : double(random() % 100);
    catena::Scalar(v).store(dtype, a.data() + i * std::int64_t(catena::itemsize(dtype)));
  }
  if (dtype == Dtype::bool_)
    for (std::int64_t i = 0; i < n; ++i) a.data()[i] = std::byte(random() % 2);
  return a;
}
inline HostArray scalar(Dtype dtype, double value, int rank) {
  HostArray a = make_array(dtype, Shape::filled(rank, 1));
  a.strides = Strides::filled(rank, 0);
  a.immediate = true;
  catena::Scalar(value).store(dtype, a.data());
  return a;
}
// Returns a view with permuted axes.
inline HostArray transposed(HostArray a, std::initializer_list<int> axes) {
  const Shape shape = a.shape;
  const Strides strides = a.strides;
  int k = 0;
  for (int axis : axes) {
    a.shape[k] = shape[axis];
    a.strides[k++] = strides[axis];
  }
  return a;
}

inline std::byte* element(HostArray& a, const Shape& loop, std::int64_t i) {
  std::byte* p = a.data();
  for (int axis = loop.size() - 1; axis >= 0; --axis) {
    p += i % loop[axis] * a.strides[axis];
    i /= loop[axis];
  }
  return p;
}

inline void convert(Dtype from, const std::byte* in, Dtype to, std::byte* out) {
  catena::cast_function(from, to)(in, 0, out, std::int64_t(catena::itemsize(to)), 1);
}

// Runs a program element by element: every slot is a value of its compute type, rounded to the slot's dtype after each
// step.
inline void reference(const catena::Program& program, std::span<HostArray> operands, const Shape& loop) {
  struct Cell {
    alignas(64) std::byte bytes[16];
  };
  const auto n = catena::size_of(loop);
  std::vector<Cell> slot(program.slots.size());
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < program.nin + program.ninout; ++k) {
      Cell rounded;
      const std::size_t s = std::size_t(k);
      convert(operands[s].dtype, element(operands[s], loop, i), program.slots[s], rounded.bytes);
      convert(program.slots[s], rounded.bytes, catena::compute_dtype(program.slots[s]), slot[s].bytes);
    }
    for (const catena::Step& step : program.steps) {
      Cell argument[catena::kMaxOperands];
      std::byte* pointer[catena::kMaxOperands];
      const std::int64_t stride[catena::kMaxOperands] = {};
      for (int k = 0; k < step.kernel->num_operands(); ++k) {
        const std::size_t a = std::size_t(k), s = step.slot[a];
        pointer[k] = argument[k].bytes;
        if (k < step.kernel->first_output())
          convert(catena::compute_dtype(program.slots[s]), slot[s].bytes,
                  catena::compute_dtype(step.resolved().type[a]), pointer[k]);
      }
      step.resolved().elementwise(pointer, stride, 1);
      for (int k = step.kernel->nin; k < step.kernel->num_operands(); ++k) {
        const std::size_t s = step.slot[std::size_t(k)];
        Cell rounded;
        convert(catena::compute_dtype(step.resolved().type[std::size_t(k)]), pointer[k], program.slots[s],
                rounded.bytes);
        convert(program.slots[s], rounded.bytes, catena::compute_dtype(program.slots[s]), slot[s].bytes);
      }
    }
    for (int k = program.nin; k < program.num_operands(); ++k) {
      const std::size_t s = std::size_t(k);
      Cell rounded;
      convert(catena::compute_dtype(program.slots[s]), slot[s].bytes, program.slots[s], rounded.bytes);
      convert(program.slots[s], rounded.bytes, operands[s].dtype, element(operands[s], loop, i));
    }
  }
}

// Returns the compiled form of a generated kernel: that of the build, whose text must be equal, or one compiled now.
inline const KernelEntry& find_entry(const nd::cuda::GeneratedKernel& kernel) {
  const KernelEntry* found = nullptr;
  for (auto* table = catena_kernel_tables; *table != nullptr; ++table)
    for (const KernelEntry* entry = (*table)->kernels; entry->name != nullptr; ++entry)
      if (kernel.name == entry->name) found = entry;
  if (found != nullptr) BOOST_REQUIRE_EQUAL(catena::fnv1a(kernel.body), found->text_hash);
  else found = entry_of(kernel.source());
  BOOST_REQUIRE_MESSAGE(found != nullptr, "this kernel does not compile:\n" << kernel.source());
  BOOST_REQUIRE_EQUAL(found->name, kernel.name);
  BOOST_REQUIRE_EQUAL(found->parameters, 1u);
  BOOST_REQUIRE_EQUAL(kernel.parameter_bytes, found->parameter_bytes[0]);
  return *found;
}

inline void run(const nd::cuda::GeneratedKernel& kernel, const nd::cuda::LaunchPlan& plan, Order order) {
  const KernelEntry& entry = find_entry(kernel);
  BOOST_REQUIRE_EQUAL(plan.parameters.size(), entry.parameter_bytes[0]);
  if (plan.grid_x == 0) return;
  void* parameters[] = {const_cast<std::byte*>(plan.parameters.data())};
  shim::run({entry.name,
             {plan.grid_x, plan.grid_y},
             {unsigned(catena::device::kBlock)},
             order,
             entry.barriers,
             entry.call,
             parameters});
}

// Runs a program on the shim and modifies the operands in place. Returns the key of the kernel.
inline nd::cuda::KernelKey run_program(const catena::Program& program, std::span<HostArray> operands, const Shape& loop,
                                       Order order, bool index32 = true) {
  std::vector<BoundOperand> refs;
  for (HostArray& a : operands) refs.push_back(a.operand());
  nd::cuda::LaunchPlan plan = nd::cuda::plan_elementwise(program, refs, loop, kProcessors);
  plan.key.index32 &= index32;
  run(nd::cuda::generate(program, plan.key), plan, order);
  return plan.key;
}

}  // namespace cuda_device
