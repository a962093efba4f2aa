// Sums of products in Einstein's notation.
//
//   einsum("ij,jk->ik", a, b)    the matrix product: an axis that the result does not have is summed over
//   einsum("ij,jk", a, b)        the same: without "->" the result has the axes that occur once, in alphabetical order
//   einsum("ii->i", a)           the diagonal, einsum("ii", a) the trace: a repeated axis takes equal indices
//   einsum("...ij->...ji", a)    the ellipsis stands for all other axes, which broadcast
//   einsum(a, {0, 1}, b, {1, 2}, {0, 2})   axes by numbers from 0 to 51, with nd::ellipsis among them
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

// The contractions one after the other: positions of operands in the list of those that are left. The result of a
// contraction becomes the last of the list.
struct EinsumPath {
  std::vector<Dims> path;
  double naive_multiplications = 0;  // of one loop over all axes
  double multiplications = 0;        // of this path
  double largest_intermediate = 0;   // elements
};

// The order of the contractions: a name, true (greedy), false (as the operands are given), or a path.
//   "auto"     the best one for up to 6 operands, otherwise greedy
//   "optimal"  the one with the fewest multiplications; its search grows by 3^operands, so it is for at most 16
//   "greedy"   the pair that leaves the least behind, again and again
class EinsumOrder {
 public:
  EinsumOrder() noexcept = default;
  template <std::same_as<bool> B> EinsumOrder(B optimize) noexcept : name_(optimize ? "greedy" : "none") {}
  EinsumOrder(const char* name) noexcept : name_(name) {}
  EinsumOrder(std::string_view name) noexcept : name_(name) {}
  EinsumOrder(const EinsumPath& path) : path_(path.path) {}
  EinsumOrder(std::vector<Dims> path) : path_(std::move(path)) {}

  std::string_view name() const noexcept { return name_; }
  const std::optional<std::vector<Dims>>& path() const noexcept { return path_; }

 private:
  std::string_view name_ = "auto";
  std::optional<std::vector<Dims>> path_;
};

struct EinsumOptions {
  [[no_unique_address]] Named named = Named();
  Array out = {};                   // of the shape of the result; also returned
  std::optional<Dtype> dtype = {};  // the dtype of the calculation and of the result
  Casting casting = Casting::safe;  // rule for the cast of the operands to dtype, and of the result to out
  EinsumOrder optimize = {};
};

// Every contraction of two operands is one product of stacks of matrices, of views of the operands where their strides
// allow it. The result dtype is the promotion of the operands' (a scalar counts as an array of rank 0); sums are in
// that dtype, integers modulo 2^n, bools by "and" and "or". The result for one operand without a sum is a view of it.
// ValueError for what is not such a notation and for operands that do not fit it; a length of 1 broadcasts. TypeError
// if the operands do not cast to options.dtype by options.casting.
CATENA_EXPORT Array einsum(std::string_view subscripts, const std::vector<Operand>& operands,
                           const EinsumOptions& options = {});
template <class... A>
requires(sizeof...(A) > 0 && (std::convertible_to<const A&, Operand> && ...)) Array
    einsum(std::string_view subscripts, const A&... operands) {
  return einsum(subscripts, std::vector<Operand>{Operand(operands)...});
}
inline Array einsum(std::string_view subscripts, const Operand& a, const EinsumOptions& options) {
  return einsum(subscripts, std::vector<Operand>{a}, options);
}
inline Array einsum(std::string_view subscripts, const Operand& a, const Operand& b, const EinsumOptions& options) {
  return einsum(subscripts, std::vector<Operand>{a, b}, options);
}
inline Array einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c,
                    const EinsumOptions& options) {
  return einsum(subscripts, std::vector<Operand>{a, b, c}, options);
}
inline Array einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c, const Operand& d,
                    const EinsumOptions& options) {
  return einsum(subscripts, std::vector<Operand>{a, b, c, d}, options);
}

// The axes of an operand by numbers.
class EinsumAxes {
 public:
  // A number or nd::ellipsis.
  struct Axis {
    int label;
    template <std::integral I>
    requires(!std::same_as<I, bool>) Axis(I number)
    noexcept : label(number < 0 ? -2 : static_cast<int>(number)) {}
    Axis(catena::Ellipsis) noexcept : label(-1) {}
  };
  EinsumAxes(std::initializer_list<Axis> axes) {
    for (const Axis& axis : axes) labels_.push_back(axis.label);
  }
  const std::vector<int>& labels() const noexcept { return labels_; }

 private:
  std::vector<int> labels_;
};
CATENA_EXPORT Array einsum(const std::vector<std::pair<Operand, EinsumAxes>>& operands,
                           const std::optional<EinsumAxes>& output = {}, const EinsumOptions& options = {});
inline Array einsum(const Operand& a, const EinsumAxes& of_a) { return einsum({{a, of_a}}); }
inline Array einsum(const Operand& a, const EinsumAxes& of_a, const EinsumAxes& output,
                    const EinsumOptions& options = {}) {
  return einsum({{a, of_a}}, output, options);
}
inline Array einsum(const Operand& a, const EinsumAxes& of_a, const Operand& b, const EinsumAxes& of_b) {
  return einsum({{a, of_a}, {b, of_b}});
}
inline Array einsum(const Operand& a, const EinsumAxes& of_a, const Operand& b, const EinsumAxes& of_b,
                    const EinsumAxes& output, const EinsumOptions& options = {}) {
  return einsum({{a, of_a}, {b, of_b}}, output, options);
}
inline Array einsum(const Operand& a, const EinsumAxes& of_a, const Operand& b, const EinsumAxes& of_b,
                    const Operand& c, const EinsumAxes& of_c, const EinsumAxes& output,
                    const EinsumOptions& options = {}) {
  return einsum({{a, of_a}, {b, of_b}, {c, of_c}}, output, options);
}

struct EinsumPathOptions {
  EinsumOrder optimize = true;
};
// The order of the contractions and its cost, without any of the calculation. Errors as for einsum.
CATENA_EXPORT EinsumPath einsum_path(std::string_view subscripts, const std::vector<Operand>& operands,
                                     const EinsumPathOptions& options = {});
template <class... A>
requires(sizeof...(A) > 0 && (std::convertible_to<const A&, Operand> && ...)) EinsumPath
    einsum_path(std::string_view subscripts, const A&... operands) {
  return einsum_path(subscripts, std::vector<Operand>{Operand(operands)...});
}

}  // namespace nd
