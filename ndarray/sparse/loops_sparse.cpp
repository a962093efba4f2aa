#include <catena/ndarray/sparse/loops_sparse.h>

#include <algorithm>
#include <utility>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/sparse/loops_elements.h>

namespace nd::sparse::loops {
namespace {

// A range of entries and rows that a thread takes at least.
constexpr std::int64_t kGrain = 1 << 13;

template <class T, class I> struct Product {
  const T* data;
  const I* indices;
  const I* indptr;
  std::int64_t rows;
  const T* x;
  std::int64_t columns;
  T* out;
  std::int64_t fetched = 0;  // each entry before this one requests the row of x of a later entry from memory
};

constexpr std::int64_t kAhead = 8;  // entries

// Four sums, so that an addition does not wait for the previous one. The additions of a short row overlap with those of
// the next row.
template <bool fetches, class T, class I>
CATENA_INLINE T product_with_vector(const Product<T, I>& p, std::int64_t row) {
  T sum{}, sums[3] = {};
  std::int64_t k = p.indptr[row];
  const std::int64_t end = p.indptr[row + 1];
  constexpr std::int64_t kShort = 16;
  if (end - k < kShort) {
    for (; k < end; ++k) {
      if (fetches && k < p.fetched) __builtin_prefetch(&p.x[p.indices[k + kAhead]]);
      add_product(sum, p.data[k], p.x[p.indices[k]]);
      asm("" : "+r"(k));  // no vectors, which would add the products of a row one by one after three comparisons
    }
    return sum;
  }
  for (; k + 4 <= end; k += 4) {
    add_product(sum, p.data[k], p.x[p.indices[k]]);
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) add_product(sums[j], p.data[k + j + 1], p.x[p.indices[k + j + 1]]);
  }
  for (; k < end; ++k) add_product(sum, p.data[k], p.x[p.indices[k]]);
  add(sums[0], sums[1]);
  add(sum, sums[2]);
  add(sum, sums[0]);
  return sum;
}

// `vectors` vectors of 32 bytes of a row of the result, whose sums are in registers.
template <int vectors, class T, class I>
CATENA_INLINE void columns_of_row(const Product<T, I>& p, std::int64_t row, std::int64_t column) {
  constexpr int kLanes = 32 / int(sizeof(T));
  typedef T Vector __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  Vector sums[vectors] = {};
  const std::int64_t end = p.indptr[row + 1];
  for (std::int64_t k = p.indptr[row]; k < end; ++k) {
    const T* const x = p.x + std::int64_t(p.indices[k]) * p.columns + column;
    if (k < p.fetched) {
      const T* const later = p.x + std::int64_t(p.indices[k + kAhead]) * p.columns + column;
#pragma GCC unroll 8
      for (int v = 0; v < vectors; v += 2) __builtin_prefetch(later + v * kLanes);
    }
    const Vector factor = Vector{} + p.data[k];
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sums[v] += factor * *reinterpret_cast<const Vector*>(x + v * kLanes);
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(p.out + row * p.columns + column + v * kLanes) = sums[v];
}

// The last `count` columns of a row, whose sums are in registers.
template <int count, class T, class I>
CATENA_INLINE void last_columns_of_row(const Product<T, I>& p, std::int64_t row, std::int64_t column) {
  T sums[count] = {};
  const std::int64_t end = p.indptr[row + 1];
  for (std::int64_t k = p.indptr[row]; k < end; ++k) {
    const T* const x = p.x + std::int64_t(p.indices[k]) * p.columns + column;
    const T factor = p.data[k];
#pragma GCC unroll 8
    for (int j = 0; j < count; ++j) sums[j] += factor * x[j];
  }
  std::copy_n(sums, count, p.out + row * p.columns + column);
}

template <class T, class I> CATENA_INLINE void product_with_columns(const Product<T, I>& p, std::int64_t row) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    std::int64_t column = 0;
    constexpr int kLanes = 32 / int(sizeof(T));
    for (; column + 8 * kLanes <= p.columns; column += 8 * kLanes) columns_of_row<8>(p, row, column);
    for (; column + 2 * kLanes <= p.columns; column += 2 * kLanes) columns_of_row<2>(p, row, column);
    for (; column + kLanes <= p.columns; column += kLanes) columns_of_row<1>(p, row, column);
    const std::int64_t left = p.columns - column;
    if ((left & 4) != 0) last_columns_of_row<4>(p, row, column), column += 4;
    if ((left & 2) != 0) last_columns_of_row<2>(p, row, column), column += 2;
    if ((left & 1) != 0) last_columns_of_row<1>(p, row, column);
  } else {
    T* const out = p.out + row * p.columns;
    std::fill_n(out, p.columns, T{});
    for (std::int64_t k = p.indptr[row]; k < p.indptr[row + 1]; ++k) {
      const T* const x = p.x + std::int64_t(p.indices[k]) * p.columns;
      for (std::int64_t j = 0; j < p.columns; ++j) add_product(out[j], p.data[k], x[j]);
    }
  }
}

template <class T, class I>
CATENA_INLINE void multiply_part(const Product<T, I>& p, std::int64_t begin, std::int64_t end) {
  if (p.columns == 1 && p.fetched > 0)
    for (std::int64_t i = begin; i < end; ++i) p.out[i] = product_with_vector<true>(p, i);
  else if (p.columns == 1)
    for (std::int64_t i = begin; i < end; ++i) p.out[i] = product_with_vector<false>(p, i);
  else
    for (std::int64_t i = begin; i < end; ++i) product_with_columns(p, i);
}
#define CATENA_MULTIPLY(T)                                                                                       \
  CATENA_MULTIARCH void multiply_rows(const Product<T, std::int32_t>& p, std::int64_t begin, std::int64_t end) { \
    multiply_part(p, begin, end);                                                                                \
  }                                                                                                              \
  CATENA_MULTIARCH void multiply_rows(const Product<T, std::int64_t>& p, std::int64_t begin, std::int64_t end) { \
    multiply_part(p, begin, end);                                                                                \
  }
CATENA_MULTIPLY(bool)
CATENA_MULTIPLY(std::uint8_t)
CATENA_MULTIPLY(std::uint16_t)
CATENA_MULTIPLY(std::uint32_t)
CATENA_MULTIPLY(std::uint64_t)
CATENA_MULTIPLY(float)
CATENA_MULTIPLY(double)
CATENA_MULTIPLY(complex64_t)
CATENA_MULTIPLY(complex128_t)
#undef CATENA_MULTIPLY

// One row of x after the other, so that the sums of a row of the result stay in the cache.
template <class T, class I> void multiply_left_row(const Product<T, I>& p, const T* x, T* out) {
  std::fill(out, out + p.columns, T{});
  for (std::int64_t i = 0; i < p.rows; ++i) {
    const T factor = x[i];
    for (I k = p.indptr[i]; k < p.indptr[i + 1]; ++k) add_product(out[p.indices[k]], factor, p.data[k]);
  }
}

template <class T> bool is_zero(const T& x) {
  if constexpr (catena::is_complex_dtype(catena::dtype_of<T>)) return x.re == 0 && x.im == 0;
  else return x == T(0);
}

// The entries of compressed rows, which are read or written one after the other.
template <class T, class I> struct Columns {
  T* data;
  I* indices;
  I* indptr;
};
template <class T, class I>
std::int64_t combine_rows(Combination op, std::int64_t rows, Columns<const T, const I> a, Columns<const T, const I> b,
                          Columns<T, I> out) {
  std::int64_t n = 0;
  const auto put = [&](I column, const T& value) {
    out.data[n] = value;
    out.indices[n] = column;
    n += !is_zero(value);
  };
  out.indptr[0] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    I k = a.indptr[i], j = b.indptr[i];
    const I a_end = a.indptr[i + 1], b_end = b.indptr[i + 1];
    while (k < a_end || j < b_end) {
      if (j == b_end || (k < a_end && a.indices[k] < b.indices[j])) {
        if (op == Combination::sum) put(a.indices[k], a.data[k]);
        ++k;
      } else if (k == a_end || b.indices[j] < a.indices[k]) {
        if (op == Combination::sum) put(b.indices[j], b.data[j]);
        ++j;
      } else {
        T value{};
        if (op == Combination::sum) add(value = a.data[k], b.data[j]);
        else add_product(value, a.data[k], b.data[j]);
        put(a.indices[k], value);
        ++k, ++j;
      }
    }
    out.indptr[i + 1] = static_cast<I>(n);
  }
  return n;
}

// Calls body(first row, last row + 1) on ranges with about the same number of rows and entries.
template <class I, class F> void for_rows(const I* indptr, std::int64_t rows, std::int64_t columns, F&& body) {
  const auto row_at = [&](std::int64_t position) {
    std::int64_t low = 0, high = rows;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (std::int64_t(indptr[middle]) + middle < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const std::int64_t grain = std::max<std::int64_t>(64, kGrain / std::max<std::int64_t>(columns, 1));
  catena::parallel_for(rows + std::int64_t(indptr[rows]), grain,
                       [&](std::int64_t begin, std::int64_t end) { body(row_at(begin), row_at(end)); });
}

template <class I> void group_keys(const I* keys, std::int64_t n, I* order, I* starts, std::int64_t groups) {
  std::fill(starts, starts + groups + 1, I(0));
  for (std::int64_t k = 0; k < n; ++k) ++starts[keys[k]];
  I before = 0;
  for (std::int64_t g = 0; g <= groups; ++g) before += std::exchange(starts[g], before);
  for (std::int64_t k = 0; k < n; ++k) order[starts[keys[k]]++] = static_cast<I>(k);
  std::copy_backward(starts, starts + groups, starts + groups + 1);  // each start has moved to the next one
  starts[0] = 0;
}

// Calls f with the operands of a product, in the types of their elements.
template <class F>
void with_product(const Array& data, const Array& indices, const Array& indptr, const Array& x, std::int64_t columns,
                  const Array& out, F&& f) {
  visit_elements(data.dtype(), [&](auto element) {
    visit_indices(indices.dtype(), [&](auto index) {
      using T = decltype(element);
      using I = decltype(index);
      f(Product<T, I>{elements<T>(data), elements<I>(indices), elements<I>(indptr), indptr.size() - 1, elements<T>(x),
                      columns, elements_to_write<T>(out)});
    });
  });
}

}  // namespace

void multiply(const Array& data, const Array& indices, const Array& indptr, const Array& x, const Array& out) {
  constexpr std::int64_t kInCache = 1 << 19;  // bytes
  with_product(data, indices, indptr, x, x.ndim() == 1 ? 1 : x.shape(1), out, [&](auto p) {
    if (x.size() * x.itemsize() > kInCache) p.fetched = std::int64_t(p.indptr[p.rows]) - kAhead;
    for_rows(p.indptr, p.rows, p.columns, [&p](std::int64_t begin, std::int64_t end) { multiply_rows(p, begin, end); });
  });
}

void multiply_left(const Array& x, const Array& data, const Array& indices, const Array& indptr, const Array& out) {
  const std::int64_t columns = out.shape(-1), grain = kGrain / (data.size() + columns + 1) + 1;
  with_product(data, indices, indptr, x, columns, out, [&](const auto& p) {
    catena::parallel_for(x.ndim() == 1 ? 1 : x.shape(0), grain, [&p](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) multiply_left_row(p, p.x + r * p.rows, p.out + r * p.columns);
    });
  });
}

std::int64_t combine(Combination op, const Rows& a, const Rows& b, const Rows& out) {
  std::int64_t n = 0;
  visit_elements(a.data.dtype(), [&](auto element) {
    visit_indices(a.indices.dtype(), [&](auto index) {
      using T = decltype(element);
      using I = decltype(index);
      const auto columns = [](const Rows& m) {
        return Columns<const T, const I>{elements<T>(m.data), elements<I>(m.indices), elements<I>(m.indptr)};
      };
      n = combine_rows<T, I>(
          op, a.indptr.size() - 1, columns(a), columns(b),
          {elements_to_write<T>(out.data), elements_to_write<I>(out.indices), elements_to_write<I>(out.indptr)});
    });
  });
  return n;
}

void sum_rows(const Array& data, const Array& indptr, const Array& out) {
  const std::int64_t rows = indptr.size() - 1;
  visit_elements(data.dtype(), [&](auto element) {
    visit_indices(indptr.dtype(), [&](auto index) {
      using T = decltype(element);
      using I = decltype(index);
      const T* const x = elements<T>(data);
      const I* const starts = elements<I>(indptr);
      T* const sums = elements_to_write<T>(out);
      for_rows(starts, rows, 1, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          T sum{};
          for (I k = starts[i]; k < starts[i + 1]; ++k) add(sum, x[k]);
          sums[i] = sum;
        }
      });
    });
  });
}

void number_rows(const Array& indptr, const Array& out) {
  visit_indices(indptr.dtype(), [&](auto index) {
    using I = decltype(index);
    const I* const starts = elements<I>(indptr);
    I* const numbers = elements_to_write<I>(out);
    for_rows(starts, indptr.size() - 1, 1, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) std::fill(numbers + starts[i], numbers + starts[i + 1], I(i));
    });
  });
}

void group(const Array& keys, const Array& order, const Array& starts) {
  visit_indices(keys.dtype(), [&](auto index) {
    using I = decltype(index);
    group_keys(elements<I>(keys), keys.size(), elements_to_write<I>(order), elements_to_write<I>(starts),
               starts.size() - 1);
  });
}

}  // namespace nd::sparse::loops
