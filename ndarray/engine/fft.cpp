#include <catena/ndarray/engine/fft.h>

#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/executor.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::internal {
namespace {

void run(const catena::bound::Fft& call, const Array& a, const Array& out) {
  const StreamRef stream = stream_for(a.device());
  const catena::ArrayHeader *const read = a.get(), *const written = out.get();
  launch_on(stream, {&read, 1}, {&written, 1}, [&] { executor(a.device().kind).execute(call, stream); });
}

}  // namespace

Array fft_blocks(FftKind kind, const Array& a, const Shape& lengths, bool inverse, double scale) {
  const std::int64_t n = lengths.back();
  const Dtype complex =
      a.dtype() == Dtype::float32 || a.dtype() == Dtype::complex64 ? Dtype::complex64 : Dtype::complex128;
  Shape shape = a.shape();
  std::int64_t& length = shape[shape.size() - 1];
  length = kind == FftKind::real_to_complex ? n / 2 + 1 : n;
  std::int64_t block = length;
  for (int k = 0; k + 1 < lengths.size(); ++k) block *= lengths[k];
  const std::int64_t rows = a.size() == 0 ? 0 : catena::size_of(shape) / block;
  const Array out(
      new_array(shape, kind == FftKind::complex_to_real ? catena::real_dtype(complex) : complex, a.device(), "fft"));
  if (rows == 0) return out;
  catena::bound::Fft call{kind, complex, inverse, rows, n, scale, a->data, out->data};
  for (int k = 0; k + 1 < lengths.size(); ++k) call.before[k] = lengths[k];
  run(call, a, out);
  return out;
}

Array fft_along_axis(const Array& a, int axis, bool inverse, double scale) {
  const Array out(new_array(a.shape(), a.dtype(), a.device(), "fft"));
  if (a.size() == 0) return out;
  const std::int64_t n = a.shape(axis);
  catena::bound::Fft call{FftKind::complex, a.dtype(), inverse, a.size() / n, n, scale, a->data, out->data};
  call.columns = elements_behind(a.shape(), axis);
  run(call, a, out);
  return out;
}

}  // namespace nd::internal
