#include <catena/ndarray/cpu/interpreter.h>

#include <algorithm>

#include <catena/kernels/base/word.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::compute_dtype;
using catena::itemsize;
using catena::Program;
using catena::Step;

constexpr std::size_t kRecastTile = kTile * 8;
constexpr std::int64_t kAheadBytes = 32 * 1024 * 1024;  // an operand with fewer bytes may be in a cache: no prefetching
constexpr std::int64_t kNearBytes = 24 * 1024;          // the tiles of all slots should stay in the first-level cache

}  // namespace

bool is_streamed(const Program& program, std::size_t slot, const BoundOperand& operand, std::int64_t n) {
  return slot >= std::size_t(program.nin) && is_direct(operand.dtype, program.slots[slot]) &&
         is_worth_streaming(n * static_cast<std::int64_t>(itemsize(operand.dtype)));
}

Interpreter::Interpreter(const Program& program, std::span<const BoundOperand> operands, std::int64_t n, bool rows)
    : program_(program) {
  const int n_op = program.num_operands();
  n_slots_ = static_cast<int>(program.slots.size());
  first_output_ = program.nin + program.ninout;
  for (int s = 0; s < n_slots_; ++s) {
    Slot& slot = slot_[s];
    slot.dtype = program.slots[std::size_t(s)];
    slot.item = static_cast<std::int64_t>(itemsize(compute_dtype(slot.dtype)));
    slot.bits = s < n_op && is_direct(operands[std::size_t(s)].dtype, slot.dtype);
    slot.direct = slot.bits && may_be_direct(s);
    slot.streamed =
        slot.direct && s >= first_output_ && is_streamed(program, std::size_t(s), operands[std::size_t(s)], n);
    if (s < n_op && program.steps.size() > 1 && !rows && !slot.streamed) {
      const auto item = static_cast<std::int64_t>(itemsize(operands[std::size_t(s)].dtype));
      if (n * item >= kAheadBytes) slot.ahead = item;
      fetches_ahead_ |= slot.ahead != 0;
    }
    if (slot.direct && !slot.streamed && !rows) continue;
    slot.tile = tile_bytes_;
    tile_bytes_ += round_up_64(std::size_t(kTile * slot.item));
    if (s >= n_op || (slot.streamed && !rows)) continue;
    if (s < first_output_) slot.load = Load(operands[std::size_t(s)].dtype, slot.dtype);
    if (s >= program.nin) slot.store = Store(slot.dtype, operands[std::size_t(s)].dtype);
  }
  recast_tiles_ = tile_bytes_;
  if (n_slots_ * kTile * 4 > kNearBytes) at_once_ = kTile / 2;
  for (const Step& step : program.steps) {
    const catena::KernelDef& def = *step.kernel;
    Ready ready;
    ready.loop = &step.resolved();
    ready.run = ready.loop->elementwise;
    ready.n = static_cast<std::uint8_t>(def.num_operands());
    ready.nin = def.nin;
    ready.first_output = static_cast<std::uint8_t>(def.first_output());
    ready.slot = step.slot;
    const bool last = &step == &program.steps.back();
    for (int k = 0; k < ready.n; ++k) {
      const Slot& slot = slot_[step.slot[std::size_t(k)]];
      if (compute_dtype(slot.dtype) != compute_dtype(ready.loop->type[std::size_t(k)])) {
        ready.recast |= std::uint16_t(1u << k);
        tile_bytes_ = std::max(tile_bytes_, recast_tiles_ + std::size_t(k + 1) * kRecastTile);
      }
      // Every store to a 16-bit slot rounds; the last store rounds when it writes to memory.
      if (k >= ready.nin && !last && !slot.direct && is_half(slot.dtype)) ready.rounded |= std::uint16_t(1u << k);
    }
    steps_.push_back(ready);
  }
}

void Interpreter::use(const CompiledProgram& compiled) { compiled_ = compiled; }

bool Interpreter::suits_compiled(const std::int64_t* st) const {
  for (int s = 0; s < program_.num_operands(); ++s)
    if (st[s] != (((compiled_.scalars >> s) & 1) != 0 ? 0 : slot_[s].item)) return false;
  return true;
}

void Interpreter::run(std::byte* tiles, std::byte* const* ptr, const std::int64_t* stride, std::int64_t n) const {
  std::byte* p[catena::kMaxSlots];
  std::int64_t st[catena::kMaxSlots];
  const int n_op = program_.num_operands();
  if (is_streamed_step(stride)) return run_streamed(tiles, ptr, stride, n);
  for (std::int64_t i = 0; i < n; i += at_once_) {
    const std::int64_t m = std::min(n - i, at_once_);
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
      if (s < program_.nin && stride[s] == 0) {  // one value for all elements
        st[s] = 0;
        if (i == 0) slot.load(ptr[s], 0, p[s], 1);
      } else {
        slot.load(ptr[s] + i * stride[s], stride[s], p[s], m);
      }
    }
    const bool more = n - i >= 2 * at_once_;
    const bool compiled = compiled_.run != nullptr && suits_compiled(st);
    if (compiled) compiled_.run(p, m);
    for (std::size_t k = compiled ? steps_.size() : 0; k < steps_.size(); ++k) {
      if (more && fetches_ahead_) fetch_ahead(ptr, stride, i + at_once_, static_cast<std::int64_t>(k));
      run_step(steps_[k], tiles, p, st, m);
    }
    for (int s = program_.nin; s < n_op; ++s) {
      const Slot& slot = slot_[s];
      std::byte* const memory = ptr[s] + i * stride[s];
      if (!slot.direct) slot.store(p[s], memory, stride[s], m);
      else if (p[s] != memory) stream_copy(memory, p[s], m * slot.item);
    }
  }
}

bool Interpreter::is_streamed_step(const std::int64_t* stride) const {
  if (steps_.size() != 1 || steps_.front().recast != 0 || first_output_ == n_slots_) return false;
  for (int s = 0; s < n_slots_; ++s)
    if (!slot_[s].direct || (s >= first_output_ && !(slot_[s].streamed && stride[s] == slot_[s].item))) return false;
  return true;
}

// Runs one step that accesses memory without conversion. Tiles are short, because memory is busy all the time only if
// reads and writes alternate quickly. They end at cache lines of the output.
void Interpreter::run_streamed(std::byte* tiles, std::byte* const* ptr, const std::int64_t* stride,
                               std::int64_t n) const {
  constexpr std::int64_t kShortTile = 384;
  const Ready& step = steps_.front();
  std::byte* p[catena::kMaxOperands];
  std::int64_t st[catena::kMaxOperands];
  std::byte* const out = ptr[first_output_];
  const std::int64_t before_line =
      static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(out) % kLine) / slot_[first_output_].item;
  for (std::int64_t i = 0, m = std::min(n, before_line + kShortTile); i < n; i += m, m = std::min(kShortTile, n - i)) {
    for (int k = 0; k < step.n; ++k) {
      const std::size_t s = step.slot[std::size_t(k)];
      p[k] = slot_[s].streamed ? tiles + slot_[s].tile : ptr[s] + i * stride[s];
      st[k] = stride[s];
    }
    step.run(p, st, m);
    for (int s = first_output_; s < n_slots_; ++s)
      stream_copy(ptr[s] + i * stride[s], tiles + slot_[s].tile, m * slot_[s].item);
  }
}

void Interpreter::fetch_ahead(std::byte* const* ptr, const std::int64_t* stride, std::int64_t at,
                              std::int64_t k) const {
  const auto steps = static_cast<std::int64_t>(steps_.size());
  for (int s = 0; s < program_.num_operands(); ++s) {
    const std::int64_t item = slot_[s].ahead, lines = at_once_ * item / kLine;
    if (item == 0 || item != stride[s]) continue;
    const std::byte* const next = ptr[s] + at * item;
    for (std::int64_t line = lines * k / steps; line < lines * (k + 1) / steps; ++line)
      fetch_line<Nearness::l2>(next + line * kLine);
  }
}

namespace {
// Calls f(row, length) for every row, or once if the rows are contiguous.
template <class F>
void each_part(std::int64_t row_stride, std::int64_t stride, std::int64_t rows, std::int64_t n, const F& f) {
  if (row_stride == n * stride) return f(0, rows * n);
  for (std::int64_t r = 0; r < rows; ++r) f(r, n);
}
}  // namespace

void Interpreter::run_rows(std::byte* tiles, std::byte* const* ptr, const std::int64_t* row_stride,
                           const std::int64_t* stride, std::int64_t rows, std::int64_t n) const {
  std::byte* p[catena::kMaxSlots];
  std::int64_t st[catena::kMaxSlots];
  const int n_op = program_.num_operands();
  const std::int64_t at_once = kTile / n;
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t count = rows - first < at_once ? rows - first : at_once;
    for (int s = 0; s < n_slots_; ++s) {
      const Slot& slot = slot_[s];
      p[s] = tiles + slot.tile;
      st[s] = slot.item;
      if (s >= n_op) continue;
      std::byte* const memory = ptr[s] + first * row_stride[s];
      const bool one = s < program_.nin && stride[s] == 0 && row_stride[s] == 0;
      if (slot.direct && !slot.streamed && (one || is_joined(slot, stride[s], row_stride[s], n))) {
        p[s] = memory;
        st[s] = stride[s];
      } else if (one) {
        st[s] = 0;
        if (first == 0) slot.load(memory, 0, p[s], 1);
      } else if (s < program_.nin && row_stride[s] == 0) {  // one row for all
        if (first > 0) continue;
        slot.load(memory, stride[s], p[s], n);
        copy_rows(p[s] + n * slot.item, n * slot.item, p[s], 0, count - 1, n * slot.item);
      } else if (s < program_.nin && stride[s] == 0) {  // one element for each row
        load_repeated(slot, memory, row_stride[s], p[s], count, n);
      } else if (s < first_output_ && slot.bits && stride[s] == slot.item) {
        copy_rows(p[s], n * slot.item, memory, row_stride[s], count, n * slot.item);
      } else if (s < first_output_) {
        each_part(row_stride[s], stride[s], count, n, [&](std::int64_t r, std::int64_t length) {
          slot.load(memory + r * row_stride[s], stride[s], p[s] + r * n * slot.item, length);
        });
      }
    }
    for (const Ready& step : steps_) run_step(step, tiles, p, st, count * n);
    for (int s = program_.nin; s < n_op; ++s) {
      const Slot& slot = slot_[s];
      std::byte* const memory = ptr[s] + first * row_stride[s];
      if (p[s] == memory) continue;
      if (slot.streamed && is_joined(slot, stride[s], row_stride[s], n)) {
        stream_copy(memory, p[s], count * n * slot.item);
        continue;
      }
      if (slot.bits && stride[s] == slot.item) {
        copy_rows(memory, row_stride[s], p[s], n * slot.item, count, n * slot.item);
        continue;
      }
      each_part(row_stride[s], stride[s], count, n, [&](std::int64_t r, std::int64_t length) {
        slot.store(p[s] + r * n * slot.item, memory + r * row_stride[s], stride[s], length);
      });
    }
  }
}

bool Interpreter::is_joined(const Slot& slot, std::int64_t stride, std::int64_t row_stride, std::int64_t n) {
  return stride == slot.item && row_stride == n * slot.item;
}

void Interpreter::load_repeated(const Slot& slot, const std::byte* from, std::int64_t step, std::byte* to,
                                std::int64_t count, std::int64_t n) {
  alignas(64) std::byte column[kTile / 2 * sizeof(catena::Word16)];  // rows have two elements or more
  if (!slot.bits) {
    slot.load(from, step, column, count);
    from = column;
    step = slot.item;
  }
  repeat_each(to, from, step, count, n, std::size_t(slot.item));
}

void Interpreter::run_step(const Ready& step, std::byte* tiles, std::byte* const* p, const std::int64_t* st,
                           std::int64_t m) const {
  std::byte* ptr[catena::kMaxOperands];
  std::int64_t stride[catena::kMaxOperands];
  for (int k = 0; k < step.n; ++k) {
    ptr[k] = p[step.slot[std::size_t(k)]];
    stride[k] = st[step.slot[std::size_t(k)]];
  }
  if (step.recast != 0) recast_in(step, tiles, p, st, ptr, stride, m);
  step.run(ptr, stride, m);
  if ((step.recast | step.rounded) == 0) return;
  for (int k = step.nin; k < step.n; ++k) {
    const std::size_t s = step.slot[std::size_t(k)];
    const Dtype dtype = slot_[s].dtype;
    if ((step.recast >> k) & 1) Store(step.loop->type[std::size_t(k)], compute_dtype(dtype))(ptr[k], p[s], st[s], m);
    if ((step.rounded >> k) & 1) round_tile(dtype, p[s], m);
  }
}

void Interpreter::recast_in(const Ready& step, std::byte* tiles, std::byte* const* p, const std::int64_t* st,
                            std::byte** ptr, std::int64_t* stride, std::int64_t m) const {
  for (int k = 0; k < step.n; ++k) {
    if (!((step.recast >> k) & 1)) continue;
    const std::size_t s = step.slot[std::size_t(k)];
    const Dtype type = step.loop->type[std::size_t(k)];
    ptr[k] = tiles + recast_tiles_ + std::size_t(k) * kRecastTile;
    stride[k] = static_cast<std::int64_t>(itemsize(compute_dtype(type)));
    if (k < step.first_output) Load(compute_dtype(slot_[s].dtype), type)(p[s], st[s], ptr[k], m);
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
