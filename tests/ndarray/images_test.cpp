// Images as files: Pillow's files with the pixels that Pillow reads, files that are written and read again, PPM files
// as text, and, on a GPU, nvJPEG.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <iostream>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/image.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/nvjpeg.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using test::contains;
using test::lacks;

bool on_cuda() { return !(nd::current_device() == nd::cpu_device); }
const std::string kFolder = (test::source_folder() / "tests/golden/images").string() + "/";

std::string content_of(const std::string& path) { return catena::read_file("images_test", path); }
struct TemporaryFile {
  explicit TemporaryFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("catena_images_" + std::to_string(::getpid()) + name))
                 .string()) {}
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string path;
};

bool same(const Array& a, const Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && bool((a == b).all());
}

Array random_image(const nd::Shape& shape, nd::Dtype dtype) {
  std::mt19937 random(5);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i)
    values.push_back(std::int64_t(random() % (dtype == nd::uint16 ? 65536 : 256)));
  return nd::array(values).reshape(shape).astype(dtype);
}
// Values that change little from pixel to pixel survive JPEG.
Array smooth_image(std::int64_t height, std::int64_t width, std::int64_t channels) {
  const Array y = nd::arange(height, nd::float64).reshape({height, 1, 1}),
              x = nd::arange(width, nd::float64).reshape({1, width, 1}),
              c = nd::arange(channels, nd::float64).reshape({1, 1, channels});
  const Array a = nd::rint(128 + 100 * nd::sin(0.1 * (x + 2 * c)) * nd::cos(0.08 * y)).astype(nd::uint8);
  return channels == 1 ? a.reshape({height, width}) : a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(images)

BOOST_AUTO_TEST_CASE(pixels_of_pillow) {
  nd::NpzFile pixels = nd::loadz(kFolder + "pixels.npz");
  BOOST_TEST(pixels.size() == 11u);
  for (const std::string& name : pixels.keys()) {
    const bool png = name.ends_with(".png"), jpeg = name.ends_with(".jpg");
    if ((png && lacks(catena::image_codecs().png, "PNG")) || (jpeg && lacks(catena::image_codecs().jpeg, "JPEG")))
      continue;
    const Array image = nd::imread(kFolder + name);
    BOOST_TEST(same(image, pixels[name]), name);
    BOOST_TEST((image.device() == nd::current_device()));
    const std::string content = content_of(kFolder + name);
    BOOST_TEST(same(nd::imdecode(content), image), name);
    BOOST_TEST(same(nd::imdecode(std::as_bytes(std::span(content))), image), name);
    BOOST_TEST((nd::imread(kFolder + name, {.device = nd::cpu_device}).device() == nd::cpu_device));
  }
}

// Files of the library's own encoders of PNG and PPM, read by libpng and by the library's own decoder of PPM.
BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
  for (const nd::Dtype dtype : {nd::uint8, nd::uint16})
    for (const std::int64_t channels : {1, 2, 3, 4})
      for (const auto& [height, width] : {std::pair{1, 1}, {5, 3}, {17, 40}}) {
        const Array image =
            random_image(channels == 1 ? nd::Shape({height, width}) : nd::Shape({height, width, channels}), dtype);
        BOOST_TEST_CONTEXT(image.shape() << " " << image.dtype()) {
          // libpng reduces colours of 16 bits to 8.
          const bool reduced = dtype == nd::uint16 && channels > 1;
          const Array read = reduced ? nd::right_shift(image, 8).astype(nd::uint8) : image;
          if (catena::image_codecs().png)
            for (const int level : {0, 6})
              BOOST_TEST(same(nd::imdecode(nd::imencode(".png", image, {.level = level})), read));
          if (channels % 2 == 1) BOOST_TEST(same(nd::imdecode(nd::imencode(".ppm", image)), image));
        }
      }
  // The format is that of the file's name, also in capital letters; the image is a view of every second column.
  const Array image = random_image({6, 9, 3}, nd::uint8);
  for (const char* name : {".PNG", ".pnm", ".pgm"}) {
    const TemporaryFile file(name);
    nd::imwrite(file.path, image(nd::_, nd::Slice(nd::None, nd::None, -2)));
    if (*(name + 1) == 'P' && lacks(catena::image_codecs().png, "PNG")) continue;
    BOOST_TEST(same(nd::imread(file.path), image(nd::_, nd::Slice(nd::None, nd::None, -2)).copy()), name);
  }
}

BOOST_AUTO_TEST_CASE(bytes_of_a_ppm_file) {
  const Array image = nd::array({{{1, 2, 3}, {250, 251, 252}}}, {.dtype = nd::uint8});
  BOOST_TEST(nd::imencode(".ppm", image) == std::string("P6\n2 1\n255\n\x01\x02\x03\xfa\xfb\xfc"));
  BOOST_TEST(nd::imencode(".pgm", nd::array({{258, 3}}, {.dtype = nd::uint16})) ==
             std::string("P5\n2 1\n65535\n\x01\x02\x00\x03", 17));
}

// Samples as text and as bytes, with comments, and with 4 as the largest value: v * 255 / 4, rounded.
BOOST_AUTO_TEST_CASE(kinds_of_netpbm) {
  const Array scaled = nd::array({{0, 64, 128}, {191, 255, 0}}, {.dtype = nd::uint8});
  BOOST_TEST(same(nd::imdecode("P2 # a comment\n#another\n3 2\n4\n0 1 2\n3 4 0\n"), scaled));
  BOOST_TEST(same(nd::imdecode(std::string_view("P5\n3\t2 4\n\x00\x01\x02\x03\x04\x00", 15)), scaled));
  BOOST_TEST(same(nd::imdecode("P3\n1 1 255\n7 8 9"), nd::array({{{7, 8, 9}}}, {.dtype = nd::uint8})));
  BOOST_TEST(same(nd::imdecode(std::string_view("P6 1 1 1000 \x01\xf4\x03\xe8\x00\x00", 18)),
                  nd::array({{{32768, 65535, 0}}}, {.dtype = nd::uint16})));
}

BOOST_AUTO_TEST_CASE(jpeg_files) {
  if (lacks(catena::image_codecs().jpeg, "JPEG")) return;
  for (const std::int64_t channels : {1, 3}) {
    const Array image = smooth_image(37, 21, channels);
    double error = 0;
    for (const int quality : {30, 95}) {
      const std::string file = nd::imencode(".jpg", image, {.quality = quality});
      const Array read = nd::imdecode(file);
      BOOST_REQUIRE((read.shape() == image.shape()));
      const double distance =
          nd::mean(nd::absolute(read.astype(nd::float64) - image.astype(nd::float64))).item<double>();
      BOOST_TEST(distance < (quality == 30 ? 6 : 2));
      if (quality == 95) BOOST_TEST(distance < error);
      error = distance;
    }
    // A file of many blocks of memory.
    const Array noise = random_image(channels == 1 ? nd::Shape({150, 200}) : nd::Shape({150, 200, 3}), nd::uint8);
    const std::string long_file = nd::imencode(".jpg", noise, {.quality = 100});
    BOOST_TEST(long_file.size() > 20000u);
    BOOST_TEST((nd::imdecode(long_file).shape() == noise.shape()));
    BOOST_TEST(nd::imencode(".jpeg", image) == nd::imencode(".jpg", image, {.quality = 95}));
  }
}

BOOST_AUTO_TEST_CASE(numbers_of_other_dtypes) {
  const auto written = [](const Array& a) { return nd::imdecode(nd::imencode(".pgm", a)); };
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const Array wanted = nd::array({{0, 0, 0, 1, 200, 255, 255}}, {.dtype = nd::uint8});
  BOOST_TEST(same(written(nd::array({{nan, -3., 0.4, 0.6, 199.7, 255.2, inf}})), wanted));
  BOOST_TEST(same(written(nd::array({{-1, 70000}})), nd::array({{0, 255}}, {.dtype = nd::uint8})));
  BOOST_TEST(same(written(nd::array({{true, false}})), nd::array({{255, 0}}, {.dtype = nd::uint8})));
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto message = [](const auto& f) { return test::message_of<catena::ValueError>(f); };
  const Array image = nd::zeros({2, 3}, nd::uint8);
  BOOST_TEST(contains(message([&] { nd::imwrite("a.gif", image); }), "imwrite: the extension of \"a.gif\""));
  BOOST_TEST(contains(message([&] { nd::imencode("png", image); }), "imencode: the extension of \"png\""));
  BOOST_TEST(contains(message([&] { nd::imencode(".png", nd::zeros({3, 5, 5})); }), "transpose({1, 2, 0})"));
  BOOST_TEST(contains(message([&] { nd::imencode(".png", nd::zeros({0, 5})); }), "(0, 5)"));
  BOOST_TEST(contains(message([&] { nd::imencode(".png", nd::zeros({4})); }), "(4,)"));
  BOOST_TEST(contains(message([&] { nd::imencode(".ppm", nd::zeros({2, 2, 4})); }), "1 or 3 channels, not 4"));
  BOOST_TEST(contains(message([&] { nd::imencode(".png", image, {.level = 10}); }), "0 to 9, not 10"));
  BOOST_CHECK_THROW(nd::imencode(".png", nd::zeros({2, 2}, nd::complex64)), catena::TypeError);
  if (!lacks(catena::image_codecs().jpeg, "JPEG")) {
    BOOST_TEST(contains(message([&] { nd::imencode(".jpg", nd::zeros({2, 2, 2})); }), "1 or 3 channels, not 2"));
    BOOST_TEST(contains(message([&] { nd::imencode(".jpg", nd::zeros({2, 2}, nd::uint16)); }), "8 bits, not 16"));
    BOOST_TEST(contains(message([&] { nd::imencode(".jpg", image, {.quality = 0}); }), "1 to 100, not 0"));
  }
  BOOST_CHECK_THROW(nd::imwrite("/nowhere/a.png", image), catena::IOError);
  BOOST_CHECK_THROW(nd::imread("/nowhere/a.png"), catena::IOError);
  BOOST_TEST(contains(message([] { nd::imdecode("GIF89a"); }), "neither a PNG nor a JPEG file"));
  BOOST_TEST(contains(message([] { nd::imdecode(""); }), "neither"));
  for (const char* damaged : {"P5", "P5 3", "P5 3 2 255", "P5 3 2 255\nab", "P2 3 1 255 1 2", "P5 x", "P5 0 1 255 "})
    BOOST_TEST(!message([&] { nd::imdecode(damaged); }).empty(), damaged);
  BOOST_TEST(message([] { nd::imdecode("P5 3"); }).ends_with(": the file ends early"));
  BOOST_TEST(message([] { nd::imdecode("P5 x"); }).ends_with("was expected at byte 3"));
  BOOST_TEST(
      message([] { nd::imdecode("P5 3000000000 1 255 "); }).ends_with("below 2147483648 was expected at byte 3"));
  BOOST_TEST(contains(message([] { nd::imdecode("P2 1 1 4 5"); }), "sample 0 is 5"));
  BOOST_TEST(contains(message([] { nd::imdecode("P2 1 1 70000 5"); }), "1 to 65535"));
  BOOST_TEST(contains(message([] { nd::imdecode("P6 2000000000 2000000000 255 "); }), "claims"));
  // A build without the libraries.
  const auto lacking = [](const char* verb) {
    return test::message_of<catena::RuntimeError>([&] {
      catena::check_codec("imread", "a.jpg", catena::ImageFormat::jpeg, {true, false}, verb);
    });
  };
  BOOST_TEST(contains(lacking("read"), "imread: this build cannot read \"a.jpg\": it has no JPEG"));
  BOOST_TEST(contains(lacking("write"), "cannot write"));
}

// Files that are cut off are refused on every device.
BOOST_AUTO_TEST_CASE(truncated_files) {
  for (const char* name : {"colour.png", "colour.jpg", "subsampled_progressive.jpg", "colour.ppm"}) {
    if (contains(name, ".jpg") && lacks(catena::image_codecs().jpeg, "JPEG")) continue;
    if (contains(name, ".png") && lacks(catena::image_codecs().png, "PNG")) continue;
    const std::string file = content_of(kFolder + name);
    for (std::size_t n = 0; n < file.size(); n += 7)
      BOOST_CHECK_THROW(nd::imdecode(file.substr(0, n)), catena::ValueError);
  }
}

BOOST_AUTO_TEST_CASE(nvjpeg_decodes_on_the_device) {
  if (!on_cuda()) {
    std::cout << "skipped: files are decoded by nvJPEG on CUDA\n";
    return;
  }
  if (lacks(catena::image_codecs().jpeg, "JPEG")) return;
  const std::string grey = content_of(kFolder + "grey.jpg"), colour = content_of(kFolder + "colour.jpg");
  try {
    nd::cuda::nvjpeg();
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return;
  }
  BOOST_TEST(nd::imdecode(grey).ndim() == 2);
  BOOST_TEST(contains(nd::cuda::recent_launches(), "nvjpegDecode(13, 18)"));
  // A file that nvJPEG does not accept is left to the decoder for the CPU.
  BOOST_TEST(!nd::cuda::nvjpeg_size("\xff\xd8\xff no file", nd::current_device()).has_value());
  const std::string message =
      test::message_of<catena::RuntimeError>([&] { nd::cuda::Graph([&] { nd::imdecode(colour); }); });
  BOOST_TEST(contains(message, "nvjpegDecode: cannot be recorded in a CUDA graph"), message);
  BOOST_TEST(nd::imdecode(colour).ndim() == 3);
}

BOOST_AUTO_TEST_SUITE_END()
