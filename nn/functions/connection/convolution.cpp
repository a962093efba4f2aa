// Convolutions of images.
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/nn_extension.h>
#include <catena/nn/functions/connection.h>

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
    expect(in_types[0].ndim == 4, in_types[1].ndim == 4);
    if (spec_.groups == 1) {
      expect(in_types[0].shape[1] == in_types[1].shape[1]);
    } else {
      const auto groups = variable(spec_.groups, "groups");
      expect(in_types[0].shape[1] == in_types[1].shape[1] * groups, in_types[1].shape[0] % groups == 0);
    }
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

// (w, gy) -> the gradient of a convolution's x, which is also the transposed convolution of gy.
class ConvolutionBackwardData final : public FunctionNode {
 public:
  ConvolutionBackwardData(const Dims& spatial, const ConvolutionSpec& spec,
                          const char* label = "Convolution2DBackwardData")
      : spatial_(spatial), spec_(spec), label_(label) {}
  std::string label() const override { return label_; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {nn_extension(in[1]).convolution_backward_data(in[0], in[1], spatial_, spec_)};
  }
  Variables backward(const Targets& targets, const Variables& ggx) override;

 private:
  Dims spatial_;
  ConvolutionSpec spec_;
  const char* label_;
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

void check_groups(const char* op, int groups) {
  catena::check<catena::ValueError>(groups >= 1, op, "there are ", groups, " groups; at least 1 is needed");
}

}  // namespace

Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b, const ConvolutionOptions& o) {
  const ConvolutionSpec spec{.stride = {o.stride.y, o.stride.x},
                             .pad = {o.pad.y, o.pad.x},
                             .dilate = {o.dilate.y, o.dilate.x},
                             .groups = o.groups,
                             .cover_all = o.cover_all};
  check_groups("convolution_2d", o.groups);
  return apply_node<Convolution>(inputs_of(x, W, b), spec)[0];
}

// The filters of the channels as those of as many groups, in the order of the output channels.
Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                  const DepthwiseConvolutionOptions& o) {
  const Variables inputs = inputs_of(x, W, b);
  autograd::internal::check_input_types(
      "DepthwiseConvolution2D", inputs,
      [](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f', in_types[0].ndim == 4,
               in_types[1].ndim == 4, in_types[0].shape[1] == in_types[1].shape[1]);
        if (in_types.count() == 3)
          expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
                 in_types[2].shape[0] == in_types[1].shape[0] * in_types[1].shape[1]);
      },
      "x W b");
  const std::int64_t D = W.shape(0), C = W.shape(1);
  const Variable filters = reshape(transpose(W, {1, 0, 2, 3}), {C * D, 1, W.shape(2), W.shape(3)});
  const ConvolutionSpec spec{
      .stride = {o.stride.y, o.stride.x}, .pad = {o.pad.y, o.pad.x}, .dilate = {o.dilate.y, o.dilate.x}, .groups = C};
  return apply_node<Convolution>(inputs_of(x, filters, b), spec)[0];
}

Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b, const DeconvolutionOptions& o) {
  constexpr const char* label = "Deconvolution2DFunction";
  check_groups("deconvolution_2d", o.groups);
  const ConvolutionSpec spec{.stride = {o.stride.y, o.stride.x},
                             .pad = {o.pad.y, o.pad.x},
                             .dilate = {o.dilate.y, o.dilate.x},
                             .groups = o.groups};
  const auto reach = [&](const Shape& w, int k) { return (w[2 + k] - 1) * spec.dilate[k] + 1; };
  autograd::internal::check_input_types(
      label, inputs_of(x, W, b),
      [&](const TypeInfoTuple& in_types) {
        using namespace autograd::type_check;
        expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f', in_types[0].ndim == 4,
               in_types[1].ndim == 4, in_types[0].shape[1] == in_types[1].shape[0]);
        const auto groups = variable(o.groups, "groups");
        if (o.groups != 1) expect(in_types[0].shape[1] % groups == 0);
        if (in_types.count() == 3)
          expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
                 in_types[2].shape[0] == in_types[1].shape[1] * groups);
        if (!o.outsize) return;
        const Shape& w = in_types.shape(1);
        for (int k = 0; k < 2; ++k) {
          const std::int64_t size = k == 0 ? o.outsize->y : o.outsize->x;
          expect(variable(autograd::get_conv_outsize(size, reach(w, k), spec.stride[k], spec.pad[k]),
                          "get_conv_outsize(outsize)") == in_types[0].shape[2 + k]);
        }
      },
      "x W b");
  Dims size;
  for (int k = 0; k < 2; ++k) {
    size.push_back(
        o.outsize ? (k == 0 ? o.outsize->y : o.outsize->x)
                  : autograd::get_deconv_outsize(x.shape(2 + k), reach(W.shape(), k), spec.stride[k], spec.pad[k]));
    catena::check<catena::AssertionError>(size[k] > 0, "deconvolution_2d",
                                          "Height/Width in the output should be positive; they are ", size);
  }
  const Variable y = apply_node<ConvolutionBackwardData>({W, x}, size, spec, label)[0];
  return b ? bias(y, b) : y;
}

}  // namespace nn
