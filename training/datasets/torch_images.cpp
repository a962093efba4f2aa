#include <catena/training/datasets/torch_images.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>

namespace training {

using autograd::Dtype;
using catena::check;
using catena::Image;
using catena::ImageFormat;
using catena::ValueError;

namespace io {
namespace {

using Samples = std::vector<std::uint8_t>;

std::string text_of(const char* op, const Array& bytes) {
  check<ValueError>(bool(bytes) && bytes.ndim() == 1 && bytes.dtype() == Dtype::uint8, op,
                    "the bytes of a file are an array (n) of uint8");
  const Samples all = autograd::to_vector<std::uint8_t>(bytes);
  return std::string(all.begin(), all.end());
}
Array bytes_of(const std::string& text) {
  return autograd::from_host(text.data(), {std::int64_t(text.size())}, Dtype::uint8, Device{});
}

// The values of channel `to` of a pixel in a mode of `channels` channels. The weights of grey levels are those of
// libpng and libjpeg.
std::uint8_t channel(const std::uint8_t* pixel, std::int64_t has, std::int64_t channels, std::int64_t to) {
  const bool is_colour = has >= 3, wants_colour = channels >= 3;
  if (to == (wants_colour ? 3 : 1)) return has == 2 ? pixel[1] : has == 4 ? pixel[3] : 255;
  if (is_colour == wants_colour) return pixel[to];
  if (!is_colour) return pixel[0];
  return std::uint8_t(std::lround(0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]));
}
std::int64_t channels_of(ImageReadMode mode, std::int64_t given) {
  return mode == ImageReadMode::UNCHANGED ? given : std::int64_t(mode);
}

Array decoded(const char* op, const std::string& name, std::string_view file, ImageReadMode mode) {
  const Image image = catena::decode_image(op, name, file);
  check<ValueError>(mode == ImageReadMode::UNCHANGED || !image.has_other_colours, op, name,
                    " has a palette, or cyan, magenta, yellow and black, which are not converted: the mode must be "
                    "UNCHANGED");
  const std::int64_t pixels = image.height * image.width, has = image.channels, channels = channels_of(mode, has);
  // The upper bytes of samples of 16 bits, which are in native order.
  Samples samples(std::size_t(pixels * has));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (image.sample_bytes == 1) {
      samples[i] = image.samples[i];
    } else {
      std::uint16_t wide;
      std::copy_n(image.samples.data() + 2 * i, 2, reinterpret_cast<std::uint8_t*>(&wide));
      samples[i] = std::uint8_t(wide >> 8);
    }
  }
  Image converted{image.height, image.width, channels, 1, {}};
  converted.samples.reserve(std::size_t(pixels * channels));
  for (std::int64_t i = 0; i < pixels; ++i)
    for (std::int64_t c = 0; c < channels; ++c)
      converted.samples.push_back(channel(&samples[std::size_t(i * has)], has, channels, c));
  return datasets::internal::planes(converted);
}

}  // namespace

// The file of an image.
static std::string encoded(const char* op, const Array& image, ImageFormat format, const catena::EncodeOptions& o) {
  check<ValueError>(bool(image) && image.ndim() == 3 && (image.shape(0) == 1 || image.shape(0) == 3) &&
                        image.size() > 0 && image.dtype() == Dtype::uint8,
                    op, "an image is uint8 and has the shape (1, H, W) or (3, H, W)",
                    bool(image) ? catena::concat(", not ", image.dtype(), " ", image.shape()) : std::string());
  if (format == ImageFormat::jpeg) catena::check_codec(op, "a.jpg", format, catena::image_codecs(), "write");
  const Samples planes = autograd::to_vector<std::uint8_t>(image);
  const std::int64_t channels = image.shape(0), pixels = image.shape(1) * image.shape(2);
  Image out{image.shape(1), image.shape(2), channels, 1, Samples(planes.size())};
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < pixels; ++i)
      out.samples[std::size_t(i * channels + c)] = planes[std::size_t(c * pixels + i)];
  return catena::encode_image(op, out, format, o);
}

Array read_file(const std::string& path) { return bytes_of(catena::read_file("read_file", path)); }
void write_file(const std::string& filename, const ExampleValue& data) {
  catena::write_file_atomically("write_file", filename, text_of("write_file", data.array()));
}

Array decode_image(const ExampleValue& input, ImageReadMode mode) {
  return decoded("decode_image", "the array", text_of("decode_image", input.array()), mode);
}
Array read_image(const std::string& path, ImageReadMode mode) {
  return decoded("read_image", path, catena::read_file("read_image", path), mode);
}

Array encode_png(const ExampleValue& input, int compression_level) {
  return bytes_of(encoded("encode_png", input.array(), ImageFormat::png, {.level = compression_level}));
}
Array encode_jpeg(const ExampleValue& input, int quality) {
  return bytes_of(encoded("encode_jpeg", input.array(), ImageFormat::jpeg, {.quality = quality}));
}
void write_png(const ExampleValue& input, const std::string& filename, int compression_level) {
  constexpr const char* op = "write_png";
  catena::write_file_atomically(op, filename,
                                encoded(op, input.array(), ImageFormat::png, {.level = compression_level}));
}
void write_jpeg(const ExampleValue& input, const std::string& filename, int quality) {
  constexpr const char* op = "write_jpeg";
  catena::write_file_atomically(op, filename, encoded(op, input.array(), ImageFormat::jpeg, {.quality = quality}));
}

}  // namespace io

namespace utils {
namespace {

// Images (N, C, H, W) with at least three channels.
Array stacked(const char* op, Array a) {
  check<ValueError>(bool(a) && a.ndim() >= 2 && a.ndim() <= 4 && a.size() > 0, op,
                    "images have the axes (N, C, H, W), ", "(C, H, W) or (H, W), none of them empty",
                    bool(a) ? catena::concat(", not the shape ", a.shape()) : std::string());
  const std::int64_t height = a.shape(a.ndim() - 2), width = a.shape(a.ndim() - 1);
  const std::int64_t channels = a.ndim() > 2 ? a.shape(a.ndim() - 3) : 1, n = a.ndim() == 4 ? a.shape(0) : 1;
  a = autograd::reshape(a, {n, channels, height, width});
  return channels == 1 ? autograd::copy(autograd::broadcast_to(a, {n, 3, height, width})) : a;
}

Array clipped(const Array& a, double low, double high) {
  namespace kernels = catena::kernels;
  return autograd::apply(kernels::minimum, {autograd::apply(kernels::maximum, {a, low}), high});
}
// The values brought from a range to 0..1.
Array within(const Array& a, double low, double high) {
  check<ValueError>(low <= high, "make_grid", "the range from ", low, " to ", high, " is empty");
  return (clipped(a, low, high) - low) / std::max(high - low, 1e-5);
}
Array normalized(const Array& a, const MakeGridOptions& o) {
  if (o.value_range) return within(a, o.value_range->first, o.value_range->second);
  const std::vector<double> values = autograd::to_vector<double>(a);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return within(a, *low, *high);
}

std::vector<Array> arrays_of(const std::vector<ExampleValue>& tensors) {
  std::vector<Array> arrays;
  for (const ExampleValue& t : tensors) arrays.push_back(t.array());
  return arrays;
}
Array one_array(const std::vector<ExampleValue>& tensors) {
  const std::vector<Array> arrays = arrays_of(tensors);
  return concat_examples(Examples(arrays.begin(), arrays.end())).values.at(0);
}

}  // namespace

Array make_grid(const ExampleValue& tensor, const MakeGridOptions& o) {
  Array images = stacked("make_grid", tensor.array());
  if (o.normalize && o.scale_each) {
    std::vector<Array> parts;
    for (std::int64_t i = 0; i < images.shape(0); ++i)
      parts.push_back(normalized(autograd::slice(images, 0, i, i + 1), o));
    images = autograd::concatenate(parts, 0);
  } else if (o.normalize) {
    images = normalized(images, o);
  }
  if (images.shape(0) == 1) return autograd::squeeze(images, {0});
  return datasets::image_grid(images, {.columns = o.nrow, .padding = o.padding, .fill = o.pad_value});
}
Array make_grid(const std::vector<ExampleValue>& tensors, const MakeGridOptions& options) {
  return make_grid(one_array(tensors), options);
}

void save_image(const ExampleValue& tensor, const std::string& fp, const MakeGridOptions& options) {
  constexpr const char* op = "save_image";
  const ImageFormat format = catena::image_format_of_name(fp);
  check<ValueError>(format == ImageFormat::png || format == ImageFormat::jpeg, op, "the extension of \"", fp,
                    "\" is not .png, .jpg or .jpeg");
  const Array levels = clipped(make_grid(tensor, options) * 255 + 0.5, 0, 255);
  catena::write_file_atomically(op, fp,
                                io::encoded(op, autograd::astype(levels, Dtype::uint8), format, {.quality = 75}));
}
void save_image(const std::vector<ExampleValue>& tensors, const std::string& fp, const MakeGridOptions& options) {
  save_image(one_array(tensors), fp, options);
}

}  // namespace utils
}  // namespace training
