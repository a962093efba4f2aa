// Transforms of images: torchvision's values for given parameters, the distributions of the random ones, their random
// numbers in iterators, and what is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets/image_file.h>
#include <catena/training/iterator.h>
#include <catena/training/parallel/iterators.h>
#include <catena/training/transforms.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;
namespace tf = training::transforms;
using autograd::Generator;

namespace {

// An image (1, h, w) whose pixels are their numbers, row by row.
Array numbered(int h, int w) {
  std::vector<float> v(std::size_t(h * w));
  std::iota(v.begin(), v.end(), 0.0F);
  return floats(v, {1, h, w});
}
Array grey(std::uint8_t level, int h = 4, int w = 4) {
  return autograd::array(std::vector<std::uint8_t>(std::size_t(h * w), level), {1, h, w});
}
// Whether the part of n trials with probability p is within five standard deviations.
void check_part(double hits, int n, double p, const std::string& what) {
  const double off = std::fabs(hits / n - p), sigma = std::sqrt(p * (1 - p) / n);
  BOOST_TEST(off <= 5 * sigma + 1e-12, what << ": " << hits / n << " instead of " << p);
}
std::vector<int> ints_of(const GoldenCall& c, const char* name) {
  const autograd::Dims dims = c.dims(name);
  return {dims.begin(), dims.end()};
}
std::vector<double> numbers_of(const GoldenCall& c, const char* name) {
  return c.args()[name].get<std::vector<double>>();
}
template <class F> std::string refused(F f) { return message_of<catena::Error>(f); }

}  // namespace

BOOST_AUTO_TEST_SUITE(transforms_suite)

BOOST_AUTO_TEST_CASE(golden_values) {
  const auto number = [](const GoldenCall& c, const char* name) { return c.number(name, 0); };
  const auto at = [](const GoldenCall& c, const char* name) { return c.integer(name, 0); };
  GoldenFunctions all;
  all["crop"] = [&](const GoldenCall& c) -> Variables {
    return {tf::crop(c.array(0), at(c, "top"), at(c, "left"), at(c, "height"), at(c, "width"))};
  };
  all["center_crop"] = [&](const GoldenCall& c) -> Variables {
    const auto size = ints_of(c, "size");
    return {tf::CenterCrop({size[0], size[1]})(c.array(0))};
  };
  all["pad"] = [&](const GoldenCall& c) -> Variables {
    const auto p = ints_of(c, "padding");
    const tf::Pad pad({p[0], p[1], p[2], p[3]}, {.fill = number(c, "fill"), .mode = c.text("mode", "")});
    return {pad(c.array(0))};
  };
  all["horizontal_flip"] = [](const GoldenCall& c) -> Variables { return {tf::horizontal_flip(c.array(0))}; };
  all["vertical_flip"] = [](const GoldenCall& c) -> Variables { return {tf::vertical_flip(c.array(0))}; };
  all["resize"] = [&](const GoldenCall& c) -> Variables {
    const auto size = ints_of(c, "size");
    const tf::ResizeTo to = size.size() == 1 ? tf::ResizeTo(size[0]) : tf::ResizeTo(size[0], size[1]);
    const std::string mode = c.text("mode", "");
    return {tf::Resize(to, {.mode = mode, .antialias = c.flag("antialias", false)})(c.array(0))};
  };
  all["resized_crop"] = [&](const GoldenCall& c) -> Variables {
    const auto size = ints_of(c, "size");
    return {
        tf::resized_crop(c.array(0), at(c, "top"), at(c, "left"), at(c, "height"), at(c, "width"), {size[0], size[1]})};
  };
  all["rotate"] = [&](const GoldenCall& c) -> Variables {
    const std::string mode = c.text("mode", "");
    tf::RotateOptions options{.mode = mode, .fill = number(c, "fill")};
    if (c.has("center")) options.center = {numbers_of(c, "center")[0], numbers_of(c, "center")[1]};
    return {tf::rotate(c.array(0), number(c, "angle"), options)};
  };
  all["erase"] = [&](const GoldenCall& c) -> Variables {
    return {tf::erase(c.array(0), at(c, "top"), at(c, "left"), at(c, "height"), at(c, "width"), number(c, "value"))};
  };
  all["adjust_brightness"] = [&](const GoldenCall& c) -> Variables {
    return {tf::adjust_brightness(c.array(0), number(c, "factor"))};
  };
  all["adjust_contrast"] = [&](const GoldenCall& c) -> Variables {
    return {tf::adjust_contrast(c.array(0), number(c, "factor"))};
  };
  all["adjust_saturation"] = [&](const GoldenCall& c) -> Variables {
    return {tf::adjust_saturation(c.array(0), number(c, "factor"))};
  };
  all["adjust_hue"] = [&](const GoldenCall& c) -> Variables {
    return {tf::adjust_hue(c.array(0), number(c, "turns"))};
  };
  all["rgb_to_grayscale"] = [&](const GoldenCall& c) -> Variables {
    return {tf::Grayscale(int(at(c, "channels")))(c.array(0))};
  };
  all["normalize"] = [](const GoldenCall& c) -> Variables {
    return {tf::Normalize(numbers_of(c, "mean"), numbers_of(c, "std"))(c.array(0))};
  };
  all["to_float"] = [](const GoldenCall& c) -> Variables { return {tf::ToFloat()(c.array(0))}; };
  all["mixup"] = [&](const GoldenCall& c) -> Variables { return {tf::mixup(c.array(0), number(c, "ratio"))}; };
  all["image_grid"] = [&](const GoldenCall& c) -> Variables {
    return {datasets::image_grid(
        c.array(0), {.columns = at(c, "columns"), .padding = at(c, "padding"), .fill = number(c, "fill")})};
  };
  run_golden("torch_transforms", all);
}

BOOST_AUTO_TEST_CASE(dtypes_strides_and_views) {
  const Array x = numbered(4, 6);
  for (const Dtype dtype : {Dtype::float16, Dtype::float64}) {
    const Array half = autograd::astype(x, dtype);
    for (const tf::Step& step :
         {tf::Step(tf::CenterCrop(2)), tf::Step(tf::Pad(1)), tf::Step(tf::Resize({2, 3})), tf::Step(tf::RandomFlip(1)),
          tf::Step(tf::RandomRotation(5)), tf::Step(tf::Normalize(0.5, 0.5))}) {
      Generator g{1, 0};
      BOOST_TEST(step(half, g).dtype() == dtype);
    }
  }
  // A transposed image: the elements of x[0].T, flipped and cropped.
  const Array turned = autograd::transpose(x, {0, 2, 1});
  BOOST_TEST(values(tf::crop(turned, 1, 0, 2, 3)) == (std::vector<double>{1, 7, 13, 2, 8, 14}));
  BOOST_TEST(values(tf::horizontal_flip(tf::crop(turned, 0, 0, 1, 4))) == (std::vector<double>{18, 12, 6, 0}));
  BOOST_TEST(values(tf::rotate(turned, 0)) == values(turned));
  for (const char* mode : {"nearest", "bilinear"}) {  // around a point far from the image, which leaves it
    const Array away = tf::rotate(x, 90, {.mode = mode, .fill = 7, .center = {{1e30, -1e30}}});
    BOOST_TEST(values(away) == std::vector<double>(24, 7));
  }
  // Values of an image of 1 pixel.
  const Array pixel = numbered(1, 1);
  BOOST_TEST(tf::resize(pixel, {3, 2}).shape() == Shape({1, 3, 2}));
  BOOST_TEST(values(tf::rotate(pixel, 45)) == std::vector<double>{0});
  // erase and cutmix leave their argument as it is
  tf::erase(x, 0, 0, 4, 6, 9);
  BOOST_TEST(values(x)[23] == 23);
}

BOOST_AUTO_TEST_CASE(crops_are_drawn_evenly) {
  const Array x = numbered(6, 6);
  constexpr int n = 5400;
  Generator g{3, 0};
  std::map<int, int> corners;
  const tf::RandomCrop crop(4);
  for (int i = 0; i < n; ++i) {
    const std::vector<double> v = values(crop(x, g));
    BOOST_REQUIRE((v.size() == 16 && v[15] - v[0] == 3 * 6 + 3));
    ++corners[int(v[0])];
  }
  BOOST_TEST(corners.size() == 9);
  for (const auto& [corner, hits] : corners) {
    BOOST_TEST((corner % 6 <= 2 && corner / 6 <= 2));
    check_part(hits, n, 1.0 / 9, "corner " + std::to_string(corner));
  }
  // The border: a crop of the size of the image is moved by up to the padding in both directions.
  std::map<std::pair<double, double>, int> moved;
  const tf::RandomCrop padded(2, {.padding = {1, 0}, .fill = -1});
  for (int i = 0; i < 300; ++i) {
    const std::vector<double> v = values(padded(numbered(2, 2), g));
    ++moved[{v[0], v[3]}];
  }
  BOOST_TEST(moved.size() == 3);
  BOOST_TEST((moved.contains({-1, 1}) && moved.contains({0, 3}) && moved.contains({2, -1})));
  const tf::RandomCrop wide({2, 5}, {.pad_if_needed = true, .mode = "edge"});
  BOOST_TEST(wide(x, g).shape() == Shape({1, 2, 5}));
  BOOST_TEST(wide(numbered(1, 3), g).shape() == Shape({1, 2, 5}));
}

BOOST_AUTO_TEST_CASE(probabilities) {
  const Array x = numbered(1, 2);
  constexpr int n = 4000;
  Generator g{4, 0};
  int flipped = 0, upside_down = 0, applied = 0;
  const Array column = numbered(2, 1);
  const tf::RandomApply apply(0.7, [](const Array& image) { return image + 1; });
  for (int i = 0; i < n; ++i) {
    flipped += int(values(tf::RandomFlip()(x, g))[0]);
    upside_down += int(values(tf::RandomVerticalFlip(0.2)(column, g))[0]);
    applied += int(values(apply(x, g))[0]);
  }
  check_part(flipped, n, 0.5, "horizontal");
  check_part(upside_down, n, 0.2, "vertical");
  check_part(applied, n, 0.7, "RandomApply");
  BOOST_TEST(values(tf::RandomFlip(0)(x, g))[0] == 0);
  BOOST_TEST(values(tf::RandomFlip(1)(x, g))[0] == 1);
  const Array colors = autograd::array(std::vector<std::uint8_t>{255, 0, 0}, {3, 1, 1});
  BOOST_TEST(values(tf::RandomGrayscale(1)(colors, g)) == (std::vector<double>{76, 76, 76}));
  BOOST_TEST(values(tf::RandomGrayscale(0)(colors, g))[1] == 0);
}

// Rectangles are read off the result: nearest pixels of a numbered image show rows and columns.
BOOST_AUTO_TEST_CASE(resized_crops) {
  const Array x = numbered(30, 40);
  Generator g{5, 0};
  const tf::RandomResizedCrop crop({2, 2}, {.scale = {0.25, 0.5}, .ratio = {0.5, 2}, .mode = "nearest"});
  double tall = 0;
  constexpr int n = 1000;
  for (int i = 0; i < n; ++i) {
    const std::vector<double> v = values(crop(x, g));
    // rows 0 and h / 2, columns 0 and w / 2 of the rectangle
    const double h = 2 * (std::floor(v[2] / 40) - std::floor(v[0] / 40)), w = 2 * (v[1] - v[0]);
    BOOST_TEST((h >= 0.25 * 30 && h <= 30 && w >= 8 && w <= 40), h << " x " << w);
    BOOST_TEST(((h + 2) * (w + 2) >= 0.25 * 1200 && (h - 1) * (w - 1) <= 0.5 * 1200), h << " x " << w);
    BOOST_TEST(((w + 3) / h >= 0.5 && w / (h + 3) <= 2), h << " x " << w);
    tall += h > w;
  }
  BOOST_TEST((tall > 0.3 * n && tall < 0.6 * n));
  // No rectangle of this shape fits: the middle, with the nearest ratio.
  const tf::RandomResizedCrop square(2, {.scale = {1, 1}, .ratio = {1, 1}, .mode = "nearest"});
  const std::vector<double> v = values(square(numbered(4, 10), g));
  BOOST_TEST(v == (std::vector<double>{3, 5, 23, 25}));
}

BOOST_AUTO_TEST_CASE(rotations_and_erased_rectangles) {
  Generator g{6, 0};
  // 90 degrees counterclockwise: the right column becomes the first row.
  BOOST_TEST(values(tf::RandomRotation({90, 90})(numbered(3, 3), g)) ==
             (std::vector<double>{2, 5, 8, 1, 4, 7, 0, 3, 6}));
  const std::vector<double> filled = values(tf::RandomRotation({45, 45}, {.fill = 9})(grey(1), g));
  BOOST_TEST((filled[0] == 9 && filled[5] == 1));

  constexpr int n = 1000;
  int erased = 0;
  const tf::RandomErasing erasing({.p = 0.6, .scale = {0.1, 0.2}, .ratio = {0.5, 2}, .value = 7});
  for (int i = 0; i < n; ++i) {
    const std::vector<double> v = values(erasing(grey(1, 20, 30), g));
    const auto area = std::count(v.begin(), v.end(), 7.0);
    if (area == 0) continue;
    ++erased;
    BOOST_TEST((area >= 0.08 * 600 && area <= 0.22 * 600), area);
  }
  check_part(erased, n, 0.6, "erased");
  // With noise: other numbers in the rectangle, of mean 0 and deviation 1.
  double sum = 0, squares = 0, count = 0;
  const tf::RandomErasing noise({.p = 1, .noise = true});
  for (int i = 0; i < 100; ++i)
    for (const double v : values(noise(floats(std::vector<float>(400, 100.0F), {1, 20, 20}), g)))
      if (v < 50) sum += v, squares += v * v, ++count;
  BOOST_TEST(count > 1000);
  BOOST_TEST(std::fabs(sum / count) < 5 / std::sqrt(count));
  BOOST_TEST(std::fabs(squares / count - 1) < 5 * std::sqrt(2 / count));
}

BOOST_AUTO_TEST_CASE(jittered_colours) {
  Generator g{7, 0};
  double least = 255, most = 0, sum = 0;
  constexpr int n = 2000;
  const tf::ColorJitter brightness({.brightness = 0.4});
  for (int i = 0; i < n; ++i) {
    const double v = values(brightness(grey(100, 1, 1), g))[0];
    least = std::min(least, v), most = std::max(most, v), sum += v;
  }
  BOOST_TEST((least >= 60 && least <= 62 && most <= 140 && most >= 137));
  BOOST_TEST(std::fabs(sum / n - 99.5) < 5 * 23.1 / std::sqrt(n));
  // Brightness and contrast do not commute: both orders occur.
  const tf::ColorJitter two({.brightness = {2, 2}, .contrast = {0, 0}});
  const Array halves = autograd::array(std::vector<std::uint8_t>{0, 200}, {1, 1, 2});
  std::map<double, int> orders;  // 200 = 2 * mean, or the mean of 0 and 255
  for (int i = 0; i < n; ++i) ++orders[values(two(halves, g))[0]];
  BOOST_TEST(orders.size() == 2);
  check_part(orders[200], n, 0.5, "contrast first");
  BOOST_TEST(orders.contains(127));
  // Half a turn of red is cyan; saturation 0 is grey.
  const Array red = autograd::array(std::vector<std::uint8_t>{255, 0, 0}, {3, 1, 1});
  BOOST_TEST(values(tf::ColorJitter({.hue = {0.5, 0.5}})(red, g)) == (std::vector<double>{0, 255, 255}));
  BOOST_TEST(values(tf::ColorJitter({.saturation = {0, 0}})(red, g)) == (std::vector<double>{76, 76, 76}));
  BOOST_TEST(values(tf::ColorJitter({})(red, g)) == values(red));
}

// The numbers of an example are those of the seed, the epoch and its index, not of the order of loading.
BOOST_AUTO_TEST_CASE(random_numbers_of_an_example) {
  const tf::Compose augment{tf::RandomCrop(4, {.padding = 2}), tf::RandomFlip(), tf::RandomErasing({.noise = true})};
  const Array images = autograd::broadcast_to(numbered(6, 6), {8, 1, 6, 6});
  const TransformDataset data(TupleDataset(images, ints({0, 1, 2, 3, 4, 5, 6, 7})), augment);
  const auto epochs = [&](Iterator& it) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> seen;
    while (it.epoch() < 2) {
      const std::int64_t epoch = it.epoch();
      const Batch b = *it.next();
      for (std::size_t i = 0; i < b.examples.size(); ++i) seen[{epoch, b.indices[i]}] = values(b.examples[i].values[0]);
    }
    return seen;
  };
  SerialIterator serial(data, 4, {.seed = 9}), again(data, 4, {.seed = 9}), pairs(data, 2, {.seed = 9});
  MultithreadIterator threads(data, 4, {.n_threads = 3, .seed = 9});
  const auto one = epochs(serial);
  BOOST_TEST((one.size() == 16 && one == epochs(again) && one == epochs(pairs) && one == epochs(threads)));
  std::map<std::vector<double>, int> different;
  for (const auto& [key, image] : one) ++different[image];
  BOOST_TEST(different.size() >= 14);  // other changes for other examples and epochs
  // Drawing from a given generator leaves the default one alone; without it, the default one is used.
  autograd::seed(1);
  const Generator before = autograd::default_generator();
  Generator g{2, 0};
  augment(numbered(6, 6), g);
  BOOST_TEST((autograd::default_generator().offset == before.offset && g.offset > 0));
  augment(numbered(6, 6));
  BOOST_TEST(autograd::default_generator().offset > before.offset);
}

BOOST_AUTO_TEST_CASE(compositions_and_examples) {
  struct Add : tf::Transform {
    double v;
    explicit Add(double number) : v(number) {}
    Array apply(const Array& image, Generator&) const override { return image + v; }
  };
  const tf::Compose both{Add(1), [](const Array& image) { return image * 2; },
                         [](const Array& image, Generator& g) { return image + double(g.seed); }};
  const Array x = numbered(1, 2);
  Generator g{10, 0};
  BOOST_TEST(values(both(x, g)) == (std::vector<double>{12, 14}));
  BOOST_TEST(values(tf::Compose{both}(x, g)) == (std::vector<double>{12, 14}));
  BOOST_TEST(values(tf::Compose(std::vector<tf::Step>{Add(3)})(x, g)) == (std::vector<double>{3, 4}));
  const Example tuple = Add(1)(Example({x, 5}));
  BOOST_TEST((values(tuple.values[0])[0] == 1 && values(tuple.values[1])[0] == 5));
  const Example map = Add(1)(Example({{"label", 5}, {"image", x}}));
  BOOST_TEST((values(map.values[1])[0] == 1 && values(map.values[0])[0] == 5));
  BOOST_TEST(has(refused([&] { Add(1)(Example({{"x", x}})); }), "no value named \"image\""));
  BOOST_TEST(has(refused([&] { Add(1)(Example()); }), "no values"));
  BOOST_TEST(has(refused([&] {
                   tf::Compose(std::vector<tf::Step>{tf::Step(catena::Function<Array(const Array&, Generator&)>())});
                 }),
                 "Compose: step 0 is not callable"));
  BOOST_TEST(values(tf::Compose({Add(3), Add(4)})(x, g)) == (std::vector<double>{7, 8}));
  BOOST_TEST(values(tf::Compose{Add(3), Add(4)}(x, g)) == (std::vector<double>{7, 8}));
}

// (H, W, C) to (C, H, W), as torchvision's ToTensor.
BOOST_AUTO_TEST_CASE(images_with_the_channels_last) {
  Array bytes = autograd::astype(autograd::reshape(autograd::arrays::arange(12), {2, 3, 2}), Dtype::uint8);
  const Array y = tf::ToTensor()(bytes * 15);
  BOOST_TEST((y.shape() == Shape{2, 2, 3}));
  BOOST_TEST((y.dtype() == Dtype::float32));
  const std::vector<double> expected{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}, got = values(y);
  for (std::size_t i = 0; i < 12; ++i) BOOST_TEST(std::abs(got[i] - expected[i] * 15 / 255) < 1e-7);
  BOOST_TEST(has(refused([&] {
                   tf::ToTensor()(autograd::arrays::zeros({2, 3}, Dtype::uint8));
                 }),
                 "the shape of the image is (2, 3)"));
}

BOOST_AUTO_TEST_CASE(mixed_batches) {
  constexpr int n = 4, classes = 3;
  std::vector<float> pixels;
  for (int i = 0; i < n; ++i) pixels.insert(pixels.end(), 2 * 8 * 8, float(i));
  const Array images = floats(pixels, {n, 2, 8, 8}), labels = ints({0, 1, 2, 1});
  Generator g{11, 0};
  double sum = 0, squares = 0;
  constexpr int trials = 600;
  const tf::MixUp mixup({.classes = classes, .alpha = 0.4});
  for (int k = 0; k < trials; ++k) {
    const Example mixed = mixup(Example({images, labels}), g);
    const std::vector<double> x = values(mixed.values[0]), t = values(mixed.values[1]);
    BOOST_REQUIRE((mixed.values[1].shape() == Shape({n, classes}) && t.size() == 12));
    const double own = t[3 + 1];  // of image 1, whose neighbour has another label
    BOOST_TEST(std::fabs(t[3] - (1 - own)) < 1e-6);
    BOOST_TEST(std::fabs(x[128] - own) < 1e-5);          // own * 1 + (1 - own) * 0
    BOOST_TEST(std::fabs(x[0] - 3 * (1 - own)) < 1e-5);  // the last image is before the first
    sum += own, squares += own * own;
  }
  // Beta(a, a) has the mean 1/2 and the variance 1 / (4 (2a + 1)).
  const double variance = 1 / (4 * 1.8);
  BOOST_TEST(std::fabs(sum / trials - 0.5) < 5 * std::sqrt(variance / trials));
  BOOST_TEST(std::fabs(squares / trials - 0.25 - variance) < 0.02);

  const tf::CutMix cutmix({.classes = classes});
  int rectangles = 0;
  for (int k = 0; k < 200; ++k) {
    const Example mixed = cutmix(Example({images, labels}), g);
    const std::vector<double> x = values(mixed.values[0]), t = values(mixed.values[1]);
    const auto foreign = std::count(x.begin() + 128, x.begin() + 192, 0.0);  // of a plane of image 1
    BOOST_TEST(foreign == std::count(x.begin() + 192, x.begin() + 256, 0.0));
    BOOST_TEST(std::fabs(t[4] - (1 - double(foreign) / 64)) < 1e-6);
    rectangles += foreign > 0 && foreign < 64;
  }
  BOOST_TEST(rectangles > 100);
  BOOST_TEST(values(tf::cutmix(images, 1, 2, 2, 3))[128 + 8 + 2] == 0);
  BOOST_TEST(values(tf::cutmix(images, 1, 2, 2, 3))[128 + 8 + 1] == 1);
  BOOST_TEST(values(images)[128 + 8 + 2] == 1);

  // Not mixed, or labels that are probabilities already, or one example.
  const Example same = tf::MixUp({.classes = classes, .p = 0})(Example({images, labels}), g);
  BOOST_TEST(values(same.values[0]) == values(images));
  BOOST_TEST(values(same.values[1]) == (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0}));
  BOOST_TEST(mixup(same, g).values[1].shape() == Shape({n, classes}));
  const Example single({autograd::slice(images, 0, 2, 3), ints({2})});
  BOOST_TEST(values(mixup(single, g).values[0])[0] == 2);
  const Converter converter = mixup;
  SerialIterator it(TupleDataset(images, labels), 4, {.seed = 1});
  BOOST_TEST(converter(*it.next(), {}).values[1].shape() == Shape({n, classes}));
}

BOOST_AUTO_TEST_CASE(errors) {
  const Array x = numbered(4, 6), bytes = grey(1), flat = floats({1, 2}, {1, 2});
  const auto says = [](const std::string& text, auto f) {
    const std::string message = refused(f);
    BOOST_TEST(has(message, text), message);
  };
  Generator g{1, 0};
  says("crop: the rectangle of 4 x 2 pixels at row 1, column 0 does not lie within an image of 4 x 6",
       [&] { tf::crop(x, 1, 0, 4, 2); });
  says("an image has the axes (channels, height, width)", [&] { tf::horizontal_flip(flat); });
  says("uint8 with values 0..255 or floating", [&] { tf::vertical_flip(autograd::astype(x, Dtype::int32)); });
  says("null array", [&] { tf::pad(Array(), 1); });
  says("center_crop: an image of 4 x 6 has no middle of 5 x 5", [&] { tf::center_crop(x, 5); });
  says("too wide for the mode \"reflect\"", [&] { tf::pad(x, {0, 4, 0, 0}, 0, "reflect"); });
  says("too wide for the mode \"symmetric\"", [&] { tf::pad(x, {7, 0, 0, 0}, 0, "symmetric"); });
  says("the mode is \"wrap\"", [&] { tf::pad(x, 1, 0, "wrap"); });
  says("negative length", [&] { tf::pad(x, -1); });
  says("an image of 0 x 3 pixels is empty", [&] { tf::resize(x, {0, 3}); });
  says("an image of 3 x 0 pixels is empty", [&] { tf::resize(x, {3, 0}); });
  says("bicycle", [&] { tf::resize(x, 3, {.mode = "bicycle"}); });
  says("rotate: the mode is \"cubic\"", [&] { tf::rotate(x, 1, {.mode = "cubic"}); });
  says("rotate: the center is (nan, 0)", [&] { tf::rotate(x, 1, {.center = {{std::nan(""), 0}}}); });
  says("RandomGrayscale: the image is a null array", [&] { tf::RandomGrayscale(1)(Array(), g); });
  says("erase: the rectangle", [&] { tf::erase(x, 0, 0, 5, 1); });
  says("RandomCrop: an image of 4 x 6 pixels has no crop of 5 x 5; set padding", [&] { tf::RandomCrop(5)(x, g); });
  says("RandomCrop: a crop of 0 x 0", [&] { tf::RandomCrop(0); });
  says("p is 1.5; a probability lies in 0..1", [&] { tf::RandomFlip(1.5); });
  says("scale has the limits 0 and 1", [&] { tf::RandomResizedCrop(2, {.scale = {0, 1}}); });
  says("ratio has the limits 2 and 1", [&] { tf::RandomErasing({.ratio = {2, 1}}); });
  says("the limits 3 and -3 are not ascending", [&] { tf::RandomRotation(-3); });
  says("noise needs a floating image, not uint8", [&] { tf::RandomErasing({.noise = true})(bytes, g); });
  says("the factor is -1", [&] { tf::adjust_contrast(bytes, -1); });
  says("0.6", [&] { tf::adjust_hue(bytes, 0.6); });
  says("the floating image has the value 23", [&] { tf::adjust_brightness(x, 1); });
  says("1 or 3 channels for this, not 2", [&] { tf::rgb_to_grayscale(floats({1, 2}, {2, 1, 1})); });
  says("a grey image has 1 or 3 channels, not 2", [&] { tf::Grayscale(2); });
  says("normalize: the image is uint8; put ToFloat before", [&] { tf::normalize(bytes, {0}, {1}); });
  says("2 means and 1 standard deviations do not fit 1 channels", [&] { tf::normalize(x, {0, 1}, {1}); });
  says("a standard deviation is 0", [&] { tf::normalize(x, {0}, {0}); });
  says("the dtype is int32", [&] { tf::to_float(bytes, Dtype::int32); });
  says("brightness has the limits -1 and 1", [&] { tf::ColorJitter({.brightness = {-1, 1}}); });
  says("hue has the limits -0.7 and 0.7", [&] { tf::ColorJitter({.hue = 0.7}); });
  says("the ratio is 2", [&] { tf::mixup(x, 2); });
  says("the array is uint8", [&] { tf::mixup(bytes, 0.5); });
  says("cutmix: images have the axes (N, C, H, W), not the shape (1, 4, 6)", [&] { tf::cutmix(x, 0, 0, 1, 1); });
  says("cutmix: the rectangle", [&] { tf::cutmix(autograd::reshape(x, {1, 1, 4, 6}), 0, 0, 5, 1); });
  says("MixUp: there are 0 classes", [&] { tf::MixUp({.classes = 0}); });
  says("MixUp: a batch has 1 components", [&] { tf::MixUp({.classes = 2})(Example(x), g); });
  says("labels of the shape (2,) and int32 do not fit images of the shape (1, 1, 4, 6)", [&] {
    tf::CutMix({.classes = 2})(Example({autograd::reshape(x, {1, 1, 4, 6}), ints({0, 1})}), g);
  });
}

BOOST_AUTO_TEST_SUITE_END()
