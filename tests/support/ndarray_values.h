// What the tests of ndarray share: arrays from golden values, comparison with them, random contents and random memory
// layouts.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catena/kernels/formats/npy.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/tests/support/golden.h>

namespace test {

inline constexpr nd::Dtype kAllDtypes[] = {nd::bool_,   nd::int8,    nd::uint8,   nd::int16,  nd::uint16,
                                           nd::int32,   nd::uint32,  nd::int64,   nd::uint64, nd::float16,
                                           nd::float32, nd::float64, nd::bfloat16};

// On CUDA every function and dtype is a kernel to compile: there, function number k takes every fifth dtype in turn,
// and of a long list of golden cases every eighth is run.
inline bool takes_turn(std::size_t k, nd::Dtype dtype) {
  return nd::current_device().kind == nd::Device::Kind::cpu || (k + static_cast<std::size_t>(dtype)) % 5 == 0;
}
inline bool takes_turn(std::size_t golden_case) {
  return nd::current_device().kind == nd::Device::Kind::cpu || golden_case % 8 == 0;
}

inline nd::Array to_array(const catena::NpyArray& n) {
  nd::Array a = nd::empty(n.shape, n.dtype.value());
  nd::internal::from_host(a, n.data.data());
  return a;
}

// The same elements in another memory layout: a random order of axes, negative and larger steps, an offset into a
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

// Random elements over the range of the dtype that is of interest: small integers of both signs, floats around 1.
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

// Same shape, dtype and bits (in C order).
inline bool same_bits(const nd::Array& a, const nd::Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && bytes_of(a) == bytes_of(b);
}

// Nothing, or the first difference as text.
inline std::string difference(const nd::Array& actual, const nd::Array& expected, double atol = 0, double rtol = 0,
                              bool signed_zero = false) {
  if (!(actual.shape() == expected.shape()))
    return catena::concat("shape ", actual.shape(), " instead of ", expected.shape());
  if (actual.dtype() != expected.dtype())
    return catena::concat("dtype ", actual.dtype(), " instead of ", expected.dtype());
  return nd::visit_dtype(actual.dtype(), [&](auto tag) -> std::string {
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

// What reductions of equal elements in two layouts must give: the same bits on the CPU. On CUDA threads share the work
// as the layout asks for, and floating-point sums round in another order.
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

// The elements in C order, one after the other.
template <class E>
void check_values(const nd::Array& a, const std::vector<E>& expected) {
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

// A difference is an error that shows it.
#define CHECK_SAME(text, what)                                \
  do {                                                        \
    const std::string same_text = (text);                     \
    BOOST_TEST(same_text.empty(), what << ": " << same_text); \
  } while (0)

// Runs f and returns the message of the exception of type E it throws; a test failure otherwise.
template <class E, class F>
std::string message_of(F&& f) {
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
