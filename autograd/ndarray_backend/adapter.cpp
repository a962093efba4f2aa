#include <catena/autograd/ndarray_backend/adapter.h>

#include <array>
#include <cstring>
#include <vector>

#include <catena/autograd/ndarray_backend/cudnn_extension.h>
#include <catena/autograd/ndarray_backend/device_extension.h>
#include <catena/autograd/ndarray_backend/ndarray_backend.h>
#include <catena/autograd/ndarray_backend/onednn_extension.h>
#include <catena/kernels/rows/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/backend.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/memory_pool.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/reduction.h>

namespace autograd {
namespace internal {
namespace {

using catena::ArrayHeader;
using catena::BoundCall;
using catena::BoundOperand;
using catena::check;
using catena::KernelDef;
using catena::KernelKind;
using catena::ScalarCell;
using catena::ValueError;

// The nd::Backend and the stream of one call.
struct Target {
  explicit Target(Device device) : backend(backend_of(device)), stream(stream_of(device)) {}
  static nd::Backend& backend_of(Device device) {
    static nd::Backend& cpu = nd::backend(Device::Kind::cpu);
    return device.kind == Device::Kind::cpu ? cpu : nd::backend(device.kind);
  }
  static nd::StreamRef stream_of(Device device) {  // on the CPU the calling thread itself
    return device.kind == Device::Kind::cpu ? nd::StreamRef{device, nullptr} : nd::current_stream(device);
  }
  // Work that uses `a` was given to the stream: its memory must not be reused before. On the CPU the work is done
  // already.
  void used(const ArrayHeader& a) const {
    if (stream.device.kind != Device::Kind::cpu && a.storage) nd::MemoryPool::record_stream(*a.storage, stream);
  }
  void written(const ArrayHeader& a) const {
    used(a);
    if (a.storage) a.storage->version.fetch_add(1, std::memory_order_relaxed);
  }

  nd::Backend& backend;
  nd::StreamRef stream;
};

// The two lie in one piece of memory and are not apart. Unlike catena::overlaps it also says yes for equal views: for
// operations that read other elements than the one they write.
bool touch(const ArrayHeader& a, const ArrayHeader& b) {
  if (a.size == 0 || b.size == 0 || !(a.device == b.device)) return false;
  const catena::ByteRange ra = catena::byte_range(a.shape, a.strides, catena::itemsize(a.dtype));
  const catena::ByteRange rb = catena::byte_range(b.shape, b.strides, catena::itemsize(b.dtype));
  return a.data + ra.begin < b.data + rb.end && b.data + rb.begin < a.data + ra.end;
}

// Strides of `a` seen at the wider shape `to`; the shapes are known to fit.
Strides strides_at(const ArrayHeader& a, const Shape& to) {
  Strides strides = Strides::filled(to.size(), 0);
  const int shift = to.size() - a.shape.size();
  for (int i = 0; i < a.shape.size(); ++i)
    if (a.shape[i] == to[i + shift]) strides[i + shift] = a.strides[i];
  return strides;
}

void check_fits(std::string_view op, const ArrayHeader& a, const Shape& to) {
  bool fits = a.shape.size() <= to.size();
  for (int i = 0; fits && i < a.shape.size(); ++i) {
    const std::int64_t n = a.shape[i];
    fits = n == 1 || n == to[i + to.size() - a.shape.size()];
  }
  check<ValueError>(fits, op, "shape ", a.shape, " does not broadcast to ", to);
}

}  // namespace

NdarrayBackend::NdarrayBackend() {
  nd::mutable_array_owner().framework.store(static_cast<Backend*>(this), std::memory_order_release);
}

Device NdarrayBackend::default_device() { return nd::current_device(); }

// ---- memory -------------------------------------------------------------------------------------
Array NdarrayBackend::empty(const Shape& shape, Dtype dtype, Device device) {
  return Array(nd::internal::new_array(shape, dtype, device));
}

Array NdarrayBackend::from_host(const void* data, const Shape& shape, Dtype dtype, Device device) {
  Array a = empty(shape, dtype, device);
  const std::size_t bytes = static_cast<std::size_t>(a.size()) * catena::itemsize(dtype);
  if (bytes == 0) return a;
  if (device.kind == Device::Kind::cpu) {
    std::memcpy(a->data, data, bytes);
  } else {
    const Target target(device);
    target.backend.copy(a->data, device, static_cast<const std::byte*>(data), {}, bytes, target.stream);
    target.used(*a.get());
  }
  return a;
}

void NdarrayBackend::to_host(const Array& a, void* data) {
  if (a.size() == 0) return;
  const Array packed = a.is_c_contiguous() ? a : packed_copy(*a.get(), a.dtype());
  const std::size_t bytes = static_cast<std::size_t>(a.size()) * catena::itemsize(a.dtype());
  if (a.device().kind == Device::Kind::cpu) {
    std::memcpy(data, packed->data, bytes);
    return;
  }
  const Target target(a.device());
  target.backend.copy(static_cast<std::byte*>(data), {}, packed->data, a.device(), bytes, target.stream);
  target.backend.synchronize(target.stream);
}

Array NdarrayBackend::to_device(const Array& a, Device device) {
  if (a.device() == device) return a;
  const Array packed = a.is_c_contiguous() ? a : packed_copy(*a.get(), a.dtype());
  Array out = empty(a.shape(), a.dtype(), device);
  if (a.size() == 0) return out;
  // The stream is that of the side that has one; between two GPUs that of the receiving one.
  const Target target(device.kind == Device::Kind::cpu ? a.device() : device);
  target.backend.copy(out->data, device, packed->data, a.device(),
                      static_cast<std::size_t>(a.size()) * catena::itemsize(a.dtype()), target.stream);
  target.used(*packed.get());
  target.used(*out.get());
  // Pageable host memory is read by the framework as soon as this returns.
  if (device.kind == Device::Kind::cpu) target.backend.synchronize(target.stream);
  return out;
}

void NdarrayBackend::synchronize(Device device) { nd::synchronize(device); }

Array NdarrayBackend::view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) {
  return Array(catena::make_header(a->storage, a->data + offset_bytes, a->dtype, shape, strides, a->device, a->owner));
}

Array NdarrayBackend::packed_copy(const ArrayHeader& a, Dtype dtype) {
  Array out = empty(a.shape, dtype, a.device);
  const KernelDef& copy = catena::rows::copy;
  const Input input(a);
  elementwise(catena::EagerProgram(copy, catena::choose_loop_by_output(copy, dtype)), {&input, 1}, {&out, 1});
  return out;
}

// ---- kernels ------------------------------------------------------------------------------------
namespace {

// The output of a reduction of `shape`, given with or without the reduced axes, as it is seen with them.
class ReducedOutput {
 public:
  ReducedOutput(const KernelDef& kernel, const Shape& shape, const Dims& axes, const Array& out)
      : out_(*out.get()), kept_(catena::reduced_shape(shape, axes, true)) {
    check<ValueError>(out_.shape == kept_ || out_.shape == catena::reduced_shape(shape, axes, false), kernel.name,
                      "the output has shape ", out_.shape, ", the input ", shape, " reduced over ", axes);
    strides_ = nd::internal::reduced_strides(out_, shape.size(), axes);
  }
  BoundOperand operand() const { return {out_.data, out_.dtype, false, &kept_, &strides_}; }

 private:
  const ArrayHeader& out_;
  Shape kept_;
  Strides strides_;
};

// Whether writing `outputs` could change elements of `in` that are still to be read. A raw operand is read anywhere at
// any time.
bool needs_copy(const ArrayHeader& in, bool raw, std::span<ArrayHeader* const> outputs) {
  for (const ArrayHeader* out : outputs) {
    if (&in == out && !raw) continue;
    if (in.storage != out->storage && in.data != out->data && in.c_contiguous && out->c_contiguous) {
      // The usual case, decided without a look at the strides.
      const std::int64_t n = in.size * std::int64_t(catena::itemsize(in.dtype)),
                         m = out->size * std::int64_t(catena::itemsize(out->dtype));
      if (in.data + n <= out->data || out->data + m <= in.data) continue;
    }
    if (raw ? touch(in, *out) : catena::overlaps(in, *out)) return true;
  }
  return false;
}

}  // namespace

void NdarrayBackend::elementwise(const catena::Program& program, std::span<const Input> inputs,
                                 std::span<const Array> outputs) {
  const KernelDef& kernel = *program.steps[0].kernel;
  const bool indexed = kernel.kind == KernelKind::indexed;
  const std::uint16_t raw = indexed ? kernel.raw : 0;
  check<ValueError>(!outputs.empty() && outputs.size() <= catena::kMaxOperands, kernel.name, outputs.size(),
                    " outputs were given");
  ArrayHeader* headers[catena::kMaxOperands];
  for (std::size_t k = 0; k < outputs.size(); ++k) headers[k] = outputs[k].get();
  const std::span<ArrayHeader* const> out(headers, outputs.size());

  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].is_array() || !needs_copy(inputs[k].array(), (raw >> k) & 1, out)) continue;
    const Array copy = packed_copy(inputs[k].array(), inputs[k].array().dtype);
    catena::SmallVector<Input, 8> replaced;
    for (const Input& in : inputs) replaced.push_back(in);
    replaced[k] = Input(*copy.get());
    return elementwise(program, replaced, outputs);  // looks at the inputs after this one
  }

  BoundCall call;
  call.bind(kernel.name, inputs, out, program.slots.data(), raw, indexed);
  if (catena::size_of(call.loop()) == 0) return;
  const Target target(outputs[0].device());
  target.backend.elementwise(program, call.operands(), call.loop(), target.stream);
  for (const Input& in : inputs)
    if (in.is_array()) target.used(in.array());
  for (const ArrayHeader* o : out) target.written(*o);
}

void NdarrayBackend::reduce(const KernelDef& kernel, int loop, const Array& in, const Dims& axes, const Array& out) {
  if (touch(*in.get(), *out.get())) return reduce(kernel, loop, packed_copy(*in.get(), in.dtype()), axes, out);
  const ReducedOutput reduced(kernel, in.shape(), axes, out);
  if (out.size() == 0) return;
  const Target target(out.device());
  catena::ReduceCall call;
  call.kernel = &kernel;
  call.loop = loop;
  call.in = catena::operand_of(*in.get());
  call.out = reduced.operand();
  call.axes = axes;
  target.backend.reduce(call, target.stream);
  target.used(*in.get());
  target.written(*out.get());
}

void NdarrayBackend::reduce(const KernelDef& kernel, int loop, const catena::Program& map,
                            std::span<const Input> inputs, const Dims& axes, const Array& out) {
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k].is_array() || !touch(inputs[k].array(), *out.get())) continue;
    const Array copy = packed_copy(inputs[k].array(), inputs[k].array().dtype);
    catena::SmallVector<Input, 8> replaced;
    for (const Input& in : inputs) replaced.push_back(in);
    replaced[k] = Input(*copy.get());
    return reduce(kernel, loop, map, replaced, axes, out);  // looks at the inputs after this one
  }
  BoundCall bound;
  bound.bind(kernel.name, inputs, {}, map.slots.data(), 0, true);
  const Shape& shape = bound.loop();
  const ReducedOutput reduced(kernel, shape, axes, out);
  if (out.size() == 0) return;
  const Target target(out.device());
  const Dtype element = map.slots[map.nin];
  const Strides guide = nd::internal::guide_strides(bound.operands(), shape, element);
  catena::ReduceCall call;
  call.kernel = &kernel;
  call.loop = loop;
  call.in = {nullptr, element, false, &shape, &guide};
  call.out = reduced.operand();
  call.axes = axes;
  call.pre = &map;
  call.pre_inputs = bound.operands();
  target.backend.reduce(call, target.stream);
  for (const Input& in : inputs)
    if (in.is_array()) target.used(in.array());
  target.written(*out.get());
}

void NdarrayBackend::scan(const KernelDef& kernel, int loop, const Array& in, int axis, const Array& out) {
  check<ValueError>(out.shape() == in.shape() && axis >= 0 && axis < in.ndim(), kernel.name, "the output has shape ",
                    out.shape(), ", the input ", in.shape(), " is scanned along axis ", axis);
  if (touch(*in.get(), *out.get())) return scan(kernel, loop, packed_copy(*in.get(), in.dtype()), axis, out);
  if (out.size() == 0) return;
  const Target target(out.device());
  target.backend.scan({&kernel, loop, catena::operand_of(*in.get()), catena::operand_of(*out.get()), axis},
                      target.stream);
  target.used(*in.get());
  target.written(*out.get());
}

void NdarrayBackend::sort(const Array& in, int axis, bool positions, const Array& out) {
  const Dtype wanted = positions ? Dtype::int64 : in.dtype();
  check<ValueError>(out.shape() == in.shape() && out.dtype() == wanted && axis >= 0 && axis < in.ndim(), "sort",
                    "the output is ", out.dtype(), " of shape ", out.shape(), " and should be ", wanted, " of shape ",
                    in.shape(), ", sorted along axis ", axis);
  if (touch(*in.get(), *out.get())) return sort(packed_copy(*in.get(), in.dtype()), axis, positions, out);
  if (out.size() == 0) return;
  const Target target(out.device());
  target.backend.sort({catena::operand_of(*in.get()), catena::operand_of(*out.get()), positions, axis}, target.stream);
  target.used(*in.get());
  target.written(*out.get());
}

void NdarrayBackend::nonzero(const Array& in, const Array& out) {
  check<ValueError>(
      out.ndim() == 2 && out.shape(0) == in.ndim() && out.dtype() == Dtype::int64 && out.is_c_contiguous(), "nonzero",
      "the output is ", out.dtype(), " of shape ", out.shape(), " and should be int64 with ", in.ndim(),
      " rows, C-contiguous");
  if (out.size() == 0) return;
  if (touch(*in.get(), *out.get())) return nonzero(packed_copy(*in.get(), in.dtype()), out);
  const Target target(out.device());
  target.backend.nonzero({catena::operand_of(*in.get()), out.shape(1), catena::operand_of(*out.get())}, target.stream);
  target.used(*in.get());
  target.written(*out.get());
}

void NdarrayBackend::rows(const KernelDef& kernel, int loop, const Shape& shape, const Dims& axes,
                          std::span<const Input> inputs, std::span<const Array> outputs) {
  const int nin = kernel.nin, total = kernel.num_operands();
  check<ValueError>(int(inputs.size()) == nin && int(outputs.size()) == total - nin, kernel.name, inputs.size(),
                    " inputs and ", outputs.size(), " outputs do not fit the kernel");
  const Shape per_row = catena::reduced_shape(shape, axes, true);
  const catena::Loop& types = kernel.loop_table[loop];
  Arrays copies;  // of inputs that an output overlaps
  std::array<BoundOperand, catena::kMaxOperands> operands;
  std::array<Strides, catena::kMaxOperands> strides;
  std::array<ScalarCell, catena::kMaxOperands> cells;
  for (int k = 0; k < nin; ++k) {
    const Input& in = inputs[std::size_t(k)];
    if (!in.is_array()) {
      cells[std::size_t(k)] = ScalarCell(in.scalar(), types.type[std::size_t(k)]);
      strides[std::size_t(k)] = Strides::filled(shape.size(), 0);
      operands[std::size_t(k)] = {cells[std::size_t(k)].bytes, types.type[std::size_t(k)], true, &shape,
                                  &strides[std::size_t(k)]};
      continue;
    }
    const ArrayHeader* a = &in.array();
    check_fits(kernel.name, *a, shape);
    // A row is read whole before its elements are written, one by one from their own inputs: equal views are fine.
    for (const Array& out : outputs)
      if (catena::overlaps(*a, *out.get())) {
        copies.push_back(packed_copy(*a, a->dtype));
        a = copies.back().get();
        break;
      }
    strides[std::size_t(k)] = strides_at(*a, shape);
    operands[std::size_t(k)] = {a->data, a->dtype, false, &shape, &strides[std::size_t(k)]};
  }
  for (int k = nin; k < total; ++k) {
    const Array& out = outputs[std::size_t(k - nin)];
    const bool is_row = k >= nin + kernel.nout;
    check<ValueError>(out.shape() == (is_row ? per_row : shape), kernel.name, "output ", k - nin, " has shape ",
                      out.shape(), " and should have ", is_row ? per_row : shape);
    strides[std::size_t(k)] = out.strides();
    if (is_row)
      for (std::int64_t axis : axes) strides[std::size_t(k)][int(axis)] = 0;
    operands[std::size_t(k)] = {out->data, out.dtype(), false, &shape, &strides[std::size_t(k)]};
  }
  if (catena::size_of(shape) == 0) {
    // Rows without elements have no statistics.
    const KernelDef& copy = catena::rows::copy;
    const Input zero(Scalar(0));
    for (const Array& out : outputs)
      if (out.size() > 0)
        elementwise(catena::EagerProgram(copy, catena::choose_loop_by_output(copy, out.dtype())), {&zero, 1},
                    {&out, 1});
    return;
  }
  const Target target(outputs[0].device());
  target.backend.rows({&kernel, loop, shape, axes, std::span<const BoundOperand>(operands.data(), std::size_t(total))},
                      target.stream);
  for (const Input& in : inputs)
    if (in.is_array()) target.used(in.array());
  for (const Array& out : outputs) target.written(*out.get());
}

void NdarrayBackend::multi_tensor(const KernelDef& kernel, int loop, std::span<const std::span<const Array>> tensors,
                                  std::span<const catena::Hyper> hyper, std::span<const std::int32_t> hyper_of_tensor,
                                  const HyperRefresh* refresh) {
  const int total = kernel.num_operands();
  check<ValueError>(int(tensors.size()) == total, kernel.name, tensors.size(), " operands were given, it takes ",
                    total);
  std::vector<catena::TensorEntry> entries(hyper_of_tensor.size());
  const Array* first = nullptr;
  for (std::size_t t = 0; t < entries.size(); ++t) {
    catena::TensorEntry& entry = entries[t];
    entry.hyper = hyper_of_tensor[t];
    check<ValueError>(entry.hyper >= 0 && std::size_t(entry.hyper) < hyper.size(), kernel.name, "tensor ", t,
                      " asks for hyperparameters ", entry.hyper, " of ", hyper.size());
    bool counted = false;
    for (int k = 0; k < total; ++k) {
      const bool shared = (kernel.shared >> k) & 1;
      const std::span<const Array> list = tensors[std::size_t(k)];
      check<ValueError>(list.size() == entries.size() || (shared && list.size() == 1), kernel.name, "operand ", k,
                        " has ", list.size(), " tensors instead of ", entries.size());
      const Array& a = list[list.size() == 1 ? 0 : t];
      const Dtype wanted = kernel.loop_table[loop].type[std::size_t(k)];
      check<catena::TypeError>(a.dtype() == wanted && a.is_c_contiguous(), kernel.name, "operand ", k, " of tensor ", t,
                               " must be a C-contiguous array of ", wanted);
      if (!shared) {
        check<ValueError>(!counted || entry.n == a.size(), kernel.name, "operand ", k, " of tensor ", t, " has ",
                          a.size(), " elements instead of ", entry.n);
        entry.n = a.size();
        counted = true;
      }
      entry.data[std::size_t(k)] = a->data;
      if (first == nullptr) first = &a;
      check<ValueError>(a.device() == first->device(), kernel.name, "tensors live on ", first->device(), " and on ",
                        a.device());
    }
  }
  if (first == nullptr) return;
  const Target target(first->device());
  target.backend.multi_tensor({&kernel, loop, entries, hyper, refresh}, target.stream);
  for (int k = 0; k < total; ++k)
    for (const Array& a : tensors[std::size_t(k)]) k < kernel.nin ? target.used(*a.get()) : target.written(*a.get());
}

// ---- indexing by arrays, products, random numbers -----------------------------------------------
namespace {

// The operands of a gather or scatter; they point into it.
struct IndexedOperands {
  IndexedOperands(std::string_view op, const Array& a, std::span<const Array> indices, const Dims& along,
                  const Shape& loop, const Dims& base_axis) {
    check<ValueError>(
        int(indices.size()) == along.size() && along.size() <= catena::kMaxRank && base_axis.size() == loop.size(), op,
        indices.size(), " index arrays for ", along.size(), " axes");
    base_strides = Strides::filled(loop.size(), 0);
    for (int i = 0; i < loop.size(); ++i)
      if (base_axis[i] >= 0) base_strides[i] = a.strides()[int(base_axis[i])];
    strides.resize(indices.size());
    for (std::size_t j = 0; j < indices.size(); ++j) {
      const ArrayHeader& index = *indices[j].get();
      check_fits(op, index, loop);
      strides[j] = strides_at(index, loop);
      const int axis = int(along[int(j)]);
      axes.push_back({{index.data, index.dtype, false, &loop, &strides[j]}, a.shape(axis), a.strides()[axis]});
    }
    base = {a->data, a.dtype(), false, &loop, &base_strides};
  }
  IndexedOperands(const IndexedOperands&) = delete;
  IndexedOperands& operator=(const IndexedOperands&) = delete;

  BoundOperand base;
  Strides base_strides;
  catena::SmallVector<Strides, 2> strides;
  catena::SmallVector<catena::IndexAxis, 2> axes;
};

}  // namespace

void NdarrayBackend::gather(const Array& a, std::span<const Array> indices, const Dims& axes, const Shape& loop,
                            const Dims& base_axis, const Array& out) {
  check<ValueError>(out.shape() == loop && out.dtype() == a.dtype(), "gather", "the output is ", out.dtype(),
                    " of shape ", out.shape(), " and should be ", a.dtype(), " of shape ", loop);
  if (out.size() == 0) return;
  if (touch(*a.get(), *out.get())) return gather(packed_copy(*a.get(), a.dtype()), indices, axes, loop, base_axis, out);
  for (std::size_t j = 0; j < indices.size(); ++j) {
    if (!catena::overlaps(*indices[j].get(), *out.get())) continue;
    Arrays apart(std::vector<Array>(indices.begin(), indices.end()));
    apart[j] = packed_copy(*indices[j].get(), indices[j].dtype());
    return gather(a, apart, axes, loop, base_axis, out);
  }
  const IndexedOperands operands("gather", a, indices, axes, loop, base_axis);
  const Target target(out.device());
  target.backend.gather({loop, operands.base, operands.axes, catena::operand_of(*out.get())}, target.stream);
  target.used(*a.get());
  for (const Array& index : indices) target.used(*index.get());
  target.written(*out.get());
}

void NdarrayBackend::scatter(catena::ScatterMode mode, const Array& a, std::span<const Array> indices, const Dims& axes,
                             const Shape& loop, const Dims& base_axis, const Input& values) {
  if (catena::size_of(loop) == 0) return;
  // Values of another dtype, host scalars, and whatever shares memory with the target become arrays of their own.
  Array own;
  const ArrayHeader* from = values.is_array() ? &values.array() : nullptr;
  if (from == nullptr) {
    own = empty({}, a.dtype(), a.device());
    const KernelDef& copy = catena::rows::copy;
    elementwise(catena::EagerProgram(copy, catena::choose_loop_by_output(copy, a.dtype())), {&values, 1}, {&own, 1});
    from = own.get();
  } else if (from->dtype != a.dtype() || touch(*from, *a.get())) {
    own = packed_copy(*from, a.dtype());
    from = own.get();
  }
  check_fits("scatter", *from, loop);
  for (std::size_t j = 0; j < indices.size(); ++j) {
    if (!touch(*indices[j].get(), *a.get())) continue;
    Arrays apart(std::vector<Array>(indices.begin(), indices.end()));
    apart[j] = packed_copy(*indices[j].get(), indices[j].dtype());
    return scatter(mode, a, apart, axes, loop, base_axis, Input(*from));
  }
  const IndexedOperands operands("scatter", a, indices, axes, loop, base_axis);
  const Strides strides = strides_at(*from, loop);
  const Target target(a.device());
  target.backend.scatter({loop, operands.base, operands.axes, {from->data, from->dtype, false, &loop, &strides}}, mode,
                         target.stream);
  target.used(*from);
  for (const Array& index : indices) target.used(*index.get());
  target.written(*a.get());
}

void NdarrayBackend::matmul(const Array& a, const Array& b, const Array& out) {
  if (touch(*a.get(), *out.get())) return matmul(packed_copy(*a.get(), a.dtype()), b, out);
  if (touch(*b.get(), *out.get())) return matmul(a, packed_copy(*b.get(), b.dtype()), out);
  check<catena::TypeError>(a.dtype() == b.dtype() && a.dtype() == out.dtype(), "matmul", "the operands are ", a.dtype(),
                           ", ", b.dtype(), " and ", out.dtype(), "; they must have one dtype");
  if (out.size() == 0) return;
  const int rank = out.ndim();
  const auto seen_at = [&](const Array& x, Shape& shape) {
    shape = out.shape();
    shape[rank - 2] = x.shape(x.ndim() - 2);
    shape[rank - 1] = x.shape(x.ndim() - 1);
    check_fits("matmul", *x.get(), shape);
    return strides_at(*x.get(), shape);
  };
  Shape shape_a, shape_b;
  const Strides strides_a = seen_at(a, shape_a), strides_b = seen_at(b, shape_b);
  const Target target(out.device());
  target.backend.matmul({{a->data, a.dtype(), false, &shape_a, &strides_a},
                         {b->data, b.dtype(), false, &shape_b, &strides_b},
                         catena::operand_of(*out.get())},
                        target.stream);
  target.used(*a.get());
  target.used(*b.get());
  target.written(*out.get());
}

void NdarrayBackend::random(catena::RandomKind kind, std::uint64_t seed, std::uint64_t offset, std::int64_t low,
                            std::int64_t high, const Array& out, const OffsetRefresh* refresh) {
  if (out.size() == 0) return;
  if (!out.is_c_contiguous()) {
    const Array packed = empty(out.shape(), out.dtype(), out.device());
    random(kind, seed, offset, low, high, packed, refresh);
    const KernelDef& copy = catena::rows::copy;
    const Input input(*packed.get());
    return elementwise(catena::EagerProgram(copy, catena::choose_loop_by_output(copy, out.dtype())), {&input, 1},
                       {&out, 1});
  }
  const Target target(out.device());
  target.backend.random({kind, seed, offset, low, high, catena::operand_of(*out.get()), out.size(), refresh},
                        target.stream);
  target.written(*out.get());
}

// ---- extensions ---------------------------------------------------------------------------------
void* NdarrayBackend::find_extension(std::string_view name, Device device) {
  if (name == DeviceExtension::kName) return device.kind == Device::Kind::cuda ? &cuda_device_extension() : nullptr;
  if (name == NnExtension::kName) return device.kind == Device::Kind::cpu ? onednn_extension() : cudnn_extension();
  return nullptr;
}

}  // namespace internal

Backend& ndarray_backend() {
  // Never destroyed: arrays in static variables may outlive everything else.
  static Backend& backend = *new internal::NdarrayBackend;
  return backend;
}

}  // namespace autograd
