#include <algorithm>
#include <memory>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cpu/compiled_program.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/cpu_backend.h>
#include <catena/ndarray/cpu/interpreter.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/cpu/walk.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::compute_dtype;
using catena::itemsize;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;
using catena::Program;
using catena::Shape;
using catena::Step;
using catena::Strides;

constexpr std::int64_t kGrain = 32 * 1024;    // number of elements that is worth another thread
constexpr std::int64_t kSerial = kGrain / 4;  // number of elements up to which no further thread is used

std::int64_t grain_of(const Program& program) { return std::max<std::int64_t>(kGrain / cost_of(program), 4096); }

bool has_streamed_output(const Program& program, std::span<const BoundOperand> operands, std::int64_t n) {
  for (std::size_t s = program.nin; s < operands.size(); ++s)
    if (is_streamed(program, s, operands[s], n)) return true;
  return false;
}

// ---- one step, run by the loop itself -----------------------------------------------------------------------------

// A step with two outputs, of which a fused function uses one, has a slot without an operand.
bool is_one_step(const Program& program) { return program.steps.size() == 1 && program.num_temporaries() == 0; }

// A loop over one element that is repeated would store element after element; fills store vectors.
void run_loop(const catena::KernelDef& kernel, const Loop& l, std::byte* const* p, const std::int64_t* stride,
              std::int64_t n) {
  if (kernel.is(catena::is_copy) && stride[0] == 0)
    return catena::copy_function(itemsize(l.type[1]))(p[0], 0, p[1], stride[1], n);
  l.elementwise(p, stride, n);
}

// Runs the program if every operand has the compute type of the loop and the shape has at most one axis; returns false
// otherwise.
bool run_one_axis(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  const Step& step = program.steps[0];
  const Loop& l = step.resolved();
  if (loop.size() > 1 || !l.elementwise) return false;
  const int n_op = step.kernel->num_operands();
  std::byte* ptr[catena::kMaxOperands];
  std::int64_t stride[catena::kMaxOperands];
  const bool one = loop.empty();
  for (int k = 0; k < n_op; ++k) {
    const BoundOperand& o = operands[step.slot[std::size_t(k)]];
    if (!is_direct(o.dtype, l.type[std::size_t(k)])) return false;
    ptr[k] = o.data;
    stride[k] = one ? 0 : (*o.strides)[0];
  }
  const std::int64_t n = one ? 1 : loop[0];
  if (n <= kSerial) {
    if (n > 0) run_loop(*step.kernel, l, ptr, stride, n);
    return true;
  }
  if (step.kernel->is(catena::is_copy) || has_streamed_output(program, operands, n)) return false;
  catena::parallel_for(n, step.kernel->transcendental ? kGrain / 4 : kGrain, [&](std::int64_t b, std::int64_t e) {
    std::byte* p[catena::kMaxOperands];
    for (int k = 0; k < n_op; ++k) p[k] = ptr[k] + b * stride[k];
    l.elementwise(p, stride, e - b);
  });
  return true;
}

// As run_one_axis, for one step over memory of exactly the slots' dtypes, some of them 16-bit floats. Uses tiles on the
// stack.
bool run_one_axis_half(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  const Step& step = program.steps[0];
  const Loop& l = step.resolved();
  const int n_op = step.kernel->num_operands();
  constexpr int kMost = 4;
  if (loop.size() != 1 || !l.elementwise || n_op > kMost || step.kernel->is(catena::is_copy)) return false;
  if (has_streamed_output(program, operands, loop[0])) return false;
  struct Cast {
    CastFn load = nullptr, store = nullptr;
    std::byte* data;
    std::int64_t stride;
    bool streamed = false;
  } cast[kMost];
  bool streams = false;
  for (int k = 0; k < n_op; ++k) {
    const BoundOperand& o = operands[step.slot[std::size_t(k)]];
    const Dtype t = l.type[std::size_t(k)];
    if (o.dtype != t) return false;
    cast[k].data = o.data;
    cast[k].stride = (*o.strides)[0];
    if (!is_half(t)) continue;
    if (k < step.kernel->first_output()) cast[k].load = catena::cast_function(t, Dtype::float32);
    if (k >= step.kernel->nin) cast[k].store = catena::cast_function(Dtype::float32, t);
    cast[k].streamed = k >= step.kernel->first_output() && cast[k].stride == 2 && is_worth_streaming(loop[0] * 2);
    streams |= cast[k].streamed;
  }
  catena::parallel_for(loop[0], kGrain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) std::byte tiles[kMost][kTile * 4];
    std::byte* p[kMost];
    std::int64_t stride[kMost];
    for (std::int64_t i = begin; i < end; i += kTile) {
      const std::int64_t m = std::min(kTile, end - i);
      for (int k = 0; k < n_op; ++k) {
        const Cast& c = cast[k];
        std::byte* memory = c.data + i * c.stride;
        const bool tiled = c.load || c.store;
        p[k] = tiled ? tiles[k] : memory;
        stride[k] = !tiled ? c.stride : (c.stride == 0 && !c.store ? 0 : 4);
        if (c.load) c.load(memory, c.stride, tiles[k], 4, stride[k] == 0 ? 1 : m);
      }
      l.elementwise(p, stride, m);
      for (int k = 0; k < n_op; ++k) {
        const Cast& c = cast[k];
        if (!c.store) continue;
        alignas(64) std::byte half[kTile * 2];
        c.store(tiles[k], 4, c.streamed ? half : c.data + i * c.stride, c.stride, m);
        if (c.streamed) stream_copy(c.data + i * 2, half, m * 2);
      }
    }
    if (streams) stream_fence();
  });
  return true;
}

// ---- copies -------------------------------------------------------------------------------------
bool run_copy(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  const Step& step = program.steps[0];
  if (!step.kernel->is(catena::is_copy) || operands.size() != 2 || step.slot[0] != 0) return false;
  const BoundOperand &in = operands[0], &out = operands[1];
  const catena::Dtype slot = program.slots[0];
  if (in.dtype == out.dtype && in.dtype == slot) {
    copy_elements(out.data, *out.strides, in.data, *in.strides, loop, itemsize(in.dtype));
    return true;
  }
  if (slot != in.dtype && slot != out.dtype) return false;
  const CastFn cast = catena::cast_function(in.dtype, out.dtype);
  const Walk walk(operands, loop, 1);
  catena::parallel_for(walk.units(), walk.grain(kGrain), [&](std::int64_t b, std::int64_t e) {
    walk.run(b, e,
             [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) { cast(p[0], s[0], p[1], s[1], n); });
  });
  return true;
}

// ---- programs, tile by tile ---------------------------------------------------------------------
// Length of the longest rows that are gathered into tiles: copying these costs less than running every step on each
// row.
std::int64_t longest_row(const Program& program) { return program.steps.size() > 1 ? kTile / 4 : kTile / 16; }

void run_tiled(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  Walk walk(operands, loop, program.nin < operands.size() ? program.nin : 0);
  const bool rows = walk.share_rows(longest_row(program));
  Interpreter interpreter(program, operands, catena::size_of(loop), rows);
  if (!rows) interpreter.use(compiled_program(program, operands, catena::size_of(loop)));
  constexpr std::size_t kOnStack = 64 * 1024;
  catena::parallel_for(walk.units(), walk.grain(grain_of(program)), [&](std::int64_t b, std::int64_t e) {
    alignas(64) std::byte stack[kOnStack];
    const Workspace heap(interpreter.tile_bytes() > kOnStack ? interpreter.tile_bytes() : 0);
    std::byte* const tiles = heap.data() ? heap.data() : stack;
    using Strides = const std::int64_t*;
    if (rows) {
      walk.run_rows(b, e,
                    [&](std::byte* const* p, Strides row_stride, Strides stride, std::int64_t count, std::int64_t n) {
                      interpreter.run_rows(tiles, p, row_stride, stride, count, n);
                    });
    } else {
      walk.run(b, e,
               [&](std::byte* const* p, Strides stride, std::int64_t n) { interpreter.run(tiles, p, stride, n); });
    }
    stream_fence();
  });
}

// Runs one step whose loop can use the operands without conversion; returns false for others.
bool run_direct(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  const Step& step = program.steps[0];
  const Loop& l = step.resolved();
  const int n_op = step.kernel->num_operands();
  BoundOperand ordered[catena::kMaxOperands];
  for (int k = 0; k < n_op; ++k) {
    ordered[k] = operands[step.slot[std::size_t(k)]];
    if (!is_direct(ordered[k].dtype, l.type[std::size_t(k)])) return false;
  }
  Walk walk({ordered, std::size_t(n_op)}, loop, step.kernel->nin < n_op ? step.kernel->nin : 0);
  if (walk.share_rows(longest_row(program))) return false;
  const std::int64_t grain = walk.grain(step.kernel->transcendental ? kGrain / 4 : kGrain);
  catena::parallel_for(walk.units(), grain, [&](std::int64_t b, std::int64_t e) { walk.run(b, e, l.elementwise); });
  return true;
}

// ---- indexed kernels ----------------------------------------------------------------------------
// An operand for an indexed kernel, whose loops read memory of exactly their dtypes: operands of another dtype are
// converted to a temporary array.
class Converted {
 public:
  Converted() = default;
  ~Converted() { catena::release(storage_); }
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;

  // Converts `o` to an operand of dtype `t` over `shape` (the operand's own shape, or the loop's).
  void make(const BoundOperand& o, Dtype t, const Shape& shape, bool load) {
    from_ = o;
    shape_ = shape;
    for (int i = 0; i < shape_.size(); ++i)
      if ((*o.strides)[i] == 0) shape_[i] = 1;  // repeated elements are converted once
    storage_ = new_storage(std::max<std::size_t>(1, std::size_t(catena::size_of(shape_)) * itemsize(t)), cpu_device);
    strides_ = catena::c_strides(shape_, itemsize(t));
    if (load) move(o.data, *o.strides, o.dtype, storage_->data, strides_, t);
    broadcast_ = strides_;
    for (int i = 0; i < shape.size(); ++i)
      if (shape_[i] == 1) broadcast_[i] = 0;
    full_ = shape;
    view_ = {storage_->data, t, false, &full_, &broadcast_};
  }
  const BoundOperand& view() const { return view_; }
  void write_back() const { move(storage_->data, strides_, view_.dtype, from_.data, *from_.strides, from_.dtype); }

 private:
  void move(std::byte* from, const Strides& from_strides, Dtype from_dtype, std::byte* to, const Strides& to_strides,
            Dtype to_dtype) const {
    const BoundOperand pair[2] = {{from, from_dtype, false, &shape_, &from_strides},
                                  {to, to_dtype, false, &shape_, &to_strides}};
    const CastFn cast = catena::cast_function(from_dtype, to_dtype);
    const Walk walk(pair, shape_, 1);
    walk.run(0, walk.units(),
             [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) { cast(p[0], s[0], p[1], s[1], n); });
  }

  catena::Storage* storage_ = nullptr;
  BoundOperand from_, view_;
  Shape shape_, full_;
  Strides strides_, broadcast_;
};

void run_indexed(const Step& step, std::span<const BoundOperand> operands, const Shape& loop) {
  const KernelDef& def = *step.kernel;
  const Loop& l = step.resolved();
  const int n_op = def.num_operands();
  Converted converted[catena::kMaxOperands];
  std::byte* data[catena::kMaxOperands];
  const Shape* shape[catena::kMaxOperands];
  const Strides* strides[catena::kMaxOperands];
  for (int k = 0; k < n_op; ++k) {
    const BoundOperand* o = &operands[step.slot[std::size_t(k)]];
    const bool raw = (def.raw >> k) & 1;
    const Dtype t = l.type[std::size_t(k)];
    if (o->dtype != t) {
      converted[k].make(*o, t, raw ? *o->shape : loop, k < def.first_output() || raw);
      o = &converted[k].view();
    }
    data[k] = o->data;
    shape[k] = raw ? o->shape : &loop;
    strides[k] = o->strides;
  }
  const catena::IndexedCall call{data, shape, strides, &loop};
  catena::parallel_for(catena::size_of(loop), kGrain / 8,
                       [&](std::int64_t b, std::int64_t e) { l.indexed(call, b, e); });
  for (int k = def.nin; k < n_op; ++k)
    if (operands[step.slot[std::size_t(k)]].dtype != l.type[std::size_t(k)]) converted[k].write_back();
}

// ---- programs with indexed steps ----------------------------------------------------------------
void run_step_by_step(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  const int n_op = program.num_operands();
  std::vector<BoundOperand> all(operands.begin(), operands.end());
  std::vector<std::unique_ptr<Workspace>> memory;
  std::vector<Strides> strides;
  strides.reserve(program.slots.size());
  const auto n = std::size_t(catena::size_of(loop));
  for (std::size_t s = std::size_t(n_op); s < program.slots.size(); ++s) {
    const Dtype t = program.slots[s];
    memory.push_back(std::make_unique<Workspace>(n * itemsize(t)));
    strides.push_back(catena::c_strides(loop, itemsize(t)));
    all.push_back({memory.back()->data(), t, false, &loop, &strides.back()});
  }
  for (const Step& step : program.steps) {
    if (step.resolved().indexed) {
      run_indexed(step, all, loop);
      continue;
    }
    const int k_op = step.kernel->num_operands();
    BoundOperand own[catena::kMaxOperands];
    Dtype slots[catena::kMaxOperands];
    Step one{step.kernel, step.loop, {}};
    for (int k = 0; k < k_op; ++k) {
      own[k] = all[step.slot[std::size_t(k)]];
      slots[k] = program.slots[step.slot[std::size_t(k)]];
      one.slot[std::size_t(k)] = static_cast<std::uint8_t>(k);
    }
    const Program single{
        {&one, 1}, {slots, std::size_t(k_op)}, step.kernel->nin, step.kernel->ninout, step.kernel->nout};
    run_tiled(single, {own, std::size_t(k_op)}, loop);
  }
}

[[gnu::noinline]] void run_general(const Program& program, std::span<const BoundOperand> operands, const Shape& loop) {
  if (catena::size_of(loop) == 0) return;
  if (is_one_step(program)) {
    const Step& step = program.steps[0];
    if (step.resolved().indexed) return run_indexed(step, operands, loop);
    if (run_copy(program, operands, loop)) return;
    if (!has_streamed_output(program, operands, catena::size_of(loop)) && run_direct(program, operands, loop)) return;
  } else {
    for (const Step& step : program.steps)
      if (step.resolved().indexed) return run_step_by_step(program, operands, loop);
  }
  run_tiled(program, operands, loop);
}

}  // namespace

bool CpuBackend::elementwise_flat(const catena::bound::Flat& call, StreamRef) {
  const Loop& l = call.kernel->loop_table[call.loop];
  if (call.n > kSerial || !l.elementwise) return false;
  run_loop(*call.kernel, l, call.data, call.stride, call.n);
  return true;
}

void run(const catena::bound::Elementwise& call) {
  const Program& program = *call.program;
  const std::span<const BoundOperand> operands = call.operands;
  const Shape& loop = *call.loop;
  if (is_one_step(program) && (run_one_axis(program, operands, loop) || run_one_axis_half(program, operands, loop)))
    return;
  run_general(program, operands, loop);
}

}  // namespace nd::cpu
