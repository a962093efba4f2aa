// Walks over several strided operands of one loop shape: axes are ordered and merged once, then the runs of the
// innermost axis are visited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/program.h>

namespace nd::cpu {

inline constexpr int kMaxWalk = catena::kMaxSlots;

// Thread safety: run() is const and may be called on disjoint ranges from several threads.
class Walk {
 public:
  // `first_output`: the operand whose strides determine the order of the axes. Where they leave the order open, the
  // operands after it decide, and last the operands before it.
  Walk(std::span<const catena::BoundOperand> operands, const catena::Shape& loop, int first_output)
      : n_(static_cast<int>(operands.size())) {
    loop_ = loop;
    for (int k = 0; k < n_; ++k) {
      data_[k] = operands[std::size_t(k)].data;
      stride_[k] = *operands[std::size_t(k)].strides;
    }
    order_axes(first_output);
    catena::merge_axes(loop_, {stride_, std::size_t(n_)});
    rank_ = loop_.size();
    // If the innermost axis is short, each call would process few elements, so the axis before it is made the inner
    // one.
    panel_ = rank_ >= 2 && loop_[rank_ - 1] < kShort && loop_[rank_ - 2] >= 2 * kShort;
    // If the neighbours of an operand's elements are along the second innermost axis (a transposed operand), visiting a
    // few columns at a time uses its cache lines for several rows.
    for (int k = 0; rank_ >= 2 && !panel_ && k < n_; ++k) {
      const std::int64_t row = std::llabs(stride_[k][rank_ - 2]), column = std::llabs(stride_[k][rank_ - 1]);
      blocked_ |= row != 0 && row < 64 && column >= 64 && loop_[rank_ - 1] >= 2 * kBlock;
    }
  }

  int rank() const { return rank_; }
  // Number of units that are distributed over threads: elements, or whole rows.
  std::int64_t units() const { return by_rows() ? catena::size_of(loop_) / loop_[rank_ - 1] : catena::size_of(loop_); }
  std::int64_t elements_per_unit() const { return by_rows() ? loop_[rank_ - 1] : 1; }

  // The least number of units per thread, given the least number of elements.
  std::int64_t grain(std::int64_t elements) const { return std::max<std::int64_t>(1, elements / elements_per_unit()); }

  // Calls f(ptr, stride, n) for every run in units [begin, end).
  template <class F> void run(std::int64_t begin, std::int64_t end, F&& f) const {
    if (rank_ == 0) {
      static constexpr std::int64_t zero[kMaxWalk] = {};
      if (begin < end) f(data_, zero, std::int64_t(1));
      return;
    }
    std::byte* ptr[kMaxWalk];
    each_span(begin, end, [&](std::byte* const* base, const std::int64_t* stride, std::int64_t at, std::int64_t n) {
      if (panel_) return run_panel(base, at, n, f);
      if (blocked_) return run_blocked(base, at, n, f);
      for (int k = 0; k < n_; ++k) ptr[k] = base[k] + at * stride[k];
      f(ptr, stride, n);
    });
  }

  // For work with a high cost per call. If the innermost axis has at most `longest` elements, threads will share whole
  // rows and run_rows() will visit several rows at once; returns true in this case.
  bool share_rows(std::int64_t longest) {
    if (blocked_ || rank_ < 2 || loop_[rank_ - 1] > longest || loop_[rank_ - 2] < 2) return false;
    rows_ = !panel_ || joins_rows();
    if (rows_) panel_ = false;
    return rows_;
  }
  // Calls f(ptr, row_stride, stride, rows, n): element i of row r of operand k is at ptr[k] + r * row_stride[k] + i *
  // stride[k].
  template <class F> void run_rows(std::int64_t begin, std::int64_t end, F&& f) const {
    std::byte* ptr[kMaxWalk];
    std::int64_t stride[kMaxWalk];
    for (int k = 0; k < n_; ++k) stride[k] = stride_[k][rank_ - 1];
    each_span(begin, end, [&](std::byte* const* base, const std::int64_t* row_stride, std::int64_t at, std::int64_t n) {
      for (int k = 0; k < n_; ++k) ptr[k] = base[k] + at * row_stride[k];
      f(ptr, row_stride, stride, n, loop_[rank_ - 1]);
    });
  }

 private:
  static constexpr std::int64_t kShort = 16;
  static constexpr std::int64_t kBlock = 64;
  static constexpr std::int64_t kPanel = 512;  // rows of a panel that stay in the cache while its columns are visited

  // Calls f(base, stride, at, n) for positions [at, at + n) of the axis along which units are counted; `base` is the
  // start of that axis.
  template <class F> void each_span(std::int64_t begin, std::int64_t end, F&& f) const {
    const int inner_axis = by_rows() ? rank_ - 2 : rank_ - 1;
    const std::int64_t inner = loop_[inner_axis];
    std::int64_t position[catena::kMaxRank];
    std::int64_t rest = begin / inner;
    for (int a = inner_axis - 1; a >= 0; --a) {
      position[a] = rest % loop_[a];
      rest /= loop_[a];
    }
    std::byte* base[kMaxWalk];
    std::int64_t stride[kMaxWalk];
    for (int k = 0; k < n_; ++k) {
      base[k] = data_[k];
      for (int a = 0; a < inner_axis; ++a) base[k] += position[a] * stride_[k][a];
      stride[k] = stride_[k][inner_axis];
    }
    std::int64_t i = begin, at = begin % inner;
    while (i < end) {
      const std::int64_t n = inner - at < end - i ? inner - at : end - i;
      f(base, stride, at, n);
      i += n;
      at = 0;
      for (int a = inner_axis - 1; a >= 0; --a) {
        for (int k = 0; k < n_; ++k) base[k] += stride_[k][a];
        if (++position[a] < loop_[a]) break;
        for (int k = 0; k < n_; ++k) base[k] -= loop_[a] * stride_[k][a];
        position[a] = 0;
      }
    }
  }

  template <class F> void run_panel(std::byte* const* base, std::int64_t at, std::int64_t n, F&& f) const {
    std::byte* ptr[kMaxWalk];
    std::int64_t stride[kMaxWalk];
    for (int k = 0; k < n_; ++k) stride[k] = stride_[k][rank_ - 2];
    for (std::int64_t i = 0; i < n; i += kPanel) {
      const std::int64_t m = n - i < kPanel ? n - i : kPanel;
      for (std::int64_t j = 0; j < loop_[rank_ - 1]; ++j) {
        for (int k = 0; k < n_; ++k) ptr[k] = base[k] + (at + i) * stride[k] + j * stride_[k][rank_ - 1];
        f(ptr, stride, m);
      }
    }
  }

  template <class F> void run_blocked(std::byte* const* base, std::int64_t at, std::int64_t n, F&& f) const {
    std::byte* ptr[kMaxWalk];
    std::int64_t stride[kMaxWalk];
    const std::int64_t columns = loop_[rank_ - 1];
    for (int k = 0; k < n_; ++k) stride[k] = stride_[k][rank_ - 1];
    for (std::int64_t i0 = 0; i0 < n; i0 += kBlock)
      for (std::int64_t j = 0; j < columns; j += kBlock)
        for (std::int64_t i = i0; i < std::min(i0 + kBlock, n); ++i) {
          for (int k = 0; k < n_; ++k) ptr[k] = base[k] + (at + i) * stride_[k][rank_ - 2] + j * stride[k];
          f(ptr, stride, std::min(kBlock, columns - j));
        }
  }

  // True if the rows of every operand follow each other without a gap, are all the same, or repeat one element each.
  // Many such rows at once are filled into a tile by vectors; for other rows, a panel takes fewer calls.
  bool joins_rows() const {
    for (int k = 0; k < n_; ++k) {
      const std::int64_t row = stride_[k][rank_ - 2], inner = stride_[k][rank_ - 1];
      if (inner != 0 && row != 0 && row != loop_[rank_ - 1] * inner) return false;
    }
    return true;
  }

  bool by_rows() const { return panel_ || blocked_ || rows_; }

  // Orders the axes by descending strides. Elements are independent, so the order does not change values.
  void order_axes(int first_output) {
    const auto goes_before = [&](int a, int b) {  // true if axis b, which comes after a, must come before it
      for (int i = 0; i < n_; ++i) {
        const int k = (i + first_output) % n_;
        const std::int64_t sa = std::llabs(stride_[k][a]), sb = std::llabs(stride_[k][b]);
        if (loop_[a] == 1 || loop_[b] == 1) return false;
        if (sa != sb && sa != 0 && sb != 0) return sb > sa;
      }
      return false;
    };
    for (int b = 1; b < loop_.size(); ++b)
      for (int a = b; a > 0 && goes_before(a - 1, a); --a) {
        std::swap(loop_[a - 1], loop_[a]);
        for (int k = 0; k < n_; ++k) std::swap(stride_[k][a - 1], stride_[k][a]);
      }
  }

  int n_, rank_ = 0;
  bool panel_ = false, blocked_ = false, rows_ = false;
  catena::Shape loop_;
  std::byte* data_[kMaxWalk];
  catena::Strides stride_[kMaxWalk];
};

}  // namespace nd::cpu
