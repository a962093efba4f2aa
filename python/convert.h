// Folder python/: the Python module `catena` over nd::Array. Not a part of the libraries.
//
// This header: arguments of Python as values of this library. The structures are parameters of bound functions; their
// casters convert any object that NumPy would accept.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <catena/ndarray/ndarray.h>
#include <catena/ndarray/routines/dlpack.h>

namespace nd::python {

namespace py = pybind11;

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
struct Lengths {  // an int or a sequence of ints
  Shape value;
  operator const Shape&() const { return value; }
};
struct AxesArgument {  // None, an int or a sequence of ints
  Axes value;
  operator const Axes&() const { return value; }
};
struct Out {  // None or an array
  Array array;
  operator const Array&() const { return array; }
};
using Likes = std::vector<Like>;

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
Lengths lengths_of(py::handle object);
AxesArgument axes_of(py::handle object);
Out out_of(py::handle object);
std::vector<IndexKey> keys_of(py::handle key);

void define_array(py::module_& m);
void define_functions(py::module_& m, py::object array_class);

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
CATENA_CASTER(Lengths, "shape", nd::python::lengths_of(object))
CATENA_CASTER(AxesArgument, "axis", nd::python::axes_of(object))
CATENA_CASTER(Out, "Array | None", nd::python::out_of(object))
#undef CATENA_CASTER
}  // namespace pybind11::detail
