// The product of two sparse matrices in host memory, row by row (Gustavson, Two fast algorithms for sparse matrices,
// 1978): the entries of a row of the result are summed in an array with one element per column. Parts of the rows are
// calculated by several threads and put together afterwards.
#include <algorithm>
#include <bit>
#include <cstdint>
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
// Entries for which memory is reserved at most before they are known.
constexpr std::int64_t kReserved = 1 << 22;

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
  RowProduct(Operand<T, I> a, Operand<T, I> b, std::int64_t rows, std::int64_t columns)
      : a_(a),
        b_(b),
        entries_(a.indptr[rows]),
        sums_(static_cast<std::size_t>(columns)),
        found_(words_of(columns)),
        in_words_(words_of(std::int64_t(found_.size()))),
        in_groups_(words_of(std::int64_t(in_words_.size()))) {}

  void append(std::int64_t row, Part<T, I>& part) {
    for (I k = a_.indptr[row]; k < a_.indptr[row + 1]; ++k) {
      const T factor = a_.data[k];
      const I inner = a_.indices[k];
      if (k < entries_ - kAhead) fetch(a_.indices[k + kAhead]);
      for (I j = b_.indptr[inner]; j < b_.indptr[inner + 1]; ++j) add_to(b_.indices[j], factor, b_.data[j]);
    }
    const std::size_t before = part.data.size(), after = before + std::exchange(count_, 0);
    part.indices.resize(after);
    part.data.resize(after);
    I* indices = part.indices.data() + before;
    Element<T>* data = part.data.data() + before;
    for (std::size_t g = 0; g < in_groups_.size(); ++g)
      each_bit(g, in_groups_, [&](std::size_t group) {
        each_bit(group, in_words_, [&](std::size_t word) {
          each_bit(word, found_, [&](std::size_t column) {
            *indices++ = static_cast<I>(column);
            *data++ = sums_[column];
          });
        });
      });
    part.lengths.push_back(static_cast<std::int64_t>(after - before));
  }

 private:
  static constexpr std::int64_t kBits = 64;
  static constexpr I kAhead = 4;  // entries of a whose rows of b are requested before their turn

  static std::size_t words_of(std::int64_t bits) { return static_cast<std::size_t>((bits + kBits - 1) / kBits); }
  static void set(std::vector<std::uint64_t>& words, std::size_t bit) {
    words[bit / kBits] |= std::uint64_t(1) << (bit % kBits);
  }
  // Calls f with the numbers of the bits of a word in their order, and clears them.
  template <class F> static void each_bit(std::size_t word, std::vector<std::uint64_t>& words, F&& f) {
    for (std::uint64_t bits = std::exchange(words[word], 0); bits != 0; bits &= bits - 1)
      f(word * kBits + static_cast<std::size_t>(std::countr_zero(bits)));
  }

  // Requests the beginning of a row of b from memory.
  void fetch(I row) const {
    const I first = b_.indptr[row];
    __builtin_prefetch(b_.indices + first);
    __builtin_prefetch(b_.data + first);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(b_.data + first) + 64);
  }

  void add_to(I index, T factor, T value) {
    const auto column = static_cast<std::size_t>(index), word = column / kBits;
    const std::uint64_t bit = std::uint64_t(1) << (column % kBits);
    if ((found_[word] & bit) == 0) {
      found_[word] |= bit;
      set(in_words_, word);
      set(in_groups_, word / kBits);
      ++count_;
      sums_[column].value = T{};
    }
    add_product(sums_[column].value, factor, value);
  }

  Operand<T, I> a_, b_;
  I entries_;  // of a
  std::vector<Element<T>> sums_;
  // found_ has a bit for each column of the row. in_words_ has one for each word of found_ that is not 0, and
  // in_groups_ one for each word of in_words_ that is not 0: the columns are found in their order without sorting.
  std::vector<std::uint64_t> found_, in_words_, in_groups_;
  std::size_t count_ = 0;  // columns of the row
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
    const std::size_t expected = static_cast<std::size_t>(std::min(end - begin, kReserved));
    part.indices.reserve(expected);
    part.data.reserve(expected);
    RowProduct<T, I> product(a, b, rows, columns);
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
