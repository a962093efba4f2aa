// Mathematical functions: values and gradients against <cmath> in double and the golden group, derivatives numerically.
#include <catena/autograd/functions/math.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <set>
#include <string_view>
#include <vector>

#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/gradient_check.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;
using catena::Dtype;

namespace {

struct Unary {
  const char* label;
  Variable (*function)(const Variable&);
  double (*value)(double);
  double low, high;  // where it is tested
};

double sigmoid_value(double x) { return 1 / (1 + std::exp(-x)); }
double sign_value(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

const Unary kUnary[] = {
    {"|_|", absolute, [](double x) { return std::fabs(x); }, -2, 2},
    {"arccos", arccos, [](double x) { return std::acos(x); }, -0.8, 0.8},
    {"arcsin", arcsin, [](double x) { return std::asin(x); }, -0.8, 0.8},
    {"arcsinh", arcsinh, [](double x) { return std::asinh(x); }, -2, 2},
    {"arctan", arctan, [](double x) { return std::atan(x); }, -2, 2},
    {"ceil", ceil, [](double x) { return std::ceil(x); }, -2, 2},
    {"cos", cos, [](double x) { return std::cos(x); }, -2, 2},
    {"cosh", cosh, [](double x) { return std::cosh(x); }, -2, 2},
    {"exp", exp, [](double x) { return std::exp(x); }, -2, 2},
    {"expm1", expm1, [](double x) { return std::expm1(x); }, -2, 2},
    {"floor", floor, [](double x) { return std::floor(x); }, -2, 2},
    {"log", log, [](double x) { return std::log(x); }, 0.5, 3},
    {"log10", log10, [](double x) { return std::log10(x); }, 0.5, 3},
    {"log1p", log1p, [](double x) { return std::log1p(x); }, -0.5, 3},
    {"log2", log2, [](double x) { return std::log2(x); }, 0.5, 3},
    {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.5, 3},
    {"Sigmoid", sigmoid, sigmoid_value, -3, 3},
    {"sign", sign, sign_value, -2, 2},
    {"sin", sin, [](double x) { return std::sin(x); }, -2, 2},
    {"sinh", sinh, [](double x) { return std::sinh(x); }, -2, 2},
    {"sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.5, 3},
    {"square", square, [](double x) { return x * x; }, -2, 2},
    {"tan", tan, [](double x) { return std::tan(x); }, -1, 1},
    {"Tanh", tanh, [](double x) { return std::tanh(x); }, -2, 2},
};

// Values in [low, high] that stay away from multiples of 1/2, where floor, ceil, abs and sign have no derivative.
std::vector<double> sample(std::size_t n, double low, double high, int seed) {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = 0.5 + 0.5 * std::sin(12.9898 * double(i + 1) + seed);
    v[i] = low + (high - low) * u;
    if (std::fabs(v[i] * 2 - std::round(v[i] * 2)) < 0.1) v[i] += 0.07;
  }
  return v;
}
Array random(const Shape& shape, double low, double high, int seed, Dtype dtype = Dtype::float64) {
  return astype(array(sample(std::size_t(catena::size_of(shape)), low, high, seed), shape), dtype);
}

const Shape kShapes[] = {{3, 2}, {}, {1}, {0, 3}};
struct Precision {
  Dtype dtype;
  double atol, rtol;
};
const Precision kPrecisions[] = {{Dtype::float64, 1e-12, 1e-12},
                                 {Dtype::float32, 1e-5, 1e-5},
                                 {Dtype::float16, 5e-4, 5e-3},
                                 {Dtype::bfloat16, 4e-3, 4e-2}};

}  // namespace

BOOST_AUTO_TEST_SUITE(math)

BOOST_AUTO_TEST_CASE(unary_values_in_every_dtype_and_shape) {
  for (const Unary& u : kUnary)
    for (const Shape& shape : kShapes)
      for (const Precision& p : kPrecisions)
        BOOST_TEST_CONTEXT(u.label << " " << catena::to_string(shape) << " " << catena::name_of(p.dtype)) {
          const Array x = random(shape, u.low, u.high, 1, p.dtype);
          const Variable y = u.function(Variable(x));
          BOOST_CHECK(y.dtype() == p.dtype);
          BOOST_CHECK(y.shape() == shape);
          std::vector<double> expected = to_vector<double>(x);
          for (double& v : expected) v = u.value(v);
          BOOST_CHECK_NO_THROW(testing::assert_allclose(y.data(), array(expected, shape), p.atol, p.rtol));
        }
}

BOOST_AUTO_TEST_CASE(unary_gradients) {
  for (const Unary& u : kUnary)
    for (const Shape& shape : {Shape{3, 2}, Shape{}}) BOOST_TEST_CONTEXT(u.label << " " << catena::to_string(shape)) {
        const Array x = random(shape, u.low, u.high, 2), gy = random(shape, -1, 1, 3), ggx = random(shape, -1, 1, 4);
        BOOST_CHECK_NO_THROW(
            gradient_check::check_backward(u.function, {x}, {gy}, {.eps = 1e-5, .atol = 1e-6, .rtol = 1e-6}));
        BOOST_CHECK_NO_THROW(gradient_check::check_double_backward(u.function, {x}, {gy}, {ggx},
                                                                   {.eps = 1e-5, .atol = 1e-6, .rtol = 1e-6}));
      }
}

// The gradient in a narrow dtype is the float64 gradient at the rounded point, within the rounding of a few operations.
BOOST_AUTO_TEST_CASE(unary_gradients_in_narrow_dtypes) {
  for (const Unary& u : kUnary)
    for (const Precision& p : kPrecisions) BOOST_TEST_CONTEXT(u.label << " " << catena::name_of(p.dtype)) {
        const Array x = random({3, 2}, u.low, u.high, 5, p.dtype), gy = random({3, 2}, -1, 1, 6, p.dtype);
        const auto gradient = [&](Dtype t) {
          Variable v(astype(x, t));
          Variable y = u.function(v);
          y.set_grad(astype(gy, t));
          y.backward();
          BOOST_CHECK(v.grad().dtype() == t);
          return v.grad();
        };
        BOOST_CHECK_NO_THROW(
            testing::assert_allclose(gradient(p.dtype), gradient(Dtype::float64), p.atol * 2, p.rtol * 2));
      }
}

BOOST_AUTO_TEST_CASE(labels) {
  for (const Unary& u : kUnary) BOOST_TEST(u.function(Variable(arrays::ones({2}))).creator()->label() == u.label);
  BOOST_TEST(fmod(Variable(arrays::ones({2})), Variable(arrays::ones({2}))).creator()->label() == "fmod");
}

BOOST_AUTO_TEST_CASE(integers_become_floating) {
  for (const Unary& u : kUnary) BOOST_TEST_CONTEXT(u.label) {
      const Variable y = u.function(Variable(array<std::int32_t>({1, 2}, {2})));
      const bool kept = std::set<std::string_view>{"square", "sign", "|_|", "floor", "ceil"}.contains(u.label);
      BOOST_CHECK(y.dtype() == (kept ? Dtype::int32 : Dtype::float32));
      for (int k = 0; k < 2; ++k) {
        const double value = to_vector<double>(y.data())[std::size_t(k)], expected = u.value(k + 1);
        if (std::isnan(expected)) BOOST_CHECK(std::isnan(value));
        else BOOST_TEST(value == expected, boost::test_tools::tolerance(1e-6));
      }
    }
}

BOOST_AUTO_TEST_CASE(flat_functions_have_zero_gradients) {
  for (const auto f : {floor, ceil, sign}) {
    Variable x(random({3}, -2, 2, 1));
    Variable y = f(x);
    y.set_grad(array<double>({INFINITY, NAN, 1}, {3}));
    y.backward();
    BOOST_TEST(to_vector<double>(x.grad()) == (std::vector<double>{0, 0, 0}), boost::test_tools::per_element());
  }
}

// The fused backward rows are used without a graph of the gradients; both ways give the same.
BOOST_AUTO_TEST_CASE(fused_backward_equals_the_rule) {
  using Function = Variable (*)(const Variable&);
  for (const Function f : std::initializer_list<Function>{tanh, sigmoid}) {
    Variable x(random({5}, -2, 2, 1));
    Variable y = f(x);
    y.set_grad(random({5}, -1, 1, 2));
    y.backward();
    const Array fused = x.grad();
    x.cleargrad();
    y.backward({.enable_double_backprop = true});
    BOOST_CHECK_NO_THROW(testing::assert_allclose(fused, x.grad(), 1e-15, 1e-15));
  }
}

BOOST_AUTO_TEST_CASE(functions_of_several_arguments) {
  struct Row {
    const char* name;
    std::function<Variable(const Variables&)> function;
    std::size_t inputs;
    double (*value)(double, double, double);
  };
  const Row rows[] = {
      {"maximum", [](const Variables& x) { return maximum(x[0], x[1]); }, 2,
       [](double a, double b, double) { return std::max(a, b); }},
      {"minimum", [](const Variables& x) { return minimum(x[0], x[1]); }, 2,
       [](double a, double b, double) { return std::min(a, b); }},
      {"fmod", [](const Variables& x) { return fmod(x[0] * 7, x[1] + 2); }, 2,
       [](double a, double b, double) { return std::fmod(a * 7, b + 2); }},
      {"squared_difference", [](const Variables& x) { return squared_difference(x[0], x[1]); }, 2,
       [](double a, double b, double) { return (a - b) * (a - b); }},
      {"linear_interpolate", [](const Variables& x) { return linear_interpolate(x[0], x[1], x[2]); }, 3,
       [](double p, double a, double b) { return p * a + (1 - p) * b; }},
  };
  for (const Row& row : rows)
    for (const Shape& shape : {Shape{3, 2}, Shape{}}) BOOST_TEST_CONTEXT(row.name << catena::to_string(shape)) {
        Arrays x, ggx;
        Variables v;
        for (std::size_t i = 0; i < row.inputs; ++i) {
          x.push_back(random(shape, -1.3, 1.3, int(i) * 5));
          ggx.push_back(random(shape, -1, 1, int(i) + 20));
          v.push_back(Variable(x[i]));
        }
        std::vector<double> a = to_vector<double>(x[0]), b = to_vector<double>(x[1]),
                            c = to_vector<double>(x[row.inputs - 1]);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = row.value(a[i], b[i], c[i]);
        testing::assert_allclose(row.function(v).data(), array(a, shape), 1e-12, 1e-12);
        const Array gy = random(shape, -1, 1, 9);
        BOOST_CHECK_NO_THROW(
            gradient_check::check_backward(row.function, x, {gy}, {.eps = 1e-5, .atol = 1e-6, .rtol = 1e-5}));
        BOOST_CHECK_NO_THROW(gradient_check::check_double_backward(row.function, x, {gy}, ggx,
                                                                   {.eps = 1e-5, .atol = 1e-6, .rtol = 1e-5}));
        v[1] = Variable(arrays::ones({7}, Dtype::float64));
        BOOST_CHECK_THROW(row.function(v), catena::InvalidType);
      }
  BOOST_CHECK_THROW(maximum(Variable(arrays::ones({2})), Variable(arrays::ones({3}))), catena::InvalidType);
  BOOST_CHECK_THROW(maximum(Variable(arrays::ones({2})), Variable(arrays::ones({2}, Dtype::float64))),
                    catena::InvalidType);
  BOOST_CHECK_THROW(fmod(Variable(arrays::ones({2}, Dtype::int32)), Variable(arrays::ones({2}, Dtype::int32))),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(ties_go_to_the_first_argument) {
  for (const bool maximum_of : {true, false}) {
    Variable a(array<float>({1, 2}, {2})), b(array<float>({1, 3}, {2}));
    Variable y = maximum_of ? maximum(a, b) : minimum(a, b);
    y.set_grad(arrays::ones({2}));
    y.backward();
    const std::vector<float> ga = maximum_of ? std::vector<float>{1, 0} : std::vector<float>{1, 1};
    const std::vector<float> gb = maximum_of ? std::vector<float>{0, 1} : std::vector<float>{0, 0};
    BOOST_TEST(to_vector<float>(a.grad()) == ga, boost::test_tools::per_element());
    BOOST_TEST(to_vector<float>(b.grad()) == gb, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(clip_is_strict_at_its_bounds) {
  Variable x(array<float>({-2, -1, 0, 1, 2}, {5}));
  Variable y = clip(x, -1, 1);
  BOOST_TEST(to_vector<float>(y.data()) == (std::vector<float>{-1, -1, 0, 1, 1}), boost::test_tools::per_element());
  y.set_grad(arrays::ones({5}));
  y.backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{0, 0, 1, 0, 0}), boost::test_tools::per_element());
  BOOST_CHECK_THROW(clip(x, 1, 1), catena::AssertionError);
  const auto f = [](const Variable& v) { return clip(v, -0.7, 0.7); };
  const auto call = [&](const Variables& v) { return f(v[0]); };
  gradient_check::check_backward(call, {random({4, 3}, -2, 2, 1)}, {random({4, 3}, -1, 1, 2)}, {.eps = 1e-5});
  BOOST_CHECK_NO_THROW(clip(Variable(arrays::ones({})), 0, 2).backward());
}

BOOST_AUTO_TEST_CASE(where_selects) {
  const Array c = array<bool>({true, false, true}, {3});
  const auto f = [&](const Variables& v) { return where(c, v[0], v[1]); };
  const Array x = random({3}, -1, 1, 1), y = random({3}, -1, 1, 2), gy = random({3}, -1, 1, 3);
  gradient_check::check_backward(f, {x, y}, {gy}, {.eps = 1e-5});
  gradient_check::check_double_backward(f, {x, y}, {gy}, {gy, x}, {.eps = 1e-5});
  BOOST_CHECK_THROW(where(c, Variable(x), Variable(arrays::ones({4}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_EXCEPTION(where(arrays::ones({3}), Variable(x), Variable(y)), catena::InvalidType,
                        [](const catena::Error& e) {
                          return std::string(e.what()).find("Where (Forward)") != std::string::npos &&
                                 std::string(e.what()).find("condition.dtype.kind == b") != std::string::npos;
                        });
  BOOST_CHECK_THROW(where(c, Variable(x), Variable(arrays::ones({4}, Dtype::float64))), catena::InvalidType);
  BOOST_CHECK_THROW(where(c, Variable(x), Variable(arrays::ones({3}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(where_broadcasts_and_takes_constants) {
  const Array c = array<bool>({true, false, true}, {3}), column = array<bool>({true, false}, {2, 1});
  const Array x = random({2, 3}, -1, 1, 1), y = random({3}, -1, 1, 2), one = random({}, -1, 1, 3);
  const std::vector<double> xs = to_vector<double>(x), ys = to_vector<double>(y);
  const auto numbers = [](const Variable& v) { return to_vector<double>(v.data()); };
  // The condition as a Variable, which has no gradient.
  Variable condition(c), a(x), b(y);
  Variable z = where(condition, a, b);
  for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(numbers(z)[i] == (i % 3 != 1 ? xs[i] : ys[i % 3]));
  z.set_grad(arrays::ones({2, 3}, Dtype::float64));
  z.backward();
  BOOST_CHECK(!condition.grad());
  BOOST_TEST(to_vector<double>(a.grad()) == (std::vector<double>{1, 0, 1, 1, 0, 1}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(b.grad()) == (std::vector<double>{0, 2, 0}), boost::test_tools::per_element());
  // Numbers and arrays take the dtype of the variable.
  const Variable narrow(arrays::ones({3}));
  BOOST_CHECK(where(c, narrow, 2.5).dtype() == Dtype::float32);
  BOOST_TEST(numbers(where(c, narrow, 2.5)) == (std::vector<double>{1, 2.5, 1}), boost::test_tools::per_element());
  BOOST_TEST(numbers(where(c, -1, narrow)) == (std::vector<double>{-1, 1, -1}), boost::test_tools::per_element());
  BOOST_CHECK(where(c, narrow, y).dtype() == Dtype::float32);
  BOOST_CHECK(where(column, narrow, 0).shape() == (Shape{2, 3}));
  const gradient_check::Options options{.eps = 1e-5};
  const auto f = [&](const Variables& v) { return where(column, v[0], v[1]); };
  gradient_check::check_backward(f, {y, one}, {x}, options);
  gradient_check::check_double_backward(f, {y, one}, {x}, {y, one}, options);
  BOOST_CHECK(where(c, Variable(array<int>({1, 2, 3}, {3})), 0).dtype() == Dtype::int32);
  BOOST_CHECK(where(arrays::full({0}, 0, Dtype::bool_), Variable(arrays::zeros({0})), 1).shape() == (Shape{0}));
  BOOST_CHECK_EXCEPTION(where(c, Variable(arrays::ones({2, 2})), 0), catena::InvalidType,
                        [](const catena::InvalidType& e) {
                          return e.expect() == "the shapes of condition, x and y broadcast together" &&
                                 e.actual() == "(3,), (2, 2) and ()";
                        });
  BOOST_CHECK_THROW(where(c, Variable(), 1), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(bias_and_scale_align_axes) {
  struct Case {
    Shape y;
    int axis;
  };
  const Array x = random({2, 3, 4}, -1, 1, 1);
  const std::vector<double> xs = to_vector<double>(x);
  for (const Case& c : {Case{{3}, 1}, Case{{3, 4}, 1}, Case{{2}, 0}, Case{{2, 3, 4}, 0}, Case{{4}, -1}, Case{{}, 2},
                        Case{{1}, 1}, Case{{2, 3}, -3}})
    BOOST_TEST_CONTEXT(c.y << " at " << c.axis) {
      const Array y = random(c.y, 0.5, 2, 2);
      const std::vector<double> ys = to_vector<double>(y);
      std::vector<double> sums, products;
      for (std::int64_t i = 0; i < 24; ++i) {
        const std::int64_t at[] = {i / 12, i / 4 % 3, i % 4};
        std::int64_t k = 0;
        for (int a = 0; a < c.y.size(); ++a)
          k = k * c.y[a] + (c.y[a] == 1 ? 0 : at[(c.axis < 0 ? c.axis + 3 : c.axis) + a]);
        sums.push_back(xs[std::size_t(i)] + ys[std::size_t(k)]);
        products.push_back(xs[std::size_t(i)] * ys[std::size_t(k)]);
      }
      const auto add = [&](const Variables& v) { return Variables{bias(v[0], v[1], c.axis)}; };
      const auto multiply = [&](const Variables& v) { return Variables{scale(v[0], v[1], c.axis)}; };
      testing::assert_allclose(add({Variable(x), Variable(y)})[0].data(), array(sums, {2, 3, 4}), 1e-15, 1e-15);
      testing::assert_allclose(multiply({Variable(x), Variable(y)})[0].data(), array(products, {2, 3, 4}), 1e-15,
                               1e-15);
      test::check_derivatives("bias", add, {x, y}, {.atol16 = 2e-3});
      test::check_derivatives("scale", multiply, {x, y}, {.atol16 = 4e-3});
    }
  const auto empty = [](const Variables& v) { return Variables{scale(v[0], v[1])}; };
  test::check_derivatives("scale of nothing", empty, {random({0, 3}, -1, 1, 1), random({3}, -1, 1, 1)});
  for (const auto f : {bias, scale}) {
    const Variable v(x);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({4}, Dtype::float64)), 1), catena::InvalidType);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({3, 4, 2}, Dtype::float64)), 1), catena::InvalidType);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({3}, Dtype::float64)), 4), catena::InvalidType);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({3}, Dtype::float64)), -4), catena::InvalidType);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({3})), 1), catena::InvalidType);
    BOOST_CHECK_NO_THROW(f(v, Variable(arrays::ones({1}, Dtype::float64)), 1));
    const DebugMode debug(true);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({4}, Dtype::float64)), 1), catena::AssertionError);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({1}, Dtype::float64)), 1), catena::AssertionError);
    BOOST_CHECK_THROW(f(v, Variable(arrays::ones({3}, Dtype::float64)), 3), catena::AssertionError);
    BOOST_CHECK_NO_THROW(f(v, Variable(arrays::ones({3}, Dtype::float64)), 1));
  }
}

BOOST_AUTO_TEST_CASE(identity_passes_absent_gradients_on) {
  Variable a(arrays::ones({2})), b(arrays::ones({2}));
  Variables y = identity(Variables{a, b});
  const Array g = arrays::full({2}, 3);
  y[1].set_grad(g);
  y[0].backward();
  BOOST_CHECK(!a.grad());
  BOOST_CHECK(b.grad().get() == g.get());
}

BOOST_AUTO_TEST_CASE(golden_values) {
  test::GoldenFunctions f;
  for (const Unary& u : kUnary) f[u.label] = [u](const test::GoldenCall& c) { return Variables{u.function(c.x(0))}; };
  f["sigmoid"] = [](const test::GoldenCall& c) { return Variables{sigmoid(c.x(0))}; };
  f["tanh"] = [](const test::GoldenCall& c) { return Variables{tanh(c.x(0))}; };
  f["absolute"] = [](const test::GoldenCall& c) { return Variables{absolute(c.x(0))}; };
  f["maximum"] = [](const test::GoldenCall& c) { return Variables{maximum(c.x(0), c.x(1))}; };
  f["minimum"] = [](const test::GoldenCall& c) { return Variables{minimum(c.x(0), c.x(1))}; };
  f["fmod"] = [](const test::GoldenCall& c) { return Variables{fmod(c.x(0), c.x(1))}; };
  f["squared_difference"] = [](const test::GoldenCall& c) { return Variables{squared_difference(c.x(0), c.x(1))}; };
  f["linear_interpolate"] = [](const test::GoldenCall& c) {
    return Variables{linear_interpolate(c.x(0), c.x(1), c.x(2))};
  };
  f["clip"] = [](const test::GoldenCall& c) {
    return Variables{clip(c.x(0), c.number("x_min", 0), c.number("x_max", 1))};
  };
  f["identity"] = [](const test::GoldenCall& c) { return identity(c.xs()); };
  using Reduction = Variable (*)(const Variable&, const Axes&, bool);
  for (const auto& [name, reduction] :
       {std::pair<const char*, Reduction>{"sum", sum}, {"mean", mean}, {"max", max}, {"min", min}})
    f[name] = [reduction = reduction](const test::GoldenCall& c) {
      return Variables{reduction(c.x(0), c.axes("axis"), c.flag("keepdims", false))};
    };
  f["matmul"] = [](const test::GoldenCall& c) {
    return Variables{matmul(c.x(0), c.x(1), {.transa = c.flag("transa", false), .transb = c.flag("transb", false)})};
  };
  for (const char* name : {"average", "mean"})
    f[name] = [](const test::GoldenCall& c) {
      return Variables{average(c.x(0), c.axes("axis"), c.x("weights"), c.flag("keepdims", false))};
    };
  const auto axis = [](const test::GoldenCall& c) {
    return c.has("axis") ? std::optional<int>(int(c.integer("axis", 0))) : std::nullopt;
  };
  f["argmax"] = [axis](const test::GoldenCall& c) { return Variables{argmax(c.x(0), axis(c))}; };
  f["argmin"] = [axis](const test::GoldenCall& c) { return Variables{argmin(c.x(0), axis(c))}; };
  f["logsumexp"] = [](const test::GoldenCall& c) { return Variables{logsumexp(c.x(0), c.axes("axis"))}; };
  f["batch_l2_norm_squared"] = [](const test::GoldenCall& c) { return Variables{batch_l2_norm_squared(c.x(0))}; };
  f["bias"] = [](const test::GoldenCall& c) { return Variables{bias(c.x(0), c.x(1), int(c.integer("axis", 1)))}; };
  f["scale"] = [](const test::GoldenCall& c) { return Variables{scale(c.x(0), c.x(1), int(c.integer("axis", 1)))}; };
  f["batch_matmul"] = [](const test::GoldenCall& c) {
    return Variables{batch_matmul(c.x(0), c.x(1), c.flag("transa", false), c.flag("transb", false))};
  };
  f["inv"] = [](const test::GoldenCall& c) { return Variables{inv(c.x(0))}; };
  f["batch_inv"] = [](const test::GoldenCall& c) { return Variables{batch_inv(c.x(0))}; };
  f["det"] = [](const test::GoldenCall& c) { return Variables{det(c.x(0))}; };
  f["batch_det"] = [](const test::GoldenCall& c) { return Variables{batch_det(c.x(0))}; };
  test::run_golden("math", f, {.once_only = {"maximum", "minimum", "clip", "max", "min"}});
}

BOOST_AUTO_TEST_SUITE_END()
