// The functions that gradient_check takes: links, function objects, functions, lambdas, random ones.
#include <catena/autograd/gradient_check.h>

#include <boost/test/unit_test.hpp>
#include <tuple>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/links/classifier.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/sequential.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using gradient_check::check_backward;
using gradient_check::check_double_backward;
using gradient_check::numerical_grad;
using test::spread;

namespace {

struct Wide : nn::Chain {
  nn::Linear l1{3, 4}, l2{4, 2};
  Wide() {
    int k = 0;
    for (Variable p : params()) p.set_data(spread(p.shape(), -1, 1, ++k));  // float64: differences are exact enough
  }
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(sin(l1(x))); }
};
Variables params_of(const nn::Link& l) {
  Variables list;
  for (const Variable& p : l.params()) list.push_back(p);
  return list;
}

struct Product final : Function {
  Arrays forward(const Arrays& x) override { return {x[0] * x[1]}; }
  Arrays backward(const Arrays& x, const Arrays& gy) override { return {gy[0] * x[1], gy[0] * x[0]}; }
};

Variable quotient(const Variable& a, const Variable& b) { return a / b; }

template <class F> std::string error_of(F f) {
  try {
    f();
  } catch (const catena::Error& e) {
    return e.what();
  }
  return {};
}
#define CHECK_PASSES(...) BOOST_TEST(error_of([&] { __VA_ARGS__; }) == "")

const gradient_check::Options kOptions{.eps = 1e-5, .atol = 1e-7, .rtol = 1e-6};

}  // namespace

BOOST_AUTO_TEST_SUITE(kinds_of_functions)

BOOST_AUTO_TEST_CASE(links) {
  Wide model;
  const Array x = spread({5, 3}, -1, 1, 4), gy = spread({5, 2}, -1, 1, 5);
  gradient_check::Options options = kOptions;
  options.params = params_of(model);
  BOOST_REQUIRE(options.params.size() == 4u);
  CHECK_PASSES(check_backward(model, {x}, {gy}, options));
  CHECK_PASSES(check_double_backward(model, {x}, {gy}, {spread({5, 3}, -1, 1, 6)}, options));
  // A list of links, which is called with a list.
  nn::Sequential both((Wide()), [](const Variable& v) { return square(v); });
  options.params = params_of(both);
  CHECK_PASSES(check_backward(both, {x}, {gy}, options));
  const Arrays weights{gy};
  CHECK_PASSES(gradient_check::numerical_grad([&] { return model(Variable(x)); }, {x}, weights, 1e-5));
}

BOOST_AUTO_TEST_CASE(function_objects_and_functions) {
  const Array a = spread({6}, 1, 2), b = spread({6}, 1, 2, 1), gy = spread({6}, -1, 1, 2);
  CHECK_PASSES(check_backward(make_function<Product>(), {a, b}, {gy}, kOptions));
  CHECK_PASSES(check_backward(quotient, {a, b}, {gy}, kOptions));
  CHECK_PASSES(check_backward(&quotient, {a, b}, {gy}, kOptions));
  CHECK_PASSES(check_double_backward(quotient, {a, b}, {gy}, {gy, a}, kOptions));
  CHECK_PASSES(check_backward(nn::softmax, {spread({2, 3})}, {spread({2, 3}, -1, 1, 1)}, kOptions));
  CHECK_PASSES(check_backward(autograd::exp, {a}, {gy}, kOptions));
  const auto tuple = [](const Variable& u, const Variable& v) { return std::tuple(u * v, u + v, exp(u)); };
  CHECK_PASSES(check_backward(tuple, {a, b}, {gy, b, a}, kOptions));
  const auto list = [](const Variables& v) { return std::vector<Variable>{v[0] * v[1], v[2]}; };
  CHECK_PASSES(check_backward(list, {a, b, gy}, {gy, b}, kOptions));
  int calls = 0;  // an object with a state is not copied
  auto counts = [&calls](const Variable& v) mutable { return ++calls, v * v; };
  CHECK_PASSES(check_backward(counts, {a}, {gy}, kOptions));
  BOOST_TEST(calls == 13);
  // A wrong number of variables, and a wrong rule.
  BOOST_CHECK_EXCEPTION(check_backward(quotient, {a}, {gy}), catena::TypeError,
                        [](const auto& e) { return std::string(e.what()) == "func: it does not take 1 Variable"; });
  BOOST_CHECK_THROW(check_backward([](const Variable& u, const Variable& v) { return u * v.data(); }, {a, b}, {gy}),
                    catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(what_numerical_grad_takes) {
  const Array x = spread({4}, 1, 2), w = spread({4}, -1, 1, 1);
  const auto close = [&](const Arrays& g, const Array& expected) {
    for (std::int64_t i = 0; i < 4; ++i)
      BOOST_TEST(to_vector<double>(g[0])[std::size_t(i)] == to_vector<double>(expected)[std::size_t(i)],
                 boost::test_tools::tolerance(1e-6));
  };
  close(numerical_grad([&] { return x * x; }, {x}, {w}, 1e-4), x * w * 2);
  close(numerical_grad([&] { return Arrays{x * x}; }, {x}, {w}, 1e-4), x * w * 2);
  close(numerical_grad([&] { return Variable(x) * x; }, {x}, {w}, 1e-4), x * w * 2);
  close(numerical_grad([&] { return std::tuple(x * x, x); }, {x}, {w, w}, 1e-4), x * w * 2 + w);
  // Plain numbers.
  const Array one = array<double>({1}, {});
  close(numerical_grad([&] { return item(sum(x * x)).to_double(); }, {x}, {one}, 1e-4), x * 2);
}

BOOST_AUTO_TEST_CASE(random_functions_draw_once) {
  seed(9);
  const Array x = spread({40, 5}), gy = spread({40, 5}, -1, 1, 1);
  const auto drop = [](const Variable& v) { return nn::dropout(v, {.ratio = 0.4, .train = true}); };
  CHECK_PASSES(check_backward(drop, {x}, {gy}, kOptions));
  CHECK_PASSES(check_backward(nn::dropout, {x}, {gy}, kOptions));
  CHECK_PASSES(check_double_backward(drop, {x}, {gy}, {spread({40, 5}, -1, 1, 2)}, kOptions));
  const auto noisy = [](const Variable& mean, const Variable& ln_var) { return nn::gaussian(mean, ln_var); };
  CHECK_PASSES(check_backward(noisy, {x, gy}, {gy}, kOptions));
  // Afterwards the generator stands where one call leaves it.
  seed(9);
  check_backward(drop, {x}, {gy}, kOptions);
  const std::uint64_t after_check = default_generator().offset;
  seed(9);
  drop(Variable(x));
  BOOST_TEST(after_check == default_generator().offset);
  // And differs from call to call otherwise.
  const auto drawn = [&] { return to_vector<double>(drop(Variable(x)).data()); };
  const std::vector<double> first = drawn();
  BOOST_TEST((first != drawn()));
}

BOOST_AUTO_TEST_SUITE_END()
