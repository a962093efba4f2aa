// The shapes of a sweep, drawn from a seed. A case has one drawing rule in addition to its fixed parameters:
//
//   Parameters any_matrix(Draw& draw) { return draw.matrix("fd"); }
//
// Sizes are log-uniform, so that every order of magnitude is equally frequent. A quarter of the lengths are prime, a
// quarter are multiples of 16, and the rest are as drawn; half of the operands begin at an unaligned address. Besides
// lengths, a rule draws `dtype` (the type character of catena::dtype_from_char) and `offset` (the number of elements to
// skip at the beginning of the memory); a case makes its inputs with input() of cases.h, which reads both from the
// parameters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <catena/benchmarks/contender.h>

namespace bench {

class Draw {
 public:
  // Draws shape `number` of a case. `most`: the largest number of elements of an operand; half as many if they have 8
  // bytes.
  Draw(std::string_view name, std::int64_t seed, std::int64_t number, std::int64_t most);

  // Returns an integer of [low, high], log-uniform, not rounded to a prime or a multiple.
  std::int64_t log_uniform(std::int64_t low, std::int64_t high);
  // Returns a length of [low, high]: log-uniform, sometimes moved to a prime or a multiple of 16.
  std::int64_t length(std::int64_t low, std::int64_t high);
  std::int64_t one_of(std::initializer_list<std::int64_t> values);
  std::int64_t dtype(std::string_view characters);  // draws one of these types
  std::int64_t offset();                            // 0, or 1 to 15
  std::int64_t elements(std::int64_t dtype = 'f');  // number of elements of an operand: 10 to the limit
  std::int64_t at_most(std::int64_t wanted) const { return wanted < most_ ? wanted : most_; }

  // Draws n, dtype, offset.
  Parameters line(std::string_view dtypes = "f");
  // Draws rows (to 10^6), columns (to 10^5), dtype, offset, with any number of elements and any aspect ratio.
  Parameters matrix(std::string_view dtypes = "f");
  // Draws outer, axis, inner, dtype, offset, for an operation along the middle of three axes.
  Parameters block(std::string_view dtypes = "f");

 private:
  double unit();
  std::int64_t most(std::int64_t dtype) const;

  std::int64_t seed_, most_;
  std::size_t drawn_ = 0;
};

}  // namespace bench
