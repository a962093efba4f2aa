// Whether strided arrays have bytes in common: against the bytes themselves, by enumeration.
#include <catena/kernels/base/overlap.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace catena;

// An array somewhere in an imaginary memory; only addresses count.
struct Layout {
  std::int64_t at;
  Shape shape;
  Strides strides;
  std::size_t itemsize;

  StridedBytes bytes() const {
    return {reinterpret_cast<const std::byte*>(std::intptr_t(1 << 20) + at), shape, strides, itemsize};
  }
  std::set<std::int64_t> touched() const {
    std::vector<std::int64_t> first{at};
    for (int i = 0; i < shape.size(); ++i) {
      std::vector<std::int64_t> more;
      for (const std::int64_t a : first)
        for (std::int64_t k = 0; k < shape[i]; ++k) more.push_back(a + k * strides[i]);
      first = std::move(more);
    }
    std::set<std::int64_t> all;
    for (const std::int64_t a : first)
      for (std::size_t k = 0; k < itemsize; ++k) all.insert(a + std::int64_t(k));
    return all;
  }
};

std::ostream& operator<<(std::ostream& out, const Layout& l) {
  return out << "at " << l.at << ' ' << l.shape << ' ' << l.strides << " of " << l.itemsize << " bytes";
}

bool meet(const Layout& a, const Layout& b) {
  const auto x = a.touched(), y = b.touched();
  for (const std::int64_t byte : x)
    if (y.count(byte) != 0) return true;
  return false;
}

Layout random_layout(std::mt19937& random, int step) {
  Layout l{static_cast<std::int64_t>(random() % 120), {}, {}, std::size_t(1) << random() % 5};
  for (int k = 0; k < static_cast<int>(random() % 4); ++k) {
    l.shape.push_back(1 + random() % 5);
    l.strides.push_back((static_cast<std::int64_t>(random() % 41) - 20) * step);
  }
  return l;
}

BOOST_AUTO_TEST_SUITE(overlap_by_elements)

BOOST_AUTO_TEST_CASE(random_layouts_against_their_bytes) {
  std::mt19937 random(1);
  int shared = 0, apart = 0;
  for (int round = 0; round < 20000; ++round) {
    const int step = 1 + round % 4;  // strides that are multiples of the itemsize and others
    const Layout a = random_layout(random, step), b = random_layout(random, step);
    const bool expected = meet(a, b);
    (expected ? shared : apart) += 1;
    BOOST_REQUIRE_MESSAGE(share_elements(a.bytes(), b.bytes()) == expected, a << "; " << b);
    BOOST_REQUIRE_MESSAGE(share_elements(b.bytes(), a.bytes()) == expected, b << "; " << a);
  }
  BOOST_TEST(shared > 2000);
  BOOST_TEST(apart > 2000);
}

BOOST_AUTO_TEST_CASE(interleaved_views) {
  const auto grid = [](std::int64_t first, std::int64_t columns, std::int64_t step) {
    return Layout{4 * first, {5, columns}, {24, 4 * step}, 4};  // of float32, 6 to a row
  };
  const auto share = [](const Layout& a, const Layout& b) { return share_elements(a.bytes(), b.bytes()); };
  BOOST_TEST(!share(grid(0, 3, 2), grid(1, 3, 2)));  // even and odd columns
  BOOST_TEST(!share(grid(0, 3, 1), grid(3, 3, 1)));  // halves
  BOOST_TEST(share(grid(0, 4, 1), grid(3, 3, 1)));
  BOOST_TEST(!share(grid(0, 3, 2), grid(5, 3, -2)));
  BOOST_TEST(share(grid(0, 3, 2), grid(4, 3, -2)));
  BOOST_TEST(share(grid(0, 1, 0), grid(0, 6, 1)));
  // The real and the imaginary parts of complex numbers, and the numbers.
  const Layout real{0, {9}, {16}, 8}, imaginary{8, {9}, {16}, 8}, numbers{0, {9}, {16}, 16};
  BOOST_TEST(!share(real, imaginary));
  BOOST_TEST((share(real, numbers) && share(imaginary, numbers)));
}

BOOST_AUTO_TEST_CASE(large_arrays) {
  const std::int64_t n = 1 << 20;
  const auto line = [](std::int64_t first, std::int64_t count, std::int64_t step) {
    return Layout{first * 4, {count}, {step * 4}, 4};
  };
  const auto share = [](const Layout& a, const Layout& b) { return share_elements(a.bytes(), b.bytes()); };
  BOOST_TEST(!share(line(0, n, 2), line(1, n, 2)));
  BOOST_TEST(!share(line(0, n, 4), line(1, n, 6)));
  BOOST_TEST(share(line(0, n, 4), line(2, n, 6)));  // 4 i = 2 + 6 j
  BOOST_TEST(share(line(0, n, 3), line(1, n, 2)));
  const Layout rows{0, {1000, 500}, {4000, 8}, 4}, odd_rows{4, {1000, 500}, {4000, 8}, 4};
  BOOST_TEST(!share(rows, odd_rows));
  const Layout columns{4, {500, 1000}, {8, 4000}, 4};
  BOOST_TEST(!share(rows, columns));
}

// Strides without a pattern: the number of combinations would take years. The answer comes at once; if in doubt it is
// "yes".
BOOST_AUTO_TEST_CASE(the_search_is_bounded) {
  const Strides strides{100000007, 50000017, 25000009, 12500003, 6250001, 3125003, 1562509, 781271};
  const Layout a{0, Shape::filled(8, 50), strides, 1}, b{333333, Shape::filled(8, 50), strides, 1};
  const auto start = std::chrono::steady_clock::now();
  share_elements(a.bytes(), b.bytes());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  BOOST_TEST(took.count() < 100);
  // Without any work left, everything whose ranges meet counts as overlapping.
  BOOST_TEST(share_elements(Layout{0, {10, 10}, {60, 7}, 1}.bytes(), Layout{1, {10, 10}, {59, 11}, 1}.bytes(), 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
