// Joins arrays along an axis: copies every piece to its part of the output.
#include <algorithm>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/small_vector.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/run.h>

namespace nd::cpu {
namespace {

constexpr std::int64_t kSmallBytes = 512 * 1024;  // bytes of a piece from which on several threads copy it
constexpr std::int64_t kGrainBytes = 128 * 1024;

}  // namespace

void run(const catena::bound::Join& call) {
  const std::size_t item = catena::itemsize(call.out.dtype);
  const auto count = static_cast<std::int64_t>(call.pieces.size());
  catena::SmallVector<std::byte*, 8> parts;
  std::int64_t bytes = 0;
  std::byte* to = call.out.data;
  for (const catena::BoundOperand& x : call.pieces) {
    parts.push_back(to);
    to += (*x.shape)[call.axis] * (*call.out.strides)[call.axis];
    bytes += catena::size_of(*x.shape) * static_cast<std::int64_t>(item);
  }
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) {
      const catena::BoundOperand& x = call.pieces[static_cast<std::size_t>(k)];
      copy_elements(parts.data()[k], *call.out.strides, x.data, *x.strides, *x.shape, item);
    }
  };
  // A large piece is divided among the threads; small pieces are distributed.
  if (bytes / count >= kSmallBytes) copy(0, count);
  else
    catena::parallel_for(count, std::max<std::int64_t>(1, kGrainBytes / std::max<std::int64_t>(1, bytes / count)),
                         copy);
}

}  // namespace nd::cpu
