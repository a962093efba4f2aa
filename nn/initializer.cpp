#include <catena/nn/initializer.h>

#include <cmath>
#include <vector>

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
  Array a = autograd::empty(shape, initializer.dtype().value_or(Dtype::float32), device);
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

void fill_normal(const Array& a, double stddev) {
  autograd::assign(
      a, autograd::random_normal(a.shape(), 0.0, stddev, a.dtype(), autograd::default_generator(), a.device()));
}
void fill_uniform(const Array& a, double bound) {
  autograd::assign(
      a, autograd::random_uniform(a.shape(), -bound, bound, a.dtype(), autograd::default_generator(), a.device()));
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

Initializer Identity(double scale, Options o) {
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

Initializer Normal(double scale, Options o) {
  return {[scale](const Array& a) { fill_normal(a, scale); }, o.dtype};
}
Initializer GlorotNormal(double scale, Options o) {
  return {[scale](const Array& a) { fill_normal(a, scale * std::sqrt(2 / fan_sum(a))); }, o.dtype};
}
Initializer HeNormal(double scale, Options o) {
  return {[scale](const Array& a) { fill_normal(a, scale * std::sqrt(2 / fan_in(a))); }, o.dtype};
}
Initializer Uniform(double scale, Options o) {
  return {[scale](const Array& a) { fill_uniform(a, scale); }, o.dtype};
}
Initializer LeCunUniform(double scale, Options o) {
  return {[scale](const Array& a) { fill_uniform(a, scale * std::sqrt(3 / fan_in(a))); }, o.dtype};
}
Initializer GlorotUniform(double scale, Options o) {
  return {[scale](const Array& a) { fill_uniform(a, scale * std::sqrt(6 / fan_sum(a))); }, o.dtype};
}
Initializer HeUniform(double scale, Options o) {
  return {[scale](const Array& a) { fill_uniform(a, scale * std::sqrt(6 / fan_in(a))); }, o.dtype};
}

// Chainer uses a factor of the SVD of a Gaussian matrix. Orthonormalizing the rows of such a matrix gives the same
// (Haar) distribution without LAPACK. It runs once per parameter, on the host.
Initializer Orthogonal(double scale, Options o) {
  return {[scale](const Array& a) {
            check<ValueError>(a.size() > 0, "Orthogonal", "the array of shape ", a.shape(), " is empty");
            if (a.ndim() == 0) return autograd::fill(a, scale);
            const std::int64_t rows = a.shape(0), cols = a.size() / rows;
            check<ValueError>(rows <= cols, "Orthogonal", "a matrix of shape ", Shape{rows, cols},
                              " cannot have orthogonal rows");
            const Array gauss =
                autograd::random_normal(a.shape(), 0.0, 1.0, Dtype::float64, autograd::default_generator(), a.device());
            std::vector<double> q = autograd::to_vector<double>(gauss);
            orthonormalize_rows(q, rows, cols);
            for (double& x : q) x *= scale;
            autograd::assign(a, a.backend().from_host(q.data(), a.shape(), Dtype::float64, a.device()));
          },
          o.dtype};
}

}  // namespace initializers
}  // namespace nn
