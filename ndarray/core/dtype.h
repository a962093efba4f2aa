// The names of namespace nd for the types of kernels/base/: element types, shapes, scalars, devices and exceptions.
//
// nd::float32 is a dtype (a value of the enumeration Dtype), as in NumPy. The C++ element types without a name in the
// language are nd::float16_t, nd::bfloat16_t, nd::complex64_t and nd::complex128_t. The last two convert from and to
// std::complex, which may be used in their place everywhere.
#pragma once

#include <numbers>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/cuda_error.h>
#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/scalar.h>
#include <catena/kernels/base/shape.h>
#include <catena/kernels/base/warning.h>

namespace nd {

using catena::Axes;
using catena::Casting;
using catena::Device;
using catena::Dims;
using catena::Dtype;
using catena::DtypeKind;
using catena::Scalar;
using catena::Shape;
using catena::Strides;

using float16_t = catena::float16;
using bfloat16_t = catena::bfloat16;
using complex64_t = catena::complex64;
using complex128_t = catena::complex128;

// The dtypes by NumPy's names.
inline constexpr Dtype bool_ = Dtype::bool_;
inline constexpr Dtype int8 = Dtype::int8;
inline constexpr Dtype uint8 = Dtype::uint8;
inline constexpr Dtype int16 = Dtype::int16;
inline constexpr Dtype uint16 = Dtype::uint16;
inline constexpr Dtype int32 = Dtype::int32;
inline constexpr Dtype uint32 = Dtype::uint32;
inline constexpr Dtype int64 = Dtype::int64;
inline constexpr Dtype uint64 = Dtype::uint64;
inline constexpr Dtype float16 = Dtype::float16;
inline constexpr Dtype float32 = Dtype::float32;
inline constexpr Dtype float64 = Dtype::float64;
inline constexpr Dtype bfloat16 = Dtype::bfloat16;
inline constexpr Dtype complex64 = Dtype::complex64;
inline constexpr Dtype complex128 = Dtype::complex128;

// NumPy's further names. (`short` is a keyword; the abstract kinds are nd::Kind::floating and so on,
// routines/datatype.h.)
inline constexpr Dtype byte = int8, ubyte = uint8, short_ = int16, ushort = uint16, intc = int32, uintc = uint32;
inline constexpr Dtype int_ = int64, uint = uint64, longlong = int64, ulonglong = uint64;
inline constexpr Dtype half = float16, single = float32, float_ = float64, double_ = float64, longfloat = float64;
inline constexpr Dtype csingle = complex64, cdouble = complex128, cfloat = complex128, complex_ = complex128;

using catena::can_cast;
using catena::dtype_from_name;
using catena::dtype_of;
using catena::itemsize;
using catena::kind_of;
using catena::name_of;
using catena::promote_types;
using catena::visit_dtype;
using catena::visit_real_dtype;

// NumPy's np.dtype("float32"), np.dtype("f4").
inline Dtype dtype(std::string_view name) { return dtype_from_name(name); }

// NumPy's constants. (The builtins spare every program the header <limits>.)
inline constexpr double pi = std::numbers::pi, e = std::numbers::e, euler_gamma = std::numbers::egamma;
inline constexpr double inf = __builtin_inf(), nan = __builtin_nan("");

// A C++ type that can be the element type of an array.
template <class E>
concept Element = std::is_arithmetic_v<E> || requires {
  catena::dtype_traits<E>::value;
};

using catena::disable_experimental_feature_warning;
using catena::experimental;
using catena::set_disable_experimental_feature_warning;
using catena::set_warning_handler;
using catena::WarningHandler;

using catena::AssertionError;
using catena::AttributeError;
using catena::AxisError;
using catena::CompileError;
using catena::CublasError;
using catena::CudaDriverError;
using catena::CudaError;
using catena::CudaRuntimeError;
using catena::CudnnError;
using catena::CurandError;
using catena::CusolverError;
using catena::Error;
using catena::IndexError;
using catena::InvalidAxis;
using catena::InvalidType;
using catena::IOError;
using catena::KeyError;
using catena::LinAlgError;
using catena::NcclError;
using catena::NotImplementedError;
using catena::NvrtcError;
using catena::OutOfMemoryError;
using catena::OverflowError;
using catena::RuntimeError;
using catena::TypeError;
using catena::ValueError;

}  // namespace nd
