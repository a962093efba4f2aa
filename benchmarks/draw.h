// The shapes of a sweep, drawn from a seed. A case has one drawing rule, beside its fixed parameters:
//
//   Parameters any_matrix(Draw& draw) { return draw.matrix("fd"); }
//
// Sizes are log-uniform, so that every order of magnitude is met equally often. Of the lengths a quarter are prime, a
// quarter are multiples of 16 and the rest is as drawn; half of the operands begin at an address that is not aligned.
// Besides lengths, a rule draws `dtype` (the type character of catena::dtype_from_char) and `offset` (elements that are
// left out at the beginning of the memory); the set-up of a case makes its inputs by input() of cases.h, which takes
// both from the parameters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include <catena/benchmarks/contender.h>

namespace bench {

class Draw {
 public:
  // Shape `number` of a case. `most`: the largest number of elements of an operand; half as many if they have 8 bytes.
  Draw(std::string_view name, std::int64_t seed, std::int64_t number, std::int64_t most);

  // An integer of [low, high], log-uniform, as it is.
  std::int64_t log_uniform(std::int64_t low, std::int64_t high);
  // A length of [low, high]: log-uniform, sometimes moved to a prime or a multiple of 16.
  std::int64_t length(std::int64_t low, std::int64_t high);
  std::int64_t one_of(std::initializer_list<std::int64_t> values);
  std::int64_t dtype(std::string_view characters);  // of one of the types
  std::int64_t offset();                            // 0, or 1 to 15
  std::int64_t elements(std::int64_t dtype = 'f');  // of an operand: 10 to the limit
  std::int64_t at_most(std::int64_t wanted) const { return wanted < most_ ? wanted : most_; }

  // n, dtype, offset
  Parameters line(std::string_view dtypes = "f");
  // rows (to 10^6), columns (to 10^5), dtype, offset: of any number of elements and any aspect ratio
  Parameters matrix(std::string_view dtypes = "f");
  // outer, axis, inner, dtype, offset: an operation along the middle of three axes
  Parameters block(std::string_view dtypes = "f");

 private:
  double unit();
  std::int64_t most(std::int64_t dtype) const;

  std::int64_t seed_, most_;
  std::size_t drawn_ = 0;
};

}  // namespace bench
