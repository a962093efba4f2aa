#include <catena/tests/support/framework_derivatives.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/config.h>
#include <catena/autograd/gradient_check.h>
#include <catena/autograd/testing.h>

namespace test {

using autograd::Array;
using autograd::Arrays;
using autograd::Dtype;
using autograd::Shape;
using autograd::Variable;
using autograd::Variables;

Array spread(const Shape& shape, double low, double high, int seed) {
  const std::int64_t n = catena::size_of(shape);
  std::vector<double> v(static_cast<std::size_t>(n));
  // A multiplicative sequence through the n slots of the interval: every value once, in pseudo-random order.
  const double golden = 0.6180339887498949;
  for (std::int64_t i = 0; i < n; ++i) {
    const double u = std::fmod((double(i) + 1) * golden + 0.137 * seed, 1.0);
    v[static_cast<std::size_t>(i)] = low + (high - low) * u;
  }
  return autograd::array(v, shape);
}

namespace {

bool floating(const Array& a) { return catena::is_floating(a.dtype()); }

struct Result {
  Arrays outputs, gradients;
};

// The gradients of outputs are the same numbers for all dtypes, rounded once.
Array output_gradient(const Array& y, std::size_t k) {
  return autograd::astype(spread(y.shape(), -1, 1, int(k) + 7), y.dtype());
}

Result run(const DifferentiableFunction& f, const Arrays& inputs, int times = 1, bool recorded = false) {
  Variables x;
  for (const Array& a : inputs) x.push_back(Variable(a));
  Variables y = f(x);
  Result r;
  for (const Variable& v : y) r.outputs.push_back(v.data());
  for (int i = 0; i < times; ++i) {
    for (Variable& v : x) v.cleargrad();
    for (std::size_t k = 0; k < y.size(); ++k) y[k].set_grad(output_gradient(y[k].data(), k));
    for (Variable& v : y)
      if (v.creator() != nullptr) {
        v.backward({.enable_double_backprop = recorded});
        break;
      }
  }
  for (const Variable& v : x) r.gradients.push_back(v.grad());
  return r;
}

void compare(const char* what, const Arrays& actual, const Arrays& expected, double atol, double rtol) {
  BOOST_REQUIRE_EQUAL(actual.size(), expected.size());
  for (std::size_t k = 0; k < actual.size(); ++k) {
    BOOST_TEST_CONTEXT(what << " " << k) {
      BOOST_CHECK_EQUAL(bool(actual[k]), bool(expected[k]));
      if (!actual[k] || !expected[k]) continue;
      try {
        autograd::testing::assert_allclose(actual[k], expected[k], atol, rtol);
      } catch (const catena::Error& e) {
        BOOST_ERROR(e.what());
      }
    }
  }
}

Arrays in_dtype(const Arrays& inputs, Dtype t) {
  Arrays result;
  for (const Array& a : inputs) result.push_back(floating(a) ? autograd::astype(a, t) : a);
  return result;
}

// Returns the same elements in another layout: every second element of a larger array.
Arrays strided(const Arrays& inputs) {
  Arrays result;
  for (const Array& a : inputs) {
    if (a.ndim() == 0) {
      result.push_back(a);
      continue;
    }
    Shape shape = a.shape();
    shape.back() *= 2;
    const Array wide = autograd::arrays::zeros(shape, a.dtype());
    const Array view = autograd::slice(wide, a.ndim() - 1, 0, shape.back(), 2);
    autograd::assign(view, a);
    result.push_back(view);
  }
  return result;
}

void check_narrow(const DifferentiableFunction& f, const Arrays& inputs, const DerivativeOptions& o) {
  struct Precision {
    Dtype dtype;
    double atol, rtol;
  };
  for (const Precision& p :
       {Precision{Dtype::float32, o.atol32, o.rtol32}, Precision{Dtype::float16, o.atol16, o.rtol16},
        Precision{Dtype::bfloat16, 8 * o.atol16, 8 * o.rtol16}}) {
    BOOST_TEST_CONTEXT(catena::name_of(p.dtype)) {
      const Arrays narrow = in_dtype(inputs, p.dtype);
      const Result actual = run(f, narrow), exact = run(f, in_dtype(narrow, Dtype::float64));
      for (const Array& y : actual.outputs) BOOST_CHECK_EQUAL(catena::name_of(y.dtype()), catena::name_of(p.dtype));
      for (std::size_t k = 0; k < narrow.size(); ++k)
        if (actual.gradients[k]) {
          BOOST_CHECK(actual.gradients[k].dtype() == p.dtype);
          BOOST_CHECK(actual.gradients[k].shape() == narrow[k].shape());
        }
      compare("output", actual.outputs, exact.outputs, p.atol, p.rtol);
      compare("gradient", actual.gradients, exact.gradients, p.atol, p.rtol);
    }
  }
}

}  // namespace

void check_derivatives(const std::string& name, const DifferentiableFunction& f, const Arrays& inputs,
                       const DerivativeOptions& o) {
  BOOST_TEST_CONTEXT(name) {
    const Result once = run(f, inputs);
    for (std::size_t k = 0; k < inputs.size(); ++k) BOOST_CHECK_EQUAL(bool(once.gradients[k]), floating(inputs[k]));
    Arrays gy, ggx;
    for (std::size_t k = 0; k < once.outputs.size(); ++k) gy.push_back(output_gradient(once.outputs[k], k));
    for (std::size_t k = 0; k < inputs.size(); ++k)
      ggx.push_back(floating(inputs[k]) ? spread(inputs[k].shape(), -1, 1, int(k) + 31) : Array());
    const autograd::gradient_check::Options options{.eps = o.eps, .atol = o.atol, .rtol = o.rtol};
    BOOST_CHECK_NO_THROW(autograd::gradient_check::check_backward(f, inputs, gy, options));
    if (o.twice) BOOST_CHECK_NO_THROW(autograd::gradient_check::check_double_backward(f, inputs, gy, ggx, options));
    // A recorded gradient may use separate rules, which the check above compares only with their own derivatives.
    if (o.twice) compare("recorded gradient", run(f, inputs, 1, true).gradients, once.gradients, 1e-11, 1e-11);
    {
      const auto in_order = autograd::using_config({.cudnn_deterministic = true});
      compare("second backward", run(f, inputs, 2).gradients, run(f, inputs).gradients, 0, 0);
    }
    const Result other_layout = run(f, strided(inputs));
    compare("strided output", other_layout.outputs, once.outputs, 1e-12, 1e-12);
    compare("strided gradient", other_layout.gradients, once.gradients, 1e-12, 1e-12);
    if (o.narrow) check_narrow(f, inputs, o);
  }
}

}  // namespace test
