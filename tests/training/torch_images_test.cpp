// training::io and training::utils: files of images as bytes and arrays, their channels, grids of images.
#include <cmath>

#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>

using namespace test;
using namespace training;
using Bytes = std::vector<std::uint8_t>;

namespace {

// Red, green and blue of two pixels.
Array colours() { return autograd::array(Bytes{200, 10, 100, 20, 50, 30}, {3, 1, 2}); }
Bytes bytes(const Array& a) { return autograd::to_vector<std::uint8_t>(a); }
void check_bytes(const Array& a, const Bytes& expected) {
  BOOST_TEST(bytes(a) == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_images)

BOOST_AUTO_TEST_CASE(files_as_arrays) {
  if (lacks(catena::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("torch_images");
  const std::string path = folder / "a.png", copy = folder / "b.png";
  io::write_png(colours(), path);
  check_bytes(io::read_image(path), {200, 10, 100, 20, 50, 30});
  // 0.299 red + 0.587 green + 0.114 blue
  check_bytes(io::read_image(path, io::ImageReadMode::GRAY), {124, 18});
  check_bytes(io::read_image(path, io::ImageReadMode::GRAY_ALPHA), {124, 18, 255, 255});
  check_bytes(io::read_image(path, io::ImageReadMode::RGB_ALPHA), {200, 10, 100, 20, 50, 30, 255, 255});
  const Array content = io::read_file(path);
  BOOST_TEST(content.shape() == (autograd::Shape{std::int64_t(std::filesystem::file_size(path))}));
  io::write_file(copy, content);
  check_bytes(io::read_image(copy), bytes(io::decode_png(content)));
  check_bytes(io::encode_png(colours()), bytes(content));
  const Array grey = autograd::array(Bytes{7, 9}, {1, 1, 2});
  check_bytes(io::decode_image(io::encode_png(grey), io::ImageReadMode::RGB), {7, 9, 7, 9, 7, 9});
  BOOST_TEST(io::decode_image(io::encode_png(grey)).shape() == (autograd::Shape{1, 1, 2}));
  BOOST_CHECK_THROW(io::write_png(autograd::arrays::zeros({3, 2, 2}), path), catena::ValueError);
  BOOST_CHECK_THROW(io::decode_image(colours()), catena::ValueError);
  BOOST_CHECK_THROW(io::read_image(folder / "c.png"), catena::IOError);
}

// Indices of colours are not grey levels.
BOOST_AUTO_TEST_CASE(palettes_are_not_converted) {
  if (lacks(catena::image_codecs().png, "PNG")) return;
  // A PNG file with the pixels 1, 0 of a palette of red and blue.
  const Bytes file{137, 80, 78,  71,  13,  10,  26,  10,  0,   0,   0,   13, 73, 72, 68, 82,  0,   0,  0,  2,   0, 0,
                   0,   1,  8,   3,   0,   0,   0,   195, 252, 143, 184, 0,  0,  0,  6,  80,  76,  84, 69, 255, 0, 0,
                   0,   0,  255, 108, 161, 253, 142, 0,   0,   0,   11,  73, 68, 65, 84, 120, 156, 99, 96, 100, 0, 0,
                   0,   5,  0,   2,   209, 102, 51,  120, 0,   0,   0,   0,  73, 69, 78, 68,  174, 66, 96, 130};
  const TemporaryFolder folder("palette");
  const std::string path = folder / "palette.png";
  io::write_file(path, autograd::array(file, {std::int64_t(file.size())}));
  check_bytes(io::read_image(path), {1, 0});
  const std::string message = message_of<catena::ValueError>([&] { io::read_image(path, io::ImageReadMode::RGB); });
  BOOST_TEST(has(message, "palette.png"));
  BOOST_TEST(has(message, "UNCHANGED"));
}

BOOST_AUTO_TEST_CASE(grids) {
  const Array images = autograd::array(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 1, 1, 2});
  const Array grid = utils::make_grid(images, {.nrow = 2, .padding = 1, .pad_value = 9});
  BOOST_TEST(grid.shape() == (autograd::Shape{3, 5, 7}));
  const std::vector<double> all = autograd::to_vector<double>(grid);
  const std::vector<double> first(all.begin(), all.begin() + 35), expected = {9, 9, 9, 9, 9, 9, 9,  //
                                                                              9, 1, 2, 9, 3, 4, 9,  //
                                                                              9, 9, 9, 9, 9, 9, 9,  //
                                                                              9, 5, 6, 9, 9, 9, 9,  //
                                                                              9, 9, 9, 9, 9, 9, 9};
  BOOST_TEST(first == expected, boost::test_tools::per_element());
  BOOST_TEST(std::vector<double>(all.begin() + 70, all.end()) == expected, boost::test_tools::per_element());
  BOOST_TEST(utils::make_grid(images, 3, 0).shape() == (autograd::Shape{3, 1, 6}));
  const auto normalized = [&](const utils::MakeGridOptions& o) {
    const std::vector<double> values = autograd::to_vector<double>(utils::make_grid(images, o));
    return std::vector<double>(values.begin(), values.begin() + 6);
  };
  const std::vector<double> whole{0, 0.2, 0.4, 0.6, 0.8, 1}, each{0, 1, 0, 1, 0, 1}, range{0, 0, 0.5, 1, 1, 1};
  const auto near = [](const std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < b.size(); ++i) BOOST_TEST(std::fabs(a.at(i) - b[i]) < 1e-6);
  };
  near(normalized({.padding = 0, .normalize = true}), whole);
  near(normalized({.padding = 0, .normalize = true, .scale_each = true}), each);
  near(normalized({.padding = 0, .normalize = true, .value_range = std::pair(2.0, 4.0)}), range);
  BOOST_CHECK_THROW(utils::make_grid(images, {.normalize = true, .value_range = std::pair(4.0, 2.0)}),
                    catena::ValueError);
  // One image has no border.
  BOOST_TEST(utils::make_grid(autograd::arrays::zeros({4, 5})).shape() == (autograd::Shape{3, 4, 5}));
  BOOST_CHECK_THROW(utils::make_grid(autograd::arrays::zeros({4})), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(saved_grids) {
  if (lacks(catena::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("torch_images");
  const std::string path = folder / "grid.png";
  const Array images = autograd::array(std::vector<float>{0, 0.5, 1, 2}, {2, 1, 1, 2});
  utils::save_image(images, path, {.padding = 0});
  check_bytes(io::read_image(path), {0, 128, 255, 255, 0, 128, 255, 255, 0, 128, 255, 255});
  const Array first = autograd::slice(images, 0, 0, 1), second = autograd::slice(images, 0, 1, 2);
  utils::save_image({autograd::squeeze(second, {0}), autograd::squeeze(first, {0})}, path, {.padding = 0});
  check_bytes(io::read_image(path, io::ImageReadMode::GRAY), {255, 255, 0, 128});
  BOOST_CHECK_THROW(utils::save_image(images, folder / "grid.bmp"), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
