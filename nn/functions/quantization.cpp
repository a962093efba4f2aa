#include <catena/nn/functions/quantization.h>

#include <cmath>
#include <limits>

#include <catena/autograd/function_node.h>
#include <catena/autograd/function_options.h>
#include <catena/autograd/input_types.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/families.h>

namespace nn {

using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;
using autograd::type_check::TypeInfoTuple;
namespace kernels = catena::kernels;

namespace {

// The scales in a shape that broadcasts along the channels.
Array along(const Array& scale, int axis, int ndim) {
  Shape shape = Shape::filled(ndim, 1);
  shape[axis] = scale.size();
  return autograd::reshape(scale, shape);
}

// The greatest |w| of each channel, of the shape (channels); NaN if there is one.
Array greatest_of_channels(const Array& w, int axis) {
  if (w.size() == 0) return autograd::arrays::full({w.shape(axis)}, 0, w.dtype(), w.device());
  const Array magnitudes = autograd::apply(kernels::absolute, {w});
  catena::Dims others;
  for (int a = 0; a < w.ndim(); ++a)
    if (a != axis) others.push_back(a);
  return others.size() == 0 ? magnitudes : autograd::amax(magnitudes, others);
}

void check_finite(const Array& greatest) {
  const std::vector<double> values = autograd::to_vector<double>(greatest);
  for (std::size_t k = 0; k < values.size(); ++k)
    catena::check<catena::ValueError>(std::isfinite(values[k]), "quantize_per_channel", "the weights of channel ", k,
                                      " have NaN or infinity, which no integer stands for");
}

class Dequantize final : public autograd::FunctionNode, public autograd::internal::HasOptions {
 public:
  explicit Dequantize(int axis) : axis_(axis) {}
  std::string label() const override { return "Dequantize"; }
  std::string_view input_names() const override { return "values scale"; }
  void options(autograd::internal::FunctionOptions& o) const override { o.integer("axis", axis_); }

  void check_type_forward(const TypeInfoTuple& in_types) const override {
    using namespace autograd::type_check;
    expect(in_types.size() == 2);
    expect(in_types[0].dtype == Dtype::int8, in_types[1].dtype.kind() == 'f', in_types[1].ndim == 1);
    expect(in_types[1].shape[0] == in_types[0].shape[axis_]);
  }
  Arrays forward(const Arrays& in) override {
    return {autograd::astype(in[0] * along(in[1], axis_, in[0].ndim()), in[1].dtype())};
  }
  Variables backward(const autograd::Targets&, const Variables&) override {
    catena::fail<catena::RuntimeError>(
        "dequantize",
        "int8 weights have no gradients: train the model in float32 and call nn::quantize_weights() "
        "afterwards, or freeze their scales with disable_update(\"*/W_scale\")");
  }

 private:
  int axis_;
};

}  // namespace

QuantizedWeight quantize_per_channel(const Array& w, int axis) {
  catena::check<catena::TypeError>(bool(w) && catena::is_floating(w.dtype()), "quantize_per_channel",
                                   "weights must be floating");
  axis = catena::normalize_axis("quantize_per_channel", axis, w.ndim());
  const Array wide = autograd::astype(w, Dtype::float32), greatest = greatest_of_channels(wide, axis);
  check_finite(greatest);
  // A channel of zeros, or of numbers that the division makes zero, has a scale that is no zero either.
  const Array scale = autograd::apply(kernels::maximum, {greatest / 127.5, double(std::numeric_limits<float>::min())});
  const Array rounded = autograd::apply(kernels::rint, {wide * along(1 / scale, axis, w.ndim())});
  const Array limited =
      autograd::apply(kernels::minimum, {autograd::apply(kernels::maximum, {rounded, -128.0}), 127.0});
  return {autograd::astype(limited, Dtype::int8), scale};
}

Variable dequantize(const Variable& values, const Variable& scale, int axis) {
  if (values) axis = catena::normalize_axis("dequantize", axis, values.ndim());
  return autograd::apply_node<Dequantize>({values, scale}, axis)[0];
}

}  // namespace nn
