// Calls of registered kernels on plain vectors, for tests of the bodies without any array library.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/shape.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/kernel.h>

namespace test {

using namespace catena;  // NOLINT

inline const Loop& loop_of(std::string_view name, std::string_view wanted) {
  const KernelDef& def = find_kernel(name);
  for (const Loop& loop : def.loops())
    if (signature(def, loop) == wanted) return loop;
  throw KeyError(concat(name, " has no loop ", wanted));
}

// std::vector<bool> has no elements to point at.
template <class T> using Cells = std::vector<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>;

template <class T> std::byte* bytes_of(const std::vector<T>& v) {
  return reinterpret_cast<std::byte*>(const_cast<T*>(v.data()));
}

// An elementwise kernel with one output over contiguous inputs of its compute types.
template <class Out, class... In>
Cells<Out> apply(std::string_view name, std::string_view sig, const std::vector<In>&... in) {
  const std::size_t n = std::max({in.size()...});
  Cells<Out> out(n);
  std::byte* const ptr[] = {bytes_of(in)..., bytes_of(out)};
  const std::int64_t stride[] = {(in.size() == 1 && n > 1 ? 0 : std::int64_t(sizeof(In)))..., sizeof(Out)};
  loop_of(name, sig).elementwise(ptr, stride, std::int64_t(n));
  return out;
}

// An operand of an indexed call: its data and its own shape, or a scalar.
struct Given {
  std::byte* data;
  Shape shape;
  std::size_t size;
  std::shared_ptr<void> owner;
  template <class T>
  Given(const std::vector<T>& v, Shape s) : data(bytes_of(v)), shape(std::move(s)), size(sizeof(T)) {}
};
// An indexed kernel: operands that are not raw are broadcast to the loop shape.
inline void call_indexed(std::string_view name, std::string_view sig, const Shape& loop,
                         const std::vector<Given>& operands) {
  const KernelDef& def = find_kernel(name);
  BOOST_REQUIRE(std::size_t(def.num_operands()) == operands.size());
  std::vector<std::byte*> data;
  std::vector<Strides> strides(operands.size());
  std::vector<const Shape*> shape_of;
  std::vector<const Strides*> strides_of;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const Strides own = c_strides(operands[k].shape, operands[k].size);
    const bool raw = (def.raw >> k) & 1;
    strides[k] = raw ? own : broadcast_strides(name, operands[k].shape, own, loop);
    data.push_back(operands[k].data);
    shape_of.push_back(raw ? &operands[k].shape : &loop);
    strides_of.push_back(&strides[k]);
  }
  const IndexedCall call{data.data(), shape_of.data(), strides_of.data(), &loop};
  const std::int64_t n = size_of(loop), middle = n / 3;
  const Loop& l = loop_of(name, sig);
  l.indexed(call, 0, middle);  // in two parts, as threads would
  l.indexed(call, middle, n);
}
// A host number as an operand.
template <class T> Given scalar(T v) {
  const auto kept = std::make_shared<std::vector<T>>(1, v);
  Given g(*kept, {});
  g.owner = kept;
  return g;
}

// Memory for accumulators, aligned as the loops expect it.
struct Aligned {
  explicit Aligned(std::size_t n) : memory(n + 64) {}
  std::byte* get() {
    return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
  }
  std::vector<std::byte> memory;
};

template <class Out, class In>
Out reduce(std::string_view name, std::string_view sig, const std::vector<In>& in, std::int64_t step = 1) {
  const ReductionLoop& r = *loop_of(name, sig).reduction;
  Aligned acc(r.acc_bytes);
  r.init(acc.get(), 1);
  const std::int64_t n = std::int64_t(in.size()) / step;
  r.reduce(acc.get(), bytes_of(in), step * std::int64_t(sizeof(In)), 0, n);
  Out out{};
  r.finish(acc.get(), n, reinterpret_cast<std::byte*>(&out), sizeof(Out), 1);
  return out;
}

// One row of a row-wise kernel, its elements in segments. An operand of one element counts as per row (stride 0).
inline void call_row(std::string_view name, std::string_view sig, std::int64_t n, const std::vector<Given>& operands,
                     std::int64_t step = 1) {
  const KernelDef& def = find_kernel(name);
  const RowWiseLoop& r = *loop_of(name, sig).row_wise;
  BOOST_REQUIRE(std::size_t(def.num_operands()) == operands.size());
  Aligned stats(r.stats_bytes);
  std::vector<std::byte*> first;
  std::vector<std::int64_t> stride;
  for (const Given& g : operands) {
    first.push_back(g.data);
    stride.push_back(g.shape.empty() ? 0 : step * std::int64_t(g.size));
  }
  const auto in_segments = [&](auto&& call) {
    for (std::int64_t begin = 0; begin < n;) {
      const std::int64_t m = std::min<std::int64_t>(n - begin, 71);  // no multiple of the number of lanes
      std::vector<std::byte*> p = first;
      for (std::size_t k = 0; k < p.size(); ++k) p[k] += begin * stride[k];
      call(p.data(), m);
      begin += m;
    }
  };
  r.init(stats.get());
  in_segments([&](std::byte* const* p, std::int64_t m) { r.phase0(stats.get(), p, stride.data(), m); });
  r.finish0(stats.get(), first.data(), n);
  if (r.phases == 2)
    in_segments([&](std::byte* const* p, std::int64_t m) { r.phase1(stats.get(), p, stride.data(), m); });
  r.finish1(stats.get(), first.data(), n);
  in_segments([&](std::byte* const* p, std::int64_t m) { r.write(stats.get(), p, stride.data(), m); });
}

// Distance of y from the exact value in units of the last place of T; 0 where both are NaN or the same infinity.
template <class T> long double ulps(T y, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(y) || std::isnan(rounded)) return std::isnan(y) == std::isnan(rounded) ? 0 : HUGE_VALL;
  if (std::isinf(y) || std::isinf(rounded)) return y == rounded ? 0 : HUGE_VALL;
  int exponent = 0;
  std::frexp(static_cast<long double>(rounded), &exponent);
  const int lowest = std::numeric_limits<T>::min_exponent;
  const long double ulp = std::ldexp(1.0L, std::max(exponent, lowest) - std::numeric_limits<T>::digits);
  return std::fabs(static_cast<long double>(y) - exact) / ulp;
}

// Equal bits, any NaN being equal to any other.
template <class T> bool same_value(T a, T b) {
  if constexpr (is_complex<T>) return same_value(a.re, b.re) && same_value(a.im, b.im);
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// A small generator (splitmix64) whose numbers are the same everywhere.
struct Noise {
  std::uint64_t state;
  explicit Noise(std::uint64_t seed) : state(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) { return low + (high - low) * (double(bits() >> 11) * 0x1p-53); }
  template <class T> std::vector<T> vector(std::size_t n, double low, double high) {
    std::vector<T> v(n);
    for (T& x : v) x = static_cast<T>(uniform(low, high));
    return v;
  }
};

}  // namespace test
