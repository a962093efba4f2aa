// Fused functions against the same computation step by step.
#include <boost/test/unit_test.hpp>

#include <iostream>
#include <tuple>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;

BOOST_AUTO_TEST_SUITE(fusion)

BOOST_AUTO_TEST_CASE(a_chain_has_the_bits_of_its_steps) {
  std::mt19937 random(1);
  const auto chain = [](const auto& x, const auto& y) { return nd::tanh(x * y + 1) / (nd::exp(-x) + 2); };
  const auto fused = nd::fuse(chain);
  for (const Dtype dtype : {nd::float16, nd::float32, nd::float64, nd::bfloat16})
    for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{1}, nd::Shape{0}, nd::Shape{3000}, nd::Shape{7, 5, 3}}) {
      const Array x = test::random_array(shape, dtype, random), y = test::random_array(shape, dtype, random);
      CHECK_SAME(test::difference(fused(x, y), chain(x, y)), dtype << shape);
      const Array sx = test::scattered(x, random), sy = test::scattered(y, random);
      BOOST_TEST(test::same_bits(fused(sx, sy), fused(x, y)), "strided " << dtype << shape);
    }
}

// Arrays whose next tile is fetched while one is computed, of lengths that are no multiple of a tile, and not on a
// line's boundary.
BOOST_AUTO_TEST_CASE(long_chains_have_the_bits_of_their_steps) {
  std::mt19937 random(11);
  const auto chain = [](const auto& x, const auto& y) { return nd::sqrt(x * x + 1) - nd::abs(x) * y; };
  const auto fused = nd::fuse(chain);
  for (const Dtype dtype : {nd::float16, nd::float32, nd::float64}) {
    const Array x = test::random_array({600001}, dtype, random), y = test::random_array({600001}, dtype, random);
    const Array expected = chain(x, y);
    CHECK_SAME(test::difference(fused(x, y), expected), dtype);
    const nd::Slice inner(1, 599000), reversed({}, {}, -1);
    BOOST_TEST(test::same_bits(fused(x(inner), y(inner)), expected(inner).copy()), dtype);
    BOOST_TEST(test::same_bits(fused(x(reversed), y(reversed)), expected(reversed).copy()), dtype);
    Array z = x.copy();
    nd::fuse([](auto& a, const auto& b) { a = nd::sqrt(a * a + 1) - nd::abs(a) * b; })(z, y);
    BOOST_TEST(test::same_bits(z, expected), "in place " << dtype);
  }
}

// Rows that are gathered into tiles and written back, of lengths that are moved at once and others.
BOOST_AUTO_TEST_CASE(short_rows_have_the_bits_of_their_copies) {
  std::mt19937 random(12);
  const auto fused = nd::fuse([](auto& a, const auto& b) { a = nd::sqrt(a * a + 1) - b; });
  for (const Dtype dtype : {nd::float16, nd::float32, nd::float64})
    for (const std::int64_t n : {1, 2, 3, 4, 8, 16, 24, 32, 64}) {
      const Array before = test::random_array({700, 70}, dtype, random),
                  y = test::random_array({700, n}, dtype, random);
      const Array row = test::random_array({n}, dtype, random);
      const nd::Slice columns(3, 3 + n);
      for (const Array& b : {y, row}) {
        const Array x = before(nd::Slice(), columns).copy(), out = before.copy();
        fused(x, b);
        fused(out(nd::Slice(), columns), b);
        BOOST_TEST(test::same_bits(out(nd::Slice(), columns).copy(), x), dtype << " " << n);
        CHECK_SAME(test::difference(x, nd::sqrt(nd::square(before(nd::Slice(), columns)) + 1) - b), dtype << " " << n);
        BOOST_TEST(test::same_bits(out(nd::Slice(), nd::Slice(3 + n, {})).copy(),
                                   before(nd::Slice(), nd::Slice(3 + n, {})).copy()));
        BOOST_TEST(
            test::same_bits(out(nd::Slice(), nd::Slice(0, 3)).copy(), before(nd::Slice(), nd::Slice(0, 3)).copy()));
      }
    }
}

BOOST_AUTO_TEST_CASE(dtypes_follow_step_by_step) {
  std::mt19937 random(2);
  std::size_t number = 0;
  test::Turns turns("pairs of dtypes");
  for (const Dtype a : test::kAllDtypes)
    for (const Dtype b : {nd::int8, nd::uint32, nd::float16, nd::float32}) {
      if (const std::size_t at = number++; !turns.count((at + at / 4) % 4 == 0)) continue;  // one b of each a
      const auto f = [](const auto& x, const auto& y) { return (x + y) * 3 + x; };
      const Array x = test::random_array({50}, a, random), y = test::random_array({50}, b, random);
      CHECK_SAME(test::difference(nd::fuse(f)(x, y), f(x, y)), a << " " << b);
    }
}

BOOST_AUTO_TEST_CASE(broadcasting_scalars_and_constants) {
  std::mt19937 random(3);
  const Array row = test::random_array({4}, nd::float32, random),
              column = test::random_array({5, 1}, nd::float32, random);
  const auto f = [](const auto& x, const auto& y, const auto& s) { return 0.1 * x - y / s + nd::maximum(x, 1.5); };
  CHECK_SAME(test::difference(nd::fuse(f)(row, column, 3), f(row, column, 3)), "int scalar");
  CHECK_SAME(test::difference(nd::fuse(f)(row, column, 0.7), f(row, column, 0.7)), "float scalar");
  double captured = 2;
  const auto scaled = nd::fuse([&](const auto& x) { return x * captured; });
  CHECK_SAME(test::difference(scaled(row), row * 2), "captured");
  captured = 5;
  CHECK_SAME(test::difference(scaled(row), row * 5), "captured anew");
}

// Bounds that are constants, arguments and computed; in the order of the calls, for programs are kept.
BOOST_AUTO_TEST_CASE(clip_takes_bounds_beyond_the_numbers) {
  const Array a = nd::array({1, 200}, nd::uint8);
  const auto bytes = [](int x, int y) { return nd::array({x, y}, nd::uint8); };
  BOOST_TEST(test::same_bits(nd::fuse([](auto x) { return nd::clip(x, -1, 100); })(a), bytes(1, 100)));
  BOOST_TEST(test::same_bits(nd::fuse([](auto x) { return nd::clip(x, 5, 300) + 1; })(a), bytes(6, 201)));
  const auto clipped = nd::fuse([](auto x, auto low, auto high) { return nd::clip(x, low, high) + low; });
  const auto shifted = nd::fuse([](auto x, auto low) { return nd::clip(x, low - 1, low + 100); });
  for (int k = 0; k < 2; ++k) {
    BOOST_TEST(test::same_bits(clipped(a, 0, 300), bytes(1, 200)));
    BOOST_TEST(test::same_bits(clipped(a, 5, 100), bytes(10, 105)));
    BOOST_TEST(test::same_bits(clipped(a, 3, 256), bytes(6, 203)));
    BOOST_TEST(test::same_bits(shifted(a, 0), bytes(1, 100)));
    BOOST_TEST(test::same_bits(shifted(a, 50), bytes(49, 150)));
    BOOST_TEST(test::same_bits(shifted(a, 200), bytes(199, 200)));
    BOOST_CHECK_THROW(clipped(a, 256, 300), nd::OverflowError);
  }
  const Array large = nd::array(std::vector<std::int64_t>{INT64_MIN, INT64_MAX});
  BOOST_TEST(test::same_bits(nd::fuse([](auto x) { return nd::clip(x, 0, UINT64_MAX); })(large),
                             nd::array(std::vector<std::int64_t>{0, INT64_MAX})));
  BOOST_TEST(test::same_bits(nd::fuse([](auto x) { return nd::clip(x, 1.5, 300); })(a), nd::array({1.5, 200.})));
  BOOST_TEST(test::same_bits(
      nd::fuse([](auto x, auto low) { return nd::clip(x, low, 300); })(a, nd::array({280, 280}, nd::int16)),
      nd::array({280, 280}, nd::int16)));
  BOOST_CHECK_THROW(nd::fuse([](auto x) { return nd::clip(x, 256, 300); })(a), nd::OverflowError);
  BOOST_CHECK_THROW(nd::fuse([](auto x) { return nd::clip(x, -5, -1); })(a), nd::OverflowError);
  const auto most = nd::fuse([](auto x, auto high) { return nd::clip(x, 2, high); }, {.reduce = nd::Reduction::amax});
  BOOST_TEST(int(most(a, 300)) == 200);
  BOOST_TEST(int(most(a, 50)) == 50);
}

BOOST_AUTO_TEST_CASE(selection_tests_and_casts) {
  std::mt19937 random(4);
  const Array x = test::random_array({300}, nd::float32, random), k = test::random_array({300}, nd::int32, random);
  const auto fused = nd::fuse([](const auto& a, const auto& b) {
    return nd::where((a > 0) & (b != 3), nd::clip(a, -1, 2), b.astype(nd::float32));
  });
  CHECK_SAME(test::difference(fused(x, k),
                              nd::where((x > 0) & nd::not_equal(k, 3), nd::clip(x, -1, 2), k.astype(nd::float32))),
             "where");
  const auto nonzero = nd::fuse([](const auto& b, const auto& a) { return nd::where(b, a, 0); });
  CHECK_SAME(test::difference(nonzero(k, x), nd::where(k, x, 0)), "condition of integers");
}

BOOST_AUTO_TEST_CASE(several_results) {
  std::mt19937 random(5);
  const Array x = test::random_array({64}, nd::float64, random);
  const auto f = nd::fuse([](const auto& a) {
    const auto s = a * a;
    return std::tuple(s, s + 1, a, s);
  });
  const auto r = f(x);
  BOOST_REQUIRE(r.size() == 4u);
  CHECK_SAME(test::difference(r[0], x * x), "square");
  CHECK_SAME(test::difference(r[1], x * x + 1), "square + 1");
  CHECK_SAME(test::difference(r[2], x), "the argument itself");
  CHECK_SAME(test::difference(r[3], x * x), "the same value twice");
  BOOST_TEST(!r[0].shares_memory(r[3]));
  BOOST_TEST(!r[2].shares_memory(x));
}

BOOST_AUTO_TEST_CASE(assignment_writes_the_argument) {
  std::mt19937 random(6);
  const Array x = test::random_array({5000}, nd::float32, random), y = test::random_array({5000}, nd::float32, random);
  const auto axpy = nd::fuse([](auto& b, const auto& a, const auto& s) { b += a * s; });
  const Array written = y.copy(), view = written.reshape({50, 100});
  axpy(written, x, 0.5);
  CHECK_SAME(test::difference(written, y + x * 0.5), "axpy");
  CHECK_SAME(test::difference(view.reshape({5000}), written), "a view sees it");
  // A read after the assignment gives the old value where the function did so.
  const auto old_and_new = nd::fuse([](auto& b) {
    const auto before = b;
    b *= 2;
    return before + b;
  });
  const Array z = y.copy();
  CHECK_SAME(test::difference(old_and_new(z), y + y * 2), "returned");
  CHECK_SAME(test::difference(z, y * 2), "written");
  // The same array twice, and overlapping views.
  const auto add_to = nd::fuse([](auto& b, const auto& a) { b += a; });
  const Array same = x.copy();
  add_to(same, same);
  CHECK_SAME(test::difference(same, x * 2), "same array");
  const Array block = x.copy(), head = block(nd::Slice(0, 4000)), tail = block(nd::Slice(1000, 5000));
  const Array expected = head.copy() + tail.copy();
  add_to(head, tail);
  CHECK_SAME(test::difference(block(nd::Slice(0, 4000)), expected), "overlapping");
}

BOOST_AUTO_TEST_CASE(long_chains_reuse_their_slots) {
  const Array x = nd::full({100}, 1.f);
  const auto f = [](const auto& a) {
    auto b = a + 0.f;
    for (int k = 0; k < 60; ++k) b = b * a + a;
    return b;
  };
  CHECK_SAME(test::difference(nd::fuse(f)(x), f(x)), "120 steps");
}

BOOST_AUTO_TEST_CASE(errors) {
  const Array x = nd::ones({3}), i = nd::ones({3}, nd::int32), other = nd::ones({4});
  const auto add = nd::fuse([](const auto& a, const auto& b) { return a + b; });
  BOOST_TEST(test::message_of<catena::TypeError>([&] { add(1, 2); }) ==
             "fused function: at least one argument must be an array");
  BOOST_TEST(test::message_of<catena::ValueError>([&] { add(x, other); }) ==
             "fused function: shapes (3,) and (4,) do not broadcast together");
  const auto assign = nd::fuse([](auto& a, const auto& b) { a += b; });
  BOOST_TEST(test::message_of<catena::TypeError>([&] { assign(1., x); }) ==
             "fused function: argument 0 is assigned to and must be an array");
  BOOST_TEST(test::message_of<catena::TypeError>([&] {
               assign(i, x);
             }).find("cannot cast the result from float64 to int32") != std::string::npos);
  BOOST_TEST(nd::all(i == 1).item<bool>());
  nd::fuse([](const auto&) {})(x);  // nothing to do
}

BOOST_AUTO_TEST_CASE(functions_with_two_results) {
  std::mt19937 random(31);
  const auto both = [](const auto& a, const auto& b) {
    const auto [q, r] = nd::divmod(a, b);
    return std::pair(q * 2, r);
  };
  const auto parts = [](const auto& a) {
    const auto [fraction, whole] = nd::modf(a);
    const auto [mantissa, exponent] = nd::frexp(a);
    return std::tuple(fraction, mantissa + whole, exponent, whole);
  };
  const auto first_only = [](const auto& a) { return nd::modf(a).first + nd::frexp(a).first; };
  for (const Dtype dtype : {nd::int32, nd::float16, nd::float32, nd::float64}) {
    const Array x = test::random_array({40, 30}, dtype, random), y = test::random_array({30}, dtype, random);
    const auto [q, r] = nd::fuse(both)(x, y);
    const auto [eager_q, eager_r] = both(x, y);
    CHECK_SAME(test::difference(q, eager_q), "quotient " << dtype);
    CHECK_SAME(test::difference(r, eager_r), "remainder " << dtype);
    const auto fused = nd::fuse(parts)(x);
    const auto eager = parts(x);
    CHECK_SAME(test::difference(fused[0], std::get<0>(eager)), "fraction " << dtype);
    CHECK_SAME(test::difference(fused[1], std::get<1>(eager)), "mantissa and whole " << dtype);
    CHECK_SAME(test::difference(fused[2], std::get<2>(eager)), "exponent " << dtype);
    CHECK_SAME(test::difference(fused[3], std::get<3>(eager)), "whole " << dtype);
    CHECK_SAME(test::difference(nd::fuse(first_only)(x), first_only(x)), "one of two results " << dtype);
  }
  const Array n = nd::array({7, -7, 0});
  CHECK_SAME(test::difference(nd::fuse([](const auto& a) { return nd::divmod(a, 2).second; })(n), n % 2), "a number");
  CHECK_SAME(test::difference(nd::fuse([](const auto& a) { return nd::divmod(100, a * a + 1).first; })(n),
                              nd::floor_divide(100, n * n + 1)),
             "of a number");
}

// A function of one step whose other result is not used: nothing but the result is written.
BOOST_AUTO_TEST_CASE(one_result_of_a_step_with_two) {
  const auto quotient = [](const auto& a) { return nd::divmod(a, 3).first; };
  const auto rest = [](const auto& a) { return nd::divmod(a, 3).second; };
  for (const Dtype dtype : {nd::int8, nd::int32, nd::int64, nd::float16, nd::float32, nd::float64})
    for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{6}, nd::Shape{2, 3}, nd::Shape{20000}}) {
      const Array x = nd::arange(catena::size_of(shape)).astype(dtype).reshape(shape) - 3;
      const auto [q, r] = nd::divmod(x, 3);
      const Array kept_q = q.copy(), kept_r = r.copy();
      for (const Array& a : {x, x.reshape({-1, 1}), Array(nd::repeat(x.ravel(), 2)(nd::Slice({}, {}, 2)))}) {
        BOOST_TEST(test::same_bits(nd::fuse(quotient)(a).ravel(), kept_q.ravel()), dtype << shape);
        BOOST_TEST(test::same_bits(nd::fuse(rest)(a).ravel(), kept_r.ravel()), dtype << shape);
      }
      BOOST_TEST(test::same_bits(q, kept_q), "the results of an earlier call, of " << dtype << shape);
      BOOST_TEST(test::same_bits(r, kept_r), "the results of an earlier call, of " << dtype << shape);
    }
}

BOOST_AUTO_TEST_CASE(copies_and_neighbours) {
  std::mt19937 random(32);
  const auto next = [](const auto& a, const auto& b) { return nd::nextafter(a, b) * 2; };
  const auto up = [](const auto& a) { return nd::nextafter(a, 1e30) - a; };
  for (const Dtype dtype : {nd::int8, nd::int32, nd::float16, nd::bfloat16, nd::float32, nd::float64}) {
    const Array x = test::random_array({100}, dtype, random), y = test::random_array({100}, dtype, random);
    CHECK_SAME(test::difference(nd::fuse(next)(x, y), next(x, y)), "nextafter " << dtype);
    if (dtype != nd::float16) CHECK_SAME(test::difference(nd::fuse(up)(x), up(x)), "upwards " << dtype);
    // A copy keeps the value that the argument had.
    const auto swap = nd::fuse([](auto& a, auto& b) {
      const auto before = nd::copy(a);
      a = b.copy();
      b = before;
    });
    const Array p = x.copy(), q = y.copy();
    swap(p, q);
    CHECK_SAME(test::difference(p, y), "swapped " << dtype);
    CHECK_SAME(test::difference(q, x), "swapped " << dtype);
    const Array same = nd::fuse([](const auto& a) { return nd::copy(a); })(x);
    CHECK_SAME(test::difference(same, x), "copy");
    BOOST_TEST(!same.shares_memory(x));
  }
}

BOOST_AUTO_TEST_CASE(several_results_of_arguments_that_broadcast) {
  std::mt19937 random(33);
  const Array column = test::random_array({6, 1}, nd::float32, random),
              row = test::random_array({5}, nd::float32, random), one = test::random_array({}, nd::float32, random);
  const auto f = [](const auto& a, const auto& b, const auto& c) {
    return std::tuple(a * b + c, a - b, a * 2 + 0 * b);
  };
  const auto fused = nd::fuse(f);
  for (int repeat = 0; repeat < 2; ++repeat) {  // traced, and by the program of the first call
    const auto [x, y, z] = fused(column, row, one);
    const auto [p, q, s] = f(column, row, one);
    CHECK_SAME(test::difference(x, p), "product");
    CHECK_SAME(test::difference(y, q), "difference");
    CHECK_SAME(test::difference(z, s), "double");
    BOOST_TEST(x.shape() == (nd::Shape{6, 5}));
  }
}

int traces = 0;

BOOST_AUTO_TEST_CASE(a_function_is_traced_once_for_its_dtypes) {
  std::mt19937 random(34);
  const auto scaled = nd::fuse([](auto& x, const auto& y, const auto& s) {
    ++traces;
    x += y * s;
    return x - s;
  });
  const auto check = [&](Dtype dtype, const nd::Shape& shape, auto s) {
    const Array x = test::random_array(shape, dtype, random), y = test::random_array(shape, dtype, random);
    const Array before = x.copy();
    const Array returned = scaled(x, y, s);
    CHECK_SAME(test::difference(x, before + y * s), "assigned " << dtype << shape);
    CHECK_SAME(test::difference(returned, before + y * s - s), "returned " << dtype << shape);
  };
  const auto traced = [&](auto f) {
    const int before = traces;
    f();
    return traces - before;
  };
  BOOST_TEST(traced([&] { check(nd::float32, {10}, 0.5); }) == 1);
  // Values of scalars and shapes are no part of the program; dtypes and the kinds of scalars are.
  BOOST_TEST(traced([&] { check(nd::float32, {10}, 0.75); }) == 0);
  BOOST_TEST(traced([&] { check(nd::float32, {3, 4}, -2.0); }) == 0);
  BOOST_TEST(traced([&] { check(nd::float32, {0}, 1e300); }) == 0);
  BOOST_TEST(traced([&] { check(nd::float64, {10}, 0.5); }) == 1);
  BOOST_TEST(traced([&] { check(nd::float32, {10}, 3); }) == 1);
  BOOST_TEST(traced([&] { check(nd::int8, {10}, 3); }) == 1);
  BOOST_TEST(traced([&] { check(nd::int8, {10}, 1); }) == 0);
  // An integer that is no value of the dtype is an error in each call, as without fusion.
  const Array bytes = nd::ones({4}, nd::int8);
  BOOST_TEST(test::message_of<nd::ValueError>([&] { scaled(bytes, bytes.copy(), 300); }) ==
             "multiply: the integer 300 does not fit int8, the dtype it takes beside the arrays");
  BOOST_TEST(nd::all(bytes == 1).item<bool>());
  // An argument that another one shares memory with.
  const Array block = test::random_array({50}, nd::float32, random), head = block(nd::Slice(0, 40)),
              tail = block(nd::Slice(10, 50));
  const Array expected = head + tail.copy() * 0.5;
  scaled(head, tail, 0.5);
  CHECK_SAME(test::difference(head, expected), "overlapping");
  const Array same = test::random_array({50}, nd::float32, random), twice = same + same * 0.5;
  scaled(same, same, 0.5);
  CHECK_SAME(test::difference(same, twice), "the same array");
  // A kept program takes arguments that share memory, too: it reads what was there before it wrote.
  const auto behind = nd::fuse([](auto& a, const auto& b) {
    ++traces;
    a += b * 2;
    return a - b;
  });
  const Array all = test::random_array({3005}, nd::float32, random), first = all(nd::Slice(0, 3000));
  const Array others[] = {all(nd::Slice(0, 3000)).copy(), first, all(nd::Slice(5, 3005)), first(nd::Slice({}, {}, -1))};
  const int before = traces;
  for (const Array& b : others) {
    const Array old = b.copy(), sum = first + old * 2;
    CHECK_SAME(test::difference(behind(first, b), sum - old), "reads before it writes, strides " << b.strides());
    CHECK_SAME(test::difference(first, sum), "written, strides " << b.strides());
  }
  BOOST_TEST(traces - before == 1);
  // One function of one argument and of two.
  const auto plus = nd::fuse([](const auto& first, const auto&... more) { return (first + ... + more); });
  const Array number = nd::array({3.f, 4.f}), flag = nd::array({true, false});
  CHECK_SAME(test::difference(plus(number, flag), number + flag), "of two");
  CHECK_SAME(test::difference(plus(number), number), "of one");
  // A reduction keeps its program, too; another function of the same type of arguments has its own.
  const auto total = nd::fuse(
      [](const auto& x) {
        ++traces;
        return x * x;
      },
      {.reduce = nd::Reduction::sum});
  const Array x = test::random_array({6, 5}, nd::float64, random);
  BOOST_TEST(traced([&] { total(x, {.axis = 1}); }) == 1);
  BOOST_TEST(
      traced([&] { CHECK_SAME(test::difference(total(x, {.axis = 0}), nd::sum(x * x, {.axis = 0})), "axis 0"); }) == 0);
  BOOST_TEST(test::difference(nd::fuse([](const auto& v) { return v + 1; })(x), x + 1) == "");
}

BOOST_AUTO_TEST_CASE(arguments_on_several_devices_are_not_fused) {
  if (nd::current_device().kind == nd::Device::Kind::cpu) {
    std::cout << "skipped: there is one device\n";
    return;
  }
  static std::vector<std::string> warnings;
  warnings.clear();
  const auto previous = nd::set_warning_handler([](std::string_view category, std::string_view message) {
    warnings.push_back(catena::concat(category, ": ", message));
  });
  const Array here = nd::array({1.f, 2.f}), there = nd::array({3.f, 4.f}).to_device(nd::cpu_device);
  const auto apart =
      nd::fuse([](const auto& x, const auto& y) { return std::tuple(x * 2 + 1, nd::sqrt(y), x.astype(nd::int32)); });
  const auto [a, b, c] = apart(here, there);
  BOOST_TEST((a.device() == here.device() && b.device() == nd::cpu_device));
  CHECK_SAME(test::difference(a, here * 2 + 1), "here");
  CHECK_SAME(test::difference(b, nd::sqrt(there)), "there");
  CHECK_SAME(test::difference(c, here.astype(nd::int32)), "converted");
  BOOST_REQUIRE(warnings.size() == 1u);
  BOOST_TEST(warnings[0] ==
             "UserWarning: fuse: arguments are on cuda:0 and cpu:0; the function is not fused, its steps are "
             "executed one by one");
  // Nor by a program that was kept of an earlier call.
  apart(here, here);
  const auto [d, e, g] = apart(here, there);
  BOOST_TEST((e.device() == nd::cpu_device));
  BOOST_TEST(warnings.size() == 2u);
  // Results that are arguments are copies of them.
  const auto same = nd::fuse([](const auto& x, const auto& y) { return std::tuple(x, y); })(here, there);
  BOOST_TEST(!same[0].shares_memory(here));
  BOOST_TEST(!same[1].shares_memory(there));
  // A step that needs both is the error that it is without fusion.
  BOOST_TEST(test::message_of<nd::ValueError>([&] {
               nd::fuse([](const auto& x, const auto& y) { return x + y; })(here, there);
             }).starts_with("add: arrays are on cuda:0 and cpu:0"));
  const auto total = nd::fuse([](const auto& x, const auto&) { return x * x; }, {.reduce = nd::Reduction::sum});
  BOOST_TEST(total(here, there).item<float>() == 5);
  nd::set_warning_handler(previous);
  // Arrays on the host alone are fused there, with the bits of the plain function.
  CHECK_SAME(test::difference(nd::fuse([](const auto& y) { return nd::sqrt(y) * 2; })(there), nd::sqrt(there) * 2),
             "host");
}

// ---- reductions ---------------------------------------------------------------------------------
// The same bits on the CPU; on CUDA the layout of the inputs decides how threads share the work (see
// test::same_reduction).
void check_reduction(const Array& fused, const Array& unfused, const std::string& what) {
  BOOST_TEST((fused.dtype() == unfused.dtype() && fused.shape() == unfused.shape()), what);
  BOOST_TEST(test::same_reduction(fused, unfused), what << ": " << test::difference(fused, unfused));
}

// Every dtype over every axis.
BOOST_AUTO_TEST_CASE(sums_have_the_bits_of_the_unfused_ones) {
  std::mt19937 random(7);
  const auto f = [](const auto& x, const auto& y) { return x * y + x; };
  const auto sum = nd::fuse(f, {.reduce = nd::Reduction::sum});
  std::size_t turn = 0;
  test::Turns turns("pairs of shape and dtype");
  for (const nd::Shape& shape : {nd::Shape{}, nd::Shape{1}, nd::Shape{0}, nd::Shape{5000}, nd::Shape{40, 300},
                                 nd::Shape{300, 40}, nd::Shape{7, 5, 33}, nd::Shape{3, 0, 2}}) {
    ++turn;
    for (const Dtype dtype : {nd::float16, nd::bfloat16, nd::float32, nd::float64, nd::int32, nd::uint8, nd::bool_}) {
      if (!turns.take(turn, dtype)) continue;
      const Array x = test::random_array(shape, dtype, random), y = test::random_array(shape, dtype, random),
                  z = f(x, y);
      const Array sx = test::scattered(x, random), sy = test::scattered(y, random);
      for (int axis = -1; axis < int(shape.size()); ++axis) {
        const nd::Axes axes = axis < 0 ? nd::Axes() : nd::Axes(axis);
        for (bool keepdims : {false, true}) {
          const std::string what = catena::concat(dtype, shape, " axis ", axis, keepdims ? " keepdims" : "");
          const Array expected = nd::sum(z, {.axis = axes, .keepdims = keepdims});
          BOOST_TEST(test::same_bits(sum(x, y, {.axis = axes, .keepdims = keepdims}), expected), what);
          check_reduction(sum(sx, sy, {.axis = axes, .keepdims = keepdims}), expected, what + " scattered");
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(every_reduction_with_and_without_a_post_map) {
  std::mt19937 random(8);
  const auto f = [](const auto& x, const auto& y) { return x - y; };
  const auto g = [](const auto& r) { return r * 2 + 1; };
  std::size_t turn = 0;
  test::Turns turns("pairs of reduction and dtype");
  const auto check = [&](nd::Reduction reduction, auto unfused, std::initializer_list<Dtype> dtypes) {
    ++turn;
    for (const Dtype dtype : dtypes) {
      if (!turns.take(turn, dtype)) continue;
      const Array x = test::random_array({60, 70}, dtype, random), y = test::random_array({60, 70}, dtype, random);
      const std::string what = catena::concat(int(reduction), " of ", dtype);
      for (int axis : {0, 1}) {
        const Array expected = unfused(f(x, y), axis);
        check_reduction(nd::fuse(f, {.reduce = reduction})(x, y, {.axis = axis}), expected, what);
        check_reduction(nd::fuse(f, {.reduce = reduction, .post_map = g})(x, y, {.axis = axis}), g(expected),
                        what + " mapped");
      }
    }
  };
  const auto all = {nd::float16, nd::bfloat16, nd::float32, nd::float64, nd::int32};
  check(
      nd::Reduction::sum, [](const Array& a, int axis) { return nd::sum(a, {.axis = axis}); }, all);
  check(nd::Reduction::prod, [](const Array& a, int axis) { return nd::prod(a, {.axis = axis}); },
        {nd::float32, nd::int32});
  check(
      nd::Reduction::amax, [](const Array& a, int axis) { return nd::amax(a, {.axis = axis}); }, all);
  check(
      nd::Reduction::amin, [](const Array& a, int axis) { return nd::amin(a, {.axis = axis}); }, all);
  check(nd::Reduction::all, [](const Array& a, int axis) { return nd::all(a, {.axis = axis}); },
        {nd::float32, nd::int32});
  check(nd::Reduction::any, [](const Array& a, int axis) { return nd::any(a, {.axis = axis}); },
        {nd::float32, nd::int32});
}

// Sums over many elements: in chunks and by several threads on the CPU, in two kernels on CUDA. Against float64.
BOOST_AUTO_TEST_CASE(long_reductions) {
  std::mt19937 random(9);
  const auto f = [](const auto& x, const auto& y) { return nd::square(x - y); };
  const auto norm = nd::fuse(f, {.reduce = nd::Reduction::sum, .post_map = [](const auto& s) { return nd::sqrt(s); }});
  for (const nd::Shape& shape : {nd::Shape{200000}, nd::Shape{5000, 140}, nd::Shape{20000, 9}, nd::Shape{9, 20000}}) {
    const Array x = test::random_array(shape, nd::float32, random), y = test::random_array(shape, nd::float32, random);
    for (int axis = -1; axis < int(shape.size()); ++axis) {
      const nd::Axes axes = axis < 0 ? nd::Axes() : nd::Axes(axis);
      const std::string what = catena::concat(shape, " axis ", axis);
      const Array result = norm(x, y, {.axis = axes});
      check_reduction(result, nd::sqrt(nd::sum(f(x, y), {.axis = axes})), what);
      const Array exact =
          nd::sqrt(nd::sum(f(x.astype(nd::float64), y.astype(nd::float64)), {.axis = axes})).astype(nd::float32);
      CHECK_SAME(test::difference(result, exact, 0, 1e-5), what);
    }
  }
  const Array x = test::random_array({5000, 140}, nd::float16, random),
              y = test::random_array({5000, 140}, nd::float16, random);
  check_reduction(norm(x, y, {.axis = 0}), nd::sqrt(nd::sum(f(x, y), {.axis = 0})), "float16");
}

BOOST_AUTO_TEST_CASE(reductions_broadcast) {
  std::mt19937 random(10);
  const auto f = [](const auto& x, const auto& y, const auto& s) { return (x + 0.5) * y - s; };
  const auto sum = nd::fuse(f, {.reduce = nd::Reduction::sum});
  const Array row = test::random_array({90}, nd::float32, random),
              column = test::random_array({50, 1}, nd::float32, random);
  const Array matrix = test::random_array({50, 90}, nd::float32, random),
              one = test::random_array({1, 1}, nd::float32, random);
  const Array narrow = test::random_array({4000, 3}, nd::float32, random),
              three = test::random_array({3}, nd::float32, random);
  for (const auto& [a, b] : {std::pair{row, column}, std::pair{matrix, row}, std::pair{column, matrix},
                             std::pair{matrix, one}, std::pair{matrix.T(), column.T()}, std::pair{narrow, three}})
    for (const nd::Axes& axes :
         {nd::Axes(), nd::Axes(0), nd::Axes(1), nd::Axes(std::vector<int>{0, 1}), nd::Axes(std::vector<int>{})}) {
      const std::string what = catena::concat(a.shape(), " and ", b.shape());
      check_reduction(sum(a, b, 3, {.axis = axes}), nd::sum(f(a, b, 3), {.axis = axes}), what);
    }
  // Many short axes that do not merge.
  const nd::Shape many{2, 3, 2, 3, 2, 3, 2, 3, 2, 3};
  const Array x = test::random_array(many, nd::float32, random),
              y = test::random_array({3, 1, 3, 1, 3, 1, 3}, nd::float32, random);
  const nd::Axes odd(std::vector<int>{1, 3, 5, 7, 9});
  check_reduction(sum(x, y, x, {.axis = odd}), nd::sum(f(x, y, x), {.axis = odd}), "ten axes");
}

BOOST_AUTO_TEST_CASE(reduced_values_may_be_arguments_or_constants) {
  std::mt19937 random(11);
  const Array x = test::random_array({20, 30}, nd::float16, random),
              k = test::random_array({20, 30}, nd::int32, random);
  const auto itself = nd::fuse([](const auto& a) { return a; }, {.reduce = nd::Reduction::sum});
  check_reduction(itself(x, {.axis = 1}), nd::sum(x, {.axis = 1}), "the argument itself");
  const auto last = nd::fuse([](const auto&, const auto& b) { return b; }, {.reduce = nd::Reduction::amax});
  check_reduction(last(k, x), nd::amax(x), "the second argument");
  // The first steps are float16, the loop of the sum is int64's, and the map ends in float32.
  const auto mixed =
      nd::fuse([](const auto& a, const auto& b) { return (a * a > 0.25) & (b > 3); },
               {.reduce = nd::Reduction::sum, .post_map = [](const auto& s) { return s.astype(nd::float32) / 2; }});
  const Array counted = nd::sum((x * x > 0.25) & (k > 3), {.axis = 0});
  BOOST_TEST((counted.dtype() == nd::int64));
  check_reduction(mixed(x, k, {.axis = 0}), counted.astype(nd::float32) / 2, "comparison");
  const auto map = [](const auto& s) { return nd::where(s > 100, 1., s * 0 + 7); };
  const auto constant =
      nd::fuse([](const auto& a) { return a + 1.; }, {.reduce = nd::Reduction::amin, .post_map = map});
  check_reduction(constant(x), map(nd::amin(x + 1.)), "constants in the map");
}

BOOST_AUTO_TEST_CASE(outputs_of_fused_reductions) {
  std::mt19937 random(12);
  const auto f = [](const auto& a) { return a * 2; };
  const auto sum = nd::fuse(f, {.reduce = nd::Reduction::sum});
  const Array x = test::random_array({30, 40}, nd::float32, random), expected = nd::sum(f(x), {.axis = 1});
  const Array wide = nd::zeros({30}, nd::float64), every_second = nd::zeros({60}, nd::float32)(nd::Slice(0, 60, 2));
  BOOST_TEST(sum(x, {.axis = 1, .out = wide}).shares_memory(wide));
  CHECK_SAME(test::difference(wide, expected.astype(nd::float64)), "out of another dtype");
  sum(x, {.axis = 1, .out = every_second});
  check_reduction(every_second.copy(), expected, "strided out");
  // A part of what is read.
  const Array y = x.copy();
  sum(y, {.axis = 1, .out = y(nd::Slice(), 0)});
  check_reduction(y(nd::Slice(), 0).copy(), expected, "overlapping out");
  CHECK_SAME(test::difference(y(nd::Slice(), 1).copy(), x(nd::Slice(), 1).copy()), "the rest of it");
}

BOOST_AUTO_TEST_CASE(errors_of_fused_reductions) {
  const Array x = nd::ones({3, 4}), none = nd::zeros({0, 4});
  const auto f = [](const auto& a) { return a + a; };
  const auto sum = nd::fuse(f, {.reduce = nd::Reduction::sum}), amax = nd::fuse(f, {.reduce = nd::Reduction::amax});
  BOOST_TEST(test::message_of<catena::TypeError>([&] { sum(1); }) ==
             "fused function: at least one argument must be an array");
  const auto message = [](auto g) { return test::message_of<catena::ValueError>(g); };
  BOOST_TEST(message([&] { sum(x, {.axis = 2}); }) == message([&] { nd::sum(x, {.axis = 2}); }));
  BOOST_TEST(message([&] { amax(none, {.axis = 0}); }) == message([&] { nd::amax(none, {.axis = 0}); }));
  CHECK_SAME(test::difference(amax(none, {.axis = 1}), nd::zeros({0})), "no results");
  CHECK_SAME(test::difference(sum(none, {.axis = 0}), nd::zeros({4})), "sums of nothing");
  BOOST_TEST(message([&] { sum(x, {.axis = 1, .out = nd::zeros({4})}); }) ==
             "sum: the output has shape (4,), the result (3,)");
  const auto assign = nd::fuse([](auto& a) { return a += 1.; }, {.reduce = nd::Reduction::sum});
  BOOST_TEST(test::message_of<catena::TypeError>([&] { assign(x); }) ==
             "fused function: argument 0 is assigned to, which a reduction does not write");
  CHECK_SAME(test::difference(x, nd::ones({3, 4})), "not written");
}

// Counted by the software CUDA device: the programs around a reduction are part of its kernel.
BOOST_AUTO_TEST_CASE(a_fused_reduction_is_one_kernel) {
  if (!cuda_device::Control::available() || nd::current_device().kind != nd::Device::Kind::cuda) {
    std::cout << "skipped: launches are counted by the software CUDA device\n";
    return;
  }
  const auto norm = nd::fuse([](const auto& x, const auto& y) { return nd::square(x - y); },
                             {.reduce = nd::Reduction::sum, .post_map = [](const auto& s) { return nd::sqrt(s); }});
  const auto kernels = [&](const Array& x, const Array& y, const nd::Axes& axis) {
    norm(x, y, {.axis = axis});
    cuda_device::Control control;
    control.reset_records();
    norm(x, y, {.axis = axis});
    std::vector<std::string> names;
    for (const auto& launch : control.launches()) names.push_back(launch.kernel);
    return names;
  };
  const Array x = nd::full({200, 300}, 0.5f), row = nd::full({300}, 2.f);
  const std::string name = "subtract_and_1_more_then_sum_then_sqrt_";
  for (const auto& [axis, form] : {std::pair{1, "reduce_warp_"}, std::pair{0, "reduce_columns_"}}) {
    const std::vector<std::string> launched = kernels(x, row, axis);
    BOOST_REQUIRE_EQUAL(launched.size(), 1u);
    BOOST_TEST(launched[0].starts_with(name + form), launched[0]);
  }
  // Few results of many elements, which several blocks share
  const std::vector<std::string> shared = kernels(nd::full({300000}, 0.5f), nd::full({300000}, 2.f), {});
  BOOST_REQUIRE_EQUAL(shared.size(), 1u);
  BOOST_TEST(shared[0].starts_with(name + "reduce_block_"), shared[0]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
