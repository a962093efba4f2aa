// Binding: turns arrays and scalars as a user passes them into operands that a backend can execute. Contains the choice
// of the loop, broadcasting, casting rules, the test for overlap and their error messages, for ndarray and the
// framework. The functions have no side effects.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/index_rule.h>
#include <catena/kernels/registry/input.h>
#include <catena/kernels/registry/program.h>

namespace catena {

// Returns the least dtype kind of arrays beside which a host scalar has no influence on the choice of a loop, whatever
// its value.
inline DtypeKind least_kind(const Scalar& s) noexcept {
  return s.is_complex() ? DtypeKind::complex : DtypeKind::floating;
}

// Returns the index of the first loop of `def` whose inputs (and in-outs) can hold `inputs` without loss. Host scalars
// are weak: a scalar whose kind is not above the kind of the arrays takes their dtype (OverflowError for an integer
// that does not fit, unless the kernel has the trait takes_any_integer). A scalar of a higher kind counts as int64,
// float64 or complex128, or as complex64 beside floats of at most 32 bits. TypeError "<name>: no loop for (float32,
// bool)" if there is none.
CATENA_EXPORT int choose_loop(const KernelDef& def, std::span<const Input> inputs);
// Returns the index of the first loop whose outputs all have `dtype`; the caller then casts the inputs unsafely.
// TypeError if there is none.
CATENA_EXPORT int choose_loop_by_output(const KernelDef& def, Dtype dtype);
// Returns the common dtype of arrays and weak scalars, as NumPy's result_type.
CATENA_EXPORT Dtype result_type(std::span<const Input> inputs);

// Returns "take: the index 7 is out of range for axis 0 of length 5", or the equivalent for a label that is no class.
CATENA_EXPORT std::string index_message(std::string_view op, const Scalar& value, const IndexRule& rule);
// Throws IndexError with the text of index_message().
[[noreturn]] CATENA_EXPORT void fail_index(std::string_view op, const Scalar& value, const IndexRule& rule);

// Returns the common shape of all inputs. ValueError "<op>: shapes (2, 3) and (4,) do not broadcast together".
CATENA_EXPORT Shape broadcast_shape(std::string_view op, std::span<const Input> inputs);

// Tells whether the arrays of a call have one layout, so that a loop can take them as one axis: they are C-contiguous,
// on one device, and have one shape; an array of a single element may have fewer axes.
class SameLayout {
 public:
  void add(const ArrayHeader& a) noexcept {
    if (model_ == nullptr) {
      model_ = &a;
      same_ = a.c_contiguous;
    } else if (&a != model_) {
      same_ = same_ && a.c_contiguous && a.device == model_->device && (a.shape == model_->shape || fits(a));
    }
  }
  // Returns an array that has the common shape; null if the layouts differ or if there is no array.
  const ArrayHeader* model() const noexcept { return same_ ? model_ : nullptr; }

 private:
  CATENA_EXPORT bool fits(const ArrayHeader& a) noexcept;  // of another shape

  const ArrayHeader* model_ = nullptr;
  bool same_ = true;
};
// Returns the model of the layout of all operands; null if their layouts differ or an output does not have its shape.
CATENA_EXPORT const ArrayHeader* same_layout(std::span<const Input> inputs,
                                             std::span<ArrayHeader* const> outputs) noexcept;

// A bound elementwise call, on the caller's stack. The operands that it returns point into this object.
class BoundCall {
 public:
  BoundCall() {}
  BoundCall(const BoundCall&) = delete;
  BoundCall& operator=(const BoundCall&) = delete;

  // Binds the inputs (arrays are broadcast, scalars are stored as elements of the dtype in `slots`), then the outputs,
  // which must have exactly the common shape of inputs and outputs (ValueError). Bit k of `raw`: operand k keeps its
  // own shape. `same_layout`: the model of the operands' layout (SameLayout), whose axes the loop then has as one; if
  // it is null, the loop has all axes.
  CATENA_EXPORT void bind(std::string_view op, std::span<const Input> inputs, std::span<ArrayHeader* const> outputs,
                          const Dtype* slots, std::uint16_t raw = 0, const ArrayHeader* same_layout = nullptr);

  const Shape& loop() const noexcept { return loop_; }
  std::span<const BoundOperand> operands() const noexcept { return {operand_, std::size_t(n_)}; }

 private:
  void bind_flat(std::span<const Input> inputs, std::span<ArrayHeader* const> outputs, const Dtype* slots,
                 const ArrayHeader& model);

  int n_ = 0;
  Shape loop_;
  // Only operands in use are constructed: constructing all kMaxOperands would slow down operations on few elements.
  union {
    BoundOperand operand_[kMaxOperands];
  };
  union {
    Strides strides_[kMaxOperands];
  };
  ScalarCell cell_[kMaxOperands];
};

// Returns the operand for an array with its own shape and strides.
inline BoundOperand operand_of(const ArrayHeader& a) noexcept { return {a.data, a.dtype, false, &a.shape, &a.strides}; }

// Returns the range of the bytes of an array's elements, relative to its first element.
inline ByteRange byte_range(const ArrayHeader& a) noexcept {
  const std::size_t item = itemsize(a.dtype);
  if (a.c_contiguous) return {0, a.size * std::int64_t(item)};
  return byte_range(a.shape, a.strides, item);
}

// True if the byte ranges of two arrays intersect, as they do for interleaved views.
inline bool ranges_meet(const ArrayHeader& a, const ArrayHeader& b) noexcept {
  if (a.size == 0 || b.size == 0 || !(a.device == b.device)) return false;
  const ByteRange ra = byte_range(a), rb = byte_range(b);
  const auto pa = reinterpret_cast<std::intptr_t>(a.data), pb = reinterpret_cast<std::intptr_t>(b.data);
  return pa + ra.begin < pb + rb.end && pb + rb.begin < pa + ra.end;
}

// True if both arrays have the same elements at the same positions.
CATENA_EXPORT bool same_view(const ArrayHeader& a, const ArrayHeader& b) noexcept;

// True if elements of the two arrays have bytes in common. Precondition: the byte ranges of the arrays intersect.
CATENA_EXPORT bool elements_meet(const ArrayHeader& a, const ArrayHeader& b) noexcept;

// True if elements of two arrays have bytes in common, or if that is too costly to determine (kernels/base/overlap.h).
inline bool share_bytes(const ArrayHeader& a, const ArrayHeader& b) noexcept {
  return ranges_meet(a, b) && elements_meet(a, b);
}

// True if writing `out` element by element could change elements of `in` that have not been read yet: the arrays share
// bytes and are not the same view.
inline bool overlaps(const ArrayHeader& in, const ArrayHeader& out) noexcept {
  return ranges_meet(in, out) && !same_view(in, out) && elements_meet(in, out);
}

// Throws TypeError unless `from` casts to the output dtype `to` under `casting`:
// "add: cannot cast the result from float64 to int32 under casting 'same_kind'".
CATENA_EXPORT void check_output_cast(std::string_view op, Dtype from, Dtype to, Casting casting);

// Merges neighbouring axes that are contiguous with each other in every operand, and removes axes of length 1. Works in
// place and returns the new rank.
CATENA_EXPORT int merge_axes(Shape& loop, std::span<Strides> strides);

}  // namespace catena
