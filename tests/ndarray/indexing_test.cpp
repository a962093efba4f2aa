// Indexing: basic keys as views, integer arrays as copies, assignment through both, take, scatter_add, diagonal,
// choose.
#include <catena/ndarray/routines/indexing.h>

#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::ellipsis;
using nd::newaxis;
using nd::Slice;
using test::difference;
using test::message_of;
using test::same_bits;

using Bound = std::optional<std::int64_t>;

Bound bound_of(const test::Json& j) { return j.is_null() ? Bound() : Bound(j.get<std::int64_t>()); }

// The key of a golden case.
std::vector<nd::IndexKey> key_of(const test::Golden& golden, const test::Json& tokens) {
  std::vector<nd::IndexKey> keys;
  for (const auto& t : tokens) {
    if (t == "ellipsis") keys.emplace_back(ellipsis);
    else if (t == "newaxis") keys.emplace_back(newaxis);
    else if (t.contains("int")) keys.emplace_back(t["int"].get<std::int64_t>());
    else if (t.contains("slice"))
      keys.emplace_back(Slice(bound_of(t["slice"][0]), bound_of(t["slice"][1]), bound_of(t["slice"][2])));
    else keys.emplace_back(test::array_of(golden.array(t[t.contains("mask") ? "mask" : "array"])));
  }
  return keys;
}

using Bounds = std::vector<std::int64_t>;

// What the case of that many slices of arange(10) gives: their first elements and lengths. 9999 stands for no bound.
Array slice_table(const Bounds& rows) {
  const Array line = nd::arange(10);
  const auto bound = [](std::int64_t v) { return v == 9999 ? Bound() : Bound(v); };
  Bounds table;
  for (std::size_t i = 0; i + 4 < rows.size(); i += 5) {
    const Array part = line(Slice(bound(rows[i]), bound(rows[i + 1]), bound(rows[i + 2])));
    table.insert(table.end(), {rows[i], rows[i + 1], rows[i + 2], part.size() == 0 ? -1 : part(0).item<std::int64_t>(),
                               part.size()});
  }
  return nd::array(table, {std::int64_t(table.size()) / 5, 5});
}

// Runs one case on arrays of any layout; nothing when there is no such function.
std::vector<Array> run_case(const test::Json& c, const std::vector<nd::IndexKey>& keys, std::vector<Array> in) {
  const std::string f = c["function"];
  const auto& args = c["args"];
  if (f == "getitem") return {nd::getitem(in[0], keys)};
  if (f == "setitem") {
    if (args.contains("value")) nd::setitem(in[0], keys, args["value"].get<int>());
    else nd::setitem(in[0], keys, in[1]);
    return {in[0]};
  }
  if (f == "scatter_add") {
    nd::scatter_add(in[0], keys, in[1]);
    return {in[0]};
  }
  if (f == "take")
    return {nd::take(in[0], in[1], {.axis = args["axis"].is_null() ? std::optional<int>() : args["axis"].get<int>()})};
  if (f == "diagonal") return {nd::diagonal(in[0], args["offset"], args["axis1"], args["axis2"])};
  if (f == "trace") return {nd::trace(in[0], args["offset"], args["axis1"], args["axis2"])};
  if (f == "choose") {
    const std::string mode = args["mode"];
    return {nd::choose(in[0], {in.begin() + 1, in.end()}, {.mode = mode})};
  }
  if (f == "ix_") return nd::ix_(in);
  if (f == "nonzero") return nd::nonzero(in[0]);
  if (f == "flatnonzero") return {nd::flatnonzero(in[0])};
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(indexing)

BOOST_AUTO_TEST_CASE(golden_cases) {
  const auto golden = test::Golden::open("nd_indexing");
  std::mt19937 random(1);
  golden.for_each([&](const test::Json& c) -> std::string {
    const std::string name = c["name"], function = c["function"];
    const std::vector<Array> expected = test::arrays_of(golden, c["outputs"]);
    if (function == "slice_table") {
      CHECK_SAME(
          difference(slice_table(expected[0].to_vector<std::int64_t>()).astype(expected[0].dtype()), expected[0]),
          name);
      return {};
    }
    const auto keys = c.contains("index") ? key_of(golden, c["index"]) : std::vector<nd::IndexKey>();
    for (const bool packed : {true, false}) {
      std::vector<Array> in = test::arrays_of(golden, c["inputs"]);
      if (!packed)
        for (Array& a : in) a = test::scattered(a, random);
      const std::vector<Array> actual = run_case(c, keys, in);
      if (actual.empty()) return function;
      BOOST_TEST_REQUIRE(actual.size() == expected.size(), name);
      for (std::size_t k = 0; k < actual.size(); ++k)
        CHECK_SAME(difference(actual[k], expected[k], c), name << " output " << k << (packed ? "" : " (scattered)"));
      if (c.value("view", false) && actual[0].size() > 0) BOOST_TEST(actual[0].shares_memory(in[0]), name);
      if (function == "getitem" && !c.value("view", false)) BOOST_TEST(!actual[0].shares_memory(in[0]), name);
    }
    return {};
  });
}

// Python's rule written down directly: walk from the clamped start by steps.
BOOST_AUTO_TEST_CASE(every_slice_of_ten) {
  const Array line = nd::arange(10);
  const auto python = [](Bound start, Bound stop, std::int64_t step) {
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < 10; ++i) {
      const std::int64_t at = step > 0 ? i : 9 - i;
      const auto absolute = [](std::int64_t v) { return v < 0 ? v + 10 : v; };
      std::int64_t first = step > 0 ? 0 : 9;
      if (start)
        first = step > 0 ? std::max<std::int64_t>(absolute(*start), 0) : std::min<std::int64_t>(absolute(*start), 9);
      if (step > 0 ? at < first || (stop && at >= absolute(*stop)) : at > first || (stop && at <= absolute(*stop)))
        continue;
      if ((at - first) % step == 0) list.push_back(at);
    }
    return list;
  };
  int checked = 0;
  for (int a = -13; a <= 11; ++a)
    for (int b = -13; b <= 11; ++b)
      for (std::int64_t step : {-3, -2, -1, 1, 2}) {
        const Bound start = a == -13 ? Bound() : Bound(a), stop = b == -13 ? Bound() : Bound(b);
        const auto actual = line(Slice(start, stop, step)).to_vector<std::int64_t>();
        if (actual != python(start, stop, step))
          BOOST_ERROR("slice " << a << ':' << b << ':' << step << " (-13: absent)");
        ++checked;
      }
  BOOST_TEST(checked == 25 * 25 * 5);
}

BOOST_AUTO_TEST_CASE(basic_keys_give_views) {
  for (nd::Dtype t : test::kAllDtypes) {
    Array a = nd::zeros({4, 5, 6}, t);
    a(1) = 1;
    a(ellipsis, -1) = 1;
    a(Slice(2, {}), newaxis, Slice({}, {}, 2), 0) = 1;
    double sum = 0;
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 5; ++j)
        for (std::int64_t k = 0; k < 6; ++k) {
          const double expected = i == 1 || k == 5 ? 1 : (i >= 2 && j % 2 == 0 && k == 0 ? 1 : 0);
          BOOST_TEST(a(i, j, k).item<double>() == expected);
          sum += expected;
        }
    BOOST_TEST(nd::count_nonzero(a) == std::int64_t(sum));
  }
  const Array a = nd::arange(6).reshape(2, 3);
  const Array element = a(1, 2);
  BOOST_TEST(element.ndim() == 0);
  element.fill(9);
  BOOST_TEST(a(1, 2).item<int>() == 9);
  BOOST_TEST(a(Slice(), 0).shape() == nd::Shape{2});
  BOOST_TEST(!a(Slice(), 0).is_c_contiguous());
  BOOST_TEST(a(Slice({}, {}, -1)).strides() == (nd::Strides{-24, 8}));
  BOOST_TEST(a(newaxis, ellipsis, newaxis).shape() == (nd::Shape{1, 2, 3, 1}));
  BOOST_TEST(a().shape() == a.shape());
  BOOST_TEST(nd::zeros({0, 3})(Slice(0, 5, -1)).shape() == (nd::Shape{0, 3}));
  BOOST_TEST(a(Slice(5, {}))->data == a->data);  // no address outside the memory
}

BOOST_AUTO_TEST_CASE(overlapping_assignment) {
  for (nd::Dtype t : test::kAllDtypes) {
    if (t == nd::bool_) continue;
    Array a = nd::arange(8, {.dtype = t});
    a(Slice(1, {})) = a(Slice({}, -1));
    CHECK_SAME(difference(a, nd::array({0, 0, 1, 2, 3, 4, 5, 6}, {.dtype = t})), t);
    a = nd::arange(8, {.dtype = t});
    a(Slice({}, {})) = a(Slice({}, {}, -1));
    CHECK_SAME(difference(a, nd::array({7, 6, 5, 4, 3, 2, 1, 0}, {.dtype = t})), t);
    a = nd::arange(8, {.dtype = t});
    a(Slice(1, {})) += a(Slice({}, -1));
    CHECK_SAME(difference(a, nd::array({0, 1, 3, 5, 7, 9, 11, 13}, {.dtype = t})), t);
  }
  Array m = nd::arange(9).reshape(3, 3);
  m(ellipsis) = m.T();
  CHECK_SAME(difference(m, nd::array({{0, 3, 6}, {1, 4, 7}, {2, 5, 8}})), "transpose");
}

BOOST_AUTO_TEST_CASE(basic_errors) {
  const Array a = nd::zeros({2, 3});
  BOOST_TEST(message_of<nd::IndexError>([&] { a(2); }) == "index: the index 2 is out of range for axis 0 of length 2");
  BOOST_TEST(message_of<nd::IndexError>([&] { a(0, -4); }) ==
             "index: the index -4 is out of range for axis 1 of length 3");
  BOOST_TEST(message_of<nd::IndexError>([&] { a(0, 0, 0); }) == "index: 3 indices are too many for an array of rank 2");
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::zeros({})(0); }) ==
             "index: 1 indices are too many for an array of rank 0");
  BOOST_TEST(message_of<nd::ValueError>([&] { a(ellipsis, ellipsis); }) == "index: there can be only one ellipsis");
  BOOST_TEST(message_of<nd::ValueError>([&] { a(Slice(0, 1, 0)); }) == "index: the step of a slice is 0");
  static_assert(!std::is_convertible_v<bool, nd::Key>);
}

BOOST_AUTO_TEST_CASE(index_arrays) {
  const Array a = nd::arange(12).reshape(3, 4), i = nd::array({2, 0}), j = nd::array({1, 3});
  const Array rows = a(i);
  CHECK_SAME(difference(rows, nd::array({{8, 9, 10, 11}, {0, 1, 2, 3}})), "rows");
  CHECK_SAME(difference(a(i, j), nd::array({9, 3})), "points");
  CHECK_SAME(difference(a(Slice(), j), nd::array({{1, 3}, {5, 7}, {9, 11}})), "columns");
  CHECK_SAME(difference(a(i, 1), nd::array({9, 1})), "with an integer");
  CHECK_SAME(difference(a(std::vector<std::int64_t>{-1, 3}), nd::array({{8, 9, 10, 11}, {0, 1, 2, 3}})), "wrapped");
  CHECK_SAME(difference(a[i], rows), "brackets");
  CHECK_SAME(difference(a(i) + 1, rows + 1), "as an operand");
  CHECK_SAME(difference(nd::negative(a(i)), -rows), "as an argument");
  CHECK_SAME(difference(a(nd::array(1)), a(1)), "0-d index");
  BOOST_TEST(!Array(a(nd::array(1))).shares_memory(a));
  const Array b = nd::zeros({2, 3, 4, 5});
  BOOST_TEST(nd::getitem(b, {newaxis, i, ellipsis, j}).shape() == (nd::Shape{2, 1, 3, 4}));
  BOOST_TEST(nd::getitem(b, {Slice(), 1, i, Slice()}).shape() == (nd::Shape{2, 2, 5}));
  BOOST_TEST(nd::getitem(b, {Slice(), 1, Slice(), i}).shape() == (nd::Shape{2, 2, 4}));
  BOOST_TEST(nd::getitem(b, {Slice(), i, newaxis, i}).shape() == (nd::Shape{2, 2, 1, 5}));
  BOOST_TEST(nd::getitem(nd::zeros({2, 3}), {newaxis, i, ellipsis, i}).shape() ==
             (nd::Shape{2, 1}));  // an empty ellipsis separates
}

BOOST_AUTO_TEST_CASE(index_dtypes) {
  const Array long_line = nd::arange(1000);
  for (nd::Dtype t : {nd::int8, nd::uint8, nd::int16, nd::uint16, nd::int32, nd::uint32, nd::int64, nd::uint64}) {
    const Array i = nd::array({3, 100, 0, 3}, {.dtype = t});
    CHECK_SAME(difference(nd::take(long_line, i), nd::array({3, 100, 0, 3})), t);
    Array count = nd::zeros(1000, nd::int64);
    nd::scatter_add(count, i, 1);
    BOOST_TEST(count(3).item<int>() == 2);
    BOOST_TEST(count(100).item<int>() == 1);
  }
  CHECK_SAME(
      difference(nd::take(long_line, nd::array({-1, -1000, 1000}, {.dtype = nd::int16})), nd::array({999, 0, 0})),
      "wrap");
  CHECK_SAME(difference(nd::take(long_line, nd::array({UINT64_MAX})), nd::array({615})), "large uint64");
}

BOOST_AUTO_TEST_CASE(index_array_errors) {
  const Array a = nd::zeros({2, 3});
  BOOST_TEST(message_of<nd::IndexError>([&] { a(nd::array({0.0})).get(); }) ==
             "index: index arrays must be of an integer dtype, not float64");
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::take(a, nd::zeros(0, nd::float32)); }) ==
             "take: index arrays must be of an integer dtype, not float32");
  BOOST_TEST(message_of<nd::IndexError>([&] { a(nd::zeros(2, nd::int64), nd::zeros(3, nd::int64)).get(); }) ==
             "index: shapes (2,) and (3,) do not match: lengths 2 and 3 on axis -1 are neither equal nor 1");
  BOOST_TEST(message_of<nd::IndexError>([&] { a(nd::array({0}), 0, 0).get(); }) ==
             "index: 3 indices are too many for an array of rank 2");
  BOOST_TEST(message_of<nd::IndexError>([&] {
               nd::zeros({0, 3})(nd::array({0})).get();
             }) == "index: an axis of length 0 has no elements for indices of shape (1,)");
  BOOST_TEST(nd::getitem(nd::zeros({0, 3}), {nd::zeros(0, nd::int32)}).shape() == (nd::Shape{0, 3}));
  // A 0-d array has no axis to index, whatever the indices are.
  for (const Array& i : {nd::array({0}), nd::array(0), nd::zeros({0}, nd::int32)}) {
    const Array scalar = nd::zeros({});
    BOOST_TEST(message_of<nd::IndexError>([&] { scalar(i).get(); }) ==
               "index: 1 indices are too many for an array of rank 0");
    BOOST_TEST(message_of<nd::IndexError>([&] { scalar(i) = 1; }) ==
               "assignment: 1 indices are too many for an array of rank 0");
    BOOST_TEST(message_of<nd::IndexError>([&] { nd::scatter_add(scalar, i, 1); }) ==
               "scatter_add: 1 indices are too many for an array of rank 0");
    BOOST_CHECK_THROW(scalar(newaxis, i).get(), nd::IndexError);
    BOOST_TEST(scalar.item<int>() == 0);
  }
  BOOST_TEST(message_of<nd::IndexError>([&] { nd::take(a, nd::ones(2, nd::bool_)); }) ==
             "take: index arrays must be of an integer dtype, not bool");
  BOOST_CHECK_THROW(nd::take(a, Array()), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(writing_by_index_arrays) {
  Array a = nd::zeros({3, 4}, nd::int64);
  const Array i = nd::array({2, 0}), j = nd::array({1, 3});
  a(i, j) = nd::array({7.9, -7.9});
  a(Slice(), nd::array({0})) = 5;
  CHECK_SAME(difference(a, nd::array({{5, 0, 0, -7}, {5, 0, 0, 0}, {5, 7, 0, 0}})), "set");
  a(i) = a(nd::array({0, 2}));
  CHECK_SAME(difference(a, nd::array({{5, 7, 0, 0}, {5, 0, 0, 0}, {5, 0, 0, -7}})), "swap of rows");
  a(nd::array({1, 1}), 2) += 1;
  BOOST_TEST(a(1, 2).item<int>() == 1);  // once, as in NumPy
  a(i) *= 2;
  a(i) -= nd::array({{1, 1, 1, 1}});
  CHECK_SAME(difference(a, nd::array({{9, 13, -1, -1}, {5, 0, 1, 0}, {9, -1, -1, -15}})), "in place");
  BOOST_CHECK_THROW(a(i) += 1.5, nd::TypeError);
  BOOST_TEST(message_of<nd::ValueError>([&] {
               a(i) = nd::array({1, 2, 3});
             }) == "assignment: shape (3,) cannot be broadcast to (2, 4): length 3 on axis -1 is neither 1 nor 4");
  const auto before = a.version();
  a(i) = 0;
  BOOST_TEST(a.version() > before);
  Array self = nd::array({2, 0, 1});
  self(self) = nd::array({10, 20, 30});  // indices are read before they are overwritten
  CHECK_SAME(difference(self, nd::array({20, 30, 10})), "indices from the array itself");
  Array view = nd::zeros({4, 4}, nd::float32);
  view(Slice({}, {}, -2)).T()(nd::array({0, 1})) = 3;
  BOOST_TEST(view.sum().item<double>() == 12);
  BOOST_CHECK_THROW(nd::broadcast_to(nd::zeros(1), {3})(nd::array({0})) = 1, nd::ValueError);
}

BOOST_AUTO_TEST_CASE(scatter_add_accumulates) {
  std::mt19937 random(3);
  for (nd::Dtype t : test::kAllDtypes) {
    if (t == nd::bool_) continue;
    Array a = nd::zeros({4, 3}, t);
    nd::scatter_add(a, nd::array({1, 1, 3, 1}), 1);
    CHECK_SAME(difference(a, nd::array({{0, 0, 0}, {3, 3, 3}, {0, 0, 0}, {1, 1, 1}}, {.dtype = t})), t);
    Array s = test::scattered(nd::zeros({4, 3}, t), random);
    nd::scatter_add(s, nd::array({0, 0, 2}), nd::arange(12).reshape(4, 3), 1);
    CHECK_SAME(difference(s, nd::array({{1, 0, 2}, {7, 0, 5}, {13, 0, 8}, {19, 0, 11}}, {.dtype = t})), t);
  }
  Array b = nd::zeros(3, nd::bool_);
  nd::scatter_add(b, nd::array({1, 1}), true);
  CHECK_SAME(difference(b, nd::array({false, true, false})), "bool: or");
  Array c = nd::zeros({2, 3}, nd::int32);
  nd::scatter_add(c, {1, Slice(1, {})}, 2.9);  // basic keys: a scalar is a value and no shape
  CHECK_SAME(difference(c, nd::array({{0, 0, 0}, {0, 2, 2}}, {.dtype = nd::int32})), "basic");
  nd::scatter_add(c, {nd::array({0, 0}), nd::array({1, 1})}, nd::array({1.9, 1.9}));
  BOOST_TEST(c(0, 1).item<int>() == 2);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::scatter_add(c, nd::array({0}), 1, 2); }) ==
             "scatter_add: axis 2 is out of range for arrays of rank 2");
  BOOST_CHECK_THROW(nd::scatter_add(c, nd::array({0}), nd::zeros({2, 2})), nd::ValueError);
}

// Against a loop over the elements: large enough for several threads, duplicates everywhere.
BOOST_AUTO_TEST_CASE(large_gather_and_scatter) {
  std::mt19937 random(5);
  const std::int64_t n = 50000, width = 7;
  const Array a = test::random_array({997, width}, nd::float64, random);
  std::vector<std::int64_t> index(static_cast<std::size_t>(n));
  for (auto& i : index) i = std::int64_t(random() % 4000) - 2000;
  const auto values = a.to_vector<double>();
  const auto rows = nd::take(a, index, {.axis = 0}).to_vector<double>();
  std::vector<double> sums(997 * std::size_t(width));
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto row = std::size_t(((index[i] % 997) + 997) % 997);
    for (std::size_t k = 0; k < std::size_t(width); ++k) {
      if (rows[i * width + k] != values[row * width + k]) BOOST_ERROR("element " << i << ", " << k);
      sums[row * width + k] += values[row * width + k];
    }
  }
  const Array total = nd::zeros({997, width});
  nd::scatter_add(total, nd::array(index), nd::take(a, index, {.axis = 0}));
  BOOST_TEST(total.to_vector<double>() == sums, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(take_forms) {
  const Array a = nd::arange(6).reshape(2, 3);
  CHECK_SAME(difference(nd::take(a, {4, 7}), nd::array({4, 1})), "flattened");
  CHECK_SAME(difference(nd::take(a, 4), nd::array(4)), "scalar");
  CHECK_SAME(difference(nd::take(a, {0}, {.axis = 1}), nd::array({{0}, {3}})), "list of one");
  CHECK_SAME(difference(nd::take(a, 2, {.axis = 1}), nd::array({2, 5})), "scalar along an axis");
  CHECK_SAME(difference(a.take(nd::array({{1, 0}}), 0), nd::array({{{3, 4, 5}, {0, 1, 2}}})), "2-D indices");
  CHECK_SAME(difference(a.take({5, 0}), nd::array({5, 0})), "method");
  CHECK_SAME(difference(nd::take(nd::array(7), {0, 3}), nd::array({7, 7})), "0-d");
  Array out = nd::zeros({2, 2}, nd::int64);
  BOOST_TEST(nd::take(a, {2, 0}, {.axis = 1, .out = out}).get() == out.get());
  CHECK_SAME(difference(out, nd::array({{2, 0}, {5, 3}})), "out");
  Array self = nd::array({3, 4, 5});
  nd::take(self, {2, 1, 0}, {.out = self});
  CHECK_SAME(difference(self, nd::array({5, 4, 3})), "out is the source");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::take(a, {0}, {.axis = 2}); }) ==
             "take: axis 2 is out of range for arrays of rank 2");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::take(a, {0}, {.out = nd::zeros(1)}); }) ==
             "take: the output has dtype float64, must have int64");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::take(a, {0}, {.out = nd::zeros(2, nd::int64)}); }) ==
             "take: the output has shape (2,), the result has (1,)");
}

BOOST_AUTO_TEST_CASE(diagonals) {
  Array a = nd::arange(12).reshape(3, 4);
  nd::diagonal(a, 1) = -1;
  CHECK_SAME(difference(a, nd::array({{0, -1, 2, 3}, {4, 5, -1, 7}, {8, 9, 10, -1}})), "a view");
  BOOST_TEST(nd::diagonal(a, INT64_MIN).size() == 0);
  BOOST_TEST(nd::diagonal(a, INT64_MAX).size() == 0);
  BOOST_TEST(nd::diagonal(nd::zeros({2, 3, 4, 5}), 0, 1, -1).shape() == (nd::Shape{2, 4, 3}));
  BOOST_TEST(nd::trace(a, 0, 0, 1, {.dtype = nd::float32}).dtype() == nd::float32);
  BOOST_TEST(message_of<nd::ValueError>([] { nd::diagonal(nd::zeros(3)); }) ==
             "diagonal: an array of rank 1 has no diagonals; the rank must be at least 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::diagonal(a, 0, 0, 2); }) ==
             "diagonal: axis 2 is out of range for arrays of rank 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::diagonal(a, 0, 1, -1); }) == "diagonal: axes 1 and -1 are the same");
}

BOOST_AUTO_TEST_CASE(choosing) {
  const Array a = nd::array({0, 1, 1}), x = nd::array({10, 20, 30}), y = nd::array({0.5});
  CHECK_SAME(difference(nd::choose(a, {x, y}), nd::array({10.0, 0.5, 0.5})), "promotion and broadcasting");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::choose(nd::array({0, 2}), {x(0), y(0)});
             }) == "choose: indices from 0 to 2 are not all in the range of 2 choices");
  CHECK_SAME(difference(nd::choose(nd::array({-1, 5}), {x(0), x(1)}, {.mode = "clip"}), nd::array({10, 20})), "clip");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::choose(a, {x}, {.mode = "no"}); }) ==
             "choose: mode is 'no', must be 'raise', 'wrap' or 'clip'");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::choose(a, {}); }) == "choose: there are no choices");
  BOOST_CHECK_THROW(nd::choose(nd::array({0.0}), {x}), nd::TypeError);
  Array out = nd::zeros(3);
  nd::choose(a, {x, x + 1}, {.out = out});
  CHECK_SAME(difference(out, nd::array({10.0, 21.0, 31.0})), "out");
}

BOOST_AUTO_TEST_SUITE_END()
