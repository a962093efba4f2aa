// The networks of the examples: number of parameters and loss of two images, against those of Chainer's examples with
// the same weights, which follow from a formula. And the images that the networks of ImageNet are trained with.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <catena/catena.h>
#include <catena/examples/cifar/vgg.h>
#include <catena/examples/imagenet/networks.h>
#include <catena/examples/imagenet/preprocessed_dataset.h>
#include <catena/examples/imagenet/synthetic.h>
#include <catena/examples/mnist/mlp.h>
#include <catena/tests/support/training_fixtures.h>

using autograd::Variable;

namespace {

// Returns n numbers in [-0.5, 0.5), multiples of 2^-16.
std::vector<double> numbers(std::int64_t n, std::uint32_t seed) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t h = std::uint32_t(i) * 2654435761u + seed * 40503u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    result.push_back(double(h & 0xffff) / 65536 - 0.5);
  }
  return result;
}

// Parameter k, in the order of the paths, gets the numbers of seed k: weights scaled by the number of inputs, gamma
// around 1.
void fill(nn::Link& model) {
  std::vector<nn::NamedParam> params = model.namedparams();
  std::sort(params.begin(), params.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  std::uint32_t seed = 0;
  for (const auto& [path, param] : params) {
    const nd::Array values = nd::array(numbers(param.size(), ++seed)).reshape(param.shape());
    const nd::Array data = param.data();
    if (param.ndim() > 1) data(nd::ellipsis) = values * std::sqrt(24.0 / double(param.size() / param.shape(0)));
    else data(nd::ellipsis) = values + (path.ends_with("gamma") ? 1.0 : 0.0);
  }
  struct Averages : nn::MemberVisitor {
    void link(std::string_view, nn::Link& child) override { child.visit_members(*this); }
    void persistent(std::string_view name, nn::Persistent& a) override {
      nd::Array array = a.array();
      array.fill(name == "avg_var" ? 1.0 : 0.0);
    }
    using MemberVisitor::persistent;
  } averages;
  model.visit_members(averages);
}

// t: labels of the two images.
void check(nn::Link& model, const nd::Shape& image, const std::vector<std::int32_t>& t, std::int64_t parameters,
           double loss, double tolerance = 1e-4) {
  nd::Shape shape{2};
  for (const std::int64_t n : image) shape.push_back(n);
  const nd::Array x = nd::array(numbers(catena::size_of(shape), 1000)).reshape(shape).astype(nd::float32);
  const autograd::Variables args{Variable(x), Variable(nd::array(t))};
  const auto test_mode = autograd::train_mode(false);
  model.call(args);  // makes the parameters
  BOOST_TEST(model.count_params() == parameters);
  fill(model);
  BOOST_TEST(model.call(args).item<double>() == loss, boost::test_tools::tolerance(tolerance));
}
void check(const char* architecture, std::int64_t parameters, double loss, double tolerance = 1e-4) {
  with_network(architecture, [&](auto model) {
    check(model, {3, model.insize, model.insize}, {3, 700}, parameters, loss, tolerance);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(example_networks)

BOOST_AUTO_TEST_CASE(small_images) {
  nn::Classifier mlp(MLP(1000, 10));
  check(mlp, {784}, {3, 7}, 1796010, 2.251214);
  nn::Classifier vgg(VGG(10));
  check(vgg, {3, 32, 32}, {3, 7}, 14987200, 3.319632);
}

BOOST_AUTO_TEST_CASE(imagenet) {
  check("nin", 7595176, 6.704772);
  check("googlenetbn", 17587128, 17.38608);
  check("resnet50", 25557096, 4620.686);
  check("alex", 62378344, 8.225222);
  check("googlenet", 13378280, 11.75412);
  // With 16 bits, the loss of the same weights to about three digits.
  check("googlenetbn_fp16", 17587128, 17.38608, 0.01);
  BOOST_TEST(bool(AlexFp16().conv1.W.own_dtype() == nd::float16));
  BOOST_TEST(bool(AlexFp16().fc8.b->dtype() == nd::float16));
}

// A part at a random place, mirrored or not, or at the center; minus the same part of the mean; in units of 255.
BOOST_AUTO_TEST_CASE(training_images) {
  constexpr int kCrop = 252, kPlaces = 256 - kCrop;
  const test::TemporaryFolder folder("pictures");
  const std::string list = folder / "train.txt", root = folder / "images";
  write_pictures(list, root, 4);
  const training::LabeledImageDataset pictures(list, root);
  const nd::Array mean = nd::array(numbers(3 * 256 * 256, 7)).reshape(3, 256, 256) * 100;
  const nd::DeviceScope host(nd::cpu_device);
  const auto means = mean.to_vector<float>();
  const auto is_part = [&](const training::Example& e, std::int64_t i, int top, int left, bool mirrored) {
    const training::Example picture = pictures[i];
    const auto pixels = nd::Array(picture.values[0]).to_vector<float>();
    const auto values = nd::Array(e.values[0]).to_vector<float>();
    std::size_t at = 0;
    for (int c = 0; c < 3; ++c)
      for (int y = top; y < top + kCrop; ++y)
        for (int x = left; x < left + kCrop; ++x, ++at) {
          const auto row = std::size_t(c * 256 + y) * 256;
          const float pixel = pixels[row + std::size_t(mirrored ? 255 - x : x)] - means[row + std::size_t(x)];
          if (std::fabs(values[at] - pixel / 255) > 1e-6) return false;
        }
    return at == values.size() && nd::Array(e.values[1]).item<int>() == nd::Array(picture.values[1]).item<int>();
  };
  const PreprocessedDataset validation(list, root, mean, kCrop, false), training(list, root, mean, kCrop);
  BOOST_TEST(training.size() == 4);
  for (std::int64_t i = 0; i < 4; ++i) BOOST_TEST(is_part(validation[i], i, kPlaces / 2, kPlaces / 2, false));
  int seen[kPlaces][kPlaces][2] = {};
  autograd::seed(3);
  for (int k = 0; k < 40; ++k) {
    const training::Example e = training[k % 4];
    int found = 0;
    for (int top = 0; top < kPlaces; ++top)
      for (int left = 0; left < kPlaces; ++left)
        for (const bool mirrored : {false, true})
          if (is_part(e, k % 4, top, left, mirrored)) ++found, ++seen[top][left][mirrored];
    BOOST_TEST(found == 1);
  }
  for (int k = 0; k < kPlaces; ++k) {
    int rows = 0, columns = 0;
    for (int other = 0; other < kPlaces; ++other) {
      rows += seen[k][other][0] + seen[k][other][1];
      columns += seen[other][k][0] + seen[other][k][1];
    }
    BOOST_TEST(rows > 0);
    BOOST_TEST(columns > 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
