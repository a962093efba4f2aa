#include <catena/autograd/functions/array.h>

#include <algorithm>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/reduction.h>

namespace autograd {

using type_check::TypeInfoTuple;

namespace {

class Reshape final : public FunctionNode {
 public:
  explicit Reshape(const Shape& shape) : shape_(shape) {}
  std::string label() const override { return "Reshape"; }
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
};

class Transpose final : public FunctionNode {
 public:
  explicit Transpose(const std::optional<Dims>& axes) : axes_(axes) {}
  std::string label() const override { return "Transpose"; }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace type_check;
    expect(in_types.size() == 1);
    if (!axes_) return;
    expect(in_types[0].ndim == variable(axes_->size(), "len(axes)"));
    for (const std::int64_t a : *axes_) {
      const auto axis = variable(a, "axis");
      expect(-in_types[0].ndim <= axis, axis < in_types[0].ndim);
    }
  }
  Arrays forward(const Arrays& x) override { return {axes_ ? transpose(x[0], *axes_) : transpose(x[0])}; }
  Variables backward(const Targets&, const Variables& gy) override {
    if (!axes_) return {transpose(gy[0])};
    const int n = axes_->size();
    Dims inverse = Dims::filled(n, 0);
    for (int i = 0; i < n; ++i) inverse[int((*axes_)[i] < 0 ? (*axes_)[i] + n : (*axes_)[i])] = i;
    return {transpose(gy[0], inverse)};
  }

 private:
  std::optional<Dims> axes_;
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
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f');
  }
  Arrays forward(const Arrays& x) override { return {astype(x[0], dtype_)}; }
  // An integer result has no gradient.
  Variables backward(const Targets&, const Variables& gy) override {
    return {catena::is_floating(gy[0].dtype()) ? cast(gy[0], input_dtype(0)) : Variable()};
  }

 private:
  Dtype dtype_;
};

}  // namespace

Variable reshape(const Variable& x, const Shape& shape) {
  if (x && x.shape() == shape) return x;
  catena::check<catena::AssertionError>(std::count(shape.begin(), shape.end(), -1) <= 1, "reshape",
                                        "only one length can be -1: ", shape);
  return apply_node<Reshape>({x}, shape)[0];
}

Variable transpose(const Variable& x) { return apply_node<Transpose>({x}, std::nullopt)[0]; }
Variable transpose(const Variable& x, const Dims& axes) { return apply_node<Transpose>({x}, axes)[0]; }

Variable broadcast_to(const Variable& x, const Shape& shape) {
  if (x && x.shape() == shape) return x;
  return apply_node<BroadcastTo>({x}, shape)[0];
}

Variable cast(const Variable& x, Dtype dtype) {
  if (x && x.dtype() == dtype && catena::is_floating(dtype)) return x;
  return apply_node<Cast>({x}, dtype)[0];
}

Variable Variable::reshape(const Shape& shape) const { return autograd::reshape(*this, shape); }
Variable Variable::astype(Dtype dtype) const { return cast(*this, dtype); }
Variable Variable::transpose() const { return autograd::transpose(*this); }
Variable Variable::transpose(const Dims& axes) const { return autograd::transpose(*this, axes); }

}  // namespace autograd
