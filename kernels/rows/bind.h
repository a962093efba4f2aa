// Binding: from arrays and scalars as a user passes them to operands that a backend can execute. Pure functions; loop
// choice, broadcasting, casting rules, overlap and their messages are decided here once, for ndarray, the adapter and
// autograd.
#pragma once

#include <span>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/rows/program.h>

namespace catena {

// An input as given: an array or a host scalar.
class Input {
 public:
  Input(const ArrayHeader& a) noexcept : array_(&a) {}
  Input(const Scalar& s) noexcept : scalar_(s) {}
  bool is_array() const noexcept { return array_ != nullptr; }
  const ArrayHeader& array() const noexcept { return *array_; }
  const Scalar& scalar() const noexcept { return scalar_; }

 private:
  const ArrayHeader* array_ = nullptr;
  Scalar scalar_;
};

// Index of the first loop of `def` whose inputs (and in-outs) can hold `inputs` without loss. A host scalar is weak:
// within its kind it takes the arrays' dtype (an integer that does not fit is a ValueError), above their kind it counts
// as int64 or float64. No loop: TypeError "<name>: no loop for (float32, bool)".
CATENA_EXPORT int choose_loop(const KernelDef& def, std::span<const Input> inputs);
// The loop whose outputs all have `dtype`; inputs are then cast unsafely. TypeError when there is none.
CATENA_EXPORT int choose_loop_by_output(const KernelDef& def, Dtype dtype);
// The result dtype of arrays and weak scalars together (NumPy's result_type).
CATENA_EXPORT Dtype result_type(std::span<const Input> inputs);

// Common shape of all inputs; ValueError "<op>: shapes (2, 3) and (4,) do not broadcast together".
CATENA_EXPORT Shape broadcast_shape(std::string_view op, std::span<const Input> inputs);

// A bound elementwise call, on the caller's stack. Operands point into it.
class BoundCall {
 public:
  BoundCall() {}
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  // Inputs (arrays broadcast, scalars stored as the dtype of their slot in `slots`) and then outputs, which must have
  // exactly the common shape of inputs and outputs (ValueError). Bit k of `raw`: operand k keeps its own shape. When
  // all arrays are C-contiguous and of one shape (or hold one element) the loop is one-dimensional, unless `keep_axes`:
  // for indexed kernels whose body asks for positions along axes.
  CATENA_EXPORT void bind(std::string_view op, std::span<const Input> inputs, std::span<ArrayHeader* const> outputs,
                          const Dtype* slots, std::uint16_t raw = 0, bool keep_axes = false);

  const Shape& loop() const noexcept { return loop_; }
  std::span<const BoundOperand> operands() const noexcept { return {operand_, std::size_t(n_)}; }

 private:
  void construct(std::size_t n);
  bool bind_flat(std::span<const Input> inputs, std::span<ArrayHeader* const> outputs, const Dtype* slots);

  int n_ = 0;
  Shape loop_;
  // Constructed as far as they are used: an operation on a few elements would notice the rest.
  union {
    BoundOperand operand_[kMaxOperands];
  };
  union {
    Strides strides_[kMaxOperands];
  };
  ScalarCell cell_[kMaxOperands];
};

// An operand over an array as it is: its own shape and strides.
inline BoundOperand operand_of(const ArrayHeader& a) noexcept { return {a.data, a.dtype, false, &a.shape, &a.strides}; }

// True when writing `out` element by element could change elements of `in` that are still to be read: the two share
// bytes and are not the same view. Decided by byte ranges: may say yes for interleaved views that never meet.
CATENA_EXPORT bool overlaps(const ArrayHeader& in, const ArrayHeader& out) noexcept;

// Throws TypeError unless `from` casts to the output dtype `to` under `casting`:
// "add: cannot cast the result from float64 to int32 under casting 'same_kind'".
CATENA_EXPORT void check_output_cast(std::string_view op, Dtype from, Dtype to, Casting casting);

// Merges neighbouring axes that are contiguous with each other for every operand; lengths of 1 vanish. In place;
// returns the rank.
CATENA_EXPORT int merge_axes(Shape& loop, std::span<Strides> strides);

}  // namespace catena
