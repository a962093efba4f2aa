// Additions of many values to few elements: the sums of every dtype, what lies beside the elements, and the number of
// atomic accesses that a GPU needs. Elements of one and two bytes share words with others; loops of compare-and-swaps
// on such a word take a time that grows with the square of the number of threads, so each warp does one per element.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;

constexpr Dtype kDtypes[] = {nd::bool_, nd::int8,   nd::uint8,   nd::int16,    nd::uint16,  nd::int32,   nd::uint32,
                             nd::int64, nd::uint64, nd::float16, nd::bfloat16, nd::float32, nd::float64, nd::complex64};
// Whether a GPU of the current device's capability has no addition of this dtype.
bool adds_by_words(Dtype t) {
  if (t == nd::bfloat16) return nd::properties(nd::current_device()).arch < 90;
  return catena::itemsize(t) < 4 && t != nd::float16;
}

Array of(const std::vector<double>& values, Dtype t) { return nd::array(values).astype(t); }

// Values whose sums are exact in every dtype, in any order: a few, or, for integers, whatever wraps.
std::vector<double> numbers(Dtype t, std::size_t n, std::mt19937& random) {
  const bool wraps = t == nd::int8 || t == nd::uint8 || t == nd::int16 || t == nd::uint16;
  std::vector<double> values(n);
  for (double& v : values)
    v = t == nd::bool_ ? double(random() % 40 == 0) : wraps ? double(random() % 100) : double(random() % 16 == 0);
  return values;
}

// The sum, rounded to dtype t.
double stored(double sum, Dtype t) {
  switch (t) {
    case nd::bool_: return sum != 0;
    case nd::int8: return double(std::int8_t(std::int64_t(sum)));
    case nd::uint8: return double(std::uint8_t(std::int64_t(sum)));
    case nd::int16: return double(std::int16_t(std::int64_t(sum)));
    case nd::uint16: return double(std::uint16_t(std::int64_t(sum)));
    default: return sum;
  }
}

BOOST_AUTO_TEST_SUITE(scatter_collisions)

BOOST_AUTO_TEST_CASE(sums_of_every_dtype) {
  std::mt19937 random(3);
  for (const Dtype t : kDtypes)
    for (const int targets : {1, 3, 50})
      for (const std::size_t n : {std::size_t(1), std::size_t(31), std::size_t(700), std::size_t(2048)})
        BOOST_TEST_CONTEXT(t << ", " << n << " values for " << targets << " elements") {
          std::vector<std::int64_t> at(n);
          for (std::int64_t& i : at) i = std::int64_t(random() % unsigned(targets));
          const std::vector<double> values = numbers(t, n, random);
          std::vector<double> expected(std::size_t(targets) + 2);
          for (std::size_t k = 0; k < n; ++k) expected[std::size_t(at[k]) + 1] += values[k];
          for (double& v : expected) v = stored(v, t);
          // The elements begin within a word, and those beside them stay.
          const Array all = nd::zeros({targets + 2}, t);
          const Array y = all(nd::Slice(1, targets + 1));
          nd::scatter_add(y, nd::array(at), of(values, t));
          BOOST_TEST((all.astype(nd::float64).to_vector<double>() == expected));
        }
}

// Bytes that are no element of the target: other data in the same words, which would be a NaN as a float16.
BOOST_AUTO_TEST_CASE(neighbours_keep_their_bits) {
  for (const Dtype t : {nd::float16, nd::bfloat16, nd::int16, nd::int8, nd::bool_}) BOOST_TEST_CONTEXT(t) {
      for (const std::uint16_t bits : {0x7c01, 0x7fff, 0xfd23, 0xff81, 0x8000, 0x0000, 0x0001}) {
        const Array words = nd::full({40}, bits, {.dtype = nd::uint16});
        const Array seen = words.view(catena::itemsize(t) == 1 ? nd::uint8 : nd::uint16);
        const int step = catena::itemsize(t) == 1 ? 3 : 2;
        const Array y = seen(nd::Slice(1, 21, step)).view(t);
        y.fill(0);
        std::vector<std::int64_t> at(100);
        for (std::size_t k = 0; k < at.size(); ++k) at[k] = std::int64_t(k % 5);
        nd::scatter_add(y, nd::array(at), nd::ones({100}, t));
        const std::vector<double> sums = y.astype(nd::float64).to_vector<double>();
        for (std::size_t k = 0; k < 5; ++k) BOOST_TEST(sums[k] == (t == nd::bool_ ? 1 : 20));
        seen(nd::Slice(1, 21, step)) = 0;
        const Array untouched = nd::full({40}, bits, {.dtype = nd::uint16});
        untouched.view(seen.dtype())(nd::Slice(1, 21, step)) = 0;
        BOOST_TEST((words.to_vector<std::uint16_t>() == untouched.to_vector<std::uint16_t>()), "bits " << bits);
      }
    }
}

// The same around contiguous targets, which begin or end within a word, and between rows of a matrix. The targets of a
// warp are different.
BOOST_AUTO_TEST_CASE(neighbours_of_contiguous_targets_keep_their_bits) {
  constexpr int kRows = 35, kColumns = 4;
  for (const Dtype t : {nd::float16, nd::bfloat16})
    for (const std::uint16_t bits : {0x7c01, 0xfd23, 0xff81, 0x0001})
      for (const auto& [columns, first, rows] :
           {std::tuple{4, 0, kRows}, std::tuple{4, 1, kRows - 2}, std::tuple{3, 0, kRows}, std::tuple{3, 1, kRows - 1},
            std::tuple{1, 1, kRows}, std::tuple{1, 2, kRows}})
        BOOST_TEST_CONTEXT(t << ", bits " << bits << ", " << rows << " rows of " << columns << " from " << first) {
          const Array words = nd::full({kRows * kColumns}, bits, {.dtype = nd::uint16});
          // With all columns, the rows begin at any element.
          const auto matrix = [&, columns = columns, first = first, rows = rows](const Array& a) {
            if (columns == kColumns) return a(nd::Slice(first, first + rows * kColumns)).reshape({rows, kColumns});
            const Array all = a.reshape({kRows, kColumns});
            return all(nd::Slice(0, rows), nd::Slice(first, first + columns));
          };
          const Array y = matrix(words).view(t);
          y.fill(1);
          std::vector<std::int64_t> at(static_cast<std::size_t>(rows));
          for (std::size_t k = 0; k < at.size(); ++k) at[k] = std::int64_t(k * 8 % at.size());
          std::vector<double> expected(at.size() * std::size_t(columns), 1);
          for (std::int64_t row : at)
            for (int c = 0; c < columns; ++c) expected[std::size_t(row) * std::size_t(columns) + std::size_t(c)] += 2;
          nd::scatter_add(y, nd::array(at), nd::full({rows, columns}, 2, {.dtype = t}));
          BOOST_TEST((y.astype(nd::float64).to_vector<double>() == expected));
          matrix(words) = bits;
          BOOST_TEST((words.to_vector<std::uint16_t>() == std::vector<std::uint16_t>(kRows * kColumns, bits)));
        }
}

BOOST_AUTO_TEST_CASE(a_nan_beside_the_element) {
  for (const Dtype t : {nd::float16, nd::bfloat16}) {
    const Array y = nd::zeros({6}, t);
    y(1) = NAN;
    y(4) = NAN;
    nd::scatter_add(y, nd::array({0, 0, 2, 3, 5, 5, 5}), nd::ones({7}, t));
    const std::vector<double> v = y.astype(nd::float64).to_vector<double>();
    BOOST_TEST(v[0] == 2);
    BOOST_TEST(std::isnan(v[1]));
    BOOST_TEST(v[2] == 1);
    BOOST_TEST(v[3] == 1);
    BOOST_TEST(std::isnan(v[4]));
    BOOST_TEST(v[5] == 3);
    const Array zeros = nd::full({2}, -0.0, {.dtype = t});
    nd::scatter_add(zeros, nd::array({0}), nd::ones({1}, t));
    BOOST_TEST(std::signbit(zeros(1).astype(nd::float64).item<double>()));
  }
}

// The accesses of the warps, of 32 values each, to elements of `item` bytes in words of four: the least, of one for
// each element, and the most, when all lanes with elements of one word try at the same time and one wins in every
// round.
struct Accesses {
  std::size_t least = 0, most = 0;
};
Accesses accesses_of_warps(const std::vector<std::int64_t>& at, std::size_t item) {
  constexpr std::size_t warp = 32;
  Accesses a;
  for (std::size_t first = 0; first < at.size(); first += warp) {
    const std::set<std::int64_t> elements(at.begin() + std::int64_t(first), at.begin() + std::int64_t(first + warp));
    std::map<std::int64_t, std::size_t> words;
    for (const std::int64_t i : elements) ++words[i * std::int64_t(item) / 4];
    a.least += elements.size();
    for (const auto& [word, k] : words) a.most += k * (k + 1) / 2;
  }
  return a;
}

// Where elements repeat, one access per block and element; else one per value if the GPU adds the dtype itself, or one
// per warp and element.
BOOST_AUTO_TEST_CASE(accesses_that_a_gpu_needs) {
  if (nd::current_device().kind == nd::Device::Kind::cpu || !cuda_device::Control::available()) {
    std::cout << "skipped: only the software CUDA device counts atomic accesses\n";
    return;
  }
  constexpr std::size_t n = 4096, most_blocks = 16;
  std::mt19937 random(5);
  cuda_device::Control control;
  for (const Dtype t : kDtypes)
    for (const auto& [targets, length] : {std::pair{1u, 1}, {4u, 4}, {16u, 100000}, {1000u, 1000}})
      BOOST_TEST_CONTEXT(t << ", " << targets << " of " << length << " elements") {
        std::vector<std::int64_t> at(n);
        for (std::int64_t& i : at) i = std::int64_t(random() % targets);
        const Array y = nd::zeros({length}, t), i = nd::array(at), ones = nd::ones({std::int64_t(n)}, t);
        nd::scatter_add(y, i, ones);
        y.fill(0);
        nd::synchronize(y.device());
        control.reset_records();
        nd::scatter_add(y, i, ones);
        nd::synchronize(y.device());
        const std::size_t seen = control.atomics();
        const Accesses warps = accesses_of_warps(at, catena::itemsize(t));
        BOOST_TEST_CONTEXT(seen << " accesses") {
          if (t == nd::complex64) BOOST_TEST(seen == 2 * n);
          // Neighbours in a word that a block adds at the same time: one wins in every round.
          const std::size_t of_word = adds_by_words(t) ? 4 / catena::itemsize(t) : 1;
          // Of many elements, a block sums some first, and adds each of these sums once.
          if (t == nd::complex64) continue;
          if (targets <= 16) BOOST_TEST(2 * seen <= most_blocks * targets * (of_word + 1));
          else BOOST_TEST(seen <= (adds_by_words(t) ? warps.most + targets : n));
          // (A bool that is 1 already is not written again.)
          if (targets > 16 && t != nd::bool_) BOOST_TEST(seen >= warps.least / 2);
        }
      }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
