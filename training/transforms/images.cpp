#include <catena/training/transforms/images.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/base/error.h>
#include <catena/kernels/random_distributions.h>

namespace training::transforms::internal {

using autograd::Dtype;
using catena::check;

void check_image(std::string_view op, const Array& image) {
  check<catena::TypeError>(bool(image), op, "the image is a null array");
  check<catena::ValueError>(image.ndim() >= 3 && image.size() > 0, op, "an image has the axes (channels, height, ",
                            "width), none of them empty, not the shape ", image.shape());
  check<catena::TypeError>(image.dtype() == Dtype::uint8 || catena::is_floating(image.dtype()), op,
                           "an image is uint8 with values 0..255 or floating with values 0..1, not ", image.dtype());
}

void check_probability(std::string_view op, double p) {
  check<catena::ValueError>(p >= 0 && p <= 1, op, "p is ", p, "; a probability lies in 0..1");
}

Array rectangle(const Array& image, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
  return autograd::slice(autograd::slice(image, -2, top, top + height), -1, left, left + width);
}

Pixels::Pixels(const Array& given) : image(given), v(autograd::to_vector<float>(given)) {}

Array Pixels::array(const autograd::Shape& shape, Rounding rounding) const {
  if (!is_integer())
    return autograd::astype(autograd::from_host(v.data(), shape, Dtype::float32, image.device()), image.dtype());
  std::vector<std::uint8_t> bytes(v.size());
  std::transform(v.begin(), v.end(), bytes.begin(), [&](float x) {
    const float limited = std::fmin(std::fmax(x, 0.0F), 255.0F);
    return static_cast<std::uint8_t>(rounding == Rounding::nearest ? std::nearbyint(limited) : std::floor(limited));
  });
  return autograd::from_host(bytes.data(), shape, Dtype::uint8, image.device());
}

bool chance(Generator& g, double p) { return uniform(g, 0, 1) < p; }

double beta(Generator& g, double alpha, double beta) {
  const std::uint64_t offset = g.take(8);  // two sequences of numbers, which begin at different positions
  catena::philox_sequence first(g.seed, offset, 0), second(g.seed, offset, 1);
  const double a = catena::log_gamma_variate(first, alpha), b = catena::log_gamma_variate(second, beta);
  return 1 / (1 + std::exp(b - a));
}

}  // namespace training::transforms::internal
