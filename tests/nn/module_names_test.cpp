// Members of modules, wrappers and functions by PyTorch's names.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <optional>

#include <catena/autograd/func.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/operators.h>
#include <catena/nn/functional_call.h>
#include <catena/nn/functions/torch_in_place.h>
#include <catena/nn/functions/torch_normalization.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/data_parallel.h>
#include <catena/nn/links/fusion.h>
#include <catena/nn/links/linear.h>
#include <catena/nn/links/torch_normalization.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/nn/summary.h>

using namespace autograd;
namespace F = nn::functions;

namespace {

using Doubles = std::vector<double>;
Variable constant(const Doubles& v, const Shape& shape) {
  return Variable(array<double>(v, shape), {.requires_grad = false});
}
void check(const Variable& y, const Shape& shape, const Doubles& expected) {
  BOOST_TEST(y.shape() == shape);
  const Doubles values = to_vector<double>(y.data());
  BOOST_REQUIRE(values.size() == expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    BOOST_TEST(values[i] == expected[i], boost::test_tools::tolerance(1e-9));
}

struct Net : nn::Module {
  nn::Linear fc{3, 2};
  nn::BatchNorm2d bn{2};
  NN_MEMBERS(fc, bn)
  Variable forward(const Variable& x) { return bn(fc(x)); }
  std::string extra_repr() const override { return "classes=2"; }
};
struct Called : nn::Module {
  nn::Linear fc{3, 2};
  NN_MEMBERS(fc)
  Variable operator()(const Variable& x) { return fc(x); }
};
struct WithoutCall : nn::Module {
  nn::Linear fc{3, 2};
  NN_MEMBERS(fc)
};
Variable input() { return Variable(arrays::ones({4, 3}), {.requires_grad = false}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(module_names)

BOOST_AUTO_TEST_CASE(forward_is_a_call) {
  Net net;
  Called called;
  WithoutCall without;
  BOOST_TEST(net.forward(input()).shape() == Shape({4, 2}));
  BOOST_TEST(net(input()).shape() == Shape({4, 2}));
  BOOST_TEST(called.forward(input()).shape() == Shape({4, 2}));
  BOOST_TEST(net.fc.forward(input()).shape() == Shape({4, 2}));
  nn::Module& base = net;
  BOOST_TEST(base.forward(input()).shape() == Shape({4, 2}));
  BOOST_CHECK_THROW(without(input()), catena::TypeError);
  BOOST_CHECK_THROW(without.forward(input()), catena::TypeError);
}

BOOST_AUTO_TEST_CASE(members_by_name) {
  Net net;
  BOOST_TEST(net.get_parameter("fc.weight").is_same(net.fc.W));
  BOOST_TEST(net.get_buffer("bn.running_mean").shape() == Shape({2}));
  BOOST_TEST(&net.get_submodule("fc") == &net.fc);
  BOOST_TEST(&net.get_submodule("") == &net);
  BOOST_CHECK_THROW(net.get_parameter("fc.W"), catena::AttributeError);
  BOOST_CHECK_THROW(net.get_submodule("fd"), catena::AttributeError);
  nn::Linear other(3, 2);
  net.set_submodule("fc", other);
  check(net.fc.W, {2, 3}, to_vector<double>(other.W.data()));
  BOOST_CHECK_THROW(net.set_submodule("bn", other), catena::TypeError);
  net.add_module("head", nn::Linear(2, 1));
  BOOST_TEST(net.named_parameters().back().path == "head.bias");
  net.type(Dtype::float64);
  BOOST_TEST((net.fc.W.dtype() == Dtype::float64));
  BOOST_TEST((net.bfloat16().get_parameter("head.weight").dtype() == Dtype::bfloat16));
  BOOST_TEST(&net.share_memory().to_empty("cpu") == &net);
}

BOOST_AUTO_TEST_CASE(what_is_printed) {
  BOOST_TEST(nn::to_string(Net()).starts_with("Net(classes=2\n  (fc): Linear("));
}

BOOST_AUTO_TEST_CASE(hooks_of_backward_and_of_states) {
  Net net;
  std::vector<std::string> calls;
  auto back = net.fc.register_full_backward_pre_hook(
      [&](nn::Link&, const Variables& gy) { calls.push_back("gy" + std::to_string(gy[0].size())); });
  sum(net.fc(input())).backward();
  back.remove();
  auto before = net.register_state_dict_pre_hook(
      [&](nn::Link&, const std::string& prefix) { calls.push_back("before" + prefix); });
  auto after = net.fc.register_state_dict_post_hook(
      [](nn::Link&, nn::StateDict& state, const std::string& prefix) { state[prefix + "extra"] = arrays::ones({1}); });
  auto load = net.fc.register_load_state_dict_pre_hook(
      [](nn::Link&, nn::StateDict& state, const std::string& prefix) { state.erase(prefix + "extra"); });
  auto loaded = net.register_load_state_dict_post_hook([&](nn::Link&, const nn::LoadReport& report) {
    calls.push_back("loaded" + std::to_string(report.missing.size()));
  });
  const nn::StateDict state = net.state_dict();
  BOOST_TEST(state.contains("fc/extra"));
  net.load_state_dict(state);
  BOOST_TEST(state.contains("fc/extra"));
  BOOST_TEST(calls == std::vector<std::string>({"gy8", "before", "loaded0"}), boost::test_tools::per_element());
  after.remove();
  BOOST_TEST(!net.state_dict().contains("fc/extra"));
  net.fc(input());  // runs no hooks of states
  BOOST_TEST(calls.size() == 4u);
}

BOOST_AUTO_TEST_CASE(hooks_of_states_are_no_hooks_of_calls) {
  Net net;
  std::vector<std::string> prefixes;
  auto hook =
      net.fc.register_state_dict_pre_hook([&](nn::Link&, const std::string& prefix) { prefixes.push_back(prefix); });
  BOOST_TEST(nn::internal::hooks_of(net.fc) == nullptr);
  Net copy = net;
  copy.state_dict();
  net.fc.state_dict();
  BOOST_TEST(prefixes == std::vector<std::string>({"fc/", ""}), boost::test_tools::per_element());
  hook.remove();
  hook.remove();
  copy.state_dict();
  BOOST_TEST(prefixes.size() == 2u);
}

// A hook may ask for another state and remove itself.
BOOST_AUTO_TEST_CASE(hooks_of_states_within_each_other) {
  Net net;
  std::vector<std::string> calls;
  auto of_child = net.fc.register_state_dict_post_hook([&](nn::Link&, nn::StateDict& state, const std::string& prefix) {
    calls.push_back(prefix + std::to_string(state.size()));
  });
  std::optional<nn::LinkHookHandle> once;
  once = net.register_state_dict_post_hook([&](nn::Link&, nn::StateDict& state, const std::string&) {
    once->remove();
    net.fc.state_dict();
    calls.push_back("all" + std::to_string(state.size()));
  });
  const std::size_t size = net.state_dict().size();
  BOOST_TEST(size > 2u);
  BOOST_TEST(calls == std::vector<std::string>({"2", "all" + std::to_string(size), "fc/" + std::to_string(size)}),
             boost::test_tools::per_element());
  net.state_dict();
  BOOST_TEST(calls.size() == 4u);
}

BOOST_AUTO_TEST_CASE(wrappers_and_stacks) {
  Called net;
  nn::DataParallel parallel(net);
  check(parallel(input()), {4, 2}, to_vector<double>(net(input()).data()));
  BOOST_TEST(parallel.named_parameters()[0].path == "module.fc.weight");
  BOOST_TEST(&parallel.module == &net);
  nn::DataParallel own(nn::Linear(3, 1), {.device_ids = {0}});
  BOOST_TEST(own(input()).shape() == Shape({4, 1}));
  BOOST_TEST(nn::utils::skip_init<nn::Linear>(3, 4).W.shape() == Shape({4, 3}));

  std::vector<Called> models(3);
  const auto [params, buffers] = nn::stack_module_state(models);
  BOOST_TEST(params.at("fc.weight").shape() == Shape({3, 2, 3}));
  BOOST_TEST(buffers.empty());
  const auto one = [&](const nn::NamedVariables& p, const Variable& x) { return nn::functional_call(models[0], p, x); };
  const Variable ys = func::vmap(one, {.in_dims = {0, std::nullopt}})(params, input());
  check(ys[2], {4, 2}, to_vector<double>(models[2](input()).data()));
  std::vector<Called> none;
  BOOST_CHECK_THROW(nn::stack_module_state(none), catena::ValueError);
}

// Values of PyTorch 2.
BOOST_AUTO_TEST_CASE(functions_in_place) {
  Variable x = constant({-1, 2}, {2});
  const Variable other = x;
  check(F::relu_(x), {2}, {0, 2});
  check(x, {2}, {0, 2});
  check(other, {2}, {-1, 2});
  check(F::leaky_relu_(constant({-1, 2}, {2})), {2}, {-0.01, 2});
  check(F::leaky_relu_(constant({-1, 2}, {2}), {.negative_slope = 0.5}), {2}, {-0.5, 2});
  check(F::elu_(constant({-1, 2}, {2}), 2), {2}, {2 * (std::exp(-1) - 1), 2});
  check(F::celu_(constant({-1, 2}, {2}), {.alpha = 2}), {2}, {2 * (std::exp(-0.5) - 1), 2});
  check(F::selu_(constant({2}, {1})), {1}, {2 * 1.0507009873554805});
  check(F::hardtanh_(constant({-3, 0.5}, {2})), {2}, {-1, 0.5});
  check(F::hardtanh_(constant({-3, 0.5}, {2}), -2, 0.25), {2}, {-2, 0.25});
  check(F::threshold_(constant({-1, 3}, {2}), 1, 9), {2}, {9, 3});
  const Variable root(array<double>({-1, 2}, {2}));
  Variable h = root * 3;
  F::relu_(h);
  check(grad({sum(h)}, {root})[0], {2}, {0, 3});
}

BOOST_AUTO_TEST_CASE(resizing_and_normalization) {
  const Variable image = constant({0, 1, 2, 3}, {1, 1, 2, 2});
  check(F::upsample_nearest(image, {.scale_factor = 2}).reshape(Shape{16}), {16},
        {0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3});
  check(F::upsample_bilinear(image, {3, 3}).reshape(Shape{9}), {9}, {0, 0.5, 1, 1, 1.5, 2, 2, 2.5, 3});
  const Variable x = constant({1, 2, 3, 4}, {1, 4, 1, 1});
  const auto normalized = [](double v, double squares, double size) {
    return v / std::pow(1 + 0.5 / size * squares, 0.75);
  };
  check(nn::CrossMapLRN2d(3, 0.5)(x).reshape(Shape{4}), {4},
        {normalized(1, 5, 3), normalized(2, 14, 3), normalized(3, 29, 3), normalized(4, 25, 3)});
  check(nn::CrossMapLRN2d(4, {.alpha = 0.5})(x).reshape(Shape{4}), {4},
        {normalized(1, 5, 4), normalized(2, 14, 4), normalized(3, 29, 4), normalized(4, 25, 4)});
}

BOOST_AUTO_TEST_CASE(fused_weights) {
  const auto [w, b] = nn::utils::fuse_linear_bn_weights(constant({1, 2, 3, 4}, {2, 2}), {}, constant({1, 2}, {2}),
                                                        constant({3, 8}, {2}), 1, constant({4, 3}, {2}), {});
  check(w, {2, 2}, {2, 4, 3, 4});
  check(b, {2}, {-2, -2});
  const auto [wt, bt] =
      nn::utils::fuse_conv_bn_weights(constant({1, 2, 3, 4}, {2, 2}), constant({1, 1}, {2}), constant({1, 2}, {2}),
                                      constant({3, 8}, {2}), 1, constant({4, 3}, {2}), constant({5, 5}, {2}), true);
  check(wt, {2, 2}, {2, 2, 6, 4});
  check(bt, {2}, {5, 4});
  BOOST_CHECK_THROW(nn::utils::fuse_linear_bn_weights(constant({1, 2}, {1, 2}), {}, constant({1, 2}, {2}),
                                                      constant({3, 8}, {2}), 1, {}, {}),
                    catena::ValueError);
}

BOOST_AUTO_TEST_CASE(keywords_of_functions) {
  const Variable x = constant({1, -2}, {1, 2}), w = constant({3, 4}, {1, 2}), b = constant({0.5}, {1});
  check(F::linear(x, w, {.bias = b}), {1, 1}, {-4.5});
  check(F::relu6(x, {.inplace = true}), {1, 2}, {1, 0});
  check(F::hardsigmoid(x), {1, 2}, {1.0 / 6 + 0.5, -2.0 / 6 + 0.5});
  check(F::hardswish(x, true), {1, 2}, {4.0 / 6, -2.0 / 6});
  Variable (*const pointer)(const Variable&) = F::silu;
  check(pointer(constant({0}, {1})), {1}, {0});
  check(F::dropout(x, {.training = false, .inplace = true}), {1, 2}, {1, -2});
  const Variable mean = constant({1, 0}, {2}), var = constant({3, 0}, {2});
  check(F::batch_norm(x, mean, var, {.eps = 1}), {1, 2}, {0, -2});
}

BOOST_AUTO_TEST_SUITE_END()
