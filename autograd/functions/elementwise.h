// Differentiable elementwise functions as rows of a table: no class, one row each.
//
//   constexpr ElementwiseRow kExp = {"exp", &catena::rows::exp, kRetainY, [](int, const ElementwiseValues& v) { return
//   v.gy * v.y; }}; Variable exp(const Variable& x) { return elementwise(kExp, x); }
//
// (Unary functions of mathematics are shorter still: one line of the list in functions/math.h.)
//
// A row has one backward rule, written on Variables, so its derivatives can be differentiated again. A fused rule on
// arrays may stand beside it: it is used when no second derivative is asked for and must give what the rule gives.
// Without a graph a call costs one array operation and the Variable of its result.
#pragma once

#include <span>
#include <string>

#include <catena/autograd/array.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/rows/families.h>

namespace autograd {

// What a backward rule may read. Only what the row retains is there.
struct ElementwiseValues {
  Variable x0, x1, y;
  const Variable& gy;
  std::span<const Constant> c;
};
// The same for fused rules.
struct ElementwiseArrays {
  Array x0, x1, y;
  Array gy;
  std::span<const Constant> c;
  bool overwrite_gy = false;
  // kernel(inputs), in the memory of gy where nobody needs that any more.
  CATENA_EXPORT Array result(const catena::KernelDef& kernel, std::initializer_list<Operand> inputs) const;
};

enum Retain : unsigned char { kRetainNothing = 0, kRetainX = 1, kRetainX1 = 2, kRetainXs = 3, kRetainY = 4 };
constexpr Retain operator|(Retain a, Retain b) {
  return static_cast<Retain>(static_cast<int>(a) | static_cast<int>(b));
}

struct ElementwiseRow {
  const char* label;  // "$" in it stands for the first constant
  const catena::KernelDef* kernel;
  Retain retain = kRetainNothing;
  // Gradient of input `target`, of the shape of the result: what broadcasting has added is summed away by the caller.
  Variable (*gradient)(int target, const ElementwiseValues& v) = nullptr;
  Array (*fused)(int target, const ElementwiseArrays& v) = nullptr;
  bool any_dtype = false;       // otherwise inputs must be floating
  bool constant_first = false;  // the kernel takes the constants before the inputs
};

// Inputs broadcast against each other and must be of one dtype (InvalidType). Constants are operands of the kernel
// after the inputs; they are converted to the dtype of x, array constants must broadcast to its shape (ValueError) and
// live on its device (TypeError). The row must live as long as the graph (a constexpr at namespace scope does).
CATENA_EXPORT Variable elementwise(const ElementwiseRow& row, const Variable& x);
CATENA_EXPORT Variable elementwise(const ElementwiseRow& row, const Variable& x0, const Variable& x1);
CATENA_EXPORT Variable elementwise(const ElementwiseRow& row, const Variable& x, const Constant& c);
CATENA_EXPORT Variable elementwise(const ElementwiseRow& row, const Variable& x,
                                   std::span<const Constant> c);  // at most two

// g where the bool array `condition` holds, elsewhere 0 (never NaN). Differentiable in g.
CATENA_EXPORT Variable masked(const Variable& g, const Array& condition);
// A constant Variable of zeros like g: the gradient of a function that is flat.
CATENA_EXPORT Variable zeros_of(const Variable& g);

namespace internal {
// The constant as an operand of kernels beside x.
CATENA_EXPORT Constant converted(const char* op, const Constant& c, const Variable& x);
}  // namespace internal

}  // namespace autograd
