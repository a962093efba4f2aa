// Selection along one axis by arrays of positions, and its adjoint; gather, scatter and sorting are made of the two.
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array/parts.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/indexed_access.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/index_plan.h>

namespace autograd {

using catena::check;
using catena::IndexError;
using catena::ScatterMode;
using catena::ValueError;
using internal::checked_axis;

namespace {

// Positions along an axis of an array: integers whose shape is that of the array, or shorter.
struct Positions {
  Array index;
  int axis = 0;
  bool distinct = false;  // of several writes to one element any may be the last
  bool checked = false;   // all are known to be positions of the axis
  const char* name = "take_along_axis";
  const char* function = "TakeAlongAxis";  // or how the positions follow from the array: "TopK", "BottomK"
};

// The access to an array at such positions. It owns what IndexedAccess refers to.
class Access {
 public:
  Access(const Array& base, const Positions& p) : part_(base), loop_(p.index.shape()), positions_(p) {
    for (int k = 0; k < loop_.size(); ++k) {
      base_axis_.push_back(k == p.axis ? -1 : k);
      if (k != p.axis && part_.shape(k) != loop_[k]) part_ = slice(part_, k, 0, loop_[k]);
    }
    indices_.push_back(p.index);
    axes_.push_back(p.axis);
  }
  internal::IndexedAccess get() const {
    return {part_, indices_, axes_, loop_, base_axis_, positions_.name, nullptr, positions_.checked};
  }
  // The same elements, with positions along every axis: the index varies along all of them.
  Access at_every_axis() const {
    Access all = *this;
    all.indices_.clear();
    all.axes_ = {};
    for (int k = 0; k < loop_.size(); ++k) {
      Shape along = Shape::filled(loop_.size(), 1);
      along[k] = loop_[k];
      all.indices_.push_back(
          k == positions_.axis
              ? positions_.index
              : broadcast_to(reshape(arrays::arange(loop_[k], Dtype::int64, part_.device()), along), loop_));
      all.axes_.push_back(k);
      all.base_axis_[k] = -1;
    }
    return all;
  }

 private:
  Array part_;
  Arrays indices_;
  Dims axes_, base_axis_;
  Shape loop_;
  Positions positions_;
};

// Adds the values to a base of zeros, in an order that does not depend on the device.
void add_along(const Array& base, const Positions& p, const Array& values) {
  const Access access(base, p);
  const bool in_order = base.device().kind == Device::Kind::cpu && catena::itemsize(base.dtype()) >= 4;
  if (in_order || !catena::is_floating(base.dtype())) internal::scatter(ScatterMode::add, access.get(), *values.get());
  else internal::scatter_sums(access.at_every_axis().get(), values);
}

class TakeAlongAxis final : public FunctionNode, public internal::HasOptions {
 public:
  explicit TakeAlongAxis(const Positions& p) : positions_(p), version_(internal::version_of(p.index)) {}
  std::string label() const override { return "TakeAlongAxis"; }
  void options(internal::FunctionOptions& o) const override {
    o.function(positions_.function);
    o.array("index", positions_.index);
    o.integer("axis", positions_.axis);
  }
  Arrays forward(const Arrays& x) override {
    const Array y = x[0].backend().empty(positions_.index.shape(), x[0].dtype(), x[0].device());
    internal::gather(Access(x[0], positions_).get(), y);
    positions_.checked = true;
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  Positions positions_;
  std::uint32_t version_;
};

// Writes values at the positions of an array of zeros; if they are not distinct, their sums. The adjoint of
// TakeAlongAxis.
class PutAlongAxis final : public FunctionNode, public internal::HasOptions {
 public:
  PutAlongAxis(const Positions& p, const Shape& shape)
      : positions_(p), shape_(shape), version_(internal::version_of(p.index)) {}
  std::string label() const override { return "PutAlongAxis"; }
  void options(internal::FunctionOptions& o) const override {
    o.array("index", positions_.index);
    o.integer("axis", positions_.axis);
    o.integer("distinct", positions_.distinct);
  }
  Arrays forward(const Arrays& values) override {
    const Array y = values[0].backend().empty(shape_, values[0].dtype(), values[0].device());
    const bool all = positions_.distinct && positions_.checked && positions_.index.shape() == shape_;
    if (!all) fill(y, 0);
    if (positions_.distinct) internal::scatter(ScatterMode::set, Access(y, positions_).get(), *values[0].get());
    else add_along(y, positions_, values[0]);
    positions_.checked = true;
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    check_unchanged(positions_.index, version_, "an index array");
    return apply_node<TakeAlongAxis>({gy[0]}, positions_);
  }

 private:
  Positions positions_;
  Shape shape_;
  std::uint32_t version_;
};

Variables TakeAlongAxis::backward(const Targets&, const Variables& gy) {
  check_unchanged(positions_.index, version_, "an index array");
  return apply_node<PutAlongAxis>({gy[0]}, positions_, input_shape(0));
}

// Checks the index of a function in PyTorch's sense against the shape of one of its operands.
Positions positions_in(const char* name, const Variable& x, int axis, const Variable& index) {
  const Array& i = index.data();
  check<catena::TypeError>(bool(i), name, "the index has no data");
  catena::check_index_dtype(name, i.dtype());
  check<IndexError>(i.ndim() == x.ndim(), name, "the index has the shape ", i.shape(), ", x the shape ", x.shape(),
                    ": the ranks must be equal");
  for (int k = 0; k < x.ndim(); ++k)
    check<IndexError>(k == axis || i.shape(k) <= x.shape(k), name, "the index of shape ", i.shape(),
                      " is longer than x, of shape ", x.shape(), ", along axis ", k);
  return {.index = to_device(i, x.data().device()), .axis = axis, .name = name};
}

// Returns the first elements of src, as many as the index has along each axis.
Variable part_of_source(const char* name, const Variable& src, const Positions& p) {
  const Shape& loop = p.index.shape();
  check<IndexError>(src.ndim() == loop.size(), name, "the index has the shape ", loop, ", src the shape ", src.shape(),
                    ": the ranks must be equal");
  if (src.shape() == loop) return src;
  std::vector<IndexItem> items;
  for (int k = 0; k < loop.size(); ++k) {
    check<IndexError>(loop[k] <= src.shape(k), name, "the index of shape ", loop, " is longer than src, of shape ",
                      src.shape(), ", along axis ", k);
    items.emplace_back(Slice(0, loop[k]));
  }
  return get_item(src, items);
}

// The mask of the elements of x that a scatter writes.
Variable written_by(const Variable& x, const Positions& p) {
  const Array mask = x.data().backend().empty(x.shape(), Dtype::bool_, x.data().device());
  fill(mask, false);
  internal::scatter(ScatterMode::set, Access(mask, p).get(), Scalar(true));
  return as_variable(mask);
}

// One function in a file: x with values at positions, from x, the positions and the values.
Variable written(const Variable& y, const Positions& p, const Variables& inputs) {
  internal::FunctionOptions options;
  options.integer("axis", p.axis);
  return internal::recorded(y, "Scatter", inputs, std::move(options));
}

// ---- sorting ----

// Returns the positions of the elements in sorted order. With `kth`, elements are only divided into those before and
// those after that position.
Array order_of(const Array& x, int axis, std::optional<std::int64_t> kth = {}) {
  const Array order = x.backend().empty(x.shape(), Dtype::int64, x.device());
  std::span<const std::int64_t> places;
  if (kth) places = {&*kth, 1};
  x.backend().execute(catena::call::Sort{x.get(), axis, true, order.get(), places});
  return order;
}
// Equal elements keep their order: those of the reversed array are reversed twice.
Array descending_order_of(const Array& x, int axis) {
  return internal::reversed(x.shape(axis) - 1 - order_of(internal::reversed(x, axis), axis), axis);
}

Array taken(const Array& x, const Array& index, int axis) {
  const Array y = x.backend().empty(index.shape(), x.dtype(), x.device());
  internal::gather(Access(x, {.index = index, .axis = axis, .checked = true}).get(), y);
  return y;
}

// The k first elements in the order of a sort.
Array first_positions(const Array& x, std::int64_t k, int axis, bool largest) {
  const std::int64_t n = x.shape(axis);
  const auto sorted = [&](const Array& a) { return largest ? descending_order_of(a, axis) : order_of(a, axis); };
  if (k == 0 || k == n) return slice(sorted(x), axis, 0, k);
  const Array partition = order_of(x, axis, largest ? n - k : k - 1);
  const Array some = largest ? slice(partition, axis, n - k, n) : slice(partition, axis, 0, k);
  const Array found = taken(some, order_of(some, axis), axis);  // from the first to the last, for equal elements
  return taken(found, sorted(taken(x, found, axis)), axis);
}

Sorted taken_at(const Variable& x, const Array& order, int axis, bool descending) {
  const Positions positions{order, axis, true, true, "sort", descending ? "TopK" : "BottomK"};
  return {apply_node<TakeAlongAxis>({x}, positions)[0], internal::constant_variable(order)};
}

}  // namespace

Variable take_along_axis(const Variable& x, const Variable& indices, int axis) {
  constexpr const char* name = "take_along_axis";
  const int at = checked_axis("TakeAlongAxis", name, x, axis);
  const Array& index = indices.data();
  catena::check_index_dtype(name, index.dtype());
  check<ValueError>(index.ndim() == x.ndim(), name, "the indices have the shape ", index.shape(), ", x the shape ",
                    x.shape(), ": the ranks must be equal");
  Shape of_x = x.shape(), of_index = index.shape();
  for (int k = 0; k < x.ndim(); ++k) {
    if (k == at) continue;
    check<IndexError>(of_x[k] == of_index[k] || of_x[k] == 1 || of_index[k] == 1, name, "the indices of shape ",
                      index.shape(), " and x, of shape ", x.shape(), ", do not broadcast along axis ", k);
    of_x[k] = of_index[k] = of_x[k] == 1 ? of_index[k] : of_x[k];
  }
  const Array there = broadcast_to(to_device(index, x.data().device()), of_index);
  return apply_node<TakeAlongAxis>({broadcast_to(x, of_x)}, Positions{.index = there, .axis = at, .name = name})[0];
}

Variable gather(const Variable& x, int axis, const Variable& index) {
  const int at = checked_axis("TakeAlongAxis", "gather", x, axis);
  return apply_node<TakeAlongAxis>({x}, positions_in("gather", x, at, index))[0];
}

Variable scatter(const Variable& x, int axis, const Variable& index, const Variable& src) {
  constexpr const char* name = "scatter";
  Positions p = positions_in(name, x, checked_axis("Scatter", name, x, axis), index);
  p.distinct = true;
  const Variable part = part_of_source(name, src, p), mask = written_by(x, p);
  const Variable y = where(mask, apply_node<PutAlongAxis>({part}, p, x.shape())[0], x);
  return internal::wants_elementary_nodes() ? written(y, p, {x, index, part}) : y;
}

Variable scatter(const Variable& x, int axis, const Variable& index, double src) {
  constexpr const char* name = "scatter";
  const Positions p = positions_in(name, x, checked_axis("Scatter", name, x, axis), index);
  const Variable y = where(written_by(x, p), src, x);
  if (!internal::wants_elementary_nodes()) return y;
  const Variable values = internal::constant_variable(arrays::full(p.index.shape(), src, x.dtype(), x.device()));
  return written(y, p, {x, index, values});
}

Variable scatter_add(const Variable& x, int axis, const Variable& index, const Variable& src) {
  constexpr const char* name = "scatter_add";
  const Positions p = positions_in(name, x, checked_axis("ScatterAdd", name, x, axis), index);
  return x + apply_node<PutAlongAxis>({part_of_source(name, src, p)}, p, x.shape())[0];
}

Sorted sort(const Variable& x, int axis, bool descending) {
  const int at = checked_axis("Sort", "sort", x, axis);
  return taken_at(x, descending ? descending_order_of(x.data(), at) : order_of(x.data(), at), at, descending);
}

Variable argsort(const Variable& x, int axis, bool descending) {
  const int at = checked_axis("Argsort", "argsort", x, axis);
  return internal::constant_variable(descending ? descending_order_of(x.data(), at) : order_of(x.data(), at));
}

Sorted topk(const Variable& x, std::int64_t k, int axis, bool largest) {
  const int at = checked_axis("TopK", "topk", x, axis);
  check<ValueError>(k >= 0 && k <= x.shape(at), "topk", "k is ", k, ", axis ", at, " has the length ", x.shape(at));
  return taken_at(x, first_positions(x.data(), k, at, largest), at, largest);
}

namespace {

// Running extrema: their positions are a running argmax or argmin.
Sorted running_extremum(const Variable& x, int axis, const catena::KernelDef& kernel) {
  const Array& a = x.data();
  const Array positions = a.backend().empty(a.shape(), Dtype::int64, a.device());
  const Input input(*a.get());
  const int loop = catena::choose_loop(kernel, {&input, 1});
  a.backend().execute(catena::call::Scan{&kernel, loop, a.get(), axis, positions.get()});
  Positions p{.index = positions, .axis = axis, .checked = true};
  return {apply_node<TakeAlongAxis>({x}, p)[0], internal::constant_variable(positions)};
}

}  // namespace

Sorted cummax(const Variable& x, int axis) {
  return running_extremum(x, checked_axis("CumMax", "cummax", x, axis), catena::kernels::argmax);
}
Sorted cummin(const Variable& x, int axis) {
  return running_extremum(x, checked_axis("CumMin", "cummin", x, axis), catena::kernels::argmin);
}

}  // namespace autograd
