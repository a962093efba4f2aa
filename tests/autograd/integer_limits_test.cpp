// Host integers that the dtype of an array cannot hold: as for arrays of ndarray, comparisons and true division take
// them, and what would store them is an OverflowError. A 0-d array may be reduced over the axis 0.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/array.h>
#include <catena/kernels/registry/families.h>

using namespace autograd;

namespace {

Array u8() { return astype(array(std::vector<double>{1, 255}, {2}), Dtype::uint8); }
Array u64() {
  const std::uint64_t values[] = {0, UINT64_MAX};
  return from_host(values, {2}, Dtype::uint64);
}
std::vector<bool> compare(const catena::KernelDef& how, const Operand& a, const Operand& b) {
  const Array y = apply(how, {a, b});
  BOOST_TEST((y.dtype() == Dtype::bool_));
  const std::vector<int> numbers = to_vector<int>(astype(y, Dtype::int32));
  return {numbers.begin(), numbers.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integer_limits_of_arrays)

BOOST_AUTO_TEST_CASE(functions_of_values_take_any_integer) {
  using namespace catena::kernels;
  const std::vector<bool> all{true, true}, none{false, false};
  BOOST_TEST((compare(less, u8(), 300) == all));
  BOOST_TEST((compare(greater, u8(), -1) == all));
  BOOST_TEST((compare(equal, u8(), 257) == none));
  BOOST_TEST((compare(not_equal, -1, u64()) == all));
  BOOST_TEST((compare(greater_equal, u64(), -1) == all));
  BOOST_TEST((compare(logical_and, u8(), 256) == all));
  BOOST_TEST((to_vector<double>(u8() / 256) == std::vector<double>{0.00390625, 0.99609375}));
}

BOOST_AUTO_TEST_CASE(nothing_stores_what_does_not_fit) {
  const Array a = u8();
  BOOST_CHECK_THROW(a + 300, catena::OverflowError);
  BOOST_CHECK_THROW(a * -1, catena::OverflowError);
  BOOST_CHECK_THROW(a += 300, catena::OverflowError);
  BOOST_CHECK_THROW(u64() - -1, catena::OverflowError);
  BOOST_CHECK_THROW(fill(a, 300), catena::OverflowError);
  BOOST_CHECK_THROW(assign(a, -1.0), catena::OverflowError);
  BOOST_CHECK_THROW(assign(a, NAN), catena::ValueError);
  BOOST_CHECK_THROW(arrays::full({2}, 300, Dtype::int8), catena::OverflowError);
  BOOST_CHECK_THROW(full_like(a, 256), catena::OverflowError);
  BOOST_TEST((to_vector<int>(astype(a, Dtype::int32)) == std::vector<int>{1, 255}));
  fill(a, 255.5);
  BOOST_TEST((to_vector<int>(astype(a, Dtype::int32)) == std::vector<int>{255, 255}));
}

BOOST_AUTO_TEST_CASE(a_number_has_an_axis) {
  const Array a = arrays::full({}, 5.0, Dtype::float64);
  for (int axis : {0, -1}) {
    BOOST_TEST(item(sum(a, axis)).to<double>() == 5);
    BOOST_TEST(sum(a, axis, true).shape() == Shape());
    BOOST_TEST(item(reduce(catena::kernels::amax, a, axis)).to<double>() == 5);
  }
  BOOST_CHECK_THROW(sum(a, 1), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
