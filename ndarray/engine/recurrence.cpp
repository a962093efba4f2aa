// Recurrences: the operands are checked and bound once, and then advanced along the first axis.
#include <array>

#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/launch.h>

namespace nd::internal {
namespace {

using catena::BoundOperand;
using catena::Input;
using catena::Shape;
using catena::Strides;

// The operands at one position of the first axis.
class Position {
 public:
  explicit Position(const catena::BoundCall& call) : shape_(call.loop()), n_(call.operands().size()) {
    shape_.erase(0);
    for (std::size_t k = 0; k < n_; ++k) {
      strides_[k] = *call.operands()[k].strides;
      step_[k] = strides_[k][0];
      strides_[k].erase(0);
    }
    catena::merge_axes(shape_, {strides_.data(), n_});
    for (std::size_t k = 0; k < n_; ++k) {
      operands_[k] = call.operands()[k];
      operands_[k].shape = &shape_;
      operands_[k].strides = &strides_[k];
    }
  }
  Position(const Position&) = delete;
  Position& operator=(const Position&) = delete;

  const Shape& shape() const { return shape_; }
  std::span<const BoundOperand> operands() const { return {operands_.data(), n_}; }
  void advance() {
    for (std::size_t k = 0; k < n_; ++k) operands_[k].data += step_[k];
  }

 private:
  Shape shape_;
  std::size_t n_;
  std::array<Strides, catena::kMaxOperands> strides_;
  std::array<BoundOperand, catena::kMaxOperands> operands_;
  std::array<std::int64_t, catena::kMaxOperands> step_;
};

}  // namespace

void run(const catena::call::Recurrence& recurrence) {
  const catena::call::Elementwise& call = recurrence.step;
  catena::SmallVector<const ArrayHeader*, 8> reads;
  OneDevice device(call.op());
  for (const Input& in : call.inputs)
    if (in.is_array()) reads.push_back(&in.array());
  for (const ArrayHeader* a : reads) device.add(a);
  for (const ArrayHeader* out : call.outputs) device.add(out);
  catena::BoundCall bound;
  bound.bind(call.op(), call.inputs, call.outputs, call.program->slots.data());
  if (catena::size_of(bound.loop()) == 0) return;
  const StreamRef stream = stream_for(device.get());
  Executor& e = executor(device.get().kind);
  launch_on(stream, reads, {call.outputs.data(), call.outputs.size()}, [&] {
    if (e.execute_in_order({call.program, bound.operands(), &bound.loop()}, stream)) return;
    Position at(bound);
    for (std::int64_t i = 0; i < bound.loop()[0]; ++i, at.advance())
      e.execute(catena::bound::Elementwise{call.program, at.operands(), &at.shape()}, stream);
  });
}

}  // namespace nd::internal
