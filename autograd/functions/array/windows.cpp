// Diagonals, windows and other views whose elements may appear several times, with their adjoints.
#include <algorithm>
#include <limits>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array/parts.h>
#include <catena/autograd/indexed_access.h>
#include <catena/autograd/input_types.h>
#include <catena/kernels/base/array_layout.h>

namespace autograd {

using catena::check;
using catena::ValueError;
using catena::ViewSpec;
using internal::view_as;
using type_check::TypeInfoTuple;

namespace {

Array zeros_beside(const Array& a, const Shape& shape, Dtype dtype) {
  const Array z = a.backend().empty(shape, dtype, a.device());
  fill(z, 0);
  return z;
}

// ---- diagonals ----

struct DiagonalOf {
  std::int64_t offset;
  int axis1, axis2;
};
ViewSpec diagonal_view(const Array& x, const DiagonalOf& d) {
  ViewSpec v(x.shape(), x.strides());
  const std::int64_t step1 = v.strides[d.axis1], step2 = v.strides[d.axis2];
  const std::int64_t rows = x.shape(d.axis1), columns = x.shape(d.axis2);
  std::int64_t n = 0;  // any offset is allowed, so it is not negated before it is compared
  if (d.offset >= 0 && d.offset < columns) {
    n = std::min(rows, columns - d.offset);
    v.offset = d.offset * step2;
  } else if (d.offset < 0 && d.offset > -rows) {
    n = std::min(rows + d.offset, columns);
    v.offset = -d.offset * step1;
  }
  for (const int axis : {std::max(d.axis1, d.axis2), std::min(d.axis1, d.axis2)}) {
    v.shape.erase(axis);
    v.strides.erase(axis);
  }
  v.shape.push_back(n);
  v.strides.push_back(step1 + step2);
  return v;
}

void add_options(const DiagonalOf& d, internal::FunctionOptions& o) {
  o.integer("offset", d.offset);
  o.integer("axis1", d.axis1);
  o.integer("axis2", d.axis2);
}

class Diagonal final : public FunctionNode, public internal::HasOptions {
 public:
  explicit Diagonal(const DiagonalOf& d) : diagonal_(d) {}
  std::string label() const override { return "Diagonal"; }
  void options(internal::FunctionOptions& o) const override { add_options(diagonal_, o); }
  Arrays forward(const Arrays& x) override { return {view_as(x[0], diagonal_view(x[0], diagonal_))}; }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  DiagonalOf diagonal_;
};

// Writes a diagonal of zeros.
class DiagonalGrad final : public FunctionNode, public internal::HasOptions {
 public:
  DiagonalGrad(const DiagonalOf& d, const Shape& shape) : diagonal_(d), shape_(shape) {}
  std::string label() const override { return "DiagonalGrad"; }
  void options(internal::FunctionOptions& o) const override { add_options(diagonal_, o); }
  Arrays forward(const Arrays& g) override {
    const Array y = zeros_beside(g[0], shape_, g[0].dtype());
    assign(view_as(y, diagonal_view(y, diagonal_)), g[0]);
    return {y};
  }
  Variables backward(const Targets&, const Variables& gy) override { return apply_node<Diagonal>({gy[0]}, diagonal_); }

 private:
  DiagonalOf diagonal_;
  Shape shape_;
};

Variables Diagonal::backward(const Targets&, const Variables& gy) {
  return apply_node<DiagonalGrad>({gy[0]}, diagonal_, input_shape(0));
}

// ---- windows of an axis ----

struct Windows {
  int axis;
  std::int64_t size, step;
};

class Unfold final : public FunctionNode, public internal::HasOptions {
 public:
  explicit Unfold(const Windows& w) : windows_(w) {}
  std::string label() const override { return "Unfold"; }
  void options(internal::FunctionOptions& o) const override {
    o.integer("axis", windows_.axis);
    o.integer("size", windows_.size);
    o.integer("step", windows_.step);
  }
  Arrays forward(const Arrays& x) override {
    const auto& [axis, size, step] = windows_;
    ViewSpec v(x[0].shape(), x[0].strides());
    v.shape.push_back(size);
    v.strides.push_back(v.strides[axis]);
    v.shape[axis] = (x[0].shape(axis) - size) / step + 1;
    v.strides[axis] *= step;
    return {view_as(x[0], v)};
  }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  Windows windows_;
};

// Adds the windows at their places: all first elements of windows, then all second ones, or one window after the
// other, whichever are fewer.
class UnfoldGrad final : public FunctionNode {
 public:
  UnfoldGrad(const Windows& w, const Shape& shape) : windows_(w), shape_(shape) {}
  std::string label() const override { return "UnfoldGrad"; }
  Arrays forward(const Arrays& g) override {
    const auto& [axis, size, step] = windows_;
    const Dtype dtype = g[0].dtype();
    const Array gx = zeros_beside(g[0], shape_, catena::compute_dtype(dtype));
    const std::int64_t count = g[0].shape(axis);
    const int last = g[0].ndim() - 1;
    if (size <= count) {
      for (std::int64_t k = 0; k < size; ++k) {
        const Array from = reshape(slice(g[0], last, k, k + 1), shape_with(count));
        slice(gx, axis, k, k + step * (count - 1) + 1, step) += from;
      }
    } else {
      const Array moved = transpose(g[0], catena::rolled_axes("unfold", last, axis + 1, g[0].ndim()));
      for (std::int64_t i = 0; i < count; ++i)
        slice(gx, axis, i * step, i * step + size) += reshape(slice(moved, axis, i, i + 1), shape_with(size));
    }
    return {astype(gx, dtype)};
  }
  Variables backward(const Targets&, const Variables& gy) override { return apply_node<Unfold>({gy[0]}, windows_); }

 private:
  Shape shape_with(std::int64_t length) const {
    Shape shape = shape_;
    shape[windows_.axis] = length;
    return shape;
  }

  Windows windows_;
  Shape shape_;
};

Variables Unfold::backward(const Targets&, const Variables& gy) {
  return apply_node<UnfoldGrad>({gy[0]}, windows_, input_shape(0));
}

// ---- strides ----

struct StridedLayout {
  Shape shape;
  Dims strides;  // in elements
  std::int64_t offset;
};

class AsStrided final : public FunctionNode, public internal::HasOptions {
 public:
  explicit AsStrided(const StridedLayout& to) : to_(to) {}
  std::string label() const override { return "AsStrided"; }
  void options(internal::FunctionOptions& o) const override {
    o.integers("shape", to_.shape);
    o.integers("strides", to_.strides);
    o.integer("offset", to_.offset);
  }
  Arrays forward(const Arrays& x) override {
    const auto item = std::int64_t(catena::itemsize(x[0].dtype()));
    ViewSpec v(to_.shape, to_.strides, to_.offset * item);
    for (std::int64_t& step : v.strides) step *= item;
    return {view_as(contiguous(x[0]), v)};
  }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  StridedLayout to_;
};

class AsStridedGrad final : public FunctionNode {
 public:
  AsStridedGrad(const StridedLayout& to, const Shape& shape) : to_(to), shape_(shape) {}
  std::string label() const override { return "AsStridedGrad"; }
  Arrays forward(const Arrays& g) override {
    const Array gx = zeros_beside(g[0], shape_, g[0].dtype());
    if (g[0].size() == 0) return {gx};
    const int rank = to_.shape.size();
    Array place = arrays::full(Shape::filled(rank, 1), to_.offset, Dtype::int64, g[0].device());
    for (int k = 0; k < rank; ++k) {
      Shape along = Shape::filled(rank, 1);
      along[k] = to_.shape[k];
      place = place + reshape(arrays::arange(to_.shape[k], Dtype::int64, g[0].device()), along) * to_.strides[k];
    }
    const Array flat = reshape(gx, {gx.size()}), index = reshape(place, {place.size()});
    const Shape loop = index.shape();
    internal::scatter_sums({flat, {&index, 1}, {0}, loop, {-1}, "as_strided", nullptr, true},
                           reshape(g[0], {g[0].size()}));
    return {gx};
  }
  Variables backward(const Targets&, const Variables& gy) override { return apply_node<AsStrided>({gy[0]}, to_); }

 private:
  StridedLayout to_;
  Shape shape_;
};

Variables AsStrided::backward(const Targets&, const Variables& gy) {
  return apply_node<AsStridedGrad>({gy[0]}, to_, input_shape(0));
}

}  // namespace

Variable diagonal(const Variable& x, std::int64_t offset, int axis1, int axis2) {
  constexpr const char* name = "diagonal";
  internal::check_input_types("Diagonal", {x}, [&](const TypeInfoTuple& in_types) {
    autograd::internal::expect_axes(in_types, {axis1, axis2});
  });
  const DiagonalOf d{offset, catena::normalize_axis(name, axis1, x.ndim()),
                     catena::normalize_axis(name, axis2, x.ndim())};
  check<ValueError>(d.axis1 != d.axis2, name, "the axes ", axis1, " and ", axis2, " are the same one");
  return apply_node<Diagonal>({x}, d)[0];
}

Variable diag_embed(const Variable& x, std::int64_t offset) {
  internal::check_input_types("DiagEmbed", {x}, [](const TypeInfoTuple& in_types) {
    using namespace type_check;
    expect(in_types[0].ndim >= 1);
  });
  const int rank = x.ndim();
  const std::int64_t n = x.shape(rank - 1) + std::abs(offset);
  Shape shape = x.shape();
  shape.pop_back();
  shape.push_back(n);
  shape.push_back(n);
  return apply_node<DiagonalGrad>({x}, DiagonalOf{offset, rank - 1, rank}, shape)[0];
}

Variable diag(const Variable& x, std::int64_t k) {
  check<ValueError>(x.ndim() == 1 || x.ndim() == 2, "diag", "x has the shape ", x.shape(), ", must have rank 1 or 2");
  return x.ndim() == 1 ? diag_embed(x, k) : diagonal(x, k);
}

Variable unfold(const Variable& x, int axis, std::int64_t size, std::int64_t step) {
  constexpr const char* name = "unfold";
  const int at = internal::checked_axis("Unfold", name, x, axis);
  check<ValueError>(size >= 0 && size <= x.shape(at), name, "the size is ", size, ", axis ", at, " has the length ",
                    x.shape(at));
  check<ValueError>(step > 0, name, "the step is ", step, ", must be positive");
  return apply_node<Unfold>({x}, Windows{at, size, step})[0];
}

Variable as_strided(const Variable& x, const Shape& shape, const Dims& strides, std::int64_t offset) {
  constexpr const char* name = "as_strided";
  check<ValueError>(shape.size() == strides.size(), name, "the shape ", shape, " has ", shape.size(), " axes, but ",
                    strides.size(), " strides are given");
  __int128 low = offset, high = offset;
  for (int k = 0; k < shape.size(); ++k)
    (strides[k] < 0 ? low : high) += static_cast<__int128>(shape[k] - 1) * strides[k];
  const auto shown = [](__int128 position) {
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<__int128>(position, Limits::min(), Limits::max()));
  };
  check<ValueError>(catena::checked_size(shape) == 0 || (low >= 0 && high < x.size()), name, "the positions ",
                    shown(low), " to ", shown(high), " are not all in x, which has ", x.size(), " elements");
  return apply_node<AsStrided>({x}, StridedLayout{shape, strides, offset})[0];
}

}  // namespace autograd
