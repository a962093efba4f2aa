#include <catena/training/datasets/byte_images.h>

#include <span>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>

namespace training::datasets::internal {

using autograd::Dtype;
using autograd::Shape;

DatasetPtr make_dataset(const ByteImages& images, const Shape& shape, double scale, Dtype dtype,
                        std::optional<Dtype> label_dtype) {
  const auto n = static_cast<std::int64_t>(images.labels.size());
  Shape all = shape;
  all.insert(0, n);
  Array x = autograd::astype(autograd::from_host(images.pixels.data(), all, Dtype::uint8), dtype);
  x *= scale / 255.0;
  std::vector<Array> arrays{x};
  if (label_dtype)
    arrays.push_back(autograd::astype(autograd::from_host(images.labels.data(), {n}, Dtype::uint8), *label_dtype));
  return catena::Shared<TupleDataset>::make(std::move(arrays));
}

std::vector<ByteImages> read_images(std::string_view op, const std::string& path,
                                    const std::vector<std::string>& prefixes, std::int64_t pixels) {
  const catena::NpzReader npz(op, path);
  std::vector<ByteImages> all;
  for (const std::string& prefix : prefixes) {
    const catena::NpyArray x = npz.read(prefix + 'x'), y = npz.read(prefix + 'y');
    catena::check<catena::ValueError>(x.dtype == Dtype::uint8 && y.dtype == Dtype::uint8 && x.shape.size() == 2 &&
                                          x.shape[1] == pixels && y.shape == Shape{x.shape[0]} && x.shape[0] > 0,
                                      npz.context(), prefix, "x has the shape ", x.shape, " and ", prefix,
                                      "y the shape ", y.shape, "; bytes of (N, ", pixels, ") and (N) are needed");
    const auto pixel_bytes = x.as<std::uint8_t>(), label_bytes = y.as<std::uint8_t>();
    all.push_back({{pixel_bytes.begin(), pixel_bytes.end()}, {label_bytes.begin(), label_bytes.end()}});
  }
  return all;
}

void write_images(std::string_view op, const std::string& path, const std::vector<std::string>& prefixes,
                  const std::vector<ByteImages>& images, std::int64_t pixels) {
  catena::AtomicFile file(op, path);
  catena::NpzWriter npz(file, true);
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    const auto n = static_cast<std::int64_t>(images[i].labels.size());
    npz.add(prefixes[i] + 'x', Dtype::uint8, {n, pixels}, std::as_bytes(std::span(images[i].pixels)));
    npz.add(prefixes[i] + 'y', Dtype::uint8, {n}, std::as_bytes(std::span(images[i].labels)));
  }
  npz.finish();
  file.commit();
}

}  // namespace training::datasets::internal
