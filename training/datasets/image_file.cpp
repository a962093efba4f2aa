#include <catena/training/datasets/image_file.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>

namespace training::datasets {

using autograd::Dtype;
using catena::check;
using catena::ValueError;

namespace {

// Converts (H, W, C) to (C, H, W).
template <class T> Array planes_of(const catena::Image& image) {
  const auto pixels = static_cast<std::size_t>(image.height * image.width),
             channels = static_cast<std::size_t>(image.channels);
  std::vector<T> from(pixels * channels), to(pixels * channels);
  std::memcpy(from.data(), image.samples.data(), image.samples.size());
  for (std::size_t c = 0; c < channels; ++c)
    for (std::size_t i = 0; i < pixels; ++i) to[c * pixels + i] = from[i * channels + c];
  return autograd::from_host(to.data(), {image.channels, image.height, image.width}, catena::dtype_of<T>, Device{});
}

}  // namespace

Array internal::planes(const catena::Image& image) {
  return image.sample_bytes == 1 ? planes_of<std::uint8_t>(image) : planes_of<std::uint16_t>(image);
}

void internal::check_codecs(std::string_view op, const std::vector<std::string>& paths, ImageCodecs codecs) {
  using catena::ImageFormat;
  for (const std::string& path : paths) {
    const ImageFormat format = catena::image_format_of_name(path);
    if (format != ImageFormat::unknown) catena::check_codec(op, path, format, codecs);
    else if (!codecs.jpeg) catena::check_codec(op, path, ImageFormat::png, codecs);
  }
}

Array internal::decode_image(std::string_view op, const std::string& name, std::string_view file, Dtype dtype) {
  return autograd::astype(planes(catena::decode_image(op, name, file)), dtype);
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
  catena::Image pixels{height, width, 3, 1, {}};
  for (std::int64_t i = 0; i < height * width; ++i)
    for (std::int64_t c = 0; c < 3; ++c) {
      const double value = values[static_cast<std::size_t>((channels == 3 ? c : 0) * height * width + i)];
      pixels.samples.push_back(static_cast<std::uint8_t>(std::lround(std::fmin(std::fmax(value, 0), 255))));
    }
  return catena::encode_image(op, pixels, catena::ImageFormat::png);
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
  const Array grid = autograd::arrays::full({images.shape(1), rows * height + border, columns * width + border},
                                            options.fill, images.dtype(), images.device());
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
