#include <catena/ndarray/engine/compress.h>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::internal {

Array compress_by_mask(const Array& a, const Array& mask, std::int64_t count, const Array& counts) {
  const Array out(new_array(Shape{count}, a.dtype(), a.device(), "index"));
  if (count == 0) return out;
  const catena::bound::Compress call{
      .n = a.size(),
      .count = count,
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
