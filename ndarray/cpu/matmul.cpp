// Batched, strided matrix products in terms of gemm.h. Transposed operands are passed on as such. Operands that no
// library supports (strides along both axes, 16-bit floats) are packed first.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <catena/kernels/base/module.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/cpu/gemm_long.h>
#include <catena/ndarray/cpu/gemm_thin.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/walk.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::itemsize;
using catena::Shape;
using catena::Strides;

std::atomic<const char*> last_implementation{"none"};

struct Implementation {
  const char* name;
  Multiply multiply;  // null: the portable product
};
constexpr Implementation kPortable{"portable", nullptr};

// Returns the fastest implementation and loads its library. For tiny products, the overhead of a library exceeds the
// product. For small products, OpenBLAS is faster than oneDNN, unless its overhead for the operands dominates (few
// multiplications per element), or it has no kernels for the processor and uses its SSE3 kernels, which are slower than
// the portable product.
Implementation choose(Dtype dtype, const Gemm& g, double work) {
  constexpr double kTiny = 32.0 * 32 * 32, kShallow = 1e5, kSmall = 1e6;
  constexpr std::int64_t kLeastDepth = 32;
  if (work <= kTiny || (g.k == 1 && !catena::is_complex_dtype(dtype))) return kPortable;
  if (!catena::is_complex_dtype(dtype) && is_thin(g, std::int64_t(itemsize(dtype)))) return kPortable;
  if (is_slim(dtype, g)) return kPortable;
  const auto openblas = [] { return Implementation{"openblas", openblas_gemm()}; };
  const bool thin = std::min(g.m, g.n) <= 8, has_openblas = openblas_takes(dtype, g), has_onednn = onednn_takes(dtype);
  const bool small = work <= (has_onednn && g.k < kLeastDepth ? kShallow : kSmall);
  // OpenBLAS is queried last, because the query loads it.
  if (small && has_openblas && openblas_knows_processor()) return openblas();
  if (has_onednn) return {"onednn", onednn_gemm()};
  return has_openblas && (thin || openblas_knows_processor()) ? openblas() : kPortable;
}

// Splits c into parts that are independent products, each computed by one thread.
class Parts {
 public:
  Parts(const Gemm& g, double work) : g_(g) {
    constexpr double kLeast = 2.5e5;
    const auto most =
        static_cast<std::int64_t>(std::min<double>(catena::available_threads(), std::max(1.0, work / kLeast)));
    // Of the possible grids, takes the one that reads least: every part reads its rows of `a` and its columns of b.
    std::int64_t least = INT64_MAX;
    for (std::int64_t rows = 1; rows <= most; ++rows) {
      if (most % rows != 0) continue;
      const std::int64_t columns = most / rows, reads = longest(g.m, rows, kRows) + longest(g.n, columns, kColumns);
      if (reads < least) rows_ = rows, columns_ = columns, least = reads;
    }
  }
  std::int64_t count() const { return rows_ * columns_; }
  // Parts beyond the last block are empty.
  Gemm part(std::int64_t i, std::int64_t item) const {
    Gemm p = g_;
    const auto [r0, r1] = range(g_.m, rows_, kRows, i / columns_);
    const auto [c0, c1] = range(g_.n, columns_, kColumns, i % columns_);
    p.m = r1 - r0;
    p.n = c1 - c0;
    p.a += item * r0 * (g_.transpose_a ? 1 : g_.lda);
    p.b += item * c0 * (g_.transpose_b ? g_.ldb : 1);
    p.c += item * (r0 * g_.ldc + c0);
    return p;
  }

 private:
  static constexpr std::int64_t
      kRows = 16,
      kColumns = 64;  // parts consist of whole blocks of the libraries' kernels, except the last ones
  static std::int64_t longest(std::int64_t n, std::int64_t parts, std::int64_t block) {
    const std::int64_t blocks = (n + block - 1) / block;
    return (blocks + parts - 1) / parts * block;
  }
  static std::pair<std::int64_t, std::int64_t> range(std::int64_t n, std::int64_t parts, std::int64_t block,
                                                     std::int64_t i) {
    const std::int64_t blocks = (n + block - 1) / block;
    return {std::min(n, blocks * i / parts * block), std::min(n, blocks * (i + 1) / parts * block)};
  }

  const Gemm& g_;
  std::int64_t rows_ = 1, columns_ = 1;
};

bool multiply_in_parts(Multiply multiply, Dtype dtype, const Gemm& g, double work) {
  const Parts parts(g, work);
  const auto item = static_cast<std::int64_t>(itemsize(dtype));
  const std::int64_t depth = library_depth(g);  // of the whole product, whatever the number of threads
  std::atomic<bool> done{true};
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    const catena::SingleThreadedLibraries single;
    for (std::int64_t i = begin; i < end; ++i) {
      const Gemm part = parts.part(i, item);
      if (part.m > 0 && part.n > 0 && !multiply_in_pieces(multiply, dtype, part, depth))
        done.store(false, std::memory_order_relaxed);
    }
  };
  if (parts.count() > 1 && catena::internal::has_space_for_onednn(catena::available_threads()))
    catena::parallel_for(parts.count(), 1, run);
  else run(0, parts.count());
  return done.load(std::memory_order_relaxed);
}

// The thin product computes its own partial sums.
void multiply_portable(Dtype dtype, const Gemm& g) {
  if (!catena::is_complex_dtype(dtype) && is_thin(g, std::int64_t(itemsize(dtype)))) return gemm_portable(dtype, g);
  constexpr std::int64_t kBlocked = 4096, kUnblocked = 256;
  const auto multiply = [](Dtype t, const Gemm& piece) {
    gemm_portable(t, piece);
    return true;
  };
  multiply_in_pieces(multiply, dtype, g, catena::is_complex_dtype(dtype) ? kUnblocked : kBlocked);
}

void run_gemm(Dtype dtype, const Gemm& g) {
  const double work = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  Implementation by = choose(dtype, g, work);
  if (by.multiply != nullptr && !multiply_in_parts(by.multiply, dtype, g, work)) by = kPortable;
  if (by.multiply == nullptr) multiply_portable(dtype, g);
  last_implementation.store(by.name, std::memory_order_relaxed);
}

// A matrix in memory: rows x columns with byte strides.
struct Matrix {
  std::byte* data;
  std::int64_t rows, columns, row_stride, column_stride;
  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// Returns the leading dimension, in elements, of a matrix that is stored row by row; 0 for others.
std::int64_t leading_dimension(const Matrix& m, std::int64_t item) {
  if (m.columns > 1 && m.column_stride != item) return 0;
  if (m.rows <= 1) return std::max<std::int64_t>(m.columns, 1);
  return m.row_stride > 0 && m.row_stride % item == 0 && m.row_stride / item >= m.columns ? m.row_stride / item : 0;
}

void convert_matrix(const Matrix& from, Dtype from_dtype, const Matrix& to, Dtype to_dtype) {
  const Shape shape{from.rows, from.columns};
  const Strides from_strides{from.row_stride, from.column_stride}, to_strides{to.row_stride, to.column_stride};
  const BoundOperand pair[2] = {{from.data, from_dtype, false, &shape, &from_strides},
                                {to.data, to_dtype, false, &shape, &to_strides}};
  const CastFn cast = catena::cast_function(from_dtype, to_dtype);
  const Walk walk(pair, shape, 1);
  constexpr std::int64_t kGrain = 64 * 1024;
  catena::parallel_for(walk.units(), walk.grain(kGrain), [&](std::int64_t b, std::int64_t e) {
    walk.run(b, e,
             [&](std::byte* const* p, const std::int64_t* s, std::int64_t n) { cast(p[0], s[0], p[1], s[1], n); });
  });
}

Matrix packed_like(const Matrix& m, std::byte* memory, std::int64_t item) {
  return {memory, m.rows, m.columns, m.columns * item, item};
}

// Computes one product; `compute` is the dtype of the computation.
class Product {
 public:
  Product(Dtype memory, Dtype compute, const Matrix& a, const Matrix& b, const Matrix& c)
      : memory_(memory), compute_(compute), item_(static_cast<std::int64_t>(itemsize(compute))) {
    // A column-major result is computed as the row-major result of the transposed product.
    const bool swap =
        memory == compute && leading_dimension(c, item_) == 0 && leading_dimension(c.transposed(), item_) != 0;
    a_ = swap ? b.transposed() : a;
    b_ = swap ? a.transposed() : b;
    c_ = swap ? c.transposed() : c;
    pack_a_ =
        memory != compute || (leading_dimension(a_, item_) == 0 && leading_dimension(a_.transposed(), item_) == 0);
    pack_b_ =
        memory != compute || (leading_dimension(b_, item_) == 0 && leading_dimension(b_.transposed(), item_) == 0);
    pack_c_ = memory != compute || leading_dimension(c_, item_) == 0;
  }

  void run() const {
    const auto bytes = [&](const Matrix& m, bool needed) {
      return needed ? round_up_64(std::size_t(m.rows * m.columns * item_)) : std::size_t(0);
    };
    const std::size_t size_a = bytes(a_, pack_a_), size_b = bytes(b_, pack_b_), size_c = bytes(c_, pack_c_);
    const Workspace memory(size_a + size_b + size_c);
    Matrix a = a_, b = b_, c = c_;
    if (pack_a_) convert_matrix(a_, memory_, a = packed_like(a_, memory.data(), item_), compute_);
    if (pack_b_) convert_matrix(b_, memory_, b = packed_like(b_, memory.data() + size_a, item_), compute_);
    if (pack_c_) c = packed_like(c_, memory.data() + size_a + size_b, item_);
    Gemm g;
    g.m = c.rows;
    g.n = c.columns;
    g.k = a.columns;
    g.a = a.data;
    g.b = b.data;
    g.c = c.data;
    g.lda = leading_dimension(a, item_);
    g.transpose_a = g.lda == 0;
    if (g.transpose_a) g.lda = leading_dimension(a.transposed(), item_);
    g.ldb = leading_dimension(b, item_);
    g.transpose_b = g.ldb == 0;
    if (g.transpose_b) g.ldb = leading_dimension(b.transposed(), item_);
    g.ldc = leading_dimension(c, item_);
    run_gemm(compute_, g);
    if (pack_c_) convert_matrix(c, compute_, c_, memory_);
  }

 private:
  Dtype memory_, compute_;
  std::int64_t item_;
  Matrix a_, b_, c_;
  bool pack_a_, pack_b_, pack_c_;
};

// The batch axes of one operand, and its last two.
struct Batched {
  Matrix matrix;
  Strides strides;
  explicit Batched(const BoundOperand& o) {
    const int r = o.shape->size();
    matrix = {o.data, (*o.shape)[r - 2], (*o.shape)[r - 1], (*o.strides)[r - 2], (*o.strides)[r - 1]};
    strides.assign(o.strides->begin(), o.strides->begin() + (r - 2));
  }
};

void fill_zero(const BoundOperand& out) {
  alignas(16) const std::byte zero[catena::kMaxItemsize] = {};
  copy_elements(out.data, *out.strides, zero, catena::Strides::filled(out.shape->size(), 0), *out.shape,
                catena::itemsize(out.dtype));
}

}  // namespace

std::string_view last_gemm() noexcept { return last_implementation.load(std::memory_order_relaxed); }

void run(const catena::bound::Matmul& call) {
  if (catena::size_of(*call.out.shape) == 0) return;
  Batched a(call.a), b(call.b), c(call.out);
  if (a.matrix.columns == 0) return fill_zero(call.out);
  const Dtype memory = call.out.dtype, compute = catena::compute_dtype(memory);
  const int rank = call.out.shape->size();
  Shape batch;
  batch.assign(call.out.shape->begin(), call.out.shape->begin() + (rank - 2));
  Strides strides[3] = {a.strides, b.strides, c.strides};
  // Axes of length 1 are broadcast.
  const BoundOperand* operand[3] = {&call.a, &call.b, &call.out};
  for (int o = 0; o < 3; ++o)
    for (int i = 0; i < batch.size(); ++i)
      if ((*operand[o]->shape)[i] == 1) strides[o][i] = 0;
  catena::merge_axes(batch, strides);
  // If all products share one matrix b and the matrices of `a` and c are stacked, they are one product with more rows.
  while (!batch.empty() && strides[1].back() == 0) {
    const std::int64_t rows = a.matrix.rows;
    if (strides[0].back() != rows * a.matrix.row_stride || strides[2].back() != rows * c.matrix.row_stride) break;
    a.matrix.rows = c.matrix.rows = rows * batch.back();
    batch.pop_back();
    for (Strides& s : strides) s.pop_back();
  }
  const std::int64_t count = catena::size_of(batch);
  const auto run_one = [&](std::int64_t i) {
    Matrix m[3] = {a.matrix, b.matrix, c.matrix};
    for (int axis = batch.size() - 1; axis >= 0; --axis) {
      const std::int64_t at = i % batch[axis];
      i /= batch[axis];
      for (int o = 0; o < 3; ++o) m[o].data += at * strides[o][axis];
    }
    Product(memory, compute, m[0], m[1], m[2]).run();
  };
  // Small products run in parallel; a large product uses all threads itself.
  const double work = static_cast<double>(a.matrix.rows) * static_cast<double>(a.matrix.columns) *
                      static_cast<double>(b.matrix.columns);
  constexpr double kLarge = 4e6, kSmall = 1e5;
  if (count == 1 || work > kLarge) {
    for (std::int64_t i = 0; i < count; ++i) run_one(i);
  } else {
    const std::int64_t grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(kSmall / work));
    catena::parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run_one(i);
    });
  }
}

}  // namespace nd::cpu
