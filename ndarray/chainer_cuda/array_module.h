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
#define CATENA_MEMBER(name, Options) \
  template <class... A> static auto name(const A&... arguments) { return nd::name(arguments...); }
#include <catena/kernels/lists/members.inc>
#undef CATENA_MEMBER
  template <class... A> static auto where(const A&... arguments) { return nd::where(arguments...); }
  template <class... A> static auto clip(const A&... arguments) { return nd::clip(arguments...); }
  template <class... A> static auto dot(const A&... arguments) { return nd::dot(arguments...); }
  template <class... A> static auto matmul(const A&... arguments) { return nd::matmul(arguments...); }
  template <class... A> static auto tensordot(const A&... arguments) { return nd::tensordot(arguments...); }
  template <class... A> static auto concatenate(const A&... arguments) { return nd::concatenate(arguments...); }
  template <class... A> static auto stack(const A&... arguments) { return nd::stack(arguments...); }

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
