// Running sums and products against loops over the elements: every dtype, axis, memory layout. (Golden values:
// reduction_test.cpp.)
#include <catena/ndarray/routines/scan.h>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/families.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/tests/support/ndarray_rows.h>

namespace {

using nd::Array;
using nd::Slice;
using test::difference;
using test::message_of;
using test::rows_along;
using test::same_bits;
using test::scattered;

const std::vector<nd::Shape> kShapes = {{0},       {1},       {5},          {1023},      {3000},
                                        {3, 0, 2}, {7, 9},    {2, 3, 4, 5}, {2000, 3},   {3, 2000},
                                        {40, 600}, {600, 40}, {1, 1, 30},   {33, 1, 70}, {5, 40, 6}};

// Elements whose sums and products of any order are exact in every dtype that they are joined in, before the last
// rounding.
Array exact_array(const nd::Shape& shape, nd::Dtype dtype, bool product, std::mt19937& random) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < catena::size_of(shape); ++i)
    values.push_back(product                      ? (random() % 64 == 0 ? -1.0 : 1.0)
                     : catena::is_floating(dtype) ? double(int(random() % 33) - 16) / 8
                                                  : double(int(random() % 200) - 100));
  return nd::array(values, shape, {.dtype = dtype});
}

// The dtype in which sums of `t` are kept.
nd::Dtype result_dtype(nd::Dtype t) {
  if (catena::is_floating(t)) return t;
  return t == nd::uint8 || t == nd::uint16 || t == nd::uint32 || t == nd::uint64 ? nd::uint64 : nd::int64;
}

// f(a, b) of doubles or of integers modulo 2^64.
template <class F> Array running(const Array& a, int axis, F f) {
  return nd::visit_real_dtype("scan", result_dtype(a.dtype()), [&](auto tag) {
    using R = typename decltype(tag)::type;
    using Wide = std::conditional_t<std::is_integral_v<R>, std::uint64_t, double>;
    std::vector<Wide> in;
    if constexpr (std::is_integral_v<R>)
      for (R v : a.to_vector<R>()) in.push_back(Wide(v));
    else in = a.to_vector<double>();
    std::vector<R> out(in.size());
    for (const auto& row : rows_along(a.shape(), axis))
      for (std::size_t k = 0; k < row.size(); ++k) {
        if (k > 0) in[row[k]] = f(in[row[k - 1]], in[row[k]]);
        if constexpr (std::is_arithmetic_v<R>) out[row[k]] = R(in[row[k]]);
        else out[row[k]] = R(float(in[row[k]]));
      }
    return nd::array(out, a.shape());
  });
}

// Of a view, into outputs of several kinds.
void check_sums(nd::Dtype t, const nd::Shape& shape, int axis, const Array& a, const Array& expected,
                std::mt19937& random) {
  const Array view = scattered(a, random), out = scattered(nd::zeros(shape, expected.dtype()), random),
              other = nd::zeros(shape, nd::float64);
  BOOST_TEST(same_bits(nd::cumsum(view, {.axis = axis}), expected), "scattered " << t << ' ' << shape << ' ' << axis);
  BOOST_TEST(nd::cumsum(view, {.axis = axis - shape.size(), .out = out}).get() == out.get());
  BOOST_TEST(same_bits(out, expected), "output " << t << ' ' << shape << ' ' << axis);
  nd::cumsum(a, {.axis = axis, .out = other});
  BOOST_TEST(same_bits(other, expected.astype(nd::float64)),
             "output of another dtype " << t << ' ' << shape << ' ' << axis);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scan)

BOOST_AUTO_TEST_CASE(every_dtype_axis_and_layout) {
  std::mt19937 random(1);
  test::for_dtypes_and_shapes(kShapes, [&](nd::Dtype t, const nd::Shape& shape) {
    const Array a = exact_array(shape, t, false, random), b = exact_array(shape, t, true, random);
    for (int axis = 0; axis < shape.size(); ++axis) {
      const Array sums = running(a, axis, [](auto x, auto y) { return x + y; });
      const Array products = running(b, axis, [](auto x, auto y) { return x * y; });
      CHECK_SAME(difference(nd::cumsum(a, {.axis = axis}), sums), "cumsum " << t << ' ' << shape << ' ' << axis);
      CHECK_SAME(difference(nd::cumprod(b, {.axis = axis}), products), "cumprod " << t << ' ' << shape << ' ' << axis);
      CHECK_SAME(difference(nd::cumprod(scattered(b, random), {.axis = axis}), products),
                 "cumprod " << t << ' ' << shape << ' ' << axis);
      check_sums(t, shape, axis, a, sums, random);
    }
  });
}

// Numbers of which sums round, against sums of one element after the other; on CUDA, where the order is another one,
// numbers of which they do not.
BOOST_AUTO_TEST_CASE(shapes_drawn_by_a_seed) {
  std::mt19937 random(9);
  const int threads = catena::max_threads();
  for (int round = 0; round < 40; ++round) {
    const auto length = std::int64_t(std::exp2(double(random() % 1400) / 100));
    const auto rows = std::int64_t(std::exp2(double(random() % 1400) / 100) * 3 / double(length) + 1);
    const int axis = int(random() % 2);
    const nd::Shape shape = axis == 0 ? nd::Shape{length, rows} : nd::Shape{rows, length};
    const auto check = [&](auto tag) {
      using E = decltype(tag);
      const Array rounded = test::random_array(shape, catena::dtype_of<E>, random),
                  a = rounded.device().kind == nd::Device::Kind::cpu
                          ? rounded
                          : exact_array(shape, catena::dtype_of<E>, false, random);
      auto sums = a.to_vector<E>();
      for (const auto& row : rows_along(shape, axis))
        for (std::size_t k = 1; k < row.size(); ++k) sums[row[k]] += sums[row[k - 1]];
      const Array expected = nd::array(sums, shape);
      for (const Array& view : {a, scattered(a, random)})
        for (int n : {1, 2}) {
          catena::set_max_threads(n);
          BOOST_TEST(same_bits(nd::cumsum(view, {.axis = axis}), expected),
                     catena::dtype_of<E> << ' ' << shape << ' ' << axis << ' ' << n);
        }
      catena::set_max_threads(threads);
    };
    if (round % 3 == 0) check(std::int64_t());
    else if (round % 3 == 1) check(float());
    else check(double());
  }
}

BOOST_AUTO_TEST_CASE(integers_wrap) {
  CHECK_SAME(difference(nd::cumsum(nd::array({INT64_MAX, std::int64_t(1), std::int64_t(1)})),
                        nd::array({INT64_MAX, INT64_MIN, INT64_MIN + 1})),
             "int64");
  CHECK_SAME(
      difference(nd::cumprod(nd::array({UINT64_MAX, std::uint64_t(2)})), nd::array({UINT64_MAX, UINT64_MAX - 1})),
      "uint64");
  CHECK_SAME(difference(nd::cumsum(nd::array({100, 100, 100}), {.dtype = nd::int8}),
                        nd::array({100, -56, 44}, {.dtype = nd::int8})),
             "int8");
}

BOOST_AUTO_TEST_CASE(no_axis) {
  const Array a = nd::arange(6).reshape(2, 3);
  CHECK_SAME(difference(nd::cumsum(a), nd::array({0, 1, 3, 6, 10, 15})), "flat");
  CHECK_SAME(difference(nd::cumsum(a.T()), nd::array({0, 3, 4, 8, 10, 15})), "flat view");
  CHECK_SAME(difference(nd::cumprod(nd::array(3.5)), nd::array({3.5})), "0-d");
  BOOST_TEST(nd::cumsum(nd::zeros({0, 3})).shape() == nd::Shape{0});
}

BOOST_AUTO_TEST_CASE(dtypes) {
  const Array a = nd::array({1.5, 2.5, -3.25, 200.0});
  for (nd::Dtype t : test::kAllDtypes) {
    BOOST_TEST(nd::cumsum(a, {.dtype = t}).dtype() == t);
    BOOST_TEST(nd::cumprod(a, {.dtype = t}).dtype() == t);
    BOOST_TEST(nd::cumsum(a.astype(t)).dtype() == result_dtype(t));
  }
  // Elements are converted before they are joined.
  CHECK_SAME(difference(nd::cumsum(a, {.dtype = nd::int32}), nd::array({1, 3, 0, 200}, {.dtype = nd::int32})), "int32");
  CHECK_SAME(difference(nd::cumsum(nd::array({true, true, false}), {.dtype = nd::float32}), nd::array({1.f, 2.f, 2.f})),
             "float32");
  CHECK_SAME(difference(nd::cumsum(nd::array({200, 100}), {.dtype = nd::uint8, .out = nd::zeros(2)}),
                        nd::array({200.0, 44.0})),
             "uint8 into float64");
  // float16 is kept in float32: 2048 + 1 + 1 is 2050, though 2048 + 1 rounds to 2048.
  CHECK_SAME(difference(nd::cumsum(nd::array({2048, 1, 1}, {.dtype = nd::float16})),
                        nd::array({2048, 2048, 2050}, {.dtype = nd::float16})),
             "float16");
}

BOOST_AUTO_TEST_CASE(special_values) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  CHECK_SAME(difference(nd::cumsum(nd::array({-0.0, -0.0, 0.0})), nd::array({-0.0, -0.0, 0.0}), 0, 0, true),
             "signed zeros");
  CHECK_SAME(difference(nd::cumsum(nd::array({1.0, inf, -inf, 2.0})), nd::array({1.0, inf, nan, nan})), "infinities");
  const Array a = nd::array({{1.0, nan, 3.0}, {nan, 2.0, 4.0}});
  CHECK_SAME(difference(nd::nancumsum(a, {.axis = 1}), nd::array({{1.0, 1.0, 4.0}, {0.0, 2.0, 6.0}})), "nancumsum");
  CHECK_SAME(difference(nd::nancumprod(a, {.axis = 1}), nd::array({{1.0, 1.0, 3.0}, {1.0, 2.0, 8.0}})), "nancumprod");
  CHECK_SAME(difference(nd::nancumsum(a.astype(nd::float16)), nd::array({1, 1, 4, 4, 6, 10}, {.dtype = nd::float16})),
             "float16");
  CHECK_SAME(difference(nd::nancumsum(nd::array({1, 2}, {.dtype = nd::int8})), nd::array({1, 3})), "integers");
}

BOOST_AUTO_TEST_CASE(outputs) {
  Array a = nd::arange(6).reshape(2, 3);
  BOOST_TEST(nd::cumsum(a, {.axis = 0, .out = a}).get() == a.get());
  CHECK_SAME(difference(a, nd::array({{0, 1, 2}, {3, 5, 7}})), "in place");
  Array line = nd::arange(5);
  nd::cumsum(line(Slice({}, 4)), {.out = line(Slice(1, {}))});
  CHECK_SAME(difference(line, nd::array({0, 0, 1, 3, 6})), "overlapping");
  nd::cumsum(line, {.out = line(Slice({}, {}, -1))});
  CHECK_SAME(difference(line, nd::array({10, 4, 1, 0, 0})), "backwards into itself");
  const auto version = line.version();
  nd::cumprod(nd::ones(5), {.out = line});
  BOOST_TEST(line.version() > version);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::cumsum(a, {.axis = 0, .out = line}); }) ==
             "cumsum: the output has shape (5,), the result (2, 3)");
  BOOST_CHECK_THROW(nd::cumsum(line, {.out = nd::broadcast_to(nd::zeros(1), {5})}), nd::ValueError);
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::cumprod(a, {.axis = 2}); }) ==
             "cumprod: axis 2 is out of bounds for array of dimension 2");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::nancumsum(nd::array(1), {.axis = 1}); }) ==
             "nancumsum: axis 1 is out of bounds for array of dimension 1");
  BOOST_TEST(message_of<nd::TypeError>([&] { nd::cumsum(Array()); }) == "cumsum: the array is null");
}

BOOST_AUTO_TEST_CASE(with_a_first_element) {
  const Array a = nd::arange(1, 7).reshape(2, 3);
  CHECK_SAME(
      difference(nd::cumulative_sum(a, {.axis = 1, .include_initial = true}), nd::array({{0, 1, 3, 6}, {0, 4, 9, 15}})),
      "sum");
  CHECK_SAME(difference(nd::cumulative_prod(a, {.axis = 0, .include_initial = true}),
                        nd::array({{1, 1, 1}, {1, 2, 3}, {4, 10, 18}})),
             "prod");
  CHECK_SAME(difference(nd::cumulative_sum(a, {.axis = -1}), nd::array({{1, 3, 6}, {4, 9, 15}})), "without");
  CHECK_SAME(difference(nd::cumulative_sum(nd::arange(4)), nd::array({0, 1, 3, 6})), "rank 1");
  CHECK_SAME(difference(nd::cumulative_prod(nd::zeros(0), {.include_initial = true}), nd::array({1.0})), "of nothing");
  CHECK_SAME(difference(nd::cumulative_sum(nd::zeros({0, 2}), {.axis = 1, .include_initial = true}), nd::zeros({0, 3})),
             "empty");
  const Array out = nd::zeros({2, 4}, nd::float32);
  nd::cumulative_sum(a, {.axis = 1, .out = out, .include_initial = true});
  CHECK_SAME(difference(out, nd::array({{0.f, 1.f, 3.f, 6.f}, {0.f, 4.f, 9.f, 15.f}})), "output");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::cumulative_sum(a); }) ==
             "cumulative_sum: an array of shape (2, 3) needs an axis; only rank 1 has a default");
  BOOST_TEST(message_of<nd::ValueError>([&] { nd::cumulative_prod(nd::array(1)); }) ==
             "cumulative_prod: a 0-d array has no axis");
  BOOST_TEST(message_of<nd::ValueError>([&] {
               nd::cumulative_sum(a, {.axis = 1, .out = nd::zeros({2, 3}), .include_initial = true});
             }) == "cumulative_sum: the output has shape (2, 3), the result (2, 4)");
}

// Sums that round: the order of combination must not depend on threads, and on the CPU not on the layout.
BOOST_AUTO_TEST_CASE(bits_of_sums_that_round) {
  std::mt19937 random(2);
  const bool any_layout = nd::current_device().kind == nd::Device::Kind::cpu;
  const int before = catena::max_threads();
  for (nd::Dtype t : {nd::float16, nd::float32, nd::float64}) {
    std::vector<double> values(60 * 1100);
    for (double& v : values) v = std::generate_canonical<double, 53>(random) - 0.4;
    const Array a = nd::array(values, {60, 1100}, {.dtype = t});
    for (int axis : {0, 1}) {
      catena::set_max_threads(1);
      const Array expected = nd::cumsum(a, {.axis = axis});
      catena::set_max_threads(3);
      BOOST_TEST(same_bits(nd::cumsum(a, {.axis = axis}), expected));
      // On a device the layout chooses the form of a scan, which rounds in another order.
      const double tolerance = any_layout ? 0 : t == nd::float16 ? 0.3 : t == nd::float32 ? 1e-3 : 1e-10;
      const auto check_layout = [&](const Array& sums) {
        CHECK_SAME(difference(sums, expected, tolerance, any_layout ? 0 : 1e-3), t << " along " << axis);
        if (any_layout) BOOST_TEST(same_bits(sums, expected));
      };
      for (int i = 0; i < 4; ++i) check_layout(nd::cumsum(scattered(a, random), {.axis = axis}));
      check_layout(nd::cumsum(a.T(), {.axis = 1 - axis}).T());
      // The last result is the sum, but for rounding.
      const Array last = nd::take(expected, -1, {.axis = axis});
      CHECK_SAME(difference(last, nd::sum(a, {.axis = axis}), t == nd::float16 ? 0.3 : 1e-3, 1e-3), "sum");
    }
  }
  catena::set_max_threads(before);
}

// Extrema have a running form, too.
BOOST_AUTO_TEST_CASE(rows_of_extrema) {
  std::mt19937 random(3);
  for (nd::Dtype t : {nd::uint8, nd::int16, nd::uint32, nd::float16, nd::float32})
    for (const nd::Shape& shape : {nd::Shape{1500}, nd::Shape{37, 20}, nd::Shape{40001}}) {
      const Array a = test::random_array(shape, t, random);
      for (int axis = 0; axis < shape.size(); ++axis)
        for (const bool largest : {true, false}) {
          const catena::KernelDef& values = largest ? catena::kernels::amax : catena::kernels::amin;
          const catena::KernelDef& places = largest ? catena::kernels::argmax : catena::kernels::argmin;
          const catena::Input input(*a.get());
          const int loop = catena::choose_loop(values, {&input, 1}),
                    loop_of_places = catena::choose_loop(places, {&input, 1});
          const Array best = nd::zeros(shape, t), at = nd::zeros(shape, nd::int64);
          nd::Executor& backend = nd::executor(a.device().kind);
          const nd::StreamRef stream = nd::current_stream(a.device());
          backend.execute(
              catena::bound::Scan{&values, loop, catena::operand_of(*a.get()), axis, catena::operand_of(*best.get())},
              stream);
          backend.execute(catena::bound::Scan{&places, loop_of_places, catena::operand_of(*a.get()), axis,
                                              catena::operand_of(*at.get())},
                          stream);
          auto expected = a.to_vector<double>();
          std::vector<std::int64_t> expected_at(expected.size());
          for (const auto& row : rows_along(shape, axis))
            for (std::size_t k = 1; k < row.size(); ++k) {
              const bool better =
                  largest ? expected[row[k]] > expected[row[k - 1]] : expected[row[k]] < expected[row[k - 1]];
              expected_at[row[k]] = better ? std::int64_t(k) : expected_at[row[k - 1]];
              if (!better) expected[row[k]] = expected[row[k - 1]];
            }
          CHECK_SAME(difference(best, nd::array(expected, shape, {.dtype = t})),
                     values.name << ' ' << t << ' ' << shape << ' ' << axis);
          CHECK_SAME(difference(at, nd::array(expected_at, shape)),
                     places.name << ' ' << t << ' ' << shape << ' ' << axis);
        }
    }
}

// Loops of running results are compiled for the rows that are may_scan; a call over another row is refused.
BOOST_AUTO_TEST_CASE(rows_without_a_running_form) {
  const Array a = nd::arange(6), out = nd::zeros({6}, nd::int64);
  const catena::KernelDef& mean = catena::kernels::mean;
  const catena::Input input(*a.get());
  const int loop = catena::choose_loop(mean, {&input, 1});
  const std::string message = test::message_of<catena::TypeError>([&] {
    nd::internal::execute(catena::call::Scan{&mean, loop, a.get(), 0, out.get()});
  });
  BOOST_TEST(message == "mean: has no running form");
  BOOST_TEST(out.to_vector<std::int64_t>() == std::vector<std::int64_t>(6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
