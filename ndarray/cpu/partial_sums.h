// Partial sums of long sums. Rounding errors of a sum grow with the number of its terms, so terms are added up in
// parts, and the parts in levels: after kRadix sums, a level is added to the next one and starts anew.
#pragma once

#include <cstdint>

namespace nd::cpu {

// Computes n sums of type V at once; `level` must hold kLevels * n of them.
template <class V> class PartialSums {
 public:
  static constexpr int kLevels = 4;

  PartialSums(V* level, std::int64_t n) : level_(level), n_(n) {}

  // Adds the sums of a part and sets them to 0.
  inline __attribute__((always_inline)) void take(V* part) {
    join(0, part, holds(0));
    for (std::int64_t i = 0; i < n_; ++i) part[i] = V{};
    std::int64_t taken = ++parts_;
    for (int l = 0; l + 1 < kLevels && taken % kRadix == 0; ++l) {
      taken /= kRadix;
      join(l + 1, level_ + l * n_, l + 2 == kLevels ? taken > 1 : (taken - 1) % kRadix != 0);
    }
  }
  // Adds all sums taken so far to `part`.
  inline __attribute__((always_inline)) void add_to(V* part) const {
    for (int l = 0; l < kLevels; ++l)
      if (holds(l))
        for (std::int64_t i = 0; i < n_; ++i) part[i] = level_[l * n_ + i] + part[i];
  }

 private:
  static constexpr std::int64_t kRadix = 32;

  bool holds(int level) const {
    std::int64_t units = parts_;
    for (int l = 0; l < level; ++l) units /= kRadix;
    return level + 1 == kLevels ? units > 0 : units % kRadix != 0;
  }
  inline __attribute__((always_inline)) void join(int level, const V* from, bool holds) {
    V* const to = level_ + level * n_;
    if (holds)
      for (std::int64_t i = 0; i < n_; ++i) to[i] = to[i] + from[i];
    else
      for (std::int64_t i = 0; i < n_; ++i) to[i] = from[i];
  }

  V* const level_;
  const std::int64_t n_;
  std::int64_t parts_ = 0;
};

}  // namespace nd::cpu
