// Fused functions that are too long for one kernel, against the same computation step by step.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <tuple>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;

BOOST_AUTO_TEST_SUITE(fusion_parts)

// Terms with `n` different constants, each in two steps.
template <class T> T polynomial(const T& x, int n) {
  T s = x * 0.5 + 1.;
  for (int k = 2; k < n; ++k) s = (s + 1. / k) * x;
  return s;
}

BOOST_AUTO_TEST_CASE(functions_of_many_constants_are_cut_into_several_kernels) {
  std::mt19937 random(21);
  const auto check = [&](int n, Dtype dtype, const nd::Shape& shape) {
    const Array x = test::random_array(shape, dtype, random);
    const auto f = [n](const auto& a) { return polynomial(a, n); };
    CHECK_SAME(test::difference(nd::fuse(f)(x), f(x)), n << " constants, " << dtype << shape);
    BOOST_TEST(test::same_bits(nd::fuse(f)(test::scattered(x, random)), f(x)), n << ' ' << dtype << shape);
  };
  for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{0}, nd::Shape{3000}, nd::Shape{7, 5}})
    check(16, nd::float64, shape);
  for (const int n : {14, 15, 17}) check(n, nd::float64, {3000});
  for (const Dtype dtype : {nd::float16, nd::float32}) check(40, dtype, {3000});
  const Array x = test::random_array({3000}, nd::float64, random);
  CHECK_SAME(test::difference(nd::fuse([](const auto& a) { return polynomial(a, 200); })(x), polynomial(x, 200)),
             "200");
}

BOOST_AUTO_TEST_CASE(equal_constants_are_one_operand) {
  const Array x = nd::linspace(-2, 2, 1000);
  const auto f = [](const auto& a) {
    auto s = a * 0.5;
    for (int k = 0; k < 40; ++k) s = s * 0.5 + 1.;
    return s;
  };
  CHECK_SAME(test::difference(nd::fuse(f)(x), f(x)), "two constants");
  // 0 and -0 are different constants.
  const auto signs = [](const auto& a) { return nd::copysign(nd::copysign(a, 0.), -0.) + nd::copysign(a, 0.); };
  CHECK_SAME(test::difference(nd::fuse(signs)(x), signs(x)), "signs of zeros");
  if (!cuda_device::Control::available() || nd::current_device().kind != nd::Device::Kind::cuda) return;
  const auto launches = [&](const auto& function) {
    cuda_device::Control control;
    const std::size_t before = control.launches().size();
    function(x);
    return control.launches().size() - before;
  };
  BOOST_TEST(launches(nd::fuse(f)) == 1u);
  BOOST_TEST(launches(nd::fuse([](const auto& a) { return polynomial(a, 40); })) == 3u);
}

BOOST_AUTO_TEST_CASE(functions_of_many_arguments_and_values) {
  std::mt19937 random(22);
  std::vector<Array> a;
  for (int k = 0; k < 20; ++k)
    a.push_back(test::random_array(k % 3 == 0 ? nd::Shape{6, 1} : nd::Shape{5}, nd::float64, random));
  const auto total = [](const auto&... x) { return (... + x); };
  const auto fused = [&]<std::size_t... K>(std::index_sequence<K...>, const auto& f) { return f(a[K]...); };
  const auto twenty = std::make_index_sequence<20>();
  CHECK_SAME(test::difference(fused(twenty, nd::fuse(total)), fused(twenty, total)), "20 arguments");
  // 40 values that are all alive at once.
  const auto alive = [](const auto& x) {
    std::vector<std::decay_t<decltype(x)>> values;
    for (int k = 0; k < 40; ++k) values.push_back(k == 0 ? x * x : values.back() * x + x);
    auto s = values[0] - values[39];
    for (int k = 1; k < 39; ++k) s = s - values[std::size_t(k)];
    return s;
  };
  CHECK_SAME(test::difference(nd::fuse(alive)(a[0]), alive(a[0])), "40 values");
}

BOOST_AUTO_TEST_CASE(several_results_and_assignments_of_a_function_in_parts) {
  std::mt19937 random(23);
  const Array x = test::random_array({6, 1}, nd::float64, random), y = test::random_array({5}, nd::float64, random);
  const auto pair = nd::fuse([](const auto& a, const auto& b) {
    const auto p = polynomial(a, 30);
    return std::tuple(p, p, polynomial(b, 30), a);
  });
  const auto r = pair(x, y);
  const nd::Shape shape{6, 5};
  const Array px = nd::broadcast_to(polynomial(x, 30), shape), py = nd::broadcast_to(polynomial(y, 30), shape);
  CHECK_SAME(test::difference(r[0], px), "first");
  CHECK_SAME(test::difference(r[1], px), "repeated");
  CHECK_SAME(test::difference(r[2], py), "second");
  CHECK_SAME(test::difference(r[3], nd::broadcast_to(x, shape)), "an argument");
  BOOST_TEST(!r[0].shares_memory(r[1]));
  // Both arguments are written, each with what needs the old content of the other.
  Array u = test::random_array({300}, nd::float64, random), v = test::random_array({300}, nd::float64, random);
  const Array new_u = polynomial(v, 30) + u, new_v = polynomial(u, 30) * v;
  nd::fuse([](auto& a, auto& b) {
    const auto old = a;
    a = polynomial(b, 30) + a;
    b = polynomial(old, 30) * b;
  })(u, v);
  CHECK_SAME(test::difference(u, new_u), "u");
  CHECK_SAME(test::difference(v, new_v), "v");
  Array target = nd::zeros({4});
  BOOST_TEST(test::message_of<catena::ValueError>([&] {
               nd::fuse([](auto& a, const auto& b) { a += polynomial(b, 30); })(target, nd::ones({3, 4}));
             }) == "fused function: the output has shape (4,), the operands broadcast to (3, 4)");
  CHECK_SAME(test::difference(target, nd::zeros({4})), "not written");
}

BOOST_AUTO_TEST_CASE(reductions_of_long_functions) {
  std::mt19937 random(24);
  const auto f = [](const auto& a, const auto& b) { return polynomial(a, 30) - b; };
  const auto g = [](const auto& s) { return polynomial(s, 30); };
  const auto short_map = [](const auto& s) { return s * 2. + 1.; };
  for (const Dtype dtype : {nd::float32, nd::float64}) {
    const Array x = test::random_array({40, 70}, dtype, random), y = test::random_array({70}, dtype, random);
    for (const bool keepdims : {false, true}) {
      const nd::TestOptions options{.axis = 1, .keepdims = keepdims};
      const Array sums = nd::sum(f(x, y), {.axis = 1, .keepdims = keepdims});
      const auto is_near = [&](const Array& a, const Array& b, const char* what) {
        BOOST_TEST((a.dtype() == b.dtype() && a.shape() == b.shape()), what);
        BOOST_TEST(test::same_reduction(a, b), what);
      };
      is_near(nd::fuse(f, {.reduce = nd::Reduction::sum})(x, y, options), sums, "long elements");
      is_near(nd::fuse(f, {.reduce = nd::Reduction::sum, .post_map = short_map})(x, y, options), short_map(sums),
              "map");
      is_near(nd::fuse(f, {.reduce = nd::Reduction::sum, .post_map = g})(x, y, options), g(sums), "both are long");
      const Array out = nd::full(sums.shape(), -7, {.dtype = dtype});
      nd::fuse(f, {.reduce = nd::Reduction::sum, .post_map = g})(x, y, {.axis = 1, .out = out, .keepdims = keepdims});
      is_near(out, g(sums), "an output");
    }
    BOOST_TEST(test::message_of<catena::ValueError>([&] {
                 nd::fuse(f, {.reduce = nd::Reduction::sum, .post_map = g})(x, y,
                                                                            {.axis = 1, .out = nd::empty({3}, dtype)});
               }) == "fused function: the output has shape (3,), the result (40,)");
  }
}

// The steps in the kernels that a call launches, by their names; copies of whole arrays are none.
template <class F> int steps_launched(F&& f) {
  f();  // what is compiled is compiled
  cuda_device::Control control;
  control.reset_records();
  f();
  int steps = 0;
  for (const auto& launch : control.launches()) {
    const std::size_t more = launch.kernel.find("_more_"), and_ = launch.kernel.rfind("_and_", more);
    if (more != std::string::npos) steps += 1 + std::stoi(launch.kernel.substr(and_ + 5, more - and_ - 5));
    else steps += !launch.kernel.starts_with("copy_");
  }
  return steps;
}

// One kernel is tried first, with copies for results that are repeated or arguments; they are gone from the parts.
BOOST_AUTO_TEST_CASE(parts_have_the_steps_of_the_function_alone) {
  if (!cuda_device::Control::available() || nd::current_device().kind != nd::Device::Kind::cuda) {
    std::cout << "skipped: launches are counted by the software CUDA device\n";
    return;
  }
  constexpr int steps = 2 + 2 * 28;  // of the polynomial
  const Array x = nd::linspace(-1, 1, 40);
  const auto one = nd::fuse([](const auto& a) { return polynomial(a, 30); });
  BOOST_TEST(steps_launched([&] { one(x); }) == steps);
  const auto repeated = nd::fuse([](const auto& a) {
    const auto p = polynomial(a, 30);
    return std::tuple(p, p, p, a);
  });
  BOOST_TEST(steps_launched([&] { repeated(x); }) == steps);
  // A reduction of an argument reads a copy, in the last kernel; the steps that nothing reads are not removed.
  const auto sum = nd::fuse(
      [](const auto& a) {
        polynomial(a, 30);
        return a;
      },
      {.reduce = nd::Reduction::sum});
  BOOST_TEST(steps_launched([&] { sum(x); }) == steps + 1);
  CHECK_SAME(test::difference(sum(x), nd::sum(x)), "sum");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
