// Random fills: runs the indexed kernels of kernels/random.h over all elements of the output, in parallel.
#include <cstdint>

#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/device/random_kernel.h>

namespace nd::cpu {
namespace {

// Replaces 1 by the largest value below it: rounding to 16 bits can give 1, which is outside [0, 1).
void keep_below_one(const catena::BoundOperand& out, std::int64_t n) {
  const bool is_float16 = out.dtype == catena::Dtype::float16;
  const std::uint16_t one = is_float16 ? 0x3c00 : 0x3f80;
  auto* bits = reinterpret_cast<std::uint16_t*>(out.data);
  for (std::int64_t i = 0; i < n; ++i) bits[i] = bits[i] == one ? std::uint16_t(one - 1) : bits[i];
}

}  // namespace

void run(const catena::bound::Random& call) {
  const std::int64_t n = catena::size_of(*call.out.shape);
  if (n == 0) return;
  const auto& [def, loop] = random_kernel(call);
  const catena::Scalar parameters[4] = {call.seed, call.offset, call.low, call.high};
  const catena::Shape shape{n};
  const catena::Strides zero{0}, step{static_cast<std::int64_t>(catena::itemsize(call.out.dtype))};
  catena::ScalarCell cell[4];
  catena::BoundOperand operands[5];
  for (int k = 0; k < def.nin; ++k) {
    const catena::Dtype t = def.loop_table[loop].type[std::size_t(k)];
    cell[k] = catena::ScalarCell(parameters[k], t);
    operands[k] = {cell[k].bytes, t, true, &shape, &zero};
  }
  operands[def.nin] = {call.out.data, call.out.dtype, false, &shape, &step};
  const catena::EagerProgram program(def, loop);
  run(catena::bound::Elementwise{&program, {operands, std::size_t(def.num_operands())}, &shape});
  if (catena::compute_dtype(call.out.dtype) != call.out.dtype && call.kind == catena::RandomKind::uniform)
    keep_below_one(call.out, n);
}

}  // namespace nd::cpu
