// Sequences of different lengths, and the selection of elements by given indices.
#include <algorithm>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/flag.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/input_types.h>
#include <catena/nn/functions/array.h>

namespace nn {

using autograd::apply_node;
using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Scalar;
using autograd::Shape;
using autograd::Slice;
using autograd::Targets;
using autograd::type_check::TypeInfoTuple;

namespace {

// Throws an InvalidType unless there are sequences, and all have one dtype and one shape of elements.
void expect_sequences(const TypeInfoTuple& in_types) {
  using namespace autograd::type_check;
  expect(in_types.size() > 0, in_types[0].ndim > 0);
  const autograd::type_check::Slice rest{1, {}, {}};
  for (int i = 1; i < int(in_types.count()); ++i)
    expect(in_types[0].dtype == in_types[i].dtype, in_types[0].ndim == in_types[i].ndim,
           in_types[0].shape[rest] == in_types[i].shape[rest]);
}

class PadSequence final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  PadSequence(const std::optional<std::int64_t>& length, const Scalar& padding) : length_(length), padding_(padding) {}
  std::string label() const override { return "PadSequence"; }
  void options(autograd::internal::FunctionOptions& o) const override { o.number("padding", padding_.to_double()); }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect_sequences(in_types);
    if (!length_) return;
    for (int i = 0; i < int(in_types.count()); ++i) expect(in_types[i].shape[0] <= variable(*length_, "length"));
  }
  Arrays forward(const Arrays& xs) override {
    std::int64_t length = length_.value_or(0);
    for (const Array& x : xs) length = std::max(length, x.shape(0));
    Shape shape = xs[0].shape();
    shape[0] = length;
    shape.insert(0, std::int64_t(xs.size()));
    const Array y = xs[0].backend().empty(shape, xs[0].dtype(), xs[0].device());
    if (std::any_of(xs.begin(), xs.end(), [&](const Array& x) { return x.shape(0) < length; }))
      autograd::fill(y, padding_);
    shape.erase(0);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const Array row = autograd::reshape(autograd::slice(y, 0, std::int64_t(i), std::int64_t(i) + 1), shape);
      autograd::assign(autograd::slice(row, 0, 0, xs[i].shape(0)), xs[i]);
    }
    return {y};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int i : targets) gx.push_back(get_item(gy[0], {i, Slice(0, input_shape(i)[0])}));
    return gx;
  }

 private:
  std::optional<std::int64_t> length_;
  Scalar padding_;
};

// Returns the positions that would sort the integers: for a permutation, its inverse.
Array inverse_of(const Array& permutation) {
  const Array given = autograd::contiguous(permutation);
  const Array inverse = given.backend().empty(given.shape(), Dtype::int64, given.device());
  given.backend().execute(catena::call::Sort{given.get(), 0, true, inverse.get()});
  return inverse;
}

void check_permutation(const Array& indices) {
  std::vector<std::int64_t> sorted = autograd::to_vector<std::int64_t>(indices);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    catena::check<catena::ValueError>(sorted[i] == std::int64_t(i), "permutate", "the ", sorted.size(),
                                      " indices are no permutation: ", i, " is missing");
}

class Permutate final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  Permutate(int axis, bool inv) : axis_(axis), inv_(inv) {}
  std::string label() const override { return "Permutate"; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.integer("axis", axis_);
    o.integer("inv", inv_);
  }
  std::string_view input_names() const override { return "x indices"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    autograd::internal::expect_axes(in_types, axis_);
    expect(in_types[1].dtype.kind() == 'i', in_types[1].ndim == 1, in_types[0].shape[axis_] == in_types[1].shape[0]);
  }
  Arrays forward(const Arrays& in) override {
    retain_inputs({1});
    if (autograd::is_debug()) check_permutation(in[1]);
    return {autograd::take(in[0], inv_ ? inverse_of(in[1]) : in[1], axis_)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gx;
    for (const int t : targets) gx.push_back(t == 0 ? permutate(gy[0], retained_input(1), axis_, !inv_) : Variable());
    return gx;
  }

 private:
  int axis_;
  bool inv_;
};

}  // namespace

Variable pad_sequence(const Variables& xs, std::optional<std::int64_t> length, const Scalar& padding) {
  return apply_node<PadSequence>(xs, length, padding)[0];
}

Variable permutate(const Variable& x, const Variable& indices, int axis, bool inv) {
  return apply_node<Permutate>({x, indices}, axis, inv)[0];
}

// Sorts the elements of all sequences, concatenated, by time, and splits the result.
Variables transpose_sequence(const Variables& xs) {
  if (xs.empty()) return {};
  autograd::internal::check_input_types("TransposeSequence", xs, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect_sequences(in_types);
    for (int i = 1; i < int(in_types.count()); ++i) expect(in_types[i - 1].shape[0] >= in_types[i].shape[0]);
  });
  std::vector<std::int64_t> order, ends;
  for (std::int64_t t = 0; t < xs[0].shape(0); ++t) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < xs.size() && t < xs[i].shape(0); start += xs[i++].shape(0)) order.push_back(start + t);
    ends.push_back(std::int64_t(order.size()));
  }
  if (order.empty()) return {};
  ends.pop_back();
  const Array by_time =
      xs[0].data().backend().from_host(order.data(), {std::int64_t(order.size())}, Dtype::int64, xs[0].device());
  return split_axis(permutate(concat(xs, 0), by_time), ends, 0);
}

Variable select_item(const Variable& x, const Variable& t) {
  autograd::internal::check_input_types(
      "SelectItem", {x, t},
      [](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect(in_types[0].ndim == 2, in_types[1].dtype.kind() == 'i', in_types[1].ndim == 1,
               in_types[0].shape[0] == in_types[1].shape[0]);
      },
      "x t");
  if (autograd::is_debug())
    for (const std::int64_t i : autograd::to_vector<std::int64_t>(t.data()))
      catena::check<catena::ValueError>(i >= 0 && i < x.shape(1), "select_item", "t has the number ", i,
                                        ", which is not in [0, ", x.shape(1), ")");
  std::vector<std::int64_t> rows(std::size_t(x.shape(0)));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::int64_t(i);
  const Array row = x.data().backend().from_host(rows.data(), {x.shape(0)}, Dtype::int64, x.device());
  return get_item(x, {row, t.data()});
}

}  // namespace nn
