// ElementwiseKernel: the rules K1-K35 of user-defined kernels by their numbers, against loops on the host.
#include <catena/ndarray/user_kernel/elementwise_kernel.h>

#include <chrono>
#include <cmath>
#include <thread>

#include <catena/ndarray/cpu/host_compiler.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::ElementwiseKernel;
using nd::Operand;
using nd::Shape;
using test::check_values;
using test::contains;
using test::message_of;
using test::range;

// A kernel that no compiler takes: calling it proves that nothing was compiled.
ElementwiseKernel broken() { return {"T x", "T z", "z = x + undefined_name", "broken"}; }

std::uint64_t compilations() {
  if (nd::current_device().kind == nd::Device::Kind::cpu) return nd::cpu::host_compiler_statistics().compilations;
  return nd::cuda::kernel_cache_statistics().compilations;
}

const ElementwiseKernel& squared_diff() {
  static const ElementwiseKernel kernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff_generic");
  return kernel;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elementwise_kernel)

BOOST_AUTO_TEST_CASE(squared_difference) {
  const ElementwiseKernel fixed("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_diff");
  const Array x = range(10).reshape(2, 5), y = range(5);
  const std::vector<float> expected = {0, 0, 0, 0, 0, 25, 25, 25, 25, 25};
  check_values(fixed(x, y), expected);
  check_values<float>(fixed(x, 5), {25, 16, 9, 4, 1, 0, 1, 4, 9, 16});
  const Array z = nd::empty({2, 5}, nd::float32);
  BOOST_TEST(fixed(x, y, z).get() == z.get());
  check_values(z, expected);
  for (const nd::Dtype d : test::kAllDtypes) {
    if (d == nd::bool_) continue;
    const Array r = squared_diff()(x.astype(d), y.astype(d));
    BOOST_TEST((r.dtype() == d));
    check_values(r, expected);
  }
}

BOOST_AUTO_TEST_CASE(three_placeholders_and_an_explicit_output) {
  const ElementwiseKernel kernel("X x, Y y", "Z z", "z = (x - y) * (x - y)", "squared_diff_super_generic");
  const Array x = range(10).reshape(2, 5), y = range(5, nd::int16);
  const Array z = nd::empty({2, 5}, nd::float64);
  kernel(x, y, z);
  check_values<double>(z, {0, 0, 0, 0, 0, 25, 25, 25, 25, 25});
  // K12: inputs do not say what Z is.
  BOOST_TEST(message_of<nd::TypeError>([&] { kernel(x, y); }) ==
             "ElementwiseKernel squared_diff_super_generic: no array says what the type Z of z is; give an explicit "
             "output or an array");
}

BOOST_AUTO_TEST_CASE(reversed_raw_addend) {
  const ElementwiseKernel add_reverse("T x, raw T y", "T z", "z = x + y[_ind.size() - i - 1]", "add_reverse");
  check_values<float>(add_reverse(range(5), range(5) * 10), {40, 31, 22, 13, 4});
}

BOOST_AUTO_TEST_CASE(fully_raw_kernel_with_a_size) {
  const ElementwiseKernel add_reverse("raw T x, raw T y", "raw T z", "z[i] = x[i] + y[n - i - 1]", "add_reverse_raw");
  const Array x = range(5), y = range(5) * 10;
  check_values<float>(add_reverse({x, y}, {.size = 5}), {40, 31, 22, 13, 4});
  const Array z = nd::zeros({5}, nd::float32);
  add_reverse({x, y, z}, {.size = 3});  // K19: n is the loop's size
  check_values<float>(z, {20, 11, 2, 0, 0});
}

BOOST_AUTO_TEST_CASE(attributes) {
  const ElementwiseKernel k("T x, raw int32 y", "U z", "z = x", "named",
                            {.reduce_dims = false, .preamble = "// nothing"});
  BOOST_TEST(k.nin() == 2);
  BOOST_TEST(k.nout() == 1);
  BOOST_TEST(k.nargs() == 3);
  BOOST_TEST(k.params().size() == 3u);
  BOOST_TEST(k.in_params()[1].name == "y");
  BOOST_TEST(k.out_params()[0].type == "U");
  BOOST_TEST(k.name() == "named");
  BOOST_TEST(k.operation() == "z = x");
  BOOST_TEST(k.preamble() == "// nothing");
  BOOST_TEST(!k.reduce_dims());
  BOOST_TEST(nd::elementwise::ElementwiseKernel("T x", "T z", "z = x").name() == "kernel");
  BOOST_TEST(contains(message_of<nd::ValueError>([] { ElementwiseKernel("T x", "T z", "z = x", "two words"); }),
                      "is no identifier"));
  BOOST_TEST(contains(message_of<nd::ValueError>([] { ElementwiseKernel("T x", "T x", "", "twice"); }),
                      "ElementwiseKernel twice: there are two parameters named x"));
}

BOOST_AUTO_TEST_CASE(element_types) {
  // Every type under its name, by its size and by how it converts.
  const ElementwiseKernel sizes("T x", "int32 bytes", "bytes = sizeof(T) * 10 + (T(-1) < T(0))", "sizes");
  for (const nd::Dtype d : test::kAllDtypes) {
    const bool is_signed = nd::kind_of(d) == nd::DtypeKind::signed_ || nd::kind_of(d) == nd::DtypeKind::floating;
    check_values<int>(sizes(nd::zeros({1}, d)), {int(nd::itemsize(d)) * 10 + is_signed});
  }
}

BOOST_AUTO_TEST_CASE(floats_of_16_bits_compute_in_float_and_round_when_stored) {
  const ElementwiseKernel chain("T x, T y", "T z, T w, U wide",
                                "T product = x * y; product += x; product /= 3; z = product; wide = x * y; "
                                "w = max(min(x, y), T(-1)) - sqrt(y * y)",
                                "half_chain");
  std::mt19937 random(3);
  for (const nd::Dtype d : {nd::float16, nd::bfloat16}) {
    const Array x = test::random_array({500}, d, random), y = test::random_array({500}, d, random);
    const auto out =
        chain.call(std::vector<Operand>{x, y, nd::empty({500}, d), nd::empty({500}, d), nd::empty({500}, nd::float32)});
    nd::visit_dtype(d, [&](auto tag) {
      using E = typename decltype(tag)::type;
      if constexpr (sizeof(E) == 2 && !std::is_integral_v<E>) {
        const auto a = x.to_vector<E>(), b = y.to_vector<E>(), z = out[0].to_vector<E>(), w = out[1].to_vector<E>();
        const auto wide = out[2].to_vector<float>();
        for (std::size_t k = 0; k < a.size(); ++k) {
          const float p = float(a[k]), q = float(b[k]);
          const E product(p * q), sum(float(product) + p), third(float(sum) / 3);
          BOOST_TEST(z[k].bits == third.bits);
          BOOST_TEST(wide[k] == p * q);
          BOOST_TEST(w[k].bits == E(std::max(std::min(p, q), -1.0f) - std::sqrt(q * q)).bits);
        }
      }
    });
  }
}

BOOST_AUTO_TEST_CASE(functions_of_float16) {
  const ElementwiseKernel kinds(
      "float16 x, float16 y", "int32 kind, float16 c, float16 next",
      "kind = isnan(x) + 2 * isinf(x) + 4 * isfinite(x) + 8 * signbit(x); c = copysign(x, y); next = nextafter(x, y)",
      "half_kinds");
  const double inf = HUGE_VAL, tiny = std::ldexp(1.0, -24);
  const std::vector<double> x = {1, -1, 0, -0.0, inf, -inf, NAN, 65504, tiny, 2, 2},
                            y = {2, 2, -1, 1, 0, 0, 1, inf, 0, 1, 2};
  const std::vector<double> next = {1 + std::ldexp(1.0, -10),
                                    -1 + std::ldexp(1.0, -11),
                                    -tiny,
                                    tiny,
                                    65504,
                                    -65504,
                                    NAN,
                                    inf,
                                    0,
                                    2 - std::ldexp(1.0, -10),
                                    2};
  const auto out = kinds.call(std::vector<Operand>{nd::array(x).astype(nd::float16), nd::array(y).astype(nd::float16)});
  std::vector<int> expected;
  for (const double v : x)
    expected.push_back(std::isnan(v) + 2 * std::isinf(v) + 4 * std::isfinite(v) + 8 * std::signbit(v));
  check_values(out[0], expected);
  const auto c = out[1].to_vector<double>(), n = out[2].to_vector<double>();
  for (std::size_t k = 0; k < x.size(); ++k) {
    BOOST_TEST((std::isnan(x[k]) || c[k] == std::copysign(x[k], y[k])), k);
    BOOST_TEST(std::signbit(c[k]) == std::signbit(y[k]), k);
    BOOST_TEST((n[k] == next[k] || (std::isnan(n[k]) && std::isnan(next[k]))),
               k << ": " << n[k] << " instead of " << next[k]);
  }
}

BOOST_AUTO_TEST_CASE(numbers_and_kinds_of_arguments) {
  const Array x = range(3);
  const auto count = message_of<nd::TypeError>([&] { squared_diff()(x); });
  BOOST_TEST(count ==
             "ElementwiseKernel squared_diff_generic: takes 2 inputs, or 3 arguments with its outputs; 1 were given");
  BOOST_CHECK_THROW(squared_diff()(x, x, x, x), nd::TypeError);
  BOOST_TEST(message_of<nd::TypeError>([&] { squared_diff()(x, x, 5); }) ==
             "ElementwiseKernel squared_diff_generic: the output z must be an array");
  BOOST_CHECK_THROW(squared_diff()(x, Array()), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(arrays_and_stream_are_on_one_device) {
  const Array x = range(3);
  const nd::Stream stream;
  check_values<float>(squared_diff()({x, 1}, {.stream = stream}), {1, 0, 1});
  stream.synchronize();
  if (nd::current_device().kind == nd::Device::Kind::cpu) {
    std::cout << "skipped: arrays on two devices (there is one)\n";
    return;
  }
  nd::Array on_cpu = x.to_device(nd::cpu_device);
  BOOST_TEST(
      contains(message_of<nd::ValueError>([&] { squared_diff()(x, on_cpu); }), "arrays are on cuda:0 and cpu:0"));
  BOOST_CHECK_THROW(squared_diff()({on_cpu, 1}, {.stream = stream}), nd::ValueError);
  check_values<float>(squared_diff()(on_cpu, 1), {1, 0, 1});
}

BOOST_AUTO_TEST_CASE(dtypes_are_strict) {
  const ElementwiseKernel fixed("float32 x, T y", "T z", "z = x + y", "strict");
  BOOST_TEST(message_of<nd::TypeError>([&] { fixed(range(3, nd::float64), range(3)); }) ==
             "ElementwiseKernel strict: the parameter x is float32, its array has dtype float64");
  BOOST_TEST(message_of<nd::TypeError>([&] { squared_diff()(range(3), range(3, nd::float64)); }) ==
             "ElementwiseKernel squared_diff_generic: the parameter y is of type T, which is float32 because of x; its "
             "array has dtype float64");
  // Outputs come first.
  const Array z = nd::empty({3}, nd::float64);
  BOOST_TEST(message_of<nd::TypeError>([&] { squared_diff()(range(3), 1, z); }) ==
             "ElementwiseKernel squared_diff_generic: the parameter x is of type T, which is float64 because of z; its "
             "array has dtype float32");
  // A scalar does not fix a placeholder, whatever its type; an explicit output does.
  check_values<double>(squared_diff()(2.5, 1, nd::empty({}, nd::float64)), {2.25});
  BOOST_CHECK_THROW(squared_diff()({2.5, 1}, {.size = 3}), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(scalars_are_converted_to_the_type_of_their_parameter) {
  const ElementwiseKernel take("int8 x, bool y, T z, raw T w", "T out", "out = x * 100 + y * 10 + z + w",
                               "take_scalars");
  const Array out = nd::zeros({2}, nd::int32);
  take(257, 0.25, 3.9, 7, out);  // int8(257) = 1, bool(0.25) = true, int32(3.9) = 3; a raw parameter holds the value
  check_values<int>(out, {120, 120});
  take(-1, 0, nd::array(std::vector<int>{1, 2}), 0, out);
  check_values<int>(out, {-99, -98});
}

BOOST_AUTO_TEST_CASE(broadcasting) {
  const ElementwiseKernel minus("T x, T y", "T z", "z = x - y", "minus");
  std::mt19937 random(5);
  for (const auto& [a, b] : std::vector<std::pair<Shape, Shape>>{
           {{4, 1, 3}, {5, 1}}, {{7}, {}}, {{}, {}}, {{1}, {2, 3}}, {{2, 3, 4}, {2, 3, 4}}}) {
    const Array x = test::random_array(a, nd::float64, random), y = test::random_array(b, nd::float64, random);
    CHECK_SAME(test::difference(minus(x, y), nd::subtract(x, y)), catena::to_string(a));
    const Array u = test::scattered(x, random), v = test::scattered(y, random);
    BOOST_TEST(test::same_bits(minus(u, v), minus(x, y)));
    const Array out = test::scattered(minus(x, y), random);
    minus(u, v, out);
    BOOST_TEST(test::same_bits(out, minus(x, y)));
  }
  BOOST_TEST(
      message_of<nd::ValueError>([&] { minus(range(3), range(4)); }) ==
      "ElementwiseKernel minus: shapes (3,) and (4,) do not match: lengths 3 and 4 on axis -1 are neither equal nor 1");
  // The output takes part, and must have the common shape.
  const Array z = nd::empty({2, 3}, nd::float32);
  check_values<float>(minus(range(3), 1, z), {-1, 0, 1, -1, 0, 1});
  BOOST_TEST(message_of<nd::ValueError>([&] {
               minus(range(3), range(6).reshape(2, 3), nd::empty({1, 3}, nd::float32));
             }) == "ElementwiseKernel minus: the output z has shape (1, 3), the arguments broadcast to (2, 3)");
  BOOST_CHECK_THROW(minus(range(3), 1, nd::broadcast_to(nd::empty({1}, nd::float32), {3})), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(raw_arrays_keep_their_shape) {
  const ElementwiseKernel pick(
      "int64 k, raw T table", "T z",
      "z = table[min(k, table.size() - 1)] + max(i, k) * 0 + table.size() * 100 + table.shape()[1]", "pick");
  const Array table = range(12, nd::int32).reshape(3, 4);
  check_values<int>(pick(nd::array(std::vector<std::int64_t>{99, 0, 5}), table), {1215, 1204, 1209});
}

BOOST_AUTO_TEST_CASE(a_parameter_may_be_called_n) {
  const ElementwiseKernel scalar("T x, int32 n", "T y", "y = x * n", "scaled_by_n");
  check_values<float>(scalar(range(3), 5), {0, 5, 10});
  const ElementwiseKernel arrays("T n, raw T table", "T y", "y = n * 10 + table[_ind.size() - 1 - i]", "array_n");
  check_values<float>(arrays(range(3), range(3)), {2, 11, 20});
  const ElementwiseKernel without("T x", "T y", "y = x + n", "size_of_loop");
  check_values<float>(without(range(3)), {3, 4, 5});
}

BOOST_AUTO_TEST_CASE(the_loop_size) {
  const ElementwiseKernel raw("raw T x", "T z", "z = x[0] + i", "sized");
  check_values<float>(raw({range(1)}, {.size = 4}), {0, 1, 2, 3});
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { raw(range(1)); }),
                      "ElementwiseKernel sized: the size of the loop is undecided"));
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { raw({range(1)}, {.size = -1}); }),
                      "ElementwiseKernel sized: size = -1 is negative"));
  BOOST_TEST(contains(message_of<nd::ValueError>([&] {
                        raw({range(1), nd::empty({4}, nd::float32)}, {.size = 4});
                      }),
                      "ElementwiseKernel sized: size = 4 is given beside arrays of shape (4,)"));
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { squared_diff()({range(4), 1}, {.size = 4}); }), "size = 4"));
}

BOOST_AUTO_TEST_CASE(new_outputs) {
  const ElementwiseKernel raw_out("T x", "raw T z", "z[i] = x", "raw_out");
  BOOST_TEST(contains(message_of<nd::ValueError>([&] { raw_out(range(3)); }),
                      "ElementwiseKernel raw_out: the size of the raw output z is undecided"));
  const ElementwiseKernel all_raw("raw T x", "raw T z, U w", "z[n - 1 - i] = x[i]; w = i", "all_raw");
  const auto out = all_raw.call(std::vector<Operand>{range(3), nd::zeros({5}, nd::float32), nd::empty({3}, nd::int8)});
  check_values<float>(out[0], {2, 1, 0, 0, 0});
  check_values<int>(out[1], {0, 1, 2});
  BOOST_TEST(squared_diff()(range(6).reshape(2, 3).T(), 0).is_c_contiguous());
}

BOOST_AUTO_TEST_CASE(results) {
  const ElementwiseKernel two("T x", "T sum, T product", "sum = x + x; product = x * x", "two");
  const auto out = two.call(std::vector<Operand>{range(3)});
  BOOST_REQUIRE_EQUAL(out.size(), 2u);
  check_values<float>(out[0], {0, 2, 4});
  check_values<float>(out[1], {0, 1, 4});
  // Two outputs bind as a pair, any number by call<N>.
  auto [sum, product] = two(range(3));
  static_assert(std::is_same_v<decltype(sum), Array>);
  check_values<float>(sum, {0, 2, 4});
  check_values<float>(product, {0, 1, 4});
  const auto& [twice, square] = two({range(3)}, {});
  check_values<float>(twice + square, {0, 3, 8});
  const ElementwiseKernel three("T x", "T u, T v, T w", "u = x; v = x + 1; w = x + 2", "three");
  auto [u, v, w] = three.call<3>(range(2));
  check_values<float>(u + v * 10 + w * 100, {210, 321});
  auto [raw_u, raw_v] =
      ElementwiseKernel("raw T x", "T u, T v", "u = x[0]; v = i", "raw_pair").call<2>({range(1)}, {.size = 2});
  check_values<float>(raw_u + raw_v, {0, 1});
  // One output reads as an array.
  check_values<float>(squared_diff()(range(3), 1) + 1, {2, 1, 2});
  BOOST_TEST(squared_diff()(range(3), 1).sum().item<double>() == 2);
  Array one = squared_diff()(range(3), 1);
  one = squared_diff()(range(3), 2);
  check_values<float>(nd::concatenate({one, squared_diff()(range(2), 0)}), {4, 1, 0, 0, 1});
  auto result = squared_diff()(range(3), 1);
  result = result * 2;
  check_values<float>(result(nd::Slice(1, 3)), {0, 2});
  // The number of outputs is checked.
  const std::string taken =
      "ElementwiseKernel two: has 2 outputs, and its result is taken for one array; write auto "
      "[u, v] = kernel(...)";
  BOOST_TEST(message_of<nd::TypeError>([&] { const Array a = two(range(3)); }) == taken);
  BOOST_TEST(message_of<nd::TypeError>([&] { one = two(range(3)); }) == taken);
  BOOST_TEST(message_of<nd::TypeError>([&] { auto [a, b] = squared_diff()(range(3), 1); }) ==
             "ElementwiseKernel squared_diff_generic: has 1 output, and its result is taken for a pair");
  BOOST_TEST(message_of<nd::TypeError>([&] { three(range(3)); }) ==
             "ElementwiseKernel three: has 3 outputs; write auto [u, v, w] = kernel.call<3>(...)");
  BOOST_TEST(message_of<nd::TypeError>([&] { two.call<3>(range(3)); }) ==
             "ElementwiseKernel two: has 2 outputs, not 3");
  const ElementwiseKernel none("T x", "", "", "none");
  BOOST_TEST(none(range(3)).is_null());
  BOOST_TEST(none.call(std::vector<Operand>{range(3)}).empty());
  // Two outputs over the same memory would race.
  const Array same = nd::empty({3}, nd::float32);
  BOOST_CHECK_THROW(two.call(std::vector<Operand>{range(3), same, same}), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(empty_loops_compile_nothing) {
  const Array z = broken()(nd::empty({2, 0, 3}, nd::float32));
  BOOST_TEST((z.shape() == Shape{2, 0, 3}));
  BOOST_TEST((broken()({nd::empty({0}, nd::float32), nd::empty({4, 0}, nd::float32)}).shape() == Shape{4, 0}));
  const ElementwiseKernel raw("raw T x", "raw T z", "undefined_name", "broken_raw");
  BOOST_TEST((raw({range(3)}, {.size = 0}).shape() == Shape{0}));
  BOOST_CHECK_THROW(broken()(range(1)), nd::CompileError);
}

BOOST_AUTO_TEST_CASE(inputs_are_read_only) {
  const ElementwiseKernel writes("T x", "T z", "x = 1; z = x", "writes_input");
  const std::string message = message_of<nd::CompileError>([&] { writes(range(3)); });
  BOOST_TEST(contains(message, "ElementwiseKernel writes_input"));
  BOOST_TEST(contains(message, "x = 1; z = x"));
  BOOST_CHECK_THROW(ElementwiseKernel("raw T x", "T z", "x[i] = 1; z = 0", "writes_raw_input")({range(3)}, {.size = 3}),
                    nd::CompileError);
}

BOOST_AUTO_TEST_CASE(an_output_may_be_an_input) {
  const Array x = range(5);
  squared_diff()(x, 1, x);
  check_values<float>(x, {1, 0, 1, 4, 9});
  // Overlapping views: as if all inputs were read first.
  const Array line = range(6);
  squared_diff()(line(nd::Slice(0, 5)), 0, line(nd::Slice(1, 6)));
  check_values<float>(line, {0, 0, 1, 4, 9, 16});
}

BOOST_AUTO_TEST_CASE(statements_of_all_kinds) {
  const ElementwiseKernel collatz("int64 x", "int32 steps",
                                  R"(
    long long v = x;
    steps = 0;
    if (v < 1) continue;  // the output keeps its value
    while (v != 1) { v = v % 2 == 0 ? v / 2 : 3 * v + 1; ++steps; }  // the last line may be a comment)",
                                  "collatz");
  check_values<int>(collatz(nd::array(std::vector<std::int64_t>{1, 2, 3, 27, 0})), {0, 1, 7, 111, 0});
}

BOOST_AUTO_TEST_CASE(positions) {
  const ElementwiseKernel where(
      "T x", "int64 place, int64 a0, int64 a1, int64 a2",
      "place = i * 1000 + _ind.size() + n; a0 = _ind.get()[0]; a1 = _ind.get()[1]; a2 = _ind.get()[2]", "where_am_i",
      {.reduce_dims = false});
  std::mt19937 random(7);
  const Shape shape{3, 4, 5};
  for (const Array& x : {nd::zeros(shape, nd::int8), nd::zeros({5, 4, 3}, nd::int8).T(),
                         test::scattered(nd::zeros(shape, nd::int8), random)}) {
    const auto out = where.call(std::vector<Operand>{x});
    const auto place = out[0].to_vector<std::int64_t>(), a0 = out[1].to_vector<std::int64_t>(),
               a1 = out[2].to_vector<std::int64_t>(), a2 = out[3].to_vector<std::int64_t>();
    for (std::int64_t k = 0; k < 60; ++k) {
      BOOST_TEST(place[std::size_t(k)] == k * 1000 + 120);
      BOOST_TEST(a0[std::size_t(k)] == k / 20);
      BOOST_TEST(a1[std::size_t(k)] == k / 5 % 4);
      BOOST_TEST(a2[std::size_t(k)] == k % 5);
    }
  }
  // Merged axes: a contiguous array is one axis.
  const ElementwiseKernel merged("T x", "int64 a0", "a0 = _ind.get()[0]", "merged");
  BOOST_TEST(test::same_bits(merged(nd::zeros(shape, nd::int8)), nd::arange(60).reshape(shape)));
}

BOOST_AUTO_TEST_CASE(raw_arrays_by_position_and_by_index) {
  const ElementwiseKernel read(
      "raw T x, int64 rows, int64 columns", "T by_position, T by_index, int64 bytes",
      "by_position = x[i]; const int at[] = {int(i / columns), int(i % columns)}; by_index = x[at];"
      "bytes = x.strides()[0] * 1000 + x.strides()[1] + x.shape()[0] * 7 + x.size()",
      "read_raw");
  std::mt19937 random(9);
  for (const nd::Dtype d : {nd::float64, nd::int16, nd::float16, nd::bool_}) {
    const Array x = test::random_array({6, 7}, d, random);
    for (const Array& view : {x, x.copy().T().copy().T(), test::scattered(x, random), x(nd::Slice({}, {}, -1)),
                              nd::broadcast_to(x(0), {6, 7})}) {
      const auto out = read.call(
          std::vector<Operand>{view, 6, 7, nd::empty({42}, d), nd::empty({42}, d), nd::empty({42}, nd::int64)});
      BOOST_TEST(test::same_bits(out[0], view.ravel()));
      BOOST_TEST(test::same_bits(out[1], view.ravel()));
      BOOST_TEST(out[2].to_vector<std::int64_t>()[5] == view.strides()[0] * 1000 + view.strides()[1] + 6 * 7 + 42);
    }
  }
}

BOOST_AUTO_TEST_CASE(raw_outputs_and_arrays_of_rank_0) {
  const ElementwiseKernel write("T x, raw T table", "raw T z",
                                "const long long at[] = {i % 2, i / 2}; z[at] = x + table[i]", "write_raw");
  const Array z = nd::zeros({3, 2}, nd::int32);
  write(range(6, nd::int32), nd::array(std::vector<int>{100}).reshape(Shape{}), z.T());
  check_values<int>(z, {100, 101, 102, 103, 104, 105});
}

BOOST_AUTO_TEST_CASE(raw_arrays_without_elements) {
  const ElementwiseKernel count("T x, raw U table", "int64 z", "z = table.size() * 10 + table.shape()[1]", "count_raw");
  check_values<int>(count(range(2), nd::empty({0, 3}, nd::int8)), {3, 3});
}

BOOST_AUTO_TEST_CASE(preamble_loop_prep_after_loop_and_options) {
  // Placeholders are known in the preamble; what loop_prep declares is known behind it.
  const ElementwiseKernel sum("T x, T scale", "raw T total", "mine += twice(x) * scale * FACTOR", "scaled_total",
                              {.preamble = "__device__ T twice(T v) { return v + v; }",
                               .options = {"-DFACTOR=3"},
                               .loop_prep = "T mine = 0;  // of this thread",
                               .after_loop = "atomicAdd(&total[0], mine)"});
  const Array total = nd::zeros({1}, nd::int32);
  sum(range(100000, nd::int32) % 7, 2, total);
  std::int64_t expected = 0;
  for (int k = 0; k < 100000; ++k) expected += 12 * (k % 7);
  check_values<std::int64_t>(total, {expected});
  BOOST_CHECK_THROW(ElementwiseKernel("T x", "T z", "z = x * FACTOR", "no_option")(range(1)), nd::CompileError);
}

BOOST_AUTO_TEST_CASE(atomic_writes_to_one_element) {
  for (const nd::Dtype d : {nd::int32, nd::uint32, nd::int64, nd::uint64, nd::float32, nd::float64}) {
    static const ElementwiseKernel histogram("T x, U one", "raw U bins", "atomicAdd(&bins[x % 5], one)", "histogram");
    const Array bins = nd::zeros({5}, d);
    histogram(range(20000, nd::int64), 1, bins);
    check_values<int>(bins, {4000, 4000, 4000, 4000, 4000});
  }
  const ElementwiseKernel halves("float16 x", "raw float16 z", "atomicAdd(&z[i % 3], x)", "atomic_half");
  const Array z = nd::zeros({3}, nd::float16);
  halves(nd::ones({600}, nd::float16), z);
  check_values<int>(z, {200, 200, 200});
}

BOOST_AUTO_TEST_CASE(one_compilation_per_text_dtypes_and_ranks) {
  // The same text with another T is another kernel, and so is one bound to other ranks; equal ones of two objects are
  // one.
  for (int k = 0; k < 3; ++k) {
    const ElementwiseKernel cast("T x", "U z", "z = sizeof(T)", "size_of_input");
    for (const nd::Dtype d : {nd::int8, nd::float64, nd::int8}) {
      const Array z = nd::empty({2, 2}, nd::int32);
      cast(nd::zeros({2, 2}, d), z.T());
      check_values<int>(z, std::vector<int>(4, int(nd::itemsize(d))));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_second_call_finds_the_kernel) {
  // A text that no cache on disk has.
  const std::string text =
      "z = x * 5 - y  // " + std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  const ElementwiseKernel kernel("T x, T y", "T z", text, "found_again");
  const Array x = range(1000).reshape(10, 100), y = range(100);
  check_values(kernel(x, y)(1), (x * 5 - y)(1).to_vector<float>());
  const std::uint64_t before = compilations();
  // Other values, shapes of the same rank, another object.
  kernel(x(nd::Slice(2, 5)), y);
  kernel(range(600).reshape(3, 200), range(200));
  ElementwiseKernel("T x, T y", "T z", text, "found_again")(x, y);
  BOOST_TEST(compilations() == before);
  kernel(x, 2);
  BOOST_TEST(compilations() == before + 1);
}

BOOST_AUTO_TEST_CASE(a_call_is_one_kernel) {
  if (!cuda_device::Control::available()) {
    std::cout << "skipped: launches are recorded by the software CUDA device\n";
    return;
  }
  const ElementwiseKernel chain("T x, T y, T p", "T z, T w", "z = exp(x) * y + p; w = z * z - x", "one_launch");
  const Array x = range(1000), y = range(1000);
  chain.call(std::vector<Operand>{x, y, 0.5f});
  cuda_device::Control control;
  control.reset_records();
  chain.call(std::vector<Operand>{x, y, 1.5f});
  const auto launches = control.launches();
  BOOST_REQUIRE_EQUAL(launches.size(), 1u);
  BOOST_TEST(launches[0].kernel == "one_launch_elementwise");
  BOOST_TEST(launches[0].block[0] == 128u);
  BOOST_TEST(control.synchronisations().empty());
}

BOOST_AUTO_TEST_CASE(positions_beyond_32_bits) {
  if (test::cases_take_turns()) {
    std::cout << "thinned out on the software CUDA device: loops of more than 2^31 positions, which take it hours\n";
    return;
  }
  const ElementwiseKernel last("raw int64 bounds", "raw int64 z", "if (i >= bounds[0]) z[i - bounds[0]] = i - n",
                               "beyond_32_bits");
  const std::int64_t size = (std::int64_t(1) << 32) + 3;
  const Array z = nd::zeros({4}, nd::int64);
  last({nd::array(std::vector<std::int64_t>{size - 4}), z}, {.size = size});
  check_values<int>(z, {-4, -3, -2, -1});
}

BOOST_AUTO_TEST_CASE(large_and_odd_sizes_in_any_layout) {
  // Positions do not change values: a view gives the bits of its copy, also where a compiler would vectorise.
  const ElementwiseKernel mix("T x, T y", "T z", "z = exp(x) * y + tanh(y) / (x * x + 1)", "mix_functions");
  std::mt19937 random(11);
  for (const std::int64_t size : {1, 15, 16, 17, 1000, 40003}) {
    const Array x = test::random_array({size, 2}, nd::float32, random),
                y = test::random_array({size, 2}, nd::float32, random);
    const Array whole = mix(x, y);
    BOOST_TEST(test::same_bits(mix(test::scattered(x, random), test::scattered(y, random)), whole));
    if (size > 1)
      BOOST_TEST(test::same_bits(mix(x(nd::Slice(1, {})), y(nd::Slice(1, {}))), whole(nd::Slice(1, {})).copy()));
  }
}

BOOST_AUTO_TEST_CASE(high_ranks) {
  const ElementwiseKernel copy("T x", "T z", "z = x", "copy_ranks", {.reduce_dims = false});
  Shape shape = Shape::filled(20, 1);
  for (int a = 0; a < 20; a += 3) shape[a] = 2;
  std::mt19937 random(13);
  const Array x = test::random_array(shape, nd::float32, random);
  BOOST_TEST(test::same_bits(copy(test::scattered(x, random)), x));
}

BOOST_AUTO_TEST_CASE(errors_of_the_compiler_show_the_source) {
  const std::string message = message_of<nd::CompileError>([] { broken()(range(2)); });
  BOOST_TEST(contains(message, "ElementwiseKernel broken: "));
  BOOST_TEST(contains(message, "undefined_name"));
  BOOST_TEST(contains(message, " | typedef float T;"));
  BOOST_TEST(contains(message, "z = x + undefined_name"));
  // The next call tries again and says the same.
  BOOST_CHECK_THROW(broken()(range(2)), nd::CompileError);
}

BOOST_AUTO_TEST_CASE(outputs_raise_the_version) {
  const Array z = nd::empty({3}, nd::float32), x = range(3);
  const auto before = z.version(), of_input = x.version();
  squared_diff()(x, 1, z);
  BOOST_TEST(z.version() > before);
  BOOST_TEST(x.version() == of_input);
}

BOOST_AUTO_TEST_CASE(many_threads_ask_for_one_kernel) {
  const ElementwiseKernel kernel("T x", "T z", "z = x * 3 - 1", "from_many_threads");
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k)
        right += kernel(nd::full({50}, 2, {.dtype = k % 2 ? nd::float32 : nd::int64}))(49).item<int>() == 5;
    });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(right == 160);
}

BOOST_AUTO_TEST_SUITE_END()
