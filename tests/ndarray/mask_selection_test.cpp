// Selection and assignment by a mask of the array's shape, against a loop over the elements: every dtype, lengths
// around the sizes of words and blocks, sparse masks, runs, views.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

using namespace test;
using nd::Array;
using nd::Dtype;

namespace {

enum class Pattern { none, all, sparse, half, runs, first, last };

std::vector<bool> mask_of(Pattern pattern, std::int64_t n, std::mt19937& random) {
  std::vector<bool> mask;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto draw = random() % 1000;
    switch (pattern) {
      case Pattern::none: mask.push_back(false); break;
      case Pattern::all: mask.push_back(true); break;
      case Pattern::sparse: mask.push_back(draw < 10); break;
      case Pattern::half: mask.push_back(draw < 500); break;
      case Pattern::runs: mask.push_back(i / 37 % 2 == 0); break;
      case Pattern::first: mask.push_back(i == 0); break;
      case Pattern::last: mask.push_back(i == n - 1); break;
    }
  }
  return mask;
}

Array expected(const Array& a, const std::vector<bool>& mask) {
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) positions.push_back(std::int64_t(i));
  // By slices, which have no code in common with masks.
  const Array flat = a.ravel(), result = nd::empty({std::int64_t(positions.size())}, a.dtype());
  for (std::size_t k = 0; k < positions.size(); ++k)
    result(nd::Slice(std::int64_t(k), std::int64_t(k) + 1)) = flat(nd::Slice(positions[k], positions[k] + 1));
  return result;
}

// Assigns 7 by one slice after the other.
Array assigned(const Array& a, const std::vector<bool>& mask) {
  const Array flat = a.copy().ravel();
  for (std::size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) flat(nd::Slice(std::int64_t(i), std::int64_t(i) + 1)) = nd::full({1}, 7, a.dtype());
  return flat.reshape(a.shape());
}

constexpr Pattern kPatterns[] = {Pattern::none, Pattern::all,   Pattern::sparse, Pattern::half,
                                 Pattern::runs, Pattern::first, Pattern::last};

}  // namespace

BOOST_AUTO_TEST_SUITE(mask_selection)

BOOST_AUTO_TEST_CASE(lengths_and_patterns) {
  std::mt19937 random(1);
  for (const std::int64_t n : {1, 7, 8, 9, 63, 64, 65, 200, 1000})
    for (const Pattern pattern : kPatterns) {
      const std::vector<bool> mask = mask_of(pattern, n, random);
      const Array a = random_array({n}, Dtype::float32, random), m = nd::array(mask);
      CHECK_SAME(difference(a(m), expected(a, mask)), "n = " << n << ", pattern " << int(pattern));
    }
}

BOOST_AUTO_TEST_CASE(every_size_of_elements) {
  std::mt19937 random(2);
  for (const Dtype dtype : {Dtype::int8, Dtype::bool_, Dtype::float16, Dtype::bfloat16, Dtype::int32, Dtype::float64,
                            Dtype::complex64, Dtype::complex128}) {
    const std::vector<bool> mask = mask_of(Pattern::half, 300, random);
    const Array a = nd::arange(300).astype(dtype);
    BOOST_TEST(same_bits(a(nd::array(mask)), expected(a, mask)), catena::name_of(dtype));
  }
}

// Several blocks, on one thread and on several; the last elements of a block must not reach into the next one.
BOOST_AUTO_TEST_CASE(many_blocks) {
  std::mt19937 random(3);
  const std::int64_t n = 100'003;
  const Array a = nd::arange(n);
  for (const Pattern pattern : kPatterns) {
    const std::vector<bool> mask = mask_of(pattern, n, random);
    std::vector<std::int64_t> want;
    for (std::int64_t i = 0; i < n; ++i)
      if (mask[std::size_t(i)]) want.push_back(i);
    const Array m = nd::array(mask);
    const int threads = catena::max_threads();
    for (const int used : {1, 3}) {
      catena::set_max_threads(used);
      const std::vector<std::int64_t> got = Array(a(m)).to_vector<std::int64_t>();
      BOOST_TEST((got == want), "pattern " << int(pattern) << ", " << used << " threads");
    }
    catena::set_max_threads(threads);
  }
}

BOOST_AUTO_TEST_CASE(assignment_of_a_value) {
  std::mt19937 random(5);
  for (const std::int64_t n : {1, 63, 64, 65, 127, 128, 1000})
    for (const Pattern pattern : kPatterns) {
      const std::vector<bool> mask = mask_of(pattern, n, random);
      const Array a = random_array({n}, Dtype::float32, random), expected = assigned(a, mask);
      const auto version = a.version();
      a(nd::array(mask)) = 7;
      BOOST_TEST(same_bits(a, expected), "n = " << n << ", pattern " << int(pattern));
      BOOST_TEST(a.version() > version);
    }
  for (const Dtype dtype : {Dtype::int8, Dtype::bool_, Dtype::float16, Dtype::bfloat16, Dtype::int32, Dtype::float64,
                            Dtype::complex64, Dtype::complex128}) {
    const std::vector<bool> mask = mask_of(Pattern::half, 300, random);
    const Array a = nd::arange(300).astype(dtype), expected = assigned(a, mask);
    a(nd::array(mask)) = 7;
    BOOST_TEST(same_bits(a, expected), catena::name_of(dtype));
  }
}

BOOST_AUTO_TEST_CASE(assignment_to_parts_and_views) {
  std::mt19937 random(6);
  const std::int64_t n = 100'003;
  const std::vector<bool> runs = mask_of(Pattern::runs, n, random);
  std::vector<std::int64_t> want;
  for (std::int64_t i = 0; i < n; ++i) want.push_back(runs[std::size_t(i)] ? 7 : i);
  const int threads = catena::max_threads();
  for (const int used : {1, 3}) {
    catena::set_max_threads(used);
    const Array a = nd::arange(n);
    a(nd::array(runs)) = 7;
    BOOST_TEST((a.to_vector<std::int64_t>() == want), used << " threads");
  }
  catena::set_max_threads(threads);

  const std::vector<bool> mask = mask_of(Pattern::half, 120, random);
  const Array a = random_array({6, 5, 4}, Dtype::float64, random), m = nd::array(mask).reshape(6, 5, 4);
  const Array expected = assigned(a, mask);
  const Array whole = a.copy(), scattered_a = scattered(a, random), by_view = a.copy(), strided = scattered(m, random);
  whole(m) = 7, scattered_a(m) = nd::array(7), by_view(strided) = 7.0;
  for (const Array& got : {whole, scattered_a, by_view}) BOOST_TEST(same_bits(got.copy(), expected));
  // A contiguous part: the elements around it stay.
  const Array part = a.copy();
  part(nd::Slice(1, 3))(m(nd::Slice(1, 3))) = 7;
  std::vector<bool> inner(mask.size(), false);
  std::copy(mask.begin() + 20, mask.begin() + 60, inner.begin() + 20);
  BOOST_TEST(same_bits(part, assigned(a, inner)));
  // Any byte but 0 is true; the array may be its own mask; unselected bytes of bools stay as they are.
  const Array bytes = nd::array({0, 2, 255, 1, 0, 128, 0, 3, 0, 4}, Dtype::uint8), flags = bytes.view(Dtype::bool_);
  const Array ten = nd::arange(10);
  ten(flags) = -1;
  check_values<std::int64_t>(ten, {0, -1, -1, -1, 4, -1, 6, -1, 8, -1});
  flags(nd::array(mask_of(Pattern::first, 10, random))) = true;
  check_values<std::uint8_t>(bytes, {1, 2, 255, 1, 0, 128, 0, 3, 0, 4});
  flags(flags) = false;
  check_values<std::uint8_t>(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
}

BOOST_AUTO_TEST_CASE(shapes_views_and_bytes) {
  std::mt19937 random(4);
  const Array a = random_array({6, 5, 4}, Dtype::float64, random);
  const std::vector<bool> mask = mask_of(Pattern::half, 120, random);
  const Array m = nd::array(mask).reshape(6, 5, 4);
  CHECK_SAME(difference(a(m), expected(a, mask)), "three axes");
  // Layouts that are not contiguous, of the array or the mask.
  const Array scattered_a = scattered(a, random), scattered_m = scattered(m, random);
  CHECK_SAME(difference(scattered_a(m), expected(a, mask)), "a view");
  CHECK_SAME(difference(a(scattered_m), expected(a, mask)), "a mask that is a view");
  // A contiguous view with an offset.
  const std::vector<bool> shorter(mask.begin() + 20, mask.end());
  CHECK_SAME(difference(a(nd::Slice(1, 6))(m(nd::Slice(1, 6))), expected(a(nd::Slice(1, 6)), shorter)), "an offset");
  // Any byte but 0 is true.
  const Array bytes = nd::array({0, 2, 255, 1, 0, 128, 0, 3, 0, 4}, Dtype::uint8).view(Dtype::bool_);
  check_values<std::int64_t>(nd::arange(10)(bytes), {1, 2, 3, 5, 7, 9});
  BOOST_TEST(nd::zeros({0, 3})(nd::zeros({0, 3}, Dtype::bool_)).size() == 0);
  BOOST_CHECK_THROW(nd::Array(nd::zeros({3})(nd::ones({4}, Dtype::bool_))), catena::IndexError);
}

BOOST_AUTO_TEST_SUITE_END()
