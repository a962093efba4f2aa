// Transforms by torchvision's names and options: blurs and conversions against their formulas, choices, and what is
// refused.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

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

// An option that is assigned after construction counts under both of its names; if both are, the newer one does.
template <class Options, class Apply>
void check_names(std::string_view Options::*old_name, std::optional<std::string_view> Options::*new_name,
                 std::string_view value, Apply apply) {
  Options by_old, by_new, by_both;
  by_old.*old_name = value;
  by_new.*new_name = value;
  by_both.*old_name = "not read";
  by_both.*new_name = value;
  const Doubles expected = of(apply(by_old));
  BOOST_TEST((expected != of(apply(Options{}))));
  BOOST_TEST(of(apply(by_new)) == expected, each);
  BOOST_TEST(of(apply(by_both)) == expected, each);
}

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
  const Array white = autograd::arrays::full({1, 4, 4}, 255.0, Dtype::uint8);
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
  refused([&] { tf::ToPILImage()(autograd::arrays::zeros({1, 1, 2, 2})); });
  refused([&] { tf::ToImage()(autograd::arrays::zeros({2, 2})); });
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
  BOOST_TEST(tf::functional::to_tensor(autograd::arrays::full({2, 3, 1}, 255.0, Dtype::uint8)).shape() ==
             (Shape{1, 2, 3}));
  const Example batch({autograd::arrays::zeros({2, 1, 4, 4}), ints({0, 2})});
  BOOST_TEST(tf::MixUp({.num_classes = 3})(batch)[1].shape() == (Shape{2, 3}));
  autograd::seed(3);
  const auto [mixed, parts] = tf::MixUp({.num_classes = 3})(batch[0], batch[1]);
  autograd::seed(3);
  const Example same = tf::MixUp({.num_classes = 3})(batch);
  BOOST_TEST(of(mixed) == of(same[0]), each);
  BOOST_TEST(of(parts) == of(same[1]), each);
}

BOOST_AUTO_TEST_CASE(options_that_are_assigned) {
  const Array x = numbered(4, 6);
  check_names(&tf::ResizeOptions::mode, &tf::ResizeOptions::interpolation, "nearest", [&](const tf::ResizeOptions& o) {
    return tf::resize(x, {2, 3}, o);
  });
  check_names(&tf::ResizeOptions::mode, &tf::ResizeOptions::interpolation, "nearest", [&](const tf::ResizeOptions& o) {
    return tf::Resize({2, 3}, o)(x);
  });
  check_names(&tf::RotateOptions::mode, &tf::RotateOptions::interpolation, "bilinear",
              [&](const tf::RotateOptions& o) { return tf::rotate(x, 30, o); });
  check_names(&tf::RotateOptions::mode, &tf::RotateOptions::interpolation, "bilinear", [&](const tf::RotateOptions& o) {
    return tf::RandomRotation({30, 30}, o)(x);
  });
  check_names(&tf::AffineOptions::mode, &tf::AffineOptions::interpolation, "bilinear", [&](tf::AffineOptions o) {
    o.angle = 30;
    return tf::affine(x, o);
  });
  check_names(&tf::PadOptions::mode, &tf::PadOptions::padding_mode, "edge",
              [&](const tf::PadOptions& o) { return tf::Pad(1, o)(x); });
  check_names(&tf::RandomCropOptions::mode, &tf::RandomCropOptions::padding_mode, "edge", [&](tf::RandomCropOptions o) {
    o.padding = 1;
    return tf::RandomCrop({6, 8}, o)(x);
  });
  check_names(&tf::RandomResizedCropOptions::mode, &tf::RandomResizedCropOptions::interpolation, "nearest",
              [&](tf::RandomResizedCropOptions o) {
                o.scale = {1, 1}, o.ratio = {1.5, 1.5};
                return tf::RandomResizedCrop({2, 3}, o)(x);
              });
  const Example batch({autograd::arrays::zeros({2, 1, 4, 4}), ints({0, 2})});
  tf::MixOptions by_old, by_new;
  by_old.classes = 3;
  by_new.num_classes = 4;
  BOOST_TEST(tf::MixUp(by_old)(batch)[1].shape() == (Shape{2, 3}));
  BOOST_TEST(tf::MixUp(by_new)(batch)[1].shape() == (Shape{2, 4}));
}

BOOST_AUTO_TEST_CASE(sizes_by_name) {
  const Array x = numbered(4, 6);
  BOOST_TEST(
      of(tf::Resize({.size = {2, 3}, .interpolation = "nearest"})(x)) == of(tf::resize(x, {2, 3}, {.mode = "nearest"})),
      each);
  BOOST_TEST(of(tf::Resize({.size = 2, .antialias = false})(x)) == of(tf::resize(x, 2, {.antialias = false})), each);
  BOOST_TEST(tf::Resize({.size = 2})(x).shape() == (Shape{1, 2, 3}));
  BOOST_TEST(of(tf::CenterCrop({.size = {2, 4}})(x)) == of(tf::center_crop(x, {2, 4})), each);
  BOOST_TEST(tf::CenterCrop({.size = 2})(x).shape() == (Shape{1, 2, 2}));
  BOOST_TEST(of(tf::RandomCrop({.size = {6, 8}, .padding = 1, .fill = 3, .padding_mode = "constant"})(x)) ==
                 of(tf::pad(x, 1, 3)),
             each);
  BOOST_TEST(tf::RandomCrop({.size = 5, .pad_if_needed = true})(x).shape() == (Shape{1, 5, 5}));
  BOOST_TEST(tf::RandomCrop({.size = 3})(x).shape() == (Shape{1, 3, 3}));
  BOOST_TEST(
      of(tf::RandomResizedCrop(
          {.size = {2, 3}, .scale = {1, 1}, .ratio = {1.5, 1.5}, .interpolation = "bilinear", .antialias = false})(
          x)) == of(tf::resize(x, {2, 3}, {.antialias = false})),
      each);
  BOOST_TEST(tf::RandomResizedCrop({.size = 2})(x).shape() == (Shape{1, 2, 2}));
  const std::vector<Array> five = tf::FiveCrop({.size = {2, 4}})(x);
  BOOST_TEST(five.size() == 5u);
  BOOST_TEST(of(five[0]) == of(tf::crop(x, 0, 0, 2, 4)), each);
  BOOST_TEST(of(five[1]) == of(tf::crop(x, 0, 2, 2, 4)), each);
  BOOST_TEST(of(five[2]) == of(tf::crop(x, 2, 0, 2, 4)), each);
  BOOST_TEST(of(five[3]) == of(tf::crop(x, 2, 2, 2, 4)), each);
  BOOST_TEST(of(five[4]) == of(tf::crop(x, 1, 1, 2, 4)), each);
  BOOST_TEST(tf::FiveCrop(3)(x)[4].shape() == (Shape{1, 3, 3}));
  refused([&] { tf::FiveCrop(5)(x); });
}

// Stored values: torch.nn.functional.grid_sample (zeros outside) at the points of the map that NumPy solves for.
BOOST_AUTO_TEST_CASE(perspective_maps) {
  const Array x = numbered(4, 6);
  const std::vector<tf::Point> corners = {{0, 0}, {5, 0}, {5, 3}, {0, 3}}, ends = {{1, 0}, {4, 1}, {5, 3}, {0, 2}};
  check_near(of(tf::perspective(x, corners, ends)),
             {0.023123,  0.0924886,  0.0955882, 0,        0,        0,        0.317463, 0.674887,
              0.755697,  0.765371,   0.321938,  0,        0.140223, 0.391733, 0.553922, 0.473996,
              0.0727727, 0.00211628, 0.0554911, 0.138227, 0.302779, 0.605774, 0.672569, 0.148913},
             2e-5);
  check_near(of(tf::perspective(x, corners, ends, {.interpolation = "nearest"})),
             {0,         0,        0.235294,  0,        0,         0,        0.470588, 0.941176,
              0.764706,  0.764706, 0.470588,  0,        0.0588235, 0.235294, 0.529412, 0.235294,
              0.0588235, 0,        0.0588235, 0.235294, 0.529412,  0.529412, 0.470588, 0.117647},
             1e-6);
  BOOST_TEST(of(tf::perspective(x, corners, corners)) == of(x), each);
  // The corners of the left and the right side change places: a flip.
  check_near(of(tf::perspective(x, {{0, 0}, {6, 0}, {6, 4}, {0, 4}}, {{6, 0}, {0, 0}, {0, 4}, {6, 4}})),
             of(tf::horizontal_flip(x)), 1e-6);
  const Doubles moved = of(tf::perspective(x, {{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {{1, 0}, {2, 0}, {2, 1}, {1, 1}},
                                           {.interpolation = "nearest", .fill = 9}));
  for (std::size_t row = 0; row < 4; ++row) BOOST_TEST(moved[row * 6] == 9);
  // Without a distortion the corners stay; with one, they move by 0 to 1 pixels of 4 x 6.
  BOOST_TEST(of(tf::RandomPerspective({.distortion_scale = 0, .p = 1})(x)) == of(x), each);
  BOOST_TEST(of(tf::RandomPerspective(0.5, 0)(x)) == of(x), each);
  const tf::RandomPerspective some({.distortion_scale = 0.5, .p = 1, .interpolation = "nearest"});
  std::set<Doubles> seen, possible;
  for (int k = 0; k < 256; ++k) {
    const auto bit = [&](int i) { return double(k >> i & 1); };
    possible.insert(of(tf::perspective(
        x, corners, {{bit(0), bit(1)}, {5 - bit(2), bit(3)}, {5 - bit(4), 3 - bit(5)}, {bit(6), 3 - bit(7)}},
        {.interpolation = "nearest"})));
  }
  for (int k = 0; k < 100; ++k) seen.insert(of(some(x)));
  for (const Doubles& image : seen) BOOST_TEST(possible.count(image) == 1u);
  BOOST_TEST(seen.size() > 10u);
  // Corners that meet, or lie on one line, have no projection: the image stays.
  const tf::RandomPerspective full({.distortion_scale = 1, .p = 1});
  for (int k = 0; k < 200; ++k) BOOST_TEST(of(full(x)).size() == of(x).size());
  const Array row = floats({1, 2, 3}, {1, 1, 3});
  BOOST_TEST(of(full(row)) == of(row), each);
  refused([&] { tf::perspective(x, corners, {{0, 0}, {1, 0}, {2, 0}, {0, 3}}); });
  refused([&] { tf::perspective(x, corners, {{0, 0}, {NAN, 0}, {5, 3}, {0, 3}}); });
  refused([&] { tf::perspective(x, corners, {{0, 0}, {5, 0}, {5, 3}}); });
  refused([&] { tf::perspective(x, corners, ends, {.interpolation = "bicubic"}); });
  refused([] { tf::RandomPerspective({.distortion_scale = 1.5}); });
  refused([] { tf::RandomPerspective(0.5, 2.0); });
}

BOOST_AUTO_TEST_CASE(affine_maps) {
  const Array x = numbered(4, 6), square = numbered(5, 5);
  BOOST_TEST(of(tf::affine(x, {})) == of(x), each);
  for (const char* mode : {"nearest", "bilinear"})
    check_near(of(tf::affine(x, {.angle = 25, .interpolation = mode, .fill = 2, .center = {{1, 3}}})),
               of(tf::rotate(x, -25, {.mode = mode, .fill = 2, .center = {{1, 3}}})), 1e-6);
  // One pixel to the right and two down.
  const Doubles moved = of(tf::affine(x, {.translate = {1, 2}, .fill = 9})), before = of(x);
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < 6; ++column)
      BOOST_TEST(moved[std::size_t(row * 6 + column)] ==
                 (row >= 2 && column >= 1 ? before[std::size_t((row - 2) * 6 + column - 1)] : 9));
  // Three times as large: the middle of a square of 5 pixels is 3 x 3 pixels of the pixel in its middle.
  const Doubles large = of(tf::affine(square, {.scale = 3}));
  for (std::size_t row = 1; row < 4; ++row)
    for (std::size_t column = 1; column < 4; ++column) BOOST_TEST(large[row * 5 + column] == of(square)[12]);
  // Shears by 45 degrees move each row, or each column, by its distance from the middle.
  const Doubles along_x = of(tf::affine(square, {.shear = {45, 0}, .fill = 9}));
  for (int row = 0; row < 5; ++row)
    for (int column = 0; column < 5; ++column) {
      const int from = column + row - 2;
      BOOST_TEST(along_x[std::size_t(row * 5 + column)] ==
                 (from >= 0 && from < 5 ? of(square)[std::size_t(row * 5 + from)] : 9));
    }
  BOOST_TEST(of(tf::RandomAffine({90, 90})(square)) == of(tf::affine(square, {.angle = 90})), each);
  const tf::RandomAffine all({.degrees = {10, 10},
                              .scale = {{2, 2}},
                              .shear = tf::Degrees(5, 5),
                              .interpolation = "bilinear",
                              .fill = 1,
                              .center = {{2, 2}}});
  check_near(
      of(all(square)),
      of(tf::affine(square,
                    {.angle = 10, .scale = 2, .shear = {5, 0}, .mode = "bilinear", .fill = 1, .center = {{2, 2}}})),
      1e-6);
  const tf::RandomAffine shifts(0, {.translate = {0.4, 0}, .fill = 9});
  std::set<Doubles> seen;
  for (int k = 0; k < 100; ++k) seen.insert(of(shifts(square)));
  BOOST_TEST(seen.size() == 5u);  // by -2, -1, 0, 1 and 2 pixels
  refused([&] { tf::affine(x, {.scale = 0}); });
  refused([&] { tf::affine(x, {.shear = {90, NAN}}); });
  refused([&] { tf::affine(x, {.interpolation = "bicubic"}); });
  refused([] { tf::RandomAffine({10, -10}); });
  refused([] { tf::RandomAffine(0, {.shear = {1, 0}}); });
  refused([] { tf::RandomAffine(0, {.scale = {{0, 1}}}); });
  refused([] { tf::RandomAffine(0, {.translate = {{2, 0}}}); });
}

BOOST_AUTO_TEST_SUITE_END()
