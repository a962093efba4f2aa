// Shared by the tests of ndarray: arrays from golden values, comparison with them, random contents and random memory
// layouts.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <catena/kernels/formats/npy.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/golden.h>

namespace test {

// The dtypes of real numbers; complex numbers have a test of their own.
inline constexpr nd::Dtype kAllDtypes[] = {nd::bool_,   nd::int8,    nd::uint8,   nd::int16,  nd::uint16,
                                           nd::int32,   nd::uint32,  nd::int64,   nd::uint64, nd::float16,
                                           nd::float32, nd::float64, nd::bfloat16};

// The software CUDA device compiles a kernel for every function and dtype with the host's compiler, so only a part of a
// long list of cases is run on it. On the CPU and on a real GPU all of them are run.
inline bool cases_take_turns() {
  return nd::current_device().kind == nd::Device::Kind::cuda && cuda_device::Control::available();
}
class Turns {
 public:
  explicit Turns(std::string what) : what_(std::move(what)) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns() {  // reports the reduction
    if (run_ < asked_)
      std::cout << "thinned out on the software CUDA device: " << what_ << ", " << run_ << " of " << asked_
                << " are run\n";
  }
  // Whether function number k is run for this dtype; on the software device for every fifth one.
  bool take(std::size_t k, nd::Dtype dtype) { return count((k + static_cast<std::size_t>(dtype)) % 5 == 0); }
  // Whether the next golden case is run; on the software device every eighth.
  bool take_case() { return count(asked_ % 8 == 0); }
  bool count(bool turn) {
    const bool run = turn || !cases_take_turns();
    ++asked_;
    run_ += run;
    return run;
  }

 private:
  std::string what_;
  std::size_t asked_ = 0, run_ = 0;
};

inline nd::Array to_array(const catena::NpyArray& n) {
  nd::Array a = nd::empty(n.shape, n.dtype.value());
  nd::internal::from_host(a, n.data.data());
  return a;
}

// The same elements in another memory layout: random order of axes, negative and larger strides, an offset into a
// larger block.
inline nd::Array scattered(const nd::Array& a, std::mt19937& random) {
  const int rank = a.ndim();
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), random);
  nd::Strides strides = nd::Strides::filled(rank, 0);
  std::int64_t step = std::int64_t(a.itemsize()), offset = step * std::int64_t(random() % 3);
  for (int i : order) {
    const std::int64_t spread = step * std::int64_t(1 + random() % 3);
    const bool backwards = random() % 2;
    strides[i] = backwards ? -spread : spread;
    if (backwards && a.shape()[i] > 0) offset += spread * (a.shape()[i] - 1);
    step = spread * std::max<std::int64_t>(a.shape()[i], 1);
  }
  const nd::Array block = nd::zeros(nd::Shape{offset + step * 3 + 64}, nd::uint8);
  const nd::Array view = nd::internal::make_view(block, a.shape(), strides, a.size() == 0 ? 0 : offset, a.dtype());
  nd::internal::assign("scattered", view, a);
  return view;
}

// Random elements in a range that suits the dtype: small integers of both signs, floats around 1.
inline nd::Array random_array(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random) {
  std::vector<double> values(std::size_t(catena::size_of(shape)));
  for (double& v : values)
    v = catena::is_floating(dtype) ? std::ldexp(double(random() % 20001) - 10000, -12)
                                   : double(int(random() % 200) - 100);
  return nd::array(values, shape, {.dtype = dtype});
}

inline std::vector<std::byte> bytes_of(const nd::Array& a) {
  std::vector<std::byte> bytes(a.nbytes());
  nd::internal::to_host(a, bytes.data());
  return bytes;
}

// Equal shape, dtype and bits (in C order).
inline bool same_bits(const nd::Array& a, const nd::Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && bytes_of(a) == bytes_of(b);
}

// The first difference as text; empty if there is none.
inline std::string difference(const nd::Array& actual, const nd::Array& expected, double atol = 0, double rtol = 0,
                              bool signed_zero = false) {
  if (!(actual.shape() == expected.shape()))
    return catena::concat("shape ", actual.shape(), " instead of ", expected.shape());
  if (actual.dtype() != expected.dtype())
    return catena::concat("dtype ", actual.dtype(), " instead of ", expected.dtype());
  return nd::visit_real_dtype("difference", actual.dtype(), [&](auto tag) -> std::string {
    using E = typename decltype(tag)::type;
    const auto a = actual.to_vector<E>(), e = expected.to_vector<E>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      bool equal;
      if constexpr (std::is_integral_v<E>) {
        equal = a[i] == e[i] || ((atol != 0 || rtol != 0) && close(double(a[i]), double(e[i]), atol, rtol));
      } else {
        equal = close(double(a[i]), double(e[i]), atol, rtol);
        if (signed_zero && double(e[i]) == 0) equal = equal && std::signbit(double(a[i])) == std::signbit(double(e[i]));
      }
      if (!equal) return catena::concat("element ", i, " is ", double(a[i]), " instead of ", double(e[i]));
    }
    return {};
  });
}

// Compares reductions of equal elements in two layouts: bit-identical on the CPU. On CUDA the layout determines the
// distribution over threads, so floating-point sums round in another order.
inline bool same_reduction(const nd::Array& a, const nd::Array& b) {
  if (a.device().kind == nd::Device::Kind::cpu || !catena::is_floating(a.dtype())) return same_bits(a, b);
  const double eps = a.dtype() == nd::float64   ? 1e-13
                     : a.dtype() == nd::float32 ? 1e-5
                     : a.dtype() == nd::float16 ? 2e-3
                                                : 1.6e-2;
  return difference(a, b, eps, eps).empty();
}

// The inputs and outputs of a golden case.
inline std::vector<nd::Array> arrays_of(const Golden& golden, const nlohmann::json& keys) {
  std::vector<nd::Array> list;
  for (const auto& key : keys) list.push_back(to_array(golden.array(key)));
  return list;
}
inline std::string difference(const nd::Array& actual, const nd::Array& expected, const nlohmann::json& c) {
  return difference(actual, expected, c["tolerance"][0], c["tolerance"][1], c.value("signed_zero", false));
}

// The elements in C order.
template <class E> void check_values(const nd::Array& a, const std::vector<E>& expected) {
  const auto values = a.to_vector<E>();
  BOOST_CHECK_EQUAL_COLLECTIONS(values.begin(), values.end(), expected.begin(), expected.end());
}

inline nd::Array range(std::int64_t size, nd::Dtype dtype = nd::float32) { return nd::arange(size, {.dtype = dtype}); }

// Pearson's statistic for equally likely outcomes 0..k-1.
inline double chi_square(const std::vector<std::int64_t>& outcomes, std::int64_t k) {
  std::vector<double> count(static_cast<std::size_t>(k));
  for (std::int64_t v : outcomes) count.at(static_cast<std::size_t>(v)) += 1;
  const double expected = double(outcomes.size()) / double(k);
  double sum = 0;
  for (double n : count) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Test failure that shows the difference, if there is one.
#define CHECK_SAME(text, what)                                \
  do {                                                        \
    const std::string same_text = (text);                     \
    BOOST_TEST(same_text.empty(), what << ": " << same_text); \
  } while (0)

// Runs f and returns the message of the exception of type E that it throws; a test failure otherwise.
template <class E, class F> std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    BOOST_ERROR("another exception: " << e.what());
    return {};
  }
  BOOST_ERROR("nothing was thrown");
  return {};
}

}  // namespace test
