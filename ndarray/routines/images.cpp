#include <catena/ndarray/routines/images.h>

#include <cmath>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/image.h>
#include <catena/ndarray/cuda/vendor/nvjpeg.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>

namespace nd {

using catena::check;
using catena::Image;
using catena::ImageFormat;

namespace {

Array new_image(std::string_view op, std::int64_t height, std::int64_t width, std::int64_t channels, Dtype dtype,
                Device device) {
  const Shape shape = channels == 1 ? Shape({height, width}) : Shape({height, width, channels});
  return internal::empty_in_order(shape, dtype, device, Order::C, op);
}

Array decode(std::string_view op, std::string_view name, std::string_view file, const ImreadOptions& options) {
  const Device device = options.device ? *options.device : current_device();
  if (device.kind == Device::Kind::cuda && catena::image_format(file) == ImageFormat::jpeg)
    if (const std::optional<cuda::JpegSize> size = cuda::nvjpeg_size(file, device)) {
      // The size is checked before memory is allocated, as on the CPU.
      catena::check_image_size(op, name, {size->height, size->width, size->channels, 1, {}}, file.size());
      const Array image = new_image(op, size->height, size->width, size->channels, uint8, device);
      if (cuda::decode_by_nvjpeg(file, *image.get())) return image;
    }
  const Image decoded = catena::decode_image(op, name, file);
  const Array image = new_image(op, decoded.height, decoded.width, decoded.channels,
                                decoded.sample_bytes == 1 ? uint8 : uint16, device);
  internal::from_host(image, decoded.samples.data());
  return image;
}

std::uint8_t level_of(double value) {
  return static_cast<std::uint8_t>(std::lround(std::fmin(std::fmax(value, 0), 255)));
}

Image samples_of(std::string_view op, const Array& a) {
  const std::int64_t ndim = a.ndim();
  check<ValueError>((ndim == 2 || (ndim == 3 && a.shape(2) >= 1 && a.shape(2) <= 4)) && a.size() > 0, op,
                    "an image has the shape (H, W) or (H, W, C) with 1 to 4 channels and no empty axis, not ",
                    a.shape(), ndim == 3 && a.shape(0) <= 4 ? ": transpose({1, 2, 0}) brings the channels behind" : "");
  check<TypeError>(!catena::is_complex_dtype(a.dtype()), op, "pixels are real, not ", a.dtype());
  const bool wide = a.dtype() == uint16;
  Image image{a.shape(0), a.shape(1), ndim == 2 ? 1 : a.shape(2), wide ? 2 : 1, {}};
  image.samples.resize(static_cast<std::size_t>(a.size()) * (wide ? 2 : 1));
  if (wide || a.dtype() == uint8) {
    internal::to_host(a, image.samples.data());
  } else {
    const double factor = a.dtype() == Dtype::bool_ ? 255 : 1;
    const std::vector<double> values = a.astype(float64).to_vector<double>();
    for (std::size_t i = 0; i < values.size(); ++i) image.samples[i] = level_of(factor * values[i]);
  }
  return image;
}

std::string encode(std::string_view op, std::string_view name, const Array& a, const ImwriteOptions& options) {
  const ImageFormat format = catena::image_format_of_name(name);
  check<ValueError>(format != ImageFormat::unknown, op, "the extension of \"", name,
                    "\" names no format: .png, .jpg, .jpeg, .pgm, .ppm and .pnm do");
  if (format == ImageFormat::jpeg) catena::check_codec(op, name, format, catena::image_codecs(), "write");
  return catena::encode_image(op, samples_of(op, a), format, {.quality = options.quality, .level = options.level});
}

}  // namespace

Array imread(const std::string& path, const ImreadOptions& options) try {
  return decode("imread", path, catena::read_file("imread", path), options);
} catch (...) {
  internal::rethrow_out_of_memory("imread");
}

Array imdecode(std::string_view file, const ImreadOptions& options) try {
  return decode("imdecode", "bytes", file, options);
} catch (...) {
  internal::rethrow_out_of_memory("imdecode");
}

Array imdecode(std::span<const std::byte> file, const ImreadOptions& options) {
  return imdecode(std::string_view(reinterpret_cast<const char*>(file.data()), file.size()), options);
}

void imwrite(const std::string& path, const Array& image, const ImwriteOptions& options) try {
  catena::write_file_atomically("imwrite", path, encode("imwrite", path, image, options));
} catch (...) {
  internal::rethrow_out_of_memory("imwrite");
}

std::string imencode(std::string_view extension, const Array& image, const ImwriteOptions& options) try {
  return encode("imencode", extension, image, options);
} catch (...) {
  internal::rethrow_out_of_memory("imencode");
}

}  // namespace nd
