// Shape, strides and axis arithmetic: vectors with inline storage and pure functions on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/kernels/base/error.h>

namespace catena {

inline constexpr int kMaxRank = 32;  // arrays of more dimensions are a ValueError

// True for integer types other than bool, which can be lengths, axes or indices.
template <class I> inline constexpr bool is_index = std::is_integral_v<I> && !std::is_same_v<I, bool>;
template <class I> using if_index = std::enable_if_t<is_index<I>>;
// An item of a list of such numbers, whose types may differ: {v.size(), 3}.
struct Integer {
  std::int64_t value;
  template <class I, class = if_index<I>> constexpr Integer(I v) noexcept : value(static_cast<std::int64_t>(v)) {}
  constexpr operator std::int64_t() const noexcept { return value; }
};

// Up to kMaxRank 64-bit integers, stored inline; a copy copies only those in use. A single integer is a list of one.
class Dims {
 public:
  using value_type = std::int64_t;

  Dims() noexcept : size_(0) {}
  template <class I, class = if_index<I>> Dims(I only) noexcept : size_(1) { v_[0] = static_cast<std::int64_t>(only); }
  Dims(std::initializer_list<Integer> v) { assign(v.begin(), v.end()); }
  Dims(std::span<const std::int64_t> v) { assign(v.begin(), v.end()); }
  template <class I, class = if_index<I>> Dims(const std::vector<I>& v) { assign(v.begin(), v.end()); }
  Dims(const Dims& o) noexcept : size_(o.size_) { copy(o); }
  Dims& operator=(const Dims& o) noexcept {
    size_ = o.size_;
    copy(o);
    return *this;
  }
  template <class It> void assign(It first, It last) {
    const std::int64_t n = last - first;
    if (n > kMaxRank) [[unlikely]]
      throw_too_many(n);
    size_ = static_cast<std::int32_t>(n);
    for (std::int64_t* to = v_; first != last; ++first) *to++ = static_cast<std::int64_t>(*first);
  }
  static Dims filled(int n, std::int64_t value) {
    Dims d;
    d.resize(n, value);
    return d;
  }

  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t operator[](int i) const noexcept { return v_[i]; }
  std::int64_t& operator[](int i) noexcept { return v_[i]; }
  std::int64_t back() const noexcept { return v_[size_ - 1]; }
  std::int64_t& back() noexcept { return v_[size_ - 1]; }
  const std::int64_t* data() const noexcept { return v_; }
  std::int64_t* data() noexcept { return v_; }
  const std::int64_t* begin() const noexcept { return v_; }
  const std::int64_t* end() const noexcept { return v_ + size_; }
  std::int64_t* begin() noexcept { return v_; }
  std::int64_t* end() noexcept { return v_ + size_; }
  std::vector<std::int64_t> to_vector() const { return {begin(), end()}; }

  void push_back(std::int64_t x) {
    if (size_ >= kMaxRank) [[unlikely]]
      throw_too_many(size_ + 1);
    v_[size_++] = x;
  }
  void pop_back() noexcept { --size_; }
  void insert(int at, std::int64_t x) {
    if (size_ >= kMaxRank) [[unlikely]]
      throw_too_many(size_ + 1);
    std::memmove(v_ + at + 1, v_ + at, bytes(size_ - at));
    v_[at] = x;
    ++size_;
  }
  void erase(int at) noexcept {
    std::memmove(v_ + at, v_ + at + 1, bytes(size_ - at - 1));
    --size_;
  }
  void resize(int n, std::int64_t value = 0) {
    if (n > kMaxRank) [[unlikely]]
      throw_too_many(n);
    for (int i = size_; i < n; ++i) v_[i] = value;
    size_ = n;
  }

  friend bool operator==(const Dims& a, const Dims& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a.v_[i] != b.v_[i]) return false;
    return true;
  }

 private:
  // Copies blocks of a fixed size, which need no call of memmove. A block may extend beyond the elements in use.
  static constexpr int kBlock = 4;
  static_assert(kMaxRank % kBlock == 0);
  void copy(const Dims& o) noexcept {
    for (int i = 0; i < size_; i += kBlock) std::memmove(v_ + i, o.v_ + i, kBlock * sizeof(std::int64_t));
  }
  static std::size_t bytes(int n) noexcept { return static_cast<std::size_t>(n) * sizeof(std::int64_t); }
  [[noreturn]] CATENA_EXPORT static void throw_too_many(std::int64_t n);

  std::int32_t size_;
  std::int64_t v_[kMaxRank];
};

using Shape = Dims;    // lengths, outermost axis first
using Strides = Dims;  // byte distance between neighbours along each axis; may be negative or 0

// Types from which a shape can be constructed, other than a list in braces. If an overload takes options instead of a
// shape, its shape parameter has such a type or is a std::initializer_list<Integer>: with a parameter of type Shape,
// g++ would accept the options {.ndmin = 3} as the shape {3}.
template <class S>
concept ShapeLike = std::is_convertible_v<const S&, Shape>;

// Prints (2, 3), (4,) and () as NumPy does.
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Dims& d);
CATENA_EXPORT std::string to_string(const Dims& d);

// Returns the number of elements. ValueError for a negative length or if the product does not fit 63 bits.
CATENA_EXPORT std::int64_t checked_size(const Shape& shape);
inline std::int64_t size_of(const Shape& shape) noexcept {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return n;
}

// Return the byte strides of a C-order or Fortran-order array. As in NumPy, lengths of 0 count as 1.
CATENA_EXPORT Strides c_strides(const Shape& shape, std::size_t itemsize);
CATENA_EXPORT Strides f_strides(const Shape& shape, std::size_t itemsize);
// The strides of axes of length 1 are ignored; an empty array is contiguous.
CATENA_EXPORT bool is_c_contiguous(const Shape& shape, const Strides& strides, std::size_t itemsize) noexcept;
CATENA_EXPORT bool is_f_contiguous(const Shape& shape, const Strides& strides, std::size_t itemsize) noexcept;

// An axis argument: none (all axes), one int, or a list of ints. Negative axes count from the end.
class Axes {
 public:
  Axes() = default;  // all axes
  Axes(std::nullopt_t) {}
  template <class I, class = if_index<I>> Axes(I axis) noexcept : given_(true), is_one_(true), v_(axis) {}
  Axes(std::initializer_list<Integer> v) : given_(true), v_(v) {}
  template <class I, class = if_index<I>> Axes(const std::vector<I>& v) : given_(true), v_(v) {}
  Axes(const Dims& v) : given_(true), v_(v) {}
  bool given() const noexcept { return given_; }
  bool is_one() const noexcept { return is_one_; }  // one int, not a list
  const Dims& values() const noexcept { return v_; }

 private:
  bool given_ = false, is_one_ = false;
  Dims v_;
};

namespace internal {
[[noreturn, gnu::cold]] CATENA_EXPORT void fail_axis(std::string_view op, std::int64_t axis, int rank);  // AxisError
}
// Returns `axis` normalised to [0, rank). AxisError, which is a ValueError and an IndexError: "<op>: axis 3 is out of
// bounds for array of dimension 2".
inline int normalize_axis(std::string_view op, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) [[unlikely]]
    internal::fail_axis(op, axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}
// Returns all given axes, normalised and sorted; every axis if none is given. AxisError; ValueError for duplicates.
CATENA_EXPORT Dims normalize_axes(std::string_view op, const Axes& axes, int rank);
// As normalize_axes for a reduction. As in NumPy, a 0-d array accepts the axis 0 or -1 given as one int, which then
// means no axis.
inline Dims reduced_axes(std::string_view op, const Axes& axes, int rank) {
  if (rank == 0 && axes.is_one() && (axes.values()[0] == 0 || axes.values()[0] == -1)) return {};
  return normalize_axes(op, axes, rank);
}
// Returns `shape` with the normalised axes removed, or with length 1 if keepdims.
CATENA_EXPORT Shape reduced_shape(const Shape& shape, const Dims& axes, bool keepdims);

// NumPy broadcasting of two shapes. ValueError with op and both shapes if they do not broadcast.
CATENA_EXPORT Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);
// True if an array of shape `from` can be broadcast to `to`.
CATENA_EXPORT bool broadcasts_to(const Shape& from, const Shape& to) noexcept;
// Returns the strides of an array of `shape` when broadcast to the shape `to`; 0 along repeated axes. ValueError if it
// does not broadcast.
CATENA_EXPORT Strides broadcast_strides(std::string_view op, const Shape& shape, const Strides& strides,
                                        const Shape& to);
// Sets `result` to these strides.
CATENA_EXPORT void set_broadcast_strides(std::string_view op, const Shape& shape, const Strides& strides,
                                         const Shape& to, Strides& result);

// Returns the result shape of reshape(from, requested), with one -1 inferred. ValueError in the same cases as in NumPy.
CATENA_EXPORT Shape resolve_reshape(std::string_view op, const Shape& from, const Shape& requested);
// Returns strides that view (shape, strides) as the shape `to` without a copy, or nullopt if a copy is needed.
CATENA_EXPORT std::optional<Strides> reshape_strides(const Shape& shape, const Strides& strides, const Shape& to,
                                                     std::size_t itemsize);

// The lowest and the one-past-highest byte offset of the elements of an array, relative to its first element.
struct ByteRange {
  std::int64_t begin, end;
};
CATENA_EXPORT ByteRange byte_range(const Shape& shape, const Strides& strides, std::size_t itemsize) noexcept;

}  // namespace catena
