// The sort of long rows: its parts against std::stable_partition and std::sort, and rows made to be hard for it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/quicksort.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;

constexpr std::int64_t kGuard = 40;  // keys behind the output, which nothing writes

template <class Key> bool partitions_exactly(std::int64_t n, Key range, std::mt19937_64& random) {
  std::vector<Key> keys(static_cast<std::size_t>(n)), out(keys.size() + kGuard, Key(77));
  for (Key& k : keys) k = Key(random() % std::uint64_t(range)) - range / 2;
  const Key pivot = n == 0 ? Key(0) : keys[random() % keys.size()];
  const std::int64_t below = nd::cpu::sort_network(Key()).partition(keys.data(), n, pivot, out.data());
  const auto is_below = [&](Key k) { return k < pivot; };
  if (below != std::count_if(keys.begin(), keys.end(), is_below)) return false;
  if (!std::all_of(out.begin(), out.begin() + below, is_below)) return false;
  if (std::any_of(out.begin() + n, out.end(), [](Key k) { return k != 77; })) return false;
  out.resize(keys.size());
  std::sort(out.begin(), out.end());
  std::sort(keys.begin(), keys.end());
  return out == keys;
}

template <class Key> bool sorts(std::vector<Key> keys, int rounds) {
  std::vector<Key> expected = keys, spare(keys.size()), out(keys.size());
  std::sort(expected.begin(), expected.end());
  std::int64_t next = 0;  // parts come in order
  bool in_order = true;
  const auto store = [&](std::int64_t at, const Key* sorted, std::int64_t n) {
    in_order &= at == next;
    next += n;
    std::memcpy(out.data() + at, sorted, std::size_t(n) * sizeof(Key));
  };
  nd::cpu::Quicksort<Key, decltype(store)> sort(store);
  const auto n = std::int64_t(keys.size());
  if (rounds < 0) sort.run(keys.data(), spare.data(), n);
  else sort.run(keys.data(), spare.data(), n, rounds);
  return in_order && next == n && out == expected;
}

// Rows by name, of n numbers on [0, 2^31).
std::vector<std::pair<const char*, std::vector<double>>> hard_rows(std::int64_t n, std::mt19937_64& random) {
  const auto made = [n](auto f) {
    std::vector<double> row(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) row[std::size_t(i)] = double(f(i));
    return row;
  };
  return {{"random", made([&](auto) { return random() >> 33; })},
          {"ascending", made([](auto i) { return i; })},
          {"descending", made([n](auto i) { return n - i; })},
          {"constant", made([](auto) { return 5; })},
          {"one differs", made([n](auto i) { return i == n / 3; })},
          {"two values", made([&](auto) { return random() % 2; })},
          {"ten values", made([&](auto) { return random() % 10; })},
          {"organ pipe", made([n](auto i) { return std::min(i, n - i); })},
          {"sawtooth", made([](auto i) { return i % 64; })},
          {"powers", made([&](auto) { return std::exp2(double(random() % 31)); })},
          {"sorted, then random", made([&, n](auto i) { return i < n - 20 ? i : std::int64_t(random() % 4096); })}};
}

template <class E> bool before(E a, E b) {
  if constexpr (std::is_integral_v<E>) return a < b;
  else return double(a) < double(b) || (std::isnan(double(b)) && !std::isnan(double(a)));
}
template <class E> void compare_with_stable_sort(const char* name, const std::vector<double>& numbers, bool special) {
  std::vector<E> row;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    E v = std::is_integral_v<E> ? E(numbers[i]) : E(float(numbers[i] - 1000));
    if constexpr (!std::is_integral_v<E>)
      if (special && i % 7 == 0)
        v = i % 3 == 0 ? E(-0.0f) : i % 3 == 1 ? E(std::numeric_limits<float>::quiet_NaN()) : E(0.0f);
    row.push_back(v);
  }
  const auto n = std::int64_t(row.size());
  std::vector<std::int64_t> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](auto i, auto j) { return before(row[std::size_t(i)], row[std::size_t(j)]); });
  std::vector<E> sorted;
  for (auto i : order) sorted.push_back(row[std::size_t(i)]);
  const Array a = nd::array(row, {n}), values = nd::array(sorted, {n}), positions = nd::array(order, {n});
  const Array strided = nd::zeros({n, 3}, a.dtype());  // a column: elements that are not neighbours
  strided(nd::Slice(), 1) = a;
  for (const Array& view : {a, strided(nd::Slice(), 1)}) {
    BOOST_TEST(test::same_bits(nd::sort(view), values), name << ' ' << a.dtype() << ' ' << n);
    BOOST_TEST(test::same_bits(nd::argsort(view), positions), "argsort " << name << ' ' << a.dtype() << ' ' << n);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_sort)

BOOST_AUTO_TEST_CASE(partitions_of_every_length) {
  std::mt19937_64 random(1);
  for (std::int64_t n = 0; n < 200; ++n)
    for (int range : {1, 2, 5, 1000000}) {
      BOOST_TEST(partitions_exactly<std::int32_t>(n, range, random), "int32 " << n << ' ' << range);
      BOOST_TEST(partitions_exactly<std::int64_t>(n, range, random), "int64 " << n << ' ' << range);
    }
  BOOST_TEST(partitions_exactly<std::int64_t>(5003, std::int64_t(1) << 60, random));
}

BOOST_AUTO_TEST_CASE(keys_of_hard_rows_in_any_number_of_rounds) {
  std::mt19937_64 random(2);
  for (std::int64_t n : {0, 1, 511, 512, 513, 1024, 5000, 70001})
    for (const auto& [name, numbers] : hard_rows(n, random)) {
      std::vector<std::int32_t> narrow(numbers.begin(), numbers.end());
      std::vector<std::int64_t> wide(numbers.begin(), numbers.end());
      for (std::int64_t& k : wide) k = (k << 32) - (std::int64_t(1) << 61);
      if (n > 2) {
        narrow[1] = std::numeric_limits<std::int32_t>::min(), narrow[2] = std::numeric_limits<std::int32_t>::max();
        wide[1] = std::numeric_limits<std::int64_t>::min(), wide[2] = std::numeric_limits<std::int64_t>::max();
      }
      for (int rounds : {-1, 0, 1, 3}) {
        BOOST_TEST(sorts(narrow, rounds), name << ' ' << n << ' ' << rounds);
        BOOST_TEST(sorts(wide, rounds), name << ' ' << n << ' ' << rounds);
      }
    }
  // Every key at a bound of its type.
  for (std::int64_t bound : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    BOOST_TEST(sorts(std::vector<std::int64_t>(3000, bound), -1));
}

BOOST_AUTO_TEST_CASE(hard_rows_of_every_dtype) {
  std::mt19937_64 random(3);
  for (std::int64_t n : {2, 7, 8, 9, 40, 63, 64, 65, 125, 200, 256, 2047, 2048, 2049, 2600, 9001})
    for (const auto& [name, numbers] : hard_rows(n, random))
      for (bool special : {false, true}) {
        compare_with_stable_sort<float>(name, numbers, special);
        compare_with_stable_sort<double>(name, numbers, special);
        compare_with_stable_sort<catena::float16>(name, numbers, special);
        if (special) continue;
        compare_with_stable_sort<std::int32_t>(name, numbers, special);
        compare_with_stable_sort<std::uint32_t>(name, numbers, special);
        compare_with_stable_sort<std::int64_t>(name, numbers, special);
        compare_with_stable_sort<std::uint64_t>(name, numbers, special);
        compare_with_stable_sort<std::int16_t>(name, numbers, special);
        std::vector<double> bytes = numbers;
        for (double& v : bytes) v = double(std::int64_t(v) & 255);
        compare_with_stable_sort<std::uint8_t>(name, bytes, special);
        for (double& v : bytes) v -= 128;
        compare_with_stable_sort<std::int8_t>(name, bytes, special);
      }
}

// Any number of short rows, along either axis, with equal elements, zeros of both signs and NaN.
template <class E> void compare_short_rows(std::int64_t rows, std::int64_t n, std::mt19937_64& random) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const double special[] = {0.0, -0.0, nan, -nan, infinity, -infinity};
  std::vector<E> elements(std::size_t(rows * n));
  for (E& e : elements) {
    e = E(std::int64_t(random() % 9) - (std::is_unsigned_v<E> ? 0 : 4));
    if constexpr (std::is_integral_v<E>) e = random() % 4 == 0 ? E(random()) : e;
    else if (random() % 3 == 0) e = E(special[random() % std::size(special)]);
  }
  std::vector<std::int64_t> expected;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    const E* const row = elements.data() + r * n;
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return before(row[i], row[j]); });
    expected.insert(expected.end(), order.begin(), order.end());
  }
  const Array a = nd::array(elements, {rows, n}), positions = nd::array(expected, {rows, n});
  BOOST_TEST(test::same_bits(nd::argsort(a), positions), a.dtype() << ' ' << rows << " x " << n);
  const Array columns = a.T().copy();
  BOOST_TEST(test::same_bits(nd::argsort(columns, 0), positions.T()), a.dtype() << " columns " << rows << " x " << n);
}
BOOST_AUTO_TEST_CASE(positions_in_short_rows) {
  std::mt19937_64 random(5);
  for (std::int64_t n = 2; n <= 20; ++n)
    for (const std::int64_t rows : {1, 5, 8, 19, 700, 9001}) {
      compare_short_rows<double>(rows, n, random);
      compare_short_rows<std::int64_t>(rows, n, random);
      compare_short_rows<std::uint64_t>(rows, n, random);
      if (rows < 1000) compare_short_rows<float>(rows, n, random);
    }
}

// Rows of elements of two digits that differ in one of them alone, or in none, and rows read and written backwards.
BOOST_AUTO_TEST_CASE(positions_by_digits) {
  std::mt19937_64 random(4);
  for (const std::int64_t n : {2049, 5003})
    for (const int low : {0, 1, 255})
      for (const int high : {0, 1, 127}) {
        std::vector<double> numbers;
        for (std::int64_t i = 0; i < n; ++i)
          numbers.push_back(double(random() % std::uint64_t(low + 1)) +
                            256 * double(random() % std::uint64_t(high + 1)));
        compare_with_stable_sort<std::uint16_t>("two digits", numbers, false);
        compare_with_stable_sort<std::int16_t>("two digits", numbers, false);
        const Array a = nd::array(numbers).astype(nd::uint16), reversed = a(nd::Slice({}, {}, -1));
        BOOST_TEST(test::same_bits(nd::argsort(reversed), nd::argsort(reversed.copy())), "backwards " << low << high);
      }
}

BOOST_AUTO_TEST_SUITE_END()
