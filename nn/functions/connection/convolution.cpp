// Convolutions over one or more spatial axes, and their transposes.
#include <catena/autograd/config.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/input_types.h>
#include <catena/autograd/nn_extension.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/connection/geometry.h>

namespace nn {

using autograd::apply_node;
using autograd::Array;
using autograd::Arrays;
using autograd::ConvolutionSpec;
using autograd::Dims;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::NnExtension;
using autograd::Shape;
using autograd::Targets;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;

namespace {

// Labels in graphs of a convolution, of its transpose and of the gradient of its filters.
struct Labels {
  const char *convolution, *transposed, *filters;
};
constexpr Labels kImages{"Convolution2DFunction", "Convolution2DBackwardData", "Convolution2DGradW"};
constexpr Labels kDilated{"DilatedConvolution2DFunction", "DilatedConvolution2DBackwardData",
                          "DilatedConvolution2DGradW"};
constexpr Labels kAnyRank{"ConvolutionND", "ConvolutionNDBackwardData", "ConvolutionNDGradW"};
constexpr Labels kTransposed{"Convolution2DFunction", "Deconvolution2DFunction", "Convolution2DGradW"};
constexpr Labels kTransposedAnyRank{"ConvolutionND", "DeconvolutionND", "ConvolutionNDGradW"};

// A convolution with all its options, which its derivatives use as well.
struct Call {
  ConvolutionSpec spec;
  bool use_cudnn;
  const Labels* labels;

  int axes() const { return spec.stride.size(); }
  NnExtension& extension(const Array& x) const { return autograd::nn_extension(x, use_cudnn); }
  void add_to(autograd::internal::FunctionOptions& o) const {
    o.integers("stride", spec.stride);
    o.integers("pad", spec.pad);
    o.integers("dilate", spec.dilate);
    o.integer("groups", spec.groups);
    o.integer("cover_all", spec.cover_all);
  }
};

template <class Options> Call call_of(const char* op, int axes, const Options& o, const Labels& labels) {
  catena::check<catena::ValueError>(o.groups >= 1, op, "there are ", o.groups, " groups; at least 1 is needed");
  internal::check_geometry(op, o, axes);
  const autograd::internal::CudnnModes& modes = autograd::internal::cudnn_modes();
  Call call{.spec = {.stride = Lengths(o.stride).of(op, "stride", axes),
                     .pad = Lengths(o.pad).of(op, "pad", axes),
                     .dilate = Lengths(o.dilate).of(op, "dilate", axes),
                     .groups = o.groups,
                     .deterministic = o.deterministic.value_or(modes.deterministic)},
            .use_cudnn = o.use_cudnn.value_or(modes.uses_cudnn()),
            .labels = &labels};
  if constexpr (requires { o.cover_all; }) call.spec.cover_all = o.cover_all;
  return call;
}

// Convolution and its two derivatives are linear in each operand, so the backward rule of each uses the other two.
class Convolution final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit Convolution(const Call& call) : call_(call) {}
  std::string label() const override { return call_.labels->convolution; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.function("Convolution");
    call_.add_to(o);
  }
  std::string_view input_names() const override { return "x W b"; }

  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    const int ndim = 2 + call_.axes();
    expect(in_types.size() >= 2, in_types.size() <= 3);
    expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f');
    expect(in_types[0].ndim == ndim, in_types[1].ndim == ndim);
    if (call_.spec.groups == 1) {
      expect(in_types[0].shape[1] == in_types[1].shape[1]);
    } else {
      const auto groups = variable(call_.spec.groups, "groups");
      expect(in_types[0].shape[1] == in_types[1].shape[1] * groups, in_types[1].shape[0] % groups == 0);
    }
    if (in_types.count() == 3)
      expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
             in_types[2].shape[0] == in_types[1].shape[0]);
  }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {call_.extension(in[0]).convolution(in[0], in[1], in.size() == 3 ? in[2] : Array(), call_.spec)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override;

 private:
  Call call_;
};

// Computes from (w, gy) the gradient of a convolution's x, which is also the transposed convolution of gy.
class TransposedConvolution final : public FunctionNode, public autograd::internal::HasOptions {
 public:
  TransposedConvolution(const Dims& spatial, const Call& call) : spatial_(spatial), call_(call) {}
  std::string label() const override { return call_.labels->transposed; }
  void options(autograd::internal::FunctionOptions& o) const override {
    o.function("Deconvolution");
    o.integers("spatial", spatial_);
    call_.add_to(o);
  }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {call_.extension(in[1]).convolution_backward_data(in[0], in[1], spatial_, call_.spec)};
  }
  Variables backward(const Targets& targets, const Variables& ggx) override;

 private:
  Dims spatial_;
  Call call_;
};

// Computes from (x, gy) the gradient of a convolution's w.
class FilterGradient final : public FunctionNode {
 public:
  FilterGradient(const Dims& kernel, Dtype dtype, const Call& call) : kernel_(kernel), dtype_(dtype), call_(call) {}
  std::string label() const override { return call_.labels->filters; }
  Arrays forward(const Arrays& in) override {
    retain_inputs({0, 1});
    return {call_.extension(in[0]).convolution_backward_filter(in[0], in[1], kernel_, dtype_, call_.spec)};
  }
  Variables backward(const Targets& targets, const Variables& ggw) override;

 private:
  Dims kernel_;
  Dtype dtype_;
  Call call_;
};

Dims spatial_of(const Shape& s) { return Dims(std::span<const std::int64_t>(s.data() + 2, std::size_t(s.size() - 2))); }

Variables Convolution::backward(const Targets& targets, const Variables& gy) {
  Variables gradients;
  for (const int target : targets) {
    if (target == 0) {
      gradients.push_back(
          apply_node<TransposedConvolution>({retained_input(1), gy[0]}, spatial_of(input_shape(0)), call_)[0]);
    } else if (target == 1) {
      gradients.push_back(
          apply_node<FilterGradient>({retained_input(0), gy[0]}, spatial_of(input_shape(1)), input_dtype(1), call_)[0]);
    } else {
      Dims all_but_channels{0};
      for (int axis = 2; axis < gy[0].ndim(); ++axis) all_but_channels.push_back(axis);
      gradients.push_back(sum(gy[0], all_but_channels));
    }
  }
  return gradients;
}

Variables TransposedConvolution::backward(const Targets& targets, const Variables& ggx) {
  Variables gradients;
  for (const int target : targets) {
    if (target == 0)
      gradients.push_back(apply_node<FilterGradient>({ggx[0], retained_input(1)}, spatial_of(input_shape(0)),
                                                     input_dtype(0), call_)[0]);
    else gradients.push_back(apply_node<Convolution>({ggx[0], retained_input(0)}, call_)[0]);
  }
  return gradients;
}

Variables FilterGradient::backward(const Targets& targets, const Variables& ggw) {
  Variables gradients;
  for (const int target : targets) {
    if (target == 0)
      gradients.push_back(
          apply_node<TransposedConvolution>({ggw[0], retained_input(1)}, spatial_of(input_shape(0)), call_)[0]);
    else gradients.push_back(apply_node<Convolution>({retained_input(0), ggw[0]}, call_)[0]);
  }
  return gradients;
}

Variables inputs_of(const Variable& x, const Variable& W, const Variable& b) {
  Variables inputs{x, W};
  if (b) inputs.push_back(b);
  return inputs;
}

// Returns the length along an axis of the window of a filter (., ., k1, ..., kN).
std::int64_t reach(const Shape& w, int axis, const ConvolutionSpec& spec) {
  return (w[2 + axis] - 1) * spec.dilate[axis] + 1;
}

void check_transposed(const TypeInfoTuple& in_types, const ConvolutionSpec& spec, const std::optional<Dims>& outsize) {
  using namespace autograd::type_check;
  const int axes = spec.stride.size();
  expect(in_types[0].dtype.kind() == 'f', in_types[1].dtype.kind() == 'f', in_types[0].ndim == 2 + axes,
         in_types[1].ndim == 2 + axes, in_types[0].shape[1] == in_types[1].shape[0]);
  const auto groups = variable(spec.groups, "groups");
  if (spec.groups != 1) expect(in_types[0].shape[1] % groups == 0);
  if (in_types.count() == 3)
    expect(in_types[2].dtype == in_types[0].dtype, in_types[2].ndim == 1,
           in_types[2].shape[0] == in_types[1].shape[1] * groups);
  if (!outsize) return;
  for (int k = 0; k < axes; ++k) {
    const std::int64_t back =
        autograd::get_conv_outsize((*outsize)[k], reach(in_types.shape(1), k, spec), spec.stride[k], spec.pad[k]);
    expect(variable(back, "get_conv_outsize(outsize)") == in_types[0].shape[2 + k]);
  }
}

Variable transposed(const char* op, const Variable& x, const Variable& W, const Variable& b, const Call& call,
                    const std::optional<Dims>& outsize) {
  const ConvolutionSpec& spec = call.spec;
  autograd::internal::check_input_types(
      call.labels->transposed, inputs_of(x, W, b),
      [&](const TypeInfoTuple& in_types) { check_transposed(in_types, spec, outsize); }, "x W b");
  Dims size;
  for (int k = 0; k < call.axes(); ++k)
    size.push_back(
        outsize ? (*outsize)[k]
                : autograd::get_deconv_outsize(x.shape(2 + k), reach(W.shape(), k, spec), spec.stride[k], spec.pad[k]));
  for (const std::int64_t length : size)
    catena::check<catena::AssertionError>(length > 0, op,
                                          call.axes() == 2 ? "Height/Width in the output" : "Output sizes",
                                          " should be positive; they are ", size);
  const Variable y = apply_node<TransposedConvolution>({W, x}, size, call)[0];
  return b ? bias(y, b) : y;
}

}  // namespace

Variable convolution_2d(const Variable& x, const Variable& W, const Variable& b, const ConvolutionOptions& o) {
  return apply_node<Convolution>(inputs_of(x, W, b), call_of("convolution_2d", 2, o, kImages))[0];
}

Variable dilated_convolution_2d(const Variable& x, const Variable& W, const Variable& b, const ConvolutionOptions& o) {
  return apply_node<Convolution>(inputs_of(x, W, b), call_of("dilated_convolution_2d", 2, o, kDilated))[0];
}

Variable convolution_nd(const Variable& x, const Variable& W, const Variable& b, const ConvolutionNdOptions& o) {
  const int axes = internal::spatial_axes(kAnyRank.convolution, x);
  return apply_node<Convolution>(inputs_of(x, W, b), call_of("convolution_nd", axes, o, kAnyRank))[0];
}

// Implemented as a convolution with one group per channel; the filters are brought into the order of the output
// channels.
Variable depthwise_convolution_2d(const Variable& x, const Variable& W, const Variable& b,
                                  const DepthwiseConvolutionOptions& o) {
  constexpr const char* op = "depthwise_convolution_2d";
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
  Call call = call_of(op, 2, ConvolutionOptions{.stride = o.stride, .pad = o.pad, .dilate = o.dilate}, kImages);
  call.spec.groups = C;
  return apply_node<Convolution>(inputs_of(x, filters, b), call)[0];
}

Variable deconvolution_2d(const Variable& x, const Variable& W, const Variable& b, const DeconvolutionOptions& o) {
  constexpr const char* op = "deconvolution_2d";
  std::optional<Dims> outsize;
  if (o.outsize) outsize = Dims{o.outsize->y, o.outsize->x};
  return transposed(op, x, W, b, call_of(op, 2, o, kTransposed), outsize);
}

Variable deconvolution_nd(const Variable& x, const Variable& W, const Variable& b, const DeconvolutionNdOptions& o) {
  constexpr const char* op = "deconvolution_nd";
  const int axes = internal::spatial_axes(kTransposedAnyRank.transposed, x);
  std::optional<Dims> outsize;
  if (o.outsize) outsize = o.outsize->of(op, "outsize", axes);
  return transposed(op, x, W, b, call_of(op, axes, o, kTransposedAnyRank), outsize);
}

Variable convolution_1d(const Variable& x, const Variable& W, const Variable& b, const ConvolutionNdOptions& o) {
  internal::expect_rank("convolution_1d", x, 3);
  return convolution_nd(x, W, b, o);
}
Variable convolution_3d(const Variable& x, const Variable& W, const Variable& b, const ConvolutionNdOptions& o) {
  internal::expect_rank("convolution_3d", x, 5);
  return convolution_nd(x, W, b, o);
}
Variable deconvolution_1d(const Variable& x, const Variable& W, const Variable& b, const DeconvolutionNdOptions& o) {
  internal::expect_rank("deconvolution_1d", x, 3);
  return deconvolution_nd(x, W, b, o);
}
Variable deconvolution_3d(const Variable& x, const Variable& W, const Variable& b, const DeconvolutionNdOptions& o) {
  internal::expect_rank("deconvolution_3d", x, 5);
  return deconvolution_nd(x, W, b, o);
}

}  // namespace nn
