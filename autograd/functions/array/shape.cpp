#include <catena/autograd/functions/array.h>

#include <algorithm>
#include <utility>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/nn_extension/layout.h>
#include <catena/kernels/base/view_layout.h>

namespace autograd {

using type_check::TypeInfoTuple;

namespace {

class Reshape final : public FunctionNode, public internal::HasOptions {
 public:
  explicit Reshape(const Shape& shape, const char* label = "Reshape") : shape_(shape), label_(label) {}
  std::string label() const override { return label_; }
  void options(internal::FunctionOptions& o) const override { o.function("Reshape"); }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1);
    std::int64_t known = 1;
    bool open = false;
    for (const std::int64_t d : shape_) (d == -1 ? open = true : (known *= d, false));
    const auto size = variable(known, "known size of the new shape");
    if (!open) {
      expect(prod(in_types[0].shape) == variable(known, "prod(shape)"));
    } else {
      expect(size != 0);
      expect(prod(in_types[0].shape) % size == 0);
    }
  }
  Arrays forward(const Arrays& x) override { return {reshape(x[0], shape_)}; }
  Variables backward(const Targets&, const Variables& gy) override { return {reshape(gy[0], input_shape(0))}; }

 private:
  Shape shape_;
  const char* label_;
};

class Transpose final : public FunctionNode, public internal::HasOptions {
 public:
  explicit Transpose(const std::optional<Dims>& axes, const char* label = "Transpose") : axes_(axes), label_(label) {}
  std::string label() const override { return label_; }
  void options(internal::FunctionOptions& o) const override {
    o.function("Transpose");
    if (axes_) o.integers("axes", *axes_);
  }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1);
    if (!axes_) return;
    expect(in_types[0].ndim == variable(axes_->size(), "len(axes)"));
    autograd::internal::expect_axes(in_types, *axes_);
  }
  Arrays forward(const Arrays& x) override { return {axes_ ? transpose(x[0], *axes_) : transpose(x[0])}; }
  Variables backward(const Targets&, const Variables& gy) override {
    return {axes_ ? transpose(gy[0], catena::inverse_axes(*axes_)) : transpose(gy[0])};
  }

 private:
  std::optional<Dims> axes_;
  const char* label_;
};

class BroadcastTo final : public FunctionNode {
 public:
  explicit BroadcastTo(const Shape& shape) : shape_(shape) {}
  std::string label() const override { return "BroadcastTo"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1);
    expect(in_types[0].ndim <= variable(shape_.size(), "len(shape)"));
    const Shape& from = in_types.shape(0);
    const int added = shape_.size() - from.size();
    for (int i = 0; i < from.size(); ++i)
      if (from[i] != 1) expect(in_types[0].shape[i] == shape_[added + i]);
  }
  Arrays forward(const Arrays& x) override { return {broadcast_to(x[0], shape_)}; }
  Variables backward(const Targets&, const Variables& gy) override { return {sum_to(gy[0], input_shape(0))}; }

 private:
  Shape shape_;
};

class Cast final : public FunctionNode {
 public:
  explicit Cast(Dtype dtype) : dtype_(dtype) {}
  std::string label() const override { return "Cast"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() != 'c');
  }
  // Channels-last images and filters stay channels-last.
  Arrays forward(const Arrays& x) override { return {internal::astype_in_order(x[0], dtype_)}; }
  // An input or a result that is not floating has no gradient.
  Variables backward(const Targets&, const Variables& gy) override {
    const bool differentiable = catena::is_floating(input_dtype(0)) && catena::is_floating(gy[0].dtype());
    return {differentiable ? cast(gy[0], input_dtype(0)) : Variable()};
  }

 private:
  Dtype dtype_;
};

class Copy final : public FunctionNode {
 public:
  explicit Copy(const Device& to) : to_(to) {}
  std::string label() const override { return "Copy"; }
  Arrays forward(const Arrays& x) override {
    from_ = x[0].device();
    return {from_ == to_ ? autograd::copy(x[0]) : to_device(x[0], to_)};
  }
  Variables backward(const Targets&, const Variables& gy) override { return {autograd::copy(gy[0], from_)}; }

 protected:
  bool allows_mixed_devices() const noexcept override { return true; }

 private:
  Device from_, to_;
};

}  // namespace

Variable reshape(const Variable& x, const Shape& shape) {
  if (x && x.shape() == shape) return x;
  catena::check<catena::AssertionError>(std::count(shape.begin(), shape.end(), -1) <= 1, "reshape",
                                        "only one length can be -1: ", shape);
  return apply_node<Reshape>({x}, shape)[0];
}

Variable flatten(const Variable& x) { return apply_node<Reshape>({x}, Shape{-1}, "Flatten")[0]; }

Variable expand_dims(const Variable& x, int axis) {
  internal::check_input_types("ExpandDims", {x}, [axis](const TypeInfoTuple& in_types) {
    autograd::internal::expect_axes(in_types, axis, true);
  });
  const Shape shape = catena::expanded_axes("expand_dims", x.shape(), x.data().strides(), axis, 1).shape;
  return apply_node<Reshape>({x}, shape, "ExpandDims")[0];
}

Variable squeeze(const Variable& x, const Axes& axis) {
  internal::check_input_types(
      "Squeeze", {x}, [&axis](const TypeInfoTuple& in_types) { autograd::internal::expect_axes(in_types, axis); });
  const Shape shape = catena::squeezed_axes("squeeze", x.shape(), x.data().strides(), axis).shape;
  return apply_node<Reshape>({x}, shape, "Squeeze")[0];
}

Variable swapaxes(const Variable& x, int axis1, int axis2) {
  constexpr const char* label = "Swapaxes";
  internal::check_input_types(label, {x}, [&](const TypeInfoTuple& in_types) {
    autograd::internal::expect_axes(in_types, {axis1, axis2});
  });
  const int rank = x.ndim();
  Dims axes = catena::normalize_axes("swapaxes", {}, rank);
  std::swap(axes[catena::normalize_axis("swapaxes", axis1, rank)],
            axes[catena::normalize_axis("swapaxes", axis2, rank)]);
  return apply_node<Transpose>({x}, axes, label)[0];
}

Variable rollaxis(const Variable& x, int axis, int start) {
  constexpr const char* label = "Rollaxis";
  internal::check_input_types(label, {x}, [&](const TypeInfoTuple& in_types) {
    using namespace type_check;
    autograd::internal::expect_axes(in_types, axis);
    const auto position = variable(start, "start");
    expect(-in_types[0].ndim <= position, position <= in_types[0].ndim);
  });
  return apply_node<Transpose>({x}, catena::rolled_axes("rollaxis", axis, start, x.ndim()), label)[0];
}

Variable transpose(const Variable& x) { return apply_node<Transpose>({x}, std::nullopt)[0]; }
Variable transpose(const Variable& x, const Dims& axes) { return apply_node<Transpose>({x}, axes)[0]; }

Variable broadcast_to(const Variable& x, const Shape& shape) {
  if (x && x.shape() == shape) return x;
  return apply_node<BroadcastTo>({x}, shape)[0];
}

Variable cast(const Variable& x, Dtype dtype) {
  if (x && x.dtype() == dtype) return x;
  return apply_node<Cast>({x}, dtype)[0];
}

Variable copy(const Variable& x, const Device& dst) { return apply_node<Copy>({x}, dst)[0]; }
Variable copy(const Variable& x, int dst) {
  return copy(x, dst < 0 ? Device{} : Device{Device::Kind::cuda, static_cast<std::int16_t>(dst)});
}

Variable Variable::reshape(const Shape& shape) const { return autograd::reshape(*this, shape); }
Variable Variable::astype(Dtype dtype) const { return cast(*this, dtype); }
Variable Variable::transpose() const { return autograd::transpose(*this); }
Variable Variable::transpose(const Dims& axes) const { return autograd::transpose(*this, axes); }

}  // namespace autograd
