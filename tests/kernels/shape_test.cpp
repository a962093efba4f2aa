#include <boost/test/unit_test.hpp>

#include <catena/kernels/base/shape.h>

#include <random>
#include <string>
#include <vector>

using namespace catena;

namespace {

template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

// Byte offsets of all elements in C order: what strides mean, computed one index at a time.
std::vector<std::int64_t> offsets(const Shape& shape, const Strides& strides) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(size_of(shape)));
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (int k = shape.size() - 1; k >= 0; --k) {
      result[i] += rest % shape[k] * strides[k];
      rest /= shape[k];
    }
  }
  return result;
}

// Whether any strides show the elements at shape `to`: they would have to be the differences along each axis.
bool has_view(const std::vector<std::int64_t>& elements, const Shape& to) {
  Strides candidate = Strides::filled(to.size(), 0);
  std::int64_t step = 1;
  for (int k = to.size() - 1; k >= 0; --k) {
    if (to[k] > 1) candidate[k] = elements[static_cast<std::size_t>(step)] - elements[0];
    step *= to[k];
  }
  std::vector<std::int64_t> seen = offsets(to, candidate);
  for (auto& o : seen) o += elements[0];
  return seen == elements;
}

std::vector<Shape> factorisations(std::int64_t n, int max_rank) {
  std::vector<Shape> result;
  if (n == 1) result.push_back({});
  if (max_rank == 0) return result;
  for (std::int64_t first = 1; first <= n; ++first) {
    if (n % first) continue;
    for (const Shape& rest : factorisations(n / first, max_rank - 1)) {
      Shape s{first};
      for (auto d : rest) s.push_back(d);
      result.push_back(s);
    }
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shape)

BOOST_AUTO_TEST_CASE(dims_behave_like_a_small_vector) {
  Dims d{2, 3};
  d.push_back(4);
  d.insert(0, 1);
  BOOST_TEST(to_string(d) == "(1, 2, 3, 4)");
  d.erase(1);
  d.pop_back();
  BOOST_TEST(to_string(d) == "(1, 3)");
  d.resize(4, 7);
  BOOST_TEST(to_string(d) == "(1, 3, 7, 7)");
  BOOST_TEST(to_string(Dims{}) == "()");
  BOOST_TEST(to_string(Dims{5}) == "(5,)");
  BOOST_TEST((Dims{1, 2} == Dims{1, 2}));
  BOOST_TEST(!(Dims{1, 2} == Dims{1, 2, 3}));
  const std::string message = "shape: 33 dimensions exceed the limit of 32";
  Dims full = Dims::filled(32, 1);
  BOOST_TEST(message_of<ValueError>([&] { full.push_back(1); }) == message);
  BOOST_TEST(full.size() == 32);
  BOOST_TEST(message_of<ValueError>([] { Dims d(std::vector<std::int64_t>(33, 1)); }) == message);
  BOOST_TEST(message_of<ValueError>([] { Dims::filled(33, 1); }) == message);
}

BOOST_AUTO_TEST_CASE(sizes_are_checked) {
  BOOST_TEST(checked_size({}) == 1);
  BOOST_TEST(checked_size({2, 3, 4}) == 24);
  BOOST_TEST(checked_size({2, 0, 4}) == 0);
  BOOST_TEST(checked_size({INT64_MAX}) == INT64_MAX);
  BOOST_TEST(message_of<ValueError>([] { checked_size({2, -1}); }) == "shape: (2, -1) has a negative length");
  BOOST_TEST(message_of<ValueError>([] {
               checked_size({std::int64_t(1) << 32, std::int64_t(1) << 31});
             }) == "shape: (4294967296, 2147483648) has more than 2^63 - 1 elements");
  // NumPy refuses these as well, although they are empty.
  BOOST_CHECK_THROW(checked_size({std::int64_t(1) << 62, 0, 4}), ValueError);
}

BOOST_AUTO_TEST_CASE(strides_and_contiguity) {
  BOOST_TEST(to_string(c_strides({2, 3, 4}, 8)) == "(96, 32, 8)");
  BOOST_TEST(to_string(f_strides({2, 3, 4}, 8)) == "(8, 16, 48)");
  BOOST_TEST(to_string(c_strides({2, 0, 4}, 4)) == "(16, 16, 4)");
  BOOST_TEST(to_string(c_strides({}, 4)) == "()");
  BOOST_TEST(is_c_contiguous({2, 0}, {77, -3}, 8));
  BOOST_TEST(is_f_contiguous({2, 0}, {77, -3}, 8));
  BOOST_TEST(is_c_contiguous({1, 3, 1}, {999, 8, -5}, 8));
  BOOST_TEST(is_c_contiguous({}, {}, 8));
  BOOST_TEST(!is_c_contiguous({3}, {-8}, 8));
  BOOST_TEST(!is_f_contiguous({2, 3}, {24, 8}, 8));
  std::mt19937 random(1);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  int contiguous = 0;
  for (int round = 0; round < 4000; ++round) {
    const Shape s{1 + pick(3), 1 + pick(3), 1 + pick(3)};
    Strides t = pick(2) ? c_strides(s, 4) : f_strides(s, 4);
    if (pick(3) == 0) t[static_cast<int>(pick(3))] = 4 * pick(10);
    const auto seen = offsets(s, t);
    bool packed = true;
    for (std::size_t i = 0; i < seen.size(); ++i) packed &= seen[i] == static_cast<std::int64_t>(4 * i);
    BOOST_TEST(is_c_contiguous(s, t, 4) == packed);
    const Shape reversed_s{s[2], s[1], s[0]};
    const Strides reversed_t{t[2], t[1], t[0]};
    BOOST_TEST(is_f_contiguous(reversed_s, reversed_t, 4) == packed);
    contiguous += packed;
  }
  BOOST_TEST(contiguous > 500);
  BOOST_TEST(contiguous < 3500);
}

BOOST_AUTO_TEST_CASE(axes_are_normalised) {
  BOOST_TEST(to_string(normalize_axes("sum", {}, 3)) == "(0, 1, 2)");
  BOOST_TEST(to_string(normalize_axes("sum", -1, 3)) == "(2,)");
  BOOST_TEST(to_string(normalize_axes("sum", {-1, 0}, 3)) == "(0, 2)");
  BOOST_TEST(to_string(normalize_axes("sum", Axes(std::vector<int>{}), 3)) == "()");
  BOOST_TEST(message_of<ValueError>([] {
               normalize_axes("sum", {1, -1}, 2);
             }) == "sum: axis 1 is given twice in (1, -1)");
  BOOST_TEST(message_of<ValueError>([] { normalize_axes("concatenate", 3, 2); }) ==
             "concatenate: axis 3 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<IndexError>([] { normalize_axis("roll", -3, 2); }) ==
             "roll: axis -3 is out of bounds for array of dimension 2");
  BOOST_CHECK_THROW(normalize_axes("sum", 0, 0), ValueError);
  BOOST_TEST(to_string(reduced_shape({2, 3, 4}, {0, 2}, false)) == "(3,)");
  BOOST_TEST(to_string(reduced_shape({2, 3, 4}, {0, 2}, true)) == "(1, 3, 1)");
  BOOST_TEST(to_string(reduced_shape({2, 3}, {}, false)) == "(2, 3)");
}

BOOST_AUTO_TEST_CASE(shapes_broadcast) {
  BOOST_TEST(to_string(broadcast_shapes("add", {2, 1, 4}, {3, 1})) == "(2, 3, 4)");
  BOOST_TEST(to_string(broadcast_shapes("add", {3, 1}, {2, 1, 4})) == "(2, 3, 4)");
  BOOST_TEST(to_string(broadcast_shapes("add", {}, {2, 3})) == "(2, 3)");
  BOOST_TEST(to_string(broadcast_shapes("add", {1, 3}, {0, 3})) == "(0, 3)");
  BOOST_TEST(to_string(broadcast_shapes("add", {0}, {1})) == "(0,)");
  BOOST_CHECK_THROW(broadcast_shapes("add", {0}, {2}), ValueError);
  BOOST_TEST(message_of<ValueError>([] {
               broadcast_shapes("broadcast", {2, 3}, {4});
             }) ==
             "broadcast: shapes (2, 3) and (4,) do not match: lengths 3 and 4 on axis -1 are neither equal nor 1");
  BOOST_TEST(message_of<ValueError>([] {
               broadcast_shapes("add", {5}, {4, 2, 1, 6});
             }) ==
             "add: shapes (5,) and (4, 2, 1, 6) do not match: lengths 5 and 6 on axis -1 are neither equal nor 1");
  BOOST_TEST(message_of<ValueError>([] {
               broadcast_shapes("add", {2, 3}, {7, 4, 3});
             }) == "add: shapes (2, 3) and (7, 4, 3) do not match: lengths 2 and 4 on axis -2 are neither equal nor 1");
  BOOST_TEST(to_string(broadcast_strides("add", {3, 1}, {8, 4}, {2, 3, 4})) == "(0, 8, 0)");
  BOOST_TEST(to_string(broadcast_strides("add", {}, {}, {2})) == "(0,)");
  BOOST_TEST(message_of<ValueError>([] {
               broadcast_strides("copy", {2, 3}, {24, 8}, {3});
             }) == "copy: shape (2, 3) cannot be broadcast to (3,), which has fewer axes");
  BOOST_TEST(message_of<ValueError>([] {
               broadcast_strides("copy", {2, 3}, {24, 8}, {2, 4});
             }) == "copy: shape (2, 3) cannot be broadcast to (2, 4): length 3 on axis -1 is neither 1 nor 4");
}

BOOST_AUTO_TEST_CASE(reshape_resolves_as_numpy) {
  BOOST_TEST(to_string(resolve_reshape("reshape", {2, 3}, {3, 2})) == "(3, 2)");
  BOOST_TEST(to_string(resolve_reshape("reshape", {2, 3}, {-1})) == "(6,)");
  BOOST_TEST(to_string(resolve_reshape("reshape", {4, 6}, {3, -1, 2})) == "(3, 4, 2)");
  BOOST_TEST(to_string(resolve_reshape("reshape", {0, 3}, {-1, 3})) == "(0, 3)");
  BOOST_TEST(to_string(resolve_reshape("reshape", {0}, {5, 0})) == "(5, 0)");
  BOOST_TEST(to_string(resolve_reshape("reshape", {1, 1}, {})) == "()");
  const auto message = [](Shape from, Shape to) {
    return message_of<ValueError>([&] { resolve_reshape("reshape", from, to); });
  };
  BOOST_TEST(message({6}, {4, 2}) == "reshape: cannot reshape array of size 6 into shape (4, 2)");
  BOOST_TEST(message({6}, {4, -1}) == "reshape: cannot reshape array of size 6 into shape (4, -1)");
  BOOST_TEST(message({0}, {0, -1}) == "reshape: cannot reshape array of size 0 into shape (0, -1)");
  BOOST_TEST(message({6}, {-1, -1}) == "reshape: shape (-1, -1) leaves more than one length unknown");
  BOOST_TEST(message({6}, {-2, 3}) == "reshape: shape (-2, 3) has a negative length other than -1");
  // 2^66 is 0 in 64 bits, but not the size of an empty array.
  const std::int64_t big = std::int64_t(1) << 33;
  BOOST_TEST(message({0}, {big, big}) == "reshape: cannot reshape array of size 0 into shape (8589934592, 8589934592)");
}

// Every reshape of every small array, transposed, sliced, reversed and broadcast: a view is made exactly when one
// exists.
BOOST_AUTO_TEST_CASE(reshape_views_exactly_when_possible) {
  std::mt19937 random(7);
  long views = 0, copies = 0;
  for (const std::int64_t n : {1, 4, 6, 8, 12, 24}) {
    const auto shapes = factorisations(n, 4);
    for (const Shape& from : shapes) {
      for (int variant = 0; variant < 6; ++variant) {
        Strides strides = variant % 2 ? f_strides(from, 8) : c_strides(from, 8);
        for (int k = 0; k < from.size(); ++k) {
          if (variant >= 2 && random() % 3 == 0) strides[k] *= -1;
          if (variant >= 4 && random() % 4 == 0) strides[k] *= static_cast<std::int64_t>(random() % 3);
        }
        const auto elements = offsets(from, strides);
        for (const Shape& to : shapes) {
          const auto result = reshape_strides(from, strides, to, 8);
          BOOST_TEST_REQUIRE(result.has_value() == has_view(elements, to),
                             from << " " << strides << " -> " << to << " view: " << result.has_value());
          if (result)
            BOOST_TEST_REQUIRE((offsets(to, *result) == elements),
                               from << " " << strides << " -> " << to << " " << *result);
          ++(result ? views : copies);
        }
      }
    }
  }
  BOOST_TEST(views > 1000);
  BOOST_TEST(copies > 1000);
  BOOST_TEST(to_string(*reshape_strides({1}, {-40}, {1, 1}, 8)) == "(8, 8)");
  BOOST_TEST(to_string(*reshape_strides({0, 3}, {-24, 8}, {3, 0}, 8)) == "(8, 8)");
}

BOOST_AUTO_TEST_CASE(byte_ranges_cover_all_elements) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    Shape s;
    Strides t;
    for (int k = 0; k < static_cast<int>(random() % 4); ++k) {
      s.push_back(1 + random() % 4);
      t.push_back(static_cast<std::int64_t>(random() % 41) - 20);
    }
    const auto seen = offsets(s, t);
    const ByteRange r = byte_range(s, t, 4);
    BOOST_TEST(r.begin == *std::min_element(seen.begin(), seen.end()));
    BOOST_TEST(r.end == *std::max_element(seen.begin(), seen.end()) + 4);
  }
  BOOST_TEST(byte_range({3, 0}, {-8, 8}, 8).begin == 0);
  BOOST_TEST(byte_range({3, 0}, {-8, 8}, 8).end == 0);
}

BOOST_AUTO_TEST_SUITE_END()
