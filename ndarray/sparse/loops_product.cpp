// The product of two sparse matrices in host memory, row by row (Gustavson, Two fast algorithms for sparse matrices,
// 1978): the entries of a row of the result are summed in an array with one element per column. Parts of the rows are
// calculated by several threads and put together afterwards.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/sparse/loops_elements.h>
#include <catena/ndarray/sparse/loops_sparse.h>

namespace nd::sparse::loops {
namespace {

// Products of entries that a thread takes at least.
constexpr std::int64_t kGrain = 1 << 14;
// A row of which at least one column in so many has an entry is read from the sums in order; others are sorted.
constexpr std::int64_t kDense = 16;

template <class T, class I> struct Operand {
  const T* data;
  const I* indices;
  const I* indptr;
};

// A number in a vector, in which bools would be bits.
template <class T> struct Element { T value; };

// Rows begin ... begin + lengths.size() - 1 of the result.
template <class T, class I> struct Part {
  std::int64_t begin = 0;
  std::vector<std::int64_t> lengths;
  std::vector<I> indices;
  std::vector<Element<T>> data;
};

template <class T, class I> class RowProduct {
 public:
  RowProduct(Operand<T, I> a, Operand<T, I> b, std::int64_t columns)
      : a_(a),
        b_(b),
        columns_(columns),
        sums_(static_cast<std::size_t>(columns)),
        last_row_(static_cast<std::size_t>(columns), -1) {}

  void append(std::int64_t row, Part<T, I>& part) {
    found_.clear();
    for (I k = a_.indptr[row]; k < a_.indptr[row + 1]; ++k) {
      const T factor = a_.data[k];
      const I inner = a_.indices[k];
      for (I j = b_.indptr[inner]; j < b_.indptr[inner + 1]; ++j) {
        const auto column = static_cast<std::size_t>(b_.indices[j]);
        if (last_row_[column] != row) {
          last_row_[column] = row;
          sums_[column].value = T{};
          found_.push_back(b_.indices[j]);
        }
        add_product(sums_[column].value, factor, b_.data[j]);
      }
    }
    order(row);
    for (const I column : found_) {
      part.indices.push_back(column);
      part.data.push_back(sums_[static_cast<std::size_t>(column)]);
    }
    part.lengths.push_back(static_cast<std::int64_t>(found_.size()));
  }

 private:
  void order(std::int64_t row) {
    if (std::is_sorted(found_.begin(), found_.end())) return;
    if (static_cast<std::int64_t>(found_.size()) * kDense < columns_) {
      std::sort(found_.begin(), found_.end());
      return;
    }
    std::size_t n = 0;
    for (std::int64_t column = 0; column < columns_; ++column)
      if (last_row_[static_cast<std::size_t>(column)] == row) found_[n++] = static_cast<I>(column);
  }

  Operand<T, I> a_, b_;
  std::int64_t columns_;
  std::vector<Element<T>> sums_;
  std::vector<std::int64_t> last_row_;  // the row for which a sum was begun
  std::vector<I> found_;                // the columns of the row
};

// The number of products of the rows before each row, and of all.
template <class T, class I> std::vector<std::int64_t> work_before(Operand<T, I> a, Operand<T, I> b, std::int64_t rows) {
  std::vector<std::int64_t> before{0};
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t products = 1;
    for (I k = a.indptr[i]; k < a.indptr[i + 1]; ++k) products += b.indptr[a.indices[k] + 1] - b.indptr[a.indices[k]];
    before.push_back(before.back() + products);
  }
  return before;
}

template <class T, class I>
std::vector<Part<T, I>> product_in_parts(Operand<T, I> a, Operand<T, I> b, std::int64_t rows, std::int64_t columns) {
  const std::vector<std::int64_t> before = work_before(a, b, rows);
  const auto row_at = [&](std::int64_t work) {
    return std::int64_t(std::lower_bound(before.begin(), before.end(), work) - before.begin());
  };
  std::mutex mutex;
  std::vector<Part<T, I>> parts;
  // A thread's sums have all columns, so a part has at least as much work.
  catena::parallel_for(before.back(), std::max(kGrain, columns), [&](std::int64_t begin, std::int64_t end) {
    Part<T, I> part;
    part.begin = row_at(begin);
    const std::int64_t last = std::min(row_at(end), rows);
    if (part.begin >= last) return;
    RowProduct<T, I> product(a, b, columns);
    for (std::int64_t row = part.begin; row < last; ++row) product.append(row, part);
    const std::lock_guard lock(mutex);
    parts.push_back(std::move(part));
  });
  std::sort(parts.begin(), parts.end(), [](const auto& x, const auto& y) { return x.begin < y.begin; });
  return parts;
}

}  // namespace

Rows multiply_sparse(const Rows& a, const Rows& b, std::int64_t columns) {
  const std::int64_t rows = a.indptr.size() - 1;
  const auto made = [&](std::int64_t n, Dtype dtype) {
    return Array(internal::new_array(Shape{n}, dtype, a.data.device(), "matmul"));
  };
  Rows out;
  visit_elements(a.data.dtype(), [&](auto element) {
    visit_indices(a.indices.dtype(), [&](auto index) {
      using T = decltype(element);
      using I = decltype(index);
      const auto operand = [](const Rows& m) {
        return Operand<T, I>{elements<T>(m.data), elements<I>(m.indices), elements<I>(m.indptr)};
      };
      const auto parts = product_in_parts<T, I>(operand(a), operand(b), rows, columns);
      std::size_t n = 0;
      for (const auto& part : parts) n += part.data.size();
      out = {made(std::int64_t(n), a.data.dtype()), made(std::int64_t(n), a.indices.dtype()),
             made(rows + 1, Dtype::int64)};
      auto* const indptr = elements_to_write<std::int64_t>(out.indptr);
      indptr[0] = 0;
      std::size_t at = 0;
      for (const auto& part : parts) {
        const std::size_t count = part.data.size();
        if (count > 0) {
          std::memcpy(elements_to_write<T>(out.data) + at, part.data.data(), count * sizeof(T));
          std::memcpy(elements_to_write<I>(out.indices) + at, part.indices.data(), count * sizeof(I));
        }
        at += count;
        std::int64_t row = part.begin;
        for (const std::int64_t length : part.lengths) {
          indptr[row + 1] = indptr[row] + length;
          ++row;
        }
      }
    });
  });
  return out;
}

}  // namespace nd::sparse::loops
