// Recurrences in one launch: plans. The text is made with those of the other programs (elementwise.cpp).
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::BoundOperand;
using catena::Shape;
using catena::Strides;

// A block computes a position of a line with up to this many elements in about the time of a launch: a thread then
// waits for memory at most four times.
constexpr std::int64_t kMostOfLine = 4 * device::kBlock;

// The first and the last byte of an operand, relative to address 0.
std::pair<std::int64_t, std::int64_t> extent(const BoundOperand& o, const Shape& loop) {
  auto first = reinterpret_cast<std::intptr_t>(o.data), last = first;
  for (int a = 0; a < loop.size(); ++a) (((*o.strides)[a] < 0) ? first : last) += (loop[a] - 1) * (*o.strides)[a];
  return {first, last + std::int64_t(catena::itemsize(o.dtype)) - 1};
}

// True if no element of `written` shares memory with an element of `o` that has another position along the axis. The
// operands have common strides, and either the steps of all other axes and between the operands are multiples of a
// number that the axis does not reach, or all of them together do not reach one step of the axis.
bool keeps_positions(const BoundOperand& written, const BoundOperand& o, const Shape& loop, int axis) {
  const auto [a, b] = extent(written, loop);
  const auto [c, d] = extent(o, loop);
  if (b < c || d < a) return true;
  if (written.dtype != o.dtype) return false;
  const auto item = std::int64_t(catena::itemsize(o.dtype));
  const std::int64_t apart = reinterpret_cast<std::intptr_t>(o.data) - reinterpret_cast<std::intptr_t>(written.data);
  std::int64_t step = std::gcd(apart, std::int64_t(0)), reach = distance(apart) + item;
  for (int k = 0; k < loop.size(); ++k) {
    if (loop[k] == 1) continue;
    const std::int64_t stride = (*o.strides)[k];
    if ((*written.strides)[k] != stride) return false;
    if (k == axis) continue;
    step = std::gcd(step, stride);
    reach += (loop[k] - 1) * distance(stride);
  }
  if (loop[axis] == 1) return true;
  const std::int64_t along = distance((*o.strides)[axis]);
  return along >= reach || (along >= item && (loop[axis] - 1) * along + item <= step);
}

// Returns the longest axis after the first whose positions do not depend on each other; -1 if there is none.
int line_axis(const catena::Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  int best = -1;
  for (int axis = 1; axis < loop.size(); ++axis) {
    bool independent = true;
    for (std::size_t w = program.nin; w < operands.size() && independent; ++w)
      for (const BoundOperand& o : operands) independent &= o.immediate || keeps_positions(operands[w], o, loop, axis);
    if (independent && (best < 0 || loop[axis] > loop[best])) best = axis;
  }
  return best;
}

void insert_axis(Shape& shape, std::span<Strides> strides) {
  shape.insert(1, 1);
  for (Strides& s : strides) s.insert(1, 0);
}

}  // namespace

LaunchPlan plan_recurrence(const catena::bound::Elementwise& call, int processors) {
  const catena::Program& program = *call.program;
  const std::size_t count = call.operands.size();
  LaunchPlan plan;
  Shape shape = *call.loop;
  const std::int64_t n = catena::size_of(shape);
  if (indexing_of(program).indexed || n == 0 || shape[0] < 2) return plan;
  std::array<Strides, catena::kMaxOperands> all;
  const std::span<Strides> strides{all.data(), count};
  for (std::size_t k = 0; k < count; ++k)
    strides[k] = call.operands[k].immediate ? Strides::filled(shape.size(), 0) : *call.operands[k].strides;

  // The axes become: the steps, the lines, the elements of a line.
  if (const int lines = line_axis(program, call.operands, shape); lines > 0) {
    std::rotate(shape.begin() + 1, shape.begin() + lines, shape.begin() + lines + 1);
    for (Strides& s : strides) std::rotate(s.begin() + 1, s.begin() + lines, s.begin() + lines + 1);
  } else {
    insert_axis(shape, strides);
  }
  if (n / shape[0] / shape[1] > kMostOfLine) return plan;
  Shape inside(std::span<const std::int64_t>(shape.data() + 2, std::size_t(shape.size() - 2)));
  std::array<Strides, catena::kMaxOperands> of_inside;
  for (std::size_t k = 0; k < count; ++k)
    of_inside[k] = Strides(std::span<const std::int64_t>(strides[k].data() + 2, std::size_t(shape.size() - 2)));
  catena::merge_axes(inside, {of_inside.data(), count});
  at_least_one_axis(inside, {of_inside.data(), count});
  const int rank = 2 + inside.size();
  if (rank > device::kMaxExactRank) return plan;

  plan.program = &program;
  plan.key.program = program_hash(program);
  plan.key.form = Form::recurrence;
  plan.key.rank = static_cast<std::uint8_t>(rank);
  plan.key.index32 = n <= kMax31;
  Shape lengths{shape[0], shape[1]};
  for (const std::int64_t length : inside) lengths.push_back(length);
  ParameterBlock& p = plan.parameters;
  p.put_head(device::ElementwiseHead{.n = n, .rank = rank});
  put_operands(p, call.operands);
  put_axes(p, lengths, rank, 1);
  for (std::size_t k = 0; k < count; ++k) {
    plan.key.dtypes[k] = call.operands[k].dtype;
    if (k < program.nin && is_fixed(call.operands[k], n)) plan.key.scalars |= std::uint16_t(1u << k);
    Strides s{strides[k][0], strides[k][1]};
    for (const std::int64_t stride : of_inside[k]) s.push_back(stride);
    put_axes(p, s, rank, 0);
    plan.key.index32 &= fits_int32(lengths, s);
  }
  p.align(16);
  plan.grid_x = blocks(shape[1], processors, 8);
  return plan;
}

}  // namespace nd::cuda
