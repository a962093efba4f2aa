// The product of two sparse matrices in host memory, row by row (Gustavson, Two fast algorithms for sparse matrices,
// 1978): the entries of a row of the result are summed in an array with one element per column. Threads calculate parts
// of the rows, in the memory of the result. The entries of a large result are counted first. A small result has memory
// for as many entries as there are products; its parts are moved together afterwards.
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
// The most entries for which there is memory without counting them first.
constexpr std::int64_t kUncounted = 1 << 23;

template <class T, class I> struct Operand {
  const T* data;
  const I* indices;
  const I* indptr;
};

// A number in a vector, in which bools would be bits.
template <class T> struct Element { T value; };

// The columns of a row of the result that have entries.
class FoundColumns {
 public:
  explicit FoundColumns(std::int64_t columns)
      : found_(words_of(columns)),
        in_words_(words_of(std::int64_t(found_.size()))),
        in_groups_(words_of(std::int64_t(in_words_.size()))) {}

  // Adds a column. Returns true if it is new.
  bool add(std::size_t column) {
    const std::size_t word = column / kBits;
    const std::uint64_t bit = std::uint64_t(1) << (column % kBits);
    if ((found_[word] & bit) != 0) return false;
    found_[word] |= bit;
    set(in_words_, word);
    set(in_groups_, word / kBits);
    ++count_;
    return true;
  }
  // Calls f with the columns in their order, removes them, and returns their number.
  template <class F> std::int64_t take_all(F&& f) {
    for (std::size_t g = 0; g < in_groups_.size(); ++g)
      each_bit(g, in_groups_, [&](std::size_t group) {
        each_bit(group, in_words_, [&](std::size_t word) { each_bit(word, found_, f); });
      });
    return std::exchange(count_, 0);
  }

 private:
  static constexpr std::int64_t kBits = 64;

  static std::size_t words_of(std::int64_t bits) { return static_cast<std::size_t>((bits + kBits - 1) / kBits); }
  static void set(std::vector<std::uint64_t>& words, std::size_t bit) {
    words[bit / kBits] |= std::uint64_t(1) << (bit % kBits);
  }
  // Calls f with the numbers of the bits of a word in their order, and clears them.
  template <class F> static void each_bit(std::size_t word, std::vector<std::uint64_t>& words, F&& f) {
    for (std::uint64_t bits = std::exchange(words[word], 0); bits != 0; bits &= bits - 1)
      f(word * kBits + static_cast<std::size_t>(std::countr_zero(bits)));
  }

  // found_ has a bit for each column. in_words_ has one for each word of found_ that is not 0, and in_groups_ one for
  // each word of in_words_ that is not 0: the columns are found in their order without sorting.
  std::vector<std::uint64_t> found_, in_words_, in_groups_;
  std::int64_t count_ = 0;
};

template <class T, class I> class RowProduct {
 public:
  RowProduct(Operand<T, I> a, Operand<T, I> b, std::int64_t rows, std::int64_t columns)
      : a_(a), b_(b), entries_(a.indptr[rows]), sums_(static_cast<std::size_t>(columns)), found_(columns) {}

  // Writes the entries of a row of the result and returns their number.
  std::int64_t write(std::int64_t row, I* indices, T* data) {
    for (I k = a_.indptr[row]; k < a_.indptr[row + 1]; ++k) {
      const T factor = a_.data[k];
      const I inner = a_.indices[k];
      if (k < entries_ - kAhead) fetch(a_.indices[k + kAhead]);
      for (I j = b_.indptr[inner]; j < b_.indptr[inner + 1]; ++j) {
        const auto column = static_cast<std::size_t>(b_.indices[j]);
        T& sum = sums_[column].value;
        if (found_.add(column)) sum = T{};
        add_product(sum, factor, b_.data[j]);
      }
    }
    return found_.take_all([&](std::size_t column) {
      *indices++ = static_cast<I>(column);
      *data++ = sums_[column].value;
    });
  }

 private:
  static constexpr I kAhead = 4;  // entries of a whose rows of b are requested before their turn

  // Requests the beginning of a row of b from memory.
  void fetch(I row) const {
    const I first = b_.indptr[row];
    __builtin_prefetch(b_.indices + first);
    __builtin_prefetch(b_.data + first);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(b_.data + first) + 64);
  }

  Operand<T, I> a_, b_;
  I entries_;  // of a
  std::vector<Element<T>> sums_;
  FoundColumns found_;
};

// The sums of the first 0, 1, ... numbers.
std::vector<std::int64_t> sums_before(const std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> before{0};
  for (const std::int64_t n : numbers) before.push_back(before.back() + n);
  return before;
}

template <class T, class I> class Product {
 public:
  Product(Operand<T, I> a, Operand<T, I> b, std::int64_t rows, std::int64_t columns)
      : a_(a), b_(b), rows_(rows), columns_(columns), lengths_(static_cast<std::size_t>(rows)) {
    std::vector<std::int64_t> work;
    for (std::int64_t i = 0; i < rows; ++i) {
      std::int64_t products = 0;
      for (I k = a.indptr[i]; k < a.indptr[i + 1]; ++k) products += b.indptr[a.indices[k] + 1] - b.indptr[a.indices[k]];
      lengths_[static_cast<std::size_t>(i)] = std::min(products, columns);
      work.push_back(products + 1);
    }
    work_ = sums_before(work);
    starts_ = sums_before(lengths_);
    if (starts_.back() <= kUncounted) return;
    in_parts([&](std::int64_t first, std::int64_t last) {
      FoundColumns found(columns_);
      for (std::int64_t row = first; row < last; ++row) lengths_[static_cast<std::size_t>(row)] = count(row, found);
    });
    starts_ = sums_before(lengths_);
  }
  std::int64_t memory() const { return starts_.back(); }  // in entries

  // Writes all entries, one after the other, and the rows' ends; returns the number of entries.
  std::int64_t write(I* indices, T* data, std::int64_t* indptr) {
    std::mutex mutex;
    std::vector<std::int64_t> begins;
    in_parts([&](std::int64_t first, std::int64_t last) {
      RowProduct<T, I> product(a_, b_, rows_, columns_);
      std::int64_t at = start(first);
      for (std::int64_t row = first; row < last; ++row)
        at += lengths_[static_cast<std::size_t>(row)] = product.write(row, indices + at, data + at);
      const std::lock_guard lock(mutex);
      begins.push_back(first);
    });
    std::sort(begins.begin(), begins.end());
    begins.push_back(rows_);
    std::int64_t n = 0;
    indptr[0] = 0;
    for (std::size_t part = 0; part + 1 < begins.size(); ++part) {
      const std::int64_t from = start(begins[part]), to = n;
      for (std::int64_t row = begins[part]; row < begins[part + 1]; ++row)
        indptr[row + 1] = n += lengths_[static_cast<std::size_t>(row)];
      if (from == to || n == to) continue;
      std::memmove(indices + to, indices + from, static_cast<std::size_t>(n - to) * sizeof(I));
      std::memmove(static_cast<void*>(data + to), data + from, static_cast<std::size_t>(n - to) * sizeof(T));
    }
    return n;
  }

 private:
  std::int64_t start(std::int64_t row) const { return starts_[static_cast<std::size_t>(row)]; }
  // Returns the number of entries of a row of the result.
  std::int64_t count(std::int64_t row, FoundColumns& found) const {
    for (I k = a_.indptr[row]; k < a_.indptr[row + 1]; ++k) {
      const I inner = a_.indices[k];
      for (I j = b_.indptr[inner]; j < b_.indptr[inner + 1]; ++j) found.add(static_cast<std::size_t>(b_.indices[j]));
    }
    return found.take_all([](std::size_t) {});
  }
  // Calls f for parts of all rows with about the same work. A thread's sums have all columns, so a part has at least as
  // much work.
  template <class F> void in_parts(F&& f) const {
    const auto row_at = [&](std::int64_t work) {
      return std::int64_t(std::lower_bound(work_.begin(), work_.end(), work) - work_.begin());
    };
    catena::parallel_for(work_.back(), std::max(kGrain, columns_), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t first = row_at(begin), last = std::min(row_at(end), rows_);
      if (first < last) f(first, last);
    });
  }

  Operand<T, I> a_, b_;
  std::int64_t rows_, columns_;
  std::vector<std::int64_t> lengths_, work_, starts_;  // of the rows; starts_: their place in memory
};

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
      Product<T, I> product(operand(a), operand(b), rows, columns);
      const std::int64_t memory = product.memory();
      out = {made(memory, a.data.dtype()), made(memory, a.indices.dtype()), made(rows + 1, Dtype::int64)};
      const std::int64_t n = product.write(elements_to_write<I>(out.indices), elements_to_write<T>(out.data),
                                           elements_to_write<std::int64_t>(out.indptr));
      if (n == memory) return;
      // A view keeps all of the memory.
      out.data = out.data(Slice(0, n)), out.indices = out.indices(Slice(0, n));
      if (n < memory / 4 * 3) out.data = out.data.copy(), out.indices = out.indices.copy();
    });
  });
  return out;
}

}  // namespace nd::sparse::loops
