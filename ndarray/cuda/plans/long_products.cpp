#include <catena/ndarray/cuda/plans/long_products.h>

#include <catena/kernels/registry/families.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/vendor/blas.h>

namespace nd::cuda {
namespace {

using catena::BoundOperand;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kShort = 8192, kFewResults = 16 * 1024, kNarrowResults = 64;

// Returns the number of terms that cuBLASLt adds up. Writing and reading the sums of the pieces is little compared with
// reading the operands.
std::int64_t piece_length(std::int64_t results) {
  constexpr std::int64_t kVeryFew = 1024;
  return results <= kVeryFew ? 256 : 1024;
}

// An operand whose axis k is cut into pieces, with a further axis for the pieces before its own axes.
struct Cut {
  Shape shape;
  Strides strides;
  std::byte* data;

  Cut(const BoundOperand& o, int k_axis, std::int64_t pieces, std::int64_t length)
      : shape(*o.shape), strides(*o.strides), data(o.data) {
    shape[k_axis] = length;
    shape.insert(0, pieces);
    strides.insert(0, length * (*o.strides)[k_axis]);
  }
  BoundOperand operand() const { return {data, catena::Dtype::float32, false, &shape, &strides}; }
};

// The end of an operand, behind the last whole piece.
struct Rest {
  Shape shape;
  std::byte* data;

  Rest(const BoundOperand& o, int k_axis, std::int64_t from)
      : shape(*o.shape), data(o.data + from * (*o.strides)[k_axis]) {
    shape[k_axis] -= from;
  }
};

}  // namespace

bool is_long_product(const catena::bound::Matmul& call) {
  const std::int64_t results = catena::size_of(*call.out.shape);
  const bool narrow = catena::itemsize(call.out.dtype) == 2 && catena::compute_dtype(call.out.dtype) != call.out.dtype;
  const bool single = catena::real_dtype(call.out.dtype) == catena::Dtype::float32 && !narrow;
  return call.a.shape->back() > kShort && results > 0 &&
         (narrow ? results <= kNarrowResults : single && results <= kFewResults);
}

bool multiply_in_pieces(const catena::bound::Matmul& call, StreamRef stream) {
  Executor& backend = executor(stream.device.kind);
  const int rank = call.out.shape->size();
  // Pieces of a 16-bit product would be rounded to 16 bits; those of a complex one would need a complex sum of pieces,
  // which the portable kernel has.
  if (rank == catena::kMaxRank || call.out.dtype != catena::Dtype::float32) return false;
  const std::int64_t k = call.a.shape->back(), results = catena::size_of(*call.out.shape);
  const std::int64_t length = piece_length(results), pieces = k / length, cut = pieces * length,
                     bytes = results * std::int64_t(sizeof(float));
  const Scratch partial(std::size_t((pieces + 1) * bytes), stream);
  std::byte* const sums = partial.data();

  Shape all = *call.out.shape;
  all.insert(0, pieces);
  const Strides strides = catena::c_strides(all, sizeof(float));
  const Cut a(call.a, rank - 1, pieces, length), b(call.b, rank - 2, pieces, length);
  if (!blas_matmul({a.operand(), b.operand(), {sums, call.out.dtype, false, &all, &strides}}, stream)) return false;
  if (cut < k) {
    const Rest left(call.a, rank - 1, cut), right(call.b, rank - 2, cut);
    const Strides of_rest = catena::c_strides(*call.out.shape, sizeof(float));
    const catena::bound::Matmul rest{{left.data, call.a.dtype, false, &left.shape, call.a.strides},
                                     {right.data, call.b.dtype, false, &right.shape, call.b.strides},
                                     {sums + pieces * bytes, call.out.dtype, false, call.out.shape, &of_rest}};
    backend.execute(rest, stream);
    ++all[0];
  }
  Shape out = *call.out.shape;
  Strides out_strides = *call.out.strides;
  out.insert(0, 1);
  out_strides.insert(0, 0);
  catena::bound::Reduce sum;
  sum.kernel = &catena::kernels::sum;
  sum.loop = sum.kernel->loop_of(call.out.dtype);
  sum.in = {sums, call.out.dtype, false, &all, &strides};
  sum.out = {call.out.data, call.out.dtype, false, &out, &out_strides};
  sum.axes = {0};
  backend.execute(sum, stream);
  return true;
}

}  // namespace nd::cuda
