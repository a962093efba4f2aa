// Transforms by torchvision's names and options: blurs and conversions against their formulas, choices, and what is
// refused.
#include <algorithm>
#include <cmath>
#include <set>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/transforms.h>

using namespace test;
using namespace training;
namespace tf = training::transforms;

namespace {

const auto each = boost::test_tools::per_element();
using Doubles = std::vector<double>;
Doubles of(const Array& a) { return autograd::to_vector<double>(a); }
Array numbered(int h, int w) {
  std::vector<float> v(std::size_t(h * w));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = float(i * i % 17) / 17;
  return floats(v, {1, h, w});
}
void check_near(const Doubles& found, const Doubles& expected, double tolerance) {
  BOOST_TEST(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    BOOST_TEST(std::abs(found[i] - expected[i]) <= tolerance, i << ": " << found[i] << ", not " << expected[i]);
}
template <class F> void refused(F f) { BOOST_CHECK_THROW(f(), catena::Error); }

// The blurred image by the two-dimensional sum over all pixels of the kernel.
Doubles blurred(const Array& image, int h, int w, int k, double sigma) {
  const Doubles x = of(image);
  const auto mirrored = [](int i, int n) { return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i; };
  Doubles result;
  for (int y = 0; y < h; ++y)
    for (int column = 0; column < w; ++column) {
      double sum = 0, total = 0;
      for (int i = -k / 2; i <= k / 2; ++i)
        for (int j = -k / 2; j <= k / 2; ++j) {
          const double weight = std::exp(-(i * i + j * j) / (2 * sigma * sigma));
          total += weight;
          sum += weight * x[std::size_t(mirrored(y + i, h) * w + mirrored(column + j, w))];
        }
      result.push_back(sum / total);
    }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_transform_names)

BOOST_AUTO_TEST_CASE(blurs) {
  const Array x = numbered(5, 6);
  check_near(of(tf::gaussian_blur(x, 3, 0.7)), blurred(x, 5, 6, 3, 0.7), 1e-6);
  check_near(of(tf::functional::gaussian_blur(x, {5, 5})), blurred(x, 5, 6, 5, 0.3 * (2 - 1) + 0.8), 1e-6);
  check_near(of(tf::GaussianBlur(3, {.sigma = 0.7})(x)), blurred(x, 5, 6, 3, 0.7), 1e-6);
  const Array white = autograd::full({1, 4, 4}, 255.0, Dtype::uint8);
  BOOST_TEST(of(tf::GaussianBlur(3, {0.1, 2})(white)) == of(white), each);
  refused([&] { tf::gaussian_blur(x, 4); });
  refused([&] { tf::gaussian_blur(x, 3, 0.0); });
  refused([&] { tf::gaussian_blur(x, 11); });
  refused([] { tf::GaussianBlur(3, {2, 1}); });
}

BOOST_AUTO_TEST_CASE(conversions) {
  const Array bytes = autograd::array(std::vector<std::uint8_t>{0, 51, 255, 1, 2, 3}, {1, 2, 3});
  BOOST_TEST(of(tf::RandomInvert(1)(bytes)) == (Doubles{255, 204, 0, 254, 253, 252}), each);
  const Array scaled = tf::ConvertImageDtype(Dtype::float64)(bytes);
  BOOST_TEST(of(scaled)[1] == 0.2, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(of(tf::RandomInvert({.p = 1})(scaled))[1] == 0.8, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(of(tf::convert_image_dtype(scaled, Dtype::uint8)) == of(bytes), each);
  BOOST_TEST(tf::ToDtype(Dtype::float32, {.scale = true})(bytes).dtype() == Dtype::float32);
  BOOST_TEST(of(tf::ToDtype(Dtype::float32)(bytes))[1] == 51);
  BOOST_TEST(of(tf::ToDtype(Dtype::float64, true)(bytes))[2] == 1);
  const Array picture = tf::ToPILImage()(floats({0, 0.5f, 1, 0.25f}, {2, 1, 2}));
  BOOST_TEST(picture.shape() == (Shape{1, 2, 2}));
  BOOST_TEST(picture.dtype() == Dtype::uint8);
  BOOST_TEST(of(picture) == (Doubles{0, 255, 127, 63}), each);
  BOOST_TEST(of(tf::ToImage()(picture)) == (Doubles{0, 127, 255, 63}), each);
  BOOST_TEST(tf::PILToTensor()(picture).shape() == (Shape{2, 1, 2}));
  refused([&] { tf::ToPILImage()(autograd::zeros({1, 1, 2, 2})); });
  refused([&] { tf::ToImage()(autograd::zeros({2, 2})); });
}

BOOST_AUTO_TEST_CASE(choices_and_orders) {
  const Array x = floats({0.5f}, {1, 1, 1});
  const auto add = [](float by) { return [by](Array image) { return image + by; }; };
  tf::RandomChoice one({add(1), add(2), add(4)}), weighted({add(1), add(2)}, {0, 3});
  tf::RandomOrder order({add(1), [](const Array& image) { return image * 2; }});
  std::set<double> chosen, ordered;
  for (int i = 0; i < 200; ++i) {
    chosen.insert(of(one(x))[0]);
    ordered.insert(of(order(x))[0]);
    BOOST_TEST(of(weighted(x))[0] == 2.5);
  }
  BOOST_TEST(chosen == (std::set<double>{1.5, 2.5, 4.5}), each);
  BOOST_TEST(ordered == (std::set<double>{2, 3}), each);
  BOOST_TEST(of(tf::RandomApply({add(1), add(2)}, {.p = 1})(x))[0] == 3.5);
  BOOST_TEST(of(tf::RandomApply({add(1)}, 0)(x))[0] == 0.5);
  BOOST_TEST(of(tf::Lambda([](const Array& image) { return image * 4; })(x))[0] == 2);
  BOOST_TEST(of(tf::Compose({add(1), tf::RandomHorizontalFlip({.p = 1}), add(2)})(x))[0] == 3.5);
  refused([] { tf::RandomChoice(std::vector<tf::Step>{}); });
  refused([&] { tf::RandomChoice({add(1)}, {1, 1}); });
  refused([&] { tf::RandomChoice({add(1), add(2)}, {1, -1}); });
  refused([&] { tf::RandomChoice({add(1)}, {0}); });
}

BOOST_AUTO_TEST_CASE(options_by_their_names_there) {
  const Array x = numbered(4, 6);
  BOOST_TEST(of(tf::RandomVerticalFlip({.p = 1})(x)) == of(tf::functional::vflip(x)), each);
  BOOST_TEST(of(tf::RandomHorizontalFlip({.p = 1})(x)) == of(tf::functional::hflip(x)), each);
  BOOST_TEST(of(tf::Normalize({.mean = {0.5}, .std = {0.25}})(x)) == of(tf::Normalize(0.5, 0.25)(x)), each);
  BOOST_TEST(of(tf::Pad(1, {.fill = 2, .padding_mode = "edge"})(x)) == of(tf::pad(x, 1, 0, "edge")), each);
  BOOST_TEST(of(tf::Pad(1, 0.5)(x)) == of(tf::pad(x, 1, 0.5)), each);
  BOOST_TEST(of(tf::Resize({2, 3}, {.interpolation = "nearest"})(x)) == of(tf::resize(x, {2, 3}, {.mode = "nearest"})),
             each);
  BOOST_TEST(of(tf::RandomRotation({.degrees = {90, 90}, .interpolation = "bilinear", .fill = 1})(x)) ==
                 of(tf::rotate(x, 90, {.mode = "bilinear", .fill = 1})),
             each);
  BOOST_TEST(tf::RandomRotation({.degrees = 15, .center = {{1, 1}}})(x).shape() == x.shape());
  BOOST_TEST(tf::RandomCrop(6, 1)(x).shape() == (Shape{1, 6, 6}));
  BOOST_TEST(
      of(tf::RandomCrop({6, 8}, {.padding = 1, .padding_mode = "reflect"})(x)) == of(tf::pad(x, 1, 0, "reflect")),
      each);
  BOOST_TEST(tf::RandomResizedCrop(2, {.interpolation = "nearest"})(x).shape() == (Shape{1, 2, 2}));
  BOOST_TEST(tf::Grayscale({.num_output_channels = 3})(x).shape() == (Shape{3, 4, 6}));
  BOOST_TEST(of(tf::RandomGrayscale({.p = 1})(x)) == of(x), each);
  BOOST_TEST(tf::ColorJitter(0.5, 0.5)(x).shape() == x.shape());
  BOOST_TEST(tf::RandomErasing(1)(x).shape() == x.shape());
  BOOST_TEST(of(tf::RandomErasing(0)(x)) == of(x), each);
  BOOST_TEST(tf::v2::functional::to_grayscale(x, 3).shape() == (Shape{3, 4, 6}));
  BOOST_TEST(tf::functional::to_tensor(autograd::full({2, 3, 1}, 255.0, Dtype::uint8)).shape() == (Shape{1, 2, 3}));
  const Example batch({autograd::zeros({2, 1, 4, 4}), ints({0, 2})});
  BOOST_TEST(tf::MixUp({.num_classes = 3})(batch)[1].shape() == (Shape{2, 3}));
}

BOOST_AUTO_TEST_SUITE_END()
