#include <catena/ndarray/engine/compress.h>

#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/reduction.h>

namespace nd::internal {

PieceCounts count_pieces(const Array& a) {
  if (a.size() <= catena::kLeastPiece)
    return {apply_reduction(catena::kernels::count_nonzero, a, {.axis = {}}).item<std::int64_t>(), Array()};
  const Array counts(new_array(Shape{catena::size_of_counts(a.size())}, Dtype::int64, a.device()));
  execute(catena::call::CountPieces{a.get(), counts.get()});
  return {make_view(counts, Shape{}, Strides{}).item<std::int64_t>(), counts};
}

Array compress_by_mask(const Array& a, const Array& mask) {
  const auto [total, counts] = count_pieces(mask);
  const Array out(new_array(Shape{total}, a.dtype(), a.device(), "index"));
  if (total == 0) return out;
  const catena::bound::Compress call{
      .n = a.size(),
      .count = total,
      .item = static_cast<std::int64_t>(a.itemsize()),
      .counts = counts.is_null() ? nullptr : reinterpret_cast<const std::int64_t*>(counts->data),
      .mask = mask->data,
      .in = a->data,
      .out = out->data};
  const StreamRef stream = stream_for(a.device());
  const catena::ArrayHeader *const reads[] = {a.get(), mask.get(), counts.get()}, *const written = out.get();
  launch_on(stream, reads, {&written, 1}, [&] { executor(a.device().kind).execute(call, stream); });
  return out;
}

}  // namespace nd::internal
