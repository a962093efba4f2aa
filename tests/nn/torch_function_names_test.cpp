// PyTorch's options of initializing functions and of losses, and parameters as a vector.
#include <cmath>

#include <catena/nn/clipping.h>
#include <catena/nn/functions/activation.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/functions/probability_loss.h>
#include <catena/nn/functions/similarity.h>
#include <catena/nn/init.h>
#include <catena/nn/links.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;

namespace {

const auto each = boost::test_tools::per_element();
std::vector<double> of(const Variable& v) { return autograd::to_vector<double>(v.data()); }
double deviation(const Variable& v) {
  double squares = 0;
  for (const double e : of(v)) squares += e * e;
  return std::sqrt(squares / double(v.size()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_function_names)

BOOST_AUTO_TEST_CASE(kaiming_by_mode_and_nonlinearity) {
  autograd::seed(3);
  const Variable w(autograd::arrays::zeros({40, 10, 5, 4}));  // fan_in 200, fan_out 800
  const auto close = [&](double expected) { BOOST_TEST(deviation(w) == expected, boost::test_tools::tolerance(0.05)); };
  nn::init::kaiming_normal_(w, {.mode = "fan_out", .nonlinearity = "relu"});
  close(std::sqrt(2.0 / 800));
  nn::init::kaiming_normal_(w, {.nonlinearity = "linear"});
  close(std::sqrt(1.0 / 200));
  nn::init::kaiming_uniform_(w, {.a = std::sqrt(5.0)});
  close(std::sqrt(2.0 / 6 / 200));
  double greatest = 0;
  for (const double e : of(w)) greatest = std::max(greatest, std::abs(e));
  BOOST_TEST(greatest <= std::sqrt(3.0 * 2 / 6 / 200));
  BOOST_TEST(nn::init::calculate_gain("tanh") == 5.0 / 3);
  BOOST_TEST(nn::init::calculate_gain("selu") == 0.75);
  BOOST_CHECK_THROW(nn::init::kaiming_normal_(w, {.mode = "fan"}), catena::ValueError);
  BOOST_CHECK_THROW(nn::init::kaiming_normal_(w, {.nonlinearity = "swish"}), catena::ValueError);
  BOOST_CHECK_THROW(nn::init::kaiming_normal_(Variable(autograd::arrays::zeros({3})), {.mode = "fan_in"}),
                    catena::ValueError);
  nn::init::trunc_normal_(w, {.mean = 1, .std = 0.5, .a = 0.5, .b = 2});
  for (const double e : of(w)) BOOST_REQUIRE((e >= 0.5 && e <= 2));
  BOOST_CHECK_THROW(nn::init::trunc_normal_(w, {.std = 0}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(reductions_by_their_names_in_pytorch) {
  const Variable x(floats({0, 3, 0.5f, -1}, {2, 2})), t(autograd::arrays::zeros({2, 2}));
  // |a| - 1/2 from 1 on, else a^2 / 2
  BOOST_TEST(nn::smooth_l1_loss(x, t).item() == (2.5 + 0.125 + 0.5) / 4);
  BOOST_TEST(nn::smooth_l1_loss(x, t, {.reduction = "sum"}).item() == 3.125);
  BOOST_TEST(
      of(nn::smooth_l1_loss(x, t, {.reduction = "none", .beta = 2})) == (std::vector<double>{0, 2, 0.0625, 0.25}),
      each);
  BOOST_TEST(nn::SmoothL1Loss({.reduction = "sum"})(x, t).item() == 3.125);
  BOOST_CHECK_THROW(nn::smooth_l1_loss(x, t, {.reduction = "no"}), catena::ValueError);
  const Variable log_q(floats({std::log(0.5f), std::log(0.5f)}, {1, 2})), p(floats({0.25f, 0.75f}, {1, 2}));
  const double divergence = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  BOOST_TEST(nn::kl_div(log_q, p, {.reduction = "batchmean"}).item() == divergence, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(nn::kl_div(log_q, p, {.reduction = "mean"}).item() == divergence / 2, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(nn::kl_div(log_q, p, {.reduction = "none"}).shape() == (Shape{1, 2}));
  nn::KLDivOptions of_sum;
  of_sum.reduce = "sum";
  BOOST_TEST(nn::kl_div(log_q, p, of_sum).item() == divergence, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(of(nn::softmax(x, {.dim = 0})) == of(nn::softmax(x, 0)), each);
  nn::SoftmaxOptions along_0;
  along_0.axis = 0;
  BOOST_TEST(of(nn::softmax(x, along_0)) == of(nn::softmax(x, 0)), each);
  BOOST_TEST(of(nn::log_softmax(x, {.dim = 0})) == of(nn::log_softmax(x, {.axis = 0})), each);
}

BOOST_AUTO_TEST_CASE(parameters_as_a_vector) {
  nn::Linear linear(2, 1);
  autograd::assign(linear.W.data(), floats({1, 2}, {1, 2}));
  autograd::fill(linear.b->data(), 3);
  const Array vector = nn::utils::parameters_to_vector(linear.parameters());
  BOOST_TEST(autograd::to_vector<double>(vector) == (std::vector<double>{1, 2, 3}), each);
  nn::utils::vector_to_parameters(floats({4, 5, 6}, {3}), linear.parameters());
  BOOST_TEST(of(linear.W) == (std::vector<double>{4, 5}), each);
  BOOST_TEST(of(*linear.b) == (std::vector<double>{6}), each);
  BOOST_CHECK_THROW(nn::utils::vector_to_parameters(floats({4}, {1}), linear.parameters()), catena::ValueError);
  BOOST_TEST(of(*linear.b) == (std::vector<double>{6}), each);
  BOOST_CHECK_THROW(nn::utils::parameters_to_vector({}), catena::ValueError);
  BOOST_CHECK_THROW(nn::utils::parameters_to_vector(nn::Linear(2).parameters()), catena::ValueError);
}

// x / max(|x|_p, eps), as PyTorch, and not x / (|x| + eps).
BOOST_AUTO_TEST_CASE(normalize_with_options) {
  const Variable x(floats({3, 4, 0, 0, 0.25f, 0}, {3, 2}));
  BOOST_TEST(
      of(nn::normalize(x, {.p = 1, .dim = 1, .eps = 0.5})) == (std::vector<double>{3.0f / 7, 4.0f / 7, 0, 0, 0.5, 0}),
      each);
  BOOST_TEST(of(nn::normalize(x, {.p = 2, .dim = 1})) == (std::vector<double>{0.6f, 0.8f, 0, 0, 1, 0}), each);
  BOOST_TEST(of(nn::normalize(x, {.axis = 0}))[4] == 0.25 / std::sqrt(9.0625), boost::test_tools::tolerance(1e-6));
  test::check_derivatives("normalize", [](const Variables& v) { return Variables{nn::normalize(v[0], {.p = 3})}; },
                          {spread({2, 3}, 0.5, 1)});
  BOOST_TEST(nn::normalize(Variable(autograd::arrays::zeros({0, 3})), {.dim = 1}).size() == 0);
  BOOST_CHECK_THROW(nn::normalize(x, {.dim = 1, .axis = 1}), catena::ValueError);
  BOOST_CHECK_THROW(nn::normalize(Variable(autograd::arrays::ones({2, 3}, autograd::Dtype::int32)), {.dim = 1}),
                    catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(axes_by_their_names) {
  const Variable x(floats({1, 0, 1, 2}, {2, 2})), y(floats({2, 0, 0, 3}, {2, 2}));
  const auto same = [](const Variable& a, const Variable& b) { BOOST_TEST(of(a) == of(b), each); };
  same(nn::cosine_similarity(x, y, {.dim = 0}), nn::cosine_similarity(x, y, 0));
  same(nn::cosine_similarity(x, y, {.axis = 1, .eps = 10}), nn::cosine_similarity(x, y, 1, 10));
  BOOST_CHECK_THROW(nn::cosine_similarity(x, y, {.dim = 1, .axis = 1}), catena::ValueError);
  same(nn::softmin(x, {.dim = 0}), nn::softmin(x, 0));
  same(nn::sparsemax(x, {.axis = 0}), nn::sparsemax(x, 0));
  same(x.softmax(-1), nn::softmax(x, -1));
  same(x.softmax({.dim = 0}), nn::softmax(x, 0));
  same(x.softmax(), nn::softmax(x, 1));
  same(x.log_softmax(0), nn::log_softmax(x, 0));
  same(x.log_softmax({.axis = 0}), nn::log_softmax(x, 0));
  same((x - 1).relu(), nn::relu(x - 1));
  // The axis of a vector is 0 or -1.
  const Variable v(floats({1, 3, 2}, {3}));
  same(v.softmax(-1), nn::softmax(v.reshape(1, 3)).reshape(3));
  same(v.log_softmax({.dim = 0}), nn::log_softmax(v.reshape(1, 3)).reshape(3));
  BOOST_CHECK_THROW(v.softmax(1), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
