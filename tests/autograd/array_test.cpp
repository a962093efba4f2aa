// The value API: creation, conversion, arithmetic and its errors, on whichever backend the program was linked with.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include <catena/autograd/array.h>
#include <catena/autograd/variable.h>
#include <catena/kernels/registry/families.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using catena::AssertionError;
using catena::TypeError;
using catena::ValueError;

namespace {

Array floats(const std::vector<float>& v, const Shape& shape) { return array(v, shape); }
template <class T> void check_values(const Array& a, const std::vector<T>& expected) {
  const std::vector<T> got = to_vector<T>(a);
  BOOST_TEST(got == expected, boost::test_tools::per_element());
}
bool message_has(const std::exception& e, const char* text) {
  return std::string(e.what()).find(text) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(value_api)  // `array` is a function here

BOOST_AUTO_TEST_CASE(creation_and_reading_back) {
  const Array a = floats({1, 2, 3, 4, 5, 6}, {2, 3});
  BOOST_TEST(a.shape() == Shape({2, 3}));
  BOOST_TEST((a.dtype() == Dtype::float32));
  BOOST_TEST(a.size() == 6);
  BOOST_TEST(a.is_c_contiguous());
  check_values<float>(a, {1, 2, 3, 4, 5, 6});
  check_values<int>(a, {1, 2, 3, 4, 5, 6});
  check_values<double>(arrays::zeros({2}), {0, 0});
  check_values<double>(arrays::ones({2}, Dtype::int8), {1, 1});
  check_values<double>(arrays::full({2}, 2.5), {2.5, 2.5});
  check_values<double>(arrays::full({}, 7), {7});
  check_values<std::int64_t>(arrays::arange(5), {0, 1, 2, 3, 4});
  for (const Dtype t : {Dtype::uint8, Dtype::int32, Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    BOOST_TEST(arrays::arange(3, t).dtype() == t);
    check_values<double>(arrays::arange(3, t), {0, 1, 2});
  }
  check_values<bool>(arrays::arange(3, Dtype::bool_), {false, true, true});
  BOOST_TEST(arrays::arange(0).size() == 0);
  check_values<float>(zeros_like(a), {0, 0, 0, 0, 0, 0});
  check_values<float>(ones_like(a), {1, 1, 1, 1, 1, 1});
  check_values<float>(full_like(a, -1), {-1, -1, -1, -1, -1, -1});
  BOOST_TEST(arrays::empty({0, 3}).size() == 0);
  BOOST_TEST(to_vector<float>(arrays::empty({0, 3})).empty());
  check_values<bool>(array<int>({0, 1, 2}, {3}), {false, true, true});
  BOOST_CHECK_THROW(floats({1, 2}, {3}), ValueError);
  BOOST_CHECK_THROW(arrays::arange(-1), ValueError);
  BOOST_CHECK_THROW(arrays::empty({-1}), ValueError);
}

BOOST_AUTO_TEST_CASE(item_gives_one_element) {
  BOOST_TEST(item(arrays::full({1, 1}, 3, Dtype::int32)).to<int>() == 3);
  BOOST_TEST((item(arrays::full({}, 3, Dtype::int32)).kind() == Scalar::Kind::integer));
  BOOST_TEST(item(arrays::full({}, 0.5, Dtype::float16)).to_double() == 0.5);
  BOOST_CHECK_EXCEPTION(item(floats({1, 2}, {2})), ValueError,
                        [](const ValueError& e) { return message_has(e, "item: an array of shape (2,)"); });
}

BOOST_AUTO_TEST_CASE(every_dtype_converts_to_every_other) {
  for (int from = 0; from < catena::kNumDtypes; ++from)
    for (int to = 0; to < catena::kNumDtypes; ++to) {
      const Array a = astype(array<int>({0, 1, 1}, {3}), Dtype(from));
      const Array b = astype(a, Dtype(to));
      BOOST_TEST((b.dtype() == Dtype(to)));
      check_values<double>(b, {0, 1, 1});
    }
  const Array a = floats({1}, {1});
  BOOST_TEST(astype(a, Dtype::float32).get() == a.get());
  // float to integer saturates, NaN gives 0
  check_values<int>(astype(floats({300.7f, -300.7f, std::nanf("")}, {3}), Dtype::int8), {127, -128, 0});
}

BOOST_AUTO_TEST_CASE(arithmetic_broadcasts_and_promotes) {
  const Array a = floats({1, 2, 3, 4, 5, 6}, {2, 3}), row = floats({10, 20, 30}, {3}),
              column = floats({100, 200}, {2, 1});
  check_values<float>(a + row, {11, 22, 33, 14, 25, 36});
  check_values<float>(row + a, {11, 22, 33, 14, 25, 36});
  check_values<float>(a * column, {100, 200, 300, 800, 1000, 1200});
  check_values<float>(row - column, {-90, -80, -70, -190, -180, -170});
  check_values<float>(-a / 2, {-.5, -1, -1.5, -2, -2.5, -3});
  check_values<float>(1 - a, {0, -1, -2, -3, -4, -5});
  BOOST_TEST(((a + 1).dtype() == Dtype::float32));
  BOOST_TEST(((a + 1.5).dtype() == Dtype::float32));
  BOOST_TEST(((astype(a, Dtype::float16) * 2.0).dtype() == Dtype::float16));
  BOOST_TEST(((astype(a, Dtype::int32) + 1.5).dtype() == Dtype::float64));
  BOOST_TEST(((astype(a, Dtype::int32) / 2).dtype() == Dtype::float64));
  BOOST_TEST(((a + astype(a, Dtype::float64)).dtype() == Dtype::float64));
  BOOST_TEST(((astype(a, Dtype::int8) + astype(a, Dtype::uint8)).dtype() == Dtype::int16));
  check_values<float>(a + floats({}, {0, 1, 1}), {});
  BOOST_CHECK_EXCEPTION(a + floats({1, 2}, {2}), ValueError,
                        [](const ValueError& e) { return message_has(e, "add: shapes (2, 3) and (2,)"); });
  BOOST_CHECK_THROW(a + Array(), ValueError);
  check_values<double>(apply(catena::kernels::add, {1, 2.5}), {3.5});
}

BOOST_AUTO_TEST_CASE(arrays_of_one_element_beside_others) {
  const Array a = floats({1, 2, 3}, {3}), ten = floats({10}, {1}), number = reshape(ten, {}),
              row = reshape(ten, {1, 1});
  check_values<float>(a - ten, {-9, -8, -7});
  check_values<float>(number - a, {9, 8, 7});
  const Array wide = row - a;
  BOOST_TEST(wide.shape() == (Shape{1, 3}));
  check_values<float>(wide, {9, 8, 7});
  Array in_place = copy(a);
  in_place -= number;
  check_values<float>(in_place, {-9, -8, -7});
  in_place -= slice(in_place, 0, 2, 3);  // an element of the output itself
  check_values<float>(in_place, {-2, -1, 0});
  BOOST_CHECK_THROW(in_place += row, ValueError);
}

BOOST_AUTO_TEST_CASE(in_place_arithmetic_writes_through) {
  Array a = floats({1, 2, 3, 4}, {2, 2});
  Array same = a;
  a += 1;
  a *= floats({1, 10}, {2});
  check_values<float>(same, {2, 30, 4, 50});
  Array half = astype(a, Dtype::float16);
  half -= astype(ones_like(a), Dtype::float64);
  BOOST_TEST((half.dtype() == Dtype::float16));
  check_values<double>(half, {1, 29, 3, 49});
  Array ints = array<int>({6, 8}, {2});
  BOOST_CHECK_EXCEPTION(ints /= 2, TypeError, [](const TypeError& e) {
    return message_has(e, "true_divide: cannot cast the result from float64 to int32 under casting 'same_kind'");
  });
  check_values<int>(ints, {6, 8});
  BOOST_CHECK_THROW(a += floats({1, 2, 3}, {3}), ValueError);
  BOOST_CHECK_THROW(a += arrays::ones({3, 2, 2}), ValueError);  // would have to grow
}

BOOST_AUTO_TEST_CASE(overlapping_operands_are_read_before_they_are_written) {
  Array a = arrays::arange(6, Dtype::float32);
  Array later = slice(a, 0, 1, 6), earlier = slice(a, 0, 0, 5);
  later += earlier;
  check_values<float>(a, {0, 1, 3, 5, 7, 9});
  Array b = arrays::arange(4, Dtype::float32);
  assign(slice(b, 0, 0, 4), slice(b, 0, 3, -5, -1));  // reversed onto itself
  check_values<float>(b, {3, 2, 1, 0});
  Array m = reshape(arrays::arange(9, Dtype::float32), {3, 3});
  m += transpose(m);
  check_values<float>(m, {0, 4, 8, 4, 8, 12, 8, 12, 16});
}

BOOST_AUTO_TEST_CASE(assignment_broadcasts_and_casts) {
  Array a = arrays::zeros({2, 3}, Dtype::int32);
  assign(a, floats({1.9f, -2.9f, 3}, {3}));
  check_values<int>(a, {1, -2, 3, 1, -2, 3});
  assign(a, 7.5);
  check_values<int>(a, {7, 7, 7, 7, 7, 7});
  assign(a, floats({1, 2, 3}, {1, 1, 3}));  // leading axes of length 1 do not matter
  check_values<int>(a, {1, 2, 3, 1, 2, 3});
  assign(slice(a, 1, 0, 3, 2), 0);
  check_values<int>(a, {0, 2, 0, 0, 2, 0});
  BOOST_CHECK_THROW(assign(a, arrays::ones({2})), ValueError);
  BOOST_CHECK_THROW(assign(a, arrays::ones({4, 2, 3})), ValueError);
  const Array c = copy(a);
  fill(a, 1);
  check_values<int>(c, {0, 2, 0, 0, 2, 0});
  copy_across(a, c);
  check_values<int>(a, {0, 2, 0, 0, 2, 0});
  BOOST_CHECK_THROW(copy_across(a, arrays::zeros({3, 2})), ValueError);
  const auto before = a->storage->version.load();
  fill(a, 3);
  BOOST_TEST(a->storage->version.load() > before);
}

BOOST_AUTO_TEST_CASE(kernels_with_several_outputs_and_given_outputs) {
  const Operand in[] = {floats({7, -7}, {2}), 2};
  const Arrays out = apply_all(catena::kernels::divmod, in);
  check_values<float>(out[0], {3, -4});
  check_values<float>(out[1], {1, 1});
  Array y = arrays::zeros({2}, Dtype::float64);
  apply_into(catena::kernels::add, in, {&y, 1});
  check_values<double>(y, {9, -5});
  Array narrow = arrays::zeros({2}, Dtype::int32);
  BOOST_CHECK_THROW(apply_into(catena::kernels::add, in, {&narrow, 1}), TypeError);
  BOOST_CHECK_THROW(apply(catena::kernels::divmod, {1, 2}), TypeError);
  BOOST_CHECK_THROW(apply(catena::kernels::sum, {y}), TypeError);
  BOOST_CHECK_THROW(apply(catena::kernels::add, {y}), TypeError);
}

// The sums along the first axis.
std::vector<double> running_sums(std::vector<double> x, std::size_t width) {
  for (std::size_t i = width; i < x.size(); ++i) x[i] += x[i - width];
  return x;
}

BOOST_AUTO_TEST_CASE(recurrences_along_the_first_axis) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::int32})
    for (const Shape& shape : {Shape{7}, Shape{1}, Shape{0}, Shape{5, 3}, Shape{4, 0}, Shape{1, 3}, Shape{6, 2, 3}}) {
      const std::int64_t n = catena::size_of(shape), width = shape[0] == 0 ? 0 : n / shape[0];
      std::vector<double> values;
      for (std::int64_t i = 0; i < n; ++i) values.push_back(double(i * 7 % 5 - 2));
      const Array x = astype(array(values, shape), dtype);
      for (const bool strided : {false, true}) {
        Shape wide = shape;
        wide[wide.size() - 1] *= 2;
        const Array memory = arrays::zeros(wide, dtype);
        const Array y = strided ? slice(memory, -1, 0, wide.back(), 2) : arrays::zeros(shape, dtype);
        assign(y, x);
        if (shape[0] > 0) {
          const Array before = slice(y, 0, 0, shape[0] - 1), now = slice(y, 0, 1, shape[0]);
          const std::uint64_t had = now.size() > 0 ? y->storage->version.load() : 0;
          const Operand added[] = {now, before};
          apply_in_order(catena::kernels::add, added, {&now, 1});
          if (now.size() > 0) BOOST_TEST(y->storage->version.load() > had);
        }
        check_values<double>(y, running_sums(values, std::size_t(width)));
      }
    }
}

BOOST_AUTO_TEST_CASE(recurrences_of_several_operands) {
  // y[i] = max(y[i - 1], x[i]), then with an operand that is the same at all positions and one of another dtype.
  const Array x = floats({3, -1, 2, 5, 4, -7, 1, 9}, {4, 2}), y = copy(x);
  const Array later = slice(y, 0, 1, 4);
  const Operand running[] = {slice(y, 0, 0, 3), slice(x, 0, 1, 4)};
  apply_in_order(catena::kernels::maximum, running, {&later, 1});
  check_values<float>(y, {3, -1, 3, 5, 4, 5, 4, 9});
  const Array z = arrays::zeros({4, 2}, Dtype::float64), last = slice(z, 0, 1, 4);
  const Operand sums[] = {slice(z, 0, 0, 3), array<int>({1, 10}, {2})};
  apply_in_order(catena::kernels::add, sums, {&last, 1});
  check_values<double>(z, {0, 0, 1, 10, 2, 20, 3, 30});
  const Operand doubled[] = {slice(z, 0, 1, 3), 2};
  const Array behind = slice(z, 0, 2, 4);
  apply_in_order(catena::kernels::multiply, doubled, {&behind, 1});
  check_values<double>(z, {0, 0, 1, 10, 2, 20, 4, 40});
}

BOOST_AUTO_TEST_CASE(errors_of_recurrences) {
  const Array number = arrays::full({}, 1.0), y = arrays::zeros({3, 2}), other = arrays::zeros({4, 2});
  const Operand numbers[] = {number, 1}, apart[] = {other, 1}, one[] = {y};
  BOOST_CHECK_EXCEPTION(apply_in_order(catena::kernels::add, numbers, {&number, 1}), ValueError,
                        [](const auto& e) { return message_has(e, "add: a recurrence goes along the first axis"); });
  BOOST_CHECK_THROW(apply_in_order(catena::kernels::add, apart, {&y, 1}), ValueError);
  BOOST_CHECK_THROW(apply_in_order(catena::kernels::add, one, {&y, 1}), TypeError);
  BOOST_CHECK_THROW(apply_in_order(catena::kernels::sum, one, {&y, 1}), TypeError);
}

BOOST_AUTO_TEST_CASE(selection) {
  const Array c = array<int>({0, 2, 0}, {3});
  check_values<float>(where(c, floats({1, 2, 3}, {3}), 0), {0, 2, 0});
  BOOST_TEST((where(c, floats({1, 2, 3}, {3}), 0).dtype() == Dtype::float32));
  check_values<float>(where(true, floats({1, 2, 3}, {3}), 0), {1, 2, 3});
  check_values<int>(where(c, 5, array<int>({1, 2, 3}, {3})), {1, 5, 3});
  BOOST_TEST(has_nan(floats({1, std::nanf("")}, {2})));
  BOOST_TEST(!has_nan(floats({1, std::numeric_limits<float>::infinity()}, {2})));
  BOOST_TEST(!has_nan(array<int>({1}, {1})));
  BOOST_TEST(!has_nan(arrays::empty({0})));
}

BOOST_AUTO_TEST_CASE(products) {
  const Array a = floats({1, 2, 3, 4, 5, 6}, {2, 3}), b = floats({1, 0, 2, 1, 0, 3}, {3, 2}),
              v = floats({1, 1, 1}, {3});
  check_values<float>(matmul(a, b), {5, 11, 14, 23});
  check_values<float>(matmul(a, a, false, true), {14, 32, 32, 77});
  check_values<float>(matmul(a, a, true), {17, 22, 27, 22, 29, 36, 27, 36, 45});
  check_values<float>(matmul(a, v), {6, 15});
  check_values<float>(matmul(v, b), {3, 4});
  BOOST_TEST(matmul(v, v).shape() == Shape());
  BOOST_TEST(item(matmul(v, v)).to_double() == 3);
  const Array batch = matmul(reshape(arrays::arange(12, Dtype::float32), {2, 2, 3}), b);
  BOOST_TEST(batch.shape() == Shape({2, 2, 2}));
  check_values<float>(batch, {2, 7, 11, 19, 20, 31, 29, 43});
  BOOST_TEST(matmul(arrays::ones({4, 1, 2, 3}), arrays::ones({5, 3, 6})).shape() == Shape({4, 5, 2, 6}));
  BOOST_CHECK_THROW(matmul(arrays::ones({2, 1, 1}), arrays::ones({3, 1, 1})), ValueError);
  BOOST_TEST(matmul(arrays::ones({0, 3}), b).shape() == Shape({0, 2}));
  check_values<float>(matmul(arrays::ones({2, 0}), arrays::ones({0, 2})), {0, 0, 0, 0});
  BOOST_TEST((matmul(astype(a, Dtype::float16), b).dtype() == Dtype::float32));
  check_values<int>(matmul(astype(a, Dtype::int32), astype(b, Dtype::int32)), {5, 11, 14, 23});
  BOOST_CHECK_EXCEPTION(matmul(a, a), ValueError,
                        [](const ValueError& e) { return message_has(e, "matmul: shapes (2, 3) and (2, 3)"); });
  BOOST_CHECK_THROW(matmul(a, arrays::full({}, 1)), ValueError);
}

BOOST_AUTO_TEST_CASE(text) {
  BOOST_TEST(to_string(floats({1, 2.5, -3, 4}, {2, 2})) == "[[ 1.   2.5]\n [-3.   4. ]]");
  BOOST_TEST(to_string(array<int>({1, 20, 3}, {3})) == "[ 1 20  3]");
  BOOST_TEST(to_string(array<int>({1, 2, 3, 4}, {2, 2})) == "[[1 2]\n [3 4]]");
  BOOST_TEST(to_string(arrays::full({}, 3, Dtype::int64)) == "3");
  BOOST_TEST(to_string(floats({1, 2}, {2})) == "[1. 2.]");
  BOOST_TEST(to_string(floats({0.1f, -0.25f}, {2})) == "[ 0.1  -0.25]");
  BOOST_TEST(to_string(arrays::empty({0, 3})) == "[]");
  BOOST_TEST(to_string(Array()) == "None");
  BOOST_TEST(to_string(arrays::arange(2000)) == "[   0    1    2 ... 1997 1998 1999]");
  BOOST_TEST(to_string(reshape(arrays::arange(8), {2, 2, 2})) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
}

BOOST_AUTO_TEST_CASE(devices_do_not_mix) {
  if (!test::has_cuda()) return;
  const Device other = test::kCuda;
  const Array a = arrays::ones({2}, Dtype::float32, test::kCpu), b = arrays::ones({2}, Dtype::float32, other);
  BOOST_TEST((b.device() == other));
  BOOST_CHECK_EXCEPTION(a + b, ValueError,
                        [](const ValueError& e) { return message_has(e, "add: arrays live on cpu:0 and on cuda:0"); });
  BOOST_CHECK_THROW(matmul(a, b), ValueError);
  BOOST_CHECK_THROW(assign(a, b), ValueError);
  check_values<float>(to_device(b, {}) + a, {2, 2});
  BOOST_TEST(to_device(a, {}).get() == a.get());
  copy_across(b, a + 4);
  check_values<float>(b, {5, 5});
  BOOST_TEST(((b * 2).device() == other));
  BOOST_TEST((empty_like(b).device() == other));
}

BOOST_AUTO_TEST_CASE(lengths_by_negative_axes) {
  const Array a = arrays::zeros({2, 3, 4});
  const autograd::Variable x(a);
  for (int axis = 0; axis < 3; ++axis) {
    BOOST_TEST(a.shape(axis - 3) == a.shape(axis));
    BOOST_TEST(x.shape(axis - 3) == 2 + axis);
  }
  for (const int axis : {3, -4}) {
    BOOST_CHECK_THROW(a.shape(axis), catena::IndexError);
    BOOST_CHECK_THROW(x.shape(axis), catena::IndexError);
  }
}

BOOST_AUTO_TEST_SUITE_END()
