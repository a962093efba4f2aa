// Update rules against the formulas of the reference and its published vectors.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include <catena/kernels/registry/kernel.h>
#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(optimizer)

using namespace test;  // NOLINT
using Vec = std::vector<double>;

void update(const char* name, Vec hyper, const std::vector<Vec*>& tensors) {
  const KernelDef& def = find_kernel(name);
  BOOST_REQUIRE(def.num_operands() == int(tensors.size()));
  hyper.resize(8);
  std::vector<std::byte*> p;
  for (const Vec* t : tensors) p.push_back(bytes_of(*t));
  for (const Loop& loop : def.loops())
    if (loop.type[std::size_t(def.num_operands() - 1)] == Dtype::float64)
      return loop.multi_tensor(hyper.data(), p.data(), std::int64_t(tensors.back()->size()));
  BOOST_FAIL("no float64 loop");
}

void check_near(const Vec& actual, const Vec& expected, double tolerance = 2e-6) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(std::fabs(actual[i] - expected[i]) <= tolerance, actual[i] << " != " << expected[i]);
}

// Four steps from p = [1, -2, .5] with g = [.1 (i + 1), -.2, .3 - .1 i] and the default hyperparameters.
void check_rule(const char* name, const std::function<Vec(int)>& hyper, std::vector<Vec> states, const Vec& expected,
                const Vec& first = {}) {
  BOOST_TEST_INFO(name);
  Vec p = {1, -2, 0.5};
  for (int i = 0; i < 4; ++i) {
    Vec g = {0.1 * (i + 1), -0.2, 0.3 - 0.1 * i};
    std::vector<Vec*> tensors = {&g, &p};
    for (Vec& s : states) tensors.push_back(&s);
    update(name, hyper(i + 1), tensors);
    if (i == 0 && !first.empty()) check_near(p, first);
  }
  check_near(p, expected);
}

BOOST_AUTO_TEST_CASE(published_vectors) {
  const Vec zero(3, 0.0), one(3, 1.0);
  check_rule("sgd_update", [](int) { return Vec{0.01}; }, {}, {.990000, -1.992000, .494000});
  check_rule("momentum_sgd_update", [](int) { return Vec{0.01, 0.9}; }, {zero}, {.981441, -1.981902, .482363});
  check_rule("nesterov_ag_update",
             [](int) {
               return Vec{0.01, 0.9, 0.81, 0.019};
             },
             {zero}, {.965967, -1.970141, .474314}, {.997290, -1.994580, .491870});
  check_rule("ada_grad_update",
             [](int) {
               return Vec{0.001, 1e-8};
             },
             {zero}, {.996573, -1.997216, .498178}, {.999, -1.999, .499});
  check_rule("ada_delta_update",
             [](int) {
               return Vec{0.95, 0.05, 1e-6};
             },
             {zero, zero}, {.975032, -1.981838, .489957}, {.995532, -1.995529, .495528});
  check_rule("adam_update",
             [](int t) {
               const double lr = 0.001 * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t));
               return Vec{lr, 1 - 0.9, 1 - 0.999, 1e-8};
             },
             {zero, zero}, {.996116, -1.996000, .496404}, {.999, -1.999, .499});
  check_rule("rmsprop_update",
             [](int) {
               return Vec{0.01, 0.99, 0.01, 1e-8};
             },
             {zero}, {.656844, -1.720711, .317399}, {.9, -1.9, .4});
  check_rule("rmsprop_graves_update",
             [](int) {
               return Vec{1e-4, 0.95, 0.05, 0.9, 1e-4};
             },
             {zero, zero, zero}, {.996360, -1.996768, .497478}, {.999583, -1.999553, .499546});
  check_rule("smorms3_update",
             [](int) {
               return Vec{0.001, 1e-16};
             },
             {one, zero, zero}, {.994442, -1.995235, .497042}, {.998586, -1.998586, .498586});
}

BOOST_AUTO_TEST_CASE(hooks_change_the_gradient) {
  Vec p = {1, -2, 0.5}, zero = {0, 0, 0};
  Vec g = {3, -4, 0.5};
  update("weight_decay", {0.1}, {&p, &g});
  check_near(g, {3.1, -4.2, 0.55}, 1e-15);
  g = {3, -4, 0.5};
  update("lasso", {0.1}, {&p, &g});
  check_near(g, {3.1, -4.1, 0.6}, 1e-15);
  update("lasso", {0.1}, {&zero, &g});
  check_near(g, {3.1, -4.1, 0.6}, 1e-15);
  g = {3, -4, 0.5};
  update("gradient_hard_clip", {-1, 1}, {&g});
  check_near(g, {1, -1, 0.5}, 0);
  Vec rate = {0.25};
  g = {3, -4, 0.5};
  update("scale_by", {}, {&rate, &g});
  check_near(g, {0.75, -1, 0.125}, 0);
}

BOOST_AUTO_TEST_CASE(float_loops_update_every_element_whatever_the_length) {
  for (std::size_t n : {1u, 15u, 16u, 17u, 64u, 1001u}) {
    Noise noise(n);
    const auto g = noise.vector<float>(n, -1, 1), p0 = noise.vector<float>(n, -1, 1);
    auto p = p0;
    std::vector<float> m(n), v(n);
    const double hyper[8] = {0.01, 0.1, 0.001, 1e-8};
    std::byte* const ptr[] = {bytes_of(g), bytes_of(p), bytes_of(m), bytes_of(v)};
    loop_of("adam_update", "f&fff->").multi_tensor(hyper, ptr, std::int64_t(n));
    for (std::size_t i = 0; i < n; ++i) {
      const float m1 = 0.1f * g[i], v1 = 0.001f * (g[i] * g[i]);
      BOOST_TEST_REQUIRE((m[i] == m1 && v[i] == v1 && p[i] == p0[i] - 0.01f * m1 / (std::sqrt(v1) + 1e-8f)));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
