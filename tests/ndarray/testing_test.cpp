// nd::testing: assertions with the messages that NumPy 2.4 gives for the same arguments, comparison of devices,
// parameters, contents, repetition, the chi-square test.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/testing/assertions.h>
#include <catena/ndarray/testing/backends.h>
#include <catena/ndarray/testing/conditions.h>
#include <catena/ndarray/testing/data.h>
#include <catena/ndarray/testing/parameters.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

using nd::Array;
using nd::Dtype;
using nd::testing::AcceptError;
using test::contains;
using test::difference;
using test::message_of;
using namespace nd::testing;  // NOLINT

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class F> std::string failure_of(F&& f) { return message_of<nd::AssertionError>(std::forward<F>(f)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(testing)

BOOST_AUTO_TEST_CASE(equal_arrays) {
  assert_array_equal({1, 2, 3}, nd::arange(1, 4));
  assert_array_equal({1.0, kNaN, kInf, -kInf}, {1.0, kNaN, kInf, -kInf});
  assert_array_equal(nd::full({2, 2}, 3), 3);
  assert_array_equal(nd::zeros({0, 3}), nd::zeros({0, 3}));
  assert_array_equal(nd::array({UINT64_MAX}), nd::array({UINT64_MAX}));
  BOOST_CHECK_THROW(assert_array_equal(nd::array({UINT64_MAX}), nd::array({UINT64_MAX - 1})), nd::AssertionError);
  BOOST_CHECK_THROW(assert_array_equal(nd::zeros({0, 3}), nd::zeros({3, 0})), nd::AssertionError);
  BOOST_TEST(failure_of([] {
               assert_array_equal({1, 2, 3}, {1, 2, 4});
             }) ==
             "\nArrays are not equal\n\nMismatched elements: 1 / 3 (33.3%)\nMismatch at index:\n"
             " [2]: 3 (ACTUAL), 4 (DESIRED)\nMax absolute difference among violations: 1\n"
             "Max relative difference among violations: 0.25\n ACTUAL: array([1, 2, 3])\n DESIRED: array([1, 2, 4])");
  BOOST_TEST(failure_of([] {
               assert_array_equal({1, 2, 3}, {1, 2});
             }) ==
             "\nArrays are not equal\n\n(shapes (3,), (2,) mismatch)\n ACTUAL: array([1, 2, 3])\n DESIRED: array([1, "
             "2])");
  BOOST_TEST(failure_of([] {
               assert_array_equal({1.0, kNaN, 3.0}, {1, 2, 3});
             }) ==
             "\nArrays are not equal\n\nnan location mismatch:\n ACTUAL: array([ 1., nan,  3.])\n"
             " DESIRED: array([1, 2, 3])");
  BOOST_TEST(failure_of([] {
               assert_array_equal(nd::array({1, 2, 3}, nd::uint8), nd::array({1, 5, 3}, nd::uint8));
             }) ==
             "\nArrays are not equal\n\nMismatched elements: 1 / 3 (33.3%)\nMismatch at index:\n"
             " [1]: 2 (ACTUAL), 5 (DESIRED)\nMax absolute difference among violations: 3\n"
             "Max relative difference among violations: 0.6\n ACTUAL: array([1, 2, 3], dtype=uint8)\n"
             " DESIRED: array([1, 5, 3], dtype=uint8)");
  BOOST_TEST(failure_of([] {
               assert_array_equal({true, false}, {true, true});
             }) ==
             "\nArrays are not equal\n\nMismatched elements: 1 / 2 (50%)\nMismatch at index:\n"
             " [1]: False (ACTUAL), True (DESIRED)\n ACTUAL: array([ True, False])\n DESIRED: array([ True,  True])");
  const std::string many = failure_of([] { assert_array_equal(nd::zeros({20, 20}), nd::ones({20, 20})); });
  BOOST_TEST(contains(many,
                      "Mismatched elements: 400 / 400 (100%)\nFirst 5 mismatches are at indices:\n"
                      " [0, 0]: 0.0 (ACTUAL), 1.0 (DESIRED)\n"));
  BOOST_TEST(contains(many, " [0, 4]: 0.0 (ACTUAL), 1.0 (DESIRED)\nMax absolute difference among violations: 1.\n"));
  BOOST_TEST(contains(many, "0., 0., 0., 0.,...\n DESIRED: array([[1., "));
  BOOST_TEST(!contains(failure_of([] { assert_array_equal(1, 2, {.err_msg = "why", .verbose = false}); }), "ACTUAL"));
  BOOST_TEST(contains(failure_of([] { assert_array_equal(1, 2, {.err_msg = "why"}); }), "\nwhy\n"));
  assert_array_list_equal({nd::zeros(2), nd::array(3)}, {nd::zeros(2), 3});
  BOOST_CHECK_THROW(assert_array_list_equal({nd::zeros(2), 3}, {nd::zeros(2), 4}), nd::AssertionError);
  BOOST_CHECK_THROW(assert_array_list_equal({nd::zeros(2)}, {}), nd::AssertionError);
  const std::vector<Array> list{nd::zeros(2), nd::array(3)};
  assert_array_list_equal(list, list);
  assert_array_list_equal(list, {nd::zeros(2), 3});
  BOOST_CHECK_THROW(assert_array_list_equal(list, std::vector<std::vector<int>>{{0, 0}, {4}}), nd::AssertionError);
}

BOOST_AUTO_TEST_CASE(near_arrays) {
  assert_allclose({1.0, kNaN, kInf}, {1.0 + 1e-8, kNaN, kInf});
  assert_allclose({1.0, 2.0}, {1.05, 2.05}, 0, 0.051);
  BOOST_CHECK_THROW(assert_allclose({1.0}, {1.05}, 0.04), nd::AssertionError);
  // The tolerance is relative to the desired value.
  assert_allclose({1.0}, {2.0}, 0.5);
  BOOST_CHECK_THROW(assert_allclose({2.0}, {1.0}, 0.5), nd::AssertionError);
  BOOST_TEST(failure_of([] {
               assert_allclose({1.0, 2.0, kNaN, 4.0}, {1.0, 2.5, kNaN, 0.0});
             }) ==
             "\nNot equal to tolerance rtol=1e-07, atol=0\n\nMismatched elements: 2 / 4 (50%)\nMismatch at indices:\n"
             " [1]: 2.0 (ACTUAL), 2.5 (DESIRED)\n [3]: 4.0 (ACTUAL), 0.0 (DESIRED)\n"
             "Max absolute difference among violations: 4.\nMax relative difference among violations: 0.2\n"
             " ACTUAL: array([ 1.,  2., nan,  4.])\n DESIRED: array([1. , 2.5, nan, 0. ])");
  BOOST_TEST(failure_of([] { assert_allclose(3.0, 4.0); }) ==
             "\nNot equal to tolerance rtol=1e-07, atol=0\n\nMismatched elements: 1 / 1 (100%)\n"
             "Max absolute difference among violations: 1.\nMax relative difference among violations: 0.25\n"
             " ACTUAL: array(3.)\n DESIRED: array(4.)");
  BOOST_TEST(contains(failure_of([] {
                        assert_allclose({1.0, 2.0, kInf}, {1.0, 2.0, -kInf});
                      }),
                      "inf values mismatch:"));
  BOOST_TEST(contains(failure_of([] { assert_allclose({1.0, kInf}, {1.0, 2.0}); }), "inf location mismatch:"));
  assert_array_almost_equal({1.0, 2.3333}, {1.0, 2.33333}, 4);
  BOOST_TEST(failure_of([] {
               assert_array_almost_equal({1.0, 2.3333}, {1.0, 2.33339}, 5);
             }) ==
             "\nArrays are not almost equal to 5 decimals\n\nMismatched elements: 1 / 2 (50%)\nMismatch at index:\n"
             " [1]: 2.3333 (ACTUAL), 2.33339 (DESIRED)\nMax absolute difference among violations: 9.e-05\n"
             "Max relative difference among violations: 3.85704919e-05\n ACTUAL: array([1.    , 2.3333])\n"
             " DESIRED: array([1.     , 2.33339])");
  assert_array_less({1, 2}, {2, 3});
  BOOST_TEST(failure_of([] {
               assert_array_less({1.0, 2.0, 3.0}, {2.0, 2.0, 1.0});
             }) ==
             "\nArrays are not strictly ordered `x < y`\n\nMismatched elements: 2 / 3 (66.7%)\nMismatch at indices:\n"
             " [1]: 2.0 (x), 2.0 (y)\n [2]: 3.0 (x), 1.0 (y)\nMax absolute difference among violations: 2.\n"
             "Max relative difference among violations: 2.\n x: array([1., 2., 3.])\n y: array([2., 2., 1.])");
}

BOOST_AUTO_TEST_CASE(units_in_the_last_place) {
  for (const Dtype t : {nd::float16, nd::float32, nd::float64}) {
    const Array x = nd::array({1.0, -1.0, 0.5, 1024.0, 0.0, kNaN}, t);
    const Array next = nd::nextafter(x, nd::array(kInf, t)), far = nd::nextafter(next, nd::array(kInf, t));
    assert_array_max_ulp(x, next);
    assert_array_almost_equal_nulp(x, next);
    BOOST_CHECK_THROW(assert_array_max_ulp(x, far), nd::AssertionError);
    BOOST_CHECK_THROW(assert_array_almost_equal_nulp(x, far), nd::AssertionError);
    CHECK_SAME(difference(assert_array_max_ulp(x, far, 2), nd::array({2.0, 2.0, 2.0, 2.0, 2.0, 0.0})), t);
    // Across zero.
    const Array tiny = nd::nextafter(nd::zeros(1, t), nd::array(-1.0, t));
    BOOST_TEST(assert_array_max_ulp(tiny, -tiny, 2).item<double>() == 2);
  }
  const Array one = nd::array({1.0, 2.0}), off = nd::array({1.0, 2.0 + 1e-9});
  BOOST_TEST(failure_of([&] { assert_array_almost_equal_nulp(one, off); }) ==
             "Arrays are not equal to 1 ULP (max is 2.2518e+06)");
  BOOST_TEST(failure_of([&] { assert_array_max_ulp(one, off); }) ==
             "Arrays are not almost equal up to 1 ULP (max difference is 2.2518e+06 ULP)");
  assert_array_max_ulp(one, off, 1, nd::float32);
  BOOST_CHECK_THROW(assert_array_max_ulp(one, nd::array({kNaN, 2.0}), 1e300), nd::AssertionError);
  BOOST_CHECK_THROW(assert_array_max_ulp(one, nd::ones(2, nd::float32)), nd::TypeError);
  BOOST_CHECK_THROW(assert_array_almost_equal_nulp({1}, {1}), nd::TypeError);
}

// Each assertion with a text of its own and without the arrays, each tolerance by its place.
BOOST_AUTO_TEST_CASE(messages_and_tolerances) {
  const auto check = [](const std::string& message) {
    BOOST_TEST(contains(message, "\nwhy\n"), message);
    BOOST_TEST(!contains(message, "array("), message);
  };
  check(failure_of([] { assert_allclose({1.0}, {2.0}, 0, 0, {.err_msg = "why", .verbose = false}); }));
  check(failure_of([] { assert_array_almost_equal({1.0}, {2.0}, 6, {.err_msg = "why", .verbose = false}); }));
  check(failure_of([] { assert_array_list_equal({1.0}, {2.0}, {.err_msg = "why", .verbose = false}); }));
  check(failure_of([] { assert_array_less({2.0}, {1.0}, {.err_msg = "why", .verbose = false}); }));
  const Array one = nd::array({1.0f}), second = nd::nextafter(nd::nextafter(one, 2.0f), 2.0f);
  assert_array_almost_equal_nulp(one, second, 2);

  // The same of two devices: the body gives 1 for the reference, and then what is a little or much more.
  int call = 0;
  const auto then = [&call](double other) {
    return [&call, other] { return nd::full(1, call++ % 2 == 0 ? 1.0 : other); };
  };
  const BackendOptions plain{.message = {.err_msg = "why", .verbose = false}};
  numpy_cupy_allclose(then(1.5), 0.5, 0, plain);
  numpy_cupy_allclose(then(1.5), 0, 0.5, plain);
  check(failure_of([&] { numpy_cupy_allclose(then(1.5), 0.25, 0.2, plain); }));
  numpy_cupy_array_almost_equal(then(1.01), 1, plain);
  check(failure_of([&] { numpy_cupy_array_almost_equal(then(1.01), 3, plain); }));
  check(failure_of([&] { numpy_cupy_array_equal(then(2), plain); }));
  check(failure_of([&] { numpy_cupy_array_list_equal(then(2), plain); }));
  check(failure_of([&] { numpy_cupy_array_less(then(2), plain); }));
  const double far = 1 + 4e-16;  // two steps of float64, none of float32
  numpy_cupy_array_almost_equal_nulp(then(far), 2);
  BOOST_CHECK_THROW(numpy_cupy_array_almost_equal_nulp(then(far), 1), nd::AssertionError);
  numpy_cupy_array_max_ulp(then(far), 2);
  BOOST_CHECK_THROW(numpy_cupy_array_max_ulp(then(far), 1), nd::AssertionError);
  numpy_cupy_array_max_ulp(then(far), 0, nd::float32);
}

// Errors that are accepted and dtypes that differ, for the comparisons that the cases below leave out.
BOOST_AUTO_TEST_CASE(errors_and_dtypes_of_two_devices) {
  int call = 0;
  const auto fails = []() -> Array { return nd::zeros(3).reshape(2, 2); };
  const auto differs = [&call] { return nd::zeros(1, call++ % 2 == 0 ? nd::float32 : nd::float64); };
  numpy_cupy_allclose(fails, 0, 0, {.accept_error = true});
  numpy_cupy_array_almost_equal(fails, 6, {.accept_error = true});
  numpy_cupy_array_almost_equal_nulp(fails, 1, {.accept_error = true});
  numpy_cupy_array_max_ulp(fails, 1, {}, {.accept_error = true});
  numpy_cupy_array_less(fails, {.accept_error = true});
  BOOST_CHECK_THROW(numpy_cupy_allclose(fails), nd::AssertionError);
  numpy_cupy_allclose(differs, 0, 0, {.type_check = false});
  numpy_cupy_array_almost_equal(differs, 6, {.type_check = false});
  BOOST_CHECK_THROW(numpy_cupy_allclose(differs), nd::AssertionError);
  const auto below = [&call] {
    const bool reference = call++ % 2 == 0;
    return nd::full(1, reference ? 1 : 0, reference ? nd::float32 : nd::float64);
  };
  numpy_cupy_array_less(below, {.type_check = false});
  BOOST_CHECK_THROW(numpy_cupy_array_less(below), nd::AssertionError);
  // Numbers of two dtypes have no distance in units of one of them: the types are told apart before.
  BOOST_TEST(contains(failure_of([&] { numpy_cupy_array_almost_equal_nulp(differs); }), "float64"));
  BOOST_CHECK_THROW(numpy_cupy_array_almost_equal_nulp(differs, 1, {.type_check = false}), nd::TypeError);
  BOOST_CHECK_THROW(numpy_cupy_array_max_ulp(differs, 1, {}, {.type_check = false}), nd::TypeError);
}

BOOST_AUTO_TEST_CASE(choices_of_dtypes) {
  std::vector<Dtype> seen;
  const auto note = [&](Dtype t) { seen.push_back(t); };
  for_float_dtypes(note, {.no_float16 = true});
  BOOST_TEST((seen == Dtypes{nd::float64, nd::float32}));
  std::set<Dtypes> sets;
  const auto keep = [&](const Dtypes& d) { sets.insert(d); };
  const auto count = [&](auto&& run) { return sets.clear(), run(), sets.size(); };
  BOOST_TEST(count([&] { for_dtypes_combination({nd::int8, nd::int16}, 2, keep, true); }) == 4u);
  BOOST_TEST(count([&] { for_all_dtypes_combination(1, keep, {.no_float16 = true, .no_bool = true}); }) == 10u);
  BOOST_TEST(count([&] { for_unsigned_dtypes_combination(2, keep, true); }) == 16u);
  BOOST_TEST(count([&] { for_int_dtypes_combination(2, keep, {.no_bool = true}, true); }) == 64u);
}

BOOST_AUTO_TEST_CASE(two_devices) {
  numpy_cupy_array_equal([] { return shaped_arange({2, 3}) + 1; });
  numpy_cupy_allclose([](nd::Device xp) { return nd::exp(shaped_arange({3})).to_device(xp); }, 1e-5);
  numpy_cupy_array_almost_equal([] { return nd::sqrt(shaped_arange({3})); });
  numpy_cupy_array_almost_equal_nulp([] { return shaped_random({5}); });
  numpy_cupy_array_max_ulp([] { return shaped_random({5}); });
  numpy_cupy_array_list_equal([] { return nd::split(nd::arange(6), 3); });
  numpy_cupy_raises([] { return nd::zeros(3).reshape(2, 2); });
  const BackendOptions accepted{.accept_error = AcceptError::of<nd::TypeError, nd::ValueError>()};
  numpy_cupy_array_equal([] { return nd::zeros(3).reshape(2, 2); }, accepted);
  numpy_cupy_array_equal([] { return nd::zeros(3).reshape(2, 2); }, {.accept_error = true});
  BOOST_CHECK_THROW(numpy_cupy_array_equal([] { return nd::zeros(3).reshape(2, 2); }), nd::AssertionError);
  BOOST_CHECK_THROW(numpy_cupy_array_equal([] { return nd::zeros(3).reshape(2, 2); },
                                           {.accept_error = AcceptError::of<nd::TypeError>()}),
                    nd::AssertionError);
  BOOST_CHECK_THROW(numpy_cupy_raises([] { return nd::zeros(3); }), nd::AssertionError);
  BOOST_CHECK_THROW(numpy_cupy_array_equal([] { return Array(); }), nd::AssertionError);
  // Bodies that differ from call to call stand for devices that differ: the reference is called first.
  int call = 0;
  const auto second = [&call] { return call++ % 2 == 1; };
  BOOST_CHECK_THROW(numpy_cupy_array_equal([&] { return nd::full(2, second() ? 1 : 0); }), nd::AssertionError);
  BOOST_CHECK_THROW(numpy_cupy_array_equal([&] { return nd::zeros(2 + second()); }), nd::AssertionError);
  BOOST_CHECK_THROW(numpy_cupy_array_equal([&] { return nd::zeros(2, second() ? nd::float32 : nd::float64); }),
                    nd::AssertionError);
  numpy_cupy_array_equal([&] { return nd::zeros(2, second() ? nd::float32 : nd::float64); }, {.type_check = false});
  numpy_cupy_array_less([&] { return nd::full(2, second() ? 1 : 2); });
  BOOST_CHECK_THROW(numpy_cupy_array_less([&] { return nd::full(2, second() ? 2 : 1); }), nd::AssertionError);
  const auto throws_twice = [&]() -> Array {
    if (second()) throw nd::TypeError("second");
    throw nd::ValueError("first");
  };
  BOOST_TEST(contains(failure_of([&] { numpy_cupy_raises(throws_twice); }), "different errors"));
  BOOST_CHECK_THROW(numpy_cupy_array_equal(throws_twice, {.accept_error = true}), nd::AssertionError);
  BOOST_TEST(contains(
      failure_of([&] { numpy_cupy_array_equal([&] { return second() ? nd::zeros(1) : nd::zeros(3).reshape(2, 2); }); }),
      "only the reference throws"));
  // Where negative values are converted to unsigned ones the elements are left out.
  const BackendOptions mixed{.dtypes = {nd::uint8, nd::int8}};
  numpy_cupy_array_equal(
      [&](const Dtypes& dtypes) {
        const Array values = nd::array({3, -1, 5}).astype(dtypes[0]);
        if (dtypes[0] == nd::uint8 && second()) values(1) = 17;
        return values;
      },
      mixed);
  BOOST_CHECK_THROW(numpy_cupy_array_equal(
                        [&](const Dtypes& dtypes) {
                          const Array values = nd::array({3, -1, 5}).astype(dtypes[0]);
                          if (dtypes[0] == nd::uint8 && second()) values(2) = 17;
                          return values;
                        },
                        mixed),
                    nd::AssertionError);
}

BOOST_AUTO_TEST_CASE(runs_over_dtypes) {
  std::vector<Dtype> seen;
  const auto note = [&](Dtype t) { seen.push_back(t); };
  const auto count = [&](auto&& run) { return seen.clear(), run(), seen.size(); };
  BOOST_TEST(count([&] { for_all_dtypes(note); }) == 12u);
  BOOST_TEST((std::set<Dtype>(seen.begin(), seen.end()).size() == 12u));
  BOOST_TEST(count([&] { for_all_dtypes(note, {.no_float16 = true, .no_bool = true}); }) == 10u);
  BOOST_TEST(count([&] { for_float_dtypes(note); }) == 3u);
  BOOST_TEST((seen == Dtypes{nd::float64, nd::float32, nd::float16}));
  BOOST_TEST(count([&] { for_signed_dtypes(note); }) == 4u);
  BOOST_TEST(count([&] { for_unsigned_dtypes(note); }) == 4u);
  BOOST_TEST(count([&] { for_int_dtypes(note, {.no_bool = true}); }) == 8u);
  BOOST_TEST(message_of<nd::ValueError>([] {
               for_dtypes({nd::int8, nd::float32}, [](Dtype t) {
                 if (t == nd::float32) throw nd::ValueError("wrong");
               });
             }) == "dtype float32: wrong");

  std::set<Dtypes> sets;
  const auto keep = [&](const Dtypes& d) { sets.insert(d); };
  for_signed_dtypes_combination(2, keep, true);
  BOOST_TEST(sets.size() == 16u);
  sets.clear();
  for_all_dtypes_combination(3, keep, {.no_bool = true}, false);
  BOOST_TEST(sets.size() == 11u);
  for (int k = 0; k < 3; ++k) {  // every dtype at every place
    std::set<Dtype> at;
    for (const Dtypes& d : sets) at.insert(d.at(std::size_t(k)));
    BOOST_TEST(at.size() == 11u);
  }
  sets.clear();
  ::setenv("CUPY_TEST_FULL_COMBINATION", "1", 1);
  for_unsigned_dtypes_combination(3, keep);
  ::unsetenv("CUPY_TEST_FULL_COMBINATION");
  BOOST_TEST(sets.size() == 64u);
  sets.clear();
  for_int_dtypes_combination(1, keep);
  BOOST_TEST(sets.size() == 9u);
  BOOST_CHECK_THROW(for_dtypes_combination({nd::int8}, 0, keep), nd::ValueError);
  BOOST_TEST(message_of<nd::TypeError>([] {
               for_dtypes_combination({nd::int8}, 2, [](const Dtypes&) { throw nd::TypeError("wrong"); });
             }) == "dtype int8, int8: wrong");

  std::string orders;
  for_CF_orders([&](nd::Order o) { orders += nd::zeros({2, 3}, {.order = o}).is_c_contiguous() ? 'C' : 'F'; });
  BOOST_TEST(orders == "CF");
  BOOST_TEST(message_of<nd::ValueError>([] {
               for_orders({nd::Order::C, nd::Order::K}, [](nd::Order o) { nd::zeros({2, 3}).reshape({6}, o); });
             }) == "order K: reshape: elements cannot be read in order K; the orders are C, F and A");
}

BOOST_AUTO_TEST_CASE(parameter_sets) {
  const auto sets = product(std::vector{1, 2}, std::vector<std::string>{"a", "b", "c"});
  std::string text;
  parameterize(sets, [&](int n, const std::string& s) { text += s + std::to_string(n); });
  BOOST_TEST(text == "a1b1c1a2b2c2");
  BOOST_TEST(product(std::vector{1, 2}, std::vector<int>{}).empty());
  int sum = 0;
  parameterize(std::vector{1, 2, 3}, [&](int n) { sum += n; });
  BOOST_TEST(sum == 6);
  BOOST_TEST(message_of<nd::ValueError>([] {
               parameterize(std::vector{1, 2, 3}, [](int n) {
                 if (n == 3) throw nd::ValueError("wrong");
               });
             }) == "parameter set 2: wrong");
}

BOOST_AUTO_TEST_CASE(contents) {
  for_all_dtypes([](Dtype t) {
    const Array up = shaped_arange({2, 3}, t), down = shaped_reverse_arange({2, 3}, t);
    BOOST_TEST(up.dtype() == t);
    if (t == nd::bool_) {
      assert_array_equal(up, {{false, true, false}, {true, false, true}});
      assert_array_equal(down, {{true, false, true}, {false, true, false}});
    } else {
      assert_array_equal(up, {{1, 2, 3}, {4, 5, 6}});
      assert_array_equal(down, {{6, 5, 4}, {3, 2, 1}});
    }
    const Array random = shaped_random({1000}, t, 100);
    BOOST_TEST(random.dtype() == t);
    assert_array_equal(random, shaped_random({1000}, t, 100));
    BOOST_CHECK_THROW(assert_array_equal(random, shaped_random({1000}, t, 100, 1)), nd::AssertionError);
    const double mean = random.mean().item<double>(), expected = t == nd::bool_ ? 0.5 : 50;
    BOOST_TEST(std::fabs(mean / expected - 1) < 0.1);  // five standard deviations
    if (t != nd::bool_) assert_array_less(random, t == nd::float16 ? 100.5 : 100.0);
  });
  BOOST_TEST(shaped_arange({}).item<float>() == 1);
  BOOST_TEST(shaped_random({0, 3}).shape() == (nd::Shape{0, 3}));
}

BOOST_AUTO_TEST_CASE(needs) {
  const int devices = nd::device_count(nd::Device::Kind::cuda);
  BOOST_TEST(gpu() == (devices > 0));
  BOOST_TEST(attr::multi_gpu(devices));
  BOOST_TEST(!multi_gpu(devices + 1));
  BOOST_TEST(with_requires({"catena", "cpu", "catena>=0.0.1", "catena<1000", "catena!=0.0.1"}));
  BOOST_TEST(with_requires({"catena >= 0.0.1", " catena<  1000 ", " cpu ", "catena >=0.0.1"}));
  BOOST_TEST(!with_requires({"catena >= 1000"}));
  BOOST_TEST(!with_requires({"catena>=1000"}));
  BOOST_TEST(!with_requires({"catena==0.0.1"}));
  BOOST_TEST(!with_requires({"theano"}));
  BOOST_TEST(with_requires({"cuda"}) == (devices > 0));
  for (const char* wrong :
       {"", " ", ">=1", " >= 1", "catena>=", "catena >= ", "catena >= 1. 2", "catena=>1", "catena>=1.x", "cuda>=9"})
    BOOST_CHECK_THROW(with_requires({wrong}), nd::ValueError);
  static int warnings = 0;
  const nd::WarningHandler before = nd::set_warning_handler([](std::string_view, std::string_view) { ++warnings; });
  {
    const NumpyError silence;
    nd::nanmax(nd::full(2, kNaN));
  }
  BOOST_TEST(warnings == 0);
  nd::nanmax(nd::full(2, kNaN));
  BOOST_TEST(warnings == 1);
  nd::set_warning_handler(before);
}

BOOST_AUTO_TEST_CASE(repetition) {
  int runs = 0;
  const auto fails_in = [&runs](std::set<int> numbers) {
    runs = 0;
    return [&runs, numbers] {
      if (numbers.contains(++runs)) throw nd::ValueError(catena::concat("run ", runs));
    };
  };
  condition::repeat(5, fails_in({}));
  BOOST_TEST(runs == 5);
  BOOST_TEST(failure_of([&] {
               condition::repeat(5, fails_in({2, 3}));
             }) == "Fail: 1, Success: 1\n\nThe first error message:\nrun 2");
  BOOST_TEST(runs == 2);  // the result is known
  condition::retry(5, fails_in({1, 2}));
  BOOST_TEST(runs == 3);
  BOOST_CHECK_THROW(condition::retry(2, fails_in({1, 2})), nd::AssertionError);
  condition::repeat_with_success_at_least(10, 3, fails_in({1, 3, 5}));
  BOOST_TEST(runs == 6);
  BOOST_CHECK_THROW(condition::repeat_with_success_at_least(4, 3, fails_in({1, 3})), nd::AssertionError);
  BOOST_TEST(runs == 3);
  BOOST_CHECK_THROW(condition::repeat_with_success_at_least(2, 3, fails_in({})), nd::ValueError);
}

BOOST_AUTO_TEST_CASE(chi_square) {
  // Critical values of a table of the distribution (Abramowitz and Stegun, table 26.8; 250: NIST's calculator).
  const struct {
    int df;
    double at_5_percent, at_1_percent;
  } rows[] = {{1, 3.841, 6.635},    {2, 5.991, 9.210},       {3, 7.815, 11.345},     {10, 18.307, 23.209},
              {29, 42.557, 49.588}, {100, 124.342, 135.807}, {250, 287.882, 304.940}};
  for (const auto& row : rows)
    for (const double alpha : {0.05, 0.01}) {
      const double critical = alpha == 0.05 ? row.at_5_percent : row.at_1_percent;
      // Two counts with the statistic (o - e)^2 / e = s for e = 1.
      const auto accepts = [&](double s) {
        return hypothesis::chi_square_test({1 + std::sqrt(s), 1.0}, {1.0, 1.0}, alpha, row.df);
      };
      BOOST_TEST(accepts(critical - 0.001), row.df << " " << alpha);
      BOOST_TEST(!accepts(critical + 0.001), row.df << " " << alpha);
    }
  BOOST_TEST(hypothesis::chi_square_test({48, 52}, {50, 50}));
  BOOST_TEST(!hypothesis::chi_square_test({30, 70}, {50, 50}));
  BOOST_CHECK_THROW(hypothesis::chi_square_test({1, 2}, {1, 2}, 0.1), nd::ValueError);
  BOOST_CHECK_THROW(hypothesis::chi_square_test({1, 2}, {1, 2, 3}), nd::ValueError);
  BOOST_CHECK_THROW(hypothesis::chi_square_test({1}, {1}), nd::ValueError);
  BOOST_CHECK_THROW(hypothesis::chi_square_test({1, 2}, {1, 2}, 0.05, 251), nd::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
