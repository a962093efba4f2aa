// Image files: every kind of PNG from an encoder after the specification, JPEG files by libjpeg, hostile ones; datasets
// of them.
#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <thread>

#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/datasets.h>
#include <catena/training/extensions/plot_canvas.h>
#include <catena/training/iterator.h>

#if __has_include(<jpeglib.h>)
#include <jpeglib.h>
#define TEST_HAS_JPEG 1
#endif

using namespace test;
using namespace training;
using datasets::read_image;

namespace {

// ---- PNG (ISO/IEC 15948), written without libpng ------------------------------------------------
struct Picture {
  int width, height, channels, type, depth;  // type 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA
  std::vector<int> samples;                  // rows, columns, channels
  int at(int y, int x, int c) const { return samples[std::size_t((y * width + x) * channels + c)]; }
};

void append_number(std::string& to, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) to += char(v >> shift);
}
void append_chunk(std::string& to, const std::string& type, const std::string& content) {
  append_number(to, std::uint32_t(content.size()));
  const std::string checked = type + content;
  to += checked;
  append_number(to, std::uint32_t(::crc32(0, reinterpret_cast<const Bytef*>(checked.data()), uInt(checked.size()))));
}
// The rows y0, y0 + dy, ... of the columns x0, x0 + dx, ..., each after a filter byte 0.
std::string packed_rows(const Picture& p, int x0, int y0, int dx, int dy) {
  std::string rows;
  if (x0 >= p.width) return rows;
  for (int y = y0; y < p.height; y += dy) {
    rows += '\0';
    int bits = 0, n_bits = 0;
    for (int x = x0; x < p.width; x += dx)
      for (int c = 0; c < p.channels; ++c) {
        const int v = p.at(y, x, c);
        if (p.depth == 16) rows += char(v >> 8), rows += char(v);
        else if (p.depth == 8) rows += char(v);
        else {
          bits = bits << p.depth | v;
          if ((n_bits += p.depth) == 8) rows += char(bits), bits = n_bits = 0;
        }
      }
    if (n_bits > 0) rows += char(bits << (8 - n_bits));
  }
  return rows;
}
std::string png(const Picture& p, bool interlaced) {
  std::string rows;
  constexpr int kPasses[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                 {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};  // Adam7: x0, y0, dx, dy
  if (interlaced)
    for (const auto& [x0, y0, dx, dy] : kPasses) rows += packed_rows(p, x0, y0, dx, dy);
  else rows = packed_rows(p, 0, 0, 1, 1);
  std::string header;
  append_number(header, std::uint32_t(p.width));
  append_number(header, std::uint32_t(p.height));
  header += {char(p.depth), char(p.type), 0, 0, char(interlaced)};
  uLongf size = ::compressBound(uLong(rows.size()));
  std::string packed(size, '\0');
  BOOST_REQUIRE(::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                           uLong(rows.size())) == Z_OK);
  packed.resize(size);
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  if (p.type == 3) {
    std::string colors;
    for (int i = 0; i < 3 << p.depth; ++i) colors += char(i * 7);
    append_chunk(file, "PLTE", colors);
    append_chunk(file, "tRNS", "\x10\x20");
  }
  append_chunk(file, "IDAT", packed);
  append_chunk(file, "IEND", "");
  return file;
}
Picture random_picture(int type, int depth, int width, int height, unsigned seed) {
  constexpr int kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  Picture p{width, height, kChannels[type], type, depth, {}};
  std::mt19937 random(seed);
  for (int i = 0; i < width * height * p.channels; ++i) p.samples.push_back(int(random() % (1u << depth)));
  return p;
}

// The most memory that this process has had, in MiB.
long peak_memory() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// The modes that Pillow returns: PNG/PngImagePlugin.py, the table of raw modes.
int expected_value(const Picture& p, int v) {
  if (p.type == 0 && (p.depth == 2 || p.depth == 4)) return v * 255 / ((1 << p.depth) - 1);
  if (p.depth == 16 && p.type != 0) return v >> 8;
  return v;
}

#ifdef TEST_HAS_JPEG
// ---- JPEG by libjpeg ----------------------------------------------------------------------------
std::string jpeg(const std::vector<std::uint8_t>& samples, int width, int height, int channels, bool progressive) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = JDIMENSION(width);
  info.image_height = JDIMENSION(height);
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    std::vector<std::uint8_t> row(samples.begin() + std::ptrdiff_t(info.next_scanline) * width * channels,
                                  samples.begin() + std::ptrdiff_t(info.next_scanline + 1) * width * channels);
    JSAMPROW start = row.data();
    jpeg_write_scanlines(&info, &start, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<const char*>(memory), size);
  std::free(memory);
  return file;
}
std::vector<std::uint8_t> decoded(const std::string& file) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&info, TRUE);
  jpeg_start_decompress(&info);
  const std::size_t stride = std::size_t(info.output_width) * std::size_t(info.output_components);
  std::vector<std::uint8_t> samples(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = samples.data() + stride * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return samples;
}
// A smooth image, which survives the compression.
std::vector<std::uint8_t> smooth(int width, int height, int channels) {
  std::vector<std::uint8_t> samples;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        samples.push_back(std::uint8_t(128 + 100 * std::sin(0.1 * (x + 2 * c)) * std::cos(0.08 * y)));
  return samples;
}
#endif

}  // namespace

BOOST_AUTO_TEST_SUITE(images)

BOOST_AUTO_TEST_CASE(every_kind_of_png) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("png");
  const std::pair<int, int> kinds[] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                                       {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
  const std::pair<int, int> sizes[] = {{1, 1}, {5, 3}, {33, 17}};
  unsigned seed = 0;
  for (const auto& [type, depth] : kinds)
    for (const auto& [width, height] : sizes)
      for (const bool interlaced : {false, true}) {
        const Picture p = random_picture(type, depth, width, height, ++seed);
        write_file(folder / "a.png", png(p, interlaced));
        const Array image = read_image(folder / "a.png", Dtype::int32);
        BOOST_REQUIRE(image.shape() == Shape({p.channels, height, width}));
        const std::vector<double> got = values(image);
        std::size_t i = 0;
        for (int c = 0; c < p.channels; ++c)
          for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x, ++i)
              BOOST_REQUIRE_MESSAGE(got[i] == expected_value(p, p.at(y, x, c)),
                                    "type " << type << " depth " << depth << " interlaced " << interlaced << " at " << y
                                            << ", " << x << ", " << c << ": " << got[i]);
      }
}

// 8 samples in a byte, and 1000 bytes in a byte of the file.
BOOST_AUTO_TEST_CASE(png_files_of_one_colour) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("one_colour");
  constexpr std::int64_t kSide = 4800;
  std::string rows(std::size_t(kSide * (1 + kSide / 8)), '\0');
  for (std::size_t y = 0; y < std::size_t(kSide); ++y) rows[y * (1 + kSide / 8) + 1] = '\x80';
  uLongf size = compressBound(uLong(rows.size()));
  std::string packed(size, '\0');
  BOOST_REQUIRE(compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
                          uLong(rows.size()), 9) == Z_OK);
  packed.resize(size);
  std::string header, file = "\x89PNG\r\n\x1a\n";
  append_number(header, unsigned(kSide));
  append_number(header, unsigned(kSide));
  header += std::string("\x01\0\0\0\0", 5);
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", packed);
  append_chunk(file, "IEND", "");
  BOOST_TEST(file.size() * 1100 < std::size_t(kSide * kSide));
  write_file(folder / "one.png", file);
  const Array image = read_image(folder / "one.png");
  BOOST_TEST(image.shape() == Shape({1, kSide, kSide}));
  const std::vector<float> samples = autograd::to_vector<float>(image);
  BOOST_TEST(std::accumulate(samples.begin(), samples.end(), 0.0) == double(kSide));
}

BOOST_AUTO_TEST_CASE(jpeg_files) {
#ifdef TEST_HAS_JPEG
  if (lacks(datasets::image_codecs().jpeg, "JPEG")) return;
  const TemporaryFolder folder("jpeg");
  for (const int channels : {1, 3, 4})
    for (const bool progressive : {false, true}) {
      const std::vector<std::uint8_t> original = smooth(37, 21, channels);
      const std::string file = jpeg(original, 37, 21, channels, progressive);
      write_file(folder / "named.png", file);  // the content counts
      const Array image = read_image(folder / "named.png");
      BOOST_REQUIRE(image.shape() == Shape({channels, 21, 37}));
      BOOST_TEST((image.dtype() == Dtype::float32));
      const std::vector<double> got = values(image);
      const std::vector<std::uint8_t> wanted = decoded(file);
      std::size_t i = 0;
      for (int c = 0; c < channels; ++c)
        for (int pixel = 0; pixel < 37 * 21; ++pixel, ++i) {
          const auto from = std::size_t(pixel * channels + c);
          BOOST_REQUIRE(got[i] == (channels == 4 ? 255 - wanted[from] : wanted[from]));
          const int meant = channels == 4 ? 255 - original[from] : original[from];
          BOOST_REQUIRE(std::fabs(got[i] - meant) < 40);
        }
    }
#else
  BOOST_TEST(lacks(false, "JPEG"));
#endif
}

BOOST_AUTO_TEST_CASE(hostile_png_files) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("hostile_png");
  const std::string path = folder / "bad.png", good = png(random_picture(2, 8, 9, 7, 1), false);
  const auto refused = [&](const std::string& content, const std::string& why) {
    write_file(path, content);
    const std::string message = message_of<catena::ValueError>([&] { read_image(path); });
    BOOST_TEST((has(message, "read_image: ") && has(message, "bad.png") && has(message, why)), message);
  };
  for (std::size_t n = 0; n < good.size(); ++n) refused(good.substr(0, n), n < 8 ? "neither" : "");
  for (std::size_t i = 8; i < good.size(); ++i) {  // every byte is covered by a check sum or a length
    std::string damaged = good;
    damaged[i] = char(damaged[i] ^ 0x15);
    write_file(path, damaged);
    const std::string message = message_of<catena::Error>([&] { read_image(path); });
    BOOST_TEST(has(message, "bad.png"), "byte " << i << ": " << message);
  }
  refused("GIF89a what is this", "neither a PNG nor a JPEG");
  // A header that claims 2^31 x 2^31 pixels, and one of 12 GB: refused before anything of that size is allocated.
  const long before = peak_memory();
  for (const auto& [width, height] : {std::pair{0x7fffffffu, 0x7fffffffu}, {40000u, 40000u}}) {
    std::string header, file = "\x89PNG\r\n\x1a\n";
    append_number(header, width);
    append_number(header, height);
    header += {16, 6, 0, 0, 0};
    append_chunk(file, "IHDR", header);
    append_chunk(file, "IDAT", "xx");
    append_chunk(file, "IEND", "");
    refused(file, "claims");
  }
  BOOST_TEST(peak_memory() < before + 100);
  BOOST_TEST(has(message_of<catena::IOError>([&] { read_image(folder / "nowhere.png"); }), "nowhere.png"));
  BOOST_CHECK_THROW(read_image(folder.path.string()), catena::IOError);
  BOOST_CHECK_THROW(read_image("/dev/zero"), catena::IOError);
}

BOOST_AUTO_TEST_CASE(hostile_jpeg_files) {
#ifdef TEST_HAS_JPEG
  if (lacks(datasets::image_codecs().jpeg, "JPEG")) return;
  const TemporaryFolder folder("hostile_jpeg");
  const std::string path = folder / "bad.jpg";
  for (const bool progressive : {false, true}) {
    const std::string good = jpeg(smooth(17, 9, 3), 17, 9, 3, progressive);
    for (std::size_t n = 0; n < good.size(); ++n) {
      write_file(path, good.substr(0, n));
      const std::string message = message_of<catena::ValueError>([&] { read_image(path); });
      BOOST_TEST(has(message, "bad.jpg"), n << ": " << message);
    }
    std::mt19937 random(3);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {  // damage shows in the pixels or as an error
      std::string damaged = good;
      for (int k = 0; k < 3; ++k) damaged[2 + random() % (damaged.size() - 2)] = char(random());
      write_file(path, damaged);
      try {
        BOOST_TEST(read_image(path).ndim() == 3);
      } catch (const catena::ValueError& e) {
        BOOST_TEST(has(e.what(), "bad.jpg"));
        ++refused;
      }
    }
    BOOST_TEST(refused > 10);
    // 65500 x 65500 pixels from some hundred bytes: the size in the frame header is replaced.
    std::string large = good;
    const std::size_t frame = large.find(std::string("\xff") + (progressive ? "\xc2" : "\xc0"));
    BOOST_REQUIRE(frame != large.npos);
    large.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
    write_file(path, large);
    BOOST_TEST(has(message_of<catena::ValueError>([&] { read_image(path); }), "claims 65500 x 65500"));
  }
#else
  BOOST_TEST(lacks(false, "JPEG"));
#endif
}

BOOST_AUTO_TEST_CASE(image_datasets) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("dataset");
  const Picture grey = random_picture(0, 8, 4, 3, 1), color = random_picture(6, 8, 2, 5, 2);
  write_file(folder / "grey.png", png(grey, false));
  write_file(folder / "two words.png", png(color, false));
  write_file(folder / "list.txt", " grey.png \r\ntwo words.png\n");
  const std::string root = folder.path.string(), absolute = folder / "grey.png";
  const std::vector<std::string> paths = {"grey.png", "two words.png"};
  const std::vector<ImageDataset> all = {ImageDataset({"grey.png", "two words.png"}, root),
                                         ImageDataset({"grey.png", "two words.png"}, {.root = root}),
                                         ImageDataset(paths, {.root = root}),
                                         ImageDataset(paths, root, Dtype::float32),
                                         ImageDataset(folder / "list.txt", root),
                                         ImageDataset(folder / "list.txt", {.root = root}),
                                         ImageDataset({absolute, folder / "two words.png"})};
  for (const ImageDataset& d : all) {
    BOOST_REQUIRE(d.size() == 2);
    BOOST_TEST((d[0].values[0].dtype() == Dtype::float32));
    BOOST_TEST(d[0].values[0].shape() == Shape({1, 3, 4}));
    BOOST_TEST(d[-1].values[0].shape() == Shape({4, 5, 2}));
    BOOST_TEST(values(d[0].values[0])[5] == grey.samples[5]);
    BOOST_TEST(values(d[1].values[0])[3 * 10 + 4] == color.at(2, 0, 3));
    BOOST_CHECK_THROW(d[2], catena::IndexError);
    BOOST_TEST(d.slice({}, {}).size() == 2u);
  }
  const datasets::ImageDataset bytes(paths, root, Dtype::uint8);
  BOOST_TEST((bytes[0].values[0].dtype() == Dtype::uint8));
  BOOST_TEST((bytes[0].values[0].device() == autograd::Device{}));
  // Several threads at once.
  std::vector<std::thread> threads;
  std::vector<int> good(4, 0);
  for (std::size_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) good[i] += bytes[k % 2].values[0].ndim() == 3;
    });
  for (std::thread& t : threads) t.join();
  for (const int n : good) BOOST_TEST(n == 20);

  write_file(folder / "gap.txt", "grey.png\n\ngrey.png\n");
  BOOST_TEST(has(message_of<catena::ValueError>([&] { ImageDataset(folder / "gap.txt"); }), "line 2 of \""));
  BOOST_CHECK_THROW(ImageDataset(folder / "no list"), catena::IOError);
  BOOST_CHECK_THROW(ImageDataset({"missing.png"})[0], catena::IOError);
}

BOOST_AUTO_TEST_CASE(labeled_image_datasets) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("labeled");
  for (int i = 0; i < 4; ++i)
    write_file(folder / (std::to_string(i) + ".png"), png(random_picture(2, 8, 3, 3, unsigned(i)), false));
  write_file(folder / "list.txt", "0.png 5\n 1.png\t-6 \n2.png 7\n3.png 8\n");
  const std::string root = folder.path.string();
  const LabeledImageDataset from_file(folder / "list.txt", root);
  const LabeledImageDataset from_list({{"0.png", 5}, {"1.png", -6}, {"2.png", 7}, {"3.png", 8}}, {.root = root});
  const std::vector<LabeledImageDataset::Pair> pairs = {{"0.png", 5}, {"1.png", -6}, {"2.png", 7}, {"3.png", 8}};
  const LabeledImageDataset from_pairs(pairs, root, Dtype::float64, Dtype::int64);
  for (const LabeledImageDataset* d : {&from_file, &from_list, &from_pairs}) {
    BOOST_REQUIRE(d->size() == 4);
    const Example e = (*d)[1];
    BOOST_REQUIRE(e.values.size() == 2u);
    BOOST_TEST(e.values[0].shape() == Shape({3, 3, 3}));
    BOOST_TEST(e.values[1].ndim() == 0);
    BOOST_TEST(values(e.values[1])[0] == -6);
  }
  BOOST_TEST((from_file[0].values[1].dtype() == Dtype::int32));
  BOOST_TEST((from_pairs[0].values[1].dtype() == Dtype::int64));
  BOOST_TEST((from_pairs[0].values[0].dtype() == Dtype::float64));
  // As a data set of a training loop.
  SerialIterator iterator(from_file, 3, {.repeat = false, .shuffle = false});
  const Example batch = concat_examples(iterator.next()->examples);
  BOOST_TEST(batch.values[0].shape() == Shape({3, 3, 3, 3}));
  BOOST_TEST(values(batch.values[1]) == (std::vector<double>{5, -6, 7}), boost::test_tools::per_element());

  const auto refused = [&](const std::string& content, const std::string& why) {
    write_file(folder / "bad.txt", content);
    const std::string message = message_of<catena::ValueError>([&] { LabeledImageDataset(folder / "bad.txt"); });
    BOOST_TEST((has(message, "bad.txt") && has(message, why)), message);
  };
  refused("0.png 1\n1.png\n", "line 2");
  refused("0.png 1\n1.png\n", "1 columns");
  refused("a b.png 1\n", "3 columns");
  refused("0.png one\n", "\"one\"; an integer");
  refused("0.png 1.5\n", "\"1.5\"; an integer");
  refused("0.png 99999999999999999999\n", "an integer");
  refused("0.png 1\n\n1.png 1\n", "line 2");
}

// An error of the construction, not of the first example.
BOOST_AUTO_TEST_CASE(formats_that_a_build_lacks) {
  using datasets::internal::check_codecs;
  const auto message = [](const std::vector<std::string>& paths, datasets::ImageCodecs codecs) {
    return message_if_thrown<catena::RuntimeError>([&] { check_codecs("ImageDataset", paths, codecs); });
  };
  const std::string nothing = "(nothing was thrown)";
  BOOST_TEST(message({"a.PNG"}, {true, false}) == nothing);
  BOOST_TEST(message({"a.jpg", "b.jpeg", "c"}, {false, true}) == nothing);
  const std::string png = message({"x.jpg", "a.png"}, {false, true}),
                    jpeg = message({"a.png", "b.JPEG"}, {true, false});
  for (const char* part : {"ImageDataset: ", "a.png", "libpng was not found", "libpng-dev"})
    BOOST_TEST(has(png, part), png);
  for (const char* part : {"ImageDataset: ", "b.JPEG", "libjpeg was not found", "libjpeg-dev"})
    BOOST_TEST(has(jpeg, part), jpeg);
  BOOST_TEST(has(message({"c.image"}, {false, false}), "libpng"));
  // This build.
  const datasets::ImageCodecs codecs = datasets::image_codecs();
  BOOST_TEST(message({"a.png"}, codecs).starts_with("(nothing") == codecs.png);
  BOOST_TEST(message({"a.jpg"}, codecs).starts_with("(nothing") == codecs.jpeg);
}

// Written pixels are the rounded and limited values, as read_image gives them back.
BOOST_AUTO_TEST_CASE(written_images) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("write_image");
  const Array colours = floats({-3, 0.4f, 0.6f, 254.6f, 300, NAN, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {3, 2, 3});
  datasets::write_image(folder / "a.png", colours);
  const Array image = read_image(folder / "a.png");
  BOOST_REQUIRE(image.shape() == Shape({3, 2, 3}));
  const std::vector<double> want{0, 0, 1, 255, 255, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  BOOST_TEST(values(image) == want, boost::test_tools::per_element());
  // A grey image, as a view whose elements are not adjacent: its three channels are equal.
  const Array grey = autograd::transpose(autograd::astype(floats({1, 2, 3, 4, 5, 6}, {3, 2}), Dtype::uint8));
  for (const Array& g : {grey, autograd::reshape(grey, {1, 2, 3})}) {
    datasets::write_image(folder / "g.png", g);
    const std::vector<double> channels{1, 3, 5, 2, 4, 6, 1, 3, 5, 2, 4, 6, 1, 3, 5, 2, 4, 6};
    BOOST_TEST(values(read_image(folder / "g.png")) == channels, boost::test_tools::per_element());
  }

  const auto message = [&](const Array& a) {
    return message_of<catena::Error>([&] { datasets::write_image(folder / "bad.png", a); });
  };
  BOOST_TEST(has(message(autograd::arrays::zeros({2, 4, 4})),
                 "write_image: an image has the shape (H, W), (1, H, W) or (3, H, W), not (2, 4, 4)"));
  BOOST_TEST(has(message(autograd::arrays::zeros({3})), "(3,)"));
  BOOST_TEST(has(message(autograd::arrays::zeros({3, 0, 4})), "has no pixels"));
  BOOST_TEST(has(message(autograd::arrays::zeros({2, 2}, Dtype::complex64)), "pixels are real, not complex64"));
  BOOST_TEST(!std::filesystem::exists(folder / "bad.png"));
  BOOST_CHECK_THROW(datasets::write_image(folder / "nowhere/a.png", grey), catena::IOError);
}

// The images that reports draw can be read back.
BOOST_AUTO_TEST_CASE(pictures_of_reports_are_images) {
  if (lacks(datasets::image_codecs().png, "PNG")) return;
  const TemporaryFolder folder("canvas");
  const auto canvas = training::internal::png_canvas(20, 10);
  canvas->line({0, 5}, {20, 5}, {255, 0, 10}, 2);
  write_file(folder / "a.png", canvas->file());
  const Array image = read_image(folder / "a.png");
  BOOST_REQUIRE(image.shape() == Shape({3, 15, 30}));
  const std::vector<double> v = values(image);
  BOOST_TEST(v[7 * 30 + 15] == 255);
  BOOST_TEST(v[(15 + 7) * 30 + 15] == 0);
  BOOST_TEST(v[(30 + 7) * 30 + 15] == 10);
  BOOST_TEST(v[0] == 255);
}

BOOST_AUTO_TEST_SUITE_END()
