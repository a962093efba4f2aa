#include <catena/ndarray/testing/data.h>

#include <random>
#include <vector>

#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/math.h>

namespace nd::testing {
namespace {

Array numbers(const Array& line, const Shape& shape, Dtype dtype) {
  const Array a = dtype == bool_ ? line % 2 == 0 : line.astype(dtype);
  return a.reshape(shape);
}

}  // namespace

Array shaped_arange(const Shape& shape, Dtype dtype) {
  return numbers(arange(1, catena::checked_size(shape) + 1), shape, dtype);
}

Array shaped_reverse_arange(const Shape& shape, Dtype dtype) {
  return numbers(arange(catena::checked_size(shape), 0, -1), shape, dtype);
}

Array shaped_random(const Shape& shape, Dtype dtype, double scale, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(static_cast<std::size_t>(catena::checked_size(shape)));
  for (double& v : values) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    v = dtype == bool_ ? static_cast<double>(unit < 0.5) : unit * scale;
  }
  return array(values, shape, dtype);
}

}  // namespace nd::testing
