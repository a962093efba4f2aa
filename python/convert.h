// Folder python/: the Python module `catena` over nd::Array. Not a part of the libraries.
//
// This header: arguments of Python as values of this library. The structures are parameters of bound functions; their
// casters convert any object that NumPy would accept.
#pragma once

#include <complex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/dlpack.h>

namespace nd::python {

namespace py = pybind11;

inline constexpr const char* kApiVersion = "2025.12";  // of the Python array API standard

// The object behind catena.float32 and a.dtype.
struct DtypeObject {
  Dtype value;
};

struct Like {  // anything that becomes an array: arrays, buffers, objects with __dlpack__, nested lists, numbers
  Array array;
  operator const Array&() const { return array; }
};
struct Value {  // an array, or a number of Python, which does not promote an array of its kind
  Array array;
  Scalar scalar;
  operator Operand() const { return array.is_null() ? Operand(scalar) : Operand(array); }
};
struct MaybeDtype {  // None, catena.float32, "float32", float, numpy.float32, a dtype of NumPy
  std::optional<Dtype> value;
  operator std::optional<Dtype>() const { return value; }
  Dtype value_or(Dtype other) const { return value.value_or(other); }
};
struct MaybeDevice {  // None, "cpu", "cuda:0"
  std::optional<Device> value;
};
struct Lengths {  // an int or a sequence of ints
  Shape value;
  operator const Shape&() const { return value; }
};
struct AxesArgument {  // None, an int or a sequence of ints
  Axes value;
  operator const Axes&() const { return value; }
};
struct Saturated {  // an int; one that no int64 holds counts as the nearest that does
  std::int64_t value;
};
struct Out {  // None or an array
  Array array;
  operator const Array&() const { return array; }
};
using Likes = std::vector<Like>;

// New arrays of this thread are on the device, if one is given.
class OnDevice {
 public:
  explicit OnDevice(const MaybeDevice& device) {
    if (device.value) scope_.emplace(*device.value);
  }

 private:
  std::optional<DeviceScope> scope_;
};

// m.def(name, f, arguments...). The lock of the interpreter is released during f if f takes and returns no object of
// Python.
template <class T> inline constexpr bool is_object = std::is_base_of_v<py::handle, std::remove_cvref_t<T>>;
template <class Signature> inline constexpr bool runs_unlocked = false;
template <class R, class... A> inline constexpr bool runs_unlocked<R(A...)> = !is_object<R> && (!is_object<A> && ...);
template <class F, class... X> void define(py::module_& m, const char* name, F f, const X&... arguments) {
  if constexpr (runs_unlocked<py::detail::function_signature_t<F>>)
    m.def(name, f, py::call_guard<py::gil_scoped_release>(), arguments...);
  else m.def(name, f, arguments...);
}

std::vector<Array> arrays_of(const Likes& list);

// Returns an array of an object, on the current device if its elements are not in an array of this library or on CUDA.
// copy: true for a copy, false for ValueError where one is needed. TypeError for an object that holds no numbers,
// ValueError for nested lists of different lengths.
Array asarray(py::handle object, std::optional<Dtype> dtype = {}, std::optional<bool> copy = {});
// Takes the tensor of object.__dlpack__(). TypeError for objects without it.
Array from_dlpack(py::handle object, std::optional<Device> device = {}, std::optional<bool> copy = {});
// The capsule of __dlpack__.
py::object to_dlpack(const Array& a, py::handle stream, py::handle max_version, py::handle dl_device, py::handle copy);
// Gives a Python type the buffer protocol.
void add_buffer_protocol(py::handle type);

Value value_of(py::handle object);
// True for what value_of accepts; operators return NotImplemented for other objects.
bool is_value(py::handle object);
std::optional<Dtype> dtype_of(py::handle object);
Casting casting_of(const std::string& name);
MaybeDevice device_of(py::handle object);
Lengths lengths_of(py::handle object);
AxesArgument axes_of(py::handle object);
Saturated saturated_of(py::handle object);
Out out_of(py::handle object);
std::vector<IndexKey> keys_of(py::handle key);
// True for Python's bool, int, float and complex; false for their subclasses.
bool is_number(py::handle object);
Scalar scalar_of(py::handle object);
py::tuple tuple_of(const catena::Dims& list);
py::tuple tuple_of(const std::vector<Array>& arrays);
// A collections.namedtuple of the class `name`.
py::object named_tuple(const char* name, const std::vector<const char*>& fields, const std::vector<Array>& values);

void define_array(py::module_& m);
void define_functions(py::module_& m, py::object array_class);
void define_dtypes(py::module_& m);
void define_standard(py::module_& m);
void define_linalg(py::module_& m);
void define_fft(py::module_& m);

}  // namespace nd::python

namespace pybind11::detail {
#define CATENA_CASTER(Type, description, expression)                 \
  template <> struct type_caster<nd::python::Type> {                 \
    PYBIND11_TYPE_CASTER(nd::python::Type, const_name(description)); \
    bool load(handle object, bool) {                                 \
      value = expression;                                            \
      return true;                                                   \
    }                                                                \
  };
CATENA_CASTER(Like, "array_like", nd::python::Like{nd::python::asarray(object)})
CATENA_CASTER(Value, "array_like", nd::python::value_of(object))
CATENA_CASTER(MaybeDtype, "dtype", nd::python::MaybeDtype{nd::python::dtype_of(object)})
CATENA_CASTER(MaybeDevice, "device", nd::python::device_of(object))
CATENA_CASTER(Lengths, "shape", nd::python::lengths_of(object))
CATENA_CASTER(AxesArgument, "axis", nd::python::axes_of(object))
CATENA_CASTER(Saturated, "int", nd::python::saturated_of(object))
CATENA_CASTER(Out, "Array | None", nd::python::out_of(object))
#undef CATENA_CASTER

// Results of several arrays as named tuples.
#define CATENA_RESULT(Type, class_name, fields, ...)                               \
  template <> struct type_caster<nd::Type> {                                       \
    static constexpr auto name = const_name(class_name);                           \
    static handle cast(const nd::Type& r, return_value_policy, handle) {           \
      return nd::python::named_tuple(class_name, fields, {__VA_ARGS__}).release(); \
    }                                                                              \
  };
#define CATENA_FIELDS(...) \
  { __VA_ARGS__ }
CATENA_RESULT(linalg::EighResult, "EighResult", CATENA_FIELDS("eigenvalues", "eigenvectors"), r.eigenvalues,
              r.eigenvectors)
CATENA_RESULT(linalg::EigResult, "EigResult", CATENA_FIELDS("eigenvalues", "eigenvectors"), r.eigenvalues,
              r.eigenvectors)
CATENA_RESULT(linalg::QRResult, "QRResult", CATENA_FIELDS("Q", "R"), r.Q, r.R)
CATENA_RESULT(linalg::SVDResult, "SVDResult", CATENA_FIELDS("U", "S", "Vh"), r.U, r.S, r.Vh)
CATENA_RESULT(linalg::SlogdetResult, "SlogdetResult", CATENA_FIELDS("sign", "logabsdet"), r.sign, r.logabsdet)
CATENA_RESULT(UniqueResult, "UniqueAllResult", CATENA_FIELDS("values", "indices", "inverse_indices", "counts"),
              r.values, r.indices, r.inverse_indices, r.counts)
CATENA_RESULT(UniqueCountsResult, "UniqueCountsResult", CATENA_FIELDS("values", "counts"), r.values, r.counts)
CATENA_RESULT(UniqueInverseResult, "UniqueInverseResult", CATENA_FIELDS("values", "inverse_indices"), r.values,
              r.inverse_indices)
#undef CATENA_FIELDS
#undef CATENA_RESULT
}  // namespace pybind11::detail
