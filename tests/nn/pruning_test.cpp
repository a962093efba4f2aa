// Pruned parameters: which elements become 0, and that they stay 0.
#include <catena/nn/link_hooks/pruning.h>

#include <cmath>

#include <catena/nn/links.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace prune = nn::utils::prune;

namespace {

nn::Linear layer_to_prune() {
  nn::Linear fc(3, 2);
  fc.W.set_data(floats({1, -5, 2, -4, 3, 6}, {2, 3}));
  return fc;
}
std::vector<double> weights_of(const nn::Linear& fc) { return values(fc.W.data()); }
#define CHECK_LIST(a, ...) BOOST_TEST(a == (__VA_ARGS__), boost::test_tools::per_element())
using Numbers = std::vector<double>;

}  // namespace

BOOST_AUTO_TEST_SUITE(pruning)

BOOST_AUTO_TEST_CASE(least_elements) {
  nn::Linear fc = layer_to_prune();
  prune::l1_unstructured(fc, "weight", {.amount = 0.5});
  CHECK_LIST(weights_of(fc), Numbers{0, -5, 0, -4, 0, 6});
  BOOST_TEST(prune::is_pruned(fc));
  prune::l1_unstructured(fc, {.name = "weight", .amount = 1});  // of those that are left
  CHECK_LIST(weights_of(fc), Numbers{0, -5, 0, 0, 0, 6});
  BOOST_CHECK_THROW(prune::l1_unstructured(fc, "weight", 3), catena::ValueError);
  BOOST_CHECK_THROW(prune::l1_unstructured(fc, "weight", 1.5), catena::ValueError);
  BOOST_CHECK_THROW(prune::l1_unstructured(fc, "gate", 1), catena::KeyError);
  prune::remove(fc, "weight");
  BOOST_TEST(!prune::is_pruned(fc));
  CHECK_LIST(weights_of(fc), Numbers{0, -5, 0, 0, 0, 6});
  BOOST_TEST(fc.state_dict().size() == 2U);
  BOOST_CHECK_THROW(prune::remove(fc, "weight"), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(slices_and_masks) {
  nn::Linear fc = layer_to_prune();
  prune::ln_structured(fc, "weight", {.amount = 1, .n = 1, .dim = 1});  // norms 5, 8, 8
  CHECK_LIST(weights_of(fc), Numbers{0, -5, 2, 0, 3, 6});
  prune::ln_structured(fc, "weight", 0.5, INFINITY, 0);  // norms 5, 6
  CHECK_LIST(weights_of(fc), Numbers{0, 0, 0, 0, 3, 6});
  BOOST_CHECK_THROW(prune::ln_structured(fc, "weight", 1, 2, 2), catena::ValueError);
  nn::Linear other = layer_to_prune();
  prune::custom_from_mask(other, "weight", Variable(floats({1, 0, 1, 0, 1, 1}, {2, 3})));
  CHECK_LIST(weights_of(other), Numbers{1, 0, 2, 0, 3, 6});
  BOOST_CHECK_THROW(prune::custom_from_mask(other, "weight", Variable(floats({1}, {1}))), catena::ValueError);
  prune::random_unstructured(other, "weight", 2);
  int zeros = 0;
  for (const double v : weights_of(other)) zeros += v == 0 ? 1 : 0;
  BOOST_TEST(zeros == 4);
  other.b->set_data(floats({7, 8}, {2}));
  prune::random_structured(other, {.name = "bias", .amount = 1, .dim = 0});
  BOOST_TEST(other.state_dict().size() == 4U);
  const std::vector<double> b = values(other.b->data());
  BOOST_TEST(((b == Numbers{0, 8}) || (b == Numbers{7, 0})));
}

BOOST_AUTO_TEST_CASE(orders_of_norms_are_positive) {
  nn::Linear fc = layer_to_prune();
  for (const double n : {0.0, -1.0, double(NAN)})
    BOOST_CHECK_THROW(prune::ln_structured(fc, "weight", {.amount = 1, .n = n, .dim = 1}), catena::ValueError);
  CHECK_LIST(weights_of(fc), Numbers{1, -5, 2, -4, 3, 6});
  BOOST_TEST(!prune::is_pruned(fc));
}

// Momentum moves elements that get no gradient.
BOOST_AUTO_TEST_CASE(removal_writes_the_zeros) {
  nn::Linear fc = layer_to_prune();
  prune::l1_unstructured(fc, "weight", 0.5);
  prune::l1_unstructured(fc, "bias", 1);
  fc.W.set_data(floats({1, -5, 2, -4, 3, 6}, {2, 3}));
  prune::remove(fc, "weight");
  CHECK_LIST(weights_of(fc), Numbers{0, -5, 0, -4, 0, 6});
  BOOST_TEST(prune::is_pruned(fc));  // the bias
  BOOST_TEST(fc.state_dict().size() == 3U);
}

// The parameter that PyTorch calls weight is gamma.
BOOST_AUTO_TEST_CASE(weights_of_normalizations) {
  nn::BatchNorm2d bn(2);
  bn.gamma->set_data(floats({3, -1}, {2}));
  prune::l1_unstructured(bn, "weight", 1);
  CHECK_LIST(values(bn.weight.data()), Numbers{3, 0});
  bn.gamma->set_data(floats({3, -1}, {2}));
  bn.eval();
  const std::vector<double> y = values(bn(Variable(floats({1, 1}, {1, 2, 1, 1}))).data());
  BOOST_TEST((y[0] > 2.9 && y[1] == 0));
  BOOST_TEST(bn.gamma->is_same(bn.weight));
  nn::Link& link = bn;
  link(Variable(floats({1, 1}, {1, 2, 1, 1})));
  BOOST_TEST(bn.gamma->is_same(bn.weight));  // not the product
  prune::remove(bn);
  CHECK_LIST(values(bn.weight.data()), Numbers{3, 0});
  BOOST_TEST(!prune::is_pruned(bn));
}

BOOST_AUTO_TEST_CASE(among_several_layers) {
  nn::Linear a = layer_to_prune(), b = layer_to_prune();
  b.W.set_data(floats({10, 20, 30, 0.5F, 40, 50}, {2, 3}));
  prune::global_unstructured({{a, "weight"}, {b, "weight"}}, {.pruning_method = prune::L1Unstructured, .amount = 3});
  CHECK_LIST(weights_of(a), Numbers{0, -5, 0, -4, 3, 6});
  CHECK_LIST(weights_of(b), Numbers{10, 20, 30, 0, 40, 50});
}

BOOST_AUTO_TEST_CASE(pruned_elements_get_no_gradient) {
  nn::Linear fc = layer_to_prune();
  prune::l1_unstructured(fc, "weight", 0.5);
  nn::Linear twin = fc;
  for (nn::Linear* link : {&fc, &twin}) {
    const Variable x(floats({1, 2, 3}, {1, 3}));
    autograd::sum((*link)(x)).backward();
    CHECK_LIST(values(link->W.grad()), Numbers{0, 2, 0, 1, 0, 3});
  }
  prune::identity(fc, "bias");
  BOOST_TEST(fc.state_dict().size() == 4U);
}

BOOST_AUTO_TEST_SUITE_END()
