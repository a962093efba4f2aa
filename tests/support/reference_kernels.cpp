#include <catena/tests/support/reference_kernels.h>

#include <cstring>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/numeric.h>
#include <catena/kernels/registry/kernel.h>

namespace test::reference {

using catena::KernelDef;
using catena::KernelKind;
using catena::NotImplementedError;

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

namespace {

template <class T> void multiply_as(const Array& a, const Array& b, const Array& out) {
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

template <class T> void add_as(std::byte* to, const std::byte* from) {
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, from, sizeof(T));
  if constexpr (std::is_same_v<T, bool>) a = a || b;
  else catena::store(a, catena::wrap_add(catena::load(a), catena::load(b)));
  std::memcpy(to, &a, sizeof(T));
}

}  // namespace

void multiply(const Array& a, const Array& b, const Array& out) {
  catena::visit_dtype(out.dtype(), [&](auto tag) { multiply_as<typename decltype(tag)::type>(a, b, out); });
}

void add_to(Dtype dtype, std::byte* to, const std::byte* from) {
  catena::visit_dtype(dtype, [&](auto tag) { add_as<typename decltype(tag)::type>(to, from); });
}

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

Dtype generated(catena::RandomKind kind, Dtype out) {
  if (catena::is_floating(out)) return out == Dtype::float64 ? Dtype::float64 : Dtype::float32;
  if (kind == catena::RandomKind::bits) return out == Dtype::uint32 ? Dtype::uint32 : Dtype::uint64;
  return Dtype::int64;
}

}  // namespace test::reference
