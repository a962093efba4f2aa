// Folder ndarray/core/: nd::Array, its storage, and the names of namespace nd for the types of kernels/base/. Nothing
// here launches work: calculation is declared here and implemented in ndarray/engine/ and ndarray/routines/. May use
// kernels/base/ and kernels/registry/; memory comes from the pools of ndarray/memory/.
//
// This header: nd::Array, an n-dimensional array on one device.
//
// Handle semantics. An Array is a reference-counted handle, like a name in Python: copying the handle shares the array,
// copy() copies the elements, and views (indexing, reshape, transpose...) share the memory of their source and keep it
// alive. `row = b` makes the handle `row` refer to another array; `a(0) = b`, an assignment to a temporary view, writes
// the elements, as does `row += b`. Constness belongs to the handle: a const Array cannot be rebound, but its elements
// can be written through any copy of it. A default-constructed or moved-from Array is null: is_null, assignment and
// destruction are defined for it; every other member, and functions given a null operand, throw TypeError.
//
// Thread safety: handles may be copied and destroyed on any thread. Several threads may read one array; the caller must
// order writes with other accesses. An Array object must not be rebound while another thread uses it.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/array_members.h>
#include <catena/kernels/base/element_members.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/in_place_members.h>
#include <catena/kernels/registry/input.h>
#include <catena/ndarray/core/fwd.h>
#include <catena/ndarray/core/index_key.h>

namespace nd {

// A memory layout: C or Fortran order, or one that depends on an array. A is Fortran order if the array is F-contiguous
// and not C-contiguous, and C order otherwise; K keeps the order of the array's axes in memory.
enum class Order : std::uint8_t { C, F, A, K };
// An argument that is an Order or its letter in NumPy, 'C' to 'K'; ValueError for another one.
class OrderLike {
 public:
  constexpr OrderLike(Order order) noexcept : order_(order) {}
  CATENA_EXPORT OrderLike(char letter);
  constexpr operator Order() const noexcept { return order_; }

 private:
  Order order_;
};

struct AstypeOptions {
  bool copy = true;
  OrderLike order = Order::C;
};

// Memory layout of an array. Axes of length 1 are ignored; an empty array is contiguous in both senses.
struct Flags {
  bool c_contiguous = false;
  bool f_contiguous = false;
  bool owndata = false;  // the array is not a view of another one

  // Value by NumPy's name: "C_CONTIGUOUS", "F_CONTIGUOUS" or "OWNDATA"; KeyError for other names.
  CATENA_EXPORT bool operator[](std::string_view name) const;
};
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Flags& f);  // three lines "  NAME : value"

template <class E, int N> class Accessor;
template <class E, int N> struct CArray;  // core/carray.h
class List;                               // routines/list.h
class MemoryPointer;                      // memory/memory.h
class Stream;                             // device/stream.h
class Values;                             // routines/creation.h
struct ChooseOptions;
struct CompressOptions;
struct DotOptions;
struct TakeOptions;
struct TraceOptions;
struct UfuncOptions;

namespace internal {
// True for lists of keys that contain an index array or a mask.
template <class... K>
inline constexpr bool advanced_keys = (... || catena::is_index_array<K>)&&(...&& catena::ArrayKey<K>);
}  // namespace internal

// ---- the array ----------------------------------------------------------------------------------
class CATENA_EXPORT Array : public catena::HeaderRef,
                            public catena::ElementMembers<Array>,
                            public catena::InPlaceMembers<Array> {
 public:
  Array() noexcept = default;
  explicit Array(catena::ArrayHeader* adopt) noexcept : HeaderRef(adopt) {}  // takes over one reference
  template <class I>
  requires(std::is_arithmetic_v<I>) Array(I)
  = delete;                        // write nd::array(x) for a number, nd::zeros(n) for n elements
  Array(std::nullptr_t) = delete;  // write nd::Array() for a null array
  Array(const Array&) noexcept = default;
  Array(Array&&) noexcept = default;
  // Takes the output of a kernel that has one output; TypeError for kernels with several.
  template <class R>
  requires requires(const R& r) { r.single_output(); }
  Array(const R& r) : Array(r.single_output()) {}
  template <class R>
  requires requires(const R& r) { r.single_output(); }
  Array& operator=(const R& r) & { return *this = r.single_output(); }

  // nd::Array a{1, 2, 3}, a = {1, 2, 3}, dot(a, {1, 2, 3}): as nd::array({1, 2, 3}), on the current device.
  template <Element E>
  Array(std::initializer_list<E> list)
      : Array(of_elements(list.begin(), list.size(), catena::dtype_of<E>,
                          std::is_same_v<E, int> ? Dtype::int64 : catena::dtype_of<E>)) {}

  // Assignment to a named array rebinds the handle.
  Array& operator=(const Array& o) & noexcept {
    HeaderRef::operator=(o);
    return *this;
  }
  Array& operator=(Array&& o) & noexcept {
    HeaderRef::operator=(std::move(o));
    return *this;
  }
  // Assignment to a temporary, as in a(0) = b, writes the elements: `value` is broadcast and cast unsafely. ValueError
  // if it does not broadcast (extra leading axes of length 1 of `value` are ignored).
  void operator=(const Operand& value) &&;
  // a(0) = {1, 2, 3}, a(0) = vector; see Values in routines/creation.h.
  template <class V = Values> void operator=(const std::type_identity_t<V>& values) && { assign_values(values); }
  template <class E>
  requires(Element<E>) void operator=(E) & = delete;  // write a.fill(x) or a(nd::ellipsis) = x to set all elements

  bool is_null() const noexcept { return h_ == nullptr; }

  // ---- attributes ----
  const Shape& shape() const { return header().shape; }
  const Strides& strides() const { return header().strides; }  // in bytes
  // Length of one axis; negative axes count from the end. IndexError if there is no such axis.
  std::int64_t shape(int axis) const;
  // auto [rows, columns] = a.shape<2>(); ValueError if the rank is not N.
  template <int N> std::array<std::int64_t, std::size_t(N)> shape() const {
    std::array<std::int64_t, std::size_t(N)> lengths;
    copy_shape(lengths.data(), N);
    return lengths;
  }
  int ndim() const { return header().shape.size(); }
  std::int64_t size() const { return header().size; }
  // PyTorch's names: dim(), size(axis), numel().
  int dim() const { return ndim(); }
  std::int64_t size(int axis) const { return shape(axis); }
  std::int64_t numel() const { return size(); }
  Dtype dtype() const { return header().dtype; }
  std::size_t itemsize() const { return catena::itemsize(dtype()); }
  std::size_t nbytes() const { return static_cast<std::size_t>(size()) * itemsize(); }
  Device device() const { return header().device; }
  bool is_c_contiguous() const { return header().c_contiguous; }
  bool is_f_contiguous() const;
  bool owndata() const { return header().base == nullptr; }  // see Flags
  // Returns the array of which this one is a view, directly or through other views; a null array if it is not a view.
  Array base() const;
  Flags flags() const { return {is_c_contiguous(), is_f_contiguous(), owndata()}; }
  // True if both arrays have bytes in common, or if that is very costly to determine.
  bool shares_memory(const Array& o) const;
  std::int64_t len() const;  // length of axis 0; TypeError for a 0-d array
  // Number of writes to the memory that this array views.
  std::uint64_t version() const;

  // ---- elements ----
  // Pointer to the first logical element, in the memory of device(). If E is not const, the array counts as written:
  // its version is incremented once, by this call. TypeError if E is not the element type.
  template <class E> E* data() const {
    check_element_type(catena::dtype_of<std::remove_const_t<E>>, "data");
    if constexpr (!std::is_const_v<E>) expose();
    return reinterpret_cast<E*>(header().data);
  }
  // The same position as a pointer into the block of memory, which keeps the block alive; null for an array without
  // elements, which owns no memory. The array counts as written.
  MemoryPointer data() const;
  // Returns the array as kernels receive it: pointer, size, shape and strides (core/carray.h). TypeError if E is not
  // the element type, ValueError if N is not the rank. Unless E is const, the array counts as written.
  template <class E, int N> CArray<E, N> cstruct() const;
  // Returns the only element, converted to E by the library's rules. ValueError if the size is not 1. Waits for the
  // device.
  template <class E> E item() const {
    E value{};
    item_to(catena::dtype_of<E>, &value);
    return value;
  }
  Scalar item() const;  // the only element as a host scalar, with which numbers calculate: a.item() + 1
  // The element at these positions, item<double>(0, 1), or, with one position, in the flattened array. IndexError if
  // there is no such element, ValueError for a wrong number of positions.
  template <class E, std::integral... I>
  requires(sizeof...(I) > 0) E item(I... at)
  const { return element(Dims{at...}).template item<E>(); }
  template <int&..., std::integral... I>
  requires(sizeof...(I) > 0) Scalar item(I... at)
  const;
  // double(a), int(a): item<E>(), but TypeError if the size is not 1.
  template <class E>
  requires(std::is_arithmetic_v<E> && !std::is_same_v<E, bool>) explicit operator E() const {
    if (size() != 1) [[unlikely]]
      throw_no_number();
    return item<E>();
  }
  // The element at these positions, to be read or written: a.at<double>(0, 1) = 3. TypeError if E is not the element
  // type, ValueError for a wrong number of positions or an array that is not in host memory, IndexError if there is no
  // such element. Unless E is const, the array counts as written.
  template <class E, std::integral... I> E& at(I... positions) const {
    check_element_type(catena::dtype_of<std::remove_const_t<E>>, "at");
    const std::int64_t list[sizeof...(I) + 1] = {static_cast<std::int64_t>(positions)...};
    if constexpr (!std::is_const_v<E>) expose();
    return *reinterpret_cast<E*>(address_of(list, sizeof...(I)));
  }
  // All elements in C order, converted to E. Waits for the device.
  template <class E> std::vector<E> to_vector() const;
  // Checked access from the host: auto v = a.accessor<float, 2>(); v(i, j) = 1. TypeError if E is not the element type,
  // ValueError if N is not the rank or the array is not in host memory; v(i, j) throws IndexError. The accessor keeps
  // the memory alive. Use E = const float for reading; otherwise this call increments the version.
  template <class E, int N> Accessor<E, N> accessor() const { return Accessor<E, N>(*this); }
  // Truth value: false for an empty array, element != 0 for one element, ValueError for more. Waits for the device.
  explicit operator bool() const;

  // ---- basic indexing: always a view ----
  // a(0), a(Slice(1, 5)), a(ellipsis, newaxis, -1)... IndexError for an integer out of range or too many keys;
  // ValueError for a second ellipsis or a step of 0. Missing trailing keys are full slices.
  template <std::convertible_to<Key>... K> Array operator()(const K&... keys) const {
    const std::array<Key, sizeof...(K)> list{Key(keys)...};
    return index(list);
  }
  template <std::convertible_to<Key> K> Array operator[](const K& key) const { return (*this)(key); }
  Array index(std::span<const Key> keys) const;  // in routines/indexing.cpp

  // ---- iteration over axis 0: for (nd::Array row : a), views; TypeError for a 0-d array ----
  class Iterator;
  Iterator begin() const;
  Iterator end() const;

  // ---- advanced indexing: see routines/indexing.h ----
  // For keys with integer arrays or masks: returns a proxy that reads as a copy and writes through.
  class IndexProxy;
  template <class... K>
  requires(internal::advanced_keys<K...>) IndexProxy operator()(const K&... keys) const;
  template <class K>
  requires(internal::advanced_keys<K>) IndexProxy operator[](const K& key) const;
  // Lists of indices: a({0, 2}), a(_, {0, 2}), a({0, 1}, {2, 3}), a[{0, 2}].
  IndexProxy operator()(std::initializer_list<catena::Integer> list) const;
  IndexProxy operator[](std::initializer_list<catena::Integer> list) const;
  IndexProxy operator()(std::initializer_list<catena::Integer> first,
                        std::initializer_list<catena::Integer> second) const;
  template <class K> IndexProxy operator()(const K& first, std::initializer_list<catena::Integer> second) const;
  template <class K> IndexProxy operator()(std::initializer_list<catena::Integer> first, const K& second) const;

  // ---- shape: views where the strides allow it ----
  // Elements are read and placed in C order, or in Fortran order; A chooses by the layout of the array, K is a
  // ValueError. One length may be -1. ValueError if the sizes differ. Copies if the strides do not allow a view.
  Array reshape(const Shape& shape, OrderLike order = Order::C) const;
  template <std::integral... I>
  requires(sizeof...(I) > 1) Array reshape(I... lengths)
  const { return reshape(Shape{static_cast<std::int64_t>(lengths)...}); }
  // Gives the array itself another shape, for all handles to it, without a copy; one length may be -1. ValueError if
  // the sizes differ, AttributeError if the strides do not allow it; the array is unchanged then. (NumPy's a.shape =
  // ...) No other thread may use the array during the call.
  void set_shape(const Shape& shape) const;
  Array transpose() const;  // axes reversed
  // ValueError for a wrong number of axes or a repeated axis; IndexError for an axis out of range.
  Array transpose(const Dims& axes) const;
  // Two integers exchange these axes of an array of a higher rank, as in PyTorch.
  template <std::integral... I>
  requires(sizeof...(I) > 1) Array transpose(I... axes)
  const {
    if constexpr (sizeof...(I) == 2)
      if (ndim() > 2) return swapaxes(static_cast<int>(axes)...);
    return transpose(Dims{static_cast<std::int64_t>(axes)...});
  }
  Array T() const { return transpose(); }
  Array swapaxes(int axis1, int axis2) const;       // ValueError for an axis out of range
  Array ravel(OrderLike order = Order::C) const;    // reshape(-1); K: in the order of the elements in memory
  Array flatten(OrderLike order = Order::C) const;  // as ravel, but always a copy
  Array squeeze(const Axes& axes = {}) const;       // ValueError if a given axis is longer than 1 or out of range
  // PyTorch's names: expand_dims (in routines/manipulation.cpp) and transpose.
  Array unsqueeze(int axis) const;
  Array permute(const Dims& axes) const { return transpose(axes); }
  template <std::integral... I>
  requires(sizeof...(I) > 1) Array permute(I... axes)
  const { return transpose(Dims{static_cast<std::int64_t>(axes)...}); }
  Array view() const;  // a new header over the same memory
  // The same bytes as elements of another dtype. If the itemsizes differ, the last axis is rescaled: ValueError unless
  // the array is C-contiguous and the bytes of that axis are a multiple of the new itemsize.
  Array view(Dtype dtype) const;
  // Returns a view of the same elements with the fewest axes, as `dtype` if one is given: axes of length 1 are dropped
  // and neighbouring axes that are contiguous with each other are merged. An array of rank >= 2 becomes 0-d if it has
  // one element, and gets the shape (0,) if it has none. Returns the array itself if nothing changes.
  Array reduced_view(std::optional<Dtype> dtype = {}) const;
  // The parts of complex elements as arrays of floats. `imag` of a real array is a new array of zeros.
  Array real() const;
  Array imag() const;

  // ---- copies ----
  Array copy(OrderLike order = Order::C) const;  // on the device of this array
  Array clone() const { return copy(); }
  Array contiguous() const { return is_c_contiguous() ? *this : copy(); }
  // Casts the elements unsafely, in options.order. Returns the same array if options.copy is false and dtype and layout
  // already match (any layout does if the order is C or K).
  Array astype(Dtype dtype, const AstypeOptions& options = {}) const;
  Array astype(std::string_view dtype, const AstypeOptions& options = {}) const {  // "float32", "f4"
    return astype(dtype_from_name(dtype), options);
  }
  template <Element E>
  Array astype(const AstypeOptions& options = {}) const {  // astype<int>() gives int32, as C++'s int
    return astype(catena::dtype_of<E>, options);
  }
  Array to_device(Device device) const;  // the same array if it is there already
  // PyTorch's to(): a dtype, a device, or "cpu", "cuda", "cuda:1" (ValueError for other texts). The same array if
  // nothing changes.
  Array to(Dtype dtype) const;
  Array to(Device device) const { return to_device(device); }
  Array to(std::string_view device) const;
  Array cpu() const { return to_device({}); }
  // Returns a new array in host memory, in C order. With a stream, the copy is enqueued there and complete after
  // stream.synchronize(); otherwise waits for the device. (CuPy's get(); nd::asnumpy is the free function.)
  Array to_host() const;
  Array to_host(const Stream& stream) const;
  // Overwrites the elements with the elements of an array in host memory. With a stream, the copy is enqueued there,
  // and `host` must not change until the stream is synchronised. TypeError if `host` is not in host memory or its dtype
  // differs, ValueError if its shape differs, RuntimeError if this array is not C-contiguous.
  void set(const Array& host) const;
  void set(const Array& host, const Stream& stream) const;
  // Sets every element to `value`, cast unsafely.
  void fill(const Scalar& value) const;

  // ---- files and lists: in routines/io.cpp, routines/list.cpp; all wait for the device ----
  // Writes the elements in C order: their bytes if `sep` is empty, else their texts with `sep` between them. `format`
  // is a format of Python with one conversion: "%s" (the shortest text that identifies the element), "%d", "%.3f",
  // "%10.2e"...; ValueError for others. IOError if the file cannot be written.
  void tofile(const std::string& path, std::string_view sep = "", std::string_view format = "%s") const;
  void tofile(std::ostream& out, std::string_view sep = "", std::string_view format = "%s") const;
  std::string tobytes(OrderLike order = Order::C) const;  // the elements of ravel(order)
  void dump(const std::string& path) const;               // as an npy file of exactly that name; nd::load reads it
  std::string dumps() const;                              // the content of that file
  List tolist() const;                                    // nested lists of numbers; for a 0-d array, its number

  // ---- calculation: see the free functions of the same names ----
  // The reductions (kernels/lists/members.inc): a.sum(), a.sum(0), a.sum({0, 1}), a.sum(0, nd::float64),
  // a.sum(0, {.keepdims = true}), a.sum({.axis = 0})
#define CATENA_MEMBER(name, Options)        \
  Array name() const;                       \
  Array name(const Options& options) const; \
  template <class O = Options> Array name(const Axes& axis, const O& more = {}) const;
#include <catena/kernels/lists/members.inc>
#undef CATENA_MEMBER
  Array cumsum(std::optional<int> axis = {}, std::optional<Dtype> dtype = {}) const;  // in routines/scan.cpp
  Array cumprod(std::optional<int> axis = {}, std::optional<Dtype> dtype = {}) const;
  Array clip(const Operand& a_min, const Operand& a_max) const;
  Array clip(const Operand& a_min, const Operand& a_max, const UfuncOptions& options) const;
  template <class Bound = std::optional<Operand>>
  Array clip(const std::type_identity_t<Bound>& a_min, const std::type_identity_t<Bound>& a_max) const {
    return clip_to_bounds(a_min, a_max);
  }
  Array conjugate() const;
  Array conj() const { return conjugate(); }
  Array round(int decimals = 0) const;  // in routines/math.cpp
  Array dot(const Array& b) const;      // in routines/linalg.cpp
  Array dot(const Array& b, const DotOptions& options) const;
  Array take(const IndexKey& indices, std::optional<int> axis = {}) const;  // in routines/indexing.cpp
  Array take(const IndexKey& indices, const TakeOptions& options) const;
  Array compress(const Array& condition, std::optional<int> axis = {}) const;
  Array compress(const Array& condition, const CompressOptions& options) const;
  Array choose(const std::vector<Array>& choices) const;
  Array choose(const std::vector<Array>& choices, const ChooseOptions& options) const;
  void scatter_add(std::span<const IndexKey> keys, const Operand& value) const;
  template <class K = IndexKey>
  void scatter_add(std::initializer_list<std::type_identity_t<K>> keys, const Operand& value) const {
    scatter_add(std::span<const K>(keys.begin(), keys.size()), value);
  }
  void scatter_add(std::initializer_list<catena::Integer> indices, const Operand& value) const;
  void scatter_add(const IndexKey& key, const Operand& value) const;
  Array diagonal(std::int64_t offset = 0, int axis1 = 0, int axis2 = 1) const;
  Array trace(std::int64_t offset = 0, int axis1 = 0, int axis2 = 1) const;  // in routines/linalg.cpp
  Array trace(std::int64_t offset, int axis1, int axis2, const TraceOptions& options) const;
  Array norm(double p = 2) const;                                          // linalg::norm of all elements as one vector
  Array repeat(std::int64_t repeats, std::optional<int> axis = {}) const;  // in routines/manipulation.cpp
  std::vector<Array> nonzero() const;                                      // in routines/sorting.cpp
  Array argsort(std::optional<int> axis = -1) const;
  Array argpartition(std::int64_t kth, std::optional<int> axis = -1) const;
  Array searchsorted(const Operand& values, std::string_view side = "left") const;
  // Sorts the elements along an axis in place, in the order of nd::sort.
  void sort(int axis = -1) const;

  // ---- operators: the ufuncs add, subtract, multiply, true_divide, remainder, bitwise_*, *_shift, equal, less... ----
  // The result may reuse the memory of an operand that is an rvalue and holds the only reference to its array.
  // On a const handle: write k(nd::ellipsis) += x.
  friend CATENA_EXPORT Array operator+(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator-(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator*(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator/(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator%(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator&(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator|(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator^(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator<<(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator>>(const Operand&, const Operand&);
  Array& operator+=(const Operand& b) &;
  Array& operator-=(const Operand& b) &;
  Array& operator*=(const Operand& b) &;
  Array& operator/=(const Operand& b) &;
  Array& operator%=(const Operand& b) &;
  Array& operator&=(const Operand& b) &;
  Array& operator|=(const Operand& b) &;
  Array& operator^=(const Operand& b) &;
  Array& operator<<=(const Operand& b) &;
  Array& operator>>=(const Operand& b) &;
  void operator+=(const Operand& b) &&;
  void operator-=(const Operand& b) &&;
  void operator*=(const Operand& b) &&;
  void operator/=(const Operand& b) &&;
  void operator%=(const Operand& b) &&;
  void operator&=(const Operand& b) &&;
  void operator|=(const Operand& b) &&;
  void operator^=(const Operand& b) &&;
  void operator<<=(const Operand& b) &&;
  void operator>>=(const Operand& b) &&;
  void operator+=(const Operand& b) const& = delete;
  void operator-=(const Operand& b) const& = delete;
  void operator*=(const Operand& b) const& = delete;
  void operator/=(const Operand& b) const& = delete;
  void operator%=(const Operand& b) const& = delete;
  void operator&=(const Operand& b) const& = delete;
  void operator|=(const Operand& b) const& = delete;
  void operator^=(const Operand& b) const& = delete;
  void operator<<=(const Operand& b) const& = delete;
  void operator>>=(const Operand& b) const& = delete;
  // Comparisons give bool arrays; == does not test identity.
  friend CATENA_EXPORT Array operator==(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator!=(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator<(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator<=(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator>(const Operand&, const Operand&);
  friend CATENA_EXPORT Array operator>=(const Operand&, const Operand&);
  Array operator-() const;
  Array operator~() const;
  Array operator+() const { return copy(); }

 private:
  const catena::ArrayHeader& header() const {
    if (h_ == nullptr) [[unlikely]]
      throw_null();
    return *h_;
  }
  [[noreturn]] static void throw_null();
  friend class Operand;
  // The n elements of dtype `stored` as an array of rank 1; in routines/creation.cpp.
  static Array of_elements(const void* data, std::size_t n, Dtype stored, Dtype dtype);
  void copy_shape(std::int64_t* lengths, int rank) const;
  void check_element_type(Dtype t, const char* op) const {
    if (dtype() != t) [[unlikely]]
      throw_element_type(t, op);
  }
  [[noreturn]] void throw_element_type(Dtype t, const char* op) const;
  void expose() const;
  std::byte* address_of(const std::int64_t* positions, int n) const;  // in core/array.cpp
  void item_to(Dtype t, void* value) const;
  [[noreturn]] void throw_no_number() const;
  Array element(const Dims& at) const;             // a view of rank 0; in routines/indexing.cpp
  void assign_values(const Values& values) const;  // in routines/creation.cpp
  Array clip_to_bounds(const std::optional<Operand>& a_min, const std::optional<Operand>& a_max) const;
};

// For elements, write a & b or a | b; for truth values of whole arrays, a.all() & b.all().
template <std::same_as<Array> A, std::same_as<Array> B> void operator&&(const A&, const B&) = delete;
template <std::same_as<Array> A, std::same_as<Array> B> void operator||(const A&, const B&) = delete;

// ---- operands ---------------------------------------------------------------------------------------
// An argument of elementwise functions, for the duration of a call: an array or a host scalar. Scalars are weakly
// typed: they do not promote an array of their kind.
class Operand {
 public:
  Operand(const Array& a) : array_(a.get()) {
    if (!array_) [[unlikely]]
      throw_null();
  }
  Operand(Array&& a) : Operand(static_cast<const Array&>(a)) { expiring_ = &a; }
  // Takes the handle of another library to an array of ndarray; ValueError for an array that ndarray did not make.
  template <std::derived_from<catena::HeaderRef> H>
  requires(!std::derived_from<H, Array>) Operand(const H& handle) : array_(checked(handle)) {}
  Operand(const Scalar& s) noexcept : scalar_(s) {}
  template <Element E> Operand(E value) noexcept : scalar_(value) {}
  // add(a, {1, 2, 3}), a + vector: as nd::array of the list.
  template <Element E> Operand(std::initializer_list<E> list) : held_(list), array_(held_.get()) {}
  template <Element E>
  requires(!std::same_as<E, bool>) Operand(const std::vector<E>& list)
      : held_(Array::of_elements(list.data(), list.size(), catena::dtype_of<E>, catena::dtype_of<E>)),
        array_(held_.get()) {}

  bool is_array() const noexcept { return array_ != nullptr; }
  catena::ArrayHeader* header() const noexcept { return array_; }  // null for a scalar
  Array array() const noexcept {                                   // a new handle to the array
    array_->refs.fetch_add(1, catena::MemoryOrder::relaxed);
    return Array(array_);
  }
  const Scalar& scalar() const noexcept { return scalar_; }
  Array* expiring() const noexcept { return expiring_; }  // the handle if it was passed as an rvalue, else null
  operator catena::Input() const noexcept { return array_ ? catena::Input(*array_) : catena::Input(scalar_); }

 private:
  [[noreturn]] CATENA_EXPORT static void throw_null();
  CATENA_EXPORT static catena::ArrayHeader* checked(const catena::HeaderRef& handle);

  Array held_;  // of a list; null otherwise
  catena::ArrayHeader* array_ = nullptr;
  Scalar scalar_;
  Array* expiring_ = nullptr;
};

// An operand in whose place options in braces may stand: it is not constructed from braces.
struct UnbracedOperand : Operand {
  template <class T>
  requires(std::convertible_to<T, Operand>) UnbracedOperand(T&& x) : Operand(std::forward<T>(x)) {}
};

// ---- typed access from the host -----------------------------------------------------------------
namespace internal {
CATENA_EXPORT void check_accessor(const Array& a, Dtype dtype, int rank);
[[noreturn]] CATENA_EXPORT void throw_accessor_index(int axis, std::int64_t index, std::int64_t length);
}  // namespace internal

// Elements of an array in host memory as a C++ object with N indices, made by Array::accessor, which says what is
// checked.
template <class E, int N> class Accessor {
 public:
  explicit Accessor(const Array& a) : hold_(a) {
    internal::check_accessor(a, catena::dtype_of<std::remove_const_t<E>>, N);
    data_ = reinterpret_cast<Byte*>(a.data<E>());
    for (int i = 0; i < N; ++i) {
      shape_[i] = a.shape()[i];
      strides_[i] = a.strides()[i];
    }
  }

  std::int64_t shape(int axis) const noexcept { return shape_[axis]; }
  template <std::integral... I>
  requires(sizeof...(I) == N) E& operator()(I... indices) const {
    const std::int64_t at[std::size_t(N > 0 ? N : 1)] = {static_cast<std::int64_t>(indices)...};
    std::int64_t offset = 0;
    for (int i = 0; i < N; ++i) {
      if (at[i] < 0 || at[i] >= shape_[i]) [[unlikely]]
        internal::throw_accessor_index(i, at[i], shape_[i]);
      offset += at[i] * strides_[i];
    }
    return *reinterpret_cast<E*>(data_ + offset);
  }

 private:
  using Byte = std::conditional_t<std::is_const_v<E>, const std::byte, std::byte>;
  Array hold_;
  Byte* data_;
  std::int64_t shape_[std::size_t(N > 0 ? N : 1)], strides_[std::size_t(N > 0 ? N : 1)];
};

// ---- for implementations ------------------------------------------------------------------------
namespace internal {

// Returns a view of `base` with any shape and strides within its storage; its first element is offset_bytes behind the
// first element of `base`. Nothing is checked. A view without elements points at the first element of `base` (never
// outside the storage).
CATENA_EXPORT Array make_view(const Array& base, const Shape& shape, const Strides& strides, std::int64_t offset_bytes,
                              Dtype dtype);
inline Array make_view(const Array& base, const Shape& shape, const Strides& strides, std::int64_t offset_bytes = 0) {
  return make_view(base, shape, strides, offset_bytes, base.dtype());
}
// ValueError for an array that ndarray did not make.
CATENA_EXPORT void check_owner(std::string_view op, const catena::HeaderRef& a);
// to[...] = from: broadcasts, casts unsafely, resolves overlap, increments the version. ValueError if the arrays are on
// two devices. Messages begin with `op`.
CATENA_EXPORT void assign(std::string_view op, const Array& to, const Operand& from);
// Copies all elements in C order and in the array's own dtype, to or from host memory. Both wait for the device.
CATENA_EXPORT void to_host(const Array& a, void* c_order);
CATENA_EXPORT void from_host(const Array& a, const void* c_order);
// Returns a new array whose elements are adjacent in that order; TypeError for orders that depend on an array.
CATENA_EXPORT Array empty_in_order(const Shape& shape, Dtype dtype, Device device, Order order,
                                   std::string_view op = "array");
// As empty_in_order, with the shape of `a`; the orders A and K refer to the layout of `a`.
CATENA_EXPORT Array empty_in_order_of(const Array& a, Dtype dtype, Device device, Order order);
// True if the elements of `a` are adjacent in that order.
CATENA_EXPORT bool is_in_order(const Array& a, Order order);
// Returns `a` itself if it is C-contiguous, otherwise a C-order copy on the same device.
CATENA_EXPORT Array contiguous(const Array& a);

}  // namespace internal

template <class E> std::vector<E> Array::to_vector() const try {
  const Array same = astype(catena::dtype_of<E>, {.copy = false});
  std::vector<E> values(static_cast<std::size_t>(size()));
  if constexpr (std::is_same_v<E, bool>) {  // std::vector<bool> packs its elements
    std::vector<unsigned char> bytes(values.size());
    internal::to_host(same, bytes.data());
    values.assign(bytes.begin(), bytes.end());
  } else {
    internal::to_host(same, values.data());
  }
  return values;
} catch (...) {
  catena::rethrow_standard("to_vector");
}

class Array::Iterator {
 public:
  using value_type = Array;
  using difference_type = std::int64_t;
  Iterator() = default;
  Iterator(const Array& a, std::int64_t at) : array_(a), at_(at) {}
  Array operator*() const { return array_(at_); }
  Iterator& operator++() {
    ++at_;
    return *this;
  }
  Iterator operator++(int) { return {array_, at_++}; }
  friend bool operator==(const Iterator& a, const Iterator& b) noexcept { return a.at_ == b.at_; }

 private:
  Array array_;
  std::int64_t at_ = 0;
};
template <int&..., std::integral... I>
requires(sizeof...(I) > 0) Scalar Array::item(I... at)
const { return element(Dims{at...}).item(); }
inline Array::Iterator Array::begin() const { return len(), Iterator(*this, 0); }
inline Array::Iterator Array::end() const { return Iterator(*this, len()); }

}  // namespace nd

// Parts of this header's interface.
#include <catena/ndarray/core/options.h>
#include <catena/ndarray/core/wrap.h>
