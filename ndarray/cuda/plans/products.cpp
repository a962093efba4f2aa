#include <catena/ndarray/cuda/plans/products.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include <catena/kernels/device/parameters.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/vendor/blas.h>

namespace nd::cuda {
namespace {

using catena::BoundOperand;
using catena::Shape;
using catena::Strides;
using internal::BlasProblem;

// Estimates in microseconds, for one H100; a factor of two does not change which way is the best one.
constexpr double kCall = 4;          // the least time of a kernel or a call: its launch, its start and its end
constexpr double kBytes = 2.5e6;     // bytes per microsecond of device memory
constexpr double kPortable = 1.5e7;  // operations per microsecond of whole tiles by the portable kernel
constexpr double kLibrary = 4e7;     // operations per microsecond of cuBLASLt in float32, the slowest common dtype

// A copy of an operand: dense, with the axis of the matrices that has the smaller steps as the last one. Leading axes
// along which the operand is repeated are repeated in the copy, too.
struct Copy {
  BoundOperand from;
  Shape loop;       // as the operand's shape, with length 1 where it is repeated
  Strides strides;  // of the copy
  std::int64_t bytes;

  explicit Copy(const BoundOperand& o) : from(o), loop(*o.shape), strides(*o.strides) {
    const int rank = loop.size();
    const auto step = [&](int axis) { return std::abs((*o.strides)[axis]); };
    const bool by_columns = step(rank - 2) != 0 && step(rank - 2) < step(rank - 1);
    bytes = static_cast<std::int64_t>(catena::itemsize(o.dtype));
    const auto add = [&](int axis) {
      strides[axis] = bytes;
      bytes *= loop[axis];
    };
    add(by_columns ? rank - 2 : rank - 1);
    add(by_columns ? rank - 1 : rank - 2);
    for (int axis = rank - 3; axis >= 0; --axis) {
      if (step(axis) == 0) loop[axis] = 1, strides[axis] = 0;
      else add(axis);
    }
  }
  BoundOperand at(std::byte* data) const { return {data, from.dtype, false, from.shape, &strides}; }
  double cost() const { return kCall + 2 * static_cast<double>(bytes) / kBytes; }
  void execute(std::byte* data, StreamRef stream) const {
    const catena::KernelDef& copy = catena::kernels::copy;
    const catena::EagerProgram program(copy, catena::choose_loop_by_output(copy, from.dtype));
    const BoundOperand operands[] = {{from.data, from.dtype, false, &loop, from.strides},
                                     {data, from.dtype, false, &loop, &strides}};
    executor(stream.device.kind).execute(catena::bound::Elementwise{&program, operands, &loop}, stream);
  }
};

// The estimates for the implementations of a product.
class Work {
 public:
  explicit Work(const catena::bound::Matmul& call) {
    const Shape& out = *call.out.shape;
    const int rank = out.size();
    const double results = static_cast<double>(catena::size_of(out)), k = static_cast<double>(call.a.shape->back());
    const double each = catena::is_complex_dtype(call.out.dtype) ? 8 : 2;
    memory_ = results * static_cast<double>(catena::itemsize(call.out.dtype)) / kBytes;
    library_ = results * k * each / kLibrary;
    portable_ = results * k * each * tiles(out[rank - 2], out[rank - 1]) / kPortable;
  }
  double by_library(const BlasProblem& problem) const {
    return std::max({static_cast<double>(problem.calls()) * kCall, memory_, library_});
  }
  double by_portable() const { return kCall + std::max(memory_, portable_); }

 private:
  // Returns how many results whole tiles have for each one that is wanted. The kernel for few rows has no tiles.
  static double tiles(std::int64_t m, std::int64_t n) {
    constexpr std::int64_t tile = catena::device::kTile;
    if (std::min(m, n) <= catena::device::kNarrow) return 1;
    const auto whole = [](std::int64_t length) { return (length + tile - 1) / tile * tile; };
    return static_cast<double>(whole(m) * whole(n)) / static_cast<double>(m * n);
  }

  double memory_, library_, portable_;
};

// The operands that are copied, and the problem that remains.
struct Way {
  bool copies_a = false, copies_b = false;
  std::optional<BlasProblem> problem = {};
  double cost = 0;
};

Way best_way(const catena::bound::Matmul& call, const Copy& a, const Copy& b, std::optional<BlasProblem> direct) {
  const Work work(call);
  Way best{.cost = work.by_portable()};
  const auto consider = [&](bool copies_a, bool copies_b, std::optional<BlasProblem> problem) {
    if (!problem) return;
    const double cost = work.by_library(*problem) + (copies_a ? a.cost() : 0) + (copies_b ? b.cost() : 0);
    if (cost < best.cost) best = {copies_a, copies_b, std::move(problem), cost};
  };
  consider(false, false, std::move(direct));
  const BoundOperand left = a.at(call.a.data), right = b.at(call.b.data);
  consider(true, false, internal::blas_problem({left, call.b, call.out}));
  consider(false, true, internal::blas_problem({call.a, right, call.out}));
  consider(true, true, internal::blas_problem({left, right, call.out}));
  return best;
}

}  // namespace

bool multiply_by_library(const catena::bound::Matmul& call, StreamRef stream) {
  std::optional<BlasProblem> direct = internal::blas_problem(call);
  const bool empty = catena::size_of(*call.out.shape) == 0 || call.a.shape->back() == 0;
  if ((direct && direct->outer.empty()) || empty || !internal::blas_takes(call.out.dtype))
    return internal::blas_matmul(call, direct, stream);
  const Copy a(call.a), b(call.b);
  const Way way = best_way(call, a, b, std::move(direct));
  std::optional<Scratch> memory_a, memory_b;
  catena::bound::Matmul product = call;
  const auto replace = [&](const Copy& copy, BoundOperand& operand, std::optional<Scratch>& memory) {
    memory.emplace(static_cast<std::size_t>(copy.bytes), stream);
    copy.execute(memory->data(), stream);
    operand = copy.at(memory->data());
  };
  if (way.copies_a) replace(a, product.a, memory_a);
  if (way.copies_b) replace(b, product.b, memory_b);
  return internal::blas_matmul(product, way.problem, stream);
}

}  // namespace nd::cuda
