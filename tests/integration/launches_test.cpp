// How many kernels an operation launches, and that a training step never waits for the device. Counted by the software
// CUDA device.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/tests/support/cuda_device/control.h>

using autograd::Array;
using autograd::Dtype;
using autograd::Variable;
using cuda_device::Control;

namespace {

bool counted() {
  if (Control::available()) return true;
  std::cout << "skipped: launches are counted by the software CUDA device\n";
  return false;
}

// The kernels that f launches once everything it needs has been compiled.
template <class F> std::vector<std::string> kernels_of(F f) {
  f();
  Control control;
  control.reset_records();
  f();
  std::vector<std::string> names;
  for (const Control::Launch& l : control.launches()) names.push_back(l.kernel);
  return names;
}
#define CHECK_ONE_KERNEL(f, part)                                         \
  do {                                                                    \
    const std::vector<std::string> launched = kernels_of(f);              \
    BOOST_REQUIRE_EQUAL(launched.size(), 1u);                             \
    BOOST_TEST(launched[0].find(part) != std::string::npos, launched[0]); \
  } while (0)

struct MLP : nn::Chain {
  nn::Linear l1{20, 30}, l2{30, 5};
  NN_MEMBERS(l1, l2)
  Variable operator()(const Variable& x) { return l2(nn::dropout(nn::relu(l1(x)))); }
};

BOOST_AUTO_TEST_SUITE(launches)

BOOST_AUTO_TEST_CASE(one_kernel_for_a_fused_chain_of_six) {
  if (!counted()) return;
  const nd::Array x = nd::full({1000}, 0.5f), y = nd::full({1000}, 2.f);
  const auto fused = nd::fuse([](const auto& a, const auto& b) { return nd::tanh(a * b + 1) / (nd::exp(-a) + 2); });
  CHECK_ONE_KERNEL([&] { fused(x, y); }, "_and_6_more_contiguous_");
}

BOOST_AUTO_TEST_CASE(one_kernel_for_an_operation_a_copy_and_a_reduction) {
  if (!counted()) return;
  const nd::Array x = nd::full({60, 50}, 0.5f), row = nd::full({50}, 2.f);
  CHECK_ONE_KERNEL([&] { nd::add(x, row); }, "add_");
  // A contiguous copy is the driver's own, and nothing else.
  BOOST_TEST(kernels_of([&] { x.copy(); }).empty());
  Control control;
  BOOST_TEST(control.calls("cuMemcpyDtoDAsync_v2") == 1u);
  CHECK_ONE_KERNEL([&] { x.T().copy(); }, "copy_strided_");
  CHECK_ONE_KERNEL([&] { nd::sum(x, {.axis = 1}); }, "sum_");
}

BOOST_AUTO_TEST_CASE(one_kernel_for_ranges_and_for_joining) {
  if (!counted()) return;
  CHECK_ONE_KERNEL([] { nd::arange(1000); }, "arange_");
  CHECK_ONE_KERNEL([] { nd::arange(0.5, 9.5, 0.25, nd::float32); }, "arange_");
  CHECK_ONE_KERNEL([] { nd::linspace(0, 1, 1000, nd::float32); }, "linspace_");
  const nd::Array x = nd::full({60, 50}, 0.5f);
  const std::vector<nd::Array> many(100, nd::full({30}, 2.f));
  CHECK_ONE_KERNEL([&] { nd::concatenate({x, x, x}, 1); }, "join_");
  CHECK_ONE_KERNEL([&] { nd::concatenate({x.T(), x.T()(nd::Slice(0, 20))}); }, "join_");
  CHECK_ONE_KERNEL([&] { nd::concatenate(many); }, "join_");
  CHECK_ONE_KERNEL([&] { nd::stack({x, x}, 2); }, "join_");
  // Nothing is made on the host and copied.
  Control control;
  control.reset_records();
  nd::concatenate({nd::arange(1000), nd::linspace(0, 1, 5, nd::int64)});
  BOOST_TEST(control.calls("cuMemcpyHtoDAsync_v2") == 0u);
  BOOST_TEST(control.launches().size() == 3u);
}

BOOST_AUTO_TEST_CASE(one_kernel_for_softmax_and_normalization) {
  if (!counted()) return;
  const Array x = autograd::arrays::ones({12, 700});
  CHECK_ONE_KERNEL([&] { nn::softmax(Variable(x)); }, "softmax_");
  CHECK_ONE_KERNEL([&] { nn::log_softmax(Variable(x)); }, "log_softmax_");
  const Variable gamma(autograd::arrays::ones({700})), beta(autograd::arrays::zeros({700}));
  CHECK_ONE_KERNEL([&] { nn::layer_normalization(Variable(x), gamma, beta); }, "layer_norm_fwd_");
}

BOOST_AUTO_TEST_CASE(three_kernels_for_the_gradients_of_layer_normalization) {
  if (!counted()) return;
  Variable x(autograd::arrays::ones({12, 700})), gamma(autograd::arrays::ones({700})),
      beta(autograd::arrays::zeros({700}));
  const Array gy = autograd::arrays::ones({12, 700});
  Variable y = nn::layer_normalization(x, gamma, beta);
  const std::vector<std::string> launched = kernels_of([&] {
    for (Variable* v : {&x, &gamma, &beta}) v->cleargrad();
    y.set_grad(gy);
    y.backward();
  });
  BOOST_REQUIRE_EQUAL(launched.size(), 3u);
  BOOST_TEST(launched[0].find("layer_norm_bwd_") != std::string::npos, launched[0]);
  for (std::size_t k = 1; k < 3; ++k) BOOST_TEST(launched[k].find("sum_") != std::string::npos, launched[k]);
}

BOOST_AUTO_TEST_CASE(one_kernel_for_a_step_of_adam_over_all_parameters) {
  if (!counted()) return;
  MLP model;
  training::Adam optimizer;
  optimizer.setup(model);
  for (const Variable& p : model.params()) Variable(p).set_grad(autograd::ones_like(p.data()));
  CHECK_ONE_KERNEL([&] { optimizer.update(); }, "adam_update_");
}

BOOST_AUTO_TEST_CASE(a_step_over_the_same_tensors_copies_nothing_to_the_device) {
  if (!counted()) return;
  MLP model;
  training::Adam optimizer;
  optimizer.setup(model);
  for (const Variable& p : model.params()) Variable(p).set_grad(autograd::ones_like(p.data()));
  Control control;
  const auto copies_of = [&] {
    control.reset_records();
    optimizer.update();
    return control.calls("cuMemcpyHtoDAsync_v2");
  };
  BOOST_TEST(copies_of() == 1u);  // the table
  BOOST_TEST(copies_of() == 0u);
  optimizer.set_hyper("alpha", 0.01);
  BOOST_TEST(copies_of() == 0u);
  const Array other = autograd::ones_like(model.l1.W.data());
  model.l1.W.set_grad(other);
  BOOST_TEST(copies_of() == 1u);
  BOOST_TEST(copies_of() == 0u);
  // On another stream the table is another one.
  {
    const nd::Stream stream;
    const nd::StreamScope scope(stream);
    BOOST_TEST(copies_of() == 1u);
    BOOST_TEST(copies_of() == 0u);
  }
  BOOST_TEST(copies_of() == 1u);
}

BOOST_AUTO_TEST_CASE(a_training_step_never_waits) {
  if (!counted()) return;
  nn::Classifier<MLP> model{MLP()};
  training::Adam optimizer;
  optimizer.setup(model);
  optimizer.add_hook(training::GradientClipping(1.0));
  std::vector<float> images(16 * 20, 0.25f);
  std::vector<std::int32_t> labels(16, 3);
  // The batch comes from host memory, as from an iterator.
  const auto step = [&] {
    const Array x = autograd::from_host(images.data(), {16, 20}, Dtype::float32),
                t = autograd::from_host(labels.data(), {16}, Dtype::int32);
    optimizer.update(model, Variable(x), Variable(t));
  };
  step();
  Control control;
  control.reset_records();
  for (int k = 0; k < 3; ++k) step();
  BOOST_TEST(control.synchronisations() == std::vector<std::string>(), boost::test_tools::per_element());
  BOOST_TEST(control.launches().size() > 10u);
  BOOST_TEST(autograd::item(model.loss.data()).to_double() > 0);
  BOOST_TEST(!control.synchronisations().empty());  // reading the loss does wait
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
