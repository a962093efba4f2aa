#include <catena/nn/initializer.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/config.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/special.h>

namespace nn {

using autograd::Array;
using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::ValueError;

Initializer::Initializer(double constant) : fill_([constant](const Array& a) { autograd::fill(a, constant); }) {}
Initializer::Initializer(const Array& values)
    : fill_([values](const Array& a) {
        const int first = a.ndim() - values.ndim();
        bool fits = first >= 0;
        for (int k = 0; fits && k < values.ndim(); ++k)
          fits = values.shape(k) == a.shape(first + k) || values.shape(k) == 1;
        check<ValueError>(fits, "Initializer", "values of the shape ", values.shape(),
                          " cannot be broadcast to a parameter of the shape ", a.shape());
        autograd::assign(a, values);
      }),
      array_(values) {}

void Initializer::operator()(const Array& a) const {
  check<catena::AssertionError>(!dtype_ || a.dtype() == *dtype_, "Initializer", "it is for arrays of ",
                                dtype_.value_or(a.dtype()), ", this one is ", a.dtype());
  fill_(a);
}

Fans get_fans(const Shape& shape) {
  check<ValueError>(shape.size() >= 2, "get_fans", "the shape ", shape, " has fewer than 2 axes");
  std::int64_t in = 1;
  for (int i = 1; i < shape.size(); ++i) in *= shape[i];
  return {in, shape[0]};
}

Array generate_array(const Initializer& initializer, const Shape& shape, std::optional<autograd::Device> device) {
  Array a = autograd::arrays::empty(shape, autograd::get_dtype(initializer.dtype()), device);
  initializer(a);
  return a;
}

Array internal::generate_array_of(const Initializer& initializer, const Shape& shape, autograd::Dtype dtype,
                                  std::optional<autograd::Device> device) {
  const autograd::Dtype own = initializer.dtype().value_or(dtype);
  catena::check<catena::ValueError>(own == dtype, "generate_array", "the initializer makes ", own,
                                    " arrays, but the dtype given is ", dtype);
  Array a = autograd::arrays::empty(shape, dtype, device);
  initializer(a);
  return a;
}

void init_weight(const Array& weights, const Initializer& initializer, double scale) {
  if (initializer) initializer(weights);
  else initializers::HeNormal(1 / std::sqrt(2.0))(weights);
  if (scale != 1.0) {
    Array in_place = weights;
    in_place *= scale;
  }
}

Initializer scaled_initializer(const Initializer& initializer, double scale) {
  return {[initializer, scale](const Array& a) { init_weight(a, initializer, scale); }, initializer.dtype()};
}

namespace initializers {
namespace {

autograd::Generator& generator_of(autograd::Generator* rng) { return rng ? *rng : autograd::default_generator(); }
void fill_normal(const Array& a, double stddev, autograd::Generator* rng) {
  autograd::assign(a, autograd::random_normal(a.shape(), 0.0, stddev, a.dtype(), generator_of(rng), a.device()));
}
void fill_uniform(const Array& a, double bound, autograd::Generator* rng) {
  autograd::assign(a, autograd::random_uniform(a.shape(), -bound, bound, a.dtype(), generator_of(rng), a.device()));
}
// Initializers of a deviation or a bound that follows from the array.
template <class F> Initializer normal_of(F stddev, Options o) {
  return {[stddev, rng = o.rng](const Array& a) { fill_normal(a, stddev(a), rng); }, o.dtype};
}
template <class F> Initializer uniform_of(F bound, Options o) {
  return {[bound, rng = o.rng](const Array& a) { fill_uniform(a, bound(a), rng); }, o.dtype};
}
double fan_sum(const Array& a) {
  const Fans f = get_fans(a.shape());
  return double(f.fan_in + f.fan_out);
}
double fan_in(const Array& a) { return double(get_fans(a.shape()).fan_in); }

// Orthonormalizes the rows by Gram-Schmidt, twice: the second pass removes the rounding errors of the first.
void orthonormalize_rows(std::vector<double>& q, std::int64_t rows, std::int64_t cols) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double* const row = q.data() + i * cols;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t j = 0; j < i; ++j) {
        const double* const other = q.data() + j * cols;
        double dot = 0;
        for (std::int64_t k = 0; k < cols; ++k) dot += row[k] * other[k];
        for (std::int64_t k = 0; k < cols; ++k) row[k] -= dot * other[k];
      }
    }
    double norm = 0;
    for (std::int64_t k = 0; k < cols; ++k) norm += row[k] * row[k];
    norm = std::sqrt(norm);
    for (std::int64_t k = 0; k < cols; ++k) row[k] /= norm;
  }
}

}  // namespace

Initializer Constant(double value, Options o) {
  return {[value](const Array& a) { autograd::fill(a, value); }, o.dtype};
}
Initializer Zero(Options o) { return Constant(0.0, o); }
Initializer One(Options o) { return Constant(1.0, o); }

Initializer internal::identity(double scale, Options o) {
  return {[scale](const Array& a) {
            const Shape& s = a.shape();
            check<ValueError>(s.size() == 2 && s[0] == s[1], "Identity", "the shape ", s, " is not a square matrix");
            autograd::fill(a, 0.0);
            // The diagonal is a view whose stride is the sum of both strides.
            const Array diagonal = a.backend().view(a, {s[0]}, {a.strides()[0] + a.strides()[1]}, 0);
            autograd::fill(diagonal, scale);
          },
          o.dtype};
}

Initializer NaN(Options o) { return Constant(std::numeric_limits<double>::quiet_NaN(), o); }

Initializer internal::normal(double scale, Options o) {
  return normal_of([scale](const Array&) { return scale; }, o);
}
Initializer internal::lecun_normal(double scale, Options o) {
  return normal_of([scale](const Array& a) { return scale * std::sqrt(1 / fan_in(a)); }, o);
}
Initializer internal::glorot_normal(double scale, Options o) {
  return normal_of([scale](const Array& a) { return scale * std::sqrt(2 / fan_sum(a)); }, o);
}
Initializer internal::he_normal(double scale, Options o) {
  return normal_of([scale](const Array& a) { return scale * std::sqrt(2 / fan_in(a)); }, o);
}
Initializer internal::uniform(double scale, Options o) {
  return uniform_of([scale](const Array&) { return scale; }, o);
}
Initializer internal::lecun_uniform(double scale, Options o) {
  return uniform_of([scale](const Array& a) { return scale * std::sqrt(3 / fan_in(a)); }, o);
}
Initializer internal::glorot_uniform(double scale, Options o) {
  return uniform_of([scale](const Array& a) { return scale * std::sqrt(6 / fan_sum(a)); }, o);
}
Initializer internal::he_uniform(double scale, Options o) {
  return uniform_of([scale](const Array& a) { return scale * std::sqrt(6 / fan_in(a)); }, o);
}

// The quantile function of the normal distribution maps uniform numbers between the probabilities of the ends.
Initializer TruncatedNormal(double scale, double lower, double upper, Options o) {
  check<ValueError>(scale > 0, "TruncatedNormal", "scale is ", scale, "; it must be positive");
  check<ValueError>(lower < upper, "TruncatedNormal", "lower is ", lower, " and upper ", upper,
                    "; lower must be less than upper");
  return {[=](const Array& a) {
            const double root = scale * std::sqrt(2.0);
            const Array u = autograd::random_uniform(a.shape(), std::erf(lower / root), std::erf(upper / root),
                                                     Dtype::float64, generator_of(o.rng), a.device());
            const autograd::Variable x = autograd::erfinv(autograd::Variable(u)) * root;
            autograd::assign(a, autograd::clip(x, lower, upper).data());
          },
          o.dtype};
}
Initializer TruncatedNormal(double scale, Options o) { return TruncatedNormal(scale, -2 * scale, 2 * scale, o); }

// Chainer uses a factor of the SVD of a Gaussian matrix. Orthonormalizing the rows of such a matrix gives the same
// (Haar) distribution without LAPACK. It runs once per parameter, on the host.
Initializer internal::orthogonal(double scale, Options o) {
  return {[scale, rng = o.rng](const Array& a) {
            check<ValueError>(a.size() > 0, "Orthogonal", "the array of shape ", a.shape(), " is empty");
            if (a.ndim() == 0) return autograd::fill(a, scale);
            const std::int64_t rows = a.shape(0), cols = a.size() / rows;
            check<ValueError>(rows <= cols, "Orthogonal", "a matrix of shape ", Shape{rows, cols},
                              " cannot have orthogonal rows");
            const Array gauss =
                autograd::random_normal(a.shape(), 0.0, 1.0, Dtype::float64, generator_of(rng), a.device());
            std::vector<double> q = autograd::to_vector<double>(gauss);
            orthonormalize_rows(q, rows, cols);
            for (double& x : q) x *= scale;
            autograd::assign(a, a.backend().from_host(q.data(), a.shape(), Dtype::float64, a.device()));
          },
          o.dtype};
}

// ---- filters that resize ------------------------------------------------------------------------
namespace {

// A triangle of this length with its peak in the middle.
std::vector<double> triangle(std::int64_t length) {
  const double factor = double((length + 1) / 2), center = length % 2 == 1 ? factor - 1 : factor - 0.5;
  std::vector<double> weights;
  for (std::int64_t i = 0; i < length; ++i) weights.push_back(1 - std::fabs(double(i) - center) / factor);
  return weights;
}

// The product of the triangles of all spatial axes, in row-major order.
std::vector<double> linear_filter(const Shape& shape) {
  std::vector<double> filter{1};
  for (int axis = 2; axis < shape.size(); ++axis) {
    const std::vector<double> weights = triangle(shape[axis]);
    std::vector<double> longer;
    for (const double f : filter)
      for (const double w : weights) longer.push_back(f * w);
    filter = std::move(longer);
  }
  return filter;
}

Initializer resampling(const char* name, const ResamplingOptions& o, bool keeps_sum) {
  check<ValueError>(o.interpolation == "linear", name, "the interpolation is \"", o.interpolation,
                    "\"; it must be \"linear\"");
  return {[name, keeps_sum](const Array& a) {
            const Shape& s = a.shape();
            check<ValueError>(s.size() >= 3, name, "the shape ", s, " has fewer than 3 axes");
            check<ValueError>(s[0] == s[1] || s[1] == 1, name, "the shape is ", s,
                              "; both numbers of channels must be equal, or the second one 1");
            std::vector<double> filter = linear_filter(s);
            double sum = 0;
            for (const double f : filter) sum += f;
            if (keeps_sum)
              for (double& f : filter) f /= sum;
            std::vector<double> all(static_cast<std::size_t>(a.size()));
            for (std::int64_t k = 0; k < s[0]; ++k) {
              const std::int64_t first = (s[1] == 1 ? k : k * s[1] + k) * std::int64_t(filter.size());
              std::copy(filter.begin(), filter.end(), all.begin() + first);
            }
            autograd::assign(a, a.backend().from_host(all.data(), s, Dtype::float64, a.device()));
          },
          o.dtype};
}

}  // namespace

Initializer UpsamplingDeconvFilter(const ResamplingOptions& o) {
  return resampling("UpsamplingDeconvFilter", o, false);
}
Initializer DownsamplingConvFilter(const ResamplingOptions& o) { return resampling("DownsamplingConvFilter", o, true); }

// ---- PyTorch's names and defaults ---------------------------------------------------------------
double calculate_gain(std::string_view f, double a) {
  if (f == "linear" || f == "conv" || f == "sigmoid") return 1;
  if (f == "tanh") return 5.0 / 3;
  if (f == "relu") return std::sqrt(2.0);
  if (f == "leaky_relu") return std::sqrt(2 / (1 + a * a));
  if (f == "selu") return 0.75;
  catena::fail<ValueError>("calculate_gain", "the nonlinearity is \"", f,
                           "\"; it must be linear, conv, sigmoid, tanh, relu, leaky_relu or selu");
}

namespace {

// PyTorch's fans: those of one output and of one input, with all positions of the filter.
double torch_fan(const Array& a, bool out) {
  const Fans fans = get_fans(a.shape());
  return double(out ? fans.fan_out * (fans.fan_in / std::max<std::int64_t>(a.shape(1), 1)) : fans.fan_in);
}
template <bool uniform> Initializer kaiming(const char* name, const KaimingOptions& o) {
  check<ValueError>(o.mode == "fan_in" || o.mode == "fan_out", name, "the mode is \"", o.mode,
                    "\"; it must be fan_in or fan_out");
  const double gain = calculate_gain(o.nonlinearity, o.a) * std::sqrt(uniform ? 3.0 : 1.0);
  const auto scale = [gain, out = o.mode == "fan_out"](const Array& a) { return gain / std::sqrt(torch_fan(a, out)); };
  const Options rest{.dtype = o.dtype, .rng = o.rng};
  if constexpr (uniform) return uniform_of(scale, rest);
  else return normal_of(scale, rest);
}
double xavier(const Array& a, double gain) { return gain * std::sqrt(2 / (torch_fan(a, false) + torch_fan(a, true))); }

}  // namespace

Initializer KaimingNormal(const KaimingOptions& o) { return kaiming<false>("KaimingNormal", o); }
Initializer KaimingUniform(const KaimingOptions& o) { return kaiming<true>("KaimingUniform", o); }
Initializer XavierNormal(double gain, Options o) {
  return normal_of([gain](const Array& a) { return xavier(a, gain); }, o);
}
Initializer XavierUniform(double gain, Options o) {
  return uniform_of([gain](const Array& a) { return std::sqrt(3.0) * xavier(a, gain); }, o);
}
Initializer TorchDefault(Options o) {
  return uniform_of([](const Array& a) { return 1 / std::sqrt(fan_in(a)); }, o);
}
Initializer TorchDefaultBias(std::int64_t inputs, Options o) {
  check<ValueError>(inputs > 0, "TorchDefaultBias", "fan_in is ", inputs, "; it must be positive");
  return Uniform(1 / std::sqrt(double(inputs)), o);
}

}  // namespace initializers
}  // namespace nn
