// The call layer: calls that run kernels: elementwise and indexed programs, reductions, scans, row-wise and
// multi-tensor kernels.
#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/tensor_table.h>
#include <catena/ndarray/engine/call_watch.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/launch.h>

namespace nd::internal {

using catena::BoundCall;
using catena::BoundOperand;
using catena::check;
using catena::Dims;
using catena::Input;
using catena::KernelDef;
using catena::KernelKind;
using catena::Scalar;
using catena::Shape;
using catena::Strides;
using catena::ValueError;
using catena::call::Reads;

namespace {

[[gnu::always_inline]] inline void run_call(const catena::Call& call) {
  call.visit([](const auto& one) {
    try {
      run(one);
    } catch (...) {
      catena::rethrow_standard(one.op());
    }
  });
}

[[gnu::noinline]] void run_watched(const catena::Call& call) {
  watch_work(
      call_watch_scope, [&](CallWatch& watch) { call.visit([&](const auto& one) { watch.begin_call(one.op()); }); },
      [&] { run_call(call); });
}

}  // namespace

void execute(const catena::Call& call) {
  if (is_watched()) [[unlikely]]
    return run_watched(call);
  run_call(call);
}

// ---- elementwise and indexed --------------------------------------------------------------------
namespace {

// The operands of a call of one kernel over arrays of one layout, as the loop takes them.
class FlatOperands {
 public:
  // Returns false if an operand does not have the compute type of the loop.
  bool bind(const catena::call::Elementwise& call, Reads inputs, const catena::Step& step, const ArrayHeader& model) {
    const auto& type = step.resolved().type;
    const std::size_t nin = inputs.size(), n = std::size_t(step.kernel->num_operands());
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t from = step.slot[k];
      const Dtype t = type[k];
      if (catena::compute_dtype(t) != t || call.program->slots[from] != t) return false;
      if (from < nin && !inputs[from].is_array()) {
        inputs[from].scalar().store(t, cells_[k].bytes);
        data_[k] = cells_[k].bytes;
        stride_[k] = 0;
        continue;
      }
      const ArrayHeader& a = from < nin ? inputs[from].array() : *call.outputs[from - nin];
      if (a.dtype != t) return false;
      data_[k] = a.data;
      stride_[k] = a.size == model.size ? static_cast<std::int64_t>(catena::itemsize(t)) : 0;
    }
    return true;
  }
  std::byte* const* data() const { return data_; }
  const std::int64_t* stride() const { return stride_; }

 private:
  std::byte* data_[catena::kMaxOperands];
  std::int64_t stride_[catena::kMaxOperands];
  catena::ScalarCell cells_[catena::kMaxOperands];
};

// Executes a call on arrays of the layout of `model` without binding them. Returns false if that is not possible.
[[gnu::always_inline]] inline bool run_unbound(const catena::call::Elementwise& call, Reads inputs,
                                               const ArrayHeader& model) {
  const catena::Step& step = call.program->steps[0];
  FlatOperands operands;
  if (call.program->steps.size() != 1 || call.program->num_temporaries() != 0) return false;
  if (model.device.kind != Device::Kind::cpu || !operands.bind(call, inputs, step, model)) return false;
  if (model.size == 0) return true;
  const catena::bound::Flat flat{step.kernel, step.loop, operands.data(), operands.stride(), model.size};
  if (!cpu_executor().elementwise_flat(flat, StreamRef{model.device, nullptr})) return false;
  for (const ArrayHeader* out : call.outputs) raise_version(*out);
  return true;
}

// Executes a call of which no output overlaps an input other than itself. `same_layout`: as in the call, or null.
[[gnu::noinline]] void run_bound(const catena::call::Elementwise& call, Reads inputs, Device device,
                                 const ArrayHeader* same_layout) {
  const KernelDef& kernel = *call.program->steps[0].kernel;
  const std::uint16_t raw = kernel.kind == KernelKind::indexed ? kernel.raw : 0;
  BoundCall bound;
  bound.bind(call.op(), inputs, call.outputs, call.program->slots.data(), raw, same_layout);
  if (catena::size_of(bound.loop()) == 0) return;
  launch(device, inputs, call.outputs, catena::bound::Elementwise{call.program, bound.operands(), &bound.loop()});
}

// Executes a call on arrays about which nothing is known.
[[gnu::noinline]] void run_unknown(const catena::call::Elementwise& call) {
  check<ValueError>(!call.outputs.empty() && call.outputs.size() <= catena::kMaxOperands, call.op(),
                    call.outputs.size(), " outputs were given");
  const Device device = device_of(call.op(), call.inputs, call.outputs);
  const KernelDef& kernel = *call.program->steps[0].kernel;
  const bool indexed = kernel.kind == KernelKind::indexed;
  const InputsWithCopies inputs(call.inputs, [&](std::size_t k, const ArrayHeader& a) {
    return would_overwrite(call.outputs, a, indexed && ((kernel.raw >> k) & 1));
  });
  // The bodies of indexed kernels may need positions along axes.
  const ArrayHeader* const model = indexed ? nullptr : catena::same_layout(inputs, call.outputs);
  if (model == nullptr || !run_unbound(call, inputs, *model)) run_bound(call, inputs, device, model);
}

}  // namespace

void run(const catena::call::Elementwise& call) {
  const ArrayHeader* const model = call.same_layout;
  if (model == nullptr) return run_unknown(call);
  if (!run_unbound(call, call.inputs, *model)) run_bound(call, call.inputs, model->device, model);
}

void convert_into(std::string_view op, const Input& in, ArrayHeader& out) {
  if (!in.is_array() && catena::is_integer(out.dtype)) catena::check_fits(op, in.scalar(), out.dtype);
  if (!in.is_array() && out.size == 1 && out.device.kind == Device::Kind::cpu) {  // a(i) = x does not need a loop
    in.scalar().store(out.dtype, out.data);
    return raise_version(out);
  }
  const KernelDef& copy = catena::kernels::copy;
  const catena::EagerProgram program(copy, catena::choose_loop_by_output(copy, out.dtype));
  ArrayHeader* const outputs[] = {&out};
  execute(catena::call::Elementwise{&program, {&in, 1}, outputs, op});
}

// ---- reductions and scans -----------------------------------------------------------------------
namespace {

// The strides of the output of a reduction over all `rank` axes of the input: 0 along `axes`, which `out` has with
// length 1 or not at all.
Strides reduced_strides(const ArrayHeader& out, int rank, const Dims& axes) {
  const bool kept = out.shape.size() == rank;
  Strides strides;
  for (int axis = 0, k = 0; axis < rank; ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    strides.push_back(reduced ? 0 : out.strides[kept ? axis : k]);
    if (!reduced) ++k;
  }
  return strides;
}

// Strides for the elements that a program computes from operands broadcast to `shape`: those of an operand that is not
// itself broadcast, else those of a C-contiguous array. The executor chooses the inner axes by them (see
// catena::bound::Reduce::in).
Strides guide_strides(std::span<const BoundOperand> operands, const Shape& shape, Dtype element) {
  for (const BoundOperand& o : operands) {
    bool whole = true;
    for (int a = 0; a < shape.size(); ++a) whole &= shape[a] == 1 || (*o.strides)[a] != 0;
    if (whole) return *o.strides;
  }
  return catena::c_strides(shape, catena::itemsize(element));
}

// The operands of a reduction, broadcast to one shape. If no axis is reduced, an axis of length 1 is appended and
// reduced: every element is then an output.
class BoundReduction {
 public:
  BoundReduction(const catena::call::Reduce& call, Reads inputs) : call_(call) {
    const KernelDef& kernel = *call.kernel;
    if (call.pre != nullptr) {
      BoundCall& bound = programs_.emplace().bound;
      bound.bind(kernel.name, inputs, {}, call.pre->slots.data());
      shape_ = bound.loop();
      const Dtype element = call.pre->slots[call.pre->nin];
      in_strides_ = guide_strides(bound.operands(), shape_, element);
      bound_call.in = {nullptr, element, false, &shape_, &in_strides_};
    } else {
      const ArrayHeader& in = inputs[0].array();
      shape_ = in.shape;
      in_strides_ = in.strides;
      bound_call.in = {in.data, in.dtype, false, &shape_, &in_strides_};
    }
    const ArrayHeader& out = *call.out;
    out_shape_ = catena::reduced_shape(shape_, call.axes, true);
    check<ValueError>(out.shape == out_shape_ || out.shape == catena::reduced_shape(shape_, call.axes, false),
                      kernel.name, "the output has shape ", out.shape, ", the input ", shape_, " reduced over ",
                      call.axes);
    out_strides_ = reduced_strides(out, shape_.size(), call.axes);
    bound_call.axes = call.axes;
    if (call.axes.empty()) add_axis();
    bound_call.kernel = &kernel;
    bound_call.loop = call.loop;
    bound_call.ddof = call.ddof;
    bound_call.out = {out.data, out.dtype, false, &out_shape_, &out_strides_};
    if (call.pre != nullptr) bind_map();
    if (call.post != nullptr) bind_post();
  }
  BoundReduction(const BoundReduction&) = delete;
  BoundReduction& operator=(const BoundReduction&) = delete;

  catena::bound::Reduce bound_call;

 private:
  void add_axis() {
    bound_call.axes.push_back(shape_.size());
    shape_.push_back(1);
    in_strides_.push_back(0);
    out_shape_.push_back(1);
    out_strides_.push_back(0);
  }
  // The operands of the programs before and after the reduction; a plain reduction does not construct them.
  struct Programs {
    BoundCall bound;
    std::array<BoundOperand, catena::kMaxOperands> map, post;
    std::array<Strides, catena::kMaxOperands> map_strides;
    std::array<catena::ScalarCell, catena::kMaxOperands> cells;
    Strides none;
  };

  void bind_map() {
    std::size_t n = 0;
    for (const BoundOperand& o : programs_->bound.operands()) {
      Strides& strides = programs_->map_strides[n];
      strides = *o.strides;
      if (call_.axes.empty()) strides.push_back(0);
      programs_->map[n] = o;
      programs_->map[n].shape = &shape_;
      programs_->map[n].strides = &strides;
      ++n;
    }
    bound_call.pre = call_.pre;
    bound_call.pre_inputs = {programs_->map.data(), n};
  }
  void bind_post() {
    if (!programs_) programs_.emplace();
    programs_->none = Strides::filled(out_shape_.size(), 0);
    std::size_t k = 0;
    for (const Input& in : call_.post_inputs) {
      const Dtype slot = call_.post->slots[k + 1];
      programs_->cells[k] = catena::ScalarCell(in.scalar(), slot);
      programs_->post[k] = {programs_->cells[k].bytes, slot, true, &out_shape_, &programs_->none};
      ++k;
    }
    bound_call.post = call_.post;
    bound_call.post_inputs = {programs_->post.data(), k};
  }

  const catena::call::Reduce& call_;
  Shape shape_, out_shape_;
  Strides in_strides_, out_strides_;
  std::optional<Programs> programs_;
};

// True if all elements of a contiguous array are reduced to one element outside of it.
bool reduces_all(const catena::call::Reduce& call) {
  if (call.pre != nullptr || call.post != nullptr || call.inputs.size() != 1 || !call.inputs[0].is_array())
    return false;
  const ArrayHeader &in = call.inputs[0].array(), &out = *call.out;
  return in.c_contiguous && in.size > 0 && call.axes.size() == in.shape.size() && out.size == 1 &&
         (out.shape.empty() || out.shape.size() == in.shape.size()) && in.device == out.device &&
         !catena::share_bytes(in, out);
}

// Executes a call for which reduces_all() is true over one axis.
void reduce_all(const catena::call::Reduce& call) {
  static const Shape one{1};
  static const Strides stays{0};
  const ArrayHeader &in = call.inputs[0].array(), &out = *call.out;
  const Shape shape{in.size};
  const Strides strides{static_cast<std::int64_t>(catena::itemsize(in.dtype))};
  catena::bound::Reduce flat;
  flat.kernel = call.kernel;
  flat.loop = call.loop;
  flat.ddof = call.ddof;
  flat.in = {in.data, in.dtype, false, &shape, &strides};
  flat.out = {out.data, out.dtype, false, &one, &stays};
  flat.axes.push_back(0);
  launch(in.device, call.inputs, {&call.out, 1}, flat);
}

[[gnu::noinline]] void reduce_some(const catena::call::Reduce& call) {
  const Device device = device_of(call.op(), call.inputs, {&call.out, 1});
  const InputsWithCopies inputs(call.inputs,
                                [&](std::size_t, const ArrayHeader& a) { return catena::share_bytes(a, *call.out); });
  const BoundReduction bound(call, inputs);
  if (call.out->size != 0) launch(device, inputs, {&call.out, 1}, bound.bound_call);
}

}  // namespace

void run(const catena::call::Reduce& call) { reduces_all(call) ? reduce_all(call) : reduce_some(call); }

void run(const catena::call::Scan& call) {
  const ArrayHeader &in = *call.in, &out = *call.out;
  check<catena::TypeError>(call.kernel->is(catena::may_scan), call.kernel->name, "has no running form");
  check<ValueError>(out.shape == in.shape && call.axis >= 0 && call.axis < in.shape.size(), call.kernel->name,
                    "the output has shape ", out.shape, ", the input ", in.shape, " is scanned along axis ", call.axis);
  const Input given(in);
  execute_disjoint(call.kernel->name, {&given, 1}, call.out, [&](Reads inputs) {
    return catena::bound::Scan{call.kernel, call.loop, catena::operand_of(inputs[0].array()), call.axis,
                               catena::operand_of(out)};
  });
}

// ---- row-wise kernels --------------------------------------------------------------------------------
namespace {

// The operands of a row-wise kernel, with one stride per axis of the shape.
class BoundRowWise {
 public:
  BoundRowWise(const catena::call::RowWise& call, Reads inputs) {
    const KernelDef& kernel = *call.kernel;
    const Shape& shape = *call.shape;
    const Shape per_row = catena::reduced_shape(shape, call.axes, true);
    const catena::Loop& types = kernel.loop_table[call.loop];
    for (const Input& in : inputs) {
      if (in.is_array()) {
        strides_[n_] = strides_at(kernel.name, in.array(), shape);
        operands_[n_] = {in.array().data, in.array().dtype, false, &shape, &strides_[n_]};
      } else {
        cells_[n_] = catena::ScalarCell(in.scalar(), types.type[n_]);
        strides_[n_] = Strides::filled(shape.size(), 0);
        operands_[n_] = {cells_[n_].bytes, types.type[n_], true, &shape, &strides_[n_]};
      }
      ++n_;
    }
    for (const ArrayHeader* out : call.outputs) {
      const bool is_row = n_ >= std::size_t(kernel.nin + kernel.nout);
      check<ValueError>(out->shape == (is_row ? per_row : shape), kernel.name, "output ", n_ - kernel.nin,
                        " has shape ", out->shape, " and should have ", is_row ? per_row : shape);
      strides_[n_] = out->strides;
      if (is_row)
        for (std::int64_t axis : call.axes) strides_[n_][int(axis)] = 0;
      operands_[n_] = {out->data, out->dtype, false, &shape, &strides_[n_]};
      ++n_;
    }
  }
  BoundRowWise(const BoundRowWise&) = delete;
  BoundRowWise& operator=(const BoundRowWise&) = delete;
  std::span<const BoundOperand> operands() const { return {operands_.data(), n_}; }

 private:
  std::size_t n_ = 0;
  std::array<BoundOperand, catena::kMaxOperands> operands_;
  std::array<Strides, catena::kMaxOperands> strides_;
  std::array<catena::ScalarCell, catena::kMaxOperands> cells_;
};

}  // namespace

void run(const catena::call::RowWise& call) {
  const KernelDef& kernel = *call.kernel;
  check<ValueError>(call.inputs.size() == kernel.nin && int(call.outputs.size()) == kernel.num_operands() - kernel.nin,
                    kernel.name, call.inputs.size(), " inputs and ", call.outputs.size(),
                    " outputs do not fit the kernel");
  const Device device = device_of(kernel.name, call.inputs, call.outputs);
  // A row is read completely before its elements are written, and each element is computed from the inputs at its
  // position, so an output may be identical to an input.
  const InputsWithCopies inputs(
      call.inputs, [&](std::size_t, const ArrayHeader& a) { return would_overwrite(call.outputs, a, false); });
  const BoundRowWise bound(call, inputs);
  if (catena::size_of(*call.shape) == 0) {
    // Rows without elements have no statistics; their outputs are 0.
    for (ArrayHeader* out : call.outputs) convert_into(kernel.name, Input(Scalar(0)), *out);
    return;
  }
  launch(device, inputs, call.outputs,
         catena::bound::RowWise{&kernel, call.loop, *call.shape, call.axes, bound.operands()});
}

void run(const catena::call::RowWiseAndSums& call) {
  const catena::call::RowWise& rows = call.rows;
  catena::SmallVector<Input, 16> inputs;
  catena::SmallVector<ArrayHeader*, 8> outputs;
  for (const Input& in : rows.inputs) inputs.push_back(in);
  for (ArrayHeader* out : rows.outputs) outputs.push_back(out);
  for (const catena::call::Reduce& sum : call.sums) {
    check<ValueError>(sum.axes.size() + rows.axes.size() == rows.shape->size() && sum.post == nullptr,
                      rows.kernel->name, "a sum over axes ", sum.axes, " beside rows over axes ", rows.axes, " of ",
                      *rows.shape);
    for (const Input& in : sum.inputs) inputs.push_back(in);
    outputs.push_back(sum.out);
  }
  for (const ArrayHeader* out : outputs)
    for (const Input& in : inputs)
      check<ValueError>(!in.is_array() || !catena::share_bytes(in.array(), *out), rows.kernel->name,
                        "an output of rows with sums shares memory with an input");
  if (catena::size_of(*rows.shape) == 0) {
    run(rows);
    for (const catena::call::Reduce& sum : call.sums) run(sum);
    return;
  }
  const Device device = device_of(rows.kernel->name, inputs, outputs);
  const BoundRowWise bound(rows, rows.inputs);
  std::deque<BoundReduction> reductions;
  catena::SmallVector<catena::bound::Reduce, 2> sums;
  for (const catena::call::Reduce& sum : call.sums) sums.push_back(reductions.emplace_back(sum, sum.inputs).bound_call);
  launch(device, inputs, outputs,
         catena::bound::RowWiseAndSums{{rows.kernel, rows.loop, *rows.shape, rows.axes, bound.operands()}, sums});
}

// ---- updates of many tensors --------------------------------------------------------------------
void run(const catena::call::MultiTensor& call) {
  catena::TensorTable own;
  catena::call::MultiTensor checked = call;
  if (checked.table == nullptr) checked.table = &own;
  checked.table->update(call);
  if (checked.table->tensors() == 0) return;
  const StreamRef stream = stream_for(checked.table->device());
  const std::size_t operands = std::size_t(call.kernel->num_operands());
  // Neighbouring tensors are often in one block of memory, for example the states of an optimizer; such a block is
  // recorded once.
  const auto each_memory = [&](std::size_t first, auto&& note) {
    for (std::size_t k = first; k < operands; ++k) {
      const catena::Storage* last = nullptr;
      for (std::size_t i = k; i < call.operands.size(); i += operands) {
        if (call.operands[i]->storage == last) continue;
        last = call.operands[i]->storage;
        note(*call.operands[i]);
      }
    }
  };
  if (stream.device.kind != Device::Kind::cpu) each_memory(0, [&](const ArrayHeader& a) { record(stream, a); });
  executor(stream.device.kind).execute(checked, stream);
  each_memory(call.kernel->nin, [](const ArrayHeader& a) { raise_version(a); });
}

}  // namespace nd::internal
