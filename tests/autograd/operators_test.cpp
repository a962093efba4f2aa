// Operators of Variable: labels, dtypes, constants, broadcasting, errors, derivatives.
#include <catena/autograd/operators.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include <catena/autograd/forget.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_arithmetic.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/gradient_check.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_golden.h>

using namespace autograd;

namespace {

Array values(const Shape& shape, double low, double high, int seed, Dtype dtype = Dtype::float64) {
  std::vector<double> v(std::size_t(catena::size_of(shape)));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = low + (high - low) * (0.5 + 0.5 * std::sin(12.9898 * double(i + 1) + seed));
  return astype(array(v, shape), dtype);
}

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
static_assert(Addable<Variable, Variable> && Addable<Variable, Array> && Addable<float, Variable> &&
              Addable<Array, Array>);
static_assert(std::is_same_v<decltype(Array() + Array()), Array>);  // no graph behind arrays alone
static_assert(!Addable<Variable, std::vector<float>> && !Addable<Variable, const char*> &&
              !Addable<std::nullptr_t, Variable>);

}  // namespace

BOOST_AUTO_TEST_SUITE(operators)

BOOST_AUTO_TEST_CASE(labels) {
  const Variable x(arrays::ones({2, 2})), y(arrays::ones({2, 2}));
  const Array c = arrays::ones({2, 2});
  const auto label = [](const Variable& v) { return v.creator()->label(); };
  BOOST_TEST(label(-x) == "__neg__");
  BOOST_TEST(label(abs(x)) == "|_|");
  BOOST_TEST(label(x + y) == "_ + _");
  BOOST_TEST(label(x + 2) == "_ + 2");
  BOOST_TEST(label(2.0 + x) == "_ + 2.0");
  BOOST_TEST(label(x + (-1)) == "_ + (-1)");
  BOOST_TEST(label(x + c) == "_ + constant array");
  BOOST_TEST(label(x - y) == "_ - _");
  BOOST_TEST(label(x - 1) == "_ + (-1)");
  BOOST_TEST(label(1.5 - x) == "1.5 - _");
  BOOST_TEST(label(x * y) == "_ * _");
  BOOST_TEST(label(x * -0.5) == "_ * (-0.5)");
  BOOST_TEST(label(x / y) == "_ / _");
  BOOST_TEST(label(x / 2) == "_ * 0.5");
  BOOST_TEST(label(3 / x) == "_ / 3");
  BOOST_TEST(label(pow(x, y)) == "_ ** _");
  BOOST_TEST(label(pow(x, 2)) == "_ ** 2");
  BOOST_TEST(label(pow(x, 3)) == "_ ** 3");
  BOOST_TEST(label(pow(2, x)) == "2 ** _");
  BOOST_TEST(label(operator_matmul(x, y)) == "_ @ _");
  BOOST_TEST(label(operator_matmul(x, c)) == "_ @ constant array");
  BOOST_TEST(label(operator_matmul(c, x)) == "constant array @ _");
}

BOOST_AUTO_TEST_CASE(unary_plus_is_the_variable_itself) {
  const Variable x(arrays::ones({2}));
  BOOST_CHECK((+x).is_same(x));
}

BOOST_AUTO_TEST_CASE(constants_never_change_a_floating_dtype) {
  const Array wide = arrays::ones({3}, Dtype::float64), whole = arrays::ones({3}, Dtype::int64);
  for (const Dtype t : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    const Variable x(arrays::full({3}, 2, t));
    for (const Variable& y : {x + 1,    1 + x,     x + 1.5,   1.5 + x,     x - 1,     1 - x,        x * 2,       2 * x,
                              x * 1.5,  x + wide,  whole + x, x - wide,    wide - x,  x * whole,    x / 2,       2 / x,
                              x / wide, whole / x, pow(x, 2), pow(x, 1.5), pow(2, x), pow(x, wide), pow(wide, x)})
      BOOST_CHECK(y.dtype() == t);
  }
  for (const Dtype t : {Dtype::int32, Dtype::int8}) {
    const Variable x(arrays::full({3}, 2, t));
    for (const Variable& y : {x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, pow(x, 2), pow(x, 3)})
      BOOST_CHECK(y.dtype() == t);
    for (const Variable& y : {whole + x, x * whole}) BOOST_CHECK(y.dtype() == Dtype::int64);
  }
}

// Values and dtypes of PyTorch 2.
BOOST_AUTO_TEST_CASE(integers_beside_floating_numbers) {
  const Variable i(array<std::int32_t>({1, -3}, {2})), l(array<std::int64_t>({2, 5}, {2}));
  const Variable f(array<float>({0.5F, 2}, {2})), d(array<double>({0.5, 2}, {2}));
  const Variable b(array<bool>({true, false}, {2}));
  struct Row {
    const char* name;
    Variable y;
    Dtype dtype;
    std::vector<double> values;
  };
  const Row rows[] = {
      {"i + 1.75", i + 1.75, Dtype::float32, {2.75, -1.25}},
      {"1.75 - i", 1.75 - i, Dtype::float32, {0.75, 4.75}},
      {"i - 0.5", i - 0.5, Dtype::float32, {0.5, -3.5}},
      {"i * 0.5", i * 0.5, Dtype::float32, {0.5, -1.5}},
      {"b * 0.5", b * 0.5, Dtype::float32, {0.5, 0}},
      {"i / 2", i / 2, Dtype::float32, {0.5, -1.5}},
      {"3 / i", 3 / i, Dtype::float32, {3, -1}},
      {"i / i", i / i, Dtype::float32, {1, 1}},
      {"l / i", l / i, Dtype::float32, {2, -5.0 / 3}},
      {"i * i", i * i, Dtype::int32, {1, 9}},
      {"i + l", i + l, Dtype::int64, {3, 2}},
      {"i * f", i * f, Dtype::float32, {0.5, -6}},
      {"f - l", f - l, Dtype::float32, {-1.5, -3}},
      {"d / i", d / i, Dtype::float64, {0.5, -2.0 / 3}},
      {"b * d", b * d, Dtype::float64, {0.5, 0}},
      {"i + array of float64", i + d.data(), Dtype::float64, {1.5, -1}},
      {"pow(i, 2)", pow(i, 2), Dtype::int32, {1, 9}},
      {"pow(l, 3)", pow(l, 3), Dtype::int64, {8, 125}},
      {"pow(l, 0.5)", pow(l, 0.5), Dtype::float32, {1.4142135, 2.236068}},
      {"pow(f, i)", pow(f, i), Dtype::float32, {0.5, 0.125}},
      {"abs(i)", abs(i), Dtype::int32, {1, 3}},
      {"b * 3", b * 3, Dtype::int64, {3, 0}},
      {"b + true", b + true, Dtype::bool_, {1, 1}},
      {"floor(l)", floor(l), Dtype::int64, {2, 5}},
      {"ceil(i)", ceil(i), Dtype::int32, {1, -3}},
      {"round(i)", round(i), Dtype::int32, {1, -3}},
      {"fix(i)", fix(i), Dtype::int32, {1, -3}},
      {"div(l, 2, floor)", div(l, 2, {.rounding_mode = "floor"}), Dtype::int64, {1, 2}},
      {"div(i, 2, floor)", div(i, 2, {.rounding_mode = "floor"}), Dtype::int32, {0, -2}},
      {"div(i, 2, trunc)", div(i, 2, {.rounding_mode = "trunc"}), Dtype::int32, {0, -1}},
      {"i.div(2, trunc)", i.div(2, {.rounding_mode = "trunc"}), Dtype::int32, {0, -1}},
      {"div(l, i, floor)", div(l, i, {.rounding_mode = "floor"}), Dtype::int64, {2, -2}},
      {"div(d * 98, 49, floor)", div(d * 98, 49, {.rounding_mode = "floor"}), Dtype::float64, {1, 4}},
      {"div(i, 2.5, floor)", div(i, 2.5, {.rounding_mode = "floor"}), Dtype::float32, {0, -2}},
      {"remainder(l, 2.5)", remainder(l, 2.5), Dtype::float32, {2, 0}},
      {"floor_divide(7 - l, 2.5)", floor_divide(7 - l, 2.5), Dtype::float32, {2, 0}},
      {"l.remainder(2)", l.remainder(2), Dtype::int64, {0, 1}},
      {"maximum(i, f)", maximum(i, f), Dtype::float32, {1, 2}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_CHECK(row.y.dtype() == row.dtype);
      const auto values = to_vector<double>(row.y.data());
      for (std::size_t k = 0; k < 2; ++k) BOOST_TEST(values[k] == row.values[k], boost::test_tools::tolerance(1e-6));
    }
  }
  // The gradient of the floating operand is floating.
  const Variable x(array<float>({0.5F, 2}, {2}));
  sum(i * x + x * 2 - x / i).backward();
  BOOST_CHECK(x.grad().dtype() == Dtype::float32);
  BOOST_TEST(to_vector<float>(x.grad())[0] == 2.0F);
  BOOST_TEST(to_vector<float>(x.grad())[1] == -3 + 2 + 1.0F / 3, boost::test_tools::tolerance(1e-6F));
}

BOOST_AUTO_TEST_CASE(powers_and_large_integers) {
  const Variable i(array<std::int32_t>({2, -3}, {2})), large(array<std::int64_t>({16777217}, {1}));
  BOOST_CHECK_EXCEPTION(pow(i, -1), catena::ValueError, [](const catena::Error& e) {
    return std::string(e.what()) ==
           "pow: x has the dtype int32, and the exponent is -1; a floating exponent gives a floating result";
  });
  BOOST_TEST(to_vector<double>(pow(i, -1.0).data())[0] == 0.5);
  BOOST_TEST(to_vector<std::int64_t>(div(large, 1, {.rounding_mode = "floor"}).data())[0] == 16777217);
  BOOST_TEST(to_vector<std::int64_t>(floor(large).data())[0] == 16777217);
  BOOST_CHECK_THROW(div(i, 2, {.rounding_mode = "up"}), catena::ValueError);
}

// The rules of real numbers are not those of complex ones.
BOOST_AUTO_TEST_CASE(complex_operands) {
  using Z = catena::complex64;
  const Variable z(array<Z>({Z(1, 2)}, {1}));
  BOOST_CHECK_THROW(pow(z, 2), catena::InvalidType);
  BOOST_CHECK_THROW(pow(z, 3), catena::InvalidType);
  BOOST_CHECK_THROW(square(z), catena::InvalidType);
  BOOST_CHECK_THROW(cat({z, Variable(array<float>({1}, {1}))}), catena::InvalidType);
  const auto numbers = [](const Array& a) { return to_vector<Z>(a); };
  BOOST_CHECK(numbers((z - Scalar(Z(0, 2))).data())[0] == Z(1, 0));
  // Of y = c z, the gradient is conj(c) gy.
  const Variable y = z * Scalar(Z(0, 3));
  BOOST_CHECK(numbers(y.data())[0] == Z(-6, 3));
  Variable start = y;
  start.set_grad(array<Z>({Z(1, 0)}, {1}));
  start.backward();
  BOOST_CHECK(numbers(z.grad())[0] == Z(0, -3));
  // Integers beside complex numbers become complex.
  z.cleargrad();
  const Variable n(array<std::int64_t>({2}, {1})), product = z * n;
  BOOST_CHECK(numbers(product.data())[0] == Z(2, 4));
  Variable root = product;
  root.set_grad(array<Z>({Z(1, 0)}, {1}));
  root.backward();
  BOOST_CHECK(numbers(z.grad())[0] == Z(2, 0));
  BOOST_CHECK(numbers((n * Scalar(Z(1, 2))).data())[0] == Z(2, 4));
  BOOST_CHECK(numbers((n + Scalar(Z(1, 2))).data())[0] == Z(3, 2));
}

BOOST_AUTO_TEST_CASE(cat_of_several_dtypes) {
  const Variable i(array<std::int32_t>({1}, {1})), l(array<std::int64_t>({2}, {1}));
  const Variable f(array<float>({0.5F}, {1})), d(array<double>({0.25}, {1}));
  const Variable whole = cat({i, l}), floating = cat({l, f, i}), wide = cat({f, d}, {.dim = 0});
  BOOST_CHECK(whole.dtype() == Dtype::int64 && floating.dtype() == Dtype::float32 && wide.dtype() == Dtype::float64);
  BOOST_TEST(to_vector<double>(whole.data()) == (std::vector<double>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(floating.data()) == (std::vector<double>{2, 0.5, 1}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<double>(wide.data()) == (std::vector<double>{0.5, 0.25}), boost::test_tools::per_element());
  sum(wide * 3).backward();
  BOOST_CHECK(f.grad().dtype() == Dtype::float32 && d.grad().dtype() == Dtype::float64);
  BOOST_TEST(to_vector<double>(f.grad())[0] == 3);
  BOOST_CHECK_THROW(cat({i, Variable()}), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(bad_operands) {
  const Variable f(arrays::ones({2, 3})), i(arrays::ones({2, 3}, Dtype::int32)),
      d(arrays::ones({2, 3}, Dtype::float64));
  BOOST_CHECK_NO_THROW(i + i);
  BOOST_CHECK_NO_THROW(-i);
  BOOST_CHECK_NO_THROW(i - 1);
  BOOST_CHECK_EXCEPTION(f + d, catena::InvalidType, [](const catena::InvalidType& e) {
    return e.expect() == "in_types[0].dtype == in_types[1].dtype" && e.actual() == "float32 != float64" &&
           std::string(e.what()) ==
               "Invalid operation is performed in: _ + _ (Forward)\nx is float32, y float64: y.astype(float32)\n\n"
               "Expect: in_types[0].dtype == in_types[1].dtype\nActual: float32 != float64";
  });
  BOOST_CHECK_EXCEPTION(f + Variable(arrays::ones({4})), catena::InvalidType,
                        [](const catena::InvalidType& e) { return e.actual() == "(2, 3) and (4,)"; });
  BOOST_CHECK_EXCEPTION(f + arrays::ones({4, 2}), catena::ValueError, [](const catena::ValueError& e) {
    const std::string text = e.what();
    return text.find("Failed to broadcast arrays") != std::string::npos && text.find("(4, 2)") != std::string::npos &&
           text.find("(2, 3)") != std::string::npos;
  });
  BOOST_CHECK_THROW(arrays::ones({4, 2}) - f, catena::ValueError);
  BOOST_CHECK_THROW(pow(f, arrays::ones({2, 2, 2})), catena::ValueError);
  BOOST_CHECK_NO_THROW(f + arrays::ones({3}));
  BOOST_CHECK_THROW(f + Variable(), catena::TypeError);
  BOOST_CHECK_THROW(operator_matmul(f, f), catena::InvalidType);
  BOOST_CHECK_THROW(operator_matmul(f, 2), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(devices_do_not_mix) {
  if (!test::has_cuda()) return;
  const Array there = to_device(arrays::ones({2}), test::kCuda);
  const Variable x(to_device(arrays::ones({2}), test::kCpu));
  BOOST_CHECK_THROW(x + there, catena::TypeError);
  BOOST_CHECK_EXCEPTION(x + Variable(there), catena::ValueError, [](const catena::ValueError& e) {
    const std::string text = e.what();
    return text.find("cpu:0") != std::string::npos && text.find("cuda:0") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(derivatives) {
  using V = Variables;
  struct Row {
    const char* name;
    std::function<Variable(const V&)> function;
    std::vector<Shape> shapes;
  };
  const Array c = values({3, 2}, 0.5, 2, 1), row = values({2}, 0.5, 2, 2);
  const Row rows[] = {
      {"neg", [](const V& x) { return -x[0]; }, {{3, 2}}},
      {"add", [](const V& x) { return x[0] + x[1]; }, {{3, 2}, {3, 2}}},
      {"add broadcast", [](const V& x) { return x[0] + x[1]; }, {{3, 1}, {2}}},
      {"subtract broadcast", [](const V& x) { return x[0] - x[1]; }, {{}, {3, 2}}},
      {"multiply", [](const V& x) { return x[0] * x[1]; }, {{3, 2}, {3, 2}}},
      {"multiply broadcast", [](const V& x) { return x[0] * x[1]; }, {{2}, {4, 3, 1}}},
      {"multiply itself", [](const V& x) { return x[0] * x[0] * x[0]; }, {{3, 2}}},
      {"divide", [](const V& x) { return x[0] / x[1]; }, {{3, 2}, {3, 2}}},
      {"divide broadcast", [](const V& x) { return x[0] / x[1]; }, {{3, 2}, {1, 2}}},
      {"power", [](const V& x) { return pow(x[0], x[1]); }, {{3, 2}, {3, 2}}},
      {"power broadcast", [](const V& x) { return pow(x[0], x[1]); }, {{3, 1}, {2}}},
      {"matmul", [](const V& x) { return operator_matmul(x[0], x[1]); }, {{3, 4}, {4, 2}}},
      {"matmul vector", [](const V& x) { return operator_matmul(x[0], x[1]); }, {{3, 4}, {4}}},
      {"outer", [](const V& x) { return operator_matmul(x[0], x[1]); }, {{3}, {1, 4}}},
      {"x + c", [&](const V& x) { return x[0] + c; }, {{3, 2}}},
      {"x + 2", [](const V& x) { return x[0] + 2; }, {{3, 2}}},
      {"x - c", [&](const V& x) { return x[0] - c; }, {{3, 2}}},
      {"c - x", [&](const V& x) { return row - x[0]; }, {{3, 2}}},
      {"x * c", [&](const V& x) { return row * x[0]; }, {{3, 2}}},
      {"x * 3", [](const V& x) { return x[0] * 3; }, {{}}},
      {"x / c", [&](const V& x) { return x[0] / c; }, {{3, 2}}},
      {"c / x", [&](const V& x) { return c / x[0]; }, {{3, 2}}},
      {"3 / x", [](const V& x) { return 3 / x[0]; }, {{3, 2}}},
      {"x ** 2", [](const V& x) { return pow(x[0], 2); }, {{3, 2}}},
      {"x ** 2.5", [](const V& x) { return pow(x[0], 2.5); }, {{3, 2}}},
      {"x ** -1", [](const V& x) { return pow(x[0], -1); }, {{3, 2}}},
      {"x ** 0", [](const V& x) { return pow(x[0], 0); }, {{3, 2}}},
      {"x ** c", [&](const V& x) { return pow(x[0], c); }, {{3, 2}}},
      {"2 ** x", [](const V& x) { return pow(2, x[0]); }, {{3, 2}}},
      {"c ** x", [&](const V& x) { return pow(c, x[0]); }, {{3, 2}}},
      {"x @ c", [&](const V& x) { return operator_matmul(x[0], c); }, {{4, 3}}},
      {"c @ x", [&](const V& x) { return operator_matmul(c, x[0]); }, {{2, 4}}},
  };
  for (const Row& r : rows) BOOST_TEST_CONTEXT(r.name) {
      Arrays x, ggx;
      Variables v;
      for (std::size_t i = 0; i < r.shapes.size(); ++i) {
        x.push_back(values(r.shapes[i], 0.5, 2, int(i) * 3));
        ggx.push_back(values(r.shapes[i], -1, 1, int(i) + 11));
        v.push_back(Variable(x[i]));
      }
      const Array gy = values(r.function(v).shape(), -1, 1, 7);
      const gradient_check::Options o = {.eps = 1e-5, .atol = 1e-7, .rtol = 1e-6};
      BOOST_CHECK_NO_THROW(gradient_check::check_backward(r.function, x, {gy}, o));
      BOOST_CHECK_NO_THROW(gradient_check::check_double_backward(r.function, x, {gy}, ggx, o));
      // float16 and bfloat16: within the rounding of a few operations of the float64 gradient.
      for (const auto& [t, atol, rtol] :
           {std::tuple(Dtype::float16, 1e-3, 5e-3), std::tuple(Dtype::bfloat16, 8e-3, 4e-2)}) {
        Variables narrow, wide;
        for (const Array& a : x) {
          narrow.push_back(Variable(astype(a, t)));
          wide.push_back(Variable(astype(narrow.back().data(), Dtype::float64)));
        }
        Variable yn = r.function(narrow), yw = r.function(wide);
        yn.set_grad(astype(gy, t));
        yw.set_grad(astype(yn.grad(), Dtype::float64));
        yn.backward();
        yw.backward();
        for (std::size_t i = 0; i < x.size(); ++i)
          BOOST_CHECK_NO_THROW(testing::assert_allclose(narrow[i].grad(), wide[i].grad(), atol, rtol));
      }
    }
}

// An array constant whose shape does not broadcast to that of the variable: the result has the common shape, and the
// gradient is summed back.
BOOST_AUTO_TEST_CASE(constants_may_enlarge_the_variable) {
  const Array c = values({2, 3, 2}, 0.5, 2, 1);
  const std::pair<const char*, std::function<Variable(const Variable&)>> rows[] = {
      {"x + c", [&](const Variable& x) { return x + c; }},
      {"c + x", [&](const Variable& x) { return c + x; }},
      {"x - c", [&](const Variable& x) { return x - c; }},
      {"c - x", [&](const Variable& x) { return c - x; }},
      {"x * c", [&](const Variable& x) { return x * c; }},
      {"c * x", [&](const Variable& x) { return c * x; }},
      {"x / c", [&](const Variable& x) { return x / c; }},
      {"c / x", [&](const Variable& x) { return c / x; }},
      {"x ** c", [&](const Variable& x) { return pow(x, c); }},
      {"c ** x", [&](const Variable& x) { return pow(c, x); }},
  };
  for (const auto& [name, f] : rows)
    for (const Shape& shape : {Shape{}, Shape{2}, Shape{3, 1}, Shape{2, 1, 1}, Shape{1, 2}, Shape{1, 1, 1, 1}})
      BOOST_TEST_CONTEXT(name << " " << catena::concat(shape)) {
        const Array x = values(shape, 0.5, 2, 3);
        const Variable y = f(Variable(x));
        BOOST_CHECK(y.shape() == catena::broadcast_shapes("test", shape, c.shape()));
        const auto function = [&f = f](const Variables& v) { return f(v[0]); };
        const gradient_check::Options o = {.eps = 1e-5, .atol = 1e-7, .rtol = 1e-6};
        const Array gy = values(y.shape(), -1, 1, 7);
        BOOST_CHECK_NO_THROW(gradient_check::check_backward(function, {x}, {gy}, o));
        BOOST_CHECK_NO_THROW(gradient_check::check_double_backward(function, {x}, {gy}, {values(shape, -1, 1, 11)}, o));
      }
}

BOOST_AUTO_TEST_CASE(values_of_an_enlarged_variable) {
  Variable x(array<float>({1, 2}, {2, 1}));
  const Array c = array<double>({1, 2, 4}, {3});
  const Variable y = c - x, z = c / x;
  BOOST_CHECK(y.dtype() == Dtype::float32 && y.shape() == (Shape{2, 3}));
  BOOST_TEST(to_vector<float>(y.data()) == (std::vector<float>{0, 1, 3, -1, 0, 2}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<float>(z.data()) == (std::vector<float>{1, 2, 4, 0.5, 1, 2}), boost::test_tools::per_element());
  sum(c * x).backward();
  BOOST_CHECK(x.grad().shape() == (Shape{2, 1}));
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{7, 7}), boost::test_tools::per_element());
  // The result of an operation in place is a new variable, which may be larger.
  Variable w = x;
  w += c;
  BOOST_TEST(to_vector<float>(w.data()) == (std::vector<float>{2, 3, 5, 3, 4, 6}), boost::test_tools::per_element());
  const Variable whole(array<std::int32_t>({5, 6}, {2, 1}));
  BOOST_TEST(to_vector<std::int32_t>((whole - c).data()) == (std::vector<std::int32_t>{4, 3, 1, 5, 4, 2}),
             boost::test_tools::per_element());
  // No element at all.
  BOOST_CHECK((Variable(arrays::ones({1, 3})) * arrays::ones({0, 3})).shape() == (Shape{0, 3}));
  BOOST_CHECK((arrays::ones({0, 1}) + Variable(arrays::ones({1}))).shape() == (Shape{0, 1}));
}

BOOST_AUTO_TEST_CASE(gradients_have_the_shape_of_their_inputs) {
  Variable x(arrays::ones({3, 1})), y(arrays::ones({2}));
  sum(x * y + y).backward();
  BOOST_CHECK(x.grad().shape() == (Shape{3, 1}));
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{2, 2, 2}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<float>(y.grad()) == (std::vector<float>{6, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(compound_assignment_makes_new_variables) {
  Variable x(arrays::ones({2}));
  Variable y = x;
  y += x;
  y *= 3;
  y -= 1;
  y /= 2;
  BOOST_TEST(to_vector<float>(x.data()) == (std::vector<float>{1, 1}), boost::test_tools::per_element());
  BOOST_TEST(to_vector<float>(y.data()) == (std::vector<float>{2.5, 2.5}), boost::test_tools::per_element());
  sum(y).backward();
  BOOST_TEST(to_vector<float>(x.grad()) == (std::vector<float>{3, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(golden_values) {
  using C = test::GoldenCall;
  const auto scalar = [](const C& c) {
    const auto& v = c.args()["c"];
    return v.is_number_float() ? Constant(v.get<double>()) : Constant(v.get<std::int64_t>());
  };
  test::GoldenFunctions f;
  f["neg"] = [](const C& c) { return Variables{-c.x(0)}; };
  f["abs"] = [](const C& c) { return Variables{abs(c.x(0))}; };
#define OPERATOR(name, expression)           \
  f[name] = [](const C& c) {                 \
    const Variable x = c.x(0), y = c.x(1);   \
    return Variables{expression(x, y)};      \
  };                                         \
  f[name "_const"] = [scalar](const C& c) {  \
    const Variable x = c.x(0);               \
    const Constant k = scalar(c);            \
    return Variables{expression(x, k)};      \
  };                                         \
  f[name "_rconst"] = [scalar](const C& c) { \
    const Variable x = c.x(0);               \
    const Constant k = scalar(c);            \
    return Variables{expression(k, x)};      \
  };                                         \
  f[name "_array"] = [](const C& c) {        \
    const Variable x = c.x(0);               \
    const Array k = c.array(1);              \
    return Variables{expression(x, k)};      \
  };                                         \
  f[name "_rarray"] = [](const C& c) {       \
    const Variable x = c.x(0);               \
    const Array k = c.array(1);              \
    return Variables{expression(k, x)};      \
  }
#define ADD(a, b) (a) + (b)
#define SUB(a, b) (a) - (b)
#define MUL(a, b) (a) * (b)
#define DIV(a, b) (a) / (b)
  OPERATOR("add", ADD);
  OPERATOR("sub", SUB);
  OPERATOR("mul", MUL);
  OPERATOR("div", DIV);
  OPERATOR("pow", pow);
  f["matmul"] = [](const C& c) { return Variables{operator_matmul(c.x(0), c.x(1))}; };
  f["matmul_array"] = [](const C& c) { return Variables{operator_matmul(c.x(0), c.array(1))}; };
  f["matmul_rarray"] = [](const C& c) { return Variables{operator_matmul(c.array(1), c.x(0))}; };
  f["graph"] = [](const C& c) {
    const std::string e = c.text("expr", "");
    const Variable &x = c.x(0), &y = c.size() > 1 ? c.x(1) : c.x(0);
    if (e == "x * x + x") return Variables{x * x + x};
    if (e == "(x + x) * x") return Variables{(x + x) * x};
    if (e == "(x * y, sin(x) + y)") return Variables{x * y, sin(x) + y};
    if (e == "h = tanh(x * y); h * h + h - exp(h)") {
      const Variable h = tanh(x * y);
      return Variables{h * h + h - exp(h)};
    }
    catena::fail<catena::KeyError>("graph", "no such expression: ", e);
  };
  f["forget"] = [](const C& c) {
    const std::string e = c.text("func", "");
    if (e == "exp(x)") return Variables{forget([](const Variable& x) { return exp(x); }, c.x(0))};
    if (e == "(x + y) * x")
      return Variables{forget([](const Variable& x, const Variable& y) { return (x + y) * x; }, c.x(0), c.x(1))};
    if (e == "(x * y, tanh(y))") {
      const auto [product, t] =
          forget([](const Variable& x, const Variable& y) { return std::pair(x * y, tanh(y)); }, c.x(0), c.x(1));
      return Variables{product, t};
    }
    catena::fail<catena::KeyError>("forget", "no such function: ", e);
  };
  test::run_golden("operators", f);
}

BOOST_AUTO_TEST_SUITE_END()
