#include <catena/ndarray/cuda/vendor/linear.h>

#include <cstdint>

#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/long_products.h>
#include <catena/ndarray/cuda/vendor/blas.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

using catena::ArrayHeader;

bool is_bias(const ArrayHeader& b) {
  constexpr std::uintptr_t kAlignment = 16;  // of the loads of cuBLASLt's epilogues
  const catena::Dtype t = b.dtype;
  return (t == catena::Dtype::float16 || t == catena::Dtype::bfloat16 || t == catena::Dtype::float32) &&
         b.c_contiguous && reinterpret_cast<std::uintptr_t>(b.data) % kAlignment == 0;
}

}  // namespace

bool linear(const ArrayHeader& x, const ArrayHeader& w, const ArrayHeader& b, const ArrayHeader& out) {
  if (!is_bias(b)) return false;
  const catena::Shape shape{w.shape[1], w.shape[0]};
  const catena::Strides strides{w.strides[1], w.strides[0]};
  const catena::bound::Matmul call{
      catena::operand_of(x), {w.data, w.dtype, false, &shape, &strides}, catena::operand_of(out)};
  const auto problem = internal::blas_problem(call);
  if (!problem || is_long_product(call)) return false;
  const StreamRef stream = nd::internal::stream_for(out.device);
  const ArrayHeader* const reads[] = {&x, &w, &b};
  const ArrayHeader* const writes[] = {&out};
  bool done = false;
  nd::internal::launch_on(stream, reads, writes,
                          [&] { done = internal::blas_matmul(call, problem, stream, {.bias = b.data}); });
  return done;
}

}  // namespace nd::cuda
