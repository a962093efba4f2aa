// Kernels of the value API: elementwise, indexed, reductions, row-wise.
#include <catena/autograd/array.h>

#include <algorithm>
#include <deque>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/view_layout.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/kernel.h>

namespace autograd {
namespace {

using catena::check;
using catena::EagerProgram;
using catena::KernelDef;
using catena::KernelKind;
using catena::TypeError;
using catena::ValueError;

// The operands of one call in the form that the binder and the backends take. All its memory is on the stack.
class Inputs {
 public:
  Inputs() = default;
  Inputs(std::string_view op, std::span<const Operand> operands) {
    check<TypeError>(operands.size() <= catena::kMaxOperands, op, operands.size(), " operands exceed the limit of ",
                     catena::kMaxOperands);
    for (const Operand& o : operands) add(op, o);
  }
  void add(std::string_view op, const Operand& o) {
    if (o.is_array()) add(op, o.array());
    else inputs_.emplace_back(o.scalar());
  }
  void add(std::string_view op, const Array& a) {
    if (first_ == nullptr) {
      first_ = &a;
    } else if (a->owner != (*first_)->owner || !(a.device() == first_->device())) [[unlikely]] {
      const Array both[] = {*first_, a};
      check_same_device(op, both);
    }
    layout_.add(*a.get());
    inputs_.emplace_back(*a.get());
  }

  std::span<const Input> span() const { return inputs_; }
  const Array* first() const { return first_; }
  // Returns the model of the arrays' layout; null if their layouts differ.
  const catena::ArrayHeader* same_layout() const { return layout_.model(); }
  Backend& backend() const { return first_ ? first_->backend() : default_backend(); }
  Device device() const { return first_ ? first_->device() : default_backend().default_device(); }
  Shape shape(std::string_view op) const {
    return same_layout() != nullptr ? same_layout()->shape : catena::broadcast_shape(op, inputs_);
  }
  // Returns a new array of the common shape.
  Array empty(std::string_view op, Dtype dtype) const {
    if (const catena::ArrayHeader* model = same_layout()) [[likely]]
      return first_->backend().empty(model->shape, dtype, model->device);
    return backend().empty(shape(op), dtype, device());
  }

 private:
  catena::SmallVector<Input, 8> inputs_;
  const Array* first_ = nullptr;  // the first array
  catena::SameLayout layout_;
};

// Runs one kernel as a one-step program; the outputs have the dtypes of the loop.
void run(const KernelDef& kernel, int loop, std::span<const Input> inputs, std::span<const Array> outputs,
         const catena::ArrayHeader* same_layout = nullptr) {
  catena::ArrayHeader* headers[catena::kMaxOperands];
  check<ValueError>(outputs.size() <= std::size_t(catena::kMaxOperands), kernel.name, outputs.size(),
                    " outputs were given");
  for (std::size_t k = 0; k < outputs.size(); ++k) headers[k] = outputs[k].get();
  const EagerProgram program(kernel, loop);
  outputs[0].backend().execute(catena::call::Elementwise{&program, inputs, {headers, outputs.size()}, {}, same_layout});
}

void check_kind(const KernelDef& kernel, KernelKind kind, std::string_view function) {
  check<TypeError>(kernel.kind == kind, function, kernel.name, " is a kernel of another kind");
}

// ---- layouts ----
// Images are often channels-last in memory, although their logical axes are channels-first. Elementwise and row-wise
// kernels then run over the axes in memory order, as over contiguous arrays, and their results have the layout of the
// operands.

// Returns the order in which the elements of `model` are adjacent if every operand of its shape has the same strides
// and all others broadcast to it; else nothing.
std::optional<Dims> common_order(const Array& model, std::span<const Operand> operands) {
  std::optional<Dims> order = catena::dense_order(model.shape(), model.strides(), catena::itemsize(model.dtype()));
  for (const Operand& o : operands) {
    if (!order || !o.is_array()) continue;
    const Array& a = o.array();
    if (a.ndim() > model.ndim()) return {};
    if (!(a.shape() == model.shape())) {
      // A large operand of another shape may be broadcast along an axis that is not the fastest one in this order.
      if (a.size() * 2 > model.size()) return {};
      continue;
    }
    for (int axis = 0; axis < a.ndim(); ++axis)
      if (a.shape(axis) != 1 && a.strides()[axis] * std::int64_t(catena::itemsize(model.dtype())) !=
                                    model.strides()[axis] * std::int64_t(catena::itemsize(a.dtype())))
        return {};
  }
  return order;
}

Operand reordered(const Operand& o, const Dims& order) {
  if (!o.is_array() || o.array().ndim() == 0) return o;
  Array a = o.array();
  while (a.ndim() < order.size()) a = expand_dims(a, 0);
  return transpose(a, order);
}
catena::SmallVector<Operand, 8> reordered(std::span<const Operand> operands, const Dims& order) {
  catena::SmallVector<Operand, 8> v;
  for (const Operand& o : operands) v.push_back(reordered(o, order));
  return v;
}

}  // namespace

// ---- kernels ------------------------------------------------------------------------------------
namespace {

Array apply_one(const KernelDef& kernel, std::span<const Operand> operands);

[[gnu::noinline]] std::optional<Array> apply_in_memory_order(const KernelDef& kernel, const Array& model,
                                                             std::span<const Operand> operands) {
  const auto order = common_order(model, operands);
  if (!order) return {};
  return transpose(apply_one(kernel, reordered(operands, *order)), catena::inverse_axes(*order));
}

// Calls operands(model), which runs the call in the memory order of the first array or returns nothing if the layouts
// of the operands differ. It is called only if the first array is not C-contiguous, so the common case builds no list
// of operands.
template <class F> Array apply_bound(const KernelDef& kernel, const Inputs& in, F&& operands) {
  if (in.first() && !in.first()->is_c_contiguous()) [[unlikely]]
    if (std::optional<Array> out = operands(*in.first())) return *std::move(out);
  const int loop = catena::choose_loop(kernel, in.span());
  Array out = in.empty(kernel.name, kernel.loop_table[loop].type[kernel.nin]);
  run(kernel, loop, in.span(), {&out, 1}, in.same_layout());
  return out;
}

Array apply_one(const KernelDef& kernel, std::span<const Operand> operands) {
  check_kind(kernel, KernelKind::elementwise, "apply");
  check<TypeError>(kernel.nout == 1 && kernel.ninout == 0, "apply", kernel.name, " does not have exactly one output");
  return apply_bound(kernel, Inputs(kernel.name, operands),
                     [&](const Array& model) { return apply_in_memory_order(kernel, model, operands); });
}

Array apply_two(const KernelDef& kernel, const Operand& a, const Operand& b) {
  Inputs in;
  in.add(kernel.name, a);
  in.add(kernel.name, b);
  return apply_bound(kernel, in, [&](const Array& model) {
    const Operand both[] = {a, b};
    return apply_in_memory_order(kernel, model, both);
  });
}

// Computes a = kernel(a, b). `a` is also the first input, so the choice of the loop depends on its dtype.
const Array& apply_in_place(const KernelDef& kernel, const Array& a, const Operand& b) {
  check<ValueError>(bool(a), kernel.name, "the array to write is null");
  if (!a.is_c_contiguous()) [[unlikely]] {
    const Operand both[] = {a, b};
    apply_into(kernel, both, {&a, 1});
    return a;
  }
  Inputs in;
  in.add(kernel.name, a);
  in.add(kernel.name, b);
  const int loop = catena::choose_loop(kernel, in.span());
  catena::check_output_cast(kernel.name, kernel.loop_table[loop].type[2], a.dtype(), catena::Casting::same_kind);
  run(kernel, loop, in.span(), {&a, 1});
  return a;
}

}  // namespace

Array apply(const KernelDef& kernel, std::initializer_list<Operand> inputs) {
  return apply_one(kernel, {inputs.begin(), inputs.size()});
}

Arrays apply_all(const KernelDef& kernel, std::span<const Operand> inputs) {
  check_kind(kernel, KernelKind::elementwise, "apply_all");
  check<TypeError>(kernel.ninout == 0, "apply_all", kernel.name, " has in-out operands; use apply_into");
  const Inputs in(kernel.name, inputs);
  const int loop = catena::choose_loop(kernel, in.span());
  Backend& backend = in.backend();
  const Shape shape = in.shape(kernel.name);
  const Device device = in.device();
  Arrays out;
  for (int k = 0; k < kernel.nout; ++k)
    out.push_back(backend.empty(shape, kernel.loop_table[loop].type[std::size_t(kernel.nin + k)], device));
  run(kernel, loop, in.span(), out, in.same_layout());
  return out;
}

namespace {

// Returns the loop for a call that writes into given arrays, chosen by the inputs followed by the in-outs.
int choose_loop_into(std::string_view function, const KernelDef& kernel, Inputs& in, std::span<const Operand> inputs,
                     std::span<const Array> outputs) {
  check_kind(kernel, KernelKind::elementwise, function);
  check<TypeError>(inputs.size() == kernel.nin, kernel.name, "takes ", int(kernel.nin), " inputs, ", inputs.size(),
                   " were given");
  check<TypeError>(int(outputs.size()) == kernel.ninout + kernel.nout, kernel.name, "writes ",
                   kernel.ninout + kernel.nout, " arrays, ", outputs.size(), " were given");
  for (int k = 0; k < kernel.ninout; ++k) in.add(kernel.name, outputs[std::size_t(k)]);
  const int loop = catena::choose_loop(kernel, in.span());
  const catena::Loop& types = kernel.loop_table[loop];
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    check<ValueError>(bool(outputs[k]), kernel.name, "output ", k, " is null");
    catena::check_output_cast(kernel.name, types.type[kernel.nin + k], outputs[k].dtype(), catena::Casting::same_kind);
    const Array both[] = {outputs[0], outputs[k]};
    if (k > 0) check_same_device(kernel.name, both);
  }
  for (const Operand& o : inputs) {
    if (!o.is_array() || (o.array()->owner == outputs[0]->owner && o.array().device() == outputs[0].device())) continue;
    const Array both[] = {outputs[0], o.array()};
    check_same_device(kernel.name, both);
  }
  return loop;
}

}  // namespace

void apply_into(const KernelDef& kernel, std::span<const Operand> inputs, std::span<const Array> outputs) {
  Inputs in(kernel.name, inputs);
  const int loop = choose_loop_into("apply_into", kernel, in, inputs, outputs);
  if (!outputs[0].is_c_contiguous() && outputs.size() == 1) [[unlikely]] {
    if (const auto order = common_order(outputs[0], inputs)) {
      const Array out = transpose(outputs[0], *order);
      const auto operands = reordered(inputs, *order);
      const Inputs same(kernel.name, operands);
      return run(kernel, loop, same.span(), {&out, 1});
    }
  }
  run(kernel, loop, in.span().first(kernel.nin), outputs);
}

void apply_in_order(const KernelDef& kernel, std::span<const Operand> inputs, std::span<const Array> outputs) {
  Inputs in(kernel.name, inputs);
  const int loop = choose_loop_into("apply_in_order", kernel, in, inputs, outputs);
  check<ValueError>(outputs[0].ndim() > 0, kernel.name,
                    "a recurrence goes along the first axis of its outputs, which have none");
  catena::SmallVector<catena::ArrayHeader*, 4> headers;
  for (const Array& out : outputs) headers.push_back(out.get());
  const EagerProgram program(kernel, loop);
  outputs[0].backend().execute(catena::call::Recurrence{{&program, in.span().first(kernel.nin), headers}});
}

namespace {

// Returns the loop whose output dtypes equal those of `outputs` (a kernel may write values and indices). If there is
// none, the loop is chosen by the dtype of the first output.
int choose_indexed_loop(const KernelDef& kernel, std::span<const Array> outputs) {
  for (int i = 0; i < kernel.num_loops; ++i) {
    bool equal = true;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      equal &= kernel.loop_table[i].type[kernel.nin + k] == outputs[k].dtype();
    if (equal) return i;
  }
  return catena::choose_loop_by_output(kernel, outputs[0].dtype());
}

}  // namespace

void apply_indexed(const KernelDef& kernel, std::span<const Operand> inputs, std::span<const Array> outputs) {
  check_kind(kernel, KernelKind::indexed, "apply_indexed");
  check<TypeError>(inputs.size() == kernel.nin, kernel.name, "takes ", int(kernel.nin), " inputs, ", inputs.size(),
                   " were given");
  check<TypeError>(int(outputs.size()) == kernel.ninout + kernel.nout && !outputs.empty(), kernel.name, "writes ",
                   kernel.ninout + kernel.nout, " arrays, ", outputs.size(), " were given");
  const int loop = choose_indexed_loop(kernel, outputs);
  const catena::Loop& types = kernel.loop_table[loop];
  // A body reads raw operands at any position and without conversion, so their dtype in memory must be that of the
  // loop.
  catena::SmallVector<Operand, 8> given;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const bool raw = (kernel.raw >> k) & 1;
    check<TypeError>(!raw || inputs[k].is_array(), kernel.name, "operand ", k, " must be an array");
    if (raw) given.emplace_back(astype(inputs[k].array(), types.type[k]));
    else given.push_back(inputs[k]);
  }
  Inputs in(kernel.name, given);
  Inputs all(kernel.name, given);
  for (const Array& out : outputs) all.add(kernel.name, out);  // checks the devices
  run(kernel, loop, in.span(), outputs);
}

namespace {

// Returns, among the loops with output `dtype`, the one whose input dtype fits best: sum has "?->l" beside "i->l".
int choose_reduction_loop(const KernelDef& kernel, const Array& a, std::optional<Dtype> dtype) {
  const Input input(*a.get());
  if (!dtype) return catena::choose_loop(kernel, {&input, 1});
  int best = -1, best_rank = 0;
  for (int i = 0; i < kernel.num_loops; ++i) {
    const auto& type = kernel.loop_table[i].type;
    if (type[1] != *dtype) continue;
    const int rank =
        type[0] == a.dtype() ? 4 : (type[0] == *dtype ? 3 : (catena::can_cast(a.dtype(), type[0]) ? 2 : 1));
    if (rank > best_rank) best = i, best_rank = rank;
  }
  return best >= 0 ? best : catena::choose_loop_by_output(kernel, *dtype);
}

int loop_of_element(const KernelDef& kernel, Dtype dtype) {
  catena::ArrayHeader element;  // choose_loop reads only the dtype
  element.dtype = dtype;
  element.shape = {1};
  element.strides = {0};
  const Input input(element);
  return catena::choose_loop(kernel, {&input, 1});
}

}  // namespace

Array reduce(const KernelDef& kernel, const Array& a, const Axes& axes, bool keepdims, std::optional<Dtype> dtype) {
  check_kind(kernel, KernelKind::reduction, "reduce");
  check<ValueError>(bool(a), kernel.name, "the array is null");
  const Dims along = catena::reduced_axes(kernel.name, axes, a.ndim());
  const int loop = choose_reduction_loop(kernel, a, dtype);
  if (!kernel.has_identity && a.size() == 0)
    for (std::int64_t axis : along)
      check<ValueError>(a.shape(int(axis)) != 0, kernel.name, "an array of shape ", a.shape(),
                        " has no elements along axis ", axis, " and the reduction has no identity");
  Backend& backend = a.backend();
  Array out =
      backend.empty(catena::reduced_shape(a.shape(), along, keepdims), kernel.loop_table[loop].type[1], a.device());
  const Input input(*a.get());
  backend.execute(catena::call::Reduce{&kernel, loop, {&input, 1}, along, out.get()});
  return out;
}

namespace {

// A reduction of the results of the elementwise kernel `map`, or, if `map` is null, of the only operand.
struct MappedReduction {
  MappedReduction(const char* op, const KernelDef& kernel, const KernelDef* map, std::span<const Operand> inputs,
                  const Axes& axes, bool keepdims)
      : in(map != nullptr ? map->name : kernel.name, inputs) {
    check_kind(kernel, KernelKind::reduction, op);
    if (map != nullptr) {
      check_kind(*map, KernelKind::elementwise, op);
      check<TypeError>(map->nout == 1 && map->ninout == 0, op, map->name, " does not have exactly one output");
    } else {
      check<TypeError>(inputs.size() == 1 && in.first() != nullptr, op, kernel.name, " takes one array, not ",
                       inputs.size(), " operands");
    }
    shape = in.shape(map != nullptr ? map->name : kernel.name);
    const Dims along = catena::reduced_axes(kernel.name, axes, shape.size());
    check<ValueError>(kernel.has_identity || catena::size_of(shape) != 0, kernel.name, "shape ", shape,
                      " has no elements, and the reduction has no identity");
    Dtype element = Dtype::float64;
    if (map != nullptr) {
      const int map_loop = catena::choose_loop(*map, in.span());
      element = map->loop_table[map_loop].type[map->nin];
      program.emplace(*map, map_loop);
    } else {
      element = in.first()->dtype();
    }
    const int loop = loop_of_element(kernel, element);
    out =
        in.backend().empty(catena::reduced_shape(shape, along, keepdims), kernel.loop_table[loop].type[1], in.device());
    call = {&kernel, loop, in.span(), along, out.get(), program ? &*program : nullptr};
  }
  MappedReduction(const MappedReduction&) = delete;
  MappedReduction& operator=(const MappedReduction&) = delete;

  Inputs in;
  Shape shape;  // shape of the elements that are reduced
  std::optional<EagerProgram> program;
  Array out;
  catena::call::Reduce call;
};

}  // namespace

Array map_reduce(const KernelDef& kernel, const KernelDef& map, std::initializer_list<Operand> inputs, const Axes& axes,
                 bool keepdims) {
  const MappedReduction bound("map_reduce", kernel, &map, {inputs.begin(), inputs.size()}, axes, keepdims);
  bound.in.backend().execute(bound.call);
  return bound.out;
}

Arrays row_wise(const KernelDef& kernel, std::span<const Operand> inputs, const Axes& axes) {
  return row_wise_and_sums(kernel, inputs, axes, {});
}

namespace {

// Returns the operands with their axes in memory order; nothing if that is the given order or if the operands have no
// common order.
std::optional<Arrays> rows_in_memory_order(const KernelDef& kernel, std::span<const Operand> inputs, const Array& model,
                                           const Dims& axes, std::span<const SumOverRows> sums) {
  const auto order = common_order(model, inputs);
  if (!order) return {};
  const Dims inverse = catena::inverse_axes(*order);
  Dims moved;
  for (std::int64_t axis : axes) moved.push_back(inverse[int(axis)]);
  std::vector<catena::SmallVector<Operand, 8>> operands;
  std::vector<SumOverRows> moved_sums;
  for (const SumOverRows& sum : sums) operands.push_back(reordered(sum.inputs, *order));
  for (std::size_t k = 0; k < sums.size(); ++k) moved_sums.push_back({sums[k].map, operands[k]});
  Arrays out = row_wise_and_sums(kernel, reordered(inputs, *order), moved, moved_sums);
  for (Array& a : out) a = transpose(a, inverse);
  return out;
}

}  // namespace

Arrays row_wise_and_sums(const KernelDef& kernel, std::span<const Operand> inputs, const Axes& axes,
                         std::span<const SumOverRows> sums) {
  check_kind(kernel, KernelKind::row_wise, "row_wise");
  const Inputs in(kernel.name, inputs);
  const int loop = catena::choose_loop(kernel, in.span());
  const catena::Loop& types = kernel.loop_table[loop];
  const Shape shape = in.shape(kernel.name);
  const Dims along = catena::normalize_axes(kernel.name, axes, shape.size());
  if (in.first() && !in.first()->is_c_contiguous() && in.first()->shape() == shape) [[unlikely]]
    if (std::optional<Arrays> out = rows_in_memory_order(kernel, inputs, *in.first(), along, sums))
      return *std::move(out);
  const Shape per_row = catena::reduced_shape(shape, along, true);
  Backend& backend = in.backend();
  const Device device = in.device();
  Arrays out;
  for (int k = 0; k < kernel.nout; ++k)
    out.push_back(backend.empty(shape, types.type[std::size_t(kernel.first_output() + k)], device));
  for (int k = 0; k < kernel.nrow; ++k)
    out.push_back(backend.empty(per_row, types.type[std::size_t(kernel.first_output() + kernel.nout + k)], device));
  catena::SmallVector<catena::ArrayHeader*, 8> written;
  for (const Array& a : out) written.push_back(a.get());
  const catena::call::RowWise call{&kernel, loop, &shape, along, in.span(), written};
  if (sums.empty()) return backend.execute(call), out;
  Dims others;
  for (int a = 0; a < shape.size(); ++a)
    if (std::find(along.begin(), along.end(), a) == along.end()) others.push_back(a);
  std::deque<MappedReduction> bound;
  catena::SmallVector<catena::call::Reduce, 2> calls;
  for (const SumOverRows& sum : sums) {
    const MappedReduction& r =
        bound.emplace_back("row_wise_and_sums", catena::kernels::sum, sum.map, sum.inputs, others, true);
    check<ValueError>(r.shape == shape, "row_wise_and_sums", "a sum of shape ", r.shape, " beside rows of shape ",
                      shape);
    calls.push_back(r.call);
    out.push_back(r.out);
  }
  backend.execute(catena::call::RowWiseAndSums{call, calls});
  return out;
}

#define AUTOGRAD_BINARY(op, name)                                                                          \
  Array operator op(const Operand& a, const Operand& b) { return apply_two(catena::kernels::name, a, b); } \
  const Array& operator op##=(const Array& a, const Operand& b) { return apply_in_place(catena::kernels::name, a, b); }
AUTOGRAD_BINARY(+, add)
AUTOGRAD_BINARY(-, subtract)
AUTOGRAD_BINARY(*, multiply)
AUTOGRAD_BINARY(/, true_divide)
#undef AUTOGRAD_BINARY

Array operator-(const Array& a) { return apply(catena::kernels::negative, {a}); }

}  // namespace autograd
