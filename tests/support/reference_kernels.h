// The computations of the reference backend: one element after the other, as plainly as can be. Internal to the
// reference backend.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <catena/autograd/backend/backend.h>
#include <catena/kernels/registry/call.h>
#include <catena/tests/support/reference_arrays.h>

namespace test::reference {

// Both run a program over `loop` and store its results in `outputs`; NotImplementedError for a program that is not of
// elementwise kernels, or not of one indexed kernel.
void run_elementwise(const catena::Program& program, std::span<const Input> inputs, std::span<const Array> outputs,
                     const Shape& loop);
void run_indexed(const catena::Program& program, std::span<const Input> inputs, std::span<const Array> outputs,
                 const Shape& loop);

// Calls f(row index) for every position along the axes that are not reduced; the index is 0 along the reduced axes.
template <class F> void for_each_row(const Shape& shape, const Dims& axes, F&& f) {
  Dims index;
  for_each_position(catena::reduced_shape(shape, axes, true), index, [&] { f(std::as_const(index)); });
}

// Returns the C-order positions (in `shape`) of the elements of one row.
std::vector<std::int64_t> positions_of_row(const Shape& shape, const Dims& axes, const Dims& row);
Column pick(const Column& all, const std::vector<std::int64_t>& positions);

// out = a @ b over the last two axes; all have one dtype, and a and b the leading axes of out.
void multiply(const Array& a, const Array& b, const Array& out);
// Adds the element `from` to the element `to`.
void add_to(Dtype dtype, std::byte* to, const std::byte* from);

// Advanced indexing: returns the address of the element of `a` for position `index` of the result.
std::byte* indexed_address(const Array& a, const std::vector<Column>& columns,
                           std::span<const catena::call::Index> indices, const Strides& base_strides, const Dims& index,
                           std::int64_t position);
std::vector<Column> index_columns(std::span<const catena::call::Index> indices, const Shape& loop);

// Returns the dtype in which numbers are generated before conversion to the dtype of the output.
Dtype generated(catena::RandomKind kind, Dtype out);

}  // namespace test::reference
