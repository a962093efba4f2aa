// forget: the gradients of a function that is computed again in backward, compared with those of the plain call.
#include <catena/autograd/forget.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/external_function.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/gradient_check.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/testing.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/noise.h>
#include <catena/nn/links/linear.h>
#include <catena/tests/support/framework_derivatives.h>

using namespace autograd;
using test::spread;

namespace {

std::vector<double> values(const Array& a) { return a ? to_vector<double>(a) : std::vector<double>{}; }
#define CHECK_SAME(a, b) BOOST_TEST(values(a) == values(b), boost::test_tools::per_element())

struct Block : nn::Chain {
  nn::Linear l1{4, 6}, l2{6, 3};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::dropout(nn::relu(l1(x)), 0.4)); }
};

// Whether an array's memory is still used by someone, without using it.
class Probe {
 public:
  Probe() = default;
  explicit Probe(const Array& a) : storage_(a->storage) { catena::retain(storage_); }
  Probe(Probe&& o) noexcept : storage_(std::exchange(o.storage_, nullptr)) {}
  Probe& operator=(Probe&& o) noexcept {
    std::swap(storage_, o.storage_);
    return *this;
  }
  ~Probe() { catena::release(storage_); }
  bool is_alive() const { return storage_->refs.load() > 1; }

 private:
  catena::Storage* storage_ = nullptr;
};

template <class F> std::string error_of(F f) {
  try {
    f();
  } catch (const catena::RuntimeError& e) {
    return e.what();
  }
  return "no RuntimeError";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(forgetting)

BOOST_AUTO_TEST_CASE(values_and_gradients_are_those_of_the_plain_call) {
  const Array data = spread({3, 4}), weights = spread({3, 4}, -2, 2, 1);
  Array gradients[2][2], results[2];
  for (const int forgets : {0, 1}) {
    Variable x(data), w(weights, {.name = "w"});
    const auto f = [&](const Variable& v) { return tanh(v * w) + square(v); };
    Variable loss = sum(square(forgets ? forget(f, x) : f(x)));
    loss.backward();
    results[forgets] = loss.data();
    gradients[forgets][0] = copy(x.grad());
    gradients[forgets][1] = copy(w.grad());
    loss.backward();  // repeated: leaves accumulate
    testing::assert_allclose(x.grad(), gradients[forgets][0] * 2, 1e-14, 1e-14);
    testing::assert_allclose(w.grad(), gradients[forgets][1] * 2, 1e-14, 1e-14);
  }
  CHECK_SAME(results[1], results[0]);
  for (const int k : {0, 1}) CHECK_SAME(gradients[1][k], gradients[0][k]);
}

BOOST_AUTO_TEST_CASE(what_lies_between_is_not_stored) {
  const Variable x(spread({100}));
  Probe between;
  int calls = 0;
  bool stored_during_call = false;
  const auto f = [&](const Variable& v) {
    ++calls;
    Variable h = exp(v);
    between = Probe(h.data());
    const Variable y = sum(square(h));
    h = {};
    stored_during_call = between.is_alive();
    return y;
  };
  Variable plain = f(x);
  BOOST_TEST(between.is_alive());
  BOOST_TEST(stored_during_call);
  Variable y = forget(f, x);
  BOOST_TEST(!between.is_alive());
  BOOST_TEST(!stored_during_call);
  BOOST_TEST(y.creator()->label() == "Forget");
  BOOST_TEST(y.rank() == 1);
  BOOST_TEST(calls == 2);
  y.backward();
  BOOST_TEST(calls == 3);
  BOOST_TEST(!between.is_alive());
  {
    const auto scope = no_backprop_mode();
    BOOST_TEST(forget(f, x).creator() == nullptr);
  }
}

BOOST_AUTO_TEST_CASE(several_inputs_and_outputs) {
  const auto parts = [](const Variable& a, const Variable& b) { return std::pair(a * b, exp(a)); };
  const Array data[] = {spread({5}), spread({5}, 1, 2, 1)}, weight = spread({5}, -1, 1, 2);
  for (const int used : {0, 1, 2}) {  // the first output, the second, both
    Array gradients[2][2];
    for (const int forgets : {0, 1}) {
      Variable a(data[0]), b(data[1]);
      const auto [y, z] = forgets ? forget(parts, a, b) : parts(a, b);
      Variable loss = sum((used == 0 ? y : used == 1 ? z : y + z * z) * weight);
      loss.backward();
      gradients[forgets][0] = a.grad();
      gradients[forgets][1] = b.grad();
    }
    CHECK_SAME(gradients[1][0], gradients[0][0]);
    // The rule of the first output alone leaves b without a gradient.
    if (used != 1) CHECK_SAME(gradients[1][1], gradients[0][1]);
    else BOOST_TEST(!gradients[0][1]);
  }
  // Lists, and functions that return an argument.
  Variable a(data[0]), b(data[1]);
  const Variables list = forget([](const Variables& x) { return Variables{x[0] + x[1], x[1]}; }, Variables{a, b});
  BOOST_REQUIRE(list.size() == 2u);
  Variable loss = sum(list[0] * list[1]);
  loss.backward();
  CHECK_SAME(a.grad(), data[1]);
  CHECK_SAME(b.grad(), data[0] + data[1] * 2);
}

BOOST_AUTO_TEST_CASE(masks_of_dropout_are_drawn_once) {
  seed(3);
  Variable x(arrays::ones({50, 4}));
  Variable y = forget([](const Variable& v) { return nn::dropout(nn::dropout(v, 0.3), 0.2); }, x);
  const Generator after_forward = default_generator();
  y.set_grad(arrays::ones({50, 4}));
  y.backward();
  CHECK_SAME(x.grad(), y.data());
  BOOST_TEST(default_generator().offset == after_forward.offset);  // what follows draws other numbers
  // The mode of the forward pass counts, not that of backward.
  Variable test_y;
  x.cleargrad();
  {
    const auto scope = train_mode(false);
    test_y = forget([](const Variable& v) { return nn::dropout(v, 0.5); }, x);
  }
  test_y.set_grad(arrays::ones({50, 4}));
  test_y.backward();
  CHECK_SAME(x.grad(), arrays::ones({50, 4}));
}

BOOST_AUTO_TEST_CASE(links_are_called_by_reference) {
  Block block;
  const Array data = astype(spread({7, 4}), Dtype::float32);
  std::vector<Array> expected;
  Array result;
  for (const int forgets : {0, 1}) {
    seed(11);
    for (const Variable& p : block.params()) Variable(p).cleargrad();
    // The batch has no gradient, and nobody holds it after the call.
    Variable y = forgets ? forget(block, Variable(data, {.requires_grad = false})) : block(data);
    sum(square(y)).backward();
    if (forgets) CHECK_SAME(y.data(), result);
    result = y.data();
    std::size_t k = 0;
    for (const Variable& p : block.params()) {
      BOOST_REQUIRE(p.grad());
      if (forgets) CHECK_SAME(p.grad(), expected[k++]);
      else expected.push_back(p.grad());
    }
  }
}

BOOST_AUTO_TEST_CASE(nested_calls) {
  const Array data = spread({6}), weights = spread({6}, -2, 2, 1);
  Array gradients[3][2];
  int calls = 0;
  for (const int depth : {0, 1, 2}) {
    seed(5);
    calls = 0;
    Variable x(data), w(weights);
    const auto inner = [&](const Variable& v) {
      ++calls;
      return nn::dropout(sin(v * w), 0.3);
    };
    const auto outer = [&](const Variable& v) {
      return square(depth == 2 ? forget(inner, exp(v)) : inner(exp(v))) + v * w;
    };
    Variable y = sum(depth == 0 ? outer(x) : forget(outer, x));
    y.backward();
    gradients[depth][0] = x.grad();
    gradients[depth][1] = w.grad();
    BOOST_TEST(calls == depth + 1);
  }
  for (const int depth : {1, 2})
    for (const int k : {0, 1}) CHECK_SAME(gradients[depth][k], gradients[0][k]);
  // Only a nested call reads w, and only w has a gradient.
  Variable w(weights);
  const auto inner = [&](const Variable& v) { return v * square(w); };
  Variable y = sum(forget([&](const Variable& v) { return forget(inner, v) * 3; }, Variable(data)));
  y.backward();
  BOOST_REQUIRE(w.grad());
  CHECK_SAME(w.grad(), data * weights * 6);
}

BOOST_AUTO_TEST_CASE(second_derivatives) {
  Variable w(spread({2, 3}, 0.5, 1.5, 1));
  const auto f = [&](const Variable& a, const Variable& b) {
    return forget([&](const Variable& u, const Variable& v) { return std::pair(sin(u * w) * v, u * u * v); }, a, b);
  };
  const Arrays x{spread({2, 3}), spread({2, 3}, -1, 1, 2)}, gy{spread({2, 3}, -1, 1, 3), spread({2, 3}, -1, 1, 4)},
      ggx{spread({2, 3}, -1, 1, 5), spread({2, 3}, -1, 1, 6)};
  const gradient_check::Options options{.eps = 1e-5, .atol = 1e-7, .rtol = 1e-6, .params = {w}};
  BOOST_CHECK_NO_THROW(gradient_check::check_backward(f, x, gy, options));
  BOOST_CHECK_NO_THROW(gradient_check::check_double_backward(f, x, gy, ggx, options));
  const auto nested = [&](const Variable& a, const Variable& b) {
    return forget([&](const Variable& u, const Variable& v) { return f(exp(u), v).first; }, a, b);
  };
  BOOST_CHECK_NO_THROW(gradient_check::check_double_backward(nested, x, {gy[0]}, ggx, options));

  // An argument that is made of another one: its gradient flows on to that one once.
  Variable a(array<double>({0.5}, {}));
  Variable of_both = forget([](const Variable& u, const Variable& v) { return u * v; }, a, exp(a));
  Variable ga = grad({of_both}, {a}, {}, true)[0];  // (1 + a) exp(a)
  BOOST_TEST(item(ga.data()).to_double() == 1.5 * std::exp(0.5), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(item(grad({ga}, {a})[0].data()).to_double() == 2.5 * std::exp(0.5), boost::test_tools::tolerance(1e-12));

  // backward with a graph: what func read has a gradient that can be differentiated again.
  Variable v(array<double>({0.7}, {}), {.name = "v"}), c(array<double>({0.3}, {}));
  Variable y = forget([&](const Variable& u) { return u * u * u * c * c; }, v);
  y.backward({.enable_double_backprop = true});
  Variable sum_of_gradients = v.grad_variable() + c.grad_variable();  // 3 v^2 c^2 + 2 v^3 c
  BOOST_TEST(item(sum_of_gradients.data()).to_double() == 3 * 0.49 * 0.09 + 2 * 0.343 * 0.3,
             boost::test_tools::tolerance(1e-12));
  v.cleargrad();
  c.cleargrad();
  sum_of_gradients.backward();
  BOOST_TEST(item(v.grad()).to_double() == 6 * 0.7 * 0.09 + 6 * 0.49 * 0.3, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(item(c.grad()).to_double() == 6 * 0.49 * 0.3 + 2 * 0.343, boost::test_tools::tolerance(1e-12));
}

// A variable that func reads is also upstream of its argument: tied weights. d/dp 2p^2 = 4p, and dy/dx = p.
BOOST_AUTO_TEST_CASE(what_func_reads_may_lie_upstream_of_its_argument) {
  const auto number = [](const Array& a) { return a ? item(a).to_double() : -1; };
  for (const bool twice : {false, true}) {
    Variable p(array<double>({3}, {}), {.name = "p"});
    const auto tied = [&](const Variable& v) { return v * p; };
    Variable x = p * 2;
    Variable y = forget([&](const Variable& v) { return twice ? forget(tied, v) * 1 : tied(v); }, x);
    y.backward({.retain_grad = true, .enable_double_backprop = true});
    BOOST_TEST(number(p.grad()) == 12);
    BOOST_TEST(number(x.grad()) == 3);
    Variable g = p.grad_variable();
    p.cleargrad();
    g.backward();
    BOOST_TEST(number(p.grad()) == 4);
  }
  // The argument itself, of which func also reads: y = x^2.
  Variable x(array<double>({5}, {}));
  Variable y = forget([&](const Variable& v) { return v * x; }, x);
  y.backward({.enable_double_backprop = true});
  BOOST_TEST(number(x.grad()) == 10);
  Variable g = x.grad_variable();
  x.cleargrad();
  g.backward();
  BOOST_TEST(number(x.grad()) == 2);
}

// The gradients of a sum are one array: adding to that of one term must leave the others alone.
BOOST_AUTO_TEST_CASE(gradients_of_what_func_reads_share_no_memory_that_is_written) {
  Variable x(spread({2})), w(spread({2}, -1, 1, 1));
  Variable y = forget([&](const Variable& v) { return v + w; }, x);
  y.set_grad(arrays::ones({2}, Dtype::float64));
  y.backward({.enable_double_backprop = true});
  Variable z = w * 3;
  z.set_grad(arrays::ones({2}, Dtype::float64));
  z.backward();
  CHECK_SAME(w.grad(), arrays::ones({2}, Dtype::float64) * 4);
  CHECK_SAME(x.grad(), arrays::ones({2}, Dtype::float64));
  CHECK_SAME(y.grad(), arrays::ones({2}, Dtype::float64));
}

struct Cube final : Function {
  Arrays forward(const Arrays& x) override { return {x[0] * x[0] * x[0]}; }
  Arrays backward(const Arrays& x, const Arrays& gy) override { return {x[0] * x[0] * 3 * gy[0]}; }
};
struct Product final : Function {
  Arrays forward(const Arrays& x) override { return {x[0] * x[1]}; }
  Arrays backward(const Arrays& x, const Arrays& gy) override { return {gy[0] * x[1], gy[0] * x[0]}; }
};

BOOST_AUTO_TEST_CASE(results_have_the_form_in_which_func_returns_them) {
  Variable x(array<double>({2, -1}, {2})), z(array<double>({5, 3}, {2}));
  Variable h = forget([&](const Variable& v) { return make_function<Cube>()(v); }, x);
  CHECK_SAME(h.data(), array<double>({8, -1}, {2}));
  sum(h).backward();
  CHECK_SAME(x.grad(), array<double>({12, 3}, {2}));
  auto [a, b] = forget([](const Variable& v) { return std::array<Variable, 2>{v * 2, v * v}; }, x);
  static_assert(std::is_same_v<decltype(a), Variable>);
  CHECK_SAME(a.data(), array<double>({4, -2}, {2}));
  CHECK_SAME(b.data(), array<double>({4, 1}, {2}));
  // A generic lambda, which would not compile for a list or for another number of arguments.
  x.cleargrad();
  Variable generic = forget([](const auto& v) { return nn::relu(v); }, x);
  sum(generic).backward();
  CHECK_SAME(x.grad(), array<double>({1, 0}, {2}));
  CHECK_SAME(Variable(forget([](const auto& u, const auto& v) { return u - v; }, x, z)).data(), x.data() - z.data());
  // The result of a function object as an argument: the one Variable that it stands for, or a list for what takes one.
  const auto cube = [&] { return make_function<Cube>()(x); };
  CHECK_SAME(Variable(make_function<Product>()(cube(), z)).data(), array<double>({40, -3}, {2}));
  CHECK_SAME(Variable(make_function<Product>()(z, cube())).data(), array<double>({40, -3}, {2}));
  CHECK_SAME(Variable(make_function<Cube>()(cube())).data(), array<double>({512, -1}, {2}));
  CHECK_SAME(forget([](const Variable& u, const Variable& v) { return u * v; }, cube(), z).data(),
             array<double>({40, -3}, {2}));
  CHECK_SAME(forget([](const Variable& u) { return u * 2; }, cube()).data(), array<double>({16, -2}, {2}));
  CHECK_SAME(forget([](const Variables& u) { return u[0] * 2; }, cube()).data(), array<double>({16, -2}, {2}));
  const Variable external = external_function([](const Arrays& v) { return v[0] * v[1]; },
                                              [](const Arrays& v, const Arrays& gy) {
                                                return Arrays{gy[0] * v[1], gy[0] * v[0]};
                                              },
                                              cube(), z);
  CHECK_SAME(external.data(), array<double>({40, -3}, {2}));
}

BOOST_AUTO_TEST_CASE(grad_changes_no_variable) {
  Variable x(spread({4})), w(spread({4}, 1, 2, 1));
  const auto f = [&](const Variable& v) { return v * v * w; };
  const Variable y = sum(forget(f, x));
  CHECK_SAME(grad({y}, {x})[0].data(), x.data() * w.data() * 2);
  BOOST_TEST(!w.grad());
  BOOST_TEST(!x.grad());
  const std::string asked = error_of([&] { grad({y}, {x, w}); });
  BOOST_TEST(asked.find("that func reads without having it as an argument: pass it as an argument") != asked.npos,
             asked);
}

BOOST_AUTO_TEST_CASE(hooks_see_both_calls) {
  struct Labels final : FunctionHook {
    std::string name() const override { return "Labels"; }
    void forward_preprocess(const FunctionNode& f, const Arrays&) override { text += f.label() + " "; }
    void backward_preprocess(const FunctionNode& f, const Arrays&, const Arrays&) override { text += f.label() + "' "; }
    std::string text;
  } labels;
  const HookScope scope(labels);
  Variable x(arrays::ones({}));
  forget([](const Variable& v) { return exp(v); }, x).backward();
  BOOST_TEST(labels.text == "Forget exp Forget' exp Identity Identity' exp' ");
}

BOOST_AUTO_TEST_CASE(errors) {
  Variable x(arrays::ones({2}), {.name = "x"});
  BOOST_TEST(error_of([&] { forget([](const Variable& v) { return std::pair(v, Variable()); }, x); }) ==
             "forget: the 2nd output of func is a null Variable");
  BOOST_TEST(error_of([&] { forget([](const Variables&) { return Variables(13); }, Variables{x}); }) ==
             "forget: the 1st output of func is a null Variable");
  const auto eleventh = [](const Variables& v) {
    Variables list(11);
    for (std::size_t k = 0; k < 10; ++k) list[k] = v[0];
    return list;
  };
  BOOST_TEST(error_of([&] { forget(eleventh, Variables{x}); }) == "forget: the 11th output of func is a null Variable");
  BOOST_TEST(error_of([&] { forget([](const Variables&) { return Variables(); }, Variables{x}); }) ==
             "forget: func returned an empty list");
  BOOST_CHECK_THROW(forget([](const Variable& v) { return v; }, Variable()), catena::TypeError);

  int calls = 1;
  const auto growing = [&](const Variables& v) {
    Variables list;
    for (int k = 0; k < calls; ++k) list.push_back(v[0] * 2);
    ++calls;
    return list;
  };
  const Variables ys = forget(growing, Variables{x});
  BOOST_TEST(error_of([&] { sum(ys[0]).backward(); }) ==
             "forget: func returned 1 outputs in forward and 2 in backward");

  const Variable outside = exp(x);
  Variable y = sum(forget([outside](const Variable& v) { return v * outside; }, x));
  BOOST_TEST(error_of([&] { y.backward(); }) ==
             "forget: func reads the variable of (2), float32, which exp made outside of it: pass it as an argument");
  // A constant made outside is none of these.
  const Variable constant = exp(Variable(arrays::ones({2}), {.requires_grad = false}));
  Variable z = sum(forget([constant](const Variable& v) { return v * constant; }, x));
  BOOST_CHECK_NO_THROW(z.backward());
}

BOOST_AUTO_TEST_SUITE_END()
