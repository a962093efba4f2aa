// Reductions: against exact or wider arithmetic, for lengths around powers of two, and the same bits whichever axis is
// contiguous.
#include <cmath>

#include <boost/test/unit_test.hpp>

#include <catena/kernels/registry/kernel.h>
#include <catena/tests/kernels/kernel_calls.h>

BOOST_AUTO_TEST_SUITE(reduction)

using namespace test;  // NOLINT

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> v;
  for (int k = 1; k <= 9; ++k)
    for (int d = -1; d <= 1; ++d) v.push_back(std::size_t((1 << k) + d));
  for (std::size_t n : {1000u, 1023u, 1024u, 1025u, 3000u}) v.push_back(n);
  return v;
}

template <class T> std::vector<T> any_bits(std::size_t n, Noise& noise) {
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(noise.bits());
  return v;
}

template <class T, class Out> void check_integers() {
  Noise noise(2);
  const char in = char_of(dtype_of<T>), wide = char_of(dtype_of<Out>);
  const std::string sums = concat(in, "->", wide), own = concat(in, "->", in), index = concat(in, "->l");
  for (std::size_t n : lengths())
    for (std::int64_t step : {1, 3}) {
      const std::vector<T> all = any_bits<T>(n * std::size_t(step), noise);
      std::vector<T> x;
      for (std::size_t i = 0; i < all.size(); i += std::size_t(step)) x.push_back(all[i]);
      std::uint64_t sum = 0, product = 1, squares = 0;
      long double mean = 0;
      for (T v : x) {
        sum += static_cast<std::uint64_t>(v);
        product *= static_cast<std::uint64_t>(v);
        squares += static_cast<std::uint64_t>(v) * static_cast<std::uint64_t>(v);
        mean += static_cast<long double>(v) / static_cast<long double>(n);
      }
      BOOST_TEST_INFO(sums << " n " << n << " step " << step);
      BOOST_TEST_REQUIRE((reduce<Out>("sum", sums, all, step) == static_cast<Out>(sum)));
      BOOST_TEST_REQUIRE((reduce<Out>("prod", sums, all, step) == static_cast<Out>(product)));
      BOOST_TEST_REQUIRE((reduce<Out>("sum_squares", sums, all, step) == static_cast<Out>(squares)));
      const double magnitude = std::numeric_limits<T>::is_signed ? -double(std::numeric_limits<T>::min())
                                                                 : double(std::numeric_limits<T>::max());
      BOOST_TEST_REQUIRE(std::fabs(reduce<double>("mean", concat(in, "->d"), all, step) - double(mean)) <=
                         1e-14 * magnitude);
      const auto low = std::min_element(x.begin(), x.end()), high = std::max_element(x.begin(), x.end());
      BOOST_TEST_REQUIRE((reduce<T>("amin", own, all, step) == *low && reduce<T>("amax", own, all, step) == *high));
      BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmin", index, all, step) == low - x.begin()));
      BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmax", index, all, step) == high - x.begin()));
      const auto zeros = std::count(x.begin(), x.end(), T(0));
      BOOST_TEST_REQUIRE((reduce<std::int64_t>("count_nonzero", index, all, step) == std::int64_t(n) - zeros));
    }
}

BOOST_AUTO_TEST_CASE(integers_are_exact_modulo_two_to_the_64) {
  check_integers<std::int8_t, std::int64_t>();
  check_integers<std::uint8_t, std::uint64_t>();
  check_integers<std::int16_t, std::int64_t>();
  check_integers<std::uint16_t, std::uint64_t>();
  check_integers<std::int32_t, std::int64_t>();
  check_integers<std::uint32_t, std::uint64_t>();
  check_integers<std::int64_t, std::int64_t>();
  check_integers<std::uint64_t, std::uint64_t>();
}

template <class T> void check_floats() {
  Noise noise(4);
  const char c = char_of(dtype_of<T>);
  const std::string own = concat(c, "->", c), index = concat(c, "->l");
  const double eps = std::numeric_limits<T>::epsilon();
  for (std::size_t n : lengths()) {
    const std::vector<T> x = noise.vector<T>(n, 99, 101);  // a spread far smaller than the mean
    long double sum = 0, squares = 0, product = 1, m2 = 0;
    for (T v : x) sum += v, squares += static_cast<long double>(v) * v;
    for (T v : x) m2 += (v - sum / n) * (v - sum / n);
    std::vector<T> near_one(n);
    for (std::size_t i = 0; i < n; ++i) near_one[i] = x[i] / 100, product *= near_one[i];
    BOOST_TEST_INFO(own << " n " << n);
    BOOST_TEST_REQUIRE(std::fabs(reduce<T>("sum", own, x) / sum - 1) <= 10 * eps);
    BOOST_TEST_REQUIRE(std::fabs(reduce<T>("sum_squares", own, x) / squares - 1) <= 10 * eps);
    BOOST_TEST_REQUIRE(std::fabs(reduce<T>("mean", own, x) / (sum / n) - 1) <= 10 * eps);
    BOOST_TEST_REQUIRE(std::fabs(reduce<T>("prod", own, near_one) / product - 1) <= double(n) * eps);
    BOOST_TEST_REQUIRE(std::fabs(reduce<T>("var", own, x) - m2 / n) <= 100 * eps * 100);
    const auto low = std::min_element(x.begin(), x.end()), high = std::max_element(x.begin(), x.end());
    BOOST_TEST_REQUIRE((reduce<T>("amin", own, x) == *low && reduce<T>("amax", own, x) == *high));
    BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmin", index, x) == low - x.begin()));
    BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmax", index, x) == high - x.begin()));
  }
}

BOOST_AUTO_TEST_CASE(floats_are_near_the_exact_result) {
  check_floats<float>();
  check_floats<double>();
}

BOOST_AUTO_TEST_CASE(variance_does_not_cancel) {
  // 1e8 apart from 0, one apart from each other: the difference of sums of squares would be noise.
  std::vector<double> x;
  for (int i = 0; i < 1001; ++i) x.push_back(1e8 + i % 2);
  BOOST_TEST(std::fabs(reduce<double>("var", "d->d", x) - (500.0 / 1001) * (501.0 / 1001)) < 1e-8);
  BOOST_TEST(reduce<float>("var", "f->f", std::vector<float>(777, 1e25f)) == 0.f);
  BOOST_TEST(reduce<double>("var", "b->d", std::vector<std::int8_t>{1, 2, 3, 4}) == 1.25);
}

// Of zeros, +0 is the largest and -0 the smallest, wherever they stand.
template <class T> void check_zeros() {
  const char c = char_of(dtype_of<T>);
  const std::string own = concat(c, "->", c);
  Noise noise(19);
  const auto result = [&](const char* name, const std::vector<T>& x, std::int64_t step) {
    return reduce<T>(name, own, x, step);
  };
  for (std::size_t n : lengths())
    for (std::int64_t step : {1, 3})
      for (const double other : {-1.0, 1.0, 0.0, std::nan("")}) {
        std::vector<T> x(n * std::size_t(step));
        bool any[2] = {false, false};
        for (std::size_t i = 0; i < x.size(); ++i) {
          const unsigned r = unsigned(noise.bits() % 16);
          x[i] = r == 0 ? T(-0.0) : r == 1 ? T(0) : static_cast<T>(other);
          if (i % std::size_t(step) == 0 && x[i] == 0) any[std::signbit(x[i])] = true;
        }
        if (!any[0] && !any[1]) continue;
        const bool skips = std::isnan(other), above = other == 1, below = other == -1;
        BOOST_TEST_INFO(own << " n " << n << " step " << step << " beside " << other);
        if (!above)
          for (const char* name : {"amax", "nanmax"})
            if (!skips || name[0] == 'n')
              BOOST_TEST_REQUIRE((result(name, x, step) == 0 && std::signbit(result(name, x, step)) == !any[0]));
        if (!below)
          for (const char* name : {"amin", "nanmin"})
            if (!skips || name[0] == 'n')
              BOOST_TEST_REQUIRE((result(name, x, step) == 0 && std::signbit(result(name, x, step)) == any[1]));
      }
}
BOOST_AUTO_TEST_CASE(extrema_of_zeros_do_not_depend_on_their_order) {
  check_zeros<float>();
  check_zeros<double>();
}

BOOST_AUTO_TEST_CASE(extrema_propagate_nan_and_the_first_place_wins) {
  Noise noise(6);
  for (std::size_t n : lengths()) {
    std::vector<float> x = noise.vector<float>(n, -1, 1);
    const std::size_t first = noise.bits() % n, second = noise.bits() % n;
    x[first] = x[second] = 5;
    BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmax", "f->l", x) == std::int64_t(std::min(first, second))));
    x[first] = x[second] = -5;
    BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmin", "f->l", x) == std::int64_t(std::min(first, second))));
    x[first] = x[second] = std::nanf("");
    for (std::int64_t step : {1, 2}) {
      std::vector<float> spread;
      for (float v : x)
        for (std::int64_t k = 0; k < step; ++k) spread.push_back(v);
      BOOST_TEST_REQUIRE((std::isnan(reduce<float>("amax", "f->f", spread, step)) &&
                          std::isnan(reduce<float>("amin", "f->f", spread, step))));
      BOOST_TEST_REQUIRE(
          (reduce<std::int64_t>("argmax", "f->l", spread, step) == std::int64_t(std::min(first, second))));
      BOOST_TEST_REQUIRE(
          (reduce<std::int64_t>("argmin", "f->l", spread, step) == std::int64_t(std::min(first, second))));
    }
  }
  const float inf = HUGE_VALF;
  BOOST_TEST((reduce<std::int64_t>("argmax", "f->l", std::vector<float>(100, -inf)) == 0));
  BOOST_TEST((reduce<std::int64_t>("argmin", "f->l", std::vector<float>(100, inf)) == 0));
  BOOST_TEST((reduce<std::int64_t>("argmax", "f->l", std::vector<float>{-0.f, 0.f}) == 0));
  BOOST_TEST((reduce<std::int64_t>("argmin", "?->l", std::vector<unsigned char>{1, 1, 0, 1, 0}) == 2));
  // A place far beyond one block, and an accumulator that already holds an equal value.
  std::vector<std::int32_t> x(5000, 1);
  x[4321] = 2;
  BOOST_TEST((reduce<std::int64_t>("argmax", "i->l", x) == 4321));
}

// Few different values, so that extrema are met again in the same vector, block and chunk; arrays that begin anywhere.
template <class T> void check_first_places(std::vector<T> values) {
  Noise noise(7);
  const std::string index = concat(char_of(dtype_of<T>), "->l");
  for (std::size_t n : {1u, 31u, 63u, 64u, 65u, 255u, 257u, 1024u, 1025u, 4095u, 4096u, 4097u, 5000u, 9001u})
    for (std::size_t offset : {0u, 1u, 5u})
      for (std::size_t kinds : {std::size_t(1), std::size_t(2), values.size()}) {
        std::vector<T> x(n + offset);
        for (T& v : x) v = values[noise.bits() % kinds];
        if (noise.bits() % 2) x[offset + noise.bits() % n] = values.back();
        if (noise.bits() % 2) x[offset + noise.bits() % n] = values[values.size() / 2];
        x.erase(x.begin(), x.begin() + std::ptrdiff_t(offset));
        const auto low = std::min_element(x.begin(), x.end()), high = std::max_element(x.begin(), x.end());
        BOOST_TEST_INFO(index << " n " << n << " offset " << offset << " of " << kinds << " values");
        BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmin", index, x) == low - x.begin()));
        BOOST_TEST_REQUIRE((reduce<std::int64_t>("argmax", index, x) == high - x.begin()));
      }
}

BOOST_AUTO_TEST_CASE(the_first_of_equal_extrema_wins_anywhere) {
  const float inf = HUGE_VALF;
  check_first_places<float>({0.f, -0.f, 1.f, -inf, inf, -1.f, 3.f});
  check_first_places<float>({-inf, -inf, -1.f, inf});
  check_first_places<double>({-0.0, 0.0, -2.0, 5.0});
  check_first_places<std::int8_t>({0, -128, 127, 3});
  check_first_places<std::uint8_t>({0, 255, 128, 7});
  check_first_places<std::int16_t>({0, -32768, 32767});
  check_first_places<std::uint64_t>({0, 1, ~std::uint64_t(0)});
  for (std::size_t n : {500u, 4096u, 9001u})
    for (std::size_t at : {std::size_t(0), n / 3, n - 1}) {
      std::vector<unsigned char> bools(n, 0);
      bools[at] = bools[n - 1] = 1;
      BOOST_TEST((reduce<std::int64_t>("argmax", "?->l", bools) == std::int64_t(at)));
      for (unsigned char& b : bools) b = !b;
      BOOST_TEST((reduce<std::int64_t>("argmin", "?->l", bools) == std::int64_t(at)));
    }
}

BOOST_AUTO_TEST_CASE(the_first_nan_wins_anywhere) {
  Noise noise(8);
  for (std::size_t n : {65u, 1024u, 3000u, 9001u})
    for (std::size_t first : {std::size_t(0), std::size_t(1), n / 2, n - 2}) {
      std::vector<double> x = noise.vector<double>(n, -1, 1);
      x[0] = HUGE_VAL;
      x[1] = -HUGE_VAL;
      x[first] = x[n - 1] = std::nan("");
      BOOST_TEST((reduce<std::int64_t>("argmax", "d->l", x) == std::int64_t(first)),
                 n << " elements, NaN at " << first);
      BOOST_TEST((reduce<std::int64_t>("argmin", "d->l", x) == std::int64_t(first)),
                 n << " elements, NaN at " << first);
    }
}

BOOST_AUTO_TEST_CASE(logical_reductions) {
  for (std::size_t n : lengths()) {
    std::vector<double> zeros(n, 0.0), ones(n, -2.0);
    BOOST_TEST((!reduce<bool>("any", "d->?", zeros) && reduce<bool>("all", "d->?", ones)));
    zeros[n / 2] = std::nan("");
    ones[n - 1] = -0.0;
    BOOST_TEST((reduce<bool>("any", "d->?", zeros) && !reduce<bool>("all", "d->?", ones)));
    BOOST_TEST((reduce<std::int64_t>("count_nonzero", "d->l", zeros) == 1));
    BOOST_TEST((reduce<std::int64_t>("sum", "?->l", std::vector<unsigned char>(n, 1)) == std::int64_t(n)));
  }
}

// Values whose low bytes are 0, and the largest and smallest ones.
template <class T> void check_logical_integers() {
  const char c = char_of(dtype_of<T>);
  const T values[] = {T(T(1) << (8 * sizeof(T) - 1)), std::numeric_limits<T>::max(), T(-1), T(T(1) << (4 * sizeof(T)))};
  for (std::size_t n : {1u, 31u, 32u, 100u, 513u, 1024u})
    for (T v : values)
      for (std::int64_t step : {1, 2}) {
        std::vector<T> few(n * std::size_t(step), T(0)), many(n * std::size_t(step), v);
        few[n / 2 * std::size_t(step)] = v;
        many[n / 2 * std::size_t(step)] = T(0);
        BOOST_TEST_INFO(c << " n " << n << " step " << step << " value " << std::int64_t(v));
        BOOST_TEST_REQUIRE((reduce<bool>("any", concat(c, "->?"), few, step)));
        BOOST_TEST_REQUIRE((!reduce<bool>("all", concat(c, "->?"), many, step)));
        BOOST_TEST_REQUIRE((reduce<bool>("any", concat(c, "->?"), many, step) == (n > 1)));
        BOOST_TEST_REQUIRE((reduce<std::int64_t>("count_nonzero", concat(c, "->l"), few, step) == 1));
        BOOST_TEST_REQUIRE(
            (reduce<std::int64_t>("count_nonzero", concat(c, "->l"), many, step) == std::int64_t(n) - 1));
      }
}

BOOST_AUTO_TEST_CASE(logical_reductions_see_every_byte) {
  check_logical_integers<std::int8_t>(), check_logical_integers<std::uint8_t>();
  check_logical_integers<std::int16_t>(), check_logical_integers<std::uint16_t>();
  check_logical_integers<std::int32_t>(), check_logical_integers<std::uint32_t>();
  check_logical_integers<std::int64_t>(), check_logical_integers<std::uint64_t>();
}

BOOST_AUTO_TEST_CASE(empty_input_gives_the_identity_or_nan) {
  const std::vector<float> none;
  BOOST_TEST(reduce<float>("sum", "f->f", none) == 0);
  BOOST_TEST(reduce<float>("prod", "f->f", none) == 1);
  BOOST_TEST(reduce<bool>("all", "f->?", none));
  BOOST_TEST(!reduce<bool>("any", "f->?", none));
  BOOST_TEST(std::isnan(reduce<float>("mean", "f->f", none)));
  for (const char* name : {"sum", "prod", "sum_squares", "all", "any", "count_nonzero"})
    BOOST_TEST(find_kernel(name).has_identity);
  for (const char* name : {"amax", "amin", "argmax", "argmin", "mean", "var"})
    BOOST_TEST(!find_kernel(name).has_identity);
}

// ---- the order of combination -------------------------------------------------------------------
// Column by column with `reduce`, against row by row with `accumulate` into lane i % lanes, whose groups are combined,
// and the tree over the lanes.
void check_order(const KernelDef& def, const Loop& loop, Noise& noise) {
  const ReductionLoop& r = *loop.reduction;
  const Dtype in = compute_dtype(loop.type[0]), out = compute_dtype(loop.type[1]);
  const auto in_size = std::int64_t(itemsize(in)), out_size = std::int64_t(itemsize(out));
  constexpr std::int64_t rows = 1203, columns = 13;
  std::vector<std::byte> x(std::size_t(rows * columns * in_size)), by_column(std::size_t(columns * out_size)),
      by_row = by_column;
  visit_dtype(in, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t i = 0; i < rows * columns; ++i)
      reinterpret_cast<T*>(x.data())[i] = convert<T>(noise.uniform(0.5, 1.9));
  });
  const auto acc_size = std::int64_t(r.acc_bytes);
  Aligned column(r.acc_bytes * columns), lanes(std::size_t(acc_size * columns * r.lanes)),
      ended(std::size_t(acc_size * columns * r.lanes));
  r.init(column.get(), columns);
  for (std::int64_t j = 0; j < columns; ++j)
    r.reduce(column.get() + j * acc_size, x.data() + j * in_size, columns * in_size, 0, rows);
  r.finish(column.get(), rows, by_column.data(), out_size, columns);

  Aligned total(r.acc_bytes * columns);
  r.init(total.get(), columns);
  r.init(lanes.get(), columns * r.lanes);
  r.init(ended.get(), columns * r.lanes);
  for (std::int64_t i = 0; i < rows; ++i) {
    if (i > 0 && i % r.lanes == 0 && i / r.lanes % r.group == 0) {
      r.combine(ended.get(), lanes.get(), columns * r.lanes);
      r.init(lanes.get(), columns * r.lanes);
    }
    r.accumulate(lanes.get() + i % r.lanes * columns * acc_size, x.data() + i * columns * in_size, in_size, i, columns);
  }
  r.combine(ended.get(), lanes.get(), columns * r.lanes);
  std::memcpy(lanes.get(), ended.get(), std::size_t(acc_size * columns * r.lanes));
  for (int width = r.lanes / 2; width > 0; width /= 2)
    r.combine(lanes.get(), lanes.get() + width * columns * acc_size, width * columns);
  r.combine(total.get(), lanes.get(), columns);
  r.finish(total.get(), rows, by_row.data(), out_size, columns);
  BOOST_TEST((by_column == by_row), def.name << ' ' << signature(def, loop));
}

BOOST_AUTO_TEST_CASE(both_ways_through_an_array_give_the_same_bits) {
  Noise noise(9);
  for (const KernelDef& def : all_kernels())
    if (def.kind == KernelKind::reduction)
      for (const Loop& loop : def.loops()) check_order(def, loop, noise);
}

BOOST_AUTO_TEST_SUITE_END()
