#include <catena/training/datasets/image_file.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/png.h>

namespace training::datasets {

using autograd::Dtype;
using catena::check;
using catena::ValueError;

namespace internal {

void allocate_samples(const std::string& context, DecodedImage& image, std::size_t file_bytes, int depth) {
  // Limits: deflate expands by at most 1032; a block of 64 samples needs at least two bits of a JPEG file.
  constexpr std::uint64_t kAlwaysAllowed = std::uint64_t(16) << 20, kMaxRatio = 1100;
  const std::uint64_t packed = std::max<std::uint64_t>(kAlwaysAllowed, kMaxRatio * file_bytes);
  // Samples below 8 bits are packed in the file, and have one byte each here.
  const std::uint64_t limit = depth < 8 ? packed * 8 / static_cast<std::uint64_t>(depth) : packed;
  check<ValueError>(image.height > 0 && image.width > 0 && image.channels > 0, context, "the image has no pixels");
  // Each factor is below 2^32, so the product of two is below 2^64.
  const std::uint64_t row =
      static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.channels * image.sample_bytes);
  check<ValueError>(row <= limit && static_cast<std::uint64_t>(image.height) <= limit / row, context,
                    "the file claims ", image.width, " x ", image.height, " pixels of ", image.channels,
                    " channels, more than the ", limit, " bytes that a file of its size may hold");
  image.samples.resize(static_cast<std::size_t>(row * static_cast<std::uint64_t>(image.height)));
}

namespace {

std::string extension_of(const std::string& path) {
  return catena::lower_case(std::filesystem::path(path).extension().string());
}

[[noreturn]] void fail_codec(std::string_view op, const std::string& path, const char* format, const char* library,
                             const char* package) {
  catena::fail<catena::RuntimeError>(op, "this build cannot read \"", path, "\": it has no ", format, ", because ",
                                     library, " was not found when it was configured. Install it (Debian: ", package,
                                     ") and configure again");
}
[[noreturn]] void fail_png(std::string_view op, const std::string& path) {
  fail_codec(op, path, "PNG", "libpng", "libpng-dev");
}
[[noreturn]] void fail_jpeg(std::string_view op, const std::string& path) {
  fail_codec(op, path, "JPEG", "libjpeg", "libjpeg-dev");
}

// Converts (H, W, C) to (C, H, W).
template <class T> Array planes(const DecodedImage& image) {
  const auto pixels = static_cast<std::size_t>(image.height * image.width),
             channels = static_cast<std::size_t>(image.channels);
  std::vector<T> from(pixels * channels), to(pixels * channels);
  std::memcpy(from.data(), image.samples.data(), image.samples.size());
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i) to[c * pixels + i] = from[i * channels + c];
  return autograd::from_host(to.data(), {image.channels, image.height, image.width}, catena::dtype_of<T>, Device{});
}

}  // namespace

void check_codecs(std::string_view op, const std::vector<std::string>& paths, ImageCodecs codecs) {
  for (const std::string& path : paths) {
    const std::string extension = extension_of(path);
    const bool jpeg = extension == ".jpg" || extension == ".jpeg";
    if (jpeg ? !codecs.jpeg : extension == ".png" ? !codecs.png : !codecs.png && !codecs.jpeg) {
      if (jpeg) fail_jpeg(op, path);
      else fail_png(op, path);
    }
  }
}

}  // namespace internal

ImageCodecs image_codecs() noexcept {
#ifdef CATENA_HAS_PNG
  constexpr bool png = true;
#else
  constexpr bool png = false;
#endif
#ifdef CATENA_HAS_JPEG
  constexpr bool jpeg = true;
#else
  constexpr bool jpeg = false;
#endif
  return {png, jpeg};
}

Array internal::decode_image(std::string_view op, const std::string& name, std::string_view file, Dtype dtype) {
  const std::string context = catena::io_context(op, name);
  const bool png = file.starts_with("\x89PNG\r\n\x1a\n"), jpeg = file.starts_with("\xff\xd8\xff");
  check<ValueError>(png || jpeg, context, "it is neither a PNG nor a JPEG file");
  if (png && !image_codecs().png) fail_png(op, name);
  if (jpeg && !image_codecs().jpeg) fail_jpeg(op, name);
  const DecodedImage image = png ? decode_png(context, file) : decode_jpeg(context, file);
  const Array samples = image.sample_bytes == 1 ? planes<std::uint8_t>(image) : planes<std::uint16_t>(image);
  return autograd::astype(samples, dtype);
}

Array read_image(const std::string& path, Dtype dtype) {
  constexpr const char* op = "read_image";
  return internal::decode_image(op, path, catena::read_file(op, path), dtype);
}

std::string internal::encode_png(std::string_view op, const Array& image) {
  const std::int64_t ndim = image.ndim();
  const std::int64_t channels = ndim == 3 ? image.shape()[0] : 1;
  check<ValueError>((ndim == 2 || ndim == 3) && (channels == 1 || channels == 3), op, "an image has the shape (H, W), ",
                    "(1, H, W) or (3, H, W), not ", image.shape());
  check<ValueError>(image.size() > 0, op, "the image of shape ", image.shape(), " has no pixels");
  check<catena::TypeError>(!catena::is_complex_dtype(image.dtype()), op, "pixels are real, not ", image.dtype());
  const std::int64_t height = image.shape()[ndim - 2], width = image.shape()[ndim - 1];
  const std::vector<double> values = autograd::to_vector<double>(image);
  std::string rows;  // each row begins with the number of its filter: none
  for (std::int64_t y = 0; y < height; ++y) {
    rows += '\0';
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const double value = values[static_cast<std::size_t>(((channels == 3 ? c : 0) * height + y) * width + x)];
        rows += static_cast<char>(static_cast<std::uint8_t>(std::lround(std::fmin(std::fmax(value, 0), 255))));
      }
  }
  return catena::png_file(width, height, rows, 6);
}

Array image_grid(const Array& images, const GridOptions& options) {
  constexpr const char* op = "image_grid";
  check<ValueError>(bool(images) && images.ndim() == 4 && images.size() > 0, op,
                    "images have the axes (N, C, H, W), none ", "of them empty",
                    bool(images) ? catena::concat(", not the shape ", images.shape()) : std::string());
  const std::int64_t n = images.shape(0), border = options.padding;
  check<ValueError>(options.columns >= 1 && border >= 0, op, options.columns, " columns and a padding of ", border,
                    " pixels make no grid");
  const std::int64_t columns = std::min(n, options.columns), rows = (n + columns - 1) / columns;
  const std::int64_t height = images.shape(2) + border, width = images.shape(3) + border;
  const Array grid = autograd::full({images.shape(1), rows * height + border, columns * width + border}, options.fill,
                                    images.dtype(), images.device());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t top = i / columns * height + border, left = i % columns * width + border;
    const Array part =
        autograd::slice(autograd::slice(grid, 1, top, top + height - border), 2, left, left + width - border);
    autograd::assign(part, autograd::squeeze(autograd::slice(images, 0, i, i + 1), {0}));
  }
  return grid;
}

void write_image(const std::string& path, const Array& image) {
  constexpr const char* op = "write_image";
  catena::write_file_atomically(op, path, internal::encode_png(op, image));
}

}  // namespace training::datasets
