// Masks of every pattern (sparse, dense, in runs, of any byte, of any layout), and the assignment of single elements,
// against loops on the host.
#include <catena/ndarray/routines/indexing.h>

#include <complex>
#include <random>

#include <catena/ndarray/routines/sorting.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;
using nd::Shape;

// Bytes of a mask: runs of an expected length, or single elements of a probability. True bytes are not only 1.
std::vector<std::uint8_t> drawn_mask(std::int64_t n, double probability, double run, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::uint8_t> bytes;
  bool on = unit(random) < probability;
  while (std::int64_t(bytes.size()) < n) {
    const bool changes = unit(random) < 1 / run;
    if (changes) on = unit(random) < probability;
    bytes.push_back(on ? std::uint8_t(1 + random() % 255) : std::uint8_t(0));
  }
  return bytes;
}

std::vector<std::int64_t> places_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::int64_t> places;
  for (std::size_t k = 0; k < bytes.size(); ++k)
    if (bytes[k] != 0) places.push_back(std::int64_t(k));
  return places;
}

void check_mask(const std::vector<std::uint8_t>& bytes, std::mt19937& random, const std::string& what) {
  const std::int64_t n = std::int64_t(bytes.size());
  const Array as_bytes = nd::array(bytes), mask = as_bytes.view(nd::bool_);
  const std::vector<std::int64_t> places = places_of(bytes);
  BOOST_TEST((nd::flatnonzero(mask).to_vector<std::int64_t>() == places), what);
  BOOST_TEST((nd::flatnonzero(as_bytes).to_vector<std::int64_t>() == places), what);
  BOOST_TEST((nd::flatnonzero(test::scattered(mask, random)).to_vector<std::int64_t>() == places), what);
  const Array x = nd::arange(n) * 3 + 1;
  const Array taken = x(mask);
  std::vector<std::int64_t> expected = places;
  for (std::int64_t& v : expected) v = 3 * v + 1;
  BOOST_TEST((taken.to_vector<std::int64_t>() == expected), what);
  const Array written = nd::zeros({n}, nd::int64);
  written(mask) = taken;
  std::vector<std::int64_t> all(bytes.size());
  for (const std::int64_t k : places) all[std::size_t(k)] = 3 * k + 1;
  BOOST_TEST((written.to_vector<std::int64_t>() == all), what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(masks)

BOOST_AUTO_TEST_CASE(every_length_and_pattern) {
  std::mt19937 random(1);
  const std::int64_t step = test::cases_take_turns() ? 37 : 1;
  for (std::int64_t n = 1; n < 150; n += step)
    for (const auto& [probability, run] :
         std::vector<std::pair<double, double>>{{0.5, 1}, {0.02, 1}, {0.98, 1}, {0.5, 20}, {0, 1}, {1, 1}})
      check_mask(drawn_mask(n, probability, run, random), random, catena::concat(n, " ", probability, " ", run));
}

BOOST_AUTO_TEST_CASE(long_masks) {
  std::mt19937 random(2);
  for (const std::int64_t n : {1023, 1024, 2048, 2049, 16'384, 16'385, 50'001, 200'000})
    for (const auto& [probability, run] :
         std::vector<std::pair<double, double>>{{0.5, 1}, {0.01, 1}, {0.99, 1}, {0.5, 200}, {0.5, 30'000}})
      check_mask(drawn_mask(n, probability, run, random), random, catena::concat(n, " ", probability, " ", run));
}

BOOST_AUTO_TEST_CASE(masks_of_several_axes) {
  std::mt19937 random(3);
  for (const Shape& shape : {Shape{3, 70}, Shape{40, 9}, Shape{2, 3, 130}, Shape{300, 64}, Shape{5, 20'000}}) {
    const std::vector<std::uint8_t> bytes = drawn_mask(catena::size_of(shape), 0.3, 4, random);
    const Array mask = nd::array(bytes).view(nd::bool_).reshape(shape);
    const auto axes = nd::nonzero(mask);
    const std::vector<std::int64_t> places = places_of(bytes);
    std::vector<std::int64_t> found(places.size());
    for (int a = 0; a < shape.size(); ++a) {
      const std::vector<std::int64_t> along = axes[std::size_t(a)].to_vector<std::int64_t>();
      for (std::size_t k = 0; k < found.size(); ++k) found[k] = found[k] * shape[a] + along[k];
    }
    BOOST_TEST((found == places), catena::to_string(shape));
  }
}

// ---- single elements ----------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(assignment_of_an_element) {
  for (const Dtype t : test::kAllDtypes) {
    const Array a = nd::zeros({3, 4}, t), whole = nd::zeros({3, 4}, t);
    const auto version = a.version();
    a(1, 2) = 1;
    BOOST_TEST(a.version() > version);
    a(nd::Slice(2, 3), 3) = true;  // a view of one element
    a(-3)(0) = 1.0;
    whole(nd::Slice(1, 2), nd::Slice(2, 3)) = nd::ones({1, 1}, t);
    whole(2, 3) = nd::ones({}, t);
    whole(0, 0) = nd::ones({1}, t)(0);
    BOOST_TEST(test::same_bits(a, whole), t);
  }
  const Array x = nd::zeros({5}, nd::float16), strided = nd::zeros({4, 4}, nd::float32).T();
  x(3) = 0.1;
  BOOST_TEST(test::same_bits(x(3).copy(), nd::array({0.1}).astype(nd::float16)(0).copy()));
  strided(2, 1) = 2.5;
  BOOST_TEST(strided.sum().item<float>() == 2.5f);
  BOOST_TEST(strided(2, 1).item<float>() == 2.5f);
  const Array z = nd::zeros({2}, nd::complex64);
  z(1) = std::complex<double>(1, -2);
  BOOST_TEST((z(1).item<std::complex<float>>() == std::complex<float>(1, -2)));
  BOOST_CHECK_THROW(x(5) = 1, nd::IndexError);
}

BOOST_AUTO_TEST_SUITE_END()
