#include "convert.h"

#include <map>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/core/wrap.h>

namespace nd::python {

using catena::check;
using catena::fail;

namespace {
constexpr const char* kOp = "asarray";
}

bool is_number(py::handle h) {
  return PyBool_Check(h.ptr()) || PyLong_CheckExact(h.ptr()) || PyFloat_CheckExact(h.ptr()) ||
         PyComplex_CheckExact(h.ptr());
}

Scalar scalar_of(py::handle h) {
  if (PyBool_Check(h.ptr())) return Scalar(h.ptr() == Py_True);
  if (PyFloat_CheckExact(h.ptr())) return Scalar(PyFloat_AS_DOUBLE(h.ptr()));
  if (PyComplex_CheckExact(h.ptr()))
    return Scalar(std::complex<double>(PyComplex_RealAsDouble(h.ptr()), PyComplex_ImagAsDouble(h.ptr())));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(h.ptr(), &overflow);
  if (overflow == 0) return Scalar(value);
  const unsigned long long positive = PyLong_AsUnsignedLongLong(h.ptr());
  if (PyErr_Occurred() == nullptr) return Scalar(positive);
  PyErr_Clear();
  fail<OverflowError>(kOp, "the integer ", std::string(py::str(h)), " fits no dtype");
}

namespace {

Array array_of(const Scalar& s) { return full(Shape{}, s, {.dtype = s.natural_dtype()}); }

// ---- the buffer protocol ------------------------------------------------------------------------
const char* const kFormats[] = {"?", "b", "B", "h", "H", "i", "I", "l", "L", "e", "f", "d", nullptr, "Zf", "Zd"};

Dtype dtype_of_format(const char* format, Py_ssize_t itemsize) {
  std::string_view f = format == nullptr ? "B" : format;
  if (!f.empty() && (f[0] == '@' || f[0] == '=' || f[0] == '<')) f.remove_prefix(1);
  if (f == "q") f = "l";
  if (f == "Q") f = "L";
  for (int i = 0; i < catena::kNumDtypes; ++i)
    if (kFormats[i] != nullptr && f == kFormats[i] &&
        catena::itemsize(static_cast<Dtype>(i)) == static_cast<std::size_t>(itemsize))
      return static_cast<Dtype>(i);
  fail<TypeError>(kOp, "no dtype has the format '", f,
                  "' of the buffer; convert it to numbers of the machine's byte "
                  "order before");
}

// Runs with the lock of the interpreter, if there is still one.
template <class F> void with_interpreter(F&& f) {
  if (!Py_IsInitialized()) return;
  const py::gil_scoped_acquire lock;
  f();
}

// Null if the object gives no buffer of numbers.
Array from_buffer(py::handle object, bool& is_read_only) {
  auto* const view = new Py_buffer;
  if (PyObject_GetBuffer(object.ptr(), view, PyBUF_FULL_RO) != 0) {
    delete view;
    PyErr_Clear();
    return {};
  }
  const auto release = [view](std::byte*) {
    with_interpreter([view] { PyBuffer_Release(view); });
    delete view;
  };
  Shape shape;
  Strides strides;
  Dtype dtype = Dtype::uint8;
  try {
    dtype = dtype_of_format(view->format, view->itemsize);
    check<ValueError>(view->suboffsets == nullptr, kOp, "the buffer is of pointers to rows; copy it before");
    check<ValueError>(view->ndim <= catena::kMaxRank, kOp, "the buffer has ", view->ndim, " axes; arrays have at most ",
                      catena::kMaxRank);
  } catch (...) {
    release(nullptr);
    throw;
  }
  shape.resize(view->ndim);
  strides.resize(view->ndim);
  for (int i = 0; i < view->ndim; ++i) {
    shape[i] = view->shape[i];
    strides[i] = view->strides[i];
  }
  is_read_only = view->readonly != 0;
  return visit_dtype(dtype, [&](auto tag) {
    using E = typename decltype(tag)::type;
    return wrap(static_cast<E*>(view->buf), shape, [release](E* p) { release(reinterpret_cast<std::byte*>(p)); },
                {.strides = strides});
  });
}

struct BufferOwner {
  Array array;
  Py_ssize_t shape[catena::kMaxRank], strides[catena::kMaxRank];
};

// Throws an error that Python sees as a BufferError.
void check_buffer(const Array& a, int flags) {
  constexpr const char* op = "buffer";
  check<TypeError>(a.device().kind == Device::Kind::cpu, op, "the array is on ", a.device(),
                   "; write a.to_host() for one in host memory");
  check<TypeError>(kFormats[static_cast<int>(a.dtype())] != nullptr, op,
                   "bfloat16 has no format of buffers; write a.astype('float32')");
  const auto asks_for = [flags](int f) { return (flags & f) == f; };
  check<TypeError>(a.is_c_contiguous() || (asks_for(PyBUF_STRIDES) && !asks_for(PyBUF_C_CONTIGUOUS)), op,
                   "the elements are not in C order; write a.copy()");
  check<TypeError>(a.is_f_contiguous() || !asks_for(PyBUF_F_CONTIGUOUS), op,
                   "the elements are not in Fortran order; write a.T.copy().T");
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) try {
  const Array& a = *py::cast<const Array*>(py::handle(self));
  check_buffer(a, flags);
  auto* const owner = new BufferOwner{a, {}, {}};
  for (int i = 0; i < a.ndim(); ++i) {
    owner->shape[i] = a.shape()[i];
    owner->strides[i] = a.strides()[i];
  }
  static char nothing;
  std::byte* const data = a.data().ptr();
  view->buf = data == nullptr ? static_cast<void*>(&nothing) : data;
  view->obj = py::handle(self).inc_ref().ptr();
  view->len = static_cast<Py_ssize_t>(a.nbytes());
  view->itemsize = static_cast<Py_ssize_t>(a.itemsize());
  view->readonly = 0;
  view->ndim = a.ndim();
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(kFormats[static_cast<int>(a.dtype())]) : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? owner->shape : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? owner->strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = owner;
  return 0;
} catch (const std::exception& e) {
  view->obj = nullptr;
  PyErr_SetString(PyExc_BufferError, e.what());
  return -1;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<BufferOwner*>(view->internal); }

// ---- nested lists -------------------------------------------------------------------------------
bool is_list(py::handle h) { return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()); }

// The numbers of nested lists, whose shape is that of the first items.
struct Nested {
  std::vector<std::int64_t> shape;
  std::vector<Scalar> numbers;
  int kind = -1;         // -1: no number, 0: bool, 1: int, 2: float, 3: complex
  bool is_plain = true;  // only numbers of Python

  void read(py::handle h, std::size_t depth) {
    if (!is_list(h)) {
      check<ValueError>(depth == shape.size(), kOp, "the lists are nested to different depths");
      if (!is_number(h)) {
        is_plain = false;
        return;
      }
      kind = std::max(kind, PyBool_Check(h.ptr()) ? 0 : PyLong_Check(h.ptr()) ? 1 : PyFloat_Check(h.ptr()) ? 2 : 3);
      numbers.push_back(scalar_of(h));
      return;
    }
    const auto items = py::reinterpret_borrow<py::sequence>(h);
    const auto n = static_cast<std::int64_t>(items.size());
    check<ValueError>(depth < shape.size() && shape[depth] == n, kOp, "the lists have different lengths: ", n, " and ",
                      depth < shape.size() ? shape[depth] : 0);
    for (const auto& item : items) {
      read(item, depth + 1);
      if (!is_plain) return;
    }
  }
};

Array from_list(py::handle h) {
  Nested nested;
  py::object first = py::reinterpret_borrow<py::object>(h);
  while (is_list(first)) {
    const auto items = py::reinterpret_borrow<py::sequence>(first);
    nested.shape.push_back(static_cast<std::int64_t>(items.size()));
    check<ValueError>(nested.shape.size() <= catena::kMaxRank, kOp, "the lists are nested too deeply");
    if (items.size() == 0) break;
    first = items[0];
  }
  if (is_number(first) || is_list(first)) nested.read(h, 0);
  else nested.is_plain = false;
  if (!nested.is_plain) {  // lists of arrays, or of numbers of other libraries
    std::vector<Array> parts;
    for (const auto& item : py::reinterpret_borrow<py::sequence>(h)) parts.push_back(asarray(item));
    return stack(parts);
  }
  const Shape shape(nested.shape);
  const auto filled = [&]<class E>(E) {
    std::vector<E> values;
    values.reserve(nested.numbers.size());
    for (const Scalar& s : nested.numbers) values.push_back(s.to<E>());
    return array(values.data(), shape);
  };
  switch (nested.kind) {
    case 0: return filled(std::uint8_t()).astype(Dtype::bool_);
    case 1:
      for (const Scalar& s : nested.numbers)
        if (s.kind() == Scalar::Kind::unsigned_) return filled(std::uint64_t());
      return filled(std::int64_t());
    case 3: return filled(complex128_t());
    default: return filled(double());
  }
}

}  // namespace

// ---- arrays -------------------------------------------------------------------------------------
Array asarray(py::handle object, std::optional<Dtype> dtype, std::optional<bool> copy) {
  Array a;
  bool is_new = true;  // no other object sees the elements
  if (py::isinstance<Array>(object)) {
    a = py::cast<Array>(object);
    is_new = false;
  } else if (is_number(object)) {
    a = array_of(scalar_of(object));
  } else if (is_list(object)) {
    a = from_list(object);
  } else {
    bool is_read_only = false;
    if (PyObject_CheckBuffer(object.ptr())) a = from_buffer(object, is_read_only);
    if (!a.is_null()) {
      const bool moves = current_device() != cpu_device;
      check<ValueError>(copy != false || !(moves || is_read_only), kOp, "a copy is needed, which copy = False forbids");
      is_new = moves || is_read_only;
      if (is_new) a = moves ? a.to_device(current_device()) : a.copy();
    } else if (py::hasattr(object, "__dlpack__")) {
      a = from_dlpack(object, {}, copy);
      is_new = false;
    } else if (py::hasattr(object, "__array__")) {
      return asarray(object.attr("__array__")(), dtype, copy);
    } else if (PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) || PyComplex_Check(object.ptr())) {
      a = array_of(PyFloat_Check(object.ptr()) ? Scalar(PyFloat_AsDouble(object.ptr()))
                                               : Scalar(py::cast<std::complex<double>>(object).real()));
    } else {
      fail<TypeError>(kOp, "an object of ", std::string(py::str(py::type::handle_of(object))), " holds no numbers");
    }
  }
  if (dtype && *dtype != a.dtype()) {
    check<ValueError>(copy != false, kOp, "the dtype ", *dtype, " needs a copy, which copy = False forbids");
    return a.astype(*dtype);
  }
  return copy == true && !is_new ? a.copy(Order::K) : a;
}

Value value_of(py::handle object) {
  if (is_number(object)) return {{}, scalar_of(object)};
  return {asarray(object), {}};
}

bool is_value(py::handle object) {
  return is_number(object) || py::isinstance<Array>(object) || is_list(object) ||
         (PyObject_CheckBuffer(object.ptr()) && !PyBytes_Check(object.ptr())) || py::hasattr(object, "__dlpack__") ||
         (py::hasattr(object, "__array__") && !PyType_Check(object.ptr()));
}

void add_buffer_protocol(py::handle type) {
  auto* const heap = reinterpret_cast<PyHeapTypeObject*>(type.ptr());
  heap->as_buffer.bf_getbuffer = &get_buffer;
  heap->as_buffer.bf_releasebuffer = &release_buffer;
  heap->ht_type.tp_as_buffer = &heap->as_buffer;
}

std::vector<Array> arrays_of(const Likes& list) {
  std::vector<Array> arrays;
  for (const Like& x : list) arrays.push_back(x.array);
  return arrays;
}

// ---- DLPack -------------------------------------------------------------------------------------
Array from_dlpack(py::handle object, std::optional<Device> device, std::optional<bool> copy) {
  check<TypeError>(py::hasattr(object, "__dlpack__"), "from_dlpack", "an object of ",
                   std::string(py::str(py::type::handle_of(object))), " has no __dlpack__");
  py::dict options;
  if (py::hasattr(object, "__dlpack_device__")) {
    const auto [type, number] = py::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
    if (type == 2) {
      const void* handle = current_stream({Device::Kind::cuda, static_cast<std::int16_t>(number)}).handle;
      options["stream"] = handle == nullptr ? 1 : reinterpret_cast<std::uintptr_t>(handle);
    }
  }
  py::object capsule;
  try {
    capsule = object.attr("__dlpack__")(**options, py::arg("max_version") = py::make_tuple(1, 0));
  } catch (py::error_already_set& e) {
    if (!e.matches(PyExc_TypeError)) throw;
    capsule = object.attr("__dlpack__")(**options);  // a library of before DLPack 1
  }
  const FromDlpackOptions how{.device = device, .copy = copy};
  Array a;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    a = nd::from_dlpack(
        static_cast<dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned")), how);
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
  } else {
    check<TypeError>(PyCapsule_IsValid(capsule.ptr(), "dltensor"), "from_dlpack", "__dlpack__ returned no new tensor");
    a = nd::from_dlpack(static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor")), how);
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  }
  return a;
}

namespace {
// The destructor of a capsule whose tensor nobody has taken.
template <class T> void destroy_tensor(PyObject* capsule) {
  const char* const name = PyCapsule_GetName(capsule);
  if (name == nullptr || std::string_view(name).starts_with("used_")) return;
  DlpackTensor(static_cast<T*>(PyCapsule_GetPointer(capsule, name)));
}
}  // namespace

py::object to_dlpack(const Array& a, py::handle stream, py::handle max_version, py::handle dl_device, py::handle copy) {
  ToDlpackOptions options;
  options.max_version = {0, 8};
  if (!max_version.is_none()) options.max_version.major = py::cast<std::pair<unsigned, unsigned>>(max_version).first;
  if (!copy.is_none()) options.copy = py::cast<bool>(copy);
  if (!dl_device.is_none()) {
    const auto [type, number] = py::cast<std::pair<int, int>>(dl_device);
    check<ValueError>(type == 1 || type == 2, "__dlpack__", "there is no device of type ", type);
    options.device = type == 1 ? cpu_device : Device{Device::Kind::cuda, static_cast<std::int16_t>(number)};
  }
  const Device to = options.device.value_or(a.device());
  if (to.kind == Device::Kind::cuda) {
    // None stands for the default stream, -1 for no order.
    const std::intptr_t number = stream.is_none() ? 1 : py::cast<std::intptr_t>(stream);
    if (number != -1) options.stream = StreamRef{to, reinterpret_cast<void*>(number)};
  } else if (a.device().kind == Device::Kind::cuda) {
    options.copy = true;
  }
  DlpackTensor tensor = nd::to_dlpack(a, options);
  if (tensor.is_versioned())
    return py::reinterpret_steal<py::object>(PyCapsule_New(tensor.release<dlpack::ManagedTensorVersioned>(),
                                                           "dltensor_versioned",
                                                           &destroy_tensor<dlpack::ManagedTensorVersioned>));
  return py::reinterpret_steal<py::object>(
      PyCapsule_New(tensor.release<dlpack::ManagedTensor>(), "dltensor", &destroy_tensor<dlpack::ManagedTensor>));
}

// ---- other arguments ----------------------------------------------------------------------------
std::optional<Dtype> dtype_of(py::handle object) {
  if (object.is_none()) return {};
  if (py::isinstance<DtypeObject>(object)) return py::cast<DtypeObject>(object).value;
  if (py::isinstance<py::str>(object)) return catena::dtype_from_name(py::cast<std::string>(object));
  if (object.ptr() == reinterpret_cast<PyObject*>(&PyBool_Type)) return Dtype::bool_;
  if (object.ptr() == reinterpret_cast<PyObject*>(&PyLong_Type)) return Dtype::int64;
  if (object.ptr() == reinterpret_cast<PyObject*>(&PyFloat_Type)) return Dtype::float64;
  if (object.ptr() == reinterpret_cast<PyObject*>(&PyComplex_Type)) return Dtype::complex128;
  if (PyType_Check(object.ptr()) && py::hasattr(object, "dtype"))  // numpy.float32
    return catena::dtype_from_name(py::cast<std::string>(object.attr("__name__")));
  if (py::hasattr(object, "name")) return catena::dtype_from_name(py::cast<std::string>(object.attr("name")));
  fail<TypeError>("dtype", std::string(py::repr(object)), " is no dtype");
}

Casting casting_of(const std::string& name) {
  for (const Casting c : {Casting::no, Casting::equiv, Casting::safe, Casting::same_kind, Casting::unsafe})
    if (catena::name_of(c) == name) return c;
  fail<ValueError>("casting", "'", name, "' is not one of no, equiv, safe, same_kind and unsafe");
}

MaybeDevice device_of(py::handle object) {
  if (object.is_none()) return {};
  check<TypeError>(py::isinstance<py::str>(object), "device", std::string(py::repr(object)),
                   " is no device; write its name, such as 'cpu' or 'cuda:0'");
  return {device_from_name(py::cast<std::string>(object))};
}

namespace {
std::int64_t integer_of(py::handle object) {
  const Py_ssize_t i = PyNumber_AsSsize_t(object.ptr(), PyExc_IndexError);
  if (i == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return i;
}
std::vector<std::int64_t> integers_of(py::handle object) {
  std::vector<std::int64_t> list;
  for (const auto& item : py::reinterpret_borrow<py::object>(object)) list.push_back(integer_of(item));
  return list;
}
}  // namespace

Lengths lengths_of(py::handle object) {
  if (PyIndex_Check(object.ptr())) return {Shape{integer_of(object)}};
  return {Shape(integers_of(object))};
}

AxesArgument axes_of(py::handle object) {
  if (object.is_none()) return {};
  if (PyIndex_Check(object.ptr())) return {Axes(integer_of(object))};
  return {Axes(integers_of(object))};
}

Saturated saturated_of(py::handle object) {
  const Py_ssize_t i = PyNumber_AsSsize_t(object.ptr(), nullptr);  // saturates
  if (i == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return {i};
}

Out out_of(py::handle object) {
  if (object.is_none()) return {};
  if (py::isinstance<py::tuple>(object) && py::len(object) == 1) return out_of(py::cast<py::tuple>(object)[0]);
  check<TypeError>(py::isinstance<Array>(object), "out", "the output must be a catena.Array");
  return {py::cast<Array>(object)};
}

namespace {
IndexKey key_of(py::handle item) {
  if (item.is_none()) return newaxis;
  if (item.ptr() == Py_Ellipsis) return ellipsis;
  if (PySlice_Check(item.ptr())) {
    const auto bound = [&](const char* name) -> std::optional<std::int64_t> {
      const py::object value = item.attr(name);
      return value.is_none() ? std::nullopt : std::optional(integer_of(value));
    };
    return Slice(bound("start"), bound("stop"), bound("step"));
  }
  if (PyBool_Check(item.ptr())) return array_of(Scalar(item.ptr() == Py_True));
  if (PyLong_Check(item.ptr())) return integer_of(item);
  const Array a = asarray(item);
  if (a.ndim() == 0 && catena::is_integer(a.dtype())) return a.item<std::int64_t>();
  if (a.size() == 0 && is_list(item)) return a.astype(Dtype::int64);
  return a;
}
}  // namespace

std::vector<IndexKey> keys_of(py::handle key) {
  std::vector<IndexKey> keys;
  if (PyTuple_Check(key.ptr()))
    for (const auto& item : py::reinterpret_borrow<py::tuple>(key)) keys.push_back(key_of(item));
  else keys.push_back(key_of(key));
  return keys;
}

// ---- results ------------------------------------------------------------------------------------
py::tuple tuple_of(const catena::Dims& list) {
  py::tuple t(static_cast<std::size_t>(list.size()));
  for (int i = 0; i < list.size(); ++i) t[static_cast<std::size_t>(i)] = py::int_(list[i]);
  return t;
}
py::tuple tuple_of(const std::vector<Array>& arrays) { return py::tuple(py::cast(arrays)); }

py::object named_tuple(const char* name, const std::vector<const char*>& fields, const std::vector<Array>& values) {
  static auto* const classes = new std::map<std::string, py::object>;  // lives as long as the interpreter
  py::object& type = (*classes)[name];
  if (!type) type = py::module_::import("collections").attr("namedtuple")(name, fields);
  py::list items;
  for (const Array& a : values) items.append(a.is_null() ? py::object(py::none()) : py::cast(a));
  return type(*items);
}

}  // namespace nd::python
