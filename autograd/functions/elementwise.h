// Differentiable elementwise functions as entries of a table, without a class for each.
//
//   constexpr ElementwiseFunction kExp = {"exp", &catena::kernels::exp, kRetainY,
//                                    [](int, const ElementwiseValues& v) { return v.gy * v.y; }};
//   Variable exp(const Variable& x) { return elementwise(kExp, x); }
//
// (The unary mathematical functions are entries of functions/math.cpp.)
//
// An entry has one backward rule, written on Variables, so its derivatives can be differentiated again. It may also
// have a fused rule on arrays, which is used when no second derivative is requested and must compute the same values.
// Without a graph a call costs one array operation and the Variable of its result.
#pragma once

#include <span>
#include <string>

#include <catena/autograd/array.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/registry/families.h>

namespace autograd {

// The values that a backward rule may read. Values that the entry does not retain are null.
struct ElementwiseValues {
  Variable x0, x1, y;
  const Variable& gy;
  std::span<const Constant> c;
};
// The same values as arrays, for fused rules.
struct ElementwiseArrays {
  Array x0, x1, y;
  Array gy;
  std::span<const Constant> c;
  bool overwrite_gy = false;
  // Returns kernel(inputs), written over gy if overwrite_gy allows it.
  CATENA_EXPORT Array result(const catena::KernelDef& kernel, std::initializer_list<Operand> inputs) const;
};

enum Retain : unsigned char { kRetainNothing = 0, kRetainX = 1, kRetainX1 = 2, kRetainXs = 3, kRetainY = 4 };
constexpr Retain operator|(Retain a, Retain b) {
  return static_cast<Retain>(static_cast<int>(a) | static_cast<int>(b));
}

// The dtypes of the inputs of a function; InvalidType for others.
enum class InputDtypes : unsigned char {
  floating,
  converted,  // floating; integers and bools as the only input take the floating dtype of the configuration
  real,       // integers and bools as well
  any,        // and complex numbers
};

struct ElementwiseFunction {
  const char* label;  // "$" is replaced by the first constant
  const catena::KernelDef* kernel;
  Retain retain = kRetainNothing;
  // Returns the gradient of input `target` in the shape of the result; the caller sums it to the shape of the input.
  Variable (*gradient)(int target, const ElementwiseValues& v) = nullptr;
  Array (*fused)(int target, const ElementwiseArrays& v) = nullptr;
  InputDtypes dtypes = InputDtypes::floating;
  bool constant_first = false;  // the kernel has the constants before the inputs
  bool same_shape = false;      // otherwise inputs broadcast
};

// Inputs broadcast against each other or, with same_shape, have one shape, and have one dtype (else InvalidType), to
// which an input of integers or bools is converted. Two floating dtypes stay as they are: a silent conversion would be
// a mistake of the program more often than its aim.
// Constants follow the inputs as operands of the kernel. They are converted to the dtype of x; an array constant and x
// broadcast against each other (else ValueError) and are on one device (else TypeError). The entry must outlive the
// graph (a constexpr at namespace scope does).
CATENA_EXPORT Variable elementwise(const ElementwiseFunction& function, const Variable& x);
CATENA_EXPORT Variable elementwise(const ElementwiseFunction& function, const Variable& x0, const Variable& x1);
CATENA_EXPORT Variable elementwise(const ElementwiseFunction& function, const Variable& x, const Constant& c);
template <class E>
requires(std::is_arithmetic_v<E>) Variable elementwise(const ElementwiseFunction& function, const Variable& x, E c) {
  return elementwise(function, x, Constant(c));
}
CATENA_EXPORT Variable elementwise(const ElementwiseFunction& function, const Variable& x,
                                   std::span<const Constant> c);  // at most two

// Returns g where the bool array `condition` is true, 0 elsewhere (never NaN). Differentiable in g.
CATENA_EXPORT Variable masked(const Variable& g, const Array& condition);
// Returns 1 / x, and 0 where x is 0.
CATENA_EXPORT Variable reciprocal_or_0(const Variable& x);
// Returns zeros like g, without a gradient: the gradient of a piecewise constant function.
CATENA_EXPORT Variable zeros_of(const Variable& g);

namespace internal {
// An entry of a function of one argument, which converts integers.
constexpr ElementwiseFunction unary(const char* label, const catena::KernelDef& kernel, Retain retain,
                                    Variable (*gradient)(int, const ElementwiseValues&),
                                    Array (*fused)(int, const ElementwiseArrays&) = nullptr) {
  return {.label = label,
          .kernel = &kernel,
          .retain = retain,
          .gradient = gradient,
          .fused = fused,
          .dtypes = InputDtypes::converted};
}
// The same of a function that computes integers of integers.
constexpr ElementwiseFunction of_integers(ElementwiseFunction f) {
  f.dtypes = InputDtypes::real;
  return f;
}
// Returns x, or, kept by `converted`, x in the dtype of the result of x and c. A floating x keeps its dtype. Integers
// and bools become floating or complex beside such numbers and floating if they are `divided`, and bools int64 beside
// integers.
const Variable& beside(const Constant& c, const Variable& x, Variable& converted, bool divided = false);
// Returns the constant converted to the dtype of x, as an operand of kernels. ValueError for an array that does not
// broadcast to the shape of x, TypeError for one on another device.
CATENA_EXPORT Constant converted(const char* op, const Constant& c, const Variable& x);
}  // namespace internal

}  // namespace autograd
