// The loss of accuracy by weights of 8 bits: networks trained on MNIST, before and after nn::quantize_weights.
#include <cstdlib>

#include <catena/autograd/config.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets/mnist.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

// The images of CATENA_TEST_DATA, or generated ones.
datasets::Mnist images() {
  const char* const data = std::getenv("CATENA_TEST_DATA");
  if (data == nullptr || !std::filesystem::exists(std::filesystem::path(data) / "mnist")) {
    std::cout << "generated images, because there are none in CATENA_TEST_DATA/mnist\n";
    return datasets::generated_mnist(6000, 1000);
  }
  const std::string before = get_dataset_root();
  set_dataset_root(data);
  datasets::Mnist mnist = datasets::mnist();
  set_dataset_root(before);
  return mnist;
}

Example batch(const DatasetMixin& set, std::int64_t first, std::int64_t n) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = first; i < first + n; ++i) indices.push_back(i % set.size());
  return *set.get_batch(indices);
}

struct MLP : nn::Chain {
  nn::Linear l1{784, 100}, l2{100, 100}, l3{100, 10};
  NN_MEMBERS(l1, l2, l3)
  Variable operator()(const Variable& x) { return l3(nn::relu(l2(nn::relu(l1(x))))); }
};
struct CNN : nn::Chain {
  nn::Convolution2D conv1{1, 8, 5}, conv2{8, 16, 5};
  nn::Linear fc1{256, 64}, fc2{64, 10};
  NN_MEMBERS(conv1, conv2, fc1, fc2)
  Variable operator()(const Variable& x) {
    const Variable h = nn::max_pooling_2d(nn::relu(conv1(autograd::reshape(x, {x.shape(0), 1, 28, 28}))), 2);
    return fc2(nn::relu(fc1(nn::max_pooling_2d(nn::relu(conv2(h)), 2))));
  }
};

// The predicted classes of all test images.
template <class Net> std::vector<std::int64_t> classes(Net& net, const DatasetMixin& set) {
  const auto scope = autograd::using_config({.train = false, .enable_backprop = false});
  std::vector<std::int64_t> result;
  for (std::int64_t first = 0; first < set.size(); first += 500) {
    const Array x = batch(set, first, std::min<std::int64_t>(500, set.size() - first)).values[0];
    for (const std::int64_t c :
         autograd::to_vector<std::int64_t>(autograd::reduce(catena::kernels::argmax, net(Variable(x)).data(), 1)))
      result.push_back(c);
  }
  return result;
}

template <class Net> void check_accuracy(const char* name, const datasets::Mnist& mnist, int steps) {
  autograd::seed(0);
  Net net;
  Adam optimizer;
  optimizer.setup(net);
  for (int k = 0; k < steps; ++k) {
    const Example e = batch(*mnist.train, k * 100, 100);
    optimizer.update([&] { return nn::softmax_cross_entropy(net(Variable(e.values[0])), Variable(e.values[1])); });
  }
  const std::vector<std::int64_t> before = classes(net, *mnist.test);
  BOOST_TEST(nn::quantize_weights(net).size() >= 3u);
  const std::vector<std::int64_t> after = classes(net, *mnist.test);
  std::vector<std::int64_t> truth;
  for (std::int64_t first = 0; first < mnist.test->size(); first += 500)
    for (const std::int64_t t : autograd::to_vector<std::int64_t>(
             batch(*mnist.test, first, std::min<std::int64_t>(500, mnist.test->size() - first)).values[1]))
      truth.push_back(t);
  int right = 0, right_after = 0, changed = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    right += before[i] == truth[i];
    right_after += after[i] == truth[i];
    changed += before[i] != after[i];
  }
  const auto n = int(truth.size());
  std::cout << name << ": " << right << " of " << n << " right in float32, " << right_after << " with int8 weights, "
            << changed << " classes differ\n";
  BOOST_TEST(right > n * 9 / 10);
  BOOST_TEST(right - right_after <= n / 500);  // a loss of 0.2 % at most
  BOOST_TEST(changed <= n / 200);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_accuracy)

BOOST_AUTO_TEST_CASE(trained_on_mnist) {
  if (default_device() != kCpu) {
    std::cout
        << "skipped: the accuracy does not depend on the device, and the CPU trains faster than one in software\n";
    return;
  }
  const datasets::Mnist mnist = images();
  check_accuracy<MLP>("perceptron", mnist, 300);
  check_accuracy<CNN>("convolutional network", mnist, 200);
}

BOOST_AUTO_TEST_SUITE_END()
