// vmap against one call for each example.
#include <catena/autograd/vmap.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/derivatives.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/testing.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/message_of.h>
#include <catena/tests/support/vmap_cases.h>

using namespace autograd;
using test::inputs_of;
using test::message_of;
using test::spread;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// The results of f for each example, by one call each, stacked.
template <class F> Variables one_by_one(F f, const Variables& xs, const std::vector<bool>& batched) {
  std::vector<Variables> results;
  std::int64_t n = 0;
  for (std::size_t k = 0; k < xs.size(); ++k)
    if (batched[k]) n = xs[k].shape(0);
  for (std::int64_t i = 0; i < n; ++i) {
    Variables one;
    for (std::size_t k = 0; k < xs.size(); ++k) one.push_back(batched[k] ? xs[k][i] : xs[k]);
    const Variables ys = f(one);
    results.resize(ys.size());
    for (std::size_t k = 0; k < ys.size(); ++k) results[k].push_back(ys[k]);
  }
  Variables stacked;
  for (const Variables& ys : results) stacked.push_back(stack(ys, 0));
  return stacked;
}

void check_close(const Variable& a, const Variable& b, double tolerance = 1e-12) {
  BOOST_REQUIRE(a.shape() == b.shape());
  BOOST_TEST((a.dtype() == b.dtype()));
  testing::assert_allclose(a.data(), b.data(), tolerance, tolerance);
}

using Case = test::VmapCase<Variables>;

Variables one(const Variable& v) { return {v}; }
Variable identity_matrix() { return Variable(array<double>({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3})); }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"arithmetic", [](const Variables& x) { return one(x[0] * x[1] - x[0] / (x[1] + 3) + 2); }, {{3, 4}, {4}}},
      {"math", [](const Variables& x) { return one(exp(x[0]) + sin(x[0]) * log(x[0]) + sqrt(x[0])); }, {{5}}, 0.2, 2},
      {"special", [](const Variables& x) { return one(erf(x[0]) + lgamma(x[0])); }, {{5}}, 0.5, 2},
      {"scalar", [](const Variables& x) { return one(tanh(x[0]) * x[0]); }, {{}}},
      {"sum", [](const Variables& x) { return one(sum(x[0] * x[0], {1})); }, {{3, 4}}},
      {"sum_of_all", [](const Variables& x) { return one(sum(x[0]) * x[0]); }, {{3, 4}}},
      {"mean_var", [](const Variables& x) { return one(mean(x[0], {0}) + var(x[0], 0)); }, {{3, 4}}},
      {"max_min", [](const Variables& x) { return one(max(x[0], {1}) - min(x[0], {1})); }, {{3, 4}}},
      {"prod", [](const Variables& x) { return one(prod(x[0], {0})); }, {{3, 4}}},
      {"logsumexp", [](const Variables& x) { return one(logsumexp(x[0], {1})); }, {{3, 4}}},
      {"matmul", [](const Variables& x) { return one(matmul(x[0], x[1])); }, {{3, 4}, {4, 2}}},
      {"stacks", [](const Variables& x) { return one(linalg_matmul(x[0], x[1])); }, {{2, 3, 4}, {4, 2}}},
      {"transpose", [](const Variables& x) { return one(matmul(x[0], transpose(x[0]))); }, {{3, 4}}},
      {"shapes",
       [](const Variables& x) {
         return one(reshape(swapaxes(x[0], 0, 1), {2, 6}) * 2);
       },
       {{3, 4}}},
      {"broadcast",
       [](const Variables& x) {
         return one(broadcast_to(x[0], {2, 3, 4}) * x[0]);
       },
       {{3, 4}}},
      {"slices", [](const Variables& x) { return one(x[0](Slice(1, 3), 2) * x[0](0, 0)); }, {{3, 4}}},
      {"indices",
       [](const Variables& x) {
         return one(x[0][{2, 0, 2}]);
       },
       {{3, 4}}},
      {"concat",
       [](const Variables& x) {
         return one(concat({x[0], x[1] * 2}, 1));
       },
       {{3, 4}, {3, 2}}},
      {"stack",
       [](const Variables& x) {
         return one(stack({x[0], x[1]}, 1));
       },
       {{3}, {3}}},
      {"split", [](const Variables& x) { return split_axis(x[0], 2, 1); }, {{3, 4}}},
      {"where",
       [](const Variables& x) {
         return one(where(apply(catena::kernels::greater, {x[0].data(), 0}), x[0], x[1]));
       },
       {{3, 4}, {3, 4}}},
      {"clip", [](const Variables& x) { return one(clip(x[0], -0.4, 0.3)); }, {{3, 4}}},
      {"sort", [](const Variables& x) { return one(sort(x[0], 1).values * x[0]); }, {{3, 4}}},
      {"topk", [](const Variables& x) { return one(topk(x[0], 2, 1).values); }, {{3, 4}}},
      {"cumsum", [](const Variables& x) { return one(cumsum(x[0], 1)); }, {{3, 4}}},
      {"cumprod", [](const Variables& x) { return one(cumprod(x[0], 0)); }, {{3, 4}}},
      {"flip_roll", [](const Variables& x) { return one(flip(roll(x[0], 1, {0}), {1})); }, {{3, 4}}},
      {"pad", [](const Variables& x) { return one(tril(x[0]) + diag(diagonal(x[0]))); }, {{4, 4}}},
      {"norm", [](const Variables& x) { return one(norm(x[0] - x[1])); }, {{4}, {4}}},
      {"inverse",
       [](const Variables& x) { return one(inv(matmul(x[0], transpose(x[0])) + identity_matrix())); },
       {{3, 3}}},
      {"several_results",
       [](const Variables& x) {
         return Variables{x[0] + x[1], sum(x[0]), x[1]};
       },
       {{3}, {3}}},
      {"constant", [](const Variables&) { return one(Variable(arrays::ones({2}, Dtype::float64))); }, {{3}}},
      {"in_place",
       [](const Variables& x) {
         const Array a = copy(x[0].data());
         slice(a, 0, 0, 1) += 2.0;
         const Array b = arrays::zeros({3}, Dtype::float64);
         b += x[0].data();
         return one(Variable(a) * Variable(b));
       },
       {{3}}},
  };
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vmap_of_functions)

// Values, gradients and gradients of gradients, of all arguments with a batch axis, and of the first one alone.
BOOST_AUTO_TEST_CASE(values_and_derivatives) {
  for (const Case& c : cases())
    for (const bool only_first : {false, true}) {
      if (only_first && c.shapes.size() == 1) continue;
      BOOST_TEST_CONTEXT(c.name << (only_first ? ", the first argument" : "")) {
        std::vector<bool> batched(c.shapes.size(), !only_first);
        batched[0] = true;
        VmapOptions o{.fallback = false};
        for (const bool b : batched) o.in_axes.push_back(b ? std::optional<int>(0) : std::nullopt);
        const Variables xs = inputs_of(c, 3, batched);
        const Variables ys = vmap(c.f, o)(xs), expected = one_by_one(c.f, xs, batched);
        BOOST_REQUIRE(ys.size() == expected.size());
        Variables weights;
        for (std::size_t k = 0; k < ys.size(); ++k) {
          check_close(ys[k], expected[k]);
          weights.push_back(Variable(spread(ys[k].shape(), 0.5, 1.5, 9 + int(k))));
        }
        if (!ys[0].creator() || !expected[0].creator()) continue;
        const auto derivatives = [&](const Variables& outputs) {
          const Variables g = grad(outputs, xs, weights, true);
          Variable total;
          for (const Variable& v : g)
            if (v) total = total ? total + sum(v * v) : sum(v * v);
          Variables all = g;
          if (total && total.creator())
            for (const Variable& v : grad({total}, xs)) all.push_back(v);
          return all;
        };
        const Variables g = derivatives(ys), by_example = derivatives(expected);
        BOOST_REQUIRE(g.size() >= by_example.size());
        for (std::size_t k = 0; k < g.size(); ++k) {
          const bool exists = k < by_example.size() && by_example[k];
          if (exists) check_close(g[k], by_example[k], 1e-10);
          else if (g[k]) check_close(g[k], Variable(zeros_like(g[k].data())));
        }
      }
    }
}

// The elements of an argument are the caller's, which a rule must not overwrite; on another device they are a copy.
BOOST_AUTO_TEST_CASE(memory_of_arguments) {
  const Variable x(spread({3, 2}));
  const std::optional<Device> other = test::other_device();
  bool is_same = false, owns_argument = true, owns_copy = true, is_moved = true;
  const Variable y = vmap([&](const Variable& v) {
    const Array& a = v.data();
    Backend& backend = a.backend();
    is_same = backend.to_device(a, a.device()).get() == a.get();
    owns_argument = backend.owns_memory(a);
    if (!other) return v * 2;
    const Array moved = to_device(a, *other);
    owns_copy = backend.owns_memory(moved);
    is_moved = moved.device() == *other;
    return Variable(to_device(moved, a.device())) * 2;
  })(x);
  BOOST_TEST(is_same);
  BOOST_TEST(!owns_argument);
  BOOST_TEST(owns_copy);
  BOOST_TEST(is_moved);
  check_close(y, x * 2);
}

BOOST_AUTO_TEST_CASE(axes) {
  const Variable x(spread({3, 4, 5})), w(spread({5, 2}, -1, 1, 1));
  const auto f = [](const Variable& a, const Variable& b) { return matmul(a, b); };
  const Variable y = vmap(f, {.in_axes = {1, std::nullopt}, .fallback = false})(x, w);
  check_close(y, transpose(linalg_matmul(x, w), {1, 0, 2}));
  check_close(vmap(f, {.in_axes = {-2, {}}, .out_axis = 1})(x, w), linalg_matmul(x, w));
  check_close(vmap(f, {.in_axes = {1, {}}, .out_axis = -1})(x, w), transpose(linalg_matmul(x, w), {0, 2, 1}));
  check_close(vmap(f, {.in_axes = {{}, 1}})(x[0], w.reshape(5, 2, 1)), transpose(matmul(x[0], w)).reshape(2, 4, 1));
  const auto [a, b] = vmap([](const Variable& v) { return std::pair(v + 1, sum(v)); })(x);
  check_close(a, x + 1);
  check_close(b, sum(x, {1, 2}));
}

// Parameters and variables of an outer graph that the function reads.
BOOST_AUTO_TEST_CASE(captured_variables) {
  const Variable w(spread({4, 3})), x(spread({5, 4}, -1, 1, 1));
  const Variable h = exp(w), unused(spread({2}));
  const auto f = [&](const Variable& v) { return tanh(matmul(v.reshape(1, 4), h) + sum(w, {0})); };
  const Variable y = vmap(f, {.fallback = false})(x);
  Variables rows;
  for (int i = 0; i < 5; ++i) rows.push_back(f(x[i]));
  const Variable expected = stack(rows);
  check_close(y, expected);
  const Variable weights(spread(y.shape(), 0.5, 1.5, 3));
  const Variables g = grad({y}, {w, x}, {weights}, true), e = grad({expected}, {w, x}, {weights}, true);
  for (std::size_t k = 0; k < 2; ++k) {
    check_close(g[k], e[k]);
    const Variables second = grad({sum(g[k] * g[k])}, {w, x}), of_loop = grad({sum(e[k] * e[k])}, {w, x});
    check_close(second[0], of_loop[0]);
    check_close(second[1], of_loop[1]);
  }
  sum(vmap(f)(x)).backward();
  const Array by_vmap = w.grad();
  w.cleargrad();
  sum(expected).backward();
  check_close(Variable(by_vmap), Variable(w.grad()));
  const auto off = no_backprop_mode();
  BOOST_TEST(!vmap(f)(x).creator());
}

BOOST_AUTO_TEST_CASE(derivatives_of_single_examples) {
  const Variable w(spread({4, 3})), x(spread({5, 4}, -1, 1, 1)), t(spread({5, 3}, -1, 1, 2));
  const auto loss = [&](const Variable& v, const Variable& u) {
    const Variable d = matmul(v.reshape(1, 4), w) - u;
    return sum(d * d * d);
  };
  const auto gradient = [&](const Variable& v, const Variable& u) { return grad({loss(v, u)}, {w})[0]; };
  const Variable g = vmap(gradient, {.fallback = false})(x, t);
  for (int i = 0; i < 5; ++i) check_close(g[i], gradient(x[i], t[i]));
  const auto f = [&](const Variable& v) { return sum(exp(matmul(v.reshape(1, 4), w))); };
  const Variable h = vmap([&](const Variable& v) { return hessian(f, v); }, {.fallback = false})(x);
  for (int i = 0; i < 5; ++i) check_close(h[i], hessian(f, Variable(x[i].data())));
  const auto product = [&](const Variable& v) { return hvp(f, v, v * 0 + 1).derivative; };
  const Variable p = vmap(product, {.fallback = false})(x);
  for (int i = 0; i < 5; ++i) check_close(p[i], sum(h[i], {1}));
}

// PyTorch 2.15: vmap(grad(loss), (None, 0, 0))(W, x, t) and vmap(hessian(loss, 1), (None, 0, 0))(W, x, t).
BOOST_AUTO_TEST_CASE(values_of_torch_func) {
  const Variable W(array<double>({0.1, 0.2, 0.3, -0.4}, {2, 2})), x(array<double>({1, 2, -1, 0.5}, {2, 2}));
  const Variable t(array<double>({0, 1, 0.5, 0.5}, {2, 2}));
  const auto loss = [](const Variable& w, const Variable& v, const Variable& u) {
    return sum(square(tanh(matmul(w, v.reshape(2, 1)).reshape(2)) - u));
  };
  const VmapOptions o{.in_axes = {std::nullopt, 0, 0}, .fallback = false};
  const auto gradient = [&](const Variable& w, const Variable& v, const Variable& u) {
    const Variable own = identity(w);
    return grad({loss(own, v, u)}, {own})[0];
  };
  const Variable of_torch(array<double>({0.7268619813835873, 1.4537239627671745, -2.299757447315442, -4.599514894630884,
                                         1.0, -0.5, 1.5133097143495147, -0.7566548571747573},
                                        {2, 2, 2}));
  check_close(vmap(gradient, o)(W, x, t), of_torch);
  const auto second = [&](const Variable& w, const Variable& v, const Variable& u) {
    return hessian([&](const Variable& at) { return loss(w, at, u); }, v);
  };
  const Variable hessians(
      array<double>({-0.07431422782306862, 0.1179259467060839, 0.11792594670608386, -0.11955397639079383,
                     0.005451257618856495, 0.059398323174858034, 0.05939832317485802, 0.05413556910018932},
                    {2, 2, 2}));
  check_close(vmap(second, o)(W, x, t), hessians);
}

// A Jacobian as one vmap of vjp over the rows of the identity matrix.
BOOST_AUTO_TEST_CASE(rows_of_a_jacobian) {
  const auto f = [](const Variable& v) { return v * sum(v * v); };
  const Variable x(spread({3}));
  const Variable rows =
      vmap([&](const Variable& u) { return vjp(f, x, u).derivative; }, {.fallback = false})(identity_matrix());
  check_close(rows, jacobian(f, x));
}

BOOST_AUTO_TEST_CASE(nested) {
  const Variable a(spread({3, 4})), b(spread({5, 4}, -1, 1, 1));
  const auto dot = [](const Variable& u, const Variable& v) { return sum(u * v * v); };
  const auto row = [&](const Variable& u) { return vmap(dot, {.in_axes = {{}, 0}, .fallback = false})(u, b); };
  const Variable all = vmap(row, {.fallback = false})(a);
  const Variable expected = matmul(a, transpose(b * b));
  check_close(all, expected);
  const Variable weights(spread({3, 5}, 0.5, 1.5, 2));
  const Variables g = grad({all}, {a, b}, {weights}), e = grad({expected}, {a, b}, {weights});
  check_close(g[0], e[0]);
  check_close(g[1], e[1]);
}

// Functions that one call for all examples cannot compute.
BOOST_AUTO_TEST_CASE(one_call_for_each_example) {
  const Variable x(spread({4, 3})), w(spread({3}, -1, 1, 1));
  int calls = 0;
  const auto branches = [&](const Variable& v) {
    ++calls;
    return v(0).item() > 0 ? v * w : v * v;
  };
  const Variable y = vmap(branches)(x);
  BOOST_TEST(calls == 5);
  const Variable expected = one_by_one([&](const Variables& v) { return one(branches(v[0])); }, {x}, {true})[0];
  check_close(y, expected);
  const Variables g = grad({sum(y * y)}, {x, w}), e = grad({sum(expected * expected)}, {x, w});
  check_close(g[0], e[0]);
  check_close(g[1], e[1]);
  const std::string message = message_of<catena::RuntimeError>([&] { vmap(branches, {.fallback = false})(x); });
  BOOST_TEST(has(message, "reads values"), message);
  const Variable total(arrays::zeros({3}, Dtype::float64));
  const auto running = [&](const Variable& v) {
    total.data() += v.data();
    return v * 1;
  };
  vmap(running)(x);
  check_close(total, sum(x, {0}));
}

BOOST_AUTO_TEST_CASE(one_call_for_all_examples) {
  int calls = 0;
  const auto f = [&](const Variable& v) {
    ++calls;
    return v * v;
  };
  vmap(f)(Variable(spread({4, 3})));
  BOOST_TEST(calls == 1);
  const Variable x(spread({1, 3}));
  check_close(vmap(f, {.fallback = false})(x), x * x);
  const Variable none(spread({2, 0}));
  check_close(vmap(f, {.fallback = false})(none), none);
}

// A mask that the examples share selects from all of them at once; their own masks, for each of them alone.
BOOST_AUTO_TEST_CASE(selections_by_masks) {
  const Variable x(spread({4, 3}));
  const Array mask = array<bool>({true, false, true}, {3});
  const auto shared = [&](const Variable& v) { return get_item(v, {mask}); };
  const auto own = [](const Variable& v) { return sum(get_item(v, {v.data() > 0.0})); };
  check_close(vmap(shared, {.fallback = false})(x),
              one_by_one([&](const Variables& v) { return one(shared(v[0])); }, {x}, {true})[0]);
  check_close(vmap(own)(x), one_by_one([&](const Variables& v) { return one(own(v[0])); }, {x}, {true})[0]);
  const std::string message = message_of<catena::RuntimeError>([&] { vmap(own, {.fallback = false})(x); });
  BOOST_TEST(has(message, "reads values of an array of ()"), message);
}

BOOST_AUTO_TEST_CASE(errors) {
  const Variable x(spread({4, 3})), y(spread({5, 3}));
  const auto add = [](const Variable& a, const Variable& b) { return a + b; };
  BOOST_TEST(has(message_of<catena::ValueError>([&] { vmap(add)(x, y); }), "5 examples"));
  BOOST_TEST(
      has(message_of<catena::ValueError>([&] { vmap(add, {.in_axes = {0}})(x, x); }), "1 in_axes for 2 arguments"));
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   vmap(add, {.in_axes = {{}, {}}})(x, x);
                 }),
                 "no argument has a batch axis"));
  BOOST_CHECK_THROW(vmap(add, {.in_axes = {2, 0}})(x, x), catena::IndexError);
  BOOST_CHECK_THROW(vmap(add, {.out_axis = 2})(x, x), catena::IndexError);
  BOOST_CHECK_THROW(vmap(add)(x(Slice(0, 0)), x(Slice(0, 0))), catena::ValueError);
  BOOST_CHECK_THROW(vmap([](const Variable&) { return Variable(); })(x), catena::RuntimeError);
  BOOST_CHECK_THROW(vmap([](const Variables&) { return Variables(); })(Variables{x}), catena::RuntimeError);
  BOOST_CHECK_THROW(vmap(add)(x, Variable()), catena::TypeError);
  // Errors of the function are those of one example.
  const auto wrong = [](const Variable& v) {
    return matmul(v.reshape(1, 3), Variable(arrays::ones({2, 2}, Dtype::float64)));
  };
  BOOST_TEST(has(message_of<catena::Error>([&] { vmap(wrong)(x); }), "3"));
  const auto unequal = [](const Variable& v) { return v(Slice(0, v(0).item() > 0 ? 1 : 2)); };
  BOOST_TEST(has(message_of<catena::ValueError>([&] {
                   vmap(unequal)(Variable(array<double>({1, 2, -1, 2}, {2, 2})));
                 }),
                 "for example 1"));
  Variable kept;
  vmap([&](const Variable& v) { return kept = v * 2; })(x);
  BOOST_TEST(has(message_of<catena::RuntimeError>([&] { to_vector<double>(kept.data()); }), "after the call"));
}

BOOST_AUTO_TEST_SUITE_END()
