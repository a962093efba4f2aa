// Folder ndarray/routines/: the functions that users call, by NumPy's chapters: creation, manipulation, joining,
// indexing, math, reduction, statistics, sorting, linalg, random, io, print. A routine checks its arguments and creates
// calls; ndarray/engine/ launches them. May use kernels/, ndarray/core/, ndarray/device/ and ndarray/engine/; random
// also cuRAND through ndarray/cuda/vendor/.
//
// This header: new arrays by shape, from host data, of ranges, and matrices. Results are on the current device and,
// unless stated otherwise, C-contiguous.
//
// ValueError for a shape with a negative length or too many elements, OutOfMemoryError if there is not enough memory.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

class Values;

struct CreateOptions {
  std::optional<Dtype> dtype = {};
  OrderLike order = Order::C;
};
struct LikeOptions {
  std::optional<Dtype> dtype = {};  // default: the dtype of the array
  OrderLike order = Order::C;       // A and K: the layout of the array
  std::optional<Shape> shape = {};  // default: the shape of the array; with a shape, K is C
};
struct ArrayOptions {
  std::optional<Dtype> dtype = {};
  bool copy = true;
  int ndmin = 0;               // minimal rank: axes of length 1 are prepended
  OrderLike order = Order::C;  // with copy = false: K accepts any layout
};
struct EyeOptions {
  std::optional<std::int64_t> M = {};  // columns; default: N
  std::int64_t k = 0;                  // number of the diagonal; above the main one for k > 0
  Dtype dtype = Dtype::float64;
  OrderLike order = Order::C;
};
struct LinspaceOptions {
  bool endpoint = true;
  std::optional<Dtype> dtype = {};
};
struct LogspaceOptions {
  bool endpoint = true;
  double base = 10.0;
  std::optional<Dtype> dtype = {};
};
struct MeshgridOptions {
  std::string_view indexing = "xy";  // or "ij"
  bool copy = true;                  // false: broadcast views instead of copies
  bool sparse = false;               // an open grid: every array has length 1 along the axes of the others
};

namespace internal {
// Converts the last argument of a creation function, a dtype, its name or options, to Options. A list {...} is Options.
template <class Options> const Options& with_dtype(const Options& options) { return options; }
template <class Options> Options with_dtype(std::optional<Dtype> dtype) {
  Options options;
  options.dtype = dtype;
  return options;
}
template <class Options> Options with_dtype(std::string_view name) {
  return with_dtype<Options>(std::optional(dtype_from_name(name)));
}
template <class O, class Options>
concept DtypeOr = std::is_same_v<O, Options> || std::is_convertible_v<const O&, std::optional<Dtype>> ||
    std::is_convertible_v<const O&, std::string_view>;
// Returns the dtype for a C++ type, as in NumPy: int64 for int, otherwise the dtype of the type.
template <class E> constexpr Dtype literal_dtype() {
  if constexpr (std::is_same_v<E, int>) return Dtype::int64;
  else return catena::dtype_of<E>;
}
template <class E> constexpr Dtype literal_dtype(const E& value) {
  if constexpr (std::is_same_v<E, float>) {
    if (!(value - value == 0)) return Dtype::float64;  // NAN, INFINITY
  }
  return literal_dtype<E>();
}

CATENA_EXPORT Array empty(const Shape& shape, const CreateOptions& options);
CATENA_EXPORT Array zeros(const Shape& shape, const CreateOptions& options);
CATENA_EXPORT Array ones(const Shape& shape, const CreateOptions& options);
CATENA_EXPORT Array full(const Shape& shape, const Scalar& value, const CreateOptions& options);
CATENA_EXPORT Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, const CreateOptions& options);
CATENA_EXPORT Array empty_like(const Array& a, const LikeOptions& options);
CATENA_EXPORT Array full_like(const Array& a, const Scalar& value, const LikeOptions& options,
                              const char* op = "full_like");
CATENA_EXPORT Array from_elements(const void* data, Dtype data_dtype, const Shape& shape, const ArrayOptions& options);
CATENA_EXPORT Array from_values(const Values& values, const Shape& shape, const ArrayOptions& options);
CATENA_EXPORT Array from_array(const Array& a, const ArrayOptions& options);
CATENA_EXPORT Array from_scalar(const Scalar& value, const ArrayOptions& options);
CATENA_EXPORT Array from_arrays(const std::vector<Array>& arrays);

// std::vector and similar classes: containers of elements, or of such containers.
template <class C>
concept Container = requires(const C& c) {
  typename C::value_type;
  c.begin();
  c.end();
  c.size();
};
template <class C> struct nested {};
template <Element E> struct nested<E> { using type = E; };
template <Container C>
requires(!Element<C>) struct nested<C> : nested<std::remove_cv_t<typename C::value_type>> {
};
template <class C> using nested_element = typename nested<C>::type;
template <class C>
concept NestedContainer = Container<C> && !Element<C> && requires {
  typename nested<C>::type;
};
template <class C>
concept ContiguousElements = Element<typename C::value_type> && requires(const C& c) {
  static_cast<const typename C::value_type*>(c.data());
};
template <class I>
concept Iterator = !Element<I> && requires(I i, I j) {
  { *i } -> std::convertible_to<Scalar>;
  ++i;
  { i != j } -> std::convertible_to<bool>;
};
}  // namespace internal

// ---- by shape: float64 unless a dtype is given --------------------------------------------------
// zeros(3)  zeros({2, 3})  zeros({v.size(), 3}, nd::float32)  zeros({2, 3}, {.order = nd::Order::F})
template <internal::DtypeOr<CreateOptions> O = CreateOptions>
Array empty(const Shape& shape, const O& options = {}) {  // uninitialised
  return internal::empty(shape, internal::with_dtype<CreateOptions>(options));
}
template <internal::DtypeOr<CreateOptions> O = CreateOptions> Array zeros(const Shape& shape, const O& options = {}) {
  return internal::zeros(shape, internal::with_dtype<CreateOptions>(options));
}
template <internal::DtypeOr<CreateOptions> O = CreateOptions> Array ones(const Shape& shape, const O& options = {}) {
  return internal::ones(shape, internal::with_dtype<CreateOptions>(options));
}
// empty(2, 3), and empty<float>({2, 3}) of a C++ type. (The parameter without a name keeps the types of the lengths
// from being given as arguments of the template.)
#define ND_BY_LENGTHS(name)                                                                                          \
  template <int&..., std::integral I, std::integral J, std::integral... K> Array name(I length, J next, K... more) { \
    return internal::name(Shape{length, next, more...}, CreateOptions{});                                            \
  }                                                                                                                  \
  template <Element E> Array name(const Shape& shape) {                                                              \
    return internal::name(shape, internal::with_dtype<CreateOptions>(catena::dtype_of<E>));                          \
  }
ND_BY_LENGTHS(empty)
ND_BY_LENGTHS(zeros)
ND_BY_LENGTHS(ones)
#undef ND_BY_LENGTHS

// These have the shape and (unless given) the dtype of `a`; C order unless another one is given, on the current device.
template <internal::DtypeOr<LikeOptions> O = LikeOptions> Array empty_like(const Array& a, const O& options = {}) {
  return internal::empty_like(a, internal::with_dtype<LikeOptions>(options));
}
template <internal::DtypeOr<LikeOptions> O = LikeOptions>
Array full_like(const Array& a, const Scalar& value, const O& options = {}) {
  return internal::full_like(a, value, internal::with_dtype<LikeOptions>(options));
}
template <internal::DtypeOr<LikeOptions> O = LikeOptions> Array zeros_like(const Array& a, const O& options = {}) {
  return internal::full_like(a, 0, internal::with_dtype<LikeOptions>(options), "zeros_like");
}
template <internal::DtypeOr<LikeOptions> O = LikeOptions> Array ones_like(const Array& a, const O& options = {}) {
  return internal::full_like(a, 1, internal::with_dtype<LikeOptions>(options), "ones_like");
}

// Every element is `value`. Unless given, the dtype is the one of the value: int64 for an int, float32 for a float,
// float64 for a double... NAN and INFINITY, which are floats in C, give float64, as every float that is not finite.
template <internal::DtypeOr<CreateOptions> O = CreateOptions>
Array full(const Shape& shape, const Scalar& value, const O& options = {}) {
  return internal::full(shape, value, internal::with_dtype<CreateOptions>(options));
}
template <Element E, internal::DtypeOr<CreateOptions> O = CreateOptions>
Array full(const Shape& shape, E value, const O& options = {}) {
  CreateOptions o = internal::with_dtype<CreateOptions>(options);
  if (!o.dtype) o.dtype = internal::literal_dtype(value);
  return internal::full(shape, Scalar(value), o);
}

// ---- from data ----------------------------------------------------------------------------------
namespace internal {
// Lists in braces of up to six levels. A list with more levels must not compile: C++ would drop the outermost pair of
// braces until the rest fits, so every class that is constructed from lists deletes the constructor for seven levels.
// (Macros, because clang 14 does not deduce T through alias templates.)
#define ND_LIST1(T) std::initializer_list<T>
#define ND_LIST2(T) std::initializer_list<ND_LIST1(T)>
#define ND_LIST3(T) std::initializer_list<ND_LIST2(T)>
#define ND_LIST4(T) std::initializer_list<ND_LIST3(T)>
#define ND_LIST5(T) std::initializer_list<ND_LIST4(T)>
#define ND_LIST6(T) std::initializer_list<ND_LIST5(T)>
#define ND_LIST7(T) std::initializer_list<ND_LIST6(T)>
// An item of a list of numbers of several types. Unlike a Scalar, it cannot be constructed from braces around two
// numbers, which would be a complex number.
struct Number {
  Scalar value;
  template <class E>
  requires(Element<E> || std::is_same_v<E, Scalar>) Number(E number) : value(number) {}
};
}  // namespace internal

// Host data as an argument of array(), for the duration of the call: lists, vectors, spans, std::array and arrays of
// numbers, and lists and vectors of these (ValueError if they differ in length). Integers in lists give int64, as in
// NumPy, and a list of mixed numbers has the dtype that holds them all: {1, 2.5} is float64. Otherwise the dtype is the
// one of the element type.
class Values {
 public:
  template <Element E>
  Values(std::initializer_list<E> list)
      : Values(list.begin(), catena::dtype_of<E>, internal::literal_dtype<E>(), Shape(list.size()), true) {}
  // A template, so that {{1}, {2.5}} is a list of lists, although a single number can also be written in braces.
  template <class N = internal::Number> Values(std::initializer_list<std::type_identity_t<N>> mixed) {
    add_mixed(mixed);
  }
#define ND_NESTED(List)                                                                                            \
  template <Element E> Values(List(E) nested) : in_braces_(true) { add<E>(nested, internal::literal_dtype<E>()); } \
  Values(List(internal::Number) mixed) { add_mixed(mixed); }
  ND_NESTED(ND_LIST2)
  ND_NESTED(ND_LIST3)
  ND_NESTED(ND_LIST4)
  ND_NESTED(ND_LIST5)
  ND_NESTED(ND_LIST6)
#undef ND_NESTED
  template <Element E> Values(ND_LIST7(E)) = delete;
  Values(ND_LIST7(internal::Number)) = delete;
  template <Element E, std::size_t N>
  Values(const E (&elements)[N]) : Values(elements, catena::dtype_of<E>, catena::dtype_of<E>, Shape(N), false) {}
  // A container of elements, or of such containers.
  template <internal::NestedContainer C> Values(const C& list) {
    using E = internal::nested_element<C>;
    if constexpr (internal::ContiguousElements<C>) refer(list.data(), catena::dtype_of<E>, list.size());
    else add<E>(list, catena::dtype_of<E>);
  }

  const void* data() const noexcept { return data_ != nullptr ? data_ : copy_.data(); }
  Dtype stored() const noexcept { return stored_; }  // dtype of the elements at data()
  Dtype dtype() const noexcept { return dtype_; }    // dtype of the array, unless another one is requested
  const Shape& shape() const noexcept { return shape_; }
  bool in_braces() const noexcept { return in_braces_; }  // the values are from a list in braces, not from a container

 private:
  Values(const void* data, Dtype stored, Dtype dtype, const Shape& shape, bool in_braces)
      : data_(data), stored_(stored), dtype_(dtype), shape_(shape), in_braces_(in_braces) {}
  void refer(const void* data, Dtype dtype, std::size_t n) {
    data_ = data;
    stored_ = dtype_ = dtype;
    shape_ = n;
  }
  template <class E, class List> void add(const List& list, Dtype dtype) {
    stored_ = catena::dtype_of<E>;
    dtype_ = dtype;
    add_level<E>(list, 0);
  }
  template <class E, class List> void add_level(const List& list, int depth) {
    enter(list.size(), depth);
    for (const auto& item : list) {
      if constexpr (std::is_convertible_v<decltype(item), E>) {
        const E value = item;
        append(&value, sizeof(E));
      } else {
        add_level<E>(item, depth + 1);
      }
    }
  }
  // A list of numbers of several types.
  template <class List> void add_mixed(const List& list) {
    in_braces_ = true;
    std::optional<Dtype> common;
    widen(list, common);
    stored_ = dtype_ = common.value_or(Dtype::float64);
    add_scalars(list, 0);
  }
  CATENA_EXPORT static void widen(const std::initializer_list<internal::Number>& list, std::optional<Dtype>& common);
  template <class List> static void widen(const List& list, std::optional<Dtype>& common) {
    for (const auto& item : list) widen(item, common);
  }
  CATENA_EXPORT void add_scalars(const std::initializer_list<internal::Number>& list, int depth);
  template <class List> void add_scalars(const List& list, int depth) {
    enter(list.size(), depth);
    for (const auto& item : list) add_scalars(item, depth + 1);
  }
  CATENA_EXPORT void enter(std::size_t length,
                           int depth);  // ValueError if another list of that depth had another length
  CATENA_EXPORT void append(const void* element, std::size_t bytes);

  const void* data_ = nullptr;  // null: the elements are in copy_
  Dtype stored_ = Dtype::float64, dtype_ = Dtype::float64;
  Shape shape_;
  bool in_braces_ = false;
  std::vector<std::byte> copy_;
};

// An array, a number or a list of numbers as an argument. Numbers and lists become arrays in host memory.
class ArrayLike {
 public:
  ArrayLike(const Array& a) : array_(a), is_array_(true) {}
  template <std::derived_from<catena::HeaderRef> H>
  requires(!std::derived_from<H, Array> && std::convertible_to<const H&, Array>) ArrayLike(const H& a)
      : ArrayLike(Array(a)) {}
  template <class P>  // what a(i) returns
  requires(!std::derived_from<P, catena::HeaderRef> && std::convertible_to<const P&, const Array&>)
      ArrayLike(const P& a)
      : ArrayLike(static_cast<const Array&>(a)) {}
  template <Element E> ArrayLike(E number) : ArrayLike(Scalar(number)) {}
  CATENA_EXPORT ArrayLike(const Scalar& number);
  CATENA_EXPORT ArrayLike(const Values& list);
  template <Element E> ArrayLike(std::initializer_list<E> list) : ArrayLike(Values(list)) {}
  template <class N = internal::Number>
  ArrayLike(std::initializer_list<std::type_identity_t<N>> mixed) : ArrayLike(Values(mixed)) {}
#define ND_NESTED(List)                                                         \
  template <Element E> ArrayLike(List(E) nested) : ArrayLike(Values(nested)) {} \
  ArrayLike(List(internal::Number) mixed) : ArrayLike(Values(mixed)) {}
  ND_NESTED(ND_LIST2)
  ND_NESTED(ND_LIST3)
  ND_NESTED(ND_LIST4)
  ND_NESTED(ND_LIST5)
  ND_NESTED(ND_LIST6)
#undef ND_NESTED
  template <Element E> ArrayLike(ND_LIST7(E)) = delete;
  ArrayLike(ND_LIST7(internal::Number)) = delete;
  template <internal::NestedContainer C> ArrayLike(const C& list) : ArrayLike(Values(list)) {}

  const Array& array() const noexcept { return array_; }
  bool is_array() const noexcept { return is_array_; }                      // an array was given
  const std::optional<Scalar>& number() const noexcept { return number_; }  // absent for arrays and lists

 private:
  Array array_;
  bool is_array_ = false;
  std::optional<Scalar> number_;
};
#undef ND_LIST1
#undef ND_LIST2
#undef ND_LIST3
#undef ND_LIST4
#undef ND_LIST5
#undef ND_LIST6
#undef ND_LIST7

// array({1, 2, 3})  array({{1.0, 2.0}, {3.0, 4.0}}, nd::float32)  array(vector)  array(vector, {2, 3})
// OverflowError, or ValueError for NaN, if a given integer dtype cannot hold one of the numbers in braces; elements of
// containers are converted like the elements of arrays.
template <internal::DtypeOr<ArrayOptions> O = ArrayOptions> Array array(const Values& values, const O& options = {}) {
  return internal::from_values(values, values.shape(), internal::with_dtype<ArrayOptions>(options));
}
// The elements in C order as an array of `shape`; ValueError if their number does not match.
template <internal::DtypeOr<ArrayOptions> O = ArrayOptions>
Array array(const Values& values, std::initializer_list<catena::Integer> shape, const O& options = {}) {
  return internal::from_values(values, shape, internal::with_dtype<ArrayOptions>(options));
}
template <catena::ShapeLike S, internal::DtypeOr<ArrayOptions> O = ArrayOptions>
Array array(const Values& values, const S& shape, const O& options = {}) {
  return internal::from_values(values, shape, internal::with_dtype<ArrayOptions>(options));
}
// Copies n host elements in C order. The dtype is the one of E unless given.
template <Element E, internal::DtypeOr<ArrayOptions> O = ArrayOptions>
Array array(const E* data, std::initializer_list<catena::Integer> shape, const O& options = {}) {
  return internal::from_elements(data, catena::dtype_of<E>, shape, internal::with_dtype<ArrayOptions>(options));
}
template <Element E, catena::ShapeLike S, internal::DtypeOr<ArrayOptions> O = ArrayOptions>
Array array(const E* data, const S& shape, const O& options = {}) {
  return internal::from_elements(data, catena::dtype_of<E>, shape, internal::with_dtype<ArrayOptions>(options));
}
// The elements from one iterator to another.
template <internal::Iterator It, internal::DtypeOr<ArrayOptions> O = ArrayOptions>
Array array(It first, It last, const O& options = {}) {
  return array(std::vector(first, last), options);
}
// A copy of another array on the current device, cast unsafely. With copy = false: the array itself, or a view, if
// nothing has to change, and otherwise a copy on the array's own device.
template <std::convertible_to<const Array&> A, internal::DtypeOr<ArrayOptions> O = ArrayOptions>
Array array(const A& a, const O& options = {}) {
  return internal::from_array(a, internal::with_dtype<ArrayOptions>(options));
}
// A 0-d array of a host number.
template <class E, internal::DtypeOr<ArrayOptions> O = ArrayOptions>
requires(Element<E> || std::is_same_v<E, Scalar>) Array array(E value, const O& options = {}) {
  ArrayOptions o = internal::with_dtype<ArrayOptions>(options);
  if constexpr (Element<E>) {
    if (!o.dtype) o.dtype = internal::literal_dtype(value);
  }
  return internal::from_scalar(Scalar(value), o);
}

// Several arrays of one shape (ValueError) along a new first axis: array({a, b}) is stack({a, b}).
template <std::same_as<Array> A> Array array(std::initializer_list<A> arrays) { return internal::from_arrays(arrays); }
template <std::same_as<Array> A> Array array(const std::vector<A>& arrays) { return internal::from_arrays(arrays); }

// Returns the array itself if it already has that dtype, else a converted copy; of host data, array().
CATENA_EXPORT Array asarray(const Array& a, std::optional<Dtype> dtype = {});
template <Element E> Array asarray(std::initializer_list<E> list, std::optional<Dtype> dtype = {}) {
  return array(Values(list), dtype);
}
template <class V = Values> Array asarray(const std::type_identity_t<V>& values, std::optional<Dtype> dtype = {}) {
  return array(values, dtype);
}
inline Array asanyarray(const Array& a, std::optional<Dtype> dtype = {}) { return asarray(a, dtype); }
// Returns the array itself if it is C-contiguous and has that dtype, else a copy in C order. 0-d arrays stay 0-d.
CATENA_EXPORT Array ascontiguousarray(const Array& a, std::optional<Dtype> dtype = {});
// As ascontiguousarray for Fortran order.
CATENA_EXPORT Array asfortranarray(const Array& a, std::optional<Dtype> dtype = {});
// Returns a copy in the given order, on the device of the array.
inline Array copy(const Array& a, OrderLike order = Order::C) { return a.copy(order); }
// Returns a new array in host memory, in C order: with the elements of an array (with a stream, complete after
// stream.synchronize()), or with host data.
inline Array asnumpy(const Array& a) { return a.to_host(); }
inline Array asnumpy(const Array& a, const Stream& stream) { return a.to_host(stream); }
namespace internal {
CATENA_EXPORT Array host_array(const Values& values);
}
template <class V = Values> Array asnumpy(const std::type_identity_t<V>& values) {
  return internal::host_array(values);
}

// ---- ranges -------------------------------------------------------------------------------------
// start + k * step for 0 <= k < ceil((stop - start) / step). Unless given, the dtype is float64 if an argument is
// floating, else int64. The first two values are converted to the dtype, and the others are computed from them in it.
// ValueError for a step of 0 or a length that is NaN or too large; OverflowError if an integer dtype cannot hold the
// first two values; TypeError for more than two bools.
template <internal::DtypeOr<CreateOptions> O = CreateOptions> Array arange(const Scalar& stop, const O& options = {}) {
  return internal::arange(0, stop, 1, internal::with_dtype<CreateOptions>(options));
}
template <internal::DtypeOr<CreateOptions> O = CreateOptions>
Array arange(const Scalar& start, const Scalar& stop, const O& options = {}) {
  return internal::arange(start, stop, 1, internal::with_dtype<CreateOptions>(options));
}
template <internal::DtypeOr<CreateOptions> O = CreateOptions>
Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, const O& options = {}) {
  return internal::arange(start, stop, step, internal::with_dtype<CreateOptions>(options));
}

// num evenly spaced numbers from start to stop (the last one is exactly stop if endpoint), computed in float64 and cast
// unsafely; integers are their floors. ValueError for num < 0.
CATENA_EXPORT Array linspace(double start, double stop, std::int64_t num = 50, const LinspaceOptions& options = {});
inline Array linspace(double start, double stop, std::int64_t num, Dtype dtype) {
  return linspace(start, stop, num, {.dtype = dtype});
}
template <std::same_as<bool> B> Array linspace(double start, double stop, std::int64_t num, B endpoint) {
  return linspace(start, stop, num, LinspaceOptions{.endpoint = endpoint});
}
// As linspace, and the step; NaN if there is no step.
CATENA_EXPORT std::pair<Array, double> linspace_retstep(double start, double stop, std::int64_t num = 50,
                                                        const LinspaceOptions& options = {});
// base to the powers linspace(start, stop, num).
CATENA_EXPORT Array logspace(double start, double stop, std::int64_t num = 50, const LogspaceOptions& options = {});

// Returns coordinate arrays over the grid of 1-D arrays (ValueError for a higher rank; a 0-d array counts as one of
// length 1), one per array, all of the common shape. "xy" swaps the first two axes, "ij" does not (ValueError for other
// strings). A single array is returned unchanged.
CATENA_EXPORT std::vector<Array> meshgrid(const std::vector<Array>& xi, const MeshgridOptions& options = {});
// auto [x, y] = meshgrid(columns, rows);
template <std::convertible_to<const Array&>... A>
requires(sizeof...(A) > 1) std::array<Array, sizeof...(A)> meshgrid(const A&... xi) {
  std::array<Array, sizeof...(A)> grid;
  std::size_t k = 0;
  for (const Array& a : meshgrid(std::vector<Array>{xi...})) grid[k++] = a;
  return grid;
}

// ---- matrices -----------------------------------------------------------------------------------
// Ones where column - row == k, else zeros.
CATENA_EXPORT Array eye(std::int64_t N, const EyeOptions& options = {});
inline Array eye(std::int64_t N, Dtype dtype) { return eye(N, {.dtype = dtype}); }
inline Array eye(std::int64_t N, std::int64_t M, std::int64_t k = 0, Dtype dtype = Dtype::float64) {
  return eye(N, {.M = M, .k = k, .dtype = dtype});
}
CATENA_EXPORT Array identity(std::int64_t n, Dtype dtype = Dtype::float64);
// 1-D: a square matrix with v on diagonal k. 2-D: diagonal k as a view. ValueError for other ranks.
CATENA_EXPORT Array diag(const Array& v, std::int64_t k = 0);
CATENA_EXPORT Array diagflat(const Array& v, std::int64_t k = 0);  // diag(ravel(v), k)
template <Element E> Array diag(const std::vector<E>& v, std::int64_t k = 0) { return diag(array(v), k); }
template <Element E> Array diagflat(const std::vector<E>& v, std::int64_t k = 0) { return diag(array(v), k); }

}  // namespace nd
