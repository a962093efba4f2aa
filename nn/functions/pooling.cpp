#include <catena/nn/functions/pooling.h>

#include <catena/autograd/debug.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/nn_extension.h>
#include <catena/nn/functions/composed.h>
#include <catena/nn/functions/torch_batches.h>

namespace nn {

using autograd::apply_node;
using autograd::Arrays;
using autograd::Dims;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::NnExtension;
using autograd::PoolingSpec;
using autograd::Targets;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;
using catena::check;

namespace {

// The functions for images and for any number of axes have different labels in graphs.
enum class Family { two, any };

// The windows of a call, and which implementation computes it and its derivatives.
struct Call : PoolingSpec {
  std::optional<bool> use_cudnn;
  NnExtension& extension(const Array& x) const { return autograd::nn_extension(x, use_cudnn); }
};

class Pooling : public FunctionNode, public autograd::internal::HasOptions {
 public:
  Pooling(const Call& call, Family family) : call_(call), family_(family) {}
  void options(autograd::internal::FunctionOptions& o) const override {
    o.function(function());
    o.integers("size", call_.size);
    o.integers("stride", call_.stride);
    o.integers("pad", call_.pad);
    o.integer("cover_all", call_.cover_all);
  }
  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 1, in_types[0].dtype.kind() == 'f',
           in_types[0].ndim == variable(2 + call_.size.size(), "2 + number of spatial axes"));
  }

 protected:
  virtual const char* function() const = 0;  // the label without the number of axes
  std::string label() const override { return std::string(function()) + (family_ == Family::two ? "2D" : "ND"); }
  Call call_;
  Family family_;
};

Dims spatial_of(const autograd::Shape& s) {
  return Dims(std::span<const std::int64_t>(s.data() + 2, std::size_t(s.size() - 2)));
}

// The forward pass determines the position of the maximum of each window. For fixed indexes, pooling (a gather) and its
// gradient (a scatter) are linear and adjoint to each other.
class MaxPoolingSpread final : public FunctionNode {
 public:
  MaxPoolingSpread(const Call& call, const Array& indexes, const Dims& spatial)
      : call_(call), indexes_(indexes), spatial_(spatial) {}
  std::string label() const override { return "MaxPoolingGrad"; }
  Arrays forward(const Arrays& gy) override {
    return {call_.extension(gy[0]).max_pooling_backward(gy[0], indexes_, spatial_, call_)};
  }
  Variables backward(const Targets&, const Variables& ggx) override;

 private:
  Call call_;
  Array indexes_;
  Dims spatial_;
};

class MaxPoolingPick final : public FunctionNode {
 public:
  MaxPoolingPick(const Call& call, const Array& indexes) : call_(call), indexes_(indexes) {}
  std::string label() const override { return "MaxPoolingWithIndexes"; }
  Arrays forward(const Arrays& x) override {
    return {call_.extension(x[0]).max_pooling_by_index(x[0], indexes_, call_)};
  }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<MaxPoolingSpread>({gy[0]}, call_, indexes_, spatial_of(input_shape(0)));
  }

 private:
  Call call_;
  Array indexes_;
};

Variables MaxPoolingSpread::backward(const Targets&, const Variables& ggx) {
  return apply_node<MaxPoolingPick>({ggx[0]}, call_, indexes_);
}

class MaxPooling final : public Pooling {
 public:
  // Without `indexes` the maxima alone are computed, for calls that have no graph.
  MaxPooling(const Call& call, Family family, bool indexes = true) : Pooling(call, family), has_indexes_(indexes) {}
  const char* function() const override { return "MaxPooling"; }
  Arrays forward(const Arrays& x) override {
    if (!has_indexes_) return {call_.extension(x[0]).max_pooling_values(x[0], call_)};
    const Arrays result = call_.extension(x[0]).max_pooling(x[0], call_);
    indexes_ = result[1];
    return {result[0]};
  }
  const Array& indexes() const noexcept { return indexes_; }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<MaxPoolingSpread>({gy[0]}, call_, indexes_, spatial_of(input_shape(0)));
  }

 private:
  bool has_indexes_;
  Array indexes_;
};

class AveragePoolingSpread final : public FunctionNode {
 public:
  AveragePoolingSpread(const Call& call, Family family, const Dims& spatial)
      : call_(call), family_(family), spatial_(spatial) {}
  std::string label() const override { return "AveragePoolingGrad"; }
  Arrays forward(const Arrays& gy) override {
    return {call_.extension(gy[0]).average_pooling_backward(gy[0], spatial_, call_)};
  }
  Variables backward(const Targets&, const Variables& ggx) override;

 private:
  Call call_;
  Family family_;
  Dims spatial_;
};

class AveragePooling final : public Pooling {
 public:
  using Pooling::Pooling;
  const char* function() const override { return "AveragePooling"; }
  Arrays forward(const Arrays& x) override { return {call_.extension(x[0]).average_pooling(x[0], call_)}; }
  Variables backward(const Targets&, const Variables& gy) override {
    return apply_node<AveragePoolingSpread>({gy[0]}, call_, family_, spatial_of(input_shape(0)));
  }
};

Variables AveragePoolingSpread::backward(const Targets&, const Variables& ggx) {
  return apply_node<AveragePooling>({ggx[0]}, call_, family_);
}

// Of the functions for images.
template <class Options> Call call_of(Pair ksize, const Options& o) {
  const Pair step = o.stride.value_or(ksize);
  Call call{{.size = {ksize.y, ksize.x}, .stride = {step.y, step.x}, .pad = {o.pad.y, o.pad.x}}, o.use_cudnn};
  if constexpr (requires { o.cover_all; }) call.cover_all = o.cover_all;
  return call;
}

template <class Options> Call call_of(const char* op, int axes, const Lengths& ksize, const Options& o) {
  Call call{{.size = ksize.of(op, "ksize", axes),
             .stride = o.stride.value_or(ksize).of(op, "stride", axes),
             .pad = o.pad.of(op, "pad", axes)},
            {}};
  if constexpr (requires { o.cover_all; }) call.cover_all = o.cover_all;
  if constexpr (requires { o.use_cudnn; }) call.use_cudnn = o.use_cudnn;
  return call;
}

Variable maxima(const Variable& x, const Call& call, Family family) {
  return apply_node<MaxPooling>({x}, call, family, autograd::internal::graph_mode_of({&x, 1}).graph)[0];
}

MaxPoolingResult with_indices(const Variable& x, const Call& call, Family family) {
  const auto node = autograd::make_node<MaxPooling>(call, family);
  const Variable y = node->apply({x})[0];
  return {y, autograd::copy(node->indexes())};  // a copy, because backward reads the node's own array
}

Variable average(const char* op, const Variable& x, const Call& call, Family family,
                 const std::optional<double>& pad_value) {
  check<catena::ValueError>(!pad_value || *pad_value == 0, op, "pad_value is ", pad_value.value_or(0),
                            "; it must be 0, or absent where the padding is not to count");
  const Variable y = apply_node<AveragePooling>({x}, call, family)[0];
  if (pad_value) return y;
  // Computes the share of each window that is inside x.
  autograd::Shape shape = x.shape();
  shape[0] = shape[1] = 1;
  const Array ones = autograd::arrays::full(shape, 1.0, catena::compute_dtype(x.dtype()), x.device());
  return internal::narrowed(internal::wide(y) / call.extension(ones).average_pooling(ones, call), x.dtype());
}

}  // namespace

Variable max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& o) {
  return maxima(x, call_of(ksize, o), Family::two);
}
MaxPoolingResult max_pooling_2d(const Variable& x, Pair ksize, const MaxPoolingOptions& o, ReturnIndices) {
  return with_indices(x, call_of(ksize, o), Family::two);
}

namespace {
Call call_of_max(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& o) {
  autograd::experimental("max_pooling_nd");
  return call_of("max_pooling_nd", internal::spatial_axes("MaxPoolingND", x), ksize, o);
}
}  // namespace

Variable max_pooling_nd(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& o) {
  return maxima(x, call_of_max(x, ksize, o), Family::any);
}
MaxPoolingResult max_pooling_nd(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& o, ReturnIndices) {
  return with_indices(x, call_of_max(x, ksize, o), Family::any);
}

Variable average_pooling_2d(const Variable& x, Pair ksize, const AveragePoolingOptions& o) {
  return average("average_pooling_2d", x, call_of(ksize, o), Family::two, o.pad_value);
}
Variable average_pooling_nd(const Variable& x, const Lengths& ksize, const AveragePoolingNdOptions& o) {
  autograd::experimental("average_pooling_nd");
  const Call call = call_of("average_pooling_nd", internal::spatial_axes("AveragePoolingND", x), ksize, o);
  return average("average_pooling_nd", x, call, Family::any, o.pad_value);
}

Variable max_pooling_1d(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& o) {
  return maxima(x, call_of("max_pooling_1d", 1, ksize, o), Family::any);
}
Variable max_pooling_3d(const Variable& x, const Lengths& ksize, const MaxPoolingNdOptions& o) {
  return maxima(x, call_of("max_pooling_3d", 3, ksize, o), Family::any);
}
Variable average_pooling_1d(const Variable& x, const Lengths& ksize, const AveragePoolingNdOptions& o) {
  return average("average_pooling_1d", x, call_of("average_pooling_1d", 1, ksize, o), Family::any, o.pad_value);
}
Variable average_pooling_3d(const Variable& x, const Lengths& ksize, const AveragePoolingNdOptions& o) {
  return average("average_pooling_3d", x, call_of("average_pooling_3d", 3, ksize, o), Family::any, o.pad_value);
}

Variable internal::max_windows(const char* op, const Variable& x, const Lengths& size, const MaxPoolingNdOptions& o) {
  const int axes = internal::spatial_axes(op, x);
  return maxima(x, call_of(op, axes, size, o), axes == 2 ? Family::two : Family::any);
}
MaxPoolingResult internal::max_windows_with_indices(const char* op, const Variable& x, const Lengths& size,
                                                    const MaxPoolingNdOptions& o) {
  const int axes = internal::spatial_axes(op, x);
  return with_indices(x, call_of(op, axes, size, o), axes == 2 ? Family::two : Family::any);
}
Variable internal::average_windows(const char* op, const Variable& x, const Lengths& size,
                                   const AveragePoolingNdOptions& o) {
  const int axes = internal::spatial_axes(op, x);
  return average(op, x, call_of(op, axes, size, o), axes == 2 ? Family::two : Family::any, o.pad_value);
}
Variable internal::maximum_of_windows(const Variable& x, const Lengths& size) {
  const MaxPoolingNdOptions o{.cover_all = false};
  return maxima(x, call_of("adaptive_max_pooling_nd", x.ndim() - 2, size, o), Family::any);
}
Variable internal::average_of_windows(const Variable& x, const Lengths& size) {
  const AveragePoolingNdOptions o;
  return average("adaptive_average_pooling_nd", x, call_of("adaptive_average_pooling_nd", x.ndim() - 2, size, o),
                 Family::any, o.pad_value);
}

// ---- inverses -----------------------------------------------------------------------------------
namespace {

autograd::ConvolutionSpec as_convolution(const PoolingSpec& s) {
  return {.stride = s.stride, .pad = s.pad, .dilate = {}, .cover_all = s.cover_all};
}

// The sums of the windows: the adjoint of writing every element to its whole window.
class WindowSum final : public FunctionNode {
 public:
  explicit WindowSum(const Call& call) : call_(call) {}
  std::string label() const override { return "WindowSum"; }
  Arrays forward(const Arrays& x) override {
    Dims window;
    for (int a = 0; a < call_.size.size(); ++a) window.push_back(2 + a);
    return {autograd::sum(call_.extension(x[0]).im2col(x[0], call_.size, as_convolution(call_)), window)};
  }
  Variables backward(const Targets&, const Variables& gy) override;

 private:
  Call call_;
};

class Unpooling final : public Pooling {
 public:
  Unpooling(const Call& call, Family family, const Dims& spatial) : Pooling(call, family), spatial_(spatial) {}
  const char* function() const override { return "Unpooling"; }
  Arrays forward(const Arrays& x) override {
    const Array& y = x[0];
    autograd::Shape one{y.shape(0), y.shape(1)}, all = one;
    for (int a = 0; a < call_.size.size(); ++a) {
      one.push_back(1);
      all.push_back(call_.size[a]);
    }
    for (int a = 2; a < y.ndim(); ++a) {
      one.push_back(y.shape(a));
      all.push_back(y.shape(a));
    }
    return {call_.extension(y).col2im(autograd::broadcast_to(autograd::reshape(y, one), all), spatial_,
                                      as_convolution(call_))};
  }
  Variables backward(const Targets&, const Variables& gy) override { return apply_node<WindowSum>({gy[0]}, call_); }

 private:
  Dims spatial_;
};

Variables WindowSum::backward(const Targets&, const Variables& gy) {
  return apply_node<Unpooling>({gy[0]}, call_, Family::any, spatial_of(input_shape(0)));
}

struct Geometry {
  Call call;
  Dims spatial;  // of the result
};

Geometry geometry_of(const char* op, const char* label, const Variable& x, const Lengths& ksize,
                     const UnpoolingOptions& o) {
  Geometry g{call_of(op, internal::spatial_axes(label, x), ksize, o), {}};
  const int axes = g.call.size.size();
  if (o.outsize) g.spatial = o.outsize->of(op, "outsize", axes);
  for (int a = 0; a < axes; ++a) {
    const std::int64_t n = x.shape(a + 2), k = g.call.size[a], s = g.call.stride[a], p = g.call.pad[a];
    check<catena::ValueError>(k >= 1 && s >= 1 && p >= 0, op, "ksize ", k, " and stride ", s,
                              " must be at least 1 and pad ", p, " at least 0");
    if (!o.outsize) g.spatial.push_back(autograd::get_deconv_outsize(n, k, s, p, o.cover_all));
    check<catena::AssertionError>(g.spatial[a] >= 0, op, "Output sizes should not be negative, they are ", g.spatial);
    const std::int64_t back = autograd::get_conv_outsize(g.spatial[a], k, s, p, o.cover_all);
    if (o.outsize && back != n)
      throw catena::InvalidType(catena::concat("get_conv_outsize(outsize[", a, "], ...) == x.shape[", a + 2, "]"),
                                catena::concat(back, " != ", n),
                                catena::concat("Invalid operation is performed in: ", label, " (Forward)\n\n"));
  }
  return g;
}

void check_image(const char* label, const Variable& x) {
  internal::check_inputs(label, "x", {x}, [](const TypeInfoTuple& in_types) {
    using namespace autograd::type_check;
    expect(in_types[0].dtype.kind() == 'f', in_types[0].ndim == 4);
  });
}

}  // namespace

Variable unpooling_2d(const Variable& x, const Lengths& ksize, const UnpoolingOptions& o) {
  check_image("Unpooling2D", x);
  const Geometry g = geometry_of("unpooling_2d", "Unpooling2D", x, ksize, o);
  return apply_node<Unpooling>({x}, g.call, Family::two, g.spatial)[0];
}

Variable unpooling_nd(const Variable& x, const Lengths& ksize, const UnpoolingOptions& o) {
  autograd::experimental("unpooling_nd");
  const Geometry g = geometry_of("unpooling_nd", "UnpoolingND", x, ksize, o);
  return apply_node<Unpooling>({x}, g.call, Family::any, g.spatial)[0];
}

Variable upsampling_2d(const Variable& x, const Array& indexes, const Lengths& ksize, const UnpoolingOptions& o) {
  check_image("Upsampling2D", x);
  if (!indexes || indexes.shape() != x.shape() || !catena::is_integer(indexes.dtype()))
    throw catena::InvalidType(
        "indexes are integers of the shape of x",
        indexes ? catena::concat(indexes.dtype(), " of ", indexes.shape(), " for x ", x.shape()) : "no array");
  const Geometry g = geometry_of("upsampling_2d", "Upsampling2D", x, ksize, o);
  return apply_node<MaxPoolingSpread>({x}, g.call, autograd::astype(indexes, Dtype::int32), g.spatial)[0];
}

}  // namespace nn
