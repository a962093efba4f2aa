// ReductionKernel: the rules K24-K33 of user-defined kernels by their numbers, against loops on the host.
#include <catena/ndarray/user_kernel/reduction_kernel.h>

#include <algorithm>
#include <cmath>

#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Axes;
using nd::Operand;
using nd::ReductionKernel;
using nd::Shape;
using test::check_values;
using test::contains;
using test::message_of;
using test::range;

const ReductionKernel& total() {
  static const ReductionKernel kernel("T x", "T y", "x", "a + b", "y = a", "0", "total");
  return kernel;
}
// A kernel that no compiler takes: calling it proves that nothing was compiled.
ReductionKernel broken(std::optional<std::string_view> identity) {
  return {"T x", "T y", "x + undefined_name", "a + b", "y = a", identity, "broken_reduction"};
}

// Sums of int64 elements over the axes, one after the other, in C order of the result.
std::vector<std::int64_t> sums(const Array& x, const nd::Dims& axes) {
  const auto values = x.to_vector<std::int64_t>();
  Shape kept;
  for (int a = 0; a < x.ndim(); ++a)
    kept.push_back(std::find(axes.begin(), axes.end(), a) == axes.end() ? x.shape()[a] : 1);
  std::vector<std::int64_t> result(std::size_t(catena::size_of(kept)));
  for (std::size_t k = 0; k < values.size(); ++k) {
    std::int64_t rest = std::int64_t(k), at = 0, step = 1;
    for (int a = x.ndim() - 1; a >= 0; --a) {
      const std::int64_t position = rest % x.shape()[a];
      rest /= x.shape()[a];
      if (kept[a] != 1) at += position * step;
      step *= kept[a];
    }
    result[std::size_t(at)] += values[k];
  }
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reduction_kernel)

BOOST_AUTO_TEST_CASE(l2_norm) {
  const ReductionKernel l2norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm");
  const Array x = range(10).reshape(2, 5);
  CHECK_SAME(test::difference(l2norm(x, {.axis = 1}), nd::array(std::vector<float>{5.4772258f, 15.968719f}), 0, 1e-7),
             "l2norm");
  BOOST_TEST((l2norm(x).shape() == Shape{}));
  BOOST_TEST(l2norm(x).item<float>() == std::sqrt(285.0f));
  BOOST_TEST((l2norm(x, {.axis = 1, .keepdims = true}).shape() == Shape{2, 1}));
  BOOST_TEST(l2norm.nin() == 1);
  BOOST_TEST(l2norm.nout() == 1);
  BOOST_TEST(l2norm.nargs() == 2);
  BOOST_TEST(l2norm.params()[1].output);
  BOOST_TEST(ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0").name() == "reduce_kernel");
  BOOST_CHECK_THROW(ReductionKernel("T x", "", "x", "a + b", "", "0"), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(any_axes_of_any_layout) {
  std::mt19937 random(1);
  for (const Shape& shape : {Shape{5}, Shape{1}, Shape{4, 7}, Shape{3, 1, 5}, Shape{6, 2, 3, 4}, Shape{300, 5},
                             Shape{5, 300}, Shape{40, 33}}) {
    const Array x = test::random_array(shape, nd::int64, random);
    for (int mask = 0; mask < 1 << shape.size(); ++mask) {
      nd::Dims axes;
      for (int a = 0; a < shape.size(); ++a)
        if ((mask >> a) & 1) axes.push_back(a);
      const auto expected = sums(x, axes);
      check_values(total()(x, {.axis = axes}), expected);
      check_values(total()(test::scattered(x, random), {.axis = axes, .keepdims = true}), expected);
    }
  }
  check_values<int>(total()(range(6, nd::int64).reshape(2, 3), {.axis = -1}), {3, 12});
  BOOST_CHECK_THROW(total()(range(3), {.axis = 1}), nd::ValueError);
  BOOST_CHECK_THROW(total()(range(3), {.axis = {0, 0}}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(large_reductions_are_split) {
  for (const Shape& shape : {Shape{1000003}, Shape{3, 300001}, Shape{300001, 3}}) {
    const Array x = range(catena::size_of(shape), nd::int64).reshape(shape) % 1000;
    for (const int axis : {0, -1}) {
      const int along = axis < 0 ? shape.size() - 1 : 0;
      check_values(total()(x, {.axis = axis}), sums(x, {along}));
    }
    // The same order on every launch.
    const Array f = nd::sqrt(x.astype(nd::float32));
    BOOST_TEST(test::same_bits(total()(f), total()(f)));
  }
}

BOOST_AUTO_TEST_CASE(names_in_the_expressions) {
  // Parameters may be named a and b: the values that reduce_expr combines hide them there. Scalars are known
  // everywhere.
  const ReductionKernel p_norm("T a, T b, T p", "T y", "pow(abs(a - b), p)", "a + b", "y = pow(a, 1 / p)", "0",
                               "p_norm");
  const Array x = range(4, nd::float64), y = nd::ones({4}, nd::float64);
  BOOST_TEST(p_norm(x, y, 3.0).item<double>() == std::cbrt(1.0 + 0 + 1 + 8), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(p_norm(x, y, 1.0).item<double>() == 4);
}

BOOST_AUTO_TEST_CASE(the_accumulator_has_the_type_of_the_first_output_or_reduce_type) {
  const Array x = nd::full({1000}, 100, {.dtype = nd::int8});
  check_values<int>(total()(x), {int(std::int8_t(100000))});
  const ReductionKernel wide("T x", "T y, int64 whole", "x", "a + b", "y = a / 1000; whole = a", "0", "wide_total",
                             {.reduce_type = "long long"});
  const auto out = wide.call(std::vector<Operand>{x});
  check_values<int>(out[0], {100});
  check_values<int>(out[1], {100000});
  // A type of the preamble: the position of the largest element.
  const ReductionKernel arg_max("T x", "int64 y", "Best(x, _j)",
                                "a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b", "y = a.at",
                                "Best()", "arg_max", {.reduce_type = "Best", .preamble = R"(
    struct Best {
      T value;
      long long at;
      __device__ Best() : value(-INFINITY), at(1LL << 62) {}
      __device__ Best(T v, long long k) : value(v), at(k) {}
    };)"});
  std::mt19937 random(2);
  for (const std::int64_t size : {1, 7, 1000, 200000}) {
    const Array v = test::random_array({size}, nd::float32, random);
    const auto values = v.to_vector<float>();
    BOOST_TEST(arg_max(v).item<std::int64_t>() == std::max_element(values.begin(), values.end()) - values.begin());
  }
}

BOOST_AUTO_TEST_CASE(floats_of_16_bits) {
  for (const nd::Dtype d : {nd::float16, nd::bfloat16}) {
    check_values<float>(total()(nd::ones({100}, d)), {100});
    static const ReductionKernel wide("T x", "T y", "x", "a + b", "y = a", "0", "total_in_float",
                                      {.reduce_type = "float"});
    check_values<float>(wide(nd::ones({64, 4}, d), {.axis = 0}), {64, 64, 64, 64});
  }
}

BOOST_AUTO_TEST_CASE(identity_and_reductions_of_nothing) {
  const Array empty = nd::empty({0, 3}, nd::float32);
  check_values<float>(total()(empty, {.axis = 0}), {0, 0, 0});
  const ReductionKernel shifted("T x", "T y", "x", "a * b", "y = a + 10", "1", "shifted_product");
  check_values<float>(shifted(empty), {11});
  // Without an identity: a value made by default, here 0.
  const ReductionKernel sum("T x", "T y", "x", "a + b", "y = a", std::nullopt, "sum_without_identity");
  check_values<float>(sum(range(4)), {6});
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { sum(empty, {.axis = 0}); }),
                      "ReductionKernel sum_without_identity: shape (0, 3) has no elements along axes (0,), and the "
                      "kernel has no identity"));
  // K17: an empty result compiles nothing.
  BOOST_TEST((broken("0")(empty, {.axis = 1}).shape() == Shape{0}));
  BOOST_TEST((broken(std::nullopt)(empty, {.axis = 1}).shape() == Shape{0}));
  BOOST_CHECK_THROW(broken("0")(range(2)), nd::CompileError);
}

BOOST_AUTO_TEST_CASE(inputs_broadcast_and_outputs_have_the_reduced_shape) {
  const ReductionKernel dot("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot");
  const Array m = range(6, nd::int32).reshape(2, 3), v = range(3, nd::int32);
  check_values<int>(dot({m, v}, {.axis = 1}), {5, 14});
  check_values<int>(dot({m(nd::newaxis), range(4, nd::int32).reshape(4, 1, 1)}, {.axis = {1, 2}}), {0, 15, 30, 45});
  check_values<int>(dot({m, 2}, {.axis = 0}), {6, 10, 14});
  BOOST_CHECK_THROW(dot(m, range(4, nd::int32)), nd::ValueError);
  const Array z = nd::empty({2}, nd::int32);
  BOOST_TEST(dot({m, v, z}, {.axis = 1}).get() == z.get());
  check_values<int>(z, {5, 14});
  // Outputs take no part in broadcasting.
  BOOST_TEST(message_of<nd::ValueError>([&] {
               dot({v, v, z}, {.axis = 0});
             }) == "ReductionKernel dot: the output z has shape (2,), the result ()");
  // One that is a part of an input is as good as another.
  const Array square = range(9, nd::int32).reshape(3, 3);
  total()({square, square(0)}, {.axis = 0});
  check_values<int>(square(0), {9, 12, 15});
}

BOOST_AUTO_TEST_CASE(arguments) {
  BOOST_TEST(contains(message_of<nd::TypeError>([] { total()(range(3), range(3), range(3)); }),
                      "ReductionKernel total: takes 1 inputs, or 2 arguments"));
  BOOST_TEST(contains(message_of<nd::TypeError>([] { total()(range(3), 5); }),
                      "ReductionKernel total: the output y must be an array"));
  BOOST_TEST(contains(message_of<nd::TypeError>([] { total()(range(3), nd::empty({}, nd::float64)); }),
                      "ReductionKernel total: the parameter x is of type T"));
}

BOOST_AUTO_TEST_CASE(out_and_arrays) {
  const Array y = nd::empty({2}, nd::float32), x = range(6).reshape(2, 3);
  BOOST_TEST(total()(x, {.axis = 1, .out = y}).get() == y.get());
  check_values<float>(y, {3, 12});
  const Array kept = nd::empty({1, 3}, nd::float32).T().copy().T();
  total()(x, {.axis = 0, .out = kept, .keepdims = true});
  check_values<float>(kept, {3, 5, 7});
  BOOST_TEST(message_of<nd::ValueError>([&] {
               total()({x, y}, {.axis = 1, .out = y});
             }) == "ReductionKernel total: the output is given twice");
  const ReductionKernel two("T x", "T low, T high", "x", "a + b", "low = a; high = a", "0", "two_results");
  BOOST_CHECK_THROW(two.call(std::vector<Operand>{x}, {.axis = 1, .out = y}), nd::NotImplementedError);
  BOOST_TEST(message_of<nd::ValueError>([&] { total()(5, nd::empty({}, nd::float32)); }) ==
             "ReductionKernel total: at least one input must be an array that is not raw");
  const ReductionKernel raw("raw T x", "T y", "x[_j]", "a + b", "y = a", "0", "raw_alone");
  BOOST_CHECK_THROW(raw(x), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(raw_arrays_and_positions) {
  // Weights by input position (reduced axes leading) and offsets by output position.
  const ReductionKernel weighted(
      "T x, raw T weights, raw T offsets", "T y, int64 sizes", "x * weights[_j] + offsets[_i] * 0", "a + b",
      "y = a + offsets[_i]; sizes = _in_ind.size() * 1000 + _out_ind.size()", "0", "weighted");
  std::mt19937 random(3);
  const Array x = test::random_array({4, 3, 5}, nd::int64, random),
              w = test::random_array({4, 3, 5}, nd::int64, random);
  const Array offsets = range(100, nd::int64) * 7;
  for (const int leading : {1, 2, 3}) {
    nd::Dims axes;
    for (int a = 0; a < leading; ++a) axes.push_back(a);
    auto expected = sums(x * w, axes);
    for (std::size_t k = 0; k < expected.size(); ++k) expected[k] += std::int64_t(k) * 7;
    for (const Array& view : {x, test::scattered(x, random)}) {
      const auto out = weighted.call(std::vector<Operand>{view, test::scattered(w, random), offsets}, {.axis = axes});
      check_values(out[0], expected);
      check_values(out[1], std::vector<std::int64_t>(expected.size(), 60 * 1000 + std::int64_t(expected.size())));
    }
  }
  BOOST_TEST(contains(message_of<nd::NotImplementedError>([&] {
                        weighted.call(std::vector<Operand>{x, w, offsets}, {.axis = 1});
                      }),
                      "ReductionKernel weighted: the parameter weights is raw, which needs the reduced axes to be the "
                      "leading ones; they are (1,)"));
  BOOST_CHECK_THROW(weighted.call(std::vector<Operand>{x, w, offsets}, {.axis = {0, 2}}), nd::NotImplementedError);
  // A scalar in a raw place is no array.
  const ReductionKernel scaled("T x, raw T factor", "T y", "x * factor", "a + b", "y = a", "0", "scaled");
  check_values<int>(scaled({x, 2}, {.axis = 2}), [&] {
    auto s = sums(x, {2});
    for (auto& v : s) v *= 2;
    return std::vector<int>(s.begin(), s.end());
  }());
}

BOOST_AUTO_TEST_CASE(raw_outputs_are_written_by_position) {
  const ReductionKernel spread("T x", "raw T y", "x", "a + b", "y[_out_ind.size() - 1 - _i] = a", "0", "spread");
  const Array y = nd::zeros({5}, nd::int64);
  spread({range(6, nd::int64).reshape(2, 3), y}, {.axis = 0});
  check_values<int>(y, {7, 5, 3, 0, 0});
  BOOST_CHECK_THROW(spread(range(3)), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(positions_along_axes) {
  const ReductionKernel where("T x", "int64 y", "_in_ind.get()[0] * 100 + _in_ind.get()[1] * 10 + _in_ind.get()[2]",
                              "max(a, b)", "y = a * 100 + _out_ind.get()[0] * 10 + _out_ind.get()[1]", "-1",
                              "where_in_reduction", {.reduce_dims = false});
  // Axis 1 is reduced and stands first.
  const Array out = where(nd::zeros({2, 4, 3}, nd::int8), {.axis = 1});
  std::vector<int> expected;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k) expected.push_back((300 + i * 10 + k) * 100 + i * 10 + k);
  check_values(out, expected);
}

BOOST_AUTO_TEST_CASE(all_outputs_are_returned) {
  const ReductionKernel moments(
      "T x", "T mean, T square, int64 count", "Pair{x, x * x}", "(Pair{a.first + b.first, a.second + b.second})",
      "count = _in_ind.size() / _out_ind.size(); mean = a.first / count; square = a.second / count", "Pair{0, 0}",
      "moments", {.reduce_type = "Pair", .preamble = "struct Pair { T first, second; };"});
  const auto out = moments.call(std::vector<Operand>{range(8, nd::float64).reshape(2, 4)}, {.axis = 1});
  BOOST_REQUIRE_EQUAL(out.size(), 3u);
  check_values<double>(out[0], {1.5, 5.5});
  check_values<double>(out[1], {3.5, 31.5});
  check_values<int>(out[2], {4, 4});
  auto [mean, square, count] = moments.call<3>({range(8, nd::float64).reshape(2, 4)}, {.axis = 0});
  check_values<double>(mean, {2, 3, 4, 5});
  check_values<double>(square, {8, 13, 20, 29});
  check_values<int>(count, {2, 2, 2, 2});
  BOOST_TEST(message_of<nd::TypeError>([&] { moments(range(4)); }) ==
             "ReductionKernel moments: has 3 outputs; write auto [u, v, w] = kernel.call<3>(...)");
  BOOST_TEST(message_of<nd::TypeError>([&] { auto [a, b] = total()(range(4)); }) ==
             "ReductionKernel total: has 1 output, and its result is taken for a pair");
}

// The example of the header.
BOOST_AUTO_TEST_CASE(argmax_with_its_value_along_an_axis) {
  const auto argmax = nd::ReductionKernel("T x", "T value, int64 index", "Best(x, _j / _out_ind.size())",
                                          "better(a, b)", "value = a.value; index = a.index", std::nullopt,
                                          "argmax_with_value", {.reduce_type = "Best", .preamble = R"(
    struct Best {
      T value;
      long long index;
      __device__ Best() : value(0), index(-1) {}
      __device__ Best(T v, long long k) : value(v), index(k) {}
    };
    __device__ Best better(Best a, Best b) {
      if (a.index < 0 || b.index < 0) return a.index < 0 ? b : a;
      return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
    })"});
  std::mt19937 random(8);
  for (const Shape& shape : {Shape{4, 3, 5}, Shape{2, 70000, 2}})
    for (const nd::Dtype d : {nd::float64, nd::int8}) {
      const Array x = test::random_array(shape, d, random);
      for (const int axis : {0, 1, 2}) {
        auto [value, index] = argmax(x, {.axis = axis});
        CHECK_SAME(test::difference(value, x.max({.axis = axis})), axis);
        CHECK_SAME(test::difference(index, x.argmax({.axis = axis})), axis);
      }
    }
  auto [value, index] = argmax(nd::array({{3, 9, 4}, {8, 8, -1}}), {.axis = 1});
  check_values<int>(value, {9, 8});
  check_values<int>(index, {1, 0});
}

BOOST_AUTO_TEST_CASE(numbers_of_launches) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: launches are recorded by the software CUDA device\n";
    return;
  }
  const auto launches = [](const Array& x, const Axes& axis) {
    total()(x, {.axis = axis});
    cuda_device::Control control;
    control.reset_records();
    total()(x, {.axis = axis});
    BOOST_TEST(control.synchronisations().empty());
    return control.launches();
  };
  const auto one = launches(range(1000).reshape(50, 20), 1);
  BOOST_REQUIRE_EQUAL(one.size(), 1u);
  BOOST_TEST(one[0].kernel == "total_reduction");
  BOOST_TEST(one[0].grid[1] == 1u);
  // Few outputs of many elements occupy the device through a second stage.
  const auto two = launches(range(300000), {});
  BOOST_REQUIRE_EQUAL(two.size(), 2u);
  BOOST_TEST(two[0].grid[1] > 32u);
  BOOST_TEST(two[1].kernel == "total_reduction_second");
}

BOOST_AUTO_TEST_CASE(options_preamble_and_stream) {
  const ReductionKernel clipped(
      "T x", "T y", "clip(x)", "a + b", "y = a * SCALE", "0", "clipped",
      {.preamble = "__device__ T clip(T v) { return v < 3 ? v : T(3); }", .options = {"-DSCALE=2"}});
  const nd::Stream stream;
  const Array y = clipped(range(6, nd::int32), {.stream = stream});
  stream.synchronize();
  check_values<int>(y, {24});
}

BOOST_AUTO_TEST_CASE(errors_of_the_compiler_show_the_source) {
  const std::string message = message_of<nd::CompileError>([] { broken("0")(range(2)); });
  BOOST_TEST(contains(message, "ReductionKernel broken_reduction: "));
  BOOST_TEST(contains(message, "x + undefined_name"));
  BOOST_TEST(contains(message, " | typedef float T;"));
}

BOOST_AUTO_TEST_SUITE_END()
