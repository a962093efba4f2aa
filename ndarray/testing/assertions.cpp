#include <catena/ndarray/testing/assertions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <catena/kernels/base/text.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/print.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd::testing {
namespace {

using catena::check;
using catena::concat;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string short_text(double value) { return catena::general_text(value, 6); }

bool is_inexact(const Array& a) { return catena::is_floating(a.dtype()) || catena::is_complex_dtype(a.dtype()); }
bool holds_everywhere(const Array& condition) { return all(condition).item<bool>(); }

// The name of a comparison in messages, and its treatment of infinities.
struct Comparison {
  std::string header;
  const char *first = "ACTUAL", *second = "DESIRED";
  int precision = 8;
  bool equal_inf = true;  // infinities must be at the same places and are not compared further
};

// Two arrays in host memory and the text of their failure.
class Compared {
 public:
  Compared(const ArrayLike& x, const ArrayLike& y, const Comparison& comparison, const Message& message)
      : x_(x.array().to_host()), y_(y.array().to_host()), comparison_(comparison), message_(message) {}

  // Throws unless `holds`, applied to arrays of rank 1, is true for all elements that are not compared as NaN or
  // infinity.
  template <class F> void check_each(F&& holds) const {
    if (!(x_.shape() == y_.shape()) && x_.ndim() != 0 && y_.ndim() != 0)
      fail(concat("(shapes ", x_.shape(), ", ", y_.shape(), " mismatch)"));
    const std::vector<Array> both = broadcast_arrays({x_, y_});
    const Array x = both[0].ravel(), y = both[1].ravel();
    Array open = ones(x.shape(), bool_);
    leave_out(open, "nan location mismatch:", isnan(x), isnan(y));
    if (comparison_.equal_inf && is_inexact(x) && is_inexact(y)) {
      const Array infinite = isinf(x);
      leave_out(open, "inf location mismatch:", infinite, isinf(y));
      if (!holds_everywhere(equal(x, y) | ~infinite)) fail("inf values mismatch:");
    }
    const Array places = flatnonzero(open), left = x.take(places), right = y.take(places);
    const Array wrong = ~holds(left, right);
    if (any(wrong).item<bool>()) fail_at(both[0].shape(), places.take(flatnonzero(wrong)), x, y);
  }

 private:
  void leave_out(Array& open, const char* rule, const Array& in_x, const Array& in_y) const {
    if (!holds_everywhere(in_x == in_y)) fail(rule);
    open &= ~in_x;
  }

  // Builds the message as NumPy's build_err_msg; `remark` follows the caller's line.
  [[noreturn]] void fail(const std::string& remark) const {
    std::string text = concat("\n", comparison_.header, "\n", message_.err_msg, "\n", remark);
    if (message_.verbose) text += described(comparison_.first, x_) + described(comparison_.second, y_);
    throw AssertionError(text);
  }

  std::string described(const char* name, const Array& a) const {
    std::string text = array_repr(a, {.precision = comparison_.precision});
    std::size_t end = 0;
    for (int line = 0; line < 3 && end != text.npos; ++line) end = text.find('\n', end == 0 ? 0 : end + 1);
    if (end != text.npos && text.find('\n', end + 1) != text.npos) text = text.substr(0, end) + "...";
    return concat("\n ", name, ": ", text);
  }

  // `wrong`: positions in the flattened arrays.
  [[noreturn]] void fail_at(const Shape& shape, const Array& wrong, const Array& x, const Array& y) const {
    const double n = static_cast<double>(wrong.size()), size = static_cast<double>(x.size());
    std::string text = concat("Mismatched elements: ", wrong.size(), " / ", x.size(), " (",
                              catena::general_text(100 * n / size, 3), "%)");
    if (shape.size() > 0) text += places(shape, wrong, x, y);
    const Array left = x.take(wrong), right = y.take(wrong);
    if (left.dtype() == bool_ && right.dtype() == bool_) fail(text);
    const Array distance = difference(left, right);
    text += concat("\nMax absolute difference among violations: ", element(amax(distance)));
    const Array nonzero = flatnonzero(right != 0);
    const Array relative =
        nonzero.size() == 0 ? array(kInfinity) : amax(distance.take(nonzero) / absolute(right.take(nonzero)));
    fail(concat(text, "\nMax relative difference among violations: ", element(relative)));
  }

  std::string places(const Shape& shape, const Array& wrong, const Array& x, const Array& y) const {
    constexpr std::int64_t kShown = 5;
    const std::int64_t n = wrong.size();
    std::string text = n > kShown ? concat("\nFirst ", kShown, " mismatches are at indices:")
                                  : (n > 1 ? "\nMismatch at indices:" : "\nMismatch at index:");
    for (std::int64_t i = 0; i < std::min(n, kShown); ++i) {
      const auto at = wrong(i).item<std::int64_t>();
      std::int64_t rest = at;
      std::string index;
      for (int axis = shape.size() - 1; axis >= 0; rest /= shape[axis], --axis)
        index = concat(rest % shape[axis], index.empty() ? "" : ", ", index);
      text += concat("\n [", index, "]: ", array_str(x(at)), " (", comparison_.first, "), ", array_str(y(at)), " (",
                     comparison_.second, ")");
    }
    return text;
  }

  // |x - y|, exact for integers.
  static Array difference(const Array& x, const Array& y) {
    if (is_inexact(x) || is_inexact(y)) return absolute(x - y);
    return where(greater(x, y), x - y, y - x);
  }
  // Formats an element as NumPy prints the elements of an array.
  static std::string element(const Array& a) {
    const std::string text = array_str(a.reshape(1));
    return text.substr(1, text.size() - 2);
  }

  Array x_, y_;
  const Comparison& comparison_;
  const Message& message_;
};

template <class F>
void compare(const ArrayLike& x, const ArrayLike& y, const Comparison& comparison, const Message& message, F&& holds) {
  const DeviceScope host(cpu_device);
  Compared(x, y, comparison, message).check_each(holds);
}

// Converts to a dtype in which differences are exact enough: float64 or complex128.
Array wide(const Array& a) { return a.astype(promote_types(a.dtype(), float64), {.copy = false}); }

// ---- units in the last place --------------------------------------------------------------------
struct SameFloats {
  Array x, y;
  SameFloats(std::string_view op, const ArrayLike& a, const ArrayLike& b, std::optional<Dtype> dtype)
      : x(a.array().to_host()), y(b.array().to_host()) {
    if (dtype) x = x.astype(*dtype), y = y.astype(*dtype);
    check<TypeError>(x.dtype() == y.dtype() && catena::is_floating(x.dtype()), op, "the arrays have the dtypes ",
                     x.dtype(), " and ", y.dtype(), "; both must have the same floating dtype");
    const std::vector<Array> both = broadcast_arrays({x, y});
    x = both[0].copy();
    y = both[1].copy();
  }

  bool equal_or_nan(const Array& near) const { return holds_everywhere(near | equal(x, y) | (isnan(x) & isnan(y))); }
  // Returns the number of representable numbers from x to y; NaN where only one of them is NaN.
  Array distance() const {
    const Array i = ordinal(x), j = ordinal(y);  // their difference may need 64 bits without a sign
    const Array steps = (maximum(i, j) - minimum(i, j)).view(uint64).astype(float64);
    return where(isnan(x) & isnan(y), array(0.0), where(isnan(x) | isnan(y), array(std::nan("")), steps));
  }

 private:
  // Numbers the floats in ascending order: the bits as an integer, mirrored for negative numbers.
  static Array ordinal(const Array& a) {
    const Dtype integer = a.itemsize() == 8 ? int64 : (a.itemsize() == 4 ? int32 : int16);
    const Array flat = a.ravel(), bits = flat.view(integer).astype(int64);
    const std::int64_t lowest = a.itemsize() == 8 ? INT64_MIN : -(std::int64_t(1) << (8 * a.itemsize() - 1));
    return where(bits < 0, lowest - bits, bits).reshape(a.shape());
  }
};

}  // namespace

void assert_allclose(const ArrayLike& actual, const ArrayLike& desired, double rtol, double atol,
                     const Message& message) {
  const Comparison comparison{"Not equal to tolerance rtol=" + short_text(rtol) + ", atol=" + short_text(atol)};
  compare(actual, desired, comparison, message, [=](const Array& x, const Array& y) {
    const Array a = wide(x), d = wide(y);
    return equal(x, y) | (absolute(a - d) <= atol + rtol * absolute(d));
  });
}

void assert_array_almost_equal(const ArrayLike& x, const ArrayLike& y, int decimal, const Message& message) {
  const Comparison comparison{.header = concat("Arrays are not almost equal to ", decimal, " decimals"),
                              .precision = std::max(decimal, 0)};
  compare(x, y, comparison, message, [=](const Array& a, const Array& b) {
    return equal(a, b) | (absolute(wide(a) - wide(b)) < 1.5 * std::pow(10.0, -decimal));
  });
}

void assert_array_almost_equal_nulp(const ArrayLike& x, const ArrayLike& y, double nulp) {
  const DeviceScope host(cpu_device);
  const SameFloats both("assert_array_almost_equal_nulp", x, y, {});
  const Array largest = maximum(absolute(both.x), absolute(both.y));
  const Array spacing = wide(nextafter(largest, kInfinity)) - wide(largest);
  if (both.equal_or_nan(absolute(wide(both.x) - wide(both.y)) <= nulp * spacing)) return;
  throw AssertionError(concat("Arrays are not equal to ", short_text(nulp), " ULP (max is ",
                              short_text(amax(both.distance()).item<double>()), ")"));
}

Array assert_array_max_ulp(const ArrayLike& a, const ArrayLike& b, double maxulp, std::optional<Dtype> dtype) {
  const DeviceScope host(cpu_device);
  const Array distance = SameFloats("assert_array_max_ulp", a, b, dtype).distance();
  if (!holds_everywhere(distance <= maxulp))
    throw AssertionError(concat("Arrays are not almost equal up to ", short_text(maxulp), " ULP (max difference is ",
                                short_text(amax(distance).item<double>()), " ULP)"));
  return distance;
}

void assert_array_equal(const ArrayLike& x, const ArrayLike& y, const Message& message) {
  compare(x, y, {"Arrays are not equal"}, message, [](const Array& a, const Array& b) { return equal(a, b); });
}

void assert_array_list_equal(const ArrayList& xlist, const ArrayList& ylist, const Message& message) {
  const std::vector<ArrayLike>&x = xlist.items(), &y = ylist.items();
  if (x.size() != y.size()) throw AssertionError(concat("List size is different: ", x.size(), " and ", y.size()));
  for (std::size_t i = 0; i < x.size(); ++i) assert_array_equal(x[i], y[i], message);
}

void assert_array_less(const ArrayLike& x, const ArrayLike& y, const Message& message) {
  const Comparison comparison{"Arrays are not strictly ordered `x < y`", "x", "y", 8, false};
  compare(x, y, comparison, message, [](const Array& a, const Array& b) { return a < b; });
}

}  // namespace nd::testing
