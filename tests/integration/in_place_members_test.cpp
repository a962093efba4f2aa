// PyTorch's members that write elements: of arrays of both libraries and of variables.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include <catena/catena.h>
#include <catena/tests/support/message_of.h>

using autograd::Variable;
using Doubles = std::vector<double>;

namespace {

Doubles of(const nd::Array& a) { return a.astype(nd::float64).to_vector<double>(); }
Doubles of(const Variable& v) { return of(nd::Array(v.data())); }
template <class A> void check(const A& a, const Doubles& expected) {
  BOOST_TEST(of(a) == expected, boost::test_tools::per_element());
}
nd::Array numbers(const Doubles& values, const nd::Shape& shape) { return nd::array(values, shape); }

struct Call {
  const char* name;
  void (*run)(const nd::Array& a);  // of [1, -2, 3]
  Doubles expected;
};
const Call kCalls[] = {
    {"add_", [](const nd::Array& a) { a.add_(1); }, {2, -1, 4}},
    {"add_ with alpha",
     [](const nd::Array& a) {
       a.add_(nd::array({1.0, 2.0, 3.0}), {.alpha = 0.5});
     },
     {1.5, -1, 4.5}},
    {"add_ of a number with alpha", [](const nd::Array& a) { a.add_(2, {.alpha = 3}); }, {7, 4, 9}},
    {"sub_", [](const nd::Array& a) { a.sub_(1).sub_(1, {.alpha = 2}); }, {-2, -5, 0}},
    {"mul_",
     [](const nd::Array& a) {
       a.mul_(2).mul_(nd::array({1.0, 0.5, 2.0}));
     },
     {2, -2, 12}},
    {"div_", [](const nd::Array& a) { a.div_(2); }, {0.5, -1, 1.5}},
    {"div_ floor", [](const nd::Array& a) { a.div_(2, {.rounding_mode = "floor"}); }, {0, -1, 1}},
    {"div_ trunc", [](const nd::Array& a) { a.div_(-2, {.rounding_mode = "trunc"}); }, {0, 1, -1}},
    {"pow_", [](const nd::Array& a) { a.pow_(2); }, {1, 4, 9}},
    {"remainder_", [](const nd::Array& a) { a.remainder_(2); }, {1, 0, 1}},
    {"fmod_", [](const nd::Array& a) { a.fmod_(2); }, {1, 0, 1}},
    {"floor_divide_", [](const nd::Array& a) { a.floor_divide_(2); }, {0, -1, 1}},
    {"clamp_", [](const nd::Array& a) { a.clamp_({.max = 2}); }, {1, -2, 2}},
    {"clamp_ of two", [](const nd::Array& a) { a.clamp_(0, 2.5); }, {1, 0, 2.5}},
    {"clamp_min_", [](const nd::Array& a) { a.clamp_min_(0); }, {1, 0, 3}},
    {"clamp_max_", [](const nd::Array& a) { a.clamp_max_(0); }, {0, -2, 0}},
    {"zero_", [](const nd::Array& a) { a.zero_(); }, {0, 0, 0}},
    {"fill_", [](const nd::Array& a) { a.fill_(7); }, {7, 7, 7}},
    {"fill_ by an array", [](const nd::Array& a) { a.fill_(nd::array(4.0)); }, {4, 4, 4}},
    {"copy_",
     [](const nd::Array& a) {
       a.copy_(nd::array({4, 5, 6}));
     },
     {4, 5, 6}},
    {"relu_", [](const nd::Array& a) { a.relu_(); }, {1, 0, 3}},
    {"abs_, sqrt_", [](const nd::Array& a) { a.mul_(a).abs_().sqrt_(); }, {1, 2, 3}},
    {"neg_", [](const nd::Array& a) { a.neg_(); }, {-1, 2, -3}},
    {"square_, reciprocal_", [](const nd::Array& a) { a.square_().mul_(4).reciprocal_(); }, {0.25, 0.0625, 1.0 / 36}},
    {"sign_", [](const nd::Array& a) { a.sign_(); }, {1, -1, 1}},
    {"floor_", [](const nd::Array& a) { a.mul_(0.5).floor_(); }, {0, -1, 1}},
    {"ceil_", [](const nd::Array& a) { a.mul_(0.5).ceil_(); }, {1, -1, 2}},
    {"round_", [](const nd::Array& a) { a.mul_(0.7).round_(); }, {1, -1, 2}},
    {"trunc_", [](const nd::Array& a) { a.mul_(0.5).trunc_(); }, {0, -1, 1}},
    {"frac_", [](const nd::Array& a) { a.mul_(0.5).frac_(); }, {0.5, 0, 0.5}},
    {"lerp_",
     [](const nd::Array& a) {
       a.lerp_(nd::array({3.0, 2.0, 7.0}), 0.25);
     },
     {1.5, -1, 4}},
    {"lerp_ to the end",
     [](const nd::Array& a) {
       a.lerp_(nd::array({0.1, 0.2, 0.3}), 1);
     },
     {0.1, 0.2, 0.3}},
    {"lerp_ by arrays",
     [](const nd::Array& a) {
       a.lerp_(nd::array({3.0, 2.0, 7.0}), nd::array({0.0, 0.25, 1.0}));
     },
     {1, -1, 7}},
    {"addcmul_",
     [](const nd::Array& a) {
       a.addcmul_(nd::array({1.0, 2.0, 3.0}), 2.0, {.value = 0.5});
     },
     {2, 0, 6}},
    {"addcdiv_",
     [](const nd::Array& a) {
       a.addcdiv_(nd::array({1.0, 2.0, 3.0}), 2.0, {.value = 2});
     },
     {2, 0, 6}},
    {"masked_fill_", [](const nd::Array& a) { a.masked_fill_(a < 0, -1e9); }, {1, -1e9, 3}},
    {"index_add_",
     [](const nd::Array& a) {
       a.index_add_(0, nd::array({2, 0, 2}), nd::array({1.0, 2.0, 3.0}), {.alpha = 2});
     },
     {5, -2, 11}},
    {"index_copy_",
     [](const nd::Array& a) {
       a.index_copy_(0, nd::array({2, 0}), nd::array({8.0, 9.0}));
     },
     {9, -2, 8}},
    {"index_fill_", [](const nd::Array& a) { a.index_fill_(-1, nd::array({1}), 5); }, {1, 5, 3}},
    {"scatter_",
     [](const nd::Array& a) {
       a.scatter_(0, nd::array({2, 1}), nd::array({8.0, 9.0, 10.0}));
     },
     {1, 9, 8}},
    {"scatter_ of a number",
     [](const nd::Array& a) {
       a.scatter_(0, nd::array({2, 1}), 4);
     },
     {1, 4, 4}},
    {"scatter_add_",
     [](const nd::Array& a) {
       a.scatter_add_(0, nd::array({2, 2}), nd::array({8.0, 9.0}));
     },
     {1, -2, 20}},
    {"nan_to_num_", [](const nd::Array& a) { a.mul_(nd::nan).nan_to_num_(); }, {0, 0, 0}},
    {"bernoulli_ of 1", [](const nd::Array& a) { a.bernoulli_(1.0); }, {1, 1, 1}},
    {"bernoulli_ of arrays",
     [](const nd::Array& a) {
       a.bernoulli_(nd::array({0.0, 1.0, 0.0}));
     },
     {0, 1, 0}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(in_place_members)

// Of arrays and of views with strides: the same elements.
BOOST_AUTO_TEST_CASE(values) {
  for (const Call& call : kCalls) {
    BOOST_TEST_CONTEXT(call.name) {
      const nd::Array a = numbers({1, -2, 3}, {3}), wide = numbers({1, 0, -2, 0, 3, 0}, {3, 2});
      call.run(a);
      check(a, call.expected);
      call.run(wide(nd::_, 0));
      check(wide(nd::_, 0), call.expected);
      check(wide(nd::_, 1), {0, 0, 0});
    }
  }
}

BOOST_AUTO_TEST_CASE(elementary_functions) {
  const auto value = [](void (*run)(const nd::Array&)) {
    const nd::Array a = numbers({0.5}, {1});
    run(a);
    return of(a)[0];
  };
  const auto close = boost::test_tools::tolerance(1e-14);
  BOOST_TEST(value([](const nd::Array& a) { a.exp_(); }) == std::exp(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.exp2_(); }) == std::exp2(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.expm1_(); }) == std::expm1(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.log_(); }) == std::log(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.log2_(); }) == -1, close);
  BOOST_TEST(value([](const nd::Array& a) { a.log10_(); }) == std::log10(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.log1p_(); }) == std::log1p(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.rsqrt_(); }) == std::sqrt(2.0), close);
  BOOST_TEST(value([](const nd::Array& a) { a.sin_(); }) == std::sin(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.cos_(); }) == std::cos(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.tan_(); }) == std::tan(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.asin_(); }) == std::asin(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.acos_(); }) == std::acos(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.atan_(); }) == std::atan(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.sinh_(); }) == std::sinh(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.cosh_(); }) == std::cosh(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.tanh_(); }) == std::tanh(0.5), close);
  BOOST_TEST(value([](const nd::Array& a) { a.sigmoid_(); }) == 1 / (1 + std::exp(-0.5)), close);
}

BOOST_AUTO_TEST_CASE(matrices) {
  const nd::Array a = numbers({1, 2, 3, 4}, {2, 2});
  check(a.copy().tril_(), {1, 0, 3, 4});
  check(a.copy().triu_(1), {0, 2, 0, 0});
  check(a.copy().fill_diagonal_(9), {9, 2, 3, 9});
  check(a.copy().scatter_(1, nd::array({{1}, {0}}), nd::array({{7.0}, {8.0}})), {1, 7, 8, 4});
  check(a.copy().index_add_(1, nd::array({0}), numbers({1, 1}, {2, 1})), {2, 2, 4, 4});
}

BOOST_AUTO_TEST_CASE(of_the_framework) {
  const autograd::Array a = autograd::arrays::ones({2, 2});
  a.add_(1.0).mul_(3.0);
  a[0] = 0.0;
  a.clamp_({.max = 5.0});
  a += 1.0;
  check(nd::Array(a), {1, 1, 6, 6});
  const Variable one = autograd::tensor({1.0, 1.0});
  check(nd::Array(a.copy_(one)), {1, 1, 1, 1});
  check(nd::zeros(2).add_(one, {.alpha = 3}), {3, 3});
  BOOST_TEST(nd::zeros({2, 3, 4}).transpose(1, 2).shape() == (nd::Shape{2, 4, 3}));
  BOOST_TEST(nd::zeros({2, 3}).transpose(0, 1).shape() == (nd::Shape{2, 3}));
  const Variable p(nd::array({1.0f, 2.0f}), {.requires_grad = false});
  p.mul_(0.5).add_(nd::array({1.0f, 1.0f}), {.alpha = 2});
  check(p, {2.5, 3});
  p.index_put_({0}, 7).index_put_({nd::array({1, 1})}, 1.0, true);
  check(p, {7, 5});
  p.copy_(autograd::arrays::zeros({2}));
  check(p, {0, 0});
}

// As in an exponential moving average of parameters.
BOOST_AUTO_TEST_CASE(parameters_without_a_graph) {
  const Variable p(nd::array({1.0, 2.0})), q(nd::array({3.0, 4.0}));
  {
    const autograd::no_grad guard;
    p.mul_(0.5).add_(q, {.alpha = 0.25});
    p.zero_grad();
  }
  check(p, {1.25, 2});
}

BOOST_AUTO_TEST_CASE(variables_with_a_graph_are_not_written) {
  const Variable x(nd::array({1.0, 2.0})), plain(nd::array({5.0, 6.0}), {.requires_grad = false});
  const Variable y = x * 2;
  for (const Variable& v : {x, y}) {
    const std::string said = test::message_of<catena::RuntimeError>([&] { v.add_(1); });
    BOOST_TEST(said.find("no_grad") != std::string::npos);
    BOOST_TEST(said.find("x = x + y") != std::string::npos);
  }
  BOOST_CHECK_THROW(plain.add_(x), catena::RuntimeError);
  BOOST_CHECK_THROW(plain.index_put_({0}, x), catena::RuntimeError);
  check(x, {1, 2});
  check(plain, {5, 6});
  plain.add_(x.detach());
  check(plain, {6, 8});
}

// A rule that reads an array which was changed in place says so.
BOOST_AUTO_TEST_CASE(graphs_notice_the_change) {
  const Variable x(nd::array({1.0, 2.0})), y = autograd::sum(x * x);
  {
    const autograd::no_grad guard;
    x.add_(1);
  }
  BOOST_CHECK_THROW(y.backward(), catena::RuntimeError);
}

BOOST_AUTO_TEST_CASE(random_numbers) {
  autograd::manual_seed(3);
  const nd::Array a = nd::empty(10000, nd::float32);
  a.normal_(2, 0.5);
  BOOST_TEST(a.mean().item<double>() == 2, boost::test_tools::tolerance(0.02));
  BOOST_TEST(a.std().item<double>() == 0.5, boost::test_tools::tolerance(0.05));
  a.uniform_({.from = -1, .to = 3});
  BOOST_TEST(bool(((a >= -1) & (a < 3)).all()));
  BOOST_TEST(a.mean().item<double>() == 1, boost::test_tools::tolerance(0.1));
  a.exponential_(2);
  BOOST_TEST(bool((a >= 0).all()));
  BOOST_TEST(a.mean().item<double>() == 0.5, boost::test_tools::tolerance(0.1));
  a.random_(2, 5);
  BOOST_TEST(bool(((a == 2) | (a == 3) | (a == 4)).all()));
  a.random_(2);
  BOOST_TEST(bool(((a == 0) | (a == 1)).all()));
  a.random_();
  BOOST_TEST(bool(((a >= 0) & (a <= 16777216)).all()));
  BOOST_TEST(a.max().item<double>() > 1e6);
  const nd::Array i = nd::empty(1000, nd::int8);
  i.random_();
  const nd::Array unsigned_numbers = nd::zeros(100, nd::uint64);
  unsigned_numbers.random_();
  BOOST_TEST(unsigned_numbers.max().item<double>() > 1e15);
  BOOST_TEST(bool((i >= 0).all()));
  BOOST_TEST(i.max().item<int>() > 64);
  i.bernoulli_();
  BOOST_TEST(bool(((i == 0) | (i == 1)).all()));
  autograd::manual_seed(3);
  const nd::Array first = nd::empty(4).normal_().copy();
  autograd::manual_seed(3);
  check(nd::empty(4).normal_(), of(first));
}

BOOST_AUTO_TEST_CASE(errors) {
  const nd::Array a = numbers({1, 2, 3}, {3}), i = nd::arange(3);
  BOOST_CHECK_THROW(i.add_(1.5), catena::TypeError);
  BOOST_CHECK_THROW(i.div_(2), catena::TypeError);
  BOOST_CHECK_THROW(i.masked_fill_(i > 0, 1.5), catena::TypeError);
  BOOST_CHECK_THROW(i.index_add_(0, nd::array({0}), nd::array({1.5})), catena::TypeError);
  BOOST_CHECK_THROW(i.index_copy_(0, nd::array({0}), nd::array({1.5})), catena::TypeError);
  BOOST_CHECK_THROW(i.scatter_(0, nd::array({0}), nd::array({1.5})), catena::TypeError);
  BOOST_CHECK_THROW(i.scatter_add_(0, nd::array({0}), nd::array({1.5})), catena::TypeError);
  BOOST_CHECK_THROW(i.lerp_(a, nd::array({0.25, 0.5, 1.0})), catena::TypeError);
  BOOST_CHECK_THROW(nd::zeros(3, nd::int8).random_(0, 1000), catena::OverflowError);
  BOOST_CHECK_THROW(nd::zeros(3, nd::complex128).random_(), catena::TypeError);
  BOOST_CHECK_THROW(a.bernoulli_(2.0), catena::ValueError);
  BOOST_CHECK_THROW(a.add_(nd::ones({2, 3})), catena::ValueError);
  BOOST_CHECK_THROW(a.div_(2, {.rounding_mode = "up"}), catena::ValueError);
  BOOST_CHECK_THROW(a.clamp_({}), catena::ValueError);
  BOOST_CHECK_THROW(a.fill_(a), catena::ValueError);
  BOOST_CHECK_THROW(a.masked_fill_(i, 0), catena::TypeError);
  BOOST_CHECK_THROW(a.masked_fill_(a > 0, a), catena::ValueError);
  BOOST_CHECK_THROW(a.index_add_(0, nd::array({{0}}), a), catena::IndexError);
  BOOST_CHECK_THROW(a.index_fill_(1, nd::array({0}), 1), catena::IndexError);
  BOOST_CHECK_THROW(a.scatter_(0, nd::array({{0}}), a), catena::IndexError);
  BOOST_CHECK_THROW(a.scatter_(0, nd::array({0, 1}), nd::array({1.0})), catena::IndexError);
  BOOST_CHECK_THROW(a.index_copy_(0, 1, a), catena::TypeError);
  BOOST_CHECK_THROW(i.normal_(), catena::TypeError);
  BOOST_CHECK_THROW(a.normal_(0, -1), catena::ValueError);
  BOOST_CHECK_THROW(a.uniform_(1, 0), catena::ValueError);
  BOOST_CHECK_THROW(a.exponential_(0), catena::ValueError);
  BOOST_CHECK_THROW(a.random_(0), catena::ValueError);
  BOOST_CHECK_THROW(nd::Array().add_(1), catena::TypeError);
  check(a, {1, 2, 3});
  check(i, {0, 1, 2});
}

BOOST_AUTO_TEST_SUITE_END()
