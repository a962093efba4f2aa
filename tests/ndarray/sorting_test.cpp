// Sorting and searching, against std::stable_sort and linear searches: every dtype, axis and memory layout.
#include <catena/ndarray/routines/sorting.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/tests/support/ndarray_rows.h>

namespace {

using nd::Array;
using nd::Slice;
using test::crowded_array;
using test::difference;
using test::message_of;
using test::rows_along;
using test::same_bits;
using test::scattered;

// NaN behind all numbers, zeros equal.
template <class E> bool before(E a, E b) {
  if constexpr (std::is_integral_v<E>) return a < b;
  else return double(a) < double(b) || (std::isnan(double(b)) && !std::isnan(double(a)));
}

const std::vector<nd::Shape> kShapes = {{0},       {1},       {2},          {7},      {511},    {512},    {5000},
                                        {3, 0, 2}, {5, 4, 3}, {1, 6, 1, 2}, {3, 600}, {600, 3}, {20, 33}, {2, 513, 9}};

struct Sorted {
  Array values, positions;
};
Sorted sorted_by_the_library(const Array& a, int axis) {
  return nd::visit_real_dtype("sort", a.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    const auto v = a.to_vector<E>();
    std::vector<E> values = v;
    std::vector<std::int64_t> positions(v.size());
    for (const auto& row : rows_along(a.shape(), axis)) {
      std::vector<std::int64_t> order(row.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](auto i, auto j) { return before<E>(v[row[std::size_t(i)]], v[row[std::size_t(j)]]); });
      for (std::size_t k = 0; k < row.size(); ++k) {
        values[row[k]] = v[row[std::size_t(order[k])]];
        positions[row[k]] = order[k];
      }
    }
    return Sorted{nd::array(values, a.shape()), nd::array(positions, a.shape())};
  });
}

// How many of `sorted` stand before `v`.
template <class E> std::int64_t place_of(const std::vector<E>& sorted, E v, bool right) {
  return std::count_if(sorted.begin(), sorted.end(), [&](E x) { return right ? !before(v, x) : before(x, v); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sorting)

BOOST_AUTO_TEST_CASE(every_dtype_axis_and_layout) {
  std::mt19937 random(1);
  test::for_dtypes_and_shapes(kShapes, [&](nd::Dtype t, const nd::Shape& shape) {
    const Array a = crowded_array(shape, t, random);
    for (int axis = 0; axis < shape.size(); ++axis) {
      const Sorted expected = sorted_by_the_library(a, axis);
      for (const Array& view : {a, scattered(a, random)}) {
        BOOST_TEST(same_bits(nd::sort(view, {.axis = axis}), expected.values),
                   "sort " << t << ' ' << shape << ' ' << axis);
        BOOST_TEST(same_bits(nd::argsort(view, {.axis = axis - shape.size()}), expected.positions),
                   "argsort " << t << ' ' << shape << ' ' << axis);
      }
    }
  });
}

// Rows around every length at which another algorithm takes over, with many equal elements or few.
BOOST_AUTO_TEST_CASE(shapes_drawn_by_a_seed) {
  std::mt19937 random(8);
  const int threads = catena::max_threads();
  const bool on_cpu = nd::zeros(1).device().kind == nd::Device::Kind::cpu;
  for (int round = 0; round < (on_cpu ? 60 : 4); ++round) {
    const auto length = std::int64_t(std::exp2(double(random() % (on_cpu ? 1200 : 600)) / 100));
    const auto rows =
        std::int64_t(1 + random() % std::uint64_t(std::clamp(40000 / length, std::int64_t(1),
                                                             on_cpu ? std::int64_t(300) : std::int64_t(20))));
    const nd::Dtype t = test::kAllDtypes[random() % std::size(test::kAllDtypes)];
    const int axis = int(random() % 2);
    const nd::Shape shape = axis == 0 ? nd::Shape{length, rows} : nd::Shape{rows, length};
    const Array a = round % 2 ? crowded_array(shape, t, random) : test::random_array(shape, t, random);
    const Sorted expected = sorted_by_the_library(a, axis);
    for (const Array& view : {a, scattered(a, random)})
      for (int n : {1, 2}) {
        catena::set_max_threads(n);
        BOOST_TEST(same_bits(nd::sort(view, {.axis = axis}), expected.values), "sort " << t << ' ' << shape << axis);
        BOOST_TEST(same_bits(nd::argsort(view, {.axis = axis}), expected.positions),
                   "argsort " << t << ' ' << shape << axis);
      }
    catena::set_max_threads(threads);
  }
}

BOOST_AUTO_TEST_CASE(no_axis_and_defaults) {
  const Array a = nd::array({{3, 1, 2}, {9, 7, 8}});
  CHECK_SAME(difference(nd::sort(a), nd::array({{1, 2, 3}, {7, 8, 9}})), "sort");
  CHECK_SAME(difference(nd::argsort(a), nd::array({{1, 2, 0}, {1, 2, 0}})), "argsort");
  CHECK_SAME(difference(nd::sort(a.T(), {.axis = {}}), nd::array({1, 2, 3, 7, 8, 9})), "flat");
  CHECK_SAME(difference(nd::argsort(a.T(), {.axis = std::nullopt}), nd::array({2, 4, 0, 3, 5, 1})), "flat positions");
  CHECK_SAME(difference(nd::sort(nd::array(5), {.axis = {}}), nd::array({5})), "0-d");
  CHECK_SAME(difference(nd::msort(nd::array({{3, 1}, {2, 4}})), nd::array({{2, 1}, {3, 4}})), "msort");
  BOOST_TEST(!nd::sort(a).shares_memory(a));
  for (const char* kind : {"quicksort", "mergesort", "heapsort", "stable"}) {
    BOOST_TEST(same_bits(nd::sort(a, {.kind = kind}), nd::sort(a)));
    BOOST_TEST(same_bits(nd::argsort(a, {.kind = kind}), nd::argsort(a)));
  }
}

BOOST_AUTO_TEST_CASE(in_place) {
  const Array a = nd::array({{3, 1, 2}, {9, 7, 8}});
  const auto version = a.version();
  a.sort();
  BOOST_TEST(a.version() > version);
  CHECK_SAME(difference(a, nd::array({{1, 2, 3}, {7, 8, 9}})), "last axis");
  const Array line = nd::arange(10);
  line(Slice({}, {}, -2)).sort();  // descends along the memory: 9, 7, 5, 3, 1
  CHECK_SAME(difference(line, nd::array({0, 9, 2, 7, 4, 5, 6, 3, 8, 1})), "a view");
  const Array columns = nd::array({{3, 1}, {2, 4}, {1, 0}});
  columns.sort(0);
  CHECK_SAME(difference(columns, nd::array({{1, 0}, {2, 1}, {3, 4}})), "first axis");
  const Array longest = nd::arange(5000) * 1667 % 5000;
  longest.sort();
  CHECK_SAME(difference(longest, nd::arange(5000)), "a long row");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::array(1).sort(); }) ==
             "sort: axis -1 is out of bounds for array of dimension 0");
  BOOST_CHECK_THROW(nd::broadcast_to(nd::arange(3), {2, 3}).sort(), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(sorting_errors) {
  const Array a = nd::zeros({2, 3});
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::sort(a, {.axis = 2}); }) ==
             "sort: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::argsort(a, {.axis = -3}); }) ==
             "argsort: axis -3 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::sort(nd::array(1)); }) ==
             "sort: axis -1 is out of bounds for array of dimension 0");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::msort(nd::array(1)); }) ==
             "msort: axis 0 is out of bounds for array of dimension 0");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::sort(a, {.kind = "bubble"}); }) ==
             "sort: kind is 'bubble', must be 'quicksort', 'mergesort', 'heapsort' or 'stable'");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::argsort(Array()); }) == "argsort: the array is null");
}

BOOST_AUTO_TEST_CASE(threads_change_nothing) {
  std::mt19937 random(2);
  const Array a = test::random_array({7, 3000}, nd::float32, random);
  const int before = catena::max_threads();
  catena::set_max_threads(1);
  const Array rows = nd::argsort(a), columns = nd::argsort(a, {.axis = 0}), flat = nd::sort(a, {.axis = {}});
  catena::set_max_threads(3);
  BOOST_TEST(same_bits(nd::argsort(a), rows));
  BOOST_TEST(same_bits(nd::argsort(a, {.axis = 0}), columns));
  BOOST_TEST(same_bits(nd::sort(a, {.axis = {}}), flat));
  catena::set_max_threads(before);
}

BOOST_AUTO_TEST_CASE(lexsort_by_several_keys) {
  std::mt19937 random(3);
  for (const nd::Shape& shape : {nd::Shape{0}, nd::Shape{1}, nd::Shape{700}, nd::Shape{4, 30}, nd::Shape{30, 4}})
    for (int axis = 0; axis < shape.size(); ++axis) {
      const Array first = crowded_array(shape, nd::float32, random), second = crowded_array(shape, nd::int8, random),
                  third = crowded_array(shape, nd::bool_, random);
      const auto x = first.to_vector<float>();
      const auto y = second.to_vector<std::int8_t>();
      const auto z = third.to_vector<bool>();
      std::vector<std::int64_t> expected(x.size());
      for (const auto& row : rows_along(shape, axis)) {
        std::vector<std::int64_t> order(row.size());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) {
          const std::size_t a = row[std::size_t(i)], b = row[std::size_t(j)];
          if (z[a] != z[b]) return z[a] < z[b];
          if (y[a] != y[b]) return y[a] < y[b];
          return before(x[a], x[b]);
        });
        for (std::size_t k = 0; k < row.size(); ++k) expected[row[k]] = order[k];
      }
      CHECK_SAME(difference(nd::lexsort({scattered(first, random), second, third}, axis), nd::array(expected, shape)),
                 shape << ' ' << axis);
    }
  CHECK_SAME(difference(nd::lexsort({nd::array({9, 4, 0, 4, 0, 2, 1}), nd::array({1, 5, 1, 4, 3, 4, 4})}),
                        nd::array({2, 0, 4, 6, 5, 3, 1})),
             "the example of NumPy");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::lexsort({}); }) == "lexsort: there are no keys");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::lexsort({nd::zeros(2), nd::zeros(3)});
             }) == "lexsort: keys have the shapes (2,) and (3,), which must be one");
  BOOST_CHECK_THROW(nd::lexsort({nd::zeros({2, 3})}, 2), nd::ValueError);
  BOOST_CHECK_THROW(nd::lexsort({nd::array(1)}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(partitions) {
  std::mt19937 random(4);
  for (nd::Dtype t : {nd::int16, nd::float16, nd::float64})
    for (const nd::Shape& shape : {nd::Shape{1}, nd::Shape{900}, nd::Shape{12, 31}})
      for (int axis = 0; axis < shape.size(); ++axis) {
        const Array a = crowded_array(shape, t, random);
        const std::int64_t n = shape[axis];
        const std::vector<std::int64_t> kth = {n / 3, -1, n / 2};
        const Array values = nd::partition(scattered(a, random), kth, {.axis = axis}),
                    positions = nd::argpartition(a, kth, {.axis = axis});
        const auto actual = values.to_vector<double>(),
                   sorted = sorted_by_the_library(a, axis).values.to_vector<double>();
        for (const auto& row : rows_along(shape, axis))
          for (std::int64_t k : kth) {
            const auto at = std::size_t(k < 0 ? k + n : k);
            const double v = actual[row[at]];
            BOOST_TEST((v == sorted[row[at]] || (std::isnan(v) && std::isnan(sorted[row[at]]))));
            for (std::size_t i = 0; i < row.size(); ++i)
              BOOST_TEST(!(i < at ? before(v, actual[row[i]]) : before(actual[row[i]], v)));
          }
        // The positions are a permutation that picks the same elements into their places.
        CHECK_SAME(difference(nd::sort(positions, {.axis = axis}), sorted_by_the_library(positions, axis).values),
                   "permutation");
        const Array picked = nd::take_along_axis(a, positions, axis);
        for (std::int64_t k : kth)
          CHECK_SAME(difference(nd::take(picked, k, {.axis = axis}), nd::take(values, k, {.axis = axis})),
                     "kth of argpartition");
      }
  const Array a = nd::array({{4, 1}, {3, 2}});
  BOOST_TEST(nd::partition(a, 1, {.axis = {}})(1).item<int>() == 2);
  BOOST_TEST(nd::argpartition(a, 0)(1, 0).item<int>() == 1);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::partition(a, 2); }) ==
             "partition: kth 2 is out of range for an axis of length 2");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::argpartition(a, {0, -3});
             }) == "argpartition: kth -3 is out of range for an axis of length 2");
  BOOST_CHECK_THROW(nd::partition(nd::array(1), 0), nd::ValueError);
}

// Rows that are partitioned and not sorted: every dtype, special values, many equal elements, rows in order.
BOOST_AUTO_TEST_CASE(partitions_of_long_rows) {
  std::mt19937 random(14);
  const auto check = [&](const Array& a, const std::vector<std::int64_t>& kth, const std::string& what) {
    const Array sorted = nd::sort(a), parted = nd::partition(a, kth), places = nd::argpartition(a, kth);
    const std::int64_t n = a.shape().back();
    const Array picked = nd::take_along_axis(a, places, -1);
    for (const Array& b : {parted, picked}) {
      // The same elements, bit for bit where no two of them are equal.
      CHECK_SAME(difference(nd::sort(b), sorted), what << ": the elements");
      for (const std::int64_t k : kth) {
        const nd::Slice before(0, k), at(k, k + 1), behind(k, {});
        CHECK_SAME(difference(b(nd::ellipsis, at), sorted(nd::ellipsis, at)), what << ": element " << k);
        if (k > 0)
          CHECK_SAME(difference(nd::sort(b(nd::ellipsis, before)), sorted(nd::ellipsis, before)),
                     what << " before " << k);
        CHECK_SAME(difference(nd::sort(b(nd::ellipsis, behind)), sorted(nd::ellipsis, behind)),
                   what << " behind " << k);
      }
    }
    CHECK_SAME(difference(nd::sort(places), nd::broadcast_to(nd::arange(n), places.shape())), what << ": positions");
  };
  // cuda/sort_kernels_test.cpp has the other dtypes and lengths of CUDA.
  const bool selects = nd::current_device().kind == nd::Device::Kind::cpu;
  if (!selects) BOOST_TEST_MESSAGE("on CUDA: three dtypes of " << std::size(test::kAllDtypes));
  const auto is_tested = [&](nd::Dtype t) { return selects || t == nd::float16 || t == nd::float32 || t == nd::int64; };
  for (const nd::Dtype t : test::kAllDtypes) {
    if (!is_tested(t)) continue;
    const Array a = crowded_array({5000}, t, random);
    check(a, {0, 17, 2500, 4999}, catena::concat(t));
    for (const std::int64_t n : {127, 128, 129, 140, 300, 1001})
      check(crowded_array({n}, t, random), {n / 3}, catena::concat(t, " of length ", n));
  }
  for (const nd::Dtype t : {nd::int32, nd::uint32, nd::int64, nd::uint64, nd::float32, nd::float64}) {
    if (!selects) continue;
    const Array wide = nd::visit_real_dtype("partition", t, [&](auto tag) {
      using E = typename decltype(tag)::type;
      std::vector<E> values(20000);
      for (auto&& v : values) v = catena::convert<E>(double(random()) - 2147483648.0);
      return nd::array(values);
    });
    check(wide, {10000}, catena::concat(t, " the median"));
    check(wide, {3, 19990}, catena::concat(t, " both ends"));
    check(wide, {0}, catena::concat(t, " the least"));
    check(wide, {19999}, catena::concat(t, " the largest"));
    check(wide.reshape(4, 5000), {1250}, catena::concat(t, " rows"));
    check(nd::sort(wide), {7777}, catena::concat(t, " in order"));
    check(nd::sort(wide)(nd::Slice({}, {}, -1)), {7777}, catena::concat(t, " in reverse order"));
    check(nd::zeros({6000}, t), {100}, catena::concat(t, " equal"));
  }
  const Array signs = nd::where(nd::arange(5000) % 3 == 0, -0.0, nd::arange(5000) % 7 - 3.0);
  check(signs, {2000}, "zeros of both signs");
  BOOST_TEST(nd::sum(nd::signbit(nd::partition(signs, 2000))).item<int>() == nd::sum(nd::signbit(signs)).item<int>());
}

BOOST_AUTO_TEST_CASE(searchsorted_of_every_dtype) {
  std::mt19937 random(5);
  test::for_dtypes_and_shapes({{0}, {1}, {2}, {100}, {257}}, [&](nd::Dtype t, const nd::Shape& length) {
    const Array a = crowded_array(length, t, random), sorted = nd::sort(a), sorter = nd::argsort(a);
    for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{0}, nd::Shape{40}, nd::Shape{5, 3}}) {
      const Array values = crowded_array(shape, t, random);
      for (bool right : {false, true}) {
        const std::string_view side = right ? "right" : "left";
        const Array expected = nd::visit_real_dtype("sort", t, [&](auto tag) {
          using E = typename decltype(tag)::type;
          std::vector<std::int64_t> places;
          const auto list = sorted.to_vector<E>();
          for (E v : values.to_vector<E>()) places.push_back(place_of<E>(list, v, right));
          return nd::array(places, shape);
        });
        CHECK_SAME(difference(nd::searchsorted(sorted, values, {.side = side}), expected),
                   t << ' ' << length << ' ' << shape << ' ' << side);
        CHECK_SAME(difference(nd::searchsorted(scattered(sorted, random), scattered(values, random), {.side = side}),
                              expected),
                   t << ' ' << length << ' ' << shape << ' ' << side << " (scattered)");
        CHECK_SAME(difference(nd::searchsorted(a, values, {.side = side, .sorter = sorter}), expected),
                   t << " by a sorter");
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(searchsorted_arguments) {
  const Array a = nd::array({1, 2, 3, 5});
  BOOST_TEST(nd::searchsorted(a, 3).item<int>() == 2);
  BOOST_TEST(nd::searchsorted(a, 3, {.side = "right"}).item<int>() == 3);
  BOOST_TEST(nd::searchsorted(a, 2.5).item<int>() == 2);  // compared as float64
  BOOST_TEST(nd::searchsorted(a, 2.5).ndim() == 0);
  BOOST_TEST(nd::searchsorted(a.astype(nd::int8), 300).item<int>() == 4);
  CHECK_SAME(difference(nd::searchsorted(a.astype(nd::uint8), nd::array({-1, 256})), nd::array({0, 4})),
             "common dtype");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::searchsorted(a, 1, {.side = "middle"}); }) ==
             "searchsorted: side is 'middle', must be 'left' or 'right'");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::searchsorted(nd::zeros({2, 2}), 1);
             }) == "searchsorted: the sorted array has rank 2, must have rank 1");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::searchsorted(a, 1, {.sorter = nd::zeros(4)}); }) ==
             "searchsorted: the sorter has the dtype float64, must be integers");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::searchsorted(a, 1, {.sorter = nd::arange(3)}); }) ==
             "searchsorted: the sorter has shape (3,), the sorted array (4,), which must be one and of rank 1");
  BOOST_CHECK_THROW(nd::searchsorted(Array(), 1), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(digitize_into_bins) {
  std::mt19937 random(6);
  const Array x = test::random_array({4, 25}, nd::float64, random);
  const auto v = x.to_vector<double>();
  for (const std::vector<double>& edges :
       {std::vector<double>{}, {0.5}, {-2, -1, 0, 0.25, 2}, {2, 0.5, 0.5, -1}, {1, 1}})
    for (bool right : {false, true}) {
      const bool down = !edges.empty() && edges.front() > edges.back();
      std::vector<std::int64_t> expected;
      for (double e : v)
        expected.push_back(std::count_if(edges.begin(), edges.end(), [&](double b) {
          if (down) return right ? b >= e : b > e;
          return right ? b < e : b <= e;
        }));
      CHECK_SAME(difference(nd::digitize(x, nd::array(edges), {.right = right}), nd::array(expected, {4, 25})),
                 edges.size() << ' ' << right);
    }
  BOOST_TEST(nd::digitize(1, nd::array({0, 1, 2})).item<int>() == 2);
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::digitize(x, nd::array({0, 2, 1}));
             }) == "digitize: the 3 bins neither increase nor decrease");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::digitize(x, nd::zeros({2, 2}));
             }) == "digitize: the bins have rank 2, must have rank 1");
}

BOOST_AUTO_TEST_SUITE_END()
