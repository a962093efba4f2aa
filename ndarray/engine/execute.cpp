#include <catena/ndarray/engine/execute.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/tensor_table.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/memory/memory_pool.h>
#include <catena/ndarray/device/stream.h>

namespace nd::internal {
namespace {

using catena::BoundCall;
using catena::BoundOperand;
using catena::check;
using catena::Dims;
using catena::Input;
using catena::KernelDef;
using catena::KernelKind;
using catena::Program;
using catena::Scalar;
using catena::Shape;
using catena::Strides;
using catena::ValueError;
using catena::call::Reads;
using catena::call::Writes;

// ---- launching ----------------------------------------------------------------------------------
void record(StreamRef stream, const ArrayHeader& a) {
  if (a.storage != nullptr) MemoryPool::record_stream(*a.storage, stream);
}

// Increments the version. Uses no atomic read-modify-write if only this array refers to the storage.
void raise_version(const ArrayHeader& a) noexcept {
  catena::Storage* s = a.storage;
  if (s == nullptr) return;
  const bool alone = a.base == nullptr && !a.viewed.load(catena::MemoryOrder::relaxed);
  if (alone && s->refs.load(catena::MemoryOrder::relaxed) == 1)
    s->version.store(s->version.load(catena::MemoryOrder::relaxed) + 1, catena::MemoryOrder::relaxed);
  else s->version.fetch_add(1, catena::MemoryOrder::relaxed);
}

Executor& cpu_executor() {
  static Executor& cpu = executor(Device::Kind::cpu);
  return cpu;
}

// Calls run(executor, stream) with the current stream of the device.
template <class F> void launch(Device device, Reads inputs, Writes outputs, F&& run) {
  if (device.kind == Device::Kind::cpu) [[likely]] {
    run(cpu_executor(), StreamRef{device, nullptr});
  } else {
    const StreamRef stream = current_stream(device);
    for (const Input& in : inputs)
      if (in.is_array()) record(stream, in.array());
    for (const ArrayHeader* out : outputs) record(stream, *out);
    run(executor(device.kind), stream);
  }
  for (const ArrayHeader* out : outputs) raise_version(*out);
}

Device device_of(std::string_view op, Reads inputs, Writes outputs) {
  OneDevice one(op);
  for (const ArrayHeader* out : outputs) one.add(out);
  for (const Input& in : inputs)
    if (in.is_array()) one.add(&in.array());
  return one.get();
}

// ---- overlap ------------------------------------------------------------------------------------
catena::HeaderRef packed_copy(const ArrayHeader& a, Dtype dtype) {
  catena::HeaderRef copy(new_array(a.shape, dtype, a.device));
  convert_into("copy", Input(a), *copy.get());
  return copy;
}

// The inputs of a call. Arrays for which must_copy(k, array) is true are replaced by copies.
class Sources {
 public:
  template <class F> Sources(Reads given, F&& must_copy) : inputs_(given) {
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (!given[k].is_array() || !must_copy(k, given[k].array())) continue;
      if (replaced_.empty())
        for (const Input& in : given) replaced_.push_back(in);
      copies_.push_back(packed_copy(given[k].array(), given[k].array().dtype));
      replaced_[k] = Input(*copies_.back().get());
      inputs_ = replaced_;
    }
  }
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;
  operator Reads() const { return inputs_; }
  const Input& operator[](std::size_t k) const { return inputs_[k]; }

 private:
  Reads inputs_;
  catena::SmallVector<Input, 8> replaced_;
  catena::SmallVector<catena::HeaderRef, 2> copies_;
};

// True if writing `outputs` element by element could change elements of `in` that have not been read yet. Any element
// of a raw operand may be read at any time.
bool changes(const ArrayHeader& in, bool raw, Writes outputs) {
  return std::any_of(outputs.begin(), outputs.end(), [&](const ArrayHeader* out) {
    return raw ? catena::share_bytes(in, *out) : &in != out && catena::overlaps(in, *out);
  });
}

// Executes an operation that may read any input after writing any part of `out`: inputs that share bytes with the
// output are copied. Calls run(executor, stream, inputs).
template <class F> void execute_apart(std::string_view op, Reads given, ArrayHeader* out, F&& run) {
  const Writes outputs(&out, 1);
  const Device device = device_of(op, given, outputs);
  if (out->size == 0) return;
  const Sources inputs(given, [&](std::size_t, const ArrayHeader& a) { return catena::share_bytes(a, *out); });
  launch(device, inputs, outputs, [&](Executor& e, StreamRef stream) { run(e, stream, Reads(inputs)); });
}

// ---- shapes -------------------------------------------------------------------------------------
Strides strides_at(std::string_view op, const ArrayHeader& a, const Shape& to) {
  return catena::broadcast_strides(op, a.shape, a.strides, to);
}

// Returns the strides of the output of a reduction over all `rank` axes of the input: 0 along `axes`. `out` has these
// axes with length 1 or not at all.
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

}  // namespace

void check_output_layout(std::string_view op, const ArrayHeader& out) {
  if (out.c_contiguous) return;
  for (int i = 0; i < out.shape.size(); ++i)
    check<ValueError>(out.strides[i] != 0 || out.shape[i] <= 1 || out.size == 0, op, "the output of shape ", out.shape,
                      " and strides ", out.strides, " has elements that share memory");
}

Device OneDevice::get() const { return first_ ? *first_ : current_device(); }

void OneDevice::fail(Device other) const {
  catena::fail<ValueError>(op_, "arrays are on ", *first_, " and ", other,
                           "; all arrays of an operation must be on one device");
}

StreamRef stream_for(Device device) {
  return device.kind == Device::Kind::cpu ? StreamRef{device, nullptr} : current_stream(device);
}

void record_operands(StreamRef stream, std::span<const ArrayHeader* const> arrays) {
  if (stream.device.kind == Device::Kind::cpu) return;
  for (const ArrayHeader* a : arrays)
    if (a != nullptr) record(stream, *a);
}

void raise_versions(std::span<const ArrayHeader* const> arrays) noexcept {
  for (const ArrayHeader* a : arrays)
    if (a != nullptr) raise_version(*a);
}

// ---- elementwise and indexed --------------------------------------------------------------------
namespace {

// The operands of a call of one kernel over arrays of the same layout, as the loop takes them.
class FlatOperands {
 public:
  // Returns false if an operand does not have the compute type of the loop.
  bool bind(const catena::call::Elementwise& call, const catena::Step& step) {
    const auto& type = step.resolved().type;
    const std::size_t nin = call.inputs.size(), n = std::size_t(step.kernel->num_operands());
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t from = step.slot[k];
      const Dtype t = type[k];
      if (catena::compute_dtype(t) != t || call.program->slots[from] != t) return false;
      if (from < nin && !call.inputs[from].is_array()) {
        call.inputs[from].scalar().store(t, cells_[k].bytes);
        data_[k] = cells_[k].bytes;
        stride_[k] = 0;
        continue;
      }
      const ArrayHeader& a = from < nin ? call.inputs[from].array() : *call.outputs[from - nin];
      if (a.dtype != t) return false;
      data_[k] = a.data;
      stride_[k] = static_cast<std::int64_t>(catena::itemsize(t));
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

// Executes a call on arrays of the same layout without binding them. Returns false if that is not possible.
bool run_flat(const catena::call::Elementwise& call) {
  const catena::Step& step = call.program->steps[0];
  const ArrayHeader& model = *call.same_layout;
  FlatOperands operands;
  if (call.program->steps.size() != 1 || call.program->num_temporaries() != 0) return false;
  if (model.device.kind != Device::Kind::cpu || !operands.bind(call, step)) return false;
  if (model.size == 0) return true;
  const catena::bound::Flat flat{step.kernel, step.loop, operands.data(), operands.stride(), model.size};
  if (!cpu_executor().elementwise_flat(flat, StreamRef{model.device, nullptr})) return false;
  for (const ArrayHeader* out : call.outputs) raise_version(*out);
  return true;
}

void run_elementwise(const catena::call::Elementwise& call, std::string_view op, Reads inputs, Device device,
                     bool indexed) {
  const KernelDef& kernel = *call.program->steps[0].kernel;
  BoundCall bound;
  bound.bind(op, inputs, call.outputs, call.program->slots.data(), indexed ? kernel.raw : 0, indexed, call.same_layout);
  if (catena::size_of(bound.loop()) == 0) return;
  launch(device, inputs, call.outputs,
         [&](Executor& e, StreamRef stream) { e.elementwise(*call.program, bound.operands(), bound.loop(), stream); });
}

}  // namespace

void execute(const catena::call::Elementwise& call) {
  const KernelDef& kernel = *call.program->steps[0].kernel;
  const bool indexed = kernel.kind == KernelKind::indexed;
  if (call.same_layout != nullptr && !indexed && run_flat(call)) return;
  const std::string_view op = call.name.empty() ? std::string_view(kernel.name) : call.name;
  if (call.same_layout != nullptr) return run_elementwise(call, op, call.inputs, call.same_layout->device, indexed);
  check<ValueError>(!call.outputs.empty() && call.outputs.size() <= catena::kMaxOperands, op, call.outputs.size(),
                    " outputs were given");
  const Device device = device_of(op, call.inputs, call.outputs);
  const std::uint16_t raw = indexed ? kernel.raw : 0;
  const auto must_copy = [&](std::size_t k, const ArrayHeader& a) { return changes(a, (raw >> k) & 1, call.outputs); };
  const bool apart =
      std::none_of(call.inputs.begin(), call.inputs.end(), [&, k = std::size_t(0)](const Input& in) mutable {
        const std::size_t at = k++;
        return in.is_array() && must_copy(at, in.array());
      });
  if (apart) [[likely]]
    return run_elementwise(call, op, call.inputs, device, indexed);
  run_elementwise(call, op, Sources(call.inputs, must_copy), device, indexed);
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

// Returns strides for the elements that a program computes from operands broadcast to `shape`: the strides of an
// operand that is not broadcast, or else of a C-contiguous array. They determine which axes the executor visits as
// inner ones (see catena::bound::Reduce::in).
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
      bound.bind(kernel.name, inputs, {}, call.pre->slots.data(), 0, true);
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
bool is_flat(const catena::call::Reduce& call) {
  if (call.pre != nullptr || call.post != nullptr || call.inputs.size() != 1 || !call.inputs[0].is_array())
    return false;
  const ArrayHeader &in = call.inputs[0].array(), &out = *call.out;
  return in.c_contiguous && in.size > 0 && call.axes.size() == in.shape.size() && out.size == 1 &&
         (out.shape.empty() || out.shape.size() == in.shape.size()) && in.device == out.device &&
         !catena::share_bytes(in, out);
}

// Executes a call for which is_flat() is true over one axis.
void run_flat(const catena::call::Reduce& call) {
  static const Shape one{1};
  static const Strides stays{0};
  const ArrayHeader &in = call.inputs[0].array(), &out = *call.out;
  const Shape shape{in.size};
  const Strides strides{static_cast<std::int64_t>(catena::itemsize(in.dtype))};
  catena::bound::Reduce flat;
  flat.kernel = call.kernel;
  flat.loop = call.loop;
  flat.in = {in.data, in.dtype, false, &shape, &strides};
  flat.out = {out.data, out.dtype, false, &one, &stays};
  flat.axes.push_back(0);
  launch(in.device, call.inputs, {&call.out, 1}, [&](Executor& e, StreamRef stream) { e.reduce(flat, stream); });
}

void run_reduction(const catena::call::Reduce& call, Reads inputs, Device device) {
  const BoundReduction bound(call, inputs);
  if (call.out->size == 0) return;
  launch(device, inputs, {&call.out, 1}, [&](Executor& e, StreamRef stream) { e.reduce(bound.bound_call, stream); });
}

}  // namespace

void execute(const catena::call::Reduce& call) {
  if (is_flat(call)) return run_flat(call);
  const Device device = device_of(call.kernel->name, call.inputs, {&call.out, 1});
  const auto must_copy = [&](std::size_t, const ArrayHeader& a) { return catena::share_bytes(a, *call.out); };
  const bool apart = std::none_of(call.inputs.begin(), call.inputs.end(),
                                  [&](const Input& in) { return in.is_array() && must_copy(0, in.array()); });
  if (apart) [[likely]]
    return run_reduction(call, call.inputs, device);
  run_reduction(call, Sources(call.inputs, must_copy), device);
}

void execute(const catena::call::Scan& call) {
  const ArrayHeader &in = *call.in, &out = *call.out;
  check<catena::TypeError>(call.kernel->is(catena::may_scan), call.kernel->name, "has no running form");
  check<ValueError>(out.shape == in.shape && call.axis >= 0 && call.axis < in.shape.size(), call.kernel->name,
                    "the output has shape ", out.shape, ", the input ", in.shape, " is scanned along axis ", call.axis);
  const Input given(in);
  execute_apart(call.kernel->name, {&given, 1}, call.out, [&](Executor& e, StreamRef stream, Reads inputs) {
    e.scan({call.kernel, call.loop, catena::operand_of(inputs[0].array()), catena::operand_of(out), call.axis}, stream);
  });
}

// ---- sorting and searching ----------------------------------------------------------------------
void execute(const catena::call::Sort& call) {
  const ArrayHeader &in = *call.in, &out = *call.out;
  const Dtype wanted = call.positions ? Dtype::int64 : in.dtype;
  check<catena::TypeError>(!catena::is_complex_dtype(in.dtype), "sort", in.dtype, " numbers are not ordered");
  check<ValueError>(out.shape == in.shape && out.dtype == wanted && call.axis >= 0 && call.axis < in.shape.size(),
                    "sort", "the output is ", out.dtype, " of shape ", out.shape, " and should be ", wanted,
                    " of shape ", in.shape, ", sorted along axis ", call.axis);
  const Input given(in);
  execute_apart("sort", {&given, 1}, call.out, [&](Executor& e, StreamRef stream, Reads inputs) {
    e.sort({catena::operand_of(inputs[0].array()), catena::operand_of(out), call.positions, call.axis, call.kth},
           stream);
  });
}

// ---- joining ------------------------------------------------------------------------------------
void execute(const catena::call::Join& call) {
  const ArrayHeader& out = *call.out;
  catena::SmallVector<Input, 8> given;
  std::int64_t length = 0;
  for (const ArrayHeader* piece : call.pieces) {
    length += piece->shape[call.axis];
    check<ValueError>(piece->dtype == out.dtype && piece->shape.size() == out.shape.size(), call.name, "a piece is ",
                      piece->dtype, " of shape ", piece->shape, ", the output ", out.dtype, " of shape ", out.shape);
    if (piece->size != 0) given.push_back(Input(*piece));
  }
  check<ValueError>(out.c_contiguous && length == out.shape[call.axis], call.name, "pieces of ", length,
                    " positions along axis ", call.axis, " do not fill the output of shape ", out.shape);
  execute_apart(call.name, given, call.out, [&](Executor& e, StreamRef stream, Reads inputs) {
    catena::SmallVector<BoundOperand, 8> pieces;
    for (const Input& in : inputs) pieces.push_back(catena::operand_of(in.array()));
    e.join({pieces, catena::operand_of(out), call.axis}, stream);
  });
}

void execute(const catena::call::Nonzero& call) {
  const ArrayHeader &in = *call.in, &out = *call.out;
  check<ValueError>(
      out.shape.size() == 2 && out.shape[0] == in.shape.size() && out.dtype == Dtype::int64 && out.c_contiguous,
      "nonzero", "the output is ", out.dtype, " of shape ", out.shape, " and should be int64 with ", in.shape.size(),
      " rows, C-contiguous");
  const Input given(in);
  execute_apart("nonzero", {&given, 1}, call.out, [&](Executor& e, StreamRef stream, Reads inputs) {
    e.nonzero({catena::operand_of(inputs[0].array()), out.shape[1], catena::operand_of(out)}, stream);
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

void execute(const catena::call::RowWise& call) {
  const KernelDef& kernel = *call.kernel;
  check<ValueError>(call.inputs.size() == kernel.nin && int(call.outputs.size()) == kernel.num_operands() - kernel.nin,
                    kernel.name, call.inputs.size(), " inputs and ", call.outputs.size(),
                    " outputs do not fit the kernel");
  const Device device = device_of(kernel.name, call.inputs, call.outputs);
  // A row is read completely before its elements are written, and each element is computed from the inputs at its
  // position, so an output may be identical to an input.
  const Sources inputs(call.inputs, [&](std::size_t, const ArrayHeader& a) { return changes(a, false, call.outputs); });
  const BoundRowWise bound(call, inputs);
  if (catena::size_of(*call.shape) == 0) {
    // Rows without elements have no statistics; their outputs are 0.
    for (ArrayHeader* out : call.outputs) convert_into(kernel.name, Input(Scalar(0)), *out);
    return;
  }
  launch(device, inputs, call.outputs, [&](Executor& e, StreamRef stream) {
    e.row_wise({&kernel, call.loop, *call.shape, call.axes, bound.operands()}, stream);
  });
}

void execute(const catena::call::RowWiseAndSums& call) {
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
    execute(rows);
    for (const catena::call::Reduce& sum : call.sums) execute(sum);
    return;
  }
  const Device device = device_of(rows.kernel->name, inputs, outputs);
  const BoundRowWise bound(rows, rows.inputs);
  std::deque<BoundReduction> reductions;
  catena::SmallVector<catena::bound::Reduce, 2> sums;
  for (const catena::call::Reduce& sum : call.sums) sums.push_back(reductions.emplace_back(sum, sum.inputs).bound_call);
  launch(device, inputs, outputs, [&](Executor& e, StreamRef stream) {
    e.row_wise_and_sums({rows.kernel, rows.loop, *rows.shape, rows.axes, bound.operands()}, sums, stream);
  });
}

// ---- indexing by arrays -------------------------------------------------------------------------
namespace {

// The operands of a gather or scatter. Index arrays that overlap the array `written` are copied.
class BoundIndices {
 public:
  BoundIndices(std::string_view op, const ArrayHeader& base, const Strides& base_strides,
               std::span<const catena::call::Index> indices, const Shape& loop, const ArrayHeader& written)
      : operand_{base.data, base.dtype, false, &loop, &base_strides} {
    check<ValueError>(base_strides.size() == loop.size(), op, base_strides.size(), " strides for a loop of shape ",
                      loop);
    for (const catena::call::Index& index : indices) {
      copies_.push_back(catena::HeaderRef());
      const ArrayHeader* array = index.array;
      if (catena::share_bytes(*array, written)) {
        copies_.back() = packed_copy(*array, array->dtype);
        array = copies_.back().get();
      }
      reads_.push_back(Input(*array));
      strides_.push_back(strides_at(op, *array, loop));
    }
    for (std::size_t j = 0; j < strides_.size(); ++j) {
      const ArrayHeader& array = reads_[j].array();
      axes_.push_back({{array.data, array.dtype, false, &loop, &strides_[j]}, indices[j].length, indices[j].stride});
    }
  }
  BoundIndices(const BoundIndices&) = delete;
  BoundIndices& operator=(const BoundIndices&) = delete;

  const BoundOperand& base() const { return operand_; }
  std::span<const catena::bound::Index> axes() const { return axes_; }
  // Returns the index arrays and `also`.
  Reads reads(const ArrayHeader& also) {
    reads_.push_back(Input(also));
    return reads_;
  }

 private:
  BoundOperand operand_;
  catena::SmallVector<catena::HeaderRef, 2> copies_;
  catena::SmallVector<Input, 4> reads_;
  catena::SmallVector<Strides, 2> strides_;
  catena::SmallVector<catena::bound::Index, 2> axes_;
};

void check_each(std::string_view op, std::span<const catena::call::Index> indices) {
  for (const catena::call::Index& index : indices)
    if (!index.wraps) execute({index.array, catena::rule_of_axis(index.axis, index.length), op});
}

Device device_of(std::string_view op, const ArrayHeader& base, std::span<const catena::call::Index> indices,
                 const ArrayHeader* other) {
  OneDevice one(op);
  one.add(&base);
  for (const catena::call::Index& index : indices) one.add(index.array);
  one.add(other);
  return one.get();
}

}  // namespace

void execute(const catena::call::Gather& call) {
  const ArrayHeader& out = *call.out;
  check<ValueError>(out.shape == *call.loop && out.dtype == call.base->dtype, call.name, "the output is ", out.dtype,
                    " of shape ", out.shape, " and should be ", call.base->dtype, " of shape ", *call.loop);
  const Device device = device_of(call.name, *call.base, call.indices, &out);
  if (out.size == 0) return;
  check_each(call.name, call.indices);
  // The base must keep its strides, so if it overlaps the output, the result goes to a temporary array and is then
  // copied.
  const bool apart = !catena::share_bytes(*call.base, out);
  const catena::HeaderRef result(apart ? nullptr : new_array(out.shape, out.dtype, out.device));
  ArrayHeader* const written = apart ? call.out : result.get();
  BoundIndices bound(call.name, *call.base, call.base_strides, call.indices, *call.loop, *written);
  launch(device, bound.reads(*call.base), {&written, 1}, [&](Executor& e, StreamRef stream) {
    e.gather({*call.loop, bound.base(), bound.axes(), catena::operand_of(*written)}, stream);
  });
  if (!apart) convert_into(call.name, Input(*written), *call.out);
}

void execute(const catena::call::Scatter& call) {
  const ArrayHeader* given = call.values.is_array() ? &call.values.array() : nullptr;
  const Device device = device_of(call.name, *call.base, call.indices, given);
  check_output_layout(call.name, *call.base);
  if (catena::size_of(*call.loop) != 0) check_each(call.name, call.indices);
  // Values of another dtype, host scalars and arrays that overlap the target are copied to a new array.
  catena::HeaderRef own;
  const ArrayHeader* values = given;
  if (given == nullptr || given->dtype != call.base->dtype || catena::share_bytes(*given, *call.base)) {
    own = catena::HeaderRef(new_array(given ? given->shape : Shape(), call.base->dtype, device));
    convert_into(call.name, call.values, *own.get());
    values = own.get();
  }
  const Strides strides = strides_at(call.name, *values, *call.loop);
  BoundIndices bound(call.name, *call.base, call.base_strides, call.indices, *call.loop, *call.base);
  if (catena::size_of(*call.loop) == 0 || call.base->size == 0) return;
  launch(device, bound.reads(*values), {&call.base, 1}, [&](Executor& e, StreamRef stream) {
    e.scatter({*call.loop, bound.base(), bound.axes(), {values->data, values->dtype, false, call.loop, &strides}},
              call.mode, stream);
  });
}

// ---- updates of many tensors --------------------------------------------------------------------
void execute(const catena::call::MultiTensor& call) {
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
  executor(stream.device.kind).multi_tensor(checked, stream);
  each_memory(call.kernel->nin, [](const ArrayHeader& a) { raise_version(a); });
}

// ---- products and random numbers ----------------------------------------------------------------
namespace {

// An operand whose leading axes are broadcast to the leading axes of the output.
class MatmulOperand {
 public:
  BoundOperand bind(const ArrayHeader& x, const Shape& out) {
    const int rank = out.size(), own = x.shape.size();
    if (own == rank && std::equal(out.begin(), out.end() - 2, x.shape.begin())) return catena::operand_of(x);
    shape_ = out;
    shape_[rank - 2] = x.shape[own - 2];
    shape_[rank - 1] = x.shape[own - 1];
    strides_ = strides_at("matmul", x, shape_);
    return {x.data, x.dtype, false, &shape_, &strides_};
  }

 private:
  Shape shape_;
  Strides strides_;
};

}  // namespace

void execute(const catena::call::Matmul& call) {
  const ArrayHeader& out = *call.out;
  check<catena::TypeError>(call.a->dtype == call.b->dtype && call.a->dtype == out.dtype, "matmul", "the operands are ",
                           call.a->dtype, ", ", call.b->dtype, " and ", out.dtype, "; they must have one dtype");
  const Input given[] = {Input(*call.a), Input(*call.b)};
  execute_apart("matmul", given, call.out, [&](Executor& e, StreamRef stream, Reads inputs) {
    MatmulOperand a, b;
    e.matmul({a.bind(inputs[0].array(), out.shape), b.bind(inputs[1].array(), out.shape), catena::operand_of(out)},
             stream);
  });
}

void execute(const catena::call::Random& call) {
  if (call.out->size == 0) return;
  if (!call.out->c_contiguous) {
    const catena::HeaderRef packed(new_array(call.out->shape, call.out->dtype, call.out->device));
    catena::call::Random into_packed = call;
    into_packed.out = packed.get();
    execute(into_packed);
    return convert_into("random", Input(*packed.get()), *call.out);
  }
  launch(call.out->device, {}, {&call.out, 1}, [&](Executor& e, StreamRef stream) {
    e.random({call.kind, call.seed, call.offset, call.low, call.high, catena::operand_of(*call.out), call.out->size,
              call.refresh},
             stream);
  });
}

// ---- bytes --------------------------------------------------------------------------------------
namespace {

std::size_t bytes_of(const ArrayHeader& a) { return static_cast<std::size_t>(a.size) * catena::itemsize(a.dtype); }

// Copies bytes. If `to_array` or `from_array` is null, that side is host memory of the caller. Each side is recorded on
// the current stream of its own device, because a copy between devices orders the streams of both.
void copy(std::byte* to, const ArrayHeader* to_array, const std::byte* from, const ArrayHeader* from_array,
          std::size_t bytes, bool wait) {
  const auto device_of_side = [](const ArrayHeader* a) { return a != nullptr ? a->device : cpu_device; };
  const Device to_device = device_of_side(to_array), from_device = device_of_side(from_array);
  const Device device = to_device.kind != Device::Kind::cpu ? to_device : from_device;
  const StreamRef stream = stream_for(device);
  for (const ArrayHeader* a : {to_array, from_array})
    if (a != nullptr && a->device.kind != Device::Kind::cpu) record(stream_for(a->device), *a);
  Runtime& worker = runtime(device.kind);
  worker.copy(to, to_device, from, from_device, bytes, stream);
  if (wait && device.kind != Device::Kind::cpu) worker.synchronize(stream);
  if (to_array != nullptr) raise_version(*to_array);
}

}  // namespace

void copy_bytes(const ArrayHeader& to, const ArrayHeader& from) {
  if (to.size == 0 || to.data == from.data) return;
  // The caller may read host memory as soon as this function returns.
  const bool wait = to.device.kind == Device::Kind::cpu;
  copy(to.data, &to, from.data, &from, bytes_of(to), wait);
}

void copy_to_host(void* to, const ArrayHeader& from) {
  if (from.size == 0) return;
  copy(static_cast<std::byte*>(to), nullptr, from.data, &from, bytes_of(from), true);
}

void copy_to_host_async(void* to, const ArrayHeader& from) {
  if (from.size == 0) return;
  copy(static_cast<std::byte*>(to), nullptr, from.data, &from, bytes_of(from), false);
}

void copy_from_host(const ArrayHeader& to, const void* from) {
  if (to.size == 0) return;
  copy(to.data, &to, static_cast<const std::byte*>(from), nullptr, bytes_of(to), false);
}

}  // namespace nd::internal
