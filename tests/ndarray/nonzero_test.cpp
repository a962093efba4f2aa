// Positions of nonzero elements and what is made of them: masks as keys, argwhere, where, compress, extract, ix_.
#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/tests/support/ndarray_rows.h>

namespace {

using nd::Array;
using nd::ellipsis;
using nd::newaxis;
using nd::Slice;
using test::difference;
using test::message_of;
using test::same_bits;
using test::scattered;

// Zeros of both signs, NaN and other elements, in the proportion of `share`.
Array sparse_array(const nd::Shape& shape, nd::Dtype dtype, double share, std::mt19937& random) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i) {
    const bool some = std::generate_canonical<double, 32>(random) < share;
    const bool floating = catena::is_floating(dtype);
    if (some) values.push_back(floating && random() % 4 == 0 ? std::nan("") : double(1 + random() % 100));
    else values.push_back(floating && random() % 2 ? -0.0 : 0.0);
  }
  return nd::array(values, shape, {.dtype = dtype});
}

// Positions along every axis of the elements of `flags` (in C order) that are set.
std::vector<std::vector<std::int64_t>> positions_of(const std::vector<bool>& flags, const nd::Shape& shape) {
  std::vector<std::vector<std::int64_t>> list(std::size_t(shape.size()));
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i]) continue;
    std::int64_t rest = std::int64_t(i);
    for (int a = shape.size() - 1; a >= 0; --a) {
      list[std::size_t(a)].push_back(rest % shape[a]);
      rest /= shape[a];
    }
  }
  return list;
}

std::vector<bool> flags_of(const Array& a) {
  std::vector<bool> flags;
  for (double v : a.to_vector<double>()) flags.push_back(v != 0);
  return flags;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nonzero)

BOOST_AUTO_TEST_CASE(every_dtype_and_layout) {
  std::mt19937 random(2);
  const std::vector<nd::Shape> shapes = {{0},    {1},          {50},       {40000},   {3, 0}, {0, 3},
                                         {7, 9}, {2, 3, 4, 5}, {3, 20000}, {9000, 3}, {1, 1}};
  test::for_dtypes_and_shapes(shapes, [&](nd::Dtype t, const nd::Shape& shape) {
    for (double share : {0.0, 0.3, 1.0}) {
      const Array a = sparse_array(shape, t, share, random);
      const auto expected = positions_of(flags_of(a), shape);
      for (const Array& view : {a, scattered(a, random)}) {
        const std::vector<Array> found = nd::nonzero(view);
        BOOST_TEST_REQUIRE(int(found.size()) == shape.size());
        for (std::size_t k = 0; k < found.size(); ++k)
          CHECK_SAME(difference(found[k], nd::array(expected[k])), t << ' ' << shape << " axis " << k);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(other_forms) {
  const Array a = nd::array({{0, 2, 0}, {1, 0, 3}});
  CHECK_SAME(difference(nd::argwhere(a), nd::array({{0, 1}, {1, 0}, {1, 2}})), "argwhere");
  BOOST_TEST(nd::argwhere(a).is_c_contiguous());
  CHECK_SAME(difference(nd::flatnonzero(a.T()), nd::array({1, 2, 5})), "flatnonzero");
  CHECK_SAME(difference(nd::where(a > 1)[1], nd::array({1, 2})), "where");
  CHECK_SAME(difference(a.nonzero()[0], nd::array({0, 1, 1})), "method");
  CHECK_SAME(difference(nd::nonzero(nd::array(7))[0], nd::array({0})), "0-d");
  BOOST_TEST(nd::nonzero(nd::array(0))[0].size() == 0);
  BOOST_TEST(nd::argwhere(nd::array(7)).shape() == (nd::Shape{1, 0}));
  BOOST_TEST(nd::argwhere(nd::array(0)).shape() == (nd::Shape{0, 0}));
  BOOST_TEST(nd::argwhere(nd::zeros({0, 3})).shape() == (nd::Shape{0, 2}));
  BOOST_CHECK_THROW(nd::nonzero(Array()), nd::TypeError);
  BOOST_CHECK_THROW(nd::flatnonzero(Array()), nd::TypeError);
}

// Numbers of elements around those of a piece (2048) and of a block of the CPU (16384), and blocks that begin and end
// within a row, for elements of every width.
BOOST_AUTO_TEST_CASE(pieces_and_blocks) {
  std::mt19937 random(6);
  const int before = catena::max_threads();
  const std::vector<nd::Shape> shapes = {{2047},  {2048},    {2049},      {16383},       {16384},
                                         {16385}, {3, 5500}, {7, 50, 60}, {16384, 2, 1}, {1, 40'000}};
  test::Turns turns("dtypes and shapes");
  for (const nd::Dtype t : {nd::bool_, nd::float16, nd::float32, nd::int64})
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (!turns.take(i, t)) continue;
      const nd::Shape& shape = shapes[i];
      for (const double share : {0.0, 0.3, 1.0}) {
        const Array a = sparse_array(shape, t, share, random);
        const std::vector<bool> flags = flags_of(a);
        const auto expected = positions_of(flags, shape);
        std::vector<std::int64_t> places;
        for (std::size_t k = 0; k < flags.size(); ++k)
          if (flags[k]) places.push_back(std::int64_t(k));
        const Array numbers = nd::arange(a.size()).reshape(shape), mask = a != 0;
        for (const int threads : {1, 2}) {
          catena::set_max_threads(threads);
          for (const Array& view : {a, scattered(a, random)}) {
            const std::vector<Array> found = nd::nonzero(view);
            for (std::size_t k = 0; k < found.size(); ++k)
              CHECK_SAME(difference(found[k], nd::array(expected[k])), t << ' ' << shape << " axis " << k);
          }
          CHECK_SAME(difference(numbers(mask), nd::array(places)), "selection from " << shape << " of " << share);
        }
        catena::set_max_threads(before);
      }
    }
}

// A complex number is 0 if both parts are, whatever their signs.
BOOST_AUTO_TEST_CASE(complex_numbers) {
  for (const nd::Dtype t : {nd::complex64, nd::complex128}) {
    const Array parts =
        nd::array({{0., 0.}, {-0., 0.}, {0., -0.}, {-0., -0.}, {0., 1.}, {-2., -0.}, {-0., std::nan("")}});
    const Array real = nd::zeros({7, 2}, t == nd::complex64 ? nd::float32 : nd::float64);
    nd::copyto(real, parts, {.casting = nd::Casting::unsafe});
    const Array line = real.view(t).ravel(), many = nd::tile(line, 1000),
                strided = nd::repeat(many, 2)(Slice({}, {}, 2));
    std::vector<std::int64_t> expected;
    for (std::int64_t k = 0; k < 1000; ++k)
      for (const std::int64_t place : {4, 5, 6}) expected.push_back(7 * k + place);
    for (const Array& a : {many, strided}) CHECK_SAME(difference(nd::flatnonzero(a), nd::array(expected)), t);
    CHECK_SAME(difference(nd::flatnonzero(line), nd::array({4, 5, 6})), t);
  }
}

BOOST_AUTO_TEST_CASE(errors_of_counts) {
  const Array a = nd::ones({3000}), out = nd::zeros({1, 3000}, nd::int64), few = nd::zeros({1}, nd::int64);
  const std::string rule = "nonzero: an array of shape (3000,) needs 3 counts of its pieces, int64 and C-contiguous";
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::internal::execute(catena::call::CountPieces{a.get(), few.get()});
             }) == rule);
  for (const catena::ArrayHeader* counts : {static_cast<const catena::ArrayHeader*>(few.get()), {}})
    BOOST_TEST(message_of<nd::ValueError>([&] {
                 nd::internal::execute(catena::call::Nonzero{a.get(), counts, out.get()});
               }) == rule);
}

BOOST_AUTO_TEST_CASE(threads_change_nothing) {
  std::mt19937 random(3);
  const Array a = sparse_array({300, 400}, nd::int16, 0.4, random);
  const int before = catena::max_threads();
  catena::set_max_threads(1);
  const Array alone = nd::argwhere(a);
  catena::set_max_threads(3);
  BOOST_TEST(same_bits(nd::argwhere(a), alone));
  catena::set_max_threads(before);
}

// ---- masks as keys ------------------------------------------------------------------------------
// Masks of every rank at every place, against the index arrays that they stand for.
BOOST_AUTO_TEST_CASE(masks_stand_for_their_positions) {
  std::mt19937 random(4);
  const nd::Shape shape{3, 4, 2, 5};
  for (int rank = 1; rank <= 4; ++rank)
    for (int at = 0; at + rank <= 4; ++at)
      for (double share : {0.0, 0.4, 1.0}) {
        nd::Shape part;
        for (int i = 0; i < rank; ++i) part.push_back(shape[at + i]);
        const Array mask = sparse_array(part, nd::bool_, share, random);
        std::vector<nd::IndexKey> by_mask, by_index, behind{ellipsis};
        for (int i = 0; i < at; ++i) by_mask.emplace_back(Slice()), by_index.emplace_back(Slice());
        by_mask.emplace_back(mask);
        for (const auto& p : positions_of(flags_of(mask), part)) by_index.emplace_back(nd::array(p));
        behind.emplace_back(scattered(mask, random));
        for (int i = at + rank; i < 4; ++i) behind.emplace_back(Slice());
        for (const bool packed : {true, false}) {
          Array a = test::random_array(shape, nd::float32, random);
          if (!packed) a = scattered(a, random);
          const Array expected = nd::getitem(a, by_index);
          CHECK_SAME(difference(nd::getitem(a, by_mask), expected), rank << " at " << at);
          CHECK_SAME(difference(nd::getitem(a, behind), expected), rank << " behind an ellipsis at " << at);
          BOOST_TEST(!nd::getitem(a, by_mask).shares_memory(a));
          const Array value = test::random_array(expected.shape(), nd::float64, random), b = a.copy(), c = a.copy();
          nd::setitem(b, by_mask, value);
          nd::setitem(c, by_index, value);
          CHECK_SAME(difference(b, c), "assignment " << rank << " at " << at);
          nd::scatter_add(b, behind, value);
          nd::scatter_add(c, by_index, value);
          CHECK_SAME(difference(b, c), "scatter_add " << rank << " at " << at);
        }
      }
}

BOOST_AUTO_TEST_CASE(masks_by_hand) {
  Array a = nd::arange(6).reshape(2, 3);
  CHECK_SAME(difference(a(a > 2), nd::array({3, 4, 5})), "a whole mask");
  CHECK_SAME(difference(a.T()(a.T() > 2), nd::array({3, 4, 5})), "of a view");
  CHECK_SAME(difference(a(std::vector<bool>{false, true}), nd::array({{3, 4, 5}})), "rows by a list");
  CHECK_SAME(difference(a(Slice(), std::vector<bool>{true, false, true}), nd::array({{0, 2}, {3, 5}})), "columns");
  CHECK_SAME(difference(a(1, nd::array({true, false, true})), nd::array({3, 5})), "an integer beside a mask");
  CHECK_SAME(difference(a(nd::array({true, true}), nd::array({0, 2})), nd::array({0, 5})), "indices beside a mask");
  CHECK_SAME(difference(a(newaxis, nd::array({false, true})), nd::array({{{3, 4, 5}}})), "newaxis");
  a(a % 2 == 0) = -1;
  CHECK_SAME(difference(a, nd::array({{-1, 1, -1}, {3, -1, 5}})), "a scalar");
  a(a < 0) = nd::array({7, 8, 9});
  CHECK_SAME(difference(a, nd::array({{7, 1, 8}, {3, 9, 5}})), "values in C order");
  a(a > 6) -= 7;
  CHECK_SAME(difference(a, nd::array({{0, 1, 1}, {3, 2, 5}})), "in place");
  a(nd::array({true, false})) = nd::array({1.9, 2.9, 3.9});
  CHECK_SAME(difference(a, nd::array({{1, 2, 3}, {3, 2, 5}})), "a row");
  a(a > 100) = 1;
  a(nd::zeros({2, 3}, nd::bool_)) = nd::zeros(0);
  CHECK_SAME(difference(a, nd::array({{1, 2, 3}, {3, 2, 5}})), "nothing");
  BOOST_TEST(nd::Array(nd::zeros({0, 3})(nd::zeros(0, nd::bool_))).shape() == (nd::Shape{0, 3}));
  BOOST_TEST(nd::Array(nd::zeros({2, 0, 3})(nd::zeros({2, 0}, nd::bool_))).shape() == (nd::Shape{0, 3}));
}

// The shape of what NumPy selects from an array of shape `a`, or "IndexError", for masks of all true and all false
// elements.
struct MaskCase {
  nd::Shape a, mask;
  std::string all, none;
};

// Values of NumPy 2: a length of 0 of the mask fits every axis, all other lengths must agree.
BOOST_AUTO_TEST_CASE(masks_that_select_nothing) {
  const std::string error = "IndexError";
  const std::vector<MaskCase> cases = {
      {{0}, {0}, "(0,)", "(0,)"},        {{3}, {0}, "(0,)", "(0,)"},
      {{0, 3}, {0}, "(0, 3)", "(0, 3)"}, {{2, 3}, {0}, "(0, 3)", "(0, 3)"},
      {{3, 0}, {3}, "(3, 0)", "(0, 0)"}, {{3, 0}, {0}, "(0, 0)", "(0, 0)"},
      {{3, 0}, {3, 0}, "(0,)", "(0,)"},  {{0, 3}, {0, 3}, "(0,)", "(0,)"},
      {{2, 3}, {0, 3}, "(0,)", "(0,)"},  {{2, 3}, {2, 0}, "(0,)", "(0,)"},
      {{2, 3}, {0, 0}, "(0,)", "(0,)"},  {{2, 0, 3}, {2, 0}, "(0, 3)", "(0, 3)"},
      {{2, 3}, {2, 3}, "(6,)", "(0,)"},  {{2, 3}, {0, 1}, error, error},
      {{2, 3}, {3, 0}, error, error},    {{2, 0}, {0, 3}, error, error},
      {{0, 3}, {3}, error, error},       {{0}, {0, 0}, error, error},
      {{}, {0}, error, error},           {{}, {}, "(1,)", "(0,)"},
      {{3}, {}, "(1, 3)", "(0, 3)"},     {{0, 3}, {}, "(1, 0, 3)", "(0, 0, 3)"},
  };
  for (const MaskCase& c : cases)
    for (const bool value : {true, false})
      for (const bool reversed : {true, false}) {
        const Array a = reversed ? nd::zeros(c.a).T().copy().T() : nd::zeros(c.a);
        Array mask = nd::zeros(c.mask, nd::bool_);
        mask.fill(value);
        const std::string expected = value ? c.all : c.none;
        BOOST_TEST_CONTEXT(c.a << " by " << c.mask << " of " << value) {
          if (expected == error) {
            BOOST_CHECK_THROW(a(mask).get(), nd::IndexError);
            BOOST_CHECK_THROW(a(mask) = 1, nd::IndexError);
            BOOST_CHECK_THROW(nd::scatter_add(a, mask, 1), nd::IndexError);
            continue;
          }
          const Array selected = a(mask);
          BOOST_TEST(to_string(selected.shape()) == expected);
          a(mask) = 2;
          a(mask) += 1;
          nd::scatter_add(a, mask, 1);
          BOOST_TEST(nd::sum(a).item<int>() == 4 * selected.size());
        }
      }
  const Array line = nd::arange(3);
  BOOST_TEST(Array(line(std::vector<bool>{})).shape() == nd::Shape{0});
  // Beside other keys, a mask of rank 0 is an index along a new axis.
  const Array m = nd::arange(6).reshape(2, 3);
  CHECK_SAME(difference(m(nd::array(true), 1), nd::array({{3, 4, 5}})), "with an integer");
  CHECK_SAME(difference(m(nd::ellipsis, nd::array(true)), m.reshape(2, 3, 1)), "at the end");
  CHECK_SAME(difference(m(nd::array({1, 0}), nd::array(true)), nd::array({{3, 4, 5}, {0, 1, 2}})), "with an array");
}

BOOST_AUTO_TEST_CASE(mask_errors) {
  Array a = nd::arange(6).reshape(2, 3);
  BOOST_TEST(message_of<nd::IndexError>([&] {
               a(nd::array({true, false, true})).get();
             }) == "index: the mask of shape (3,) does not match the axes from 0 on of an array of shape (2, 3)");
  // A length of 1 does not broadcast.
  BOOST_CHECK_THROW(a(nd::ones({1, 3}, nd::bool_)).get(), nd::IndexError);
  BOOST_CHECK_THROW(a(nd::ones({2, 1}, nd::bool_)) = 1, nd::IndexError);
  BOOST_CHECK_THROW(a(0, nd::ones({3, 1}, nd::bool_)).get(), nd::IndexError);
  BOOST_CHECK_THROW(nd::scatter_add(a, nd::ones({2, 3, 1}, nd::bool_), 1), nd::IndexError);
  BOOST_TEST(message_of<nd::ValueError>([&] {
               a(a > 2) = nd::array({1, 2});
             }) == "assignment: shape (2,) cannot be broadcast to (3,): length 2 on axis -1 is neither 1 nor 3");
  BOOST_TEST(message_of<nd::IndexError>([&] {
               a(nd::array({true, true}), nd::array({true, true, true})).get();
             }) == "index: shapes (2,) and (3,) do not match: lengths 2 and 3 on axis -1 are neither equal nor 1");
  CHECK_SAME(difference(a, nd::arange(6).reshape(2, 3)), "unchanged");
}

// ---- functions over conditions ------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(compress_and_extract) {
  const Array a = nd::arange(6).reshape(3, 2);
  CHECK_SAME(difference(nd::compress(nd::array({0, 1}), a, {.axis = 0}), nd::array({{2, 3}})), "a shorter condition");
  CHECK_SAME(difference(nd::compress(nd::array({true, false, true}), a, {.axis = -2}), nd::array({{0, 1}, {4, 5}})),
             "rows");
  CHECK_SAME(difference(nd::compress(nd::array({std::nan(""), 0.0}), a, {.axis = 1}), nd::array({{0}, {2}, {4}})),
             "columns");
  CHECK_SAME(difference(nd::compress(nd::array({0, 1, 1}), a.T()), nd::array({2, 4})), "flat");
  const Array out = nd::zeros(2, nd::int64);
  BOOST_TEST(nd::compress(nd::array({0, 1, 1}), a, {.out = out}).get() == out.get());
  CHECK_SAME(difference(out, nd::array({1, 2})), "an output");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::compress(nd::ones({1, 1}), a);
             }) == "compress: the condition has rank 2, must have rank 1");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::compress(nd::ones(3), a, {.axis = 1}); }) ==
             "compress: the condition has 3 elements, axis 1 of shape (3, 2) is shorter");
  BOOST_CHECK_THROW(nd::compress(nd::ones(3), a, {.axis = 2}), nd::ValueError);
  BOOST_CHECK_THROW(nd::compress(nd::ones(2), a, {.axis = 0, .out = nd::zeros({2, 2})}), nd::TypeError);
  BOOST_CHECK_THROW(nd::compress(nd::ones(2), a, {.axis = 0, .out = out}), nd::ValueError);

  CHECK_SAME(difference(nd::extract(a % 2 == 1, a), nd::array({1, 3, 5})), "extract");
  CHECK_SAME(difference(nd::extract(nd::array({0, 0, 2}), a.T()), nd::array({4})), "extract by a shorter condition");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::extract(nd::ones(7), a); }) ==
             "extract: the condition has 7 elements, the array 6");
}

BOOST_AUTO_TEST_CASE(take_along_one_axis) {
  std::mt19937 random(5);
  for (nd::Dtype t : {nd::int8, nd::uint64, nd::int32}) {
    const Array a = test::random_array({3, 4, 5}, nd::float32, random);
    const Array i =
        nd::array(std::vector<int>{1, 3, 0, 0, 2, 3}, {3, 2, 1}, {.dtype = t});  // broadcast over the last axis
    const Array actual = nd::take_along_axis(scattered(a, random), scattered(i, random), 1);
    BOOST_TEST(actual.shape() == (nd::Shape{3, 2, 5}));
    bool good = true;
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 2; ++y)
        for (int z = 0; z < 5; ++z)
          good &= actual(x, y, z).item<float>() == a(x, i(x, y, 0).item<int>(), z).item<float>();
    BOOST_TEST(good);
  }
  const Array a = nd::array({{5, 6}, {7, 8}});
  CHECK_SAME(difference(nd::take_along_axis(a, nd::array({-1, -4}), std::nullopt), nd::array({8, 5})), "flat");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::take_along_axis(a, nd::array({0}), 0); }) ==
             "take_along_axis: the indices have rank 1, the array 2; the ranks must be the same");
  BOOST_TEST(message_of<nd::IndexError>([&] {
               nd::take_along_axis(a, nd::zeros({1, 1}), 0);
             }) == "take_along_axis: index arrays must be of an integer dtype, not float64");
  BOOST_TEST(message_of<nd::IndexError>([&] {
               nd::take_along_axis(nd::zeros({0, 2}), nd::zeros({1, 2}, nd::int64), 0);
             }) == "take_along_axis: an axis of length 0 has no elements for indices of shape (1, 2)");
  BOOST_CHECK_THROW(nd::take_along_axis(a, nd::zeros({2, 2}, nd::int64), 2), nd::ValueError);
  BOOST_CHECK_THROW(nd::take_along_axis(a, nd::zeros({1, 3}, nd::int64), 0), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(open_grids) {
  const Array a = nd::arange(12).reshape(3, 4);
  const auto grid = nd::ix_({nd::array({0, 2}), nd::array({false, true, false, true})});
  CHECK_SAME(difference(a(grid[0], grid[1]), nd::array({{1, 3}, {9, 11}})), "rows and columns");
  const auto none = nd::ix_({nd::zeros(0), nd::array({1})});
  BOOST_TEST(none[0].shape() == (nd::Shape{0, 1}));
  BOOST_TEST(none[0].dtype() == nd::int64);
  BOOST_TEST(nd::Array(a(none[0], none[1])).shape() == (nd::Shape{0, 1}));
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::ix_({nd::array({1}), nd::array({{1}})});
             }) == "ix_: argument 1 has rank 2, must have rank 1");
}

BOOST_AUTO_TEST_SUITE_END()
