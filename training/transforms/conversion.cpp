#include <catena/training/transforms/conversion.h>

#include <cmath>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/training/transforms/geometry.h>
#include <catena/training/transforms/images.h>

namespace training::transforms {

using autograd::Dtype;
using catena::check;
using catena::TypeError;
using catena::ValueError;
using internal::check_image;
using internal::Pixels;

namespace {

// The densities at the k pixels around the middle one, whose sum is 1.
std::vector<double> weights(std::int64_t k, std::optional<double> sigma) {
  const double middle = double(k - 1) / 2, width = sigma.value_or(0.3 * (middle - 1) + 0.8);
  std::vector<double> w;
  double sum = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const double x = (double(i) - middle) / width;
    w.push_back(std::exp(-0.5 * x * x));
    sum += w.back();
  }
  for (double& v : w) v /= sum;
  return w;
}

}  // namespace

Array gaussian_blur(const Array& image, nn::Pair kernel_size, std::optional<double> sigma) {
  check_image("gaussian_blur", image);
  const std::int64_t ky = kernel_size.y, kx = kernel_size.x;
  check<ValueError>(ky >= 1 && kx >= 1 && ky % 2 == 1 && kx % 2 == 1, "gaussian_blur", "the kernel has ", ky, " x ", kx,
                    " pixels; both lengths are odd");
  check<ValueError>(!sigma || *sigma > 0, "gaussian_blur", "sigma is ", sigma.value_or(0), " and must be positive");
  const std::int64_t h = image.shape(-2), w = image.shape(-1), height = h + ky - 1, width = w + kx - 1;
  check<ValueError>(ky / 2 < h && kx / 2 < w, "gaussian_blur", "an image of ", h, " x ", w,
                    " pixels is too small for a kernel of ", ky, " x ", kx);
  const int left = int(kx / 2), top = int(ky / 2);
  const Pixels padded(pad(image, {left, top, left, top}, 0, "reflect"));
  Pixels result(image);
  const std::vector<double> down = weights(ky, sigma), across = weights(kx, sigma);
  std::vector<double> of_rows(std::size_t(height * w));  // the sums along the rows of a plane
  for (std::int64_t plane = 0; plane < image.size() / (h * w); ++plane) {
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < w; ++x) {
        const float* const row = padded.v.data() + (plane * height + y) * width + x;
        double sum = 0;
        for (std::int64_t j = 0; j < kx; ++j) sum += across[std::size_t(j)] * double(row[j]);
        of_rows[std::size_t(y * w + x)] = sum;
      }
    for (std::int64_t y = 0; y < h; ++y)
      for (std::int64_t x = 0; x < w; ++x) {
        double sum = 0;
        for (std::int64_t i = 0; i < ky; ++i) sum += down[std::size_t(i)] * of_rows[std::size_t((y + i) * w + x)];
        result.v[std::size_t((plane * h + y) * w + x)] = float(sum);
      }
  }
  return result.array(image.shape(), Pixels::Rounding::nearest);
}

Array invert(const Array& image) {
  check_image("invert", image);
  if (catena::is_floating(image.dtype())) return 1.0 - image;
  Pixels p(image);
  for (float& v : p.v) v = 255 - v;
  return p.array(image.shape(), Pixels::Rounding::nearest);
}

Array convert_image_dtype(const Array& image, Dtype dtype) {
  if (dtype != Dtype::uint8) return to_float(image, dtype);
  check_image("convert_image_dtype", image);
  if (image.dtype() == Dtype::uint8) return image;
  std::vector<std::uint8_t> bytes;
  for (const float v : autograd::to_vector<float>(image))
    bytes.push_back(static_cast<std::uint8_t>(std::fmin(std::fmax(double(v), 0) * (256 - 1e-3), 255)));
  return autograd::from_host(bytes.data(), image.shape(), Dtype::uint8, image.device());
}

Array to_pil_image(const Array& image) {
  check_image("ToPILImage", image);
  check<ValueError>(image.ndim() == 3, "ToPILImage", "the shape of the image is ", image.shape(),
                    "; it has the axes channels, height and width");
  const Array picture = autograd::transpose(image, {1, 2, 0});
  if (image.dtype() == Dtype::uint8) return autograd::copy(picture);
  std::vector<std::uint8_t> bytes;
  for (const float v : autograd::to_vector<float>(picture))
    bytes.push_back(static_cast<std::uint8_t>(std::fmin(std::fmax(double(v) * 255, 0), 255)));
  return autograd::from_host(bytes.data(), picture.shape(), Dtype::uint8, image.device());
}

Array to_image(const Array& picture) {
  check<TypeError>(bool(picture), "ToImage", "the picture is a null array");
  check<ValueError>(picture.ndim() == 3, "ToImage", "the shape of the picture is ", picture.shape(),
                    "; it has the axes height, width and channels");
  return autograd::transpose(picture, {2, 0, 1});
}

GaussianBlur::GaussianBlur(nn::Pair kernel_size, Sigma sigma) : kernel_size_(kernel_size), sigma_(sigma) {
  check<ValueError>(sigma.low > 0 && sigma.low <= sigma.high, "GaussianBlur", "sigma has the limits ", sigma.low,
                    " and ", sigma.high, "; they are positive and ascending");
}

Array GaussianBlur::apply(const Array& image, Generator& g) const {
  return gaussian_blur(image, kernel_size_, internal::uniform(g, sigma_.low, sigma_.high));
}

}  // namespace training::transforms
