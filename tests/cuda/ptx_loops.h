// For the driver that runs every registered loop on the PTX of NVRTC: equal operands on the CPU and on the device, and
// the comparison of what a call leaves in them.
#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/cast.h>
#include <catena/ndarray/core/array.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/manipulation.h>

namespace ptx_loops {

using catena::Dtype;
using catena::KernelDef;
using catena::Loop;
using nd::Array;
using nd::Shape;
using nd::Strides;

inline constexpr nd::Device kDevices[] = {{nd::Device::Kind::cpu, 0}, {nd::Device::Kind::cuda, 0}};

// The pattern of infinity in a float of that many bytes; of 2 bytes: bfloat16.
inline std::uint64_t infinity_of(std::size_t bytes) {
  return bytes == 8 ? 0x7ff0000000000000u : (bytes == 4 ? 0x7f800000u : 0x7f80u);
}

// ---- values ---------------------------------------------------------------------------------------
// Bit patterns of a dtype: special values among random ones.
inline std::vector<std::byte> pattern(Dtype dtype, std::size_t n, std::mt19937_64& random) {
  std::vector<std::byte> bytes(n * catena::itemsize(dtype));
  const bool complex = dtype == Dtype::complex64 || dtype == Dtype::complex128;
  const std::size_t size = complex ? catena::itemsize(dtype) / 2 : catena::itemsize(dtype);
  const auto put = [&](std::size_t at, std::uint64_t bits) { std::memcpy(bytes.data() + at * size, &bits, size); };
  for (std::size_t k = 0; k < bytes.size() / size; ++k) {
    const std::uint64_t r = random();
    if (dtype == Dtype::bool_) {
      put(k, r & 1);
    } else if (!catena::is_floating(dtype) && !complex) {
      put(k, r % 4 == 0 ? r >> 2 : (r % 4 == 1 ? std::uint64_t(1) << (size * 8 - 1) >> (r >> 8 & 1) : r >> 2 & 15));
    } else {
      const double ordinary = std::ldexp(double(std::int64_t(r >> 20) - (std::int64_t(1) << 43)), -41);
      constexpr double special[] = {0.0,  -0.0, INFINITY, -INFINITY, NAN,  -NAN,   1.0,
                                    -1.0, 0.5,  2.0,      -3.5,      88.0, -104.0, -95.0};
      const double v = r % 6 == 0 ? special[r / 6 % std::size(special)] : ordinary;
      const Dtype part = complex ? (size == 4 ? Dtype::float32 : Dtype::float64) : dtype;
      catena::Scalar(v).store(part, bytes.data() + k * size);
      if (r % 29 == 2) put(k, random());  // any pattern: signalling NaN among them
      if (r % 31 == 3) put(k, part == Dtype::float16 ? 0x7c01 : (infinity_of(size) | 1));  // signalling NaN
      if (r % 23 == 1) put(k, size == 8 ? r >> 13 : r >> (size == 4 ? 42 : 57));           // small: subnormal
    }
  }
  return bytes;
}

// Patterns that are combined with each other: both zeros, infinities and NaNs, a signalling one, the smallest and a
// middle subnormal number, the smallest normal and the largest number, and some that are near the ends of functions.
inline std::vector<std::uint64_t> special_bits(Dtype dtype) {
  const std::size_t size = catena::itemsize(dtype);
  const std::uint64_t infinity = dtype == Dtype::float16 ? 0x7c00u : infinity_of(size),
                      sign = std::uint64_t(1) << (size * 8 - 1), unit = infinity & (~infinity + 1);
  std::vector<std::uint64_t> all = {0,
                                    sign,
                                    infinity,
                                    infinity | sign,
                                    infinity | unit / 2,
                                    infinity | unit / 2 | sign,
                                    infinity | 1,
                                    1,
                                    unit / 3,
                                    sign | (unit / 3),
                                    unit,
                                    infinity - 1,
                                    (infinity - 1) | sign};
  for (double v : {1.0, -1.0, -3.5, -14.0, 1024.0}) {
    std::uint64_t bits = 0;
    catena::Scalar(v).store(dtype, reinterpret_cast<std::byte*>(&bits));
    all.push_back(bits);
  }
  return all;
}

// ---- operands -------------------------------------------------------------------------------------
// One operand on both devices, the same view of equal memory.
struct Operand {
  Array on[2];
  Operand() = default;
  Operand(Dtype dtype, const Shape& shape, const Strides& strides, std::int64_t offset, std::size_t block_bytes,
          const std::vector<std::byte>& content) {
    std::vector<std::byte> block(block_bytes);
    for (std::size_t k = 0; k < block_bytes; ++k) block[k] = content[k % content.size()];
    for (int d = 0; d < 2; ++d) {
      const nd::DeviceScope scope(kDevices[d]);
      const Array memory = nd::empty(Shape{std::int64_t(block_bytes)}, nd::uint8);
      nd::internal::from_host(memory, block.data());
      on[d] = nd::internal::make_view(memory, shape, strides, offset, dtype);
    }
  }
};

enum class Layout { contiguous, strided, reversed, broadcast, immediate, misaligned };
inline constexpr Layout kLayouts[] = {Layout::contiguous, Layout::strided,   Layout::reversed,
                                      Layout::broadcast,  Layout::immediate, Layout::misaligned};
inline const char* name_of(Layout l) {
  constexpr const char* names[] = {"contiguous", "strided", "reversed", "broadcast", "immediate", "misaligned"};
  return names[static_cast<int>(l)];
}

inline Operand make(Dtype dtype, const Shape& shape, Layout layout, std::mt19937_64& random,
                    const std::vector<std::byte>* values = nullptr) {
  const auto item = std::int64_t(catena::itemsize(dtype));
  const std::int64_t n = catena::size_of(shape);
  const std::vector<std::byte> content = values != nullptr ? *values : pattern(dtype, std::size_t(n), random);
  Strides strides = catena::c_strides(shape, catena::itemsize(dtype));
  std::int64_t offset = 0, bytes = n * item;
  if (layout == Layout::strided) {
    for (int a = 0; a < shape.size(); ++a) strides[a] *= 2;
    bytes *= 2;
  } else if (layout == Layout::reversed) {
    for (int a = 0; a < shape.size(); ++a) {
      offset += strides[a] * (shape[a] - 1);
      strides[a] = -strides[a];
    }
  } else if (layout == Layout::misaligned) {
    offset = item;
    bytes += item;
  }
  return Operand(dtype, shape, strides, offset, std::size_t(bytes) + 32, content);
}

// ---- comparison -----------------------------------------------------------------------------------
// The distance of two floats in units in the last place; NaN equal NaN.
template <class Bits> double ulps(Bits a, Bits b, Bits infinity) {
  constexpr Bits sign = Bits(Bits(1) << (sizeof(Bits) * 8 - 1));
  const Bits ma = Bits(a & ~sign), mb = Bits(b & ~sign);
  if (ma > infinity || mb > infinity) return ma > infinity && mb > infinity ? 0 : INFINITY;
  if (a == b) return 0;
  if (ma == 0 && mb == 0) return 0.5;  // zeros of different signs
  if (((a ^ b) & sign) != 0) return double(ma) + double(mb);
  return double(ma > mb ? ma - mb : mb - ma);
}
inline double distance(Dtype dtype, const std::byte* a, const std::byte* b) {
  const auto read = [](const std::byte* p, auto v) {
    std::memcpy(&v, p, sizeof v);
    return v;
  };
  switch (dtype) {
    case Dtype::float16: return ulps<std::uint16_t>(read(a, std::uint16_t()), read(b, std::uint16_t()), 0x7c00);
    case Dtype::bfloat16: return ulps<std::uint16_t>(read(a, std::uint16_t()), read(b, std::uint16_t()), 0x7f80);
    case Dtype::float32: return ulps<std::uint32_t>(read(a, std::uint32_t()), read(b, std::uint32_t()), 0x7f800000u);
    case Dtype::float64:
      return ulps<std::uint64_t>(read(a, std::uint64_t()), read(b, std::uint64_t()), 0x7ff0000000000000u);
    case Dtype::complex64: return std::max(distance(Dtype::float32, a, b), distance(Dtype::float32, a + 4, b + 4));
    case Dtype::complex128: return std::max(distance(Dtype::float64, a, b), distance(Dtype::float64, a + 8, b + 8));
    default: return std::memcmp(a, b, catena::itemsize(dtype)) == 0 ? 0 : INFINITY;
  }
}

inline std::string bits(const std::byte* p, std::size_t n) {
  std::string text = "0x";
  constexpr char digits[] = "0123456789abcdef";
  for (std::size_t k = n; k-- > 0;) {
    text += digits[std::to_integer<unsigned>(p[k]) >> 4];
    text += digits[std::to_integer<unsigned>(p[k]) & 15];
  }
  return text;
}

inline std::vector<std::byte> content(const Array& a) {
  std::vector<std::byte> bytes(a.nbytes());
  nd::internal::to_host(a, bytes.data());
  return bytes;
}

}  // namespace ptx_loops
