// Lengths, strides and similar options of spatial axes: of two, or of any number.
#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/named.h>
#include <catena/kernels/base/shape.h>

namespace nn {

// A length for both axes or a pair (vertical, horizontal). A bool is no length: in a list of arguments it was meant for
// another option.
struct Pair {
  int y, x;
  constexpr Pair(int both) : y(both), x(both) {}
  template <std::same_as<bool> B> Pair(B) = delete;
  constexpr Pair(int vertical, int horizontal) : y(vertical), x(horizontal) {}
  friend constexpr bool operator==(const Pair&, const Pair&) = default;
};

// A pair that need not be given, as an option: {.stride = 2}, {.stride = {2, 1}}.
struct OptionalPair : std::optional<Pair> {
  OptionalPair() = default;
  OptionalPair(std::nullopt_t) {}
  OptionalPair(Pair pair) : optional(pair) {}
  OptionalPair(int both) : optional(Pair(both)) {}
  OptionalPair(int vertical, int horizontal) : optional(Pair(vertical, horizontal)) {}
  OptionalPair(const std::optional<Pair>& pair) : optional(pair) {}
};

// One length for all spatial axes or one for each: a kernel of 3, strides {2, 1, 1}. No bool, as in Pair.
class Lengths {
 public:
  Lengths(int all) : all_(true), v_{all} {}
  template <std::same_as<bool> B> Lengths(B) = delete;
  // A list of two or more integers, of any types. Not a std::initializer_list: {} and {.stride = 2} would also match
  // it, but mean the options of functions that accept both.
  template <std::convertible_to<catena::Integer> I, std::convertible_to<catena::Integer> J,
            std::convertible_to<catena::Integer>... More>
  Lengths(I first, J second, More... more) : v_{first, second, more...} {}
  Lengths(const catena::Dims& each) : v_(each) {}
  Lengths(Pair both) : v_{both.y, both.x} {}

  // Returns one length per spatial axis. AssertionError for another number of lengths: "max_pooling_nd: stride (2, 2)
  // needs one entry for each of 3 spatial axes".
  catena::Dims of(std::string_view op, std::string_view name, int axes) const {
    if (all_) return catena::Dims::filled(axes, v_[0]);
    catena::check<catena::AssertionError>(v_.size() == axes, op, name, " ", v_, " needs one entry for each of ", axes,
                                          " spatial axes");
    return v_;
  }

 private:
  bool all_ = false;
  catena::Dims v_;
};

// Lengths that options may leave out: absent, 3, or {3, 5}.
class OptionalLengths : public std::optional<Lengths> {
 public:
  OptionalLengths() = default;
  OptionalLengths(std::nullopt_t) {}
  template <std::convertible_to<Lengths> L> OptionalLengths(const L& all) : std::optional<Lengths>(Lengths(all)) {}
  OptionalLengths(const std::optional<Lengths>& lengths) : std::optional<Lengths>(lengths) {}
  template <std::convertible_to<catena::Integer> I, std::convertible_to<catena::Integer> J,
            std::convertible_to<catena::Integer>... More>
  OptionalLengths(I first, J second, More... more) : std::optional<Lengths>(Lengths(first, second, more...)) {}
};

namespace internal {
// Returns options with lengths that a call has by place.
template <class Options, class L> Options placed(Options options, const L& stride) {
  options.stride = stride;
  return options;
}
template <class Options, class L> Options placed(Options options, const L& stride, const L& pad) {
  options.stride = stride;
  options.pad = pad;
  return options;
}
}  // namespace internal

}  // namespace nn
