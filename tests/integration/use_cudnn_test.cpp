// The option use_cudnn of functions and links: whether cuDNN is asked for the work, with a cuDNN of the tests in the
// place of the library (fake_cudnn.h).
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/catena.h>
#include <catena/tests/integration/fake_cudnn.h>

namespace {

using namespace autograd;

const Device kCuda{Device::Kind::cuda, 0};

// Whether cuDNN's work comes to the fake.
bool have_fake() {
  if (!nd::is_available(Device::Kind::cuda)) std::cout << "skipped: there is no CUDA device on this machine\n";
  else if (!fake_cudnn::stands_in()) std::cout << "skipped: cuDNN is there\n";
  else if (default_backend().extension<NnExtension>(kCuda) == nullptr)
    std::cout << "skipped: this program asked for cuDNN before the fake was in its place\n";
  else return true;
  return false;
}

Array numbers(const Shape& shape, int seed) {
  std::vector<double> values(static_cast<std::size_t>(catena::size_of(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = double((i * 7 + i / 5 * 3 + std::size_t(seed)) % 11) / 8 - 0.625;
  return to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), Dtype::float32), kCuda);
}
Variable int_labels(const std::vector<double>& values, const Shape& shape) {
  return Variable(
      to_device(astype(from_host(values.data(), shape, Dtype::float64, nd::cpu_device), Dtype::int32), kCuda));
}

using Option = std::optional<bool>;

// A call with its gradients and the functions of cuDNN that computed them.
struct Outcome {
  Arrays arrays;
  std::vector<std::string> calls;
  std::string_view forward;
};
Outcome outcome_of(const Arrays& given, const std::function<Variable(const Variables&)>& f) {
  Variables in;
  for (const Array& a : given) in.push_back(Variable(a));
  fake_cudnn::record().calls.clear();
  set_last_implementation("");
  Variable y = f(in);
  Outcome o{{y.data()}, {}, last_implementation()};
  sum(y * y).backward();
  for (const Variable& v : in)
    if (v.grad()) o.arrays.push_back(v.grad());
  o.calls = fake_cudnn::record().calls;
  return o;
}

BOOST_AUTO_TEST_SUITE(use_cudnn)

BOOST_AUTO_TEST_CASE(batch_normalization_by_the_option_or_the_configuration) {
  if (!have_fake()) return;
  namespace F = nn::functions;
  const Array x = numbers({2, 3, 4, 4}, 1), gamma = numbers({3}, 2), beta = numbers({3}, 3), var = numbers({3}, 2) + 1;
  using Names = std::vector<std::string>;
  const Names training{"cudnnBatchNormalizationForwardTraining", "cudnnBatchNormalizationBackward"},
      inference{"cudnnBatchNormalizationForwardInference"};
  const auto link = [&](Option use, const Variables& v, bool test) {
    nn::BatchNormalization bn(3, {.use_cudnn = use});
    bn.to_gpu();
    return bn(v[0], test);
  };
  const struct {
    const char* name;
    std::function<Variable(Option, const Variables&)> call;
    Names calls;
  } cases[] = {
      {"the function",
       [](Option use, const Variables& v) { return nn::batch_normalization(v[0], v[1], v[2], {.use_cudnn = use}); },
       training},
      {"by position",
       [](Option use, const Variables& v) { return nn::batch_normalization(v[0], v[1], v[2], 2e-5, {}, {}, 0.9, use); },
       training},
      {"with statistics",
       [](Option use, const Variables& v) {
         return nn::batch_normalization(v[0], v[1], v[2], {.use_cudnn = use}, nn::return_statistics).y;
       },
       training},
      {"the link", [&](Option use, const Variables& v) { return link(use, v, false); }, training},
      {"fixed statistics",
       [](Option use, const Variables& v) {
         return nn::fixed_batch_normalization(v[0], v[1], v[2], v[2], v[3], {.use_cudnn = use});
       },
       inference},
      {"the link with fixed statistics", [&](Option use, const Variables& v) { return link(use, v, true); },
       inference}};
  for (const auto& c : cases) {
    const auto by = [&](Option use) {
      return outcome_of({x, gamma, beta, var}, [&](const Variables& v) { return c.call(use, v); });
    };
    const Outcome expected = by(false);
    for (const char* setting : {"auto", "never"})
      for (const Option use : {Option(), Option(true), Option(false)})
        BOOST_TEST_CONTEXT(c.name << ", " << setting << ", " << (use ? *use ? "true" : "false" : "unset")) {
          const auto scope = using_config("use_cudnn", setting);
          const Outcome o = by(use);
          const bool cudnn = use.value_or(std::string_view(setting) == "auto");
          BOOST_TEST(o.calls == (cudnn ? c.calls : Names()), boost::test_tools::per_element());
          BOOST_TEST(o.forward == (cudnn ? "cudnn" : "portable"));
          BOOST_REQUIRE(o.arrays.size() == expected.arrays.size());
          for (std::size_t i = 0; i < o.arrays.size(); ++i)
            BOOST_CHECK_NO_THROW(testing::assert_allclose(o.arrays[i], expected.arrays[i], 1e-5, 1e-5));
        }
  }
  // Of the objects true leaves the choice to the configuration.
  for (const bool use : {true, false})
    for (const bool train : {true, false}) BOOST_TEST_CONTEXT(use << train) {
        const auto call = [&](const Variables& v) {
          const F::BatchNormalizationFunction f(2e-5, {}, {}, train, 0.9, use);
          return train ? f(v[0], v[1], v[2]) : f(v[0], v[1], v[2], v[2], v[3]);
        };
        const Names names = train ? training : inference;
        BOOST_TEST(outcome_of({x, gamma, beta, var}, call).calls == (use ? names : Names()),
                   boost::test_tools::per_element());
        const auto scope = using_config("use_cudnn", "never");
        BOOST_TEST(outcome_of({x, gamma, beta, var}, call).calls.empty());
      }
}

// All cells, in one and in both directions, over sequences of the lengths 2 and 1.
BOOST_AUTO_TEST_CASE(recurrent_networks_by_the_option_or_by_position) {
  if (!have_fake()) return;
  const Variables xs{Variable(numbers({2, 3}, 1)), Variable(numbers({1, 3}, 2))};
  const auto check = [&](const char* name, int matrices, int directions, auto&& call) {
    std::vector<Variables> ws, bs;
    for (int d = 0; d < directions; ++d) {
      ws.emplace_back();
      bs.emplace_back();
      for (int j = 0; j < matrices; ++j) {
        ws.back().push_back(Variable(numbers({2, j < matrices / 2 ? 3 : 2}, 3 + d + j)));
        bs.back().push_back(Variable(numbers({2}, 5 + d + j)));
      }
    }
    const Variable h(numbers({directions, 2, 2}, 7)), c(numbers({directions, 2, 2}, 8));
    const auto run = [&](auto option, const char* implementation) {
      set_last_implementation("");
      const Array y = call(h, c, ws, bs, option).ys[0].data();
      BOOST_TEST(last_implementation() == implementation, name);
      return y;
    };
    const Array expected = run(Option(false), "portable");
    for (const Option use : {Option(), Option(true)})
      BOOST_CHECK_NO_THROW(testing::assert_allclose(run(use, "cudnn"), expected, 1e-5, 1e-5));
    const auto scope = using_config("use_cudnn", "never");
    run(Option(), "portable");
    run(Option(true), "cudnn");
  };
  using Weights = const std::vector<Variables>&;
  using Use = Option;
  using V = const Variable&;
  check("n_step_lstm", 8, 1, [&](V h, V c, Weights w, Weights b, Use use) {
    return nn::n_step_lstm(1, 0.0, h, c, w, b, xs, {.use_cudnn = use});
  });
  check("n_step_lstm by position", 8, 1,
        [&](V h, V c, Weights w, Weights b, Use use) { return nn::n_step_lstm(1, 0.0, h, c, w, b, xs, true, use); });
  check("n_step_bilstm", 8, 2, [&](V h, V c, Weights w, Weights b, Use use) {
    return nn::n_step_bilstm(1, 0.0, h, c, w, b, xs, {.use_cudnn = use});
  });
  check("n_step_gru", 6, 1,
        [&](V h, V, Weights w, Weights b, Use use) { return nn::n_step_gru(1, 0.0, h, w, b, xs, {.use_cudnn = use}); });
  check("n_step_gru by position", 6, 1,
        [&](V h, V, Weights w, Weights b, Use use) { return nn::n_step_gru(1, 0.0, h, w, b, xs, true, use); });
  check("n_step_bigru", 6, 2, [&](V h, V, Weights w, Weights b, Use use) {
    return nn::n_step_bigru(1, 0.0, h, w, b, xs, {.use_cudnn = use});
  });
  check("n_step_rnn", 2, 1, [&](V h, V, Weights w, Weights b, Use use) {
    return nn::n_step_rnn(1, 0.0, h, w, b, xs, {.use_cudnn = use, .activation = "relu"});
  });
  check("n_step_birnn", 2, 2, [&](V h, V, Weights w, Weights b, Use use) {
    return nn::n_step_birnn(1, 0.0, h, w, b, xs, {.use_cudnn = use});
  });
}

// These functions take the option, but cuDNN is never given their work.
BOOST_AUTO_TEST_CASE(functions_for_which_use_cudnn_has_no_effect) {
  if (!have_fake()) return;
  const Array image = numbers({2, 3, 4, 4}, 1), rows = numbers({4, 3}, 2), theta = numbers({2, 2, 3}, 3),
              grid = numbers({2, 2, 3, 3}, 4);
  const Variable classes = int_labels({0, 2, -1, 1}, {4}),
                 flags = int_labels({0, 1, 1, 0, -1, 1, 1, 1, 0, 0, 1, 0}, {4, 3});
  const struct {
    const char* name;
    Arrays inputs;
    std::function<Variable(bool, const Variables&)> call;
    bool pooling = false;
  } cases[] = {
      {"relu", {rows}, [](bool use, const Variables& v) { return nn::relu(v[0], use); }},
      {"sigmoid", {rows}, [](bool use, const Variables& v) { return nn::sigmoid(v[0], use); }},
      {"tanh", {rows}, [](bool use, const Variables& v) { return nn::tanh(v[0], use); }},
      {"softmax", {rows}, [](bool use, const Variables& v) { return nn::softmax(v[0], use); }},
      {"log_softmax", {rows}, [](bool use, const Variables& v) { return nn::log_softmax(v[0], use); }},
      {"spatial_transformer_grid",
       {theta},
       [](bool use, const Variables& v) { return nn::spatial_transformer_grid(v[0], 2, use); }},
      {"spatial_transformer_sampler",
       {image, grid},
       [](bool use, const Variables& v) { return nn::spatial_transformer_sampler(v[0], v[1], use); }},
      {"sigmoid_cross_entropy",
       {rows},
       [&](bool use, const Variables& v) { return nn::sigmoid_cross_entropy(v[0], flags, use); }},
      {"softmax_cross_entropy",
       {rows},
       [&](bool use, const Variables& v) { return nn::softmax_cross_entropy(v[0], classes, use); }},
      {"max_pooling_2d",
       {image},
       [](bool use, const Variables& v) { return nn::max_pooling_2d(v[0], 2, 2, 0, true, use); },
       true},
      {"max_pooling_nd",
       {image},
       [](bool use, const Variables& v) { return nn::max_pooling_nd(v[0], 2, 2, 0, true, use); },
       true},
      {"average_pooling_2d",
       {image},
       [](bool use, const Variables& v) { return nn::average_pooling_2d(v[0], 2, 2, 0, use); },
       true},
      {"average_pooling_nd",
       {image},
       [](bool use, const Variables& v) { return nn::average_pooling_nd(v[0], 2, 2, 0, use); },
       true},
      {"spatial_pyramid_pooling_2d",
       {image},
       [](bool use, const Variables& v) { return nn::spatial_pyramid_pooling_2d(v[0], 2, nn::PoolingClass::max, use); },
       true}};
  for (const auto& c : cases) BOOST_TEST_CONTEXT(c.name) {
      const auto by = [&](bool use) {
        return outcome_of(c.inputs, [&](const Variables& v) { return c.call(use, v); });
      };
      const Outcome with = by(true), without = by(false);
      for (const Outcome* o : {&with, &without}) {
        BOOST_TEST(o->calls.empty());
        BOOST_TEST(o->forward == (c.pooling ? "portable" : ""));
        BOOST_TEST(o->arrays.size() == 1 + c.inputs.size());
      }
      for (std::size_t i = 0; i < with.arrays.size(); ++i)
        BOOST_TEST((to_vector<float>(with.arrays[i]) == to_vector<float>(without.arrays[i])));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
