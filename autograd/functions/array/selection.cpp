// Selection by masks and by positions of an axis, one-hot vectors, triangles.
#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array/parts.h>
#include <catena/autograd/functions/elementwise.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/recorded.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/array_layout.h>
#include <catena/kernels/registry/families.h>
#include <catena/kernels/registry/index_plan.h>

namespace autograd {

using catena::check;
using catena::IndexError;
using type_check::TypeInfoTuple;

namespace {

// The index of x that selects positions of one axis.
std::vector<IndexItem> along_axis(const char* label, const char* name, const Variable& x, int axis,
                                  const Variable& index) {
  const int at = internal::checked_axis(label, name, x, axis);
  const Array& i = index.data();
  catena::check_index_dtype(name, i.dtype());
  check<IndexError>(i.ndim() == 1, name, "the index has the shape ", i.shape(), ", must have rank 1");
  std::vector<IndexItem> items(static_cast<std::size_t>(at), Slice());
  items.emplace_back(i);
  return items;
}

class StraightThrough final : public FunctionNode {
 public:
  explicit StraightThrough(const Array& value) : value_(value) {}
  std::string label() const override { return "StraightThrough"; }
  Arrays forward(const Arrays&) override { return {std::exchange(value_, {})}; }
  Variables backward(const Targets&, const Variables& gy) override { return {gy[0]}; }

 private:
  Array value_;
};

// Keeps the elements x[.., i, j] for which `kernel` compares j - i to k.
Variable triangle(const char* label, const Variable& x, const catena::KernelDef& kernel, std::int64_t k) {
  internal::check_input_types(label, {x}, [](const TypeInfoTuple& in_types) {
    using namespace type_check;
    expect(in_types[0].ndim >= 2);
  });
  const Device device = x.data().device();
  const Array rows = arrays::arange(x.shape(x.ndim() - 2), Dtype::int64, device),
              columns = arrays::arange(x.shape(x.ndim() - 1), Dtype::int64, device);
  return masked(x, apply(kernel, {columns - expand_dims(rows, 1), k}));
}

}  // namespace

Variable index_select(const Variable& x, int axis, const Variable& index) {
  return get_item(x, along_axis("IndexSelect", "index_select", x, axis, index));
}

Variable index_add(const Variable& x, int axis, const Variable& index, const Variable& source, double alpha) {
  const std::vector<IndexItem> items = along_axis("IndexAdd", "index_add", x, axis, index);
  return scatter_add(x, items, alpha == 1 ? source : source * alpha);
}

Variable masked_fill(const Variable& x, const Variable& mask, const Variable& value) { return where(mask, value, x); }
Variable masked_fill(const Variable& x, const Variable& mask, double value) { return where(mask, value, x); }

Variable masked_select(const Variable& x, const Variable& mask) {
  const Array& m = mask.data();
  internal::check_input_types(
      "MaskedSelect", {x, mask},
      [](const TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[1].dtype.kind() == 'b');
      },
      "x mask");
  const Shape to = catena::at_least(1, catena::broadcast_shapes("masked_select", x.shape(), m.shape()));
  return flatten(get_item(broadcast_to(x, to), {IndexItem(broadcast_to(m, to))}));
}

Variable one_hot(const Variable& indices, std::int64_t n, Dtype dtype) {
  constexpr const char* name = "one_hot";
  const Array& i = indices.data();
  catena::check_index_dtype(name, i.dtype());
  if (n < 0) n = i.size() == 0 ? 0 : item(amax(i)).to<std::int64_t>() + 1;
  catena::IndexRule rule;
  rule.high = n < 0 ? 0 : n;
  if (i.size() > 0) i.backend().execute(catena::call::CheckIndices{i.get(), rule, name});
  const Array equal =
      apply(catena::kernels::equal, {expand_dims(i, i.ndim()), arrays::arange(rule.high, Dtype::int64, i.device())});
  const Variable y = internal::constant_variable(astype(equal, dtype));
  if (!internal::wants_elementary_nodes()) return y;
  internal::FunctionOptions options;
  options.integer("classes", rule.high);
  options.numbers("values", {0, 1});
  return internal::recorded(y, "OneHot", {indices}, std::move(options));
}

Variable straight_through(const Variable& value, const Variable& x) {
  internal::check_input_types(
      "StraightThrough", {value, x},
      [](const TypeInfoTuple& in_types) {
        using namespace type_check;
        expect(in_types[0].dtype == in_types[1].dtype, in_types[0].shape == in_types[1].shape);
      },
      "value x");
  if (internal::wants_elementary_nodes()) return value;
  return apply_node<StraightThrough>({x}, value.data())[0];
}

Variable hardmax(const Variable& x, int axis) {
  const Variable at = argmax(x, axis);
  const Variable one = one_hot(at, x.shape(axis < 0 ? axis + x.ndim() : axis), x.dtype());
  return straight_through(moveaxis(one, -1, axis), x);
}

Variable tril(const Variable& x, std::int64_t k) { return triangle("Tril", x, catena::kernels::less_equal, k); }
Variable triu(const Variable& x, std::int64_t k) { return triangle("Triu", x, catena::kernels::greater_equal, k); }

}  // namespace autograd
