// vmap of the functions of networks against one call for each example; random numbers.
#include <boost/test/unit_test.hpp>
#include <functional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/random_state.h>
#include <catena/autograd/vmap.h>
#include <catena/nn/nn.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/tests/support/vmap_cases.h>

using namespace test;
using autograd::grad;
using autograd::vmap;

namespace {

using Case = VmapCase<Variable>;

void check_close(const Array& a, const Array& b, double atol, double rtol) {
  test::check_close(a, b, atol, rtol, "vmap");
}

Variable labels() { return Variable(ints({2, 0})); }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"linear", [](const Variables& x) { return nn::linear(x[0], x[1], x[2]); }, {{2, 4}, {3, 4}, {3}}},
      {"convolution_2d",
       [](const Variables& x) { return nn::convolution_2d(x[0], x[1], x[2], {.stride = 2, .pad = 1}); },
       {{2, 3, 5, 6}, {4, 3, 3, 3}, {4}}},
      {"convolution_2d of groups",
       [](const Variables& x) { return nn::convolution_2d(x[0], x[1], {}, {.groups = 2}); },
       {{1, 4, 5, 5}, {4, 2, 2, 2}}},
      {"deconvolution_2d",
       [](const Variables& x) { return nn::deconvolution_2d(x[0], x[1]); },
       {{2, 3, 4, 4}, {3, 2, 2, 2}}},
      {"max_pooling_2d", [](const Variables& x) { return nn::max_pooling_2d(x[0], 2); }, {{2, 3, 5, 4}}},
      {"average_pooling_2d", [](const Variables& x) { return nn::average_pooling_2d(x[0], 2); }, {{2, 3, 4, 4}}},
      {"relu and sigmoid", [](const Variables& x) { return nn::relu(x[0]) * nn::sigmoid(x[0]); }, {{3, 4}}},
      {"gelu", [](const Variables& x) { return nn::gelu(x[0]); }, {{3, 4}}},
      {"prelu", [](const Variables& x) { return nn::prelu(x[0], x[1]); }, {{3, 4}, {4}}},
      {"softmax", [](const Variables& x) { return nn::softmax(x[0], 1); }, {{3, 4}}},
      {"log_softmax", [](const Variables& x) { return nn::log_softmax(x[0], 0); }, {{3, 4}}},
      {"softmax_cross_entropy", [](const Variables& x) { return nn::softmax_cross_entropy(x[0], labels()); }, {{2, 4}}},
      {"softmax_cross_entropy of images",
       [](const Variables& x) {
         return nn::softmax_cross_entropy(x[0], Variable(autograd::array<std::int32_t>({1, 0, -1, 2, 2, 0}, {1, 6})),
                                          {.reduce = "no"});
       },
       {{1, 3, 6}}},
      {"mean_squared_error", [](const Variables& x) { return nn::mean_squared_error(x[0], x[1]); }, {{3, 4}, {3, 4}}},
      {"sigmoid_cross_entropy",
       [](const Variables& x) {
         return nn::sigmoid_cross_entropy(x[0], Variable(ints({1, 0, 1})));
       },
       {{3}}},
      {"layer_normalization",
       [](const Variables& x) { return nn::layer_normalization(x[0], x[1], x[2]); },
       {{3, 4}, {4}, {4}}},
      {"group_normalization",
       [](const Variables& x) { return nn::group_normalization(x[0], 2, x[1], x[2]); },
       {{2, 4, 3}, {4}, {4}}},
      {"batch_normalization",
       [](const Variables& x) { return nn::batch_normalization(x[0], x[1], x[2]); },
       {{5, 3}, {3}, {3}}},
      {"rms_normalization", [](const Variables& x) { return nn::rms_normalization(x[0], x[1]); }, {{3, 4}, {4}}},
      {"attention",
       [](const Variables& x) { return nn::scaled_dot_product_attention(x[0], x[1], x[2]); },
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}},
      {"embed_id", [](const Variables& x) { return nn::embed_id(labels(), x[0]); }, {{4, 3}}},
      {"lstm", [](const Variables& x) { return nn::lstm(x[0], x[1]).h; }, {{2, 3}, {2, 12}}},
      {"resize_images",
       [](const Variables& x) {
         return nn::resize_images(x[0], {5, 6});
       },
       {{1, 2, 3, 4}}},
      {"local response", [](const Variables& x) { return nn::local_response_normalization(x[0]); }, {{1, 6, 2, 2}}},
  };
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vmap_of_networks)

BOOST_AUTO_TEST_CASE(values_and_gradients) {
  for (const Case& c : cases())
    for (const bool only_first : {false, true}) {
      if (only_first && c.shapes.size() == 1) continue;
      BOOST_TEST_CONTEXT(c.name << (only_first ? ", the first argument" : "")) {
        std::vector<bool> batched(c.shapes.size(), !only_first);
        batched[0] = true;
        const Variables xs = inputs_of(c, 3, batched);
        autograd::VmapOptions o{.fallback = false};
        for (const bool b : batched) o.in_axes.push_back(b ? std::optional<int>(0) : std::nullopt);
        const Variable y = vmap([&](const Variables& x) { return c.f(x); }, o)(xs);
        Variables rows;
        for (int i = 0; i < 3; ++i) {
          Variables one;
          for (std::size_t k = 0; k < xs.size(); ++k) one.push_back(batched[k] ? xs[k][i] : xs[k]);
          rows.push_back(c.f(one));
        }
        const Variable expected = autograd::stack(rows);
        check_close(y.data(), expected.data(), 1e-10, 1e-10);
        const Variable weights(spread(y.shape(), 0.5, 1.5, 9));
        const Variables g = grad({y}, xs, {weights}, true), e = grad({expected}, xs, {weights}, true);
        for (std::size_t k = 0; k < xs.size(); ++k) check_close(g[k].data(), e[k].data(), 1e-10, 1e-10);
        const Variable a = autograd::sum(g[0] * g[0]), b = autograd::sum(e[0] * e[0]);
        if (!b.creator()) continue;
        const Variables ga = grad({a}, xs), gb = grad({b}, xs);
        for (std::size_t k = 0; k < xs.size(); ++k)
          if (gb[k]) check_close(ga[k].data(), gb[k].data(), 1e-9, 1e-9);
      }
    }
}

// The labels differ between the examples, as in a batch of images. An example may have none that counts.
BOOST_AUTO_TEST_CASE(labels_of_each_example) {
  using Loss = std::function<Variable(const Variables&)>;
  const Array weight = spread({4}, 0.5, 1.5, 3);
  const std::pair<const char*, Loss> losses[] = {
      {"softmax_cross_entropy", [](const Variables& v) { return nn::softmax_cross_entropy(v[0], v[1]); }},
      {"with class weights",
       [&](const Variables& v) { return nn::softmax_cross_entropy(v[0], v[1], {.class_weight = weight}); }},
      {"divided by the weights",
       [&](const Variables& v) {
         return nn::softmax_cross_entropy(v[0], v[1], {.class_weight = weight, .normalize_by_weight = true});
       }},
      {"smoothed", [](const Variables& v) { return nn::softmax_cross_entropy(v[0], v[1], {.label_smoothing = 0.1}); }},
      {"smoothed, with class weights",
       [&](const Variables& v) {
         return nn::softmax_cross_entropy(v[0], v[1], {.class_weight = weight, .label_smoothing = 0.1});
       }},
      {"nll_loss", [](const Variables& v) { return nn::nll_loss(nn::log_softmax(v[0]), v[1], {.ignore_index = -1}); }},
  };
  const Variable x(spread({3, 2, 4})), t(autograd::array<std::int32_t>({3, 0, 2, -1, -1, -1}, {3, 2}));
  for (const auto& [name, loss] : losses) {
    BOOST_TEST_CONTEXT(name) {
      const Variable y = vmap(loss, {.fallback = false})(Variables{x, t});
      Variables rows;
      {
        const Warnings ignored;
        for (int i = 0; i < 3; ++i) rows.push_back(loss({x[i], t[i]}));
      }
      const Variable expected = autograd::stack(rows);
      check_close(y.data(), expected.data(), 1e-10, 1e-10);
      check_close(grad({autograd::sum(y * y)}, {x})[0].data(),
                  grad({autograd::sum(expected * expected)}, {x})[0].data(), 1e-10, 1e-10);
    }
  }
}

// Example i draws the numbers of the seed that is derived from the generator's seed and i.
BOOST_AUTO_TEST_CASE(random_numbers) {
  const Variable x(autograd::arrays::ones({3, 64}, Dtype::float64));
  const auto f = [](const Variable& v) { return nn::dropout(v, 0.5); };
  autograd::seed(7);
  const Variable y = vmap(f, {.fallback = false})(x);
  const std::uint64_t after = autograd::default_generator().offset;
  for (int i = 0; i < 3; ++i) {
    autograd::seed(7);
    autograd::default_generator().seed = autograd::derived_seed(autograd::default_generator().seed, std::uint64_t(i));
    check_close(y[i].data(), f(x[i]).data(), 0, 0);
    BOOST_TEST(autograd::default_generator().offset == after);
  }
  BOOST_TEST(!same_bits(y[0].data(), y[1].data()));
  // The gradient has the mask of the value; a call for each example draws the same numbers.
  check_close(grad({autograd::sum(y)}, {x})[0].data(), y.data(), 0, 0);
  autograd::seed(7);
  const auto reads = [&](const Variable& v) {
    autograd::to_vector<double>(v.data());
    return f(v);
  };
  check_close(vmap(reads)(x).data(), y.data(), 0, 0);
  BOOST_TEST(autograd::default_generator().offset == after);
  for (const bool looped : {false, true}) {
    autograd::seed(7);
    const Variable one = f(x[0]);
    autograd::seed(7);
    autograd::VmapOptions o{.randomness = autograd::Randomness::same};
    const Variable same = looped ? vmap(reads, o)(x) : vmap(f, o)(x);
    for (int i = 0; i < 3; ++i) check_close(same[i].data(), one.data(), 0, 0);
  }
  // Numbers of the functions themselves.
  const auto noise = [](const Variable& v) {
    return v * Variable(autograd::random_normal({4}, 0, 1, Dtype::float64, autograd::default_generator()));
  };
  const Variable z = vmap(noise, {.fallback = false})(Variable(autograd::arrays::ones({2, 4}, Dtype::float64)));
  BOOST_TEST(!same_bits(z[0].data(), z[1].data()));
}

// A link is referred to, and parameters that a call initialises are those of the link.
BOOST_AUTO_TEST_CASE(links) {
  nn::Linear link(3);
  const Variable x(spread({4, 2, 5}));
  const Variable x32 = autograd::cast(x, Dtype::float32);
  const Variable y = vmap(link, {.fallback = false})(x32);
  BOOST_TEST(link.W.shape() == Shape({3, 5}));
  BOOST_REQUIRE(y.shape() == Shape({4, 2, 3}));
  const autograd::Array flat = link(x32.reshape(8, 5)).data();
  check_close(y.data(), autograd::reshape(flat, {4, 2, 3}), 1e-6, 1e-6);
  autograd::sum(y * y).backward();
  const autograd::Array g = autograd::copy(link.W.grad());
  link.cleargrads();
  const Variable whole = link(x32.reshape(8, 5));
  autograd::sum(whole * whole).backward();
  check_close(g, link.W.grad(), 1e-5, 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
