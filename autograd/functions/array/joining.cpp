// Joining and splitting.
#include <algorithm>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/array_layout.h>

namespace autograd {

using catena::check;
using type_check::TypeInfoTuple;

namespace {

// Returns an index with `item` at an axis and full slices before it.
std::vector<IndexItem> at_axis(int axis, const IndexItem& item) {
  std::vector<IndexItem> items(static_cast<std::size_t>(axis), IndexItem(Slice()));
  items.push_back(item);
  return items;
}

class Concat final : public FunctionNode, public internal::HasOptions {
 public:
  explicit Concat(int axis) : axis_(axis) {}
  std::string label() const override { return "Concat"; }
  void options(internal::FunctionOptions& o) const override { o.integer("axis", axis_); }
  void check_type_forward(const type_check::TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() > 0);
    autograd::internal::expect_axes(in_types, axis_);
    const int own = catena::normalize_axis("concat", axis_, in_types.shape(0).size());
    for (int i = 1; i < int(in_types.count()); ++i) {
      expect(in_types[0].dtype == in_types[i].dtype, in_types[0].ndim == in_types[i].ndim);
      for (int a = 0; a < in_types.shape(0).size(); ++a)
        if (a != own) expect(in_types[0].shape[a] == in_types[i].shape[a]);
    }
  }
  Arrays forward(const Arrays& xs) override { return {concatenate(xs, axis_)}; }
  Variables backward(const Targets& targets, const Variables& gy) override {
    const int axis = catena::normalize_axis("concat", axis_, gy[0].ndim());
    Variables gradients;
    for (const int target : targets) {
      std::int64_t start = 0;
      for (int i = 0; i < target; ++i) start += input_shape(i)[axis];
      gradients.push_back(get_item(gy[0], at_axis(axis, Slice(start, start + input_shape(target)[axis]))));
    }
    return gradients;
  }

 private:
  int axis_;
};

class Broadcast final : public FunctionNode {
 public:
  explicit Broadcast(const Shape& shape) : shape_(shape) {}
  std::string label() const override { return "Broadcast"; }
  Arrays forward(const Arrays& xs) override {
    Arrays ys;
    for (const Array& x : xs) ys.push_back(x.shape() == shape_ ? x : broadcast_to(x, shape_));
    return ys;
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gradients;
    for (const int target : targets) {
      const Variable& g = gy[std::size_t(target)];
      gradients.push_back(g ? sum_to(g, input_shape(target)) : Variable());
    }
    return gradients;
  }

 private:
  Shape shape_;
};

class SplitAxis final : public FunctionNode, public internal::HasOptions {
 public:
  SplitAxis(const Sections& sections, int axis) : sections_(sections), axis_(axis) {}
  std::string label() const override { return "SplitAxis"; }
  void options(internal::FunctionOptions& o) const override {
    std::vector<std::int64_t> lengths;
    for (const catena::SliceRange& r : parts_) lengths.push_back(r.length);
    o.integer("axis", axis_);
    o.integers("lengths", lengths);
  }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    autograd::internal::expect_axes(in_types, axis_);
    const int axis = catena::normalize_axis("split_axis", axis_, in_types.shape(0).size());
    if (sections_.is_count()) {
      expect(in_types[0].shape[axis] % variable(sections_.count(), "sections") == 0);
    } else if (!sections_.positions().empty()) {
      expect(variable(sections_.positions().back(), "indices[-1]") < in_types[0].shape[axis]);
    }
  }
  Arrays forward(const Arrays& x) override {
    axis_ = catena::normalize_axis("split_axis", axis_, x[0].ndim());
    parts_ = catena::split_ranges("split_axis", sections_, axis_, x[0].shape(axis_), true);
    Arrays pieces;
    for (const catena::SliceRange& r : parts_) pieces.push_back(slice(x[0], axis_, r.start, r.start + r.length));
    return pieces;
  }
  // An absent gradient counts as zeros.
  Variables backward(const Targets&, const Variables& gy) override {
    const Array& present = std::find_if(gy.begin(), gy.end(), [](const Variable& g) { return bool(g); })->data();
    Variables pieces;
    for (std::size_t k = 0; k < gy.size(); ++k) {
      if (gy[k]) {
        pieces.push_back(gy[k]);
        continue;
      }
      Shape shape = input_shape(0);
      shape[axis_] = parts_[k].length;
      const Array zero = present.backend().empty(shape, present.dtype(), present.device());
      fill(zero, 0);
      pieces.push_back(internal::constant_variable(zero));
    }
    return {concat(pieces, axis_)};
  }

 private:
  Sections sections_;
  int axis_;
  std::vector<catena::SliceRange> parts_;
};

// InvalidType unless all inputs have one dtype and one rank.
void expect_equal_ranks(const TypeInfoTuple& in_types) {
  using namespace type_check;
  for (int i = 1; i < int(in_types.count()); ++i)
    expect(in_types[0].dtype == in_types[i].dtype, in_types[0].ndim == in_types[i].ndim);
}

// Joins along `axis`, after the variables have got at least `rank` axes.
Variable join_raised(const char* label, const Variables& xs, int axis, int rank) {
  check<catena::ValueError>(!xs.empty(), label, "there are no variables");
  internal::check_input_types(label, xs, expect_equal_ranks);
  Variables same;
  for (const Variable& x : xs) same.push_back(reshape(x, catena::at_least(rank, x.shape())));
  return concat(same, axis);
}

}  // namespace

Variable concat(const Variables& xs, int axis) {
  check<catena::ValueError>(!xs.empty(), "concat", "there are no variables");
  return apply_node<Concat>(xs, axis)[0];
}

Variables broadcast(const Variables& xs) {
  check<catena::ValueError>(!xs.empty(), "broadcast", "there are no variables");
  Shape common = xs[0].shape();
  for (const Variable& x : xs) {
    try {
      common = catena::broadcast_shapes("broadcast", common, x.shape());
    } catch (const catena::ValueError&) {
      throw catena::InvalidType("each dimension has the same size or is 1", catena::concat(common, " and ", x.shape()));
    }
  }
  return xs.size() == 1 ? xs : apply_node<Broadcast>(xs, common);
}

Variable stack(const Variables& xs, int axis) {
  check<catena::ValueError>(!xs.empty(), "stack", "there are no variables");
  internal::check_input_types("Stack", xs, [axis](const TypeInfoTuple& in_types) {
    using namespace type_check;
    autograd::internal::expect_axes(in_types, axis, true);
    for (int i = 1; i < int(in_types.count()); ++i)
      expect(in_types[0].dtype == in_types[i].dtype, in_types[0].shape == in_types[i].shape);
  });
  Variables same;
  for (const Variable& x : xs) same.push_back(expand_dims(x, axis));
  return concat(same, axis);
}

Variable vstack(const Variables& xs) { return join_raised("Vstack", xs, 0, 2); }
Variable hstack(const Variables& xs) {
  return join_raised("Hstack", xs, !xs.empty() && xs[0] && xs[0].ndim() > 1 ? 1 : 0, 1);
}
Variable dstack(const Variables& xs) { return join_raised("Dstack", xs, 2, 3); }

Variables split_axis(const Variable& x, const Sections& indices_or_sections, int axis) {
  constexpr const char* op = "split_axis";
  if (indices_or_sections.is_count()) {
    check<catena::ValueError>(indices_or_sections.count() > 0, op, "there must be at least 1 part, not ",
                              indices_or_sections.count());
  } else {
    std::int64_t last = 0;
    for (const std::int64_t at : indices_or_sections.positions()) {
      check<catena::ValueError>(at >= last, op, "the position ", at, " follows ", last,
                                ": positions start at 0 and do not decrease");
      last = at;
    }
  }
  return apply_node<SplitAxis>({x}, indices_or_sections, axis);
}

Variables separate(const Variable& x, int axis) {
  internal::check_input_types(
      "Separate", {x}, [axis](const TypeInfoTuple& in_types) { autograd::internal::expect_axes(in_types, axis); });
  const int at = catena::normalize_axis("separate", axis, x.ndim());
  Variables items;
  if (x.shape(at) == 0) return items;
  for (const Variable& item : split_axis(x, x.shape(at), at)) items.push_back(squeeze(item, at));
  return items;
}

}  // namespace autograd
