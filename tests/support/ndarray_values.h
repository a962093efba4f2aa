// For tests of ndarray: arrays from golden values, comparison with them, random contents and random memory layouts.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <catena/kernels/formats/npy.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/golden.h>
#include <catena/tests/support/message_of.h>

namespace test {

// The dtypes of real numbers; complex numbers have separate tests.
inline constexpr nd::Dtype kAllDtypes[] = {nd::bool_,   nd::int8,    nd::uint8,   nd::int16,  nd::uint16,
                                           nd::int32,   nd::uint32,  nd::int64,   nd::uint64, nd::float16,
                                           nd::float32, nd::float64, nd::bfloat16};

// The software CUDA device compiles a kernel for every function and dtype with the host's compiler, so it runs only a
// part of a long list of cases. The CPU and a real GPU run all of them.
bool cases_take_turns();
class Turns {
 public:
  explicit Turns(std::string what) : what_(std::move(what)) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns();  // reports the reduction
  // True if function number k must be run for this dtype; on the software device, for every fifth pair.
  bool take(std::size_t k, nd::Dtype dtype) { return count((k + static_cast<std::size_t>(dtype)) % 5 == 0); }
  // True if the next golden case must be run; on the software device, every eighth.
  bool take_case() { return count(asked_ % 8 == 0); }
  bool count(bool turn);

 private:
  std::string what_;
  std::size_t asked_ = 0, run_ = 0;
};

nd::Array array_of(const catena::NpyArray& n);

// Returns the same elements in another memory layout: random order of axes, negative and larger strides, an offset into
// a larger block.
nd::Array scattered(const nd::Array& a, std::mt19937& random);

// Returns random elements in a range for the dtype: small integers of both signs, floats around 1.
nd::Array random_array(const nd::Shape& shape, nd::Dtype dtype, std::mt19937& random);

std::vector<std::byte> bytes_of(const nd::Array& a);

// True for equal shape, dtype and bits (in C order).
bool same_bits(const nd::Array& a, const nd::Array& b);

// Returns the first difference as text; empty if there is none.
std::string difference(const nd::Array& actual, const nd::Array& expected, double atol = 0, double rtol = 0,
                       bool signed_zero = false);

// Compares reductions of equal elements in two layouts: bit-identical on the CPU. On CUDA the layout determines the
// distribution over threads, so floating-point sums round in another order.
bool same_reduction(const nd::Array& a, const nd::Array& b);

// Returns the inputs and outputs of a golden case.
std::vector<nd::Array> arrays_of(const Golden& golden, const Json& keys);
std::string difference(const nd::Array& actual, const nd::Array& expected, const Json& c);

// Checks the elements in C order.
template <class E> void check_values(const nd::Array& a, const std::vector<E>& expected) {
  const auto values = a.to_vector<E>();
  BOOST_CHECK_EQUAL_COLLECTIONS(values.begin(), values.end(), expected.begin(), expected.end());
}

nd::Array range(std::int64_t size, nd::Dtype dtype = nd::float32);

// Returns Pearson's statistic for equally likely outcomes 0..k-1.
double chi_square(const std::vector<std::int64_t>& outcomes, std::int64_t k);

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A test failure that shows the difference, if there is one. Uses only operators of the standard library, and builds
// the text only for a failure: Boost's lazy texts are slow to compile, and this macro is used in hundreds of places.
#define CHECK_SAME(text, what)                                                        \
  do {                                                                                \
    if (const std::string same_text = (text); !::test::is_no_difference(same_text)) { \
      std::ostringstream same_what;                                                   \
      same_what << what << ": " << same_text;                                         \
      ::test::report_difference(same_what.str(), __FILE__, __LINE__);                 \
    }                                                                                 \
  } while (0)
bool is_no_difference(const std::string& difference);  // if it is empty, counts a passed assertion
void report_difference(const std::string& text, const char* file, std::size_t line);

}  // namespace test
