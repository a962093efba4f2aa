// Types of function arguments in both libraries.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/language.h>

namespace catena {

// Specifies a split: into a number of parts, or before the given positions.
class Sections {
 public:
  template <std::integral I> Sections(I parts) : is_count_(true), count_(static_cast<std::int64_t>(parts)) {}
  Sections(std::initializer_list<std::int64_t> positions) : positions_(positions) {}
  Sections(const std::vector<std::int64_t>& positions) : positions_(positions) {}

  bool is_count() const noexcept { return is_count_; }
  std::int64_t count() const noexcept { return count_; }
  const std::vector<std::int64_t>& positions() const noexcept { return positions_; }

 private:
  bool is_count_ = false;
  std::int64_t count_ = 0;
  std::vector<std::int64_t> positions_;
};

// A value for each side of each axis: one value for all, {before, after} for all axes, or {{before, after}, ...} per
// axis.
template <class T> class PadSides {
 public:
  using Pair = std::pair<T, T>;
  template <class V>
  requires(std::is_arithmetic_v<V>) PadSides(V all) : sides_{{T(all), T(all)}} {}
  PadSides(T all) : sides_{{all, all}} {}
  PadSides(T before, T after) : sides_{{before, after}} {}
  PadSides(std::initializer_list<Pair> sides) : sides_(sides) {}
  PadSides(const std::vector<Pair>& sides) : sides_(sides) {}

  const std::vector<Pair>& sides() const noexcept { return sides_; }

 private:
  std::vector<Pair> sides_;
};

}  // namespace catena
