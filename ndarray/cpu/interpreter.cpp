#include "ndarray/cpu/interpreter.h"

#include <algorithm>

#include "ndarray/cpu/stream_store.h"
#include "ndarray/cpu/workspace.h"

namespace nd::cpu {
namespace {

using catena::compute_dtype;
using catena::itemsize;
using catena::Operand;
using catena::Program;
using catena::Step;

constexpr std::size_t kRecastTile = kTile * 8;

}  // namespace

bool is_streamed(const Program& program, std::size_t slot, const Operand& operand, std::int64_t n) {
  return slot >= std::size_t(program.nin) && is_direct(operand.dtype, program.slots[slot]) &&
         n * static_cast<std::int64_t>(itemsize(operand.dtype)) >= kStreamedBytes;
}

Interpreter::Interpreter(const Program& program, std::span<const Operand> operands, std::int64_t n) : program_(program) {
  const int n_op = program.num_operands();
  n_slots_ = static_cast<int>(program.slots.size());
  first_output_ = program.nin + program.ninout;
  for (int s = 0; s < n_slots_; ++s) {
    Slot& slot = slot_[s];
    slot.dtype = program.slots[std::size_t(s)];
    slot.item = static_cast<std::int64_t>(itemsize(compute_dtype(slot.dtype)));
    slot.direct = s < n_op && is_direct(operands[std::size_t(s)].dtype, slot.dtype) && may_be_direct(s);
    slot.streamed = slot.direct && s >= first_output_ && is_streamed(program, std::size_t(s), operands[std::size_t(s)], n);
    if (slot.direct && !slot.streamed) continue;
    slot.tile = tile_bytes_;
    tile_bytes_ += round_up_64(std::size_t(kTile * slot.item));
    if (s >= n_op || slot.streamed) continue;
    if (s < first_output_) slot.load = Load(operands[std::size_t(s)].dtype, slot.dtype);
    if (s >= program.nin) slot.store = Store(slot.dtype, operands[std::size_t(s)].dtype);
  }
  recast_tiles_ = tile_bytes_;
  for (const Step& step : program.steps)
    for (int k = 0; k < step.kernel->num_operands(); ++k)
      if (is_recast(step, k)) tile_bytes_ = std::max(tile_bytes_, recast_tiles_ + std::size_t(k + 1) * kRecastTile);
}

void Interpreter::run(std::byte* tiles, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const {
  std::byte* p[catena::kMaxSlots];
  std::int64_t st[catena::kMaxSlots];
  const int n_op = program_.num_operands();
  for (std::int64_t i = 0; i < n; i += kTile) {
    const std::int64_t m = n - i < kTile ? n - i : kTile;
    for (int s = 0; s < n_slots_; ++s) {
      const Slot& slot = slot_[s];
      if (slot.direct && !(slot.streamed && stride[s] == slot.item)) {
        p[s] = ptr[s] + i * stride[s];
        st[s] = stride[s];
        continue;
      }
      p[s] = tiles + slot.tile;
      st[s] = slot.item;
      if (s >= first_output_) continue;
      if (s < program_.nin && stride[s] == 0) {  // one value for the whole run
        st[s] = 0;
        if (i == 0) slot.load(ptr[s], 0, p[s], 1);
      } else {
        slot.load(ptr[s] + i * stride[s], stride[s], p[s], m);
      }
    }
    for (std::size_t k = 0; k < program_.steps.size(); ++k) run_step(k, tiles, p, st, m);
    for (int s = program_.nin; s < n_op; ++s) {
      const Slot& slot = slot_[s];
      std::byte* const memory = ptr[s] + i * stride[s];
      if (!slot.direct) slot.store(p[s], memory, stride[s], m);
      else if (p[s] != memory) stream_copy(memory, p[s], m * slot.item);
    }
  }
}

bool Interpreter::is_recast(const Step& step, int k) const {
  return compute_dtype(slot_[step.slot[std::size_t(k)]].dtype) != compute_dtype(step.resolved().type[std::size_t(k)]);
}

void Interpreter::run_step(std::size_t index, std::byte* tiles, std::byte* const* p, const std::int64_t* st, std::int64_t m) const {
  const Step& step = program_.steps[index];
  const int n = step.kernel->num_operands();
  std::byte* ptr[catena::kMaxOperands] = {};
  std::int64_t stride[catena::kMaxOperands] = {};
  for (int k = 0; k < n; ++k) {
    const std::size_t s = step.slot[std::size_t(k)];
    ptr[k] = p[s];
    stride[k] = st[s];
    if (!is_recast(step, k)) continue;
    const Dtype type = step.resolved().type[std::size_t(k)];
    ptr[k] = tiles + recast_tiles_ + std::size_t(k) * kRecastTile;
    stride[k] = static_cast<std::int64_t>(itemsize(compute_dtype(type)));
    if (k < step.kernel->first_output()) Load(compute_dtype(slot_[s].dtype), type)(p[s], st[s], ptr[k], m);
  }
  step.resolved().elementwise(ptr, stride, m);
  for (int k = step.kernel->nin; k < n; ++k) {
    const std::size_t s = step.slot[std::size_t(k)];
    const Slot& slot = slot_[s];
    if (is_recast(step, k)) Store(step.resolved().type[std::size_t(k)], compute_dtype(slot.dtype))(ptr[k], p[s], st[s], m);
    // Every store to a 16-bit slot rounds; the last one does so on its way to memory.
    if (index + 1 < program_.steps.size() && !slot.direct) round_tile(slot.dtype, p[s], m);
  }
}

bool Interpreter::may_be_direct(int s) const {
  if (s < program_.nin || program_.steps.size() == 1) return true;
  if (s < first_output_) return false;
  for (std::size_t k = 0; k + 1 < program_.steps.size(); ++k) {
    const Step& step = program_.steps[k];
    for (int i = 0; i < step.kernel->num_operands(); ++i)
      if (step.slot[std::size_t(i)] == s) return false;
  }
  return true;
}

}  // namespace nd::cpu
