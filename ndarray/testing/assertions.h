// Folder ndarray/testing/: helpers for the tests of programs that calculate with arrays: assertions (this header),
// comparison of devices (backends.h), runs over dtypes, orders and parameters (parameters.h), contents (data.h),
// conditions and statistics (conditions.h). They need no test framework: a failure throws AssertionError. The umbrella
// header does not include them. May use kernels/base/, ndarray/core/, ndarray/device/, ndarray/routines/.
//
// This header: assertions about arrays, with NumPy's rules and messages: how many elements differ and where, the
// largest differences, and both arrays.
//
//   nd::testing::assert_allclose(nd::sqrt(x) * nd::sqrt(x), x, 1e-6);
//   nd::testing::assert_array_equal(nd::arange(3), {0, 1, 2});
//
// Arguments are arrays of any device and dtype, numbers, and lists of numbers. Their shapes must be equal, unless one
// is a number or a 0-d array; their dtypes may differ. NaN equals NaN. All functions wait for the device.
#pragma once

#include <concepts>
#include <initializer_list>
#include <ranges>
#include <string_view>
#include <vector>

#include <catena/ndarray/routines/creation.h>

namespace nd::testing {

// Options of the message of a failed assertion: a text before the values, and whether the arrays are printed.
struct Message {
  std::string_view err_msg = {};  // a line of the message
  bool verbose = true;            // the message has both arrays
};

// |actual - desired| <= atol + rtol * |desired|; equal infinities are close to each other.
CATENA_EXPORT void assert_allclose(const ArrayLike& actual, const ArrayLike& desired, double rtol = 1e-7,
                                   double atol = 0, const Message& message = {});
// |x - y| < 1.5 * 10^-decimal; equal infinities are equal.
CATENA_EXPORT void assert_array_almost_equal(const ArrayLike& x, const ArrayLike& y, int decimal = 6,
                                             const Message& message = {});
// |x - y| <= nulp * spacing(max(|x|, |y|)), where spacing(v) is the distance from v to the next number of its dtype.
// TypeError unless both have the same floating dtype.
CATENA_EXPORT void assert_array_almost_equal_nulp(const ArrayLike& x, const ArrayLike& y, double nulp = 1);
// Checks that there are less than maxulp numbers of the dtype between a and b, which are first converted to `dtype` if
// one is given. Returns the distances, in float64 on the host. TypeError unless both then have the same floating dtype.
CATENA_EXPORT Array assert_array_max_ulp(const ArrayLike& a, const ArrayLike& b, double maxulp = 1,
                                         std::optional<Dtype> dtype = {});
CATENA_EXPORT void assert_array_equal(const ArrayLike& x, const ArrayLike& y, const Message& message = {});
// A list in braces, or a container, of arrays and whatever else can be compared with one.
class ArrayList {
 public:
  ArrayList(std::initializer_list<ArrayLike> items) : items_(items) {}
  template <std::ranges::input_range C>
  requires std::convertible_to<std::ranges::range_reference_t<const C&>, ArrayLike> ArrayList(const C& items) {
    for (const auto& item : items) items_.push_back(item);
  }
  const std::vector<ArrayLike>& items() const noexcept { return items_; }

 private:
  std::vector<ArrayLike> items_;
};
// Checks that both lists have the same number of arrays, which are equal in pairs.
CATENA_EXPORT void assert_array_list_equal(const ArrayList& xlist, const ArrayList& ylist, const Message& message = {});
// x < y everywhere, except where both are NaN.
CATENA_EXPORT void assert_array_less(const ArrayLike& x, const ArrayLike& y, const Message& message = {});

}  // namespace nd::testing
