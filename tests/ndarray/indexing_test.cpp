// Indexing: basic keys as views, integer arrays as copies, assignment through both, take, scatter_add, diagonal,
// choose.
#include <catena/ndarray/routines/indexing.h>

#include <cmath>
#include <optional>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/routines/joining.h>
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

// The results of that many slices of arange(10): their first elements and lengths. 9999 stands for no bound.
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

bool on_cpu() { return nd::current_device().kind == nd::Device::Kind::cpu; }

// Whether an index array of the case has an index out of range: the reference wraps it, which only devices do.
bool leaves_range(const test::Json& c, const std::vector<nd::IndexKey>& keys, const std::vector<Array>& in) {
  const auto outside = [](const Array& indices, std::int64_t length) {
    const auto list = indices.to_vector<std::int64_t>();
    return std::any_of(list.begin(), list.end(), [length](std::int64_t i) { return i < -length || i >= length; });
  };
  if (c["function"] == "take") {
    const auto& axis = c["args"]["axis"];
    return outside(in[1], axis.is_null() ? in[0].size() : in[0].shape((axis.get<int>() + in[0].ndim()) % in[0].ndim()));
  }
  int consumed = 0, axis = 0;
  const auto axes = [](const nd::IndexKey& key) {
    if (key.is_array()) return key.array().dtype() == nd::bool_ ? key.array().ndim() : 1;
    return int(key.basic().kind() == nd::Key::Kind::integer || key.basic().kind() == nd::Key::Kind::slice);
  };
  for (const nd::IndexKey& key : keys) consumed += axes(key);
  for (const nd::IndexKey& key : keys) {
    if (key.is_array() && key.array().dtype() != nd::bool_ && outside(key.array(), in[0].shape(axis))) return true;
    const bool rest = !key.is_array() && key.basic().kind() == nd::Key::Kind::ellipsis;
    axis += rest ? in[0].ndim() - consumed : axes(key);
  }
  return false;
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
  if (f == "fill_diagonal") {
    nd::fill_diagonal(in[0], args["val"].get<int>(), args["wrap"]);
    return {in[0]};
  }
  if (f == "r_" || f == "c_") {
    std::vector<nd::Joined> items;  // a 0-d array stands for a number
    for (const Array& a : in) items.push_back(a.ndim() == 0 ? nd::Joined(a.item()) : nd::Joined(a));
    return {f == "r_" ? nd::r_.join(items) : nd::c_.join(items)};
  }
  if (f == "nonzero") return nd::nonzero(in[0]);
  if (f == "flatnonzero") return {nd::flatnonzero(in[0])};
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(indexing)

BOOST_AUTO_TEST_CASE(golden_cases) {
  const auto golden = test::Golden::open("nd_indexing");
  std::mt19937 random(1);
  int wrapping = 0;
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
      if (on_cpu() && leaves_range(c, keys, in)) {
        ++wrapping;
        const Array before = in[0].copy();
        BOOST_CHECK_THROW(run_case(c, keys, in), nd::IndexError);
        CHECK_SAME(difference(in[0], before), name << " after the error");
        continue;
      }
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
  if (on_cpu()) BOOST_TEST(wrapping >= 10);
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
  CHECK_SAME(difference(a(std::vector<std::int64_t>{-1, -3}), nd::array({{8, 9, 10, 11}, {0, 1, 2, 3}})),
             "from the end");
  CHECK_SAME(difference(a[i], rows), "brackets");
  CHECK_SAME(difference(a(i) + 1, rows + 1), "as an operand");
  CHECK_SAME(difference(nd::negative(a(i)), -rows), "as an argument");
  CHECK_SAME(difference(a(nd::array(1)), a(1)), "0-d index");
  BOOST_TEST(!Array(a(nd::array(1))).shares_memory(a));
  const Array b = nd::zeros({3, 3, 4, 5});
  BOOST_TEST(nd::getitem(b, {newaxis, i, ellipsis, j}).shape() == (nd::Shape{2, 1, 3, 4}));
  BOOST_TEST(nd::getitem(b, {Slice(), 1, i, Slice()}).shape() == (nd::Shape{3, 2, 5}));
  BOOST_TEST(nd::getitem(b, {Slice(), 1, Slice(), i}).shape() == (nd::Shape{2, 3, 4}));
  BOOST_TEST(nd::getitem(b, {Slice(), i, newaxis, i}).shape() == (nd::Shape{2, 3, 1, 5}));
  BOOST_TEST(nd::getitem(nd::zeros({3, 3}), {newaxis, i, ellipsis, i}).shape() ==
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
  CHECK_SAME(difference(nd::take(long_line, nd::array({-1, -1000}, {.dtype = nd::int16})), nd::array({999, 0})),
             "ends");
  const Array outside = nd::array({-1, -1001, 1000}, {.dtype = nd::int16}), largest = nd::array({UINT64_MAX});
  if (on_cpu()) {
    BOOST_TEST(message_of<nd::IndexError>([&] { nd::take(long_line, outside); }) ==
               "take: the index -1001 is out of range for axis 0 of length 1000");
    BOOST_TEST(message_of<nd::IndexError>([&] { nd::take(long_line, largest); }) ==
               "take: the index 18446744073709551615 is out of range for axis 0 of length 1000");
  } else {
    CHECK_SAME(difference(nd::take(long_line, outside), nd::array({999, 999, 0})), "wrap");
    CHECK_SAME(difference(nd::take(long_line, largest), nd::array({615})), "large uint64");
  }
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
             "scatter_add: axis 2 is out of bounds for array of dimension 2");
  BOOST_CHECK_THROW(nd::scatter_add(c, nd::array({0}), nd::zeros({2, 2})), nd::ValueError);
}

// Against a loop over the elements: large enough for several threads, duplicates everywhere.
// One list of indices of both signs into one axis, contiguous and not: added, and written in their order.
BOOST_AUTO_TEST_CASE(scattered_lists) {
  std::mt19937 random(17);
  constexpr std::int64_t kLength = 50, kCount = 700;
  for (const nd::Dtype index_dtype : {nd::int64, nd::int32, nd::int16})
    for (const nd::Dtype dtype : {nd::float64, nd::int32, nd::int8}) {
      std::vector<std::int64_t> places, values, sums(kLength), last(kLength);
      for (std::int64_t i = 0; i < kCount; ++i) {
        places.push_back(std::int64_t(random() % (2 * kLength)) - kLength);
        values.push_back(std::int64_t(random() % 3) - 1);
        const auto at = std::size_t((places.back() + kLength) % kLength);
        sums[at] += values.back();
        last[at] = values.back();
      }
      const Array i = nd::array(places, index_dtype), v = nd::array(values, dtype);
      const Array packed = nd::zeros(kLength, dtype), every_third = nd::zeros(3 * kLength, dtype)(Slice({}, {}, 3));
      for (const Array& a : {packed, every_third})
        for (const bool strided : {false, true}) {
          a.fill(0);
          nd::scatter_add(a, strided ? test::scattered(i, random) : i, strided ? test::scattered(v, random) : v);
          CHECK_SAME(difference(a, nd::array(sums, dtype)), index_dtype << " into " << dtype);
          if (!on_cpu()) continue;  // on devices it is undefined which value stays
          a.fill(0);
          nd::setitem(a, {i}, v);
          CHECK_SAME(difference(a, nd::array(last, dtype)), index_dtype << " into " << dtype);
        }
    }
}

BOOST_AUTO_TEST_CASE(large_gather_and_scatter) {
  std::mt19937 random(5);
  const std::int64_t n = 50000, width = 7;
  const Array a = test::random_array({997, width}, nd::float64, random);
  std::vector<std::int64_t> index(static_cast<std::size_t>(n));
  for (auto& i : index) i = std::int64_t(random() % (2 * 997)) - 997;
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
  CHECK_SAME(difference(nd::take(a, {4, -5}), nd::array({4, 1})), "flattened");
  CHECK_SAME(difference(nd::take(a, 4), nd::array(4)), "scalar");
  CHECK_SAME(difference(nd::take(a, {0}, {.axis = 1}), nd::array({{0}, {3}})), "list of one");
  CHECK_SAME(difference(nd::take(a, 2, {.axis = 1}), nd::array({2, 5})), "scalar along an axis");
  CHECK_SAME(difference(a.take(nd::array({{1, 0}}), 0), nd::array({{{3, 4, 5}, {0, 1, 2}}})), "2-D indices");
  CHECK_SAME(difference(a.take({5, 0}), nd::array({5, 0})), "method");
  CHECK_SAME(difference(nd::take(nd::array(7), {0, -1}), nd::array({7, 7})), "0-d");
  Array out = nd::zeros({2, 2}, nd::int64);
  BOOST_TEST(nd::take(a, {2, 0}, {.axis = 1, .out = out}).get() == out.get());
  CHECK_SAME(difference(out, nd::array({{2, 0}, {5, 3}})), "out");
  Array self = nd::array({3, 4, 5});
  nd::take(self, {2, 1, 0}, {.out = self});
  CHECK_SAME(difference(self, nd::array({5, 4, 3})), "out is the source");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::take(a, {0}, {.axis = 2}); }) ==
             "take: axis 2 is out of bounds for array of dimension 2");
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
             "diagonal: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::diagonal(a, 0, 1, -1); }) == "diagonal: axes 1 and -1 are the same");
}

// Rows and elements by one index array or mask, against bytes that are moved one by one.
BOOST_AUTO_TEST_CASE(filled_diagonals) {
  std::mt19937 random(5);
  // Element by element, in arrays of any layout.
  for (const nd::Shape& shape :
       {nd::Shape{4, 4}, {3, 5}, {5, 3}, {11, 3}, {12, 3}, {13, 1}, {3, 3, 3}, {0, 3}, {3, 0}, {2, 2, 2, 2}})
    for (const bool wrap : {false, true}) {
      const std::int64_t n = catena::size_of(shape), columns = shape[1];
      std::vector<std::int64_t> expected(std::size_t(n), 0);
      std::int64_t step = 0, product = 1;
      for (int axis = shape.size() - 1; axis >= 0; --axis) step += product, product *= shape[axis];
      const std::int64_t end = shape.size() == 2 && !wrap ? std::min(n, columns * columns) : n;
      for (std::int64_t i = 0; i < end; i += step) expected[std::size_t(i)] = 9;
      const Array packed = nd::zeros(shape, nd::int64), strided = test::scattered(packed, random);
      for (const Array& a : {packed, strided}) {
        nd::fill_diagonal(a, 9.5, wrap);
        CHECK_SAME(difference(a, nd::array(expected, shape)), shape << (wrap ? " with wrap" : ""));
      }
    }
  const Array a = nd::zeros({3, 4});
  nd::fill_diagonal(a.T(), 1);  // F4
  BOOST_TEST(a.sum().item<double>() == 3);
  BOOST_TEST(message_of<nd::ValueError>([] { nd::fill_diagonal(nd::zeros(3), 1); }) ==
             "fill_diagonal: an array of rank 1 has no diagonal; the rank must be at least 2");
  BOOST_TEST(message_of<nd::ValueError>([] {
               nd::fill_diagonal(nd::zeros({2, 2, 3}), 1);
             }) == "fill_diagonal: the lengths of shape (2, 2, 3) differ, and the rank is more than 2");
}

BOOST_AUTO_TEST_CASE(shapes_drawn_by_a_seed) {
  std::mt19937 random(10);
  const int threads = catena::max_threads();
  for (int round = 0; round < (nd::zeros(1).device().kind == nd::Device::Kind::cpu ? 40 : 6); ++round) {
    const auto rows = std::int64_t(std::exp2(double(random() % 1300) / 100)), columns = std::int64_t(1 + random() % 40);
    const nd::Dtype t = test::kAllDtypes[random() % std::size(test::kAllDtypes)];
    const nd::Shape shape = round % 3 ? nd::Shape{rows, columns} : nd::Shape{rows};
    Array a = test::random_array(shape, t, random);
    // Any bits, signalling NaN among them: nothing is computed with what is moved.
    if (catena::is_floating(t)) {
      std::vector<std::uint8_t> any(a.nbytes());
      for (std::uint8_t& byte : any) byte = std::uint8_t(random());
      a = nd::array(any).view(t).reshape(shape);
    }
    const auto bytes = test::bytes_of(a);
    const std::size_t row = bytes.size() / std::size_t(rows), item = catena::itemsize(t);
    std::vector<std::int64_t> picked;
    std::vector<bool> row_mask, mask;
    for (std::int64_t i = 0; i < rows + 5; ++i)
      picked.push_back(std::int64_t(random() % std::uint64_t(2 * rows)) - rows);
    for (std::int64_t i = 0; i < rows; ++i) row_mask.push_back(random() % 3 == 0);
    for (std::int64_t i = 0; i < a.size(); ++i) mask.push_back(random() % 2 == 0);
    const auto seven = test::bytes_of(nd::full(1, 7, t));
    std::vector<std::byte> taken, compressed, chosen, rows_set = bytes, set = bytes;
    const auto append = [&](std::vector<std::byte>& to, std::size_t at, std::size_t n) {
      to.insert(to.end(), bytes.begin() + std::ptrdiff_t(at), bytes.begin() + std::ptrdiff_t(at + n));
    };
    for (std::int64_t i : picked) append(taken, std::size_t(i < 0 ? i + rows : i) * row, row);
    for (std::size_t i = 0; i < row_mask.size(); ++i) {
      if (row_mask[i]) append(compressed, i * row, row);
      for (std::size_t b = 0; row_mask[i] && b < row; ++b) rows_set[i * row + b] = seven[b % item];
    }
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i]) append(chosen, i * item, item);
      for (std::size_t b = 0; mask[i] && b < item; ++b) set[i * item + b] = seven[b];
    }
    const Array index = nd::array(picked), few = nd::array(row_mask), all = nd::array(mask, shape);
    for (const Array& v : {a, test::scattered(a, random)})
      for (int n : {1, 2}) {
        catena::set_max_threads(n);
        const auto same = [&](const Array& actual, const std::vector<std::byte>& expected, const char* what) {
          BOOST_TEST((test::bytes_of(actual) == expected), what << ' ' << t << ' ' << shape << ' ' << n);
        };
        same(nd::take(v, index, {.axis = 0}), taken, "take");
        same(v(test::scattered(index.astype(nd::int32), random)).copy(), taken, "index");
        same(v(few), compressed, "mask of rows");
        same(nd::compress(few, v, {.axis = 0}), compressed, "compress");
        same(v(test::scattered(all, random)), chosen, "mask");
        const Array whole = test::scattered(a, random), part = test::scattered(a, random);
        whole(all) = 7;
        part(few) = nd::array({{7}});
        same(whole, set, "assignment by a mask");
        same(part, rows_set, "assignment by a mask of rows");
      }
    catena::set_max_threads(threads);
  }
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
