#include <catena/kernels/formats/image.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/png.h>

namespace catena {

namespace internal {

namespace {

// Returns the number of bytes of the samples.
std::size_t checked_size(const std::string& context, const Image& image, std::size_t file_bytes, int depth) {
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
  return static_cast<std::size_t>(row * static_cast<std::uint64_t>(image.height));
}

}  // namespace

void allocate_samples(const std::string& context, Image& image, std::size_t file_bytes, int depth) {
  image.samples.resize(checked_size(context, image, file_bytes, depth));
}

namespace {

// The rows of a file, `before_row` before each. Samples of two bytes have the upper one first in PNG and Netpbm files.
std::string file_rows(const Image& image, std::string_view before_row) {
  const auto row_bytes = image.samples.size() / static_cast<std::size_t>(image.height);
  std::string rows;
  rows.reserve(image.samples.size() + before_row.size() * static_cast<std::size_t>(image.height));
  for (std::size_t at = 0; at < image.samples.size(); at += row_bytes) {
    rows += before_row;
    rows.append(reinterpret_cast<const char*>(image.samples.data()) + at, row_bytes);
    if (image.sample_bytes == 2 && std::endian::native == std::endian::little)
      for (std::size_t i = rows.size() - row_bytes; i < rows.size(); i += 2) std::swap(rows[i], rows[i + 1]);
  }
  return rows;
}

}  // namespace

std::string encode_png(const Image& image, int level) {
  constexpr std::string_view kNoFilter("\0", 1);
  return png_file(image.width, image.height, file_rows(image, kNoFilter), level,
                  {.channels = static_cast<int>(image.channels), .bits = 8 * image.sample_bytes});
}

std::string encode_netpbm(const Image& image) {
  return catena::concat(image.channels == 1 ? "P5" : "P6", "\n", image.width, " ", image.height, "\n",
                        image.sample_bytes == 1 ? "255" : "65535", "\n") +
         file_rows(image, "");
}

namespace {

// Reads the numbers of a file's header, and samples that are written as text; skips comments.
struct NetpbmText {
  const std::string& context;
  std::string_view file;
  std::size_t at = 2;

  std::int64_t number() {
    while (at < file.size() && (is_space(file[at]) || file[at] == '#'))
      if (file[at++] == '#') at = std::min(file.find('\n', at), file.size());
    const std::size_t begin = at;
    std::int64_t value = 0;
    for (; at < file.size() && file[at] >= '0' && file[at] <= '9' && value < (std::int64_t(1) << 31); ++at)
      value = 10 * value + (file[at] - '0');
    check<ValueError>(at > begin || at < file.size(), context, "the file ends early");
    check<ValueError>(at > begin && value < (std::int64_t(1) << 31), context,
                      "a number below 2147483648 was expected at byte ", begin);
    return value;
  }
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
};

}  // namespace

Image decode_netpbm(const std::string& context, std::string_view file) {
  const bool as_text = file[1] == '2' || file[1] == '3';
  NetpbmText text{context, file};
  Image image;
  image.width = text.number();
  image.height = text.number();
  const std::int64_t most = text.number();
  check<ValueError>(most >= 1 && most <= 65535, context, "the largest value of a sample is 1 to 65535, not ", most);
  image.channels = file[1] == '2' || file[1] == '5' ? 1 : 3;
  image.sample_bytes = most > 255 ? 2 : 1;
  allocate_samples(context, image, file.size());
  const auto stored = static_cast<std::size_t>(image.sample_bytes);
  const std::size_t samples = image.samples.size() / stored;
  if (!as_text) {
    ++text.at;  // one white space
    check<ValueError>(text.at <= file.size() && file.size() - text.at >= samples * stored, context,
                      "the file ends early");
  }
  const std::int64_t largest = image.sample_bytes == 1 ? 255 : 65535;
  const auto byte = [&](std::size_t i) { return std::int64_t(static_cast<unsigned char>(file[i])); };
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t at = text.at + i * stored;
    const std::int64_t value = as_text ? text.number() : stored == 1 ? byte(at) : byte(at) << 8 | byte(at + 1);
    check<ValueError>(value <= most, context, "sample ", i, " is ", value, ", more than the largest value ", most);
    const auto scaled = static_cast<std::uint16_t>((value * largest + most / 2) / most);
    if (stored == 1) image.samples[i] = static_cast<std::uint8_t>(scaled);
    else std::memcpy(&image.samples[2 * i], &scaled, sizeof scaled);
  }
  return image;
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

ImageFormat image_format(std::string_view file) {
  if (file.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::png;
  if (file.starts_with("\xff\xd8\xff")) return ImageFormat::jpeg;
  const bool netpbm =
      file.size() > 2 && file[0] == 'P' && (file[1] == '2' || file[1] == '3' || file[1] == '5' || file[1] == '6');
  return netpbm ? ImageFormat::netpbm : ImageFormat::unknown;
}

ImageFormat image_format_of_name(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string extension = lower_case(std::string(dot == path.npos ? "" : path.substr(dot)));
  if (extension == ".png") return ImageFormat::png;
  if (extension == ".jpg" || extension == ".jpeg") return ImageFormat::jpeg;
  if (extension == ".pgm" || extension == ".ppm" || extension == ".pnm") return ImageFormat::netpbm;
  return ImageFormat::unknown;
}

void check_codec(std::string_view op, std::string_view name, ImageFormat format, ImageCodecs codecs, const char* verb) {
  const auto require = [&](bool there, const char* what, const char* library, const char* package) {
    check<RuntimeError>(there, op, "this build cannot ", verb, " \"", name, "\": it has no ", what, ", because ",
                        library, " was not found when it was configured. Install it (Debian: ", package,
                        ") and configure again");
  };
  if (format == ImageFormat::png) require(codecs.png, "PNG", "libpng", "libpng-dev");
  if (format == ImageFormat::jpeg) require(codecs.jpeg, "JPEG", "libjpeg", "libjpeg-dev");
}

Image decode_image(std::string_view op, std::string_view name, std::string_view file) {
  const std::string context = io_context(op, name);
  const ImageFormat format = image_format(file);
  check<ValueError>(format != ImageFormat::unknown, context, "it is neither a PNG nor a JPEG file, nor PGM or PPM");
  check_codec(op, name, format, image_codecs());
  if (format == ImageFormat::png) return internal::decode_png(context, file);
  if (format == ImageFormat::jpeg) return internal::decode_jpeg(context, file);
  return internal::decode_netpbm(context, file);
}

void check_image_size(std::string_view op, std::string_view name, const Image& image, std::size_t file_bytes) {
  internal::checked_size(io_context(op, name), image, file_bytes, 8);
}

std::string encode_image(std::string_view op, const Image& image, ImageFormat format, const EncodeOptions& options) {
  const bool png = format == ImageFormat::png, jpeg = format == ImageFormat::jpeg;
  check<ValueError>(image.height > 0 && image.width > 0, op, "an image of ", image.height, " x ", image.width,
                    " pixels cannot be stored");
  check<ValueError>(image.channels >= 1 && image.channels <= 4 && (png || image.channels % 2 == 1), op, "a ",
                    png    ? "PNG file has 1 to 4 channels"
                    : jpeg ? "JPEG file has 1 or 3 channels"
                           : "PGM or PPM file has 1 or 3 channels",
                    ", not ", image.channels);
  check<ValueError>(!jpeg || image.sample_bytes == 1, op, "samples of a JPEG file have 8 bits, not 16");
  check<ValueError>(options.quality >= 1 && options.quality <= 100, op, "the quality is 1 to 100, not ",
                    options.quality);
  check<ValueError>(options.level >= 0 && options.level <= 9, op, "the level of compression is 0 to 9, not ",
                    options.level);
  if (png) return internal::encode_png(image, options.level);
  if (jpeg) return internal::encode_jpeg(op, image, options.quality);
  return internal::encode_netpbm(image);
}

}  // namespace catena
