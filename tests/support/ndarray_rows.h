// For tests of scans, sorts and nonzero: the rows of an array along one axis for reference computations, and arrays
// with many equal elements.
#pragma once

#include <vector>

#include <catena/tests/support/ndarray_values.h>

namespace test {

// Returns the C-order position of every element of every row along `axis`.
inline std::vector<std::vector<std::size_t>> rows_along(const nd::Shape& shape, int axis) {
  std::vector<std::vector<std::size_t>> rows;
  std::size_t inner = 1, outer = 1;
  for (int i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : std::size_t(shape[i]);
  const auto n = std::size_t(shape[axis]);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      rows.emplace_back();
      for (std::size_t k = 0; k < n; ++k) rows.back().push_back((o * n + k) * inner + i);
    }
  return rows;
}

// Calls f(dtype, shape) for all pairs; on the software CUDA device (see Turns), for a subset that includes every dtype
// and every shape at least once.
template <class F> void for_dtypes_and_shapes(const std::vector<nd::Shape>& shapes, F&& f) {
  const std::size_t dtypes = std::size(kAllDtypes), most = std::max(dtypes, shapes.size());
  std::vector<bool> in_turn(dtypes * shapes.size());
  for (std::size_t i = 0; i < most; ++i) in_turn[(i % dtypes) * shapes.size() + i % shapes.size()] = true;
  Turns turns("pairs of dtype and shape");
  for (std::size_t t = 0; t < dtypes; ++t)
    for (std::size_t s = 0; s < shapes.size(); ++s)
      if (turns.count(in_turn[t * shapes.size() + s])) f(kAllDtypes[t], shapes[s]);
}

// Returns few distinct values, so that many are equal: extreme ones, and for floats NaN, infinities and zeros of both
// signs.
inline nd::Array crowded_array(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  return nd::visit_real_dtype("crowded_array", dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    std::vector<E> pool;
    if constexpr (std::is_same_v<E, bool>) {
      pool = {false, true};
    } else if constexpr (std::is_integral_v<E>) {
      pool = {std::numeric_limits<E>::min(), std::numeric_limits<E>::max(), E(0), E(1), E(-1), E(3), E(100), E(-100)};
      for (int i = 0; i < 12; ++i) pool.push_back(E((std::uint64_t(random()) << 32) | random()));
    } else {
      const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
      for (float v : {0.0f, -0.0f, inf, -inf, nan, -nan, 1.0f, -1.0f, 1e-7f, -1e-7f, 3.5f, -3.5f, 60000.0f})
        pool.push_back(E(v));
      for (int i = 0; i < 12; ++i) pool.push_back(E(float(int(random() % 2001) - 1000) / 8.0f));
    }
    std::vector<E> values;
    for (std::int64_t i = 0; i < catena::size_of(shape); ++i) values.push_back(pool[random() % pool.size()]);
    return nd::array(values, shape);
  });
}

}  // namespace test
