#include <catena/autograd/ndarray_backend/torch_complex.h>

#include <utility>

#include <catena/autograd/function_node.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/in_place.h>
#include <catena/ndarray/routines/math.h>

namespace autograd::internal {
namespace {

class Linear final : public FunctionNode {
 public:
  Linear(const char* label, LinearValues values, LinearAdjoint adjoint)
      : label_(label), values_(std::move(values)), adjoint_(std::move(adjoint)) {}
  std::string label() const override { return label_; }
  Arrays forward(const Arrays& x) override {
    const nd::DeviceScope scope(x[0].device());
    return {Array(values_(nd::Array(x[0])))};
  }
  Variables backward(const Targets&, const Variables& gy) override { return {adjoint_(gy[0])}; }

 private:
  const char* label_;
  LinearValues values_;
  LinearAdjoint adjoint_;
};

class WithoutGradient final : public FunctionNode {
 public:
  WithoutGradient(const char* label, catena::Function<Arrays(const Arrays&)> values)
      : label_(label), values_(std::move(values)) {}
  std::string label() const override { return label_; }
  Arrays forward(const Arrays& x) override { return values_(x); }
  Variables backward(const Targets&, const Variables&) override {
    throw catena::NotImplementedError(label_ + ": the gradient is not implemented");
  }

 private:
  std::string label_;
  catena::Function<Arrays(const Arrays&)> values_;
};

}  // namespace

Variable linear(const char* label, const Variable& x, LinearValues values, LinearAdjoint adjoint) {
  return apply_node<Linear>({x}, label, std::move(values), std::move(adjoint))[0];
}
Variables without_gradient(const char* label, const Variables& xs, catena::Function<Arrays(const Arrays&)> values) {
  return apply_node<WithoutGradient>(xs, label, std::move(values));
}

Variable to_complex(const Variable& x) {
  return linear(
      "complex", x, [](const nd::Array& a) { return a.astype(complex_of(a.dtype())); },
      [](const Variable& g) { return real_part(g); });
}
Variable from_imaginary(const Variable& x) {
  return linear(
      "complex", x,
      [](const nd::Array& a) {
        const nd::Array z = nd::zeros(a.shape(), complex_of(a.dtype()));
        z.imag().copy_(a);
        return z;
      },
      [](const Variable& g) { return imaginary_part(g); });
}
Variable real_part(const Variable& z) {
  return linear(
      "real", z, [](const nd::Array& a) { return nd::real(a).copy(); },
      [](const Variable& g) { return to_complex(g); });
}
Variable imaginary_part(const Variable& z) {
  return linear(
      "imag", z, [](const nd::Array& a) { return nd::imag(a).copy(); },
      [](const Variable& g) { return from_imaginary(g); });
}

nd::Array array_of(const Variable& x) { return x ? nd::Array(x.data()) : nd::Array(); }

}  // namespace autograd::internal
