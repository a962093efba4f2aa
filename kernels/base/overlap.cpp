#include <catena/kernels/base/overlap.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>

namespace catena {
namespace {

// One unknown of the equation: coefficient * x with 0 <= x <= bound.
struct Term {
  std::int64_t coefficient, bound;
};

// Solves sum(coefficient[i] * x[i]) + u = target with 0 <= x[i] <= bound[i] and 0 <= u <= slack. All coefficients must
// be positive. The unknowns are tried in the order of descending coefficients. The reach of the remaining unknowns
// limits each unknown, and their greatest common divisor excludes most of the other values.
class BoundedEquation {
 public:
  BoundedEquation(std::int64_t slack, int max_work) : slack_(slack), work_left_(max_work) {}

  void add(std::int64_t coefficient, std::int64_t bound) {
    if (coefficient != 0 && bound != 0) term_[std::size_t(n_++)] = {coefficient, bound};
  }

  bool may_have_solution(std::int64_t target) {
    prepare();
    return search(0, target);
  }

 private:
  // Sorts the terms, merges those with equal coefficients, and computes divisor and reach of the terms from i on.
  void prepare() {
    const auto end = term_.begin() + n_;
    std::sort(term_.begin(), end, [](const Term& x, const Term& y) { return x.coefficient > y.coefficient; });
    int kept = 0;
    for (auto t = term_.begin(); t != end; ++t) {
      if (kept > 0 && term_[std::size_t(kept - 1)].coefficient == t->coefficient)
        term_[std::size_t(kept - 1)].bound += t->bound;
      else term_[std::size_t(kept++)] = *t;
    }
    n_ = kept;
    divisor_[std::size_t(n_)] = 0;
    reach_[std::size_t(n_)] = slack_;
    for (int i = n_ - 1; i >= 0; --i) {
      const Term& t = term_[std::size_t(i)];
      divisor_[std::size_t(i)] = std::gcd(divisor_[std::size_t(i) + 1], t.coefficient);
      reach_[std::size_t(i)] = reach_[std::size_t(i) + 1] + t.coefficient * t.bound;
    }
  }

  bool search(int i, std::int64_t target) {
    if (target < 0 || target > reach_[std::size_t(i)]) return false;
    if (i == n_) return true;
    // The remaining terms give multiples of their divisor; the slack must cover the rest.
    if (target % divisor_[std::size_t(i)] > slack_) return false;
    if (--work_left_ < 0) return true;
    const Term& t = term_[std::size_t(i)];
    const std::int64_t missing = std::max<std::int64_t>(target - reach_[std::size_t(i) + 1], 0);
    const std::int64_t least = missing / t.coefficient + (missing % t.coefficient != 0);
    for (std::int64_t x = std::min(t.bound, target / t.coefficient); x >= least; --x)
      if (search(i + 1, target - x * t.coefficient)) return true;
    return false;
  }

  std::int64_t slack_;
  int work_left_;
  int n_ = 0;
  std::array<Term, 2 * kMaxRank> term_;
  std::array<std::int64_t, 2 * kMaxRank + 1> divisor_, reach_;  // of the terms from i on
};

std::int64_t address(const std::byte* p) noexcept {
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(p));
}

}  // namespace

// A byte of `a` is at first_a + sum(|stride| x) + u. A byte of `b`, counted from its end, is at last_b - sum(|stride|
// y) - v. u and v are positions in an element. The two are equal if all of these add up to last_b - first_a.
bool share_elements(const StridedBytes& a, const StridedBytes& b, int max_work) noexcept {
  BoundedEquation equation(static_cast<std::int64_t>(a.itemsize + b.itemsize) - 2, max_work);
  for (const StridedBytes* operand : {&a, &b})
    for (int i = 0; i < operand->shape.size(); ++i) equation.add(std::abs(operand->strides[i]), operand->shape[i] - 1);
  const std::int64_t first_a = address(a.data) + byte_range(a.shape, a.strides, a.itemsize).begin;
  const std::int64_t last_b = address(b.data) + byte_range(b.shape, b.strides, b.itemsize).end - 1;
  return equation.may_have_solution(last_b - first_a);
}

}  // namespace catena
