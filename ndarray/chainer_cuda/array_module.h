// The module for the arrays of a function: arrays created through `xp` are on the same kind of device.
//
//   nd::Array softplus(const nd::Array& x) {
//     const auto xp = nd::get_array_module(x);
//     return xp.maximum(0, x) + xp.log1p(xp.exp(-xp.abs(x)));
//   }
//
// Only functions that create arrays need it: all others run on the device of their arrays, so nd::exp(x) does the same.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/ndarray/chainer_cuda/transfer.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/einsum.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/products.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/routines/statistics.h>

namespace nd {

// The functions of nd for arrays of one kind of device. Functions that create arrays do so on the CPU, or on the
// current CUDA device (device 0 if the CPU is current).
class CATENA_EXPORT ArrayModule {
 public:
  constexpr explicit ArrayModule(Device::Kind kind) noexcept : kind_(kind) {}

  Device::Kind kind() const noexcept { return kind_; }
  // Returns the device on which arrays are created. RuntimeError "CUDA is unavailable: ..." for CUDA without a device.
  Device device() const;
  friend bool operator==(const ArrayModule&, const ArrayModule&) = default;

  // ---- creation ----
  template <internal::DtypeOr<CreateOptions> O = CreateOptions>
  Array empty(const Shape& shape, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::empty(shape, options);
  }
  template <internal::DtypeOr<CreateOptions> O = CreateOptions>
  Array zeros(const Shape& shape, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::zeros(shape, options);
  }
  template <internal::DtypeOr<CreateOptions> O = CreateOptions>
  Array ones(const Shape& shape, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::ones(shape, options);
  }
  template <internal::DtypeOr<LikeOptions> O = LikeOptions>
  Array empty_like(const Array& a, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::empty_like(a, options);
  }
  template <internal::DtypeOr<LikeOptions> O = LikeOptions>
  Array zeros_like(const Array& a, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::zeros_like(a, options);
  }
  template <internal::DtypeOr<LikeOptions> O = LikeOptions>
  Array ones_like(const Array& a, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::ones_like(a, options);
  }
  template <class E, internal::DtypeOr<CreateOptions> O = CreateOptions>
  Array full(const Shape& shape, const E& value, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::full(shape, value, options);
  }
  template <internal::DtypeOr<LikeOptions> O = LikeOptions>
  Array full_like(const Array& a, const Scalar& value, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::full_like(a, value, options);
  }
  template <internal::DtypeOr<ArrayOptions> O = ArrayOptions>
  Array array(const Values& values, const O& options = {}) const {
    const DeviceScope on(device());
    return nd::array(values, options);
  }
  template <class... A> Array arange(const Scalar& first, const A&... more) const {
    const DeviceScope on(device());
    return nd::arange(first, more...);
  }
  template <class... A> Array linspace(double start, double stop, const A&... more) const {
    const DeviceScope on(device());
    return nd::linspace(start, stop, more...);
  }
  template <class... A> Array eye(std::int64_t n, const A&... more) const {
    const DeviceScope on(device());
    return nd::eye(n, more...);
  }
  template <class... A> Array identity(std::int64_t n, const A&... more) const {
    const DeviceScope on(device());
    return nd::identity(n, more...);
  }
  // On the kind of device of the module: an array of the other kind is copied.
  Array asarray(const ArrayLike& a, std::optional<Dtype> dtype = {}) const;

  // ---- functions that do not depend on the kind ----
  // The functions of kernels/lists/elementwise.inc and members.inc, and others.
#define CATENA_UNARY(name) \
  static Array name(const Operand& x, const UfuncOptions& options = {}) { return nd::name(x, options); }
#define CATENA_BINARY(name)                                                                   \
  static Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) { \
    return nd::name(x1, x2, options);                                                         \
  }
#include <catena/kernels/lists/elementwise.inc>
#undef CATENA_UNARY
#undef CATENA_BINARY
  static Array abs(const Operand& x, const UfuncOptions& options = {}) { return nd::abs(x, options); }
  static Array degrees(const Operand& x, const UfuncOptions& options = {}) { return nd::degrees(x, options); }
  static Array radians(const Operand& x, const UfuncOptions& options = {}) { return nd::radians(x, options); }
  static Array divide(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
    return nd::divide(x1, x2, options);
  }
  static Array mod(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
    return nd::mod(x1, x2, options);
  }
#define CATENA_MEMBER(name, Options)                                                                                \
  template <class... A> static auto name(const A&... arguments) { return nd::name(arguments...); }                  \
  ND_MODULE_OPTIONS(name, Options)                                                                                  \
  static auto name(const Array& a, std::initializer_list<catena::Integer> axes) { return nd::name(a, Axes(axes)); } \
  template <std::same_as<Options> O = Options> static auto name(const Array& a, const Axes& axis, const O& more) {  \
    return nd::name(a, axis, more);                                                                                 \
  }
// The options in braces, which the overload of any arguments cannot take.
#define ND_MODULE_OPTIONS(name, Options)                                     \
  template <std::same_as<Options> O = Options>                               \
  static auto name(const Array& a, const std::type_identity_t<O>& options) { \
    return nd::name(a, options);                                             \
  }
#include <catena/kernels/lists/members.inc>
#undef CATENA_MEMBER
  // Functions of one array with options: sort(a, {.axis = 0}), or with the axis by position.
#define ND_MODULE_FUNCTION(name, Options)                                                          \
  template <class... A> static auto name(const A&... arguments) { return nd::name(arguments...); } \
  ND_MODULE_OPTIONS(name, Options)
  ND_MODULE_FUNCTION(amax, ReduceOptions)
  ND_MODULE_FUNCTION(amin, ReduceOptions)
  ND_MODULE_FUNCTION(count_nonzero, TestOptions)
  ND_MODULE_FUNCTION(cumsum, ScanOptions)
  ND_MODULE_FUNCTION(cumprod, ScanOptions)
  ND_MODULE_FUNCTION(sort, SortOptions)
  ND_MODULE_FUNCTION(argsort, SortOptions)
#undef ND_MODULE_FUNCTION
#undef ND_MODULE_OPTIONS
#define ND_MODULE_FUNCTION(name) \
  template <class... A> static auto name(const A&... arguments) { return nd::name(arguments...); }
  ND_MODULE_FUNCTION(where)
  ND_MODULE_FUNCTION(clip)
  ND_MODULE_FUNCTION(dot)
  ND_MODULE_FUNCTION(matmul)
  ND_MODULE_FUNCTION(tensordot)
  ND_MODULE_FUNCTION(einsum)
  ND_MODULE_FUNCTION(outer)
  ND_MODULE_FUNCTION(take)
  ND_MODULE_FUNCTION(repeat)
  ND_MODULE_FUNCTION(rollaxis)
  ND_MODULE_FUNCTION(swapaxes)
  ND_MODULE_FUNCTION(ascontiguousarray)
#undef ND_MODULE_FUNCTION
  // Lists of arrays and shapes, also in braces: concatenate({a, b}, 1), reshape(a, {2, -1}).
  static Array concatenate(const std::vector<Array>& arrays, int axis = 0) { return nd::concatenate(arrays, axis); }
  static Array concatenate(const std::vector<Array>& arrays, const ConcatenateOptions& options) {
    return nd::concatenate(arrays, options);
  }
  static Array stack(const std::vector<Array>& arrays, int axis = 0) { return nd::stack(arrays, axis); }
  static Array stack(const std::vector<Array>& arrays, const StackOptions& options) {
    return nd::stack(arrays, options);
  }
  static Array vstack(const std::vector<Array>& arrays) { return nd::vstack(arrays); }
  static Array hstack(const std::vector<Array>& arrays) { return nd::hstack(arrays); }
  static Array reshape(const Array& a, const Shape& newshape) { return nd::reshape(a, newshape); }
  static Array broadcast_to(const Array& a, const Shape& shape) { return nd::broadcast_to(a, shape); }
  static Array tile(const Array& a, const Dims& reps) { return nd::tile(a, reps); }
  static Array transpose(const Array& a) { return nd::transpose(a); }
  static Array transpose(const Array& a, const Dims& axes) { return nd::transpose(a, axes); }
  static Array expand_dims(const Array& a, int axis) { return nd::expand_dims(a, axis); }
  static Array squeeze(const Array& a, const Axes& axis = {}) { return nd::squeeze(a, axis); }
  static std::vector<Array> split(const Array& a, const Sections& indices_or_sections, int axis = 0) {
    return nd::split(a, indices_or_sections, axis);
  }

  // The dtypes, for code that has only the module: xp.zeros({2, 3}, xp.float32).
  static constexpr Dtype bool_ = nd::bool_, int8 = nd::int8, int16 = nd::int16, int32 = nd::int32, int64 = nd::int64,
                         uint8 = nd::uint8, uint16 = nd::uint16, uint32 = nd::uint32, uint64 = nd::uint64,
                         float16 = nd::float16, bfloat16 = nd::bfloat16, float32 = nd::float32, float64 = nd::float64,
                         complex64 = nd::complex64, complex128 = nd::complex128;

 private:
  Device::Kind kind_;
};
CATENA_EXPORT std::string to_string(const ArrayModule& xp);  // "nd (cuda)", "nd (cpu)"
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const ArrayModule& xp);

// Returns the module of CUDA if an argument is an array on a CUDA device, or has one, such as a Variable; else the
// module of the CPU. Works without CUDA.
template <class... A> ArrayModule get_array_module(const A&... args) {
  [[maybe_unused]] const auto on_cuda = [](const catena::HeaderRef& a) {
    return a && a->device.kind == Device::Kind::cuda;
  };
  return ArrayModule((false || ... || on_cuda(cuda::internal::array_of(args))) ? Device::Kind::cuda
                                                                               : Device::Kind::cpu);
}
namespace cuda {
using nd::get_array_module;
}

}  // namespace nd
