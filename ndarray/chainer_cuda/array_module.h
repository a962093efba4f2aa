// The module for the arrays of a function: arrays created through `xp` are on the same kind of device.
//
//   nd::Array softplus(const nd::Array& x) {
//     const auto xp = nd::get_array_module(x);
//     return xp.maximum(0, x) + xp.log1p(xp.exp(-xp.abs(x)));
//   }
//
// Only functions that create arrays need it: all others run on the device of their arrays, so nd::exp(x) does the same.
#pragma once

#include <iosfwd>
#include <string>

#include <catena/ndarray/chainer_cuda/transfer.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
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
#define ND_MODULE_BY_SHAPE(name)                                \
  template <internal::DtypeOr<CreateOptions> O = CreateOptions> \
  Array name(const Shape& shape, const O& options = {}) const { \
    const DeviceScope on(device());                             \
    return nd::name(shape, options);                            \
  }
  ND_MODULE_BY_SHAPE(empty)
  ND_MODULE_BY_SHAPE(zeros)
  ND_MODULE_BY_SHAPE(ones)
#undef ND_MODULE_BY_SHAPE
#define ND_MODULE_LIKE(name)                                                                                          \
  template <internal::DtypeOr<LikeOptions> O = LikeOptions> Array name(const Array& a, const O& options = {}) const { \
    const DeviceScope on(device());                                                                                   \
    return nd::name(a, options);                                                                                      \
  }
  ND_MODULE_LIKE(empty_like)
  ND_MODULE_LIKE(zeros_like)
  ND_MODULE_LIKE(ones_like)
#undef ND_MODULE_LIKE
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

  // ---- functions that do not depend on the kind ----
#define ND_MODULE_unary(name) \
  static Array name(const Operand& x, const UfuncOptions& options = {}) { return nd::name(x, options); }
#define ND_MODULE_binary(name)                                                                \
  static Array name(const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) { \
    return nd::name(x1, x2, options);                                                         \
  }
#define ND_MODULE_own(name)
#define ND_MODULE_internal(name)
#define ND_MODULE(name, use) ND_MODULE_##use(name)
  CATENA_ELEMENTWISE_KERNELS(ND_MODULE)
  ND_MODULE_unary(abs)
  ND_MODULE_unary(degrees)
  ND_MODULE_unary(radians)
  ND_MODULE_binary(divide)
  ND_MODULE_binary(mod)
#undef ND_MODULE_unary
#undef ND_MODULE_binary
#undef ND_MODULE_own
#undef ND_MODULE_internal
#undef ND_MODULE
#define ND_MODULE_FUNCTION(name, ...) \
  template <class... A> static auto name(const A&... arguments) { return nd::name(arguments...); }
  CATENA_ARRAY_REDUCTIONS(ND_MODULE_FUNCTION)
  ND_MODULE_FUNCTION(where)
  ND_MODULE_FUNCTION(clip)
  ND_MODULE_FUNCTION(dot)
  ND_MODULE_FUNCTION(matmul)
  ND_MODULE_FUNCTION(tensordot)
  ND_MODULE_FUNCTION(concatenate)
  ND_MODULE_FUNCTION(stack)
#undef ND_MODULE_FUNCTION

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
