// Small arrays in all layouts with element access as double, for comparing engines with nested loops.
#pragma once

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/registry/program.h>

namespace test {

using catena::Dtype;
using catena::Shape;
using catena::Strides;

enum class Layout { c_order, f_order, negative, gaps, zero };
inline constexpr Layout kLayouts[] = {Layout::c_order, Layout::f_order, Layout::negative, Layout::gaps, Layout::zero};
inline constexpr Layout kWritableLayouts[] = {Layout::c_order, Layout::f_order, Layout::negative, Layout::gaps};
inline const char* name_of(Layout l) {
  const char* names[] = {"c_order", "f_order", "negative", "gaps", "zero"};
  return names[int(l)];
}
inline std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> v;
  for (int i = 0; i < catena::kNumDtypes; ++i) v.push_back(static_cast<Dtype>(i));
  return v;
}

class Strided {
 public:
  Strided(Dtype dtype, const Shape& shape, Layout layout = Layout::c_order) : dtype(dtype), shape(shape) {
    const auto item = std::int64_t(catena::itemsize(dtype));
    strides = layout == Layout::f_order ? catena::f_strides(shape, std::size_t(item))
                                        : catena::c_strides(shape, std::size_t(item));
    if (layout == Layout::gaps)
      for (auto& s : strides) s *= 3;
    if (layout == Layout::zero && !shape.empty()) strides[0] = 0;
    if (layout == Layout::negative)
      for (auto& s : strides) s = -s;
    const catena::ByteRange r = catena::byte_range(shape, strides, std::size_t(item));
    memory_.assign(std::size_t(r.end - r.begin) + 64, std::byte(0xcd));
    offset_ = -r.begin;
  }

  std::byte* data() { return memory_.data() + offset_; }
  const std::byte* data() const { return memory_.data() + offset_; }
  catena::BoundOperand operand() { return {data(), dtype, false, &shape, &strides}; }
  std::int64_t size() const { return catena::size_of(shape); }

  const std::byte* at(const Shape& index) const {
    const std::byte* p = data();
    for (int a = 0; a < shape.size(); ++a) p += index[a] * strides[a];
    return p;
  }
  std::byte* at(const Shape& index) { return const_cast<std::byte*>(std::as_const(*this).at(index)); }
  double get(const Shape& index) const { return load(dtype, at(index)); }
  void set(const Shape& index, double v) { catena::Scalar(v).store(dtype, at(index)); }

  static double load(Dtype t, const std::byte* p) {
    return catena::visit_dtype(t, [&](auto tag) {
      typename decltype(tag)::type v;
      std::memcpy(&v, p, sizeof(v));
      return catena::convert<double>(v);
    });
  }

  // Fills with multiples of 1/4 in [-20, 20], limited to the range of the dtype: sums and small products are exact in
  // every dtype.
  Strided& fill(std::mt19937& rng, double scale = 0.25, int range = 80) {
    std::uniform_int_distribution<int> d(-range, range);
    for_each(shape, [&](const Shape& i) {
      double v = d(rng) * scale;
      if (dtype == Dtype::bool_) v = d(rng) > 0;
      else if (!catena::is_floating(dtype)) v = double(std::int64_t(v));
      if (catena::kind_of(dtype) == catena::DtypeKind::unsigned_ && v < 0) v = -v;
      set(i, v);
    });
    return *this;
  }

  // Returns a contiguous copy.
  Strided copy() const {
    Strided c(dtype, shape);
    for_each(shape, [&](const Shape& i) { std::memcpy(c.at(i), at(i), catena::itemsize(dtype)); });
    return c;
  }
  bool same_bits(const Strided& o) const {
    bool same = dtype == o.dtype && shape == o.shape;
    for_each(shape, [&](const Shape& i) { same = same && std::memcmp(at(i), o.at(i), catena::itemsize(dtype)) == 0; });
    return same;
  }

  template <class F> static void for_each(const Shape& shape, F&& f) {
    if (catena::size_of(shape) == 0) return;
    Shape i = Shape::filled(shape.size(), 0);
    for (;;) {
      f(i);
      int a = shape.size() - 1;
      while (a >= 0 && ++i[a] == shape[a]) i[a--] = 0;
      if (a < 0) return;
    }
  }

  Dtype dtype;
  Shape shape;
  Strides strides;

 private:
  std::vector<std::byte> memory_;
  std::int64_t offset_ = 0;
};

// Returns the value after being stored as `t`.
inline double rounded(Dtype t, double v) {
  alignas(16) std::byte cell[16];
  catena::Scalar(v).store(t, cell);
  return Strided::load(t, cell);
}

// The array header of a Strided, for functions with header parameters.
class Header {
 public:
  explicit Header(Strided& s, catena::Device device = {}) {
    h.dtype = s.dtype;
    h.c_contiguous = catena::is_c_contiguous(s.shape, s.strides, catena::itemsize(s.dtype));
    h.device = device;
    h.size = s.size();
    h.data = s.data();
    h.shape = s.shape;
    h.strides = s.strides;
  }
  catena::ArrayHeader h;
};

}  // namespace test
