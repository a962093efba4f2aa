// One contraction of einsum as a product of stacks of matrices. The axes are those of both operands that the result
// keeps (a stack), those of both that it does not (summed over), and those of one of them: the rows and the columns.
// Internal.
#pragma once

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/einsum_path.h>

namespace catena::einsum {

// How two operands are contracted. Each is transposed and reshaped as `operands` says; then the elements are
// multiplied, or multiplied and summed over `summed_axes`, or the matrices over the last two axes are, and their
// product is reshaped to `shape`. The axes of the result have the labels `labels`.
struct CATENA_EXPORT Contraction {
  // An array whose axes have different labels. Every axis is in the other operand or in `kept`.
  struct Term {
    const ArrayHeader* array;
    Labels labels;
  };
  enum class Method { multiply, dots, matmul };
  struct Operand {
    Dims axes;
    Shape shape;
  };

  // The result has the axes `kept` of both terms; in the order of `result` if that costs no copy.
  Contraction(Term first, Term second, const LabelSet& kept, const Labels& result);

  Method method = Method::multiply;
  bool swapped = false;  // `operands` are the second and the first term
  Operand operands[2];
  Dims summed_axes;
  Shape shape;
  Labels labels;
};

// True if the elements of a matrix of the stack lie apart because those of other matrices lie between them, so that
// they are better brought together once for all products.
CATENA_EXPORT bool matrices_lie_apart(const ArrayHeader& stack);

}  // namespace catena::einsum
