#include <catena/nn/functions/connection.h>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/nn_extension.h>
#include <catena/autograd/variable_node.h>

namespace nn {

using autograd::apply_node;
using autograd::Array;
using autograd::Arrays;
using autograd::ConvolutionSpec;
using autograd::Dims;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::nn_extension;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;

namespace {

Variable product(const Variable& a, const Variable& b, bool transa, bool transb) {
  return autograd::internal::matmul(a, b, transa, transb, "MatMul");
}

// x W^T + b in a 16-bit dtype, rounded once: the bias is one more column of W, for which x has ones, so the product
// adds it in its wider accumulator. Rows stay multiples of 16 bytes.
Array biased_product(const Array& x, const Array& W, const Array& b) {
  constexpr std::int64_t kPad = 8;
  const Array bias = autograd::full({W.shape(0), kPad}, 0, b.dtype(), b.device());
  autograd::assign(autograd::slice(bias, 1, 0, 1), autograd::expand_dims(b, 1));
  const Array wide_x[] = {x, autograd::full({x.shape(0), kPad}, 1, x.dtype(), x.device())};
  const Array wide_w[] = {W, bias};
  return autograd::matmul(autograd::concatenate(wide_x, 1), autograd::concatenate(wide_w, 1), false, true);
}

class LinearFunction final : public FunctionNode {
 public:
  // Without a graph W is seldom written between two calls.
  explicit LinearFunction(bool has_graph) : has_graph_(has_graph) {}
  std::string label() const override { return "LinearFunction"; }
  std::string_view input_names() const override { return "x W b"; }

  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() >= 2, in_types.size() <= 3);
    expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f');
    expect(in_types[0].ndim >= 2, in_types[1].ndim == 2);
    // The product of the lengths after the first axis; x.size() / x.shape(0) fails for an empty batch.
    std::int64_t features = 1;
    for (int i = 1; i < in_types.shape(0).size(); ++i) features *= in_types.shape(0)[i];
    expect(variable(features, "prod(in_types[0].shape[1:])") == in_types[1].shape[1]);
    if (in_types.count() == 3)
      expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
             in_types[2].shape[0] == in_types[1].shape[0]);
  }

  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    const Array x = autograd::reshape(in[0], {in[0].shape(0), in[1].shape(1)}), W = autograd::astype(in[1], x.dtype());
    if (in.size() == 3 && catena::itemsize(x.dtype()) == 2) return {biased_product(x, W, in[2])};
    if (!has_graph_) return {nn_extension(x).linear(x, W, in.size() == 3 ? in[2] : Array())};
    Array y = autograd::matmul(x, W, false, true);
    if (in.size() == 3) y += in[2];
    return {y};
  }

  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variable W = retained_input(1);
    Variables gradients;
    for (const int target : targets) {
      if (target == 0) {
        gradients.push_back(reshape(product(gy[0], cast(W, gy[0].dtype()), false, false), input_shape(0)));
      } else if (target == 1) {
        const Variable x = reshape(retained_input(0), {gy[0].shape(0), W.shape(1)});
        gradients.push_back(cast(product(gy[0], x, true, false), W.dtype()));
      } else {
        gradients.push_back(sum(gy[0], 0));
      }
    }
    return gradients;
  }

 private:
  bool has_graph_;
};

// Convolution and its two derivatives are linear in each operand, so the backward rule of each uses the other two.
class Convolution final : public FunctionNode {
 public:
  explicit Convolution(const ConvolutionSpec& spec) : spec_(spec) {}
  std::string label() const override { return "Convolution2DFunction"; }
  std::string_view input_names() const override { return "x W b"; }

  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() >= 2, in_types.size() <= 3);
    expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f');
    expect(in_types[0].ndim == 4, in_types[1].ndim == 4, in_types[0].shape[1] == in_types[1].shape[1]);
    if (in_types.count() == 3)
      expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
             in_types[2].shape[0] == in_types[1].shape[0]);
  }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {nn_extension(in[0]).convolution(in[0], in[1], in.size() == 3 ? in[2] : Array(), spec_)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override;

 private:
  ConvolutionSpec spec_;
};

// (w, gy) -> the gradient of a convolution's x.
class ConvolutionBackwardData final : public FunctionNode {
 public:
  ConvolutionBackwardData(const Dims& spatial, const ConvolutionSpec& spec) : spatial_(spatial), spec_(spec) {}
  std::string label() const override { return "Convolution2DBackwardData"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {nn_extension(in[1]).convolution_backward_data(in[0], in[1], spatial_, spec_)};
  }
  Variables backward(const Targets& targets, const Variables& ggx) override;

 private:
  Dims spatial_;
  ConvolutionSpec spec_;
};

// (x, gy) -> the gradient of a convolution's w.
class ConvolutionBackwardFilter final : public FunctionNode {
 public:
  ConvolutionBackwardFilter(const Dims& kernel, Dtype dtype, const ConvolutionSpec& spec)
      : kernel_(kernel), dtype_(dtype), spec_(spec) {}
  std::string label() const override { return "Convolution2DGradW"; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {nn_extension(in[0]).convolution_backward_filter(in[0], in[1], kernel_, dtype_, spec_)};
  }
  Variables backward(const Targets& targets, const Variables& ggw) override;

 private:
  Dims kernel_;
  Dtype dtype_;
  ConvolutionSpec spec_;
};

Dims spatial_of(const Shape& s) { return {s[2], s[3]}; }

Variables Convolution::backward(const Targets& targets, const Variables& gy) {
  Variables gradients;
  for (const int target : targets) {
    if (target == 0) {
      gradients.push_back(
          apply_node<ConvolutionBackwardData>({retained_input(1), gy[0]}, spatial_of(input_shape(0)), spec_)[0]);
    } else if (target == 1) {
      gradients.push_back(apply_node<ConvolutionBackwardFilter>({retained_input(0), gy[0]}, spatial_of(input_shape(1)),
                                                                input_dtype(1), spec_)[0]);
    } else {
      gradients.push_back(sum(gy[0], {0, 2, 3}));
    }
  }
  return gradients;
}

Variables ConvolutionBackwardData::backward(const Targets& targets, const Variables& ggx) {
  Variables gradients;
  for (const int target : targets) {
    if (target == 0)
      gradients.push_back(apply_node<ConvolutionBackwardFilter>({ggx[0], retained_input(1)}, spatial_of(input_shape(0)),
                                                                input_dtype(0), spec_)[0]);
    else gradients.push_back(apply_node<Convolution>({ggx[0], retained_input(0)}, spec_)[0]);
  }
  return gradients;
}

Variables ConvolutionBackwardFilter::backward(const Targets& targets, const Variables& ggw) {
  Variables gradients;
  for (const int target : targets) {
    if (target == 0)
      gradients.push_back(
          apply_node<ConvolutionBackwardData>({ggw[0], retained_input(1)}, spatial_of(input_shape(0)), spec_)[0]);
    else gradients.push_back(apply_node<Convolution>({retained_input(0), ggw[0]}, spec_)[0]);
  }
  return gradients;
}

Variables inputs_of(const Variable& x, const Variable& W, const Variable& b) {
  Variables inputs{x, W};
  if (b) inputs.push_back(b);
  return inputs;
}

}  // namespace

Variable linear(const Variable& x, const Variable& W, const Variable& b) {
  const Variables inputs = inputs_of(x, W, b);
  return apply_node<LinearFunction>(inputs, autograd::internal::plan_of(inputs).graph)[0];
}

Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b, const ConvolutionOptions& o) {
  const ConvolutionSpec spec{.stride = {o.stride.y, o.stride.x},
                             .pad = {o.pad.y, o.pad.x},
                             .dilate = {o.dilate.y, o.dilate.x},
                             .cover_all = o.cover_all};
  return apply_node<Convolution>(inputs_of(x, W, b), spec)[0];
}

}  // namespace nn
