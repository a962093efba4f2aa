// Differentiable sums of products in Einstein's notation, and tensordot.
//
//   einsum("ij,jk->ik", a, b)    the matrix product: an axis that the result does not have is summed over
//   einsum("ij,jk", a, b)        the same: without "->" the result has the axes that occur once, in alphabetical order
//   einsum("ii->i", a)           the diagonal, einsum("ii", a) the trace: a repeated axis takes equal indices
//   einsum("...ij->...ji", a)    the ellipsis stands for all other axes, which broadcast
#pragma once

#include <concepts>
#include <string_view>
#include <utility>

#include <catena/autograd/variable.h>

namespace autograd {

// Operands are contracted in pairs, in the order with the fewest multiplications for up to 6 of them, otherwise a
// greedy one; gradients are such sums, too. Operands are floating and of one dtype (InvalidType); 16-bit floats are
// computed in float32 and rounded once if there are more than two. ValueError for subscripts of another form and for
// operands that do not fit them; a length of 1 broadcasts.
CATENA_EXPORT Variable einsum(std::string_view subscripts, const Variables& operands);
template <class... A>
requires(sizeof...(A) > 0 && (std::convertible_to<const A&, Variable> && ...)) Variable
    einsum(std::string_view subscripts, const A&... operands) {
  return einsum(subscripts, Variables{Variable(operands)...});
}

// Sums over the last n axes of a and the first n axes of b, or over pairs of axes: tensordot(a, b, {{0, 2}, {1, 0}}).
// The result has the other axes of a, then those of b. ValueError for axes out of range or repeated, for lists of
// different lengths, and for lengths that differ.
CATENA_EXPORT Variable tensordot(const Variable& a, const Variable& b, int n = 2);
CATENA_EXPORT Variable tensordot(const Variable& a, const Variable& b, const std::pair<Dims, Dims>& axes);

}  // namespace autograd
