// Calls of autograd::Backend on arrays, for tests of backends: each function fills the call's struct
// (kernels/registry/call.h) and passes it to the backend of its arrays.
#pragma once

#include <span>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/indexed_access.h>

namespace test::calls {

using autograd::Array;
using autograd::Dims;
using autograd::Input;
using autograd::Shape;
using catena::KernelDef;

inline std::vector<catena::ArrayHeader*> headers(std::span<const Array> arrays) {
  std::vector<catena::ArrayHeader*> list;
  for (const Array& a : arrays) list.push_back(a.get());
  return list;
}

inline void elementwise(const catena::Program& program, std::span<const Input> inputs, std::span<const Array> outputs) {
  outputs[0].backend().execute(catena::call::Elementwise{&program, inputs, headers(outputs)});
}
inline void reduce(const KernelDef& kernel, int loop, const Array& in, const Dims& axes, const Array& out) {
  const Input input(*in.get());
  out.backend().execute(catena::call::Reduce{&kernel, loop, {&input, 1}, axes, out.get()});
}
inline void reduce(const KernelDef& kernel, int loop, const catena::Program& map, std::span<const Input> inputs,
                   const Dims& axes, const Array& out) {
  out.backend().execute(catena::call::Reduce{&kernel, loop, inputs, axes, out.get(), &map});
}
inline void scan(const KernelDef& kernel, int loop, const Array& in, int axis, const Array& out) {
  out.backend().execute(catena::call::Scan{&kernel, loop, in.get(), axis, out.get()});
}
inline void sort(const Array& in, int axis, bool positions, const Array& out) {
  out.backend().execute(catena::call::Sort{in.get(), axis, positions, out.get()});
}
inline void join(std::span<const Array> pieces, int axis, const Array& out) {
  const std::vector<catena::ArrayHeader*> list = headers(pieces);
  const std::vector<const catena::ArrayHeader*> read(list.begin(), list.end());
  out.backend().execute(catena::call::Join{read, axis, out.get()});
}
inline void nonzero(const Array& in, const Array& out) {
  const Array counts = out.backend().empty({catena::size_of_counts(in.size())}, catena::Dtype::int64, out.device());
  out.backend().execute(catena::call::CountPieces{in.get(), counts.get()});
  out.backend().execute(catena::call::Nonzero{in.get(), counts.get(), out.get()});
}
inline void row_wise(const KernelDef& kernel, int loop, const Shape& shape, const Dims& axes,
                     std::span<const Input> inputs, std::span<const Array> outputs) {
  outputs[0].backend().execute(catena::call::RowWise{&kernel, loop, &shape, axes, inputs, headers(outputs)});
}
inline void gather(const Array& a, std::span<const Array> indices, const Dims& axes, const Shape& loop,
                   const Dims& base_axis, const Array& out) {
  autograd::internal::gather({a, indices, axes, loop, base_axis}, out);
}
inline void scatter(catena::ScatterMode mode, const Array& a, std::span<const Array> indices, const Dims& axes,
                    const Shape& loop, const Dims& base_axis, const Input& values) {
  autograd::internal::scatter(mode, {a, indices, axes, loop, base_axis}, values);
}
inline void matmul(const Array& a, const Array& b, const Array& out) {
  out.backend().execute(catena::call::Matmul{a.get(), b.get(), out.get()});
}
inline void random(catena::RandomKind kind, std::uint64_t seed, std::uint64_t offset, std::int64_t low,
                   std::int64_t high, const Array& out) {
  out.backend().execute(catena::call::Random{kind, seed, offset, low, high, out.get()});
}

}  // namespace test::calls
