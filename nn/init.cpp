#include <catena/nn/init.h>

#include <cmath>

#include <catena/kernels/base/error.h>

namespace nn::init {

void internal::fill(const char* name, const Variable& w, const Initializer& initializer) {
  catena::check<catena::ValueError>(bool(w.data()), name,
                                    "the parameter has no values yet: call the layer once before, give it its sizes, ",
                                    "or give it an initializer (.initialW)");
  initializer(w.data());
}

void uniform_(const Variable& w, double a, double b) {
  catena::check<catena::ValueError>(a <= b, "uniform_", "the bounds are ", a, " and ", b, "; they must not decrease");
  internal::fill("uniform_", w, Initializer([a, b](const Array& array) {
                   initializers::Uniform((b - a) / 2)(array);
                   autograd::assign(array, array + (a + b) / 2);
                 }));
}

void normal_(const Variable& w, double mean, double std) {
  catena::check<catena::ValueError>(std >= 0, "normal_", "std is ", std, " and must not be negative");
  internal::fill("normal_", w, Initializer([mean, std](const Array& array) {
                   initializers::Normal(std)(array);
                   autograd::assign(array, array + mean);
                 }));
}

double calculate_gain(std::string_view nonlinearity, double a) {
  if (nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity == "conv2d") return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "selu") return 0.75;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  catena::check<catena::ValueError>(nonlinearity == "leaky_relu", "calculate_gain", "the nonlinearity \"", nonlinearity,
                                    "\" is none of linear, sigmoid, conv2d, tanh, selu, relu and leaky_relu");
  return std::sqrt(2 / (1 + a * a));
}

namespace {
// The deviation: the gain by the root of the number of inputs of an element of the result, or of results of an input.
double kaiming_deviation(const char* name, const Variable& w, const KaimingOptions& o) {
  catena::check<catena::ValueError>(o.mode == "fan_in" || o.mode == "fan_out", name, "mode is \"", o.mode,
                                    "\"; it is fan_in or fan_out");
  const double gain = calculate_gain(o.nonlinearity, o.a);
  catena::check<catena::ValueError>(bool(w.data()) && w.ndim() >= 2, name,
                                    "the fans are those of a parameter with values, of two or more axes");
  const double fan = double(w.size()) / double(w.shape(o.mode == "fan_in" ? 0 : 1));
  return gain / std::sqrt(fan);
}
}  // namespace

void kaiming_uniform_(const Variable& w, const KaimingOptions& o) {
  const double bound = std::sqrt(3.0) * kaiming_deviation("kaiming_uniform_", w, o);
  uniform_(w, -bound, bound);
}
void kaiming_normal_(const Variable& w, const KaimingOptions& o) {
  normal_(w, 0, kaiming_deviation("kaiming_normal_", w, o));
}
void trunc_normal_(const Variable& w, const TruncNormalOptions& o) {
  catena::check<catena::ValueError>(o.std > 0 && o.a < o.b, "trunc_normal_", "std is ", o.std, " and the bounds are ",
                                    o.a, " and ", o.b, "; std must be positive and the bounds must increase");
  internal::fill("trunc_normal_", w, Initializer([o](const Array& array) {
                   initializers::TruncatedNormal(o.std, o.a - o.mean, o.b - o.mean)(array);
                   autograd::assign(array, array + o.mean);
                 }));
}

}  // namespace nn::init
