// Compares a calculation on two devices. A body calculates with arrays of the current device, which is the CPU (the
// reference) in one call and the device under test in the other, and returns its result: an array, a number, a list.
//
//   nd::testing::numpy_cupy_allclose([] { return nd::exp(nd::testing::shaped_arange({2, 3})); }, 1e-6);
//   nd::testing::numpy_cupy_array_equal([](nd::Device xp) { return nd::arange(9).reshape(2, 5); },
//                                       {.accept_error = AcceptError::of<nd::ValueError>()});
//
// The device under test is cuda:0. If there is none, the body runs on the CPU twice, and a line on standard output
// reports this once. AssertionError: the results differ by the rule of the assertion (assertions.h), in shape, or,
// unless type_check is false, in dtype; a result is null; only one call throws, or the calls throw different classes,
// or a class that is not in accept_error.
#pragma once

#include <concepts>
#include <exception>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/ndarray/testing/assertions.h>

namespace nd::testing {

// The classes of exceptions that a body may throw: none, all, or the classes of a list and classes derived from them.
class AcceptError {
 public:
  AcceptError(bool all = false) : test_(all ? [](std::exception_ptr) { return true; } : Test(nullptr)) {}
  template <class... E> static AcceptError of() {
    AcceptError accepted;
    accepted.test_ = [](std::exception_ptr e) { return (... || is<E>(e)); };
    return accepted;
  }
  bool accepts(const std::exception_ptr& e) const { return test_ != nullptr && test_(e); }

 private:
  using Test = bool (*)(std::exception_ptr);
  template <class E> static bool is(const std::exception_ptr& e) {
    try {
      std::rethrow_exception(e);
    } catch (const E&) {
      return true;
    } catch (...) {
      return false;
    }
  }
  Test test_;
};

struct BackendOptions {
  AcceptError accept_error = false;
  bool type_check = true;
  Message message = {};
  // The dtypes with which the body calculates; it receives them as an argument. If there are unsigned dtypes beside
  // signed or floating ones, and the result is unsigned, elements with negative values are not compared: these are the
  // elements that are negative in a run on the CPU with int64 instead of the unsigned dtypes.
  std::vector<Dtype> dtypes = {};
  std::optional<Device> device = {};  // device under test
};

namespace internal {
using Body = catena::Function<std::vector<Array>(Device xp, const std::vector<Dtype>& dtypes)>;
using Rule = catena::Function<void(const Array& tested, const Array& reference)>;

inline std::vector<Array> results(const ArrayLike& result) { return {result.array()}; }
inline std::vector<Array> results(const std::vector<Array>& list) { return list; }

// A body that takes the device and the dtypes, either of them, or nothing.
template <class F> Body body_of(F& f) {
  return [&f](Device xp, const std::vector<Dtype>& dtypes) -> std::vector<Array> {
    if constexpr (std::invocable<F&, Device, const std::vector<Dtype>&>) return results(f(xp, dtypes));
    else if constexpr (std::invocable<F&, Device>) return results(f(xp));
    else if constexpr (std::invocable<F&, const std::vector<Dtype>&>) return results(f(dtypes));
    else return results(f());
  };
}

CATENA_EXPORT void compare_backends(std::string_view name, const Body& body, const BackendOptions& options,
                                    const Rule& rule);
CATENA_EXPORT void compare_errors(const Body& body, const BackendOptions& options);
}  // namespace internal

// Runs the body on the CPU and on the current CUDA device and compares the results as the assertion of that name does.
template <class F>
void numpy_cupy_allclose(F&& body, double rtol = 1e-7, double atol = 0, const BackendOptions& options = {}) {
  internal::compare_backends(
      "numpy_cupy_allclose", internal::body_of(body), options,
      [&](const Array& x, const Array& y) { assert_allclose(x, y, rtol, atol, options.message); });
}
// As above, with the assertions of these names.
template <class F> void numpy_cupy_array_almost_equal(F&& body, int decimal = 6, const BackendOptions& options = {}) {
  internal::compare_backends(
      "numpy_cupy_array_almost_equal", internal::body_of(body), options,
      [&](const Array& x, const Array& y) { assert_array_almost_equal(x, y, decimal, options.message); });
}
template <class F>
void numpy_cupy_array_almost_equal_nulp(F&& body, double nulp = 1, const BackendOptions& options = {}) {
  internal::compare_backends("numpy_cupy_array_almost_equal_nulp", internal::body_of(body), options,
                             [&](const Array& x, const Array& y) { assert_array_almost_equal_nulp(x, y, nulp); });
}
template <class F>
void numpy_cupy_array_max_ulp(F&& body, double maxulp = 1, std::optional<Dtype> dtype = {},
                              const BackendOptions& options = {}) {
  internal::compare_backends("numpy_cupy_array_max_ulp", internal::body_of(body), options,
                             [&](const Array& x, const Array& y) { assert_array_max_ulp(x, y, maxulp, dtype); });
}
template <class F> void numpy_cupy_array_equal(F&& body, const BackendOptions& options = {}) {
  internal::compare_backends("numpy_cupy_array_equal", internal::body_of(body), options,
                             [&](const Array& x, const Array& y) { assert_array_equal(x, y, options.message); });
}
// The body returns a list of arrays. Their dtypes may differ, and no error is accepted.
template <class F> void numpy_cupy_array_list_equal(F&& body, const BackendOptions& options = {}) {
  BackendOptions plain = options;
  plain.type_check = false;
  plain.accept_error = false;
  internal::compare_backends("numpy_cupy_array_list_equal", internal::body_of(body), plain,
                             [&](const Array& x, const Array& y) { assert_array_equal(x, y, options.message); });
}
// Checks that each element on the device under test is smaller than the element of the reference.
template <class F> void numpy_cupy_array_less(F&& body, const BackendOptions& options = {}) {
  internal::compare_backends("numpy_cupy_array_less", internal::body_of(body), options,
                             [&](const Array& x, const Array& y) { assert_array_less(x, y, options.message); });
}
// Checks that both calls throw exceptions of the same class.
template <class F> void numpy_cupy_raises(F&& body, const BackendOptions& options = {}) {
  internal::compare_errors(internal::body_of(body), options);
}

}  // namespace nd::testing
