// nn::models: the numbers of parameters that torchvision documents, its keys, results, other last layers.
#include <catena/nn/vision/torch_models.h>

#include <boost/test/unit_test.hpp>

#include <catena/nn/serializers/state_dict.h>
#include <catena/tests/support/attributes.h>

using namespace autograd;

namespace {

template <class Net> std::int64_t number_of_parameters(const Net& net) {
  std::int64_t n = 0;
  for (const auto& p : net.params()) n += p.size();
  return n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_models)

BOOST_AUTO_TEST_CASE(residual_networks) {
  nn::models::ResNet net = nn::models::resnet18({.num_classes = 10});
  BOOST_TEST(number_of_parameters(net) == 11689512 - 513 * 990);
  const nn::StateDict state = net.state_dict();
  for (const char* key : {"conv1.weight", "bn1.running_mean", "layer1.0.conv1.weight", "layer2.0.downsample.0.weight",
                          "layer2.0.downsample.1.weight", "layer4.1.bn2.bias", "fc.weight", "fc.bias"})
    BOOST_TEST(state.contains(key), key);
  BOOST_TEST(!state.contains("layer1.0.downsample.0.weight"));
  net.fc = nn::Linear(512, 3);
  net.eval();
  BOOST_TEST(net(Variable(arrays::zeros({2, 3, 32, 32}))).shape() == (Shape{2, 3}));
  BOOST_CHECK_THROW(nn::models::ResNet(false, {2, 2}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(larger_networks, *test::slow()) {
  BOOST_TEST(number_of_parameters(nn::models::resnet18()) == 11689512);
  BOOST_TEST(number_of_parameters(nn::models::resnet50()) == 25557032);
  nn::models::AlexNet alexnet = nn::models::alexnet();
  BOOST_TEST(number_of_parameters(alexnet) == 61100840);
  const nn::StateDict state = alexnet.state_dict();
  BOOST_TEST(state.size() == 16u);
  for (const char* layer : {"features.0", "features.3", "features.6", "features.8", "features.10", "classifier.1",
                            "classifier.4", "classifier.6"})
    BOOST_TEST(state.contains(std::string(layer) + ".weight"), layer);
}

BOOST_AUTO_TEST_CASE(networks_of_features, *test::slow()) {
  nn::models::VGG net({1, 1, 1, 1, 1}, true, {.num_classes = 2});
  const nn::StateDict state = net.state_dict();
  for (const char* key : {"features.0.weight", "features.17.running_var", "classifier.0.weight", "classifier.6.bias"})
    BOOST_TEST(state.contains(key), key);
  net.eval();
  BOOST_TEST(net(Variable(arrays::zeros({1, 3, 32, 32}))).shape() == (Shape{1, 2}));
  BOOST_CHECK_THROW(nn::models::VGG({1, 1}, true), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
