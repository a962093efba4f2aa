#include <catena/tests/support/reference_backend.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/autograd/backend/comm_extension.h>
#include <catena/kernels/random.h>
#include <catena/kernels/registry/cast.h>
#include <catena/kernels/registry/tensor_table.h>

namespace test {
namespace {

using autograd::Array;
using autograd::Backend;
using autograd::Device;
using autograd::Dims;
using autograd::Dtype;
using autograd::Input;
using autograd::Shape;
using autograd::Strides;
using catena::check;
using catena::KernelDef;
using catena::KernelKind;
using catena::NotImplementedError;
using catena::ValueError;

constexpr const char* kName = "reference";
catena::ArrayOwner owner{kName};

// ---- memory -------------------------------------------------------------------------------------
// Aligned to 64 bytes, as reduction and row-wise kernels require for their cells.
struct Free {
  void operator()(std::byte* p) const noexcept { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory allocate(std::size_t bytes) {
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + 63) / 64 * 64;
  auto* p = static_cast<std::byte*>(rounded >= bytes ? std::aligned_alloc(64, rounded) : nullptr);
  if (p == nullptr) catena::fail<catena::OutOfMemoryError>("reference", "no memory for ", bytes, " bytes");
  return Memory(p);
}

std::atomic<std::int64_t> live_bytes{0};

void destroy_storage(catena::Storage* s) {
  live_bytes -= std::int64_t(s->bytes);
  std::free(s->data);
  delete s;
}

Array new_array(const Shape& shape, Dtype dtype, Device device) {
  check<ValueError>(device.id >= 0 && device.id < 8, "empty", "there is no device ", device);
  const std::int64_t n = catena::checked_size(shape);
  const std::size_t bytes = static_cast<std::size_t>(n) * catena::itemsize(dtype);
  catena::Storage* s = nullptr;
  if (n > 0) {
    Memory memory = allocate(bytes);
    std::memset(memory.get(), 0xa5, bytes);  // so that unwritten memory is visible in results
    s = new catena::Storage;
    s->device = device;
    s->data = memory.release();
    s->bytes = bytes;
    s->destroy = &destroy_storage;
    live_bytes += std::int64_t(bytes);
  }
  Array a(catena::make_header(s, s ? s->data : nullptr, dtype, shape, catena::c_strides(shape, catena::itemsize(dtype)),
                              device, &owner));
  catena::release(s);
  return a;
}

void written(const Array& a) {
  if (a->storage) a->storage->version.fetch_add(1, catena::MemoryOrder::relaxed);
}

// ---- index arithmetic ---------------------------------------------------------------------------
// Calls f() for every position of `shape` in C order; `index` is the position.
template <class F> void for_each_position(const Shape& shape, Dims& index, F&& f) {
  index = Dims::filled(shape.size(), 0);
  const std::int64_t n = catena::size_of(shape);
  for (std::int64_t i = 0; i < n; ++i) {
    f();
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// Returns the byte offset of the element of (shape, strides) for a position of a larger, broadcast shape.
std::int64_t offset_at(const Shape& shape, const Strides& strides, const Dims& index) {
  const int shift = index.size() - shape.size();
  std::int64_t offset = 0;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1) offset += index[axis + shift] * strides[axis];
  return offset;
}

Shape common_shape(std::string_view op, const Shape& a, const Shape& b) {
  Shape result = Shape::filled(std::max(a.size(), b.size()), 1);
  for (const Shape* s : {&a, &b})
    for (int i = 0; i < s->size(); ++i) {
      std::int64_t& n = result[i + result.size() - s->size()];
      check<ValueError>(n == (*s)[i] || n == 1 || (*s)[i] == 1, op, "shapes ", a, " and ", b,
                        " do not broadcast together");
      if (n == 1) n = (*s)[i];
    }
  return result;
}

// All elements of an operand, broadcast to `loop`, in C order and converted to `type`.
class Column {
 public:
  Column(Dtype type, std::int64_t n) : type_(type), n_(n), memory_(allocate(std::size_t(n) * catena::itemsize(type))) {}
  Column(const Input& in, const Shape& loop, Dtype type) : Column(type, catena::size_of(loop)) {
    if (in.is_array()) {
      read(in.array(), loop);
    } else {
      alignas(16) std::byte cell[16];
      in.scalar().store(type, cell);
      for (std::int64_t i = 0; i < n_; ++i) std::memcpy(at(i), cell, catena::itemsize(type));
    }
  }
  Column(const catena::ArrayHeader& a, const Shape& loop, Dtype type) : Column(type, catena::size_of(loop)) {
    read(a, loop);
  }

  std::byte* data() const { return memory_.get(); }
  std::byte* at(std::int64_t i) const { return data() + i * size(); }
  std::int64_t size() const { return static_cast<std::int64_t>(catena::itemsize(type_)); }
  Dtype type() const { return type_; }
  std::int64_t count() const { return n_; }

  Column converted(Dtype to) const {
    Column result(to, n_);
    catena::cast_function(type_, to)(data(), size(), result.data(), result.size(), n_);
    return result;
  }
  void write_to(const catena::ArrayHeader& a) const {
    const Column own = converted(a.dtype);
    Dims index;
    std::int64_t i = 0;
    for_each_position(a.shape, index, [&] {
      std::memcpy(a.data + offset_at(a.shape, a.strides, index), own.at(i++), catena::itemsize(a.dtype));
    });
  }

 private:
  void read(const catena::ArrayHeader& a, const Shape& loop) {
    Column raw(a.dtype, n_);
    Dims index;
    std::int64_t i = 0;
    for_each_position(loop, index, [&] {
      std::memcpy(raw.at(i++), a.data + offset_at(a.shape, a.strides, index), catena::itemsize(a.dtype));
    });
    catena::cast_function(a.dtype, type_)(raw.data(), raw.size(), data(), size(), n_);
  }

  Dtype type_;
  std::int64_t n_;
  Memory memory_;
};

void check_device(std::string_view op, const catena::ArrayHeader& a, const Array& model) {
  check<ValueError>(a.owner == &owner, op, "an array of ", a.owner->name, " was given to the backend ", kName);
  check<ValueError>(a.device == model.device(), op, "operands on ", a.device, " and ", model.device());
}

// ---- kernels ------------------------------------------------------------------------------------
void run_elementwise(const catena::Program& program, std::span<const Input> inputs, std::span<const Array> outputs,
                     const Shape& loop) {
  // Slots hold values of the compute type, rounded to the slot's dtype at every store.
  const std::int64_t n = catena::size_of(loop);
  std::vector<Column> slots;
  for (std::size_t k = 0; k < program.slots.size(); ++k) {
    const Dtype stored = program.slots[k], computed = catena::compute_dtype(stored);
    if (k < inputs.size()) slots.push_back(Column(inputs[k], loop, stored).converted(computed));
    else if (k < std::size_t(program.nin + program.ninout))
      slots.push_back(Column(*outputs[k - program.nin].get(), loop, stored).converted(computed));
    else slots.emplace_back(computed, n);
  }
  for (const catena::Step& step : program.steps) {
    const KernelDef& kernel = *step.kernel;
    check<NotImplementedError>(kernel.kind == KernelKind::elementwise, kernel.name,
                               "only elementwise kernels are fused");
    std::int64_t stride[catena::kMaxOperands];
    for (int k = 0; k < kernel.num_operands(); ++k) stride[k] = slots[step.slot[std::size_t(k)]].size();
    for (std::int64_t i = 0; i < n; ++i) {
      std::byte* ptr[catena::kMaxOperands];
      for (int k = 0; k < kernel.num_operands(); ++k) ptr[k] = slots[step.slot[std::size_t(k)]].at(i);
      step.resolved().elementwise(ptr, stride, 1);
    }
    for (int k = kernel.nin; k < kernel.num_operands(); ++k) {
      const std::size_t s = step.slot[std::size_t(k)];
      if (slots[s].type() != program.slots[s])
        slots[s] = slots[s].converted(program.slots[s]).converted(slots[s].type());
    }
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) slots[program.nin + k].write_to(*outputs[k].get());
}

void run_indexed(const catena::Program& program, std::span<const Input> inputs, std::span<const Array> outputs,
                 const Shape& loop) {
  const KernelDef& kernel = *program.steps[0].kernel;
  check<NotImplementedError>(program.steps.size() == 1, kernel.name, "indexed kernels are not fused");
  std::vector<Column> columns;  // of the operands that are not raw
  std::vector<Strides> strides(catena::kMaxOperands);
  std::byte* data[catena::kMaxOperands];
  const Shape* shape[catena::kMaxOperands];
  const Strides* stride[catena::kMaxOperands];
  columns.reserve(catena::kMaxOperands);
  std::vector<int> column_of(catena::kMaxOperands, -1);
  for (int k = 0; k < kernel.num_operands(); ++k) {
    const bool input = k < kernel.nin;
    const catena::ArrayHeader* a = input
                                       ? (inputs[std::size_t(k)].is_array() ? &inputs[std::size_t(k)].array() : nullptr)
                                       : outputs[std::size_t(k - kernel.nin)].get();
    const Dtype type = program.slots[program.steps[0].slot[std::size_t(k)]];
    if ((kernel.raw >> k) & 1) {
      check<catena::TypeError>(a != nullptr && a->dtype == type, kernel.name, "raw operand ", k,
                               " must be an array of ", type);
      data[k] = a->data;
      shape[k] = &a->shape;
      stride[k] = &a->strides;
      continue;
    }
    if (input) columns.emplace_back(inputs[std::size_t(k)], loop, type);
    else if (k < kernel.first_output()) columns.emplace_back(*a, loop, type);
    else columns.emplace_back(type, catena::size_of(loop));
    column_of[std::size_t(k)] = int(columns.size()) - 1;
    strides[std::size_t(k)] = catena::c_strides(loop, catena::itemsize(type));
    data[k] = columns.back().data();
    shape[k] = &loop;
    stride[k] = &strides[std::size_t(k)];
  }
  const catena::IndexedCall call{data, shape, stride, &loop};
  const std::int64_t n = catena::size_of(loop);
  for (std::int64_t i = 0; i < n; ++i) program.steps[0].resolved().indexed(call, i, i + 1);
  for (int k = kernel.nin; k < kernel.num_operands(); ++k)
    if (column_of[std::size_t(k)] >= 0)
      columns[std::size_t(column_of[std::size_t(k)])].write_to(*outputs[std::size_t(k - kernel.nin)].get());
}

// Calls f(row index) for every position along the axes that are not reduced; the index is 0 along the reduced axes.
template <class F> void for_each_row(const Shape& shape, const Dims& axes, F&& f) {
  Dims index;
  for_each_position(catena::reduced_shape(shape, axes, true), index, [&] { f(std::as_const(index)); });
}

// Returns the C-order positions (in `shape`) of the elements of one row.
std::vector<std::int64_t> positions_of_row(const Shape& shape, const Dims& axes, const Dims& row) {
  Shape reduced;
  for (std::int64_t axis : axes) reduced.push_back(shape[int(axis)]);
  std::vector<std::int64_t> positions;
  const Strides weight = catena::c_strides(shape, 1);
  Dims index;
  for_each_position(reduced, index, [&] {
    std::int64_t p = 0;
    for (int i = 0; i < shape.size(); ++i) p += row[i] * weight[i];
    for (int i = 0; i < axes.size(); ++i) p += index[i] * weight[int(axes[i])];
    positions.push_back(p);
  });
  return positions;
}

Column pick(const Column& all, const std::vector<std::int64_t>& positions) {
  Column row(all.type(), std::int64_t(positions.size()));
  for (std::size_t i = 0; i < positions.size(); ++i)
    std::memcpy(row.at(std::int64_t(i)), all.at(positions[i]), std::size_t(all.size()));
  return row;
}

template <class T> void multiply(const Array& a, const Array& b, const Array& out) {
  // Products of floating types are summed in double; integers wrap.
  using Real = std::conditional_t<catena::is_floating(catena::dtype_of<T>), double, std::uint64_t>;
  using Sum = std::conditional_t<catena::is_complex<T>, catena::complex128, Real>;
  const int rank = out.ndim();
  const std::int64_t inner = a.shape(a.ndim() - 1);
  const auto value = [](const Array& x, const Dims& index) {
    T v;
    std::memcpy(&v, x->data + offset_at(x.shape(), x.strides(), index), sizeof(T));
    return catena::convert<Sum>(v);
  };
  Column result(out.dtype(), out.size());
  Dims index;
  std::int64_t i = 0;
  for_each_position(out.shape(), index, [&] {
    Dims left = index, right = index;
    Sum sum = 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      left[rank - 1] = k;
      right[rank - 2] = k;
      sum += value(a, left) * value(b, right);
    }
    const T rounded = catena::convert<T>(sum);
    std::memcpy(result.at(i++), &rounded, sizeof(T));
  });
  result.write_to(*out.get());
}

template <class T> void add_to(std::byte* to, const std::byte* from) {
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, from, sizeof(T));
  if constexpr (std::is_same_v<T, bool>) a = a || b;
  else catena::store(a, catena::wrap_add(catena::load(a), catena::load(b)));
  std::memcpy(to, &a, sizeof(T));
}

// Advanced indexing: returns the address of the element of `a` for position `index` of the result.
std::byte* indexed_address(const Array& a, const std::vector<Column>& columns,
                           std::span<const catena::call::Index> indices, const Strides& base_strides, const Dims& index,
                           std::int64_t position) {
  std::int64_t offset = 0;
  for (int i = 0; i < base_strides.size(); ++i) offset += index[i] * base_strides[i];
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::int64_t i;
    std::memcpy(&i, columns[j].at(position), sizeof(i));
    offset += catena::floor_mod(i, indices[j].length) * indices[j].stride;
  }
  return a->data + offset;
}

std::vector<Column> index_columns(std::span<const catena::call::Index> indices, const Shape& loop) {
  std::vector<Column> columns;
  for (const catena::call::Index& i : indices) {
    check<ValueError>(common_shape("gather", i.array->shape, loop) == loop, "gather", "indices of shape ",
                      i.array->shape, " do not broadcast to ", loop);
    columns.emplace_back(*i.array, loop, Dtype::int64);
  }
  return columns;
}

// Returns the dtype in which numbers are generated before conversion to the dtype of the output.
Dtype generated(catena::RandomKind kind, Dtype out) {
  if (catena::is_floating(out)) return out == Dtype::float64 ? Dtype::float64 : Dtype::float32;
  if (kind == catena::RandomKind::bits) return out == Dtype::uint32 ? Dtype::uint32 : Dtype::uint64;
  return Dtype::int64;
}

// Returns a new handle to an array of a call.
Array handle(const catena::ArrayHeader* h) {
  auto* same = const_cast<catena::ArrayHeader*>(h);
  same->refs.fetch_add(1);
  return Array(same);
}
Array handle(const catena::ArrayHeader& h) { return handle(&h); }
std::vector<Array> handles(std::span<catena::ArrayHeader* const> list) {
  std::vector<Array> all;
  for (const catena::ArrayHeader* h : list) all.push_back(handle(h));
  return all;
}

// ---- communication between devices, all of which are host memory -------------------------------------
class HostSums final : public autograd::CommExtension {
 public:
  class Ranks final : public Group {
   public:
    void reduce(std::span<const Array> arrays) override {
      const Device root = arrays[0].device();
      for (const Array& a : arrays.subspan(1)) autograd::operator+=(arrays[0], autograd::to_device(a, root));
    }
    void broadcast(std::span<const Array> arrays) override {
      for (const Array& a : arrays.subspan(1)) autograd::copy_across(a, arrays[0]);
    }
  };
  std::string why_unavailable() const override { return {}; }
  catena::Owned<Group> connect(std::span<const Device>) override { return catena::Owned<Group>(new Ranks); }
};

// ---- the backend --------------------------------------------------------------------------------
class Reference final : public Backend {
 public:
  Reference() { owner.framework.store(static_cast<Backend*>(this)); }

  std::string_view name() const override { return kName; }
  Device default_device() override { return current_; }
  Device exchange_default_device(Device device) override { return std::exchange(current_, device); }

  Array empty(const Shape& shape, Dtype dtype, Device device) override { return new_array(shape, dtype, device); }
  Array from_host(const void* data, const Shape& shape, Dtype dtype, Device device) override {
    Array a = new_array(shape, dtype, device);
    if (a.size() > 0) std::memcpy(a->data, data, std::size_t(a.size()) * catena::itemsize(dtype));
    return a;
  }
  void to_host(const Array& a, void* data) override {
    const Column column(*a.get(), a.shape(), a.dtype());
    if (a.size() > 0) std::memcpy(data, column.data(), std::size_t(a.size()) * catena::itemsize(a.dtype()));
  }
  Array to_device(const Array& a, Device device) override {
    if (a.device() == device) return a;
    Array b = new_array(a.shape(), a.dtype(), device);
    Column(*a.get(), a.shape(), a.dtype()).write_to(*b.get());
    return b;
  }
  void synchronize(Device) override {}

  Array view(const Array& a, const Shape& shape, const Strides& strides, std::int64_t offset_bytes) override {
    check<ValueError>(shape.size() == strides.size(), "view", shape.size(), " lengths and ", strides.size(),
                      " strides");
    Array v(catena::make_header(a->storage, a->data + offset_bytes, a.dtype(), shape, strides, a.device(), &owner));
    if (v.size() > 0) {
      const catena::ByteRange range = catena::byte_range(shape, strides, catena::itemsize(a.dtype()));
      const std::int64_t first = v->data - a->storage->data;
      check<ValueError>(first + range.begin >= 0 && first + range.end <= std::int64_t(a->storage->bytes), "view",
                        "it reaches beyond the memory of the array");
    }
    return v;
  }

  void execute(const catena::Call& call) override {
    call.visit([this](const auto& one) { run(one); });
  }

 protected:
  void* find_extension(std::string_view name, Device device) override {
    static HostSums sums;
    if (name != autograd::CommExtension::kName || device.kind != Device::Kind::cuda) return nullptr;
    return static_cast<autograd::CommExtension*>(&sums);
  }

 private:
  void run(const catena::call::Elementwise& call) {
    const catena::Program& program = *call.program;
    const std::span<const Input> inputs = call.inputs;
    const std::vector<Array> outputs = handles(call.outputs);
    const KernelDef& kernel = *program.steps[0].kernel;
    check<ValueError>(inputs.size() == program.nin && int(outputs.size()) == program.ninout + program.nout, kernel.name,
                      inputs.size(), " inputs and ", outputs.size(), " outputs do not fit the program");
    const bool indexed = kernel.kind == KernelKind::indexed;
    Shape loop;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k].is_array()) continue;
      check_device(kernel.name, inputs[k].array(), outputs[0]);
      if (!(indexed && ((kernel.raw >> k) & 1))) loop = common_shape(kernel.name, loop, inputs[k].array().shape);
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      check_device(kernel.name, *outputs[k].get(), outputs[0]);
      if (!(indexed && ((kernel.raw >> (program.nin + k)) & 1)))
        loop = common_shape(kernel.name, loop, outputs[k].shape());
    }
    for (std::size_t k = 0; k < outputs.size(); ++k)
      check<ValueError>((indexed && ((kernel.raw >> (program.nin + k)) & 1)) || outputs[k].shape() == loop, kernel.name,
                        "the output has shape ", outputs[k].shape(), ", the operands broadcast to ", loop);
    if (catena::size_of(loop) > 0)
      indexed ? run_indexed(program, inputs, outputs, loop) : run_elementwise(program, inputs, outputs, loop);
    for (const Array& out : outputs) written(out);
  }

  void reduce_array(const KernelDef& kernel, int loop, const Array& in, const Dims& axes, const Array& out) {
    check_device(kernel.name, *in.get(), out);
    const catena::Loop& types = kernel.loop_table[loop];
    const catena::ReductionLoop& f = *types.reduction;
    check<ValueError>(catena::size_of(catena::reduced_shape(in.shape(), axes, true)) == out.size(), kernel.name,
                      "the output has shape ", out.shape(), ", the input ", in.shape(), " reduced over ", axes);
    const Column values = Column(*in.get(), in.shape(), types.type[0]).converted(catena::compute_dtype(types.type[0]));
    Column result(catena::compute_dtype(types.type[1]), out.size());
    const Memory acc = allocate(f.acc_bytes);
    std::int64_t i = 0;
    for_each_row(in.shape(), axes, [&](const Dims& index) {
      const Column row = pick(values, positions_of_row(in.shape(), axes, index));
      f.init(acc.get(), 1);
      f.reduce(acc.get(), row.data(), row.size(), 0, row.count());
      f.finish(acc.get(), row.count(), result.at(i++), result.size(), 1);
    });
    result.converted(types.type[1]).write_to(*out.get());
    written(out);
  }

  void run(const catena::call::Reduce& call) {
    check<NotImplementedError>(call.post == nullptr, call.kernel->name, "programs after a reduction");
    const Array out = handle(call.out);
    if (call.pre == nullptr)
      return reduce_array(*call.kernel, call.loop, handle(call.inputs[0].array()), call.axes, out);
    Shape shape;
    for (const Input& in : call.inputs)
      if (in.is_array()) shape = common_shape(call.kernel->name, shape, in.array().shape);
    const Array mapped = empty(shape, call.pre->slots[call.pre->nin], out.device());
    catena::ArrayHeader* const written[] = {mapped.get()};
    run(catena::call::Elementwise{call.pre, call.inputs, written});
    reduce_array(*call.kernel, call.loop, mapped, call.axes, out);
  }

  void run(const catena::call::Scan& call) {
    const KernelDef& kernel = *call.kernel;
    const int loop = call.loop, axis = call.axis;
    const Array in = handle(*call.in), out = handle(call.out);
    check_device(kernel.name, *in.get(), out);
    check<ValueError>(in.shape() == out.shape(), kernel.name, "the output has shape ", out.shape(), ", the input ",
                      in.shape());
    const catena::Loop& types = kernel.loop_table[loop];
    const catena::ReductionLoop& f = *types.reduction;
    const Column values = Column(*in.get(), in.shape(), types.type[0]).converted(catena::compute_dtype(types.type[0]));
    Column result(catena::compute_dtype(types.type[1]), out.size());
    const Memory acc = allocate(f.acc_bytes);
    for_each_row(in.shape(), {axis}, [&](const Dims& index) {
      std::int64_t count = 0;
      f.init(acc.get(), 1);
      for (std::int64_t i : positions_of_row(in.shape(), {axis}, index)) {
        f.reduce(acc.get(), values.at(i), values.size(), count++, 1);
        f.finish(acc.get(), count, result.at(i), result.size(), 1);
      }
    });
    result.converted(types.type[1]).write_to(*out.get());
    written(out);
  }

  // The position of an element in the result is the number of elements that precede it.
  void run(const catena::call::Sort& call) {
    const Array in = handle(*call.in), out = handle(call.out);
    const int axis = call.axis;
    const bool positions = call.positions;
    check_device("sort", *in.get(), out);
    check<ValueError>(in.shape() == out.shape(), "sort", "the output has shape ", out.shape(), ", the input ",
                      in.shape());
    const Column values(*in.get(), in.shape(), in.dtype());
    Column result(positions ? Dtype::int64 : in.dtype(), in.size());
    catena::visit_real_dtype("sort", in.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const auto less = [&](std::int64_t i, std::int64_t j) {
        const auto a = catena::load(*reinterpret_cast<const T*>(values.at(i))),
                   b = catena::load(*reinterpret_cast<const T*>(values.at(j)));
        return a < b || (catena::is_nan(b) && !catena::is_nan(a));
      };
      for_each_row(in.shape(), {axis}, [&](const Dims& index) {
        const std::vector<std::int64_t> row = positions_of_row(in.shape(), {axis}, index);
        for (std::int64_t i = 0; i < std::int64_t(row.size()); ++i) {
          std::size_t place = 0;
          for (std::int64_t j = 0; j < std::int64_t(row.size()); ++j)
            place += less(row[std::size_t(j)], row[std::size_t(i)]) ||
                     (j < i && !less(row[std::size_t(i)], row[std::size_t(j)]));
          if (positions) std::memcpy(result.at(row[place]), &i, sizeof(i));
          else std::memcpy(result.at(row[place]), values.at(row[std::size_t(i)]), std::size_t(values.size()));
        }
      });
    });
    result.write_to(*out.get());
    written(out);
  }

  void run(const catena::call::Join& call) {
    std::int64_t first = 0;
    for (const catena::ArrayHeader* piece : call.pieces) {
      Column(*piece, piece->shape, piece->dtype)
          .write_to(
              *view(handle(call.out), piece->shape, call.out->strides, first * call.out->strides[call.axis]).get());
      first += piece->shape[call.axis];
    }
    check<ValueError>(first == call.out->shape[call.axis], call.name, "the pieces do not fill the output");
    written(handle(call.out));
  }

  void run(const catena::call::Nonzero& call) {
    const Array in = handle(*call.in), out = handle(call.out);
    check_device("nonzero", *in.get(), out);
    const Column flags(*in.get(), in.shape(), Dtype::bool_);
    check<ValueError>(out.ndim() == 2 && out.shape(0) == in.ndim() && out.dtype() == Dtype::int64, "nonzero",
                      "the output is ", out.dtype(), " of shape ", out.shape());
    Column result(Dtype::int64, out.size());
    Dims index;
    std::int64_t i = 0, count = 0;
    for_each_position(in.shape(), index, [&] {
      if (*flags.at(i++) == std::byte(0)) return;
      check<ValueError>(count < out.shape(1), "nonzero", "there are more than ", out.shape(1), " elements");
      for (int a = 0; a < in.ndim(); ++a)
        std::memcpy(result.at(a * out.shape(1) + count), &index[a], sizeof(std::int64_t));
      ++count;
    });
    check<ValueError>(count == out.shape(1) || in.ndim() == 0, "nonzero", "there are ", count, " elements, not ",
                      out.shape(1));
    result.write_to(*out.get());
    written(out);
  }

  void run(const catena::call::RowWise& call) {
    const KernelDef& kernel = *call.kernel;
    const int loop = call.loop;
    const Shape& shape = *call.shape;
    const Dims& axes = call.axes;
    const std::span<const Input> inputs = call.inputs;
    const std::vector<Array> outputs = handles(call.outputs);
    const catena::Loop& types = kernel.loop_table[loop];
    const catena::RowWiseLoop& f = *types.row_wise;
    const int nin = kernel.nin, nout = kernel.nout, total = kernel.num_operands();
    std::vector<Column> all;  // inputs and outputs at `shape`, per-row outputs one element per row
    for (int k = 0; k < total; ++k) {
      const Dtype stored = types.type[std::size_t(k)];
      if (k < nin) {
        if (inputs[std::size_t(k)].is_array()) check_device(kernel.name, inputs[std::size_t(k)].array(), outputs[0]);
        all.push_back(Column(inputs[std::size_t(k)], shape, stored).converted(catena::compute_dtype(stored)));
      } else {
        const Shape wanted = k < nin + nout ? shape : catena::reduced_shape(shape, axes, true);
        check<ValueError>(outputs[std::size_t(k - nin)].shape() == wanted, kernel.name, "output ", k - nin,
                          " has shape ", outputs[std::size_t(k - nin)].shape(), " and should have ", wanted);
        all.emplace_back(catena::compute_dtype(stored), catena::size_of(wanted));
      }
    }
    const Memory stats = allocate(f.stats_bytes);
    std::int64_t number = 0;
    for_each_row(shape, axes, [&](const Dims& index) {
      const std::vector<std::int64_t> positions = positions_of_row(shape, axes, index);
      const auto n = std::int64_t(positions.size());
      std::vector<Column> row;
      std::byte* ptr[catena::kMaxOperands];
      std::int64_t stride[catena::kMaxOperands];
      for (int k = 0; k < total; ++k) {
        if (k < nin + nout) {
          row.push_back(pick(all[std::size_t(k)], positions));
          ptr[k] = row.back().data();
          stride[k] = row.back().size();
        } else {
          ptr[k] = all[std::size_t(k)].at(number);
          stride[k] = 0;
        }
      }
      ++number;
      if (n == 0) {  // no statistics
        for (int k = nin + nout; k < total; ++k)
          std::memset(all[std::size_t(k)].at(number - 1), 0, std::size_t(all[std::size_t(k)].size()));
        return;
      }
      f.init(stats.get());
      f.phase0(stats.get(), ptr, stride, n);
      f.finish0(stats.get(), ptr, n);
      if (f.phases == 2) f.phase1(stats.get(), ptr, stride, n);
      f.finish1(stats.get(), ptr, n);
      f.write(stats.get(), ptr, stride, n);
      for (int k = nin; k < nin + nout; ++k)
        for (std::int64_t i = 0; i < n; ++i)
          std::memcpy(all[std::size_t(k)].at(positions[std::size_t(i)]), row[std::size_t(k)].at(i),
                      std::size_t(all[std::size_t(k)].size()));
    });
    for (int k = nin; k < total; ++k) {
      all[std::size_t(k)].converted(types.type[std::size_t(k)]).write_to(*outputs[std::size_t(k - nin)].get());
      written(outputs[std::size_t(k - nin)]);
    }
  }

  void run(const catena::call::RowWiseAndSums& call) {
    run(call.rows);
    for (const catena::call::Reduce& sum : call.sums) run(sum);
  }

  void run(const catena::call::Recurrence& call) { autograd::execute_each_position(*this, call); }

  void run(const catena::call::MultiTensor& call) {
    const KernelDef& kernel = *call.kernel;
    const catena::Loop& types = kernel.loop_table[call.loop];
    catena::TensorTable table;
    table.update(call);
    const std::size_t operands = std::size_t(kernel.num_operands());
    for (std::size_t t = 0; t < table.tensors(); ++t) {
      const std::span<catena::ArrayHeader* const> tensor = call.operands.subspan(t * operands, operands);
      std::vector<Column> columns;
      std::byte* ptr[catena::kMaxOperands];
      for (std::size_t k = 0; k < operands; ++k) {
        const Dtype stored = types.type[k];
        columns.push_back(Column(*tensor[k], tensor[k]->shape, stored).converted(catena::compute_dtype(stored)));
        ptr[k] = columns.back().data();
      }
      for (std::int64_t i = 0; i < table.elements(t); ++i) {
        std::byte* one[catena::kMaxOperands];
        for (std::size_t k = 0; k < operands; ++k)
          one[k] = ptr[k] + (((kernel.shared >> k) & 1) ? 0 : i * columns[k].size());
        types.multi_tensor(call.hyper[std::size_t(table.hyper(t))].data(), one, 1);
      }
      for (std::size_t k = kernel.nin; k < operands; ++k) {
        columns[k].write_to(*tensor[k]);
        if (tensor[k]->storage != nullptr) tensor[k]->storage->version.fetch_add(1, catena::MemoryOrder::relaxed);
      }
    }
  }

  void check_each(std::span<const catena::call::Index> indices, const Shape& loop, std::string_view name) {
    for (const catena::call::Index& i : indices)
      if (!i.wraps && catena::size_of(loop) > 0)
        run(catena::call::CheckIndices{i.array, catena::rule_of_axis(i.axis, i.length), name});
  }

  void run(const catena::call::Gather& call) {
    const Array a = handle(*call.base), out = handle(call.out);
    const Shape& loop = *call.loop;
    check_device("gather", *a.get(), out);
    const std::vector<Column> columns = index_columns(call.indices, loop);
    check_each(call.indices, loop, call.name);
    Column result(a.dtype(), catena::size_of(loop));
    Dims index;
    std::int64_t i = 0;
    for_each_position(loop, index, [&] {
      std::memcpy(result.at(i), indexed_address(a, columns, call.indices, call.base_strides, index, i),
                  catena::itemsize(a.dtype()));
      ++i;
    });
    result.write_to(*out.get());
    written(out);
  }

  void run(const catena::call::Scatter& call) {
    const Array a = handle(call.base);
    const Shape& loop = *call.loop;
    const Input& values = call.values;
    const catena::ScatterMode mode = call.mode;
    const std::vector<Column> columns = index_columns(call.indices, loop);
    check_each(call.indices, loop, call.name);
    const Column from(values, loop, a.dtype());
    Dims index;
    std::int64_t i = 0;
    for_each_position(loop, index, [&] {
      std::byte* to = indexed_address(a, columns, call.indices, call.base_strides, index, i);
      if (mode == catena::ScatterMode::set) std::memcpy(to, from.at(i), catena::itemsize(a.dtype()));
      else catena::visit_dtype(a.dtype(), [&](auto tag) { add_to<typename decltype(tag)::type>(to, from.at(i)); });
      ++i;
    });
    written(a);
  }

  void run(const catena::call::CheckIndices& call) {
    const Column column(*call.indices, call.indices->shape, Dtype::int64);
    for (std::int64_t k = 0; k < call.indices->size; ++k) {
      std::int64_t i;
      std::memcpy(&i, column.at(k), sizeof(i));
      const bool ignored = call.rule.ignores && i == call.rule.ignored;
      if (!ignored && (i < call.rule.low || i >= call.rule.high)) catena::fail_index(call.name, i, call.rule);
    }
  }

  void run(const catena::call::Matmul& call) {
    const Array a = handle(*call.a), b = handle(*call.b), out = handle(call.out);
    check_device("matmul", *a.get(), out);
    check_device("matmul", *b.get(), out);
    check<catena::TypeError>(a.dtype() == b.dtype() && a.dtype() == out.dtype(), "matmul", "dtypes differ");
    catena::visit_dtype(out.dtype(), [&](auto tag) { multiply<typename decltype(tag)::type>(a, b, out); });
    written(out);
  }

  void run(const catena::call::Random& call) {
    const catena::RandomKind kind = call.kind;
    const std::uint64_t seed = call.seed, offset = call.offset;
    const std::int64_t low = call.low, high = call.high;
    const Array out = handle(call.out);
    const bool floating = kind == catena::RandomKind::uniform || kind == catena::RandomKind::normal;
    check<catena::TypeError>(floating == catena::is_floating(out.dtype()), "random", "no such numbers of ",
                             out.dtype());
    const Column column(generated(kind, out.dtype()), out.size());
    catena::visit_real_dtype("random", column.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      catena::Index<1> i{};
      for (; i.position < out.size(); ++i.position) {
        T y{};
        if constexpr (std::is_floating_point_v<T>) {
          if (kind == catena::RandomKind::uniform) catena::k::random_uniform::run(i, seed, offset, y);
          else catena::k::random_normal::run(i, seed, offset, y);
        } else if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
          if (kind == catena::RandomKind::bits) catena::k::random_bits::run(i, seed, offset, y);
          else catena::k::random_integers::run(i, seed, offset, low, high, y);
        }
        std::memcpy(column.at(i.position), &y, sizeof(y));
      }
    });
    const Column rounded = column.converted(out.dtype());
    if (kind == catena::RandomKind::uniform &&
        catena::itemsize(out.dtype()) == 2)  // 1 is outside [0, 1), so it is replaced by the largest value below it
      for (std::int64_t i = 0; i < out.size(); ++i) {
        const std::uint16_t one = out.dtype() == Dtype::float16 ? 0x3c00 : 0x3f80, below = one - 1;
        if (std::memcmp(rounded.at(i), &one, 2) == 0) std::memcpy(rounded.at(i), &below, 2);
      }
    rounded.write_to(*out.get());
    written(out);
  }

  static inline thread_local Device current_;
};

}  // namespace

std::int64_t reference_live_bytes() noexcept { return live_bytes; }

autograd::Backend& reference_backend() {
  // Never destroyed, because arrays in static variables of a test may be destroyed later.
  static Reference& backend = *new Reference;
  return backend;
}

}  // namespace test
