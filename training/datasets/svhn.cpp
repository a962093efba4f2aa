#include <catena/training/datasets/svhn.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/training/datasets/byte_images.h>
#include <catena/training/datasets/cache.h>
#include <catena/training/datasets/mat.h>

namespace training::datasets {

using autograd::Dtype;
using catena::check;
using catena::ValueError;
using internal::ByteImages;
using internal::MatArray;

namespace {

constexpr const char* kOp = "get_svhn";
constexpr std::size_t kSide = 32, kChannels = 3, kPixels = kChannels * kSide * kSide;

const MatArray& find(const std::vector<MatArray>& arrays, const char* name, const std::string& context) {
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const MatArray& a) { return a.name == name; });
  check<ValueError>(found != arrays.end(), context, "it has no array \"", name, "\" of bytes");
  return *found;
}

// Chainer's cache has x (32, 32, 3, N) and y (N, 1) as in MATLAB, in C order.
std::size_t place_in_cache(std::size_t pixel, std::size_t image, std::size_t n) {
  const std::size_t channel = pixel / (kSide * kSide), row_and_column = pixel % (kSide * kSide);
  return (row_and_column * kChannels + channel) * n + image;
}

void check_shapes(const catena::Shape& x, const catena::Shape& y, const std::string& context) {
  const bool fits = x.size() == 4 && x[0] == 32 && x[1] == 32 && x[2] == 3 && x[3] > 0 && y == catena::Shape{x[3], 1};
  check<ValueError>(fits, context, "the images have the shape ", x, " and the labels the shape ", y,
                    "; (32, 32, 3, N) and (N, 1) are needed");
}

// The label of the digit 0 is 10 in the files.
std::uint8_t digit(std::uint8_t label, const std::string& context) {
  check<ValueError>(label <= 10, context, "a label is ", int(label), "; digits have the labels 1 to 10");
  return label == 10 ? 0 : label;
}

ByteImages read_original(const std::string& path) {
  const std::string context = catena::io_context(kOp, path);
  const std::vector<MatArray> arrays = internal::read_mat(kOp, path);
  const MatArray &x = find(arrays, "X", context), &y = find(arrays, "y", context);
  check_shapes(x.shape, y.shape, context);
  ByteImages images;
  images.pixels.resize(x.values.size());
  for (std::size_t first = 0; first < x.values.size(); first += kSide * kSide)  // planes, column by column
    for (std::size_t row = 0; row < kSide; ++row)
      for (std::size_t column = 0; column < kSide; ++column)
        images.pixels[first + row * kSide + column] = x.values[first + column * kSide + row];
  for (const std::uint8_t label : y.values) images.labels.push_back(digit(label, context));
  return images;
}

void write_cache(const std::string& path, const ByteImages& images) {
  const std::size_t n = images.labels.size();
  std::vector<std::uint8_t> x(images.pixels.size()), y;
  for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
    for (std::size_t i = 0; i < n; ++i) x[place_in_cache(pixel, i, n)] = images.pixels[i * kPixels + pixel];
  for (const std::uint8_t label : images.labels) y.push_back(label == 0 ? 10 : label);
  catena::AtomicFile file(kOp, path);
  catena::NpzWriter npz(file, true);
  npz.add("x", Dtype::uint8, {32, 32, 3, std::int64_t(n)}, std::as_bytes(std::span(x)));
  npz.add("y", Dtype::uint8, {std::int64_t(n), 1}, std::as_bytes(std::span(y)));
  npz.finish();
  file.commit();
}

ByteImages read_cache(const std::string& path) {
  const catena::NpzReader npz(kOp, path);
  const catena::NpyArray x = npz.read("x"), y = npz.read("y");
  check<ValueError>(x.dtype == Dtype::uint8 && y.dtype == Dtype::uint8, npz.context(), "x is ", x.descr, " and y ",
                    y.descr, "; bytes are needed");
  check_shapes(x.shape, y.shape, npz.context());
  const std::size_t n = std::size_t(x.shape[3]);
  ByteImages images;
  images.pixels.resize(n * kPixels);
  for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
    for (std::size_t i = 0; i < n; ++i)
      images.pixels[i * kPixels + pixel] = x.as<std::uint8_t>()[place_in_cache(pixel, i, n)];
  for (const std::uint8_t label : y.as<std::uint8_t>()) images.labels.push_back(digit(label, npz.context()));
  return images;
}

DatasetPtr get_part(const std::string& folder, const std::string& name, const SvhnOptions& o) {
  check<catena::TypeError>(catena::is_floating(o.dtype), kOp, "images of ", o.dtype,
                           " cannot hold scaled pixels; a floating dtype is needed");
  const auto creator = [&](const std::string& to) {
    ByteImages images = read_original(cached_download("http://ufldl.stanford.edu/housenumbers/" + name + "_32x32.mat"));
    write_cache(to, images);
    return images;
  };
  const ByteImages images = cache_or_load_file(folder + '/' + name + ".npz", creator, read_cache);
  return internal::make_dataset(images, {3, 32, 32}, o.scale, o.dtype,
                                o.withlabel ? std::optional(o.label_dtype) : std::nullopt);
}

std::string folder_of_cache() { return get_dataset_directory("pfnet/chainer/svhn", false); }

}  // namespace

TrainTest get_svhn(const SvhnOptions& options) {
  const std::string folder = folder_of_cache();
  return {get_part(folder, "train", options), get_part(folder, "test", options), "real (" + folder + ")"};
}

DatasetPtr get_svhn_extra(const SvhnOptions& options) { return get_part(folder_of_cache(), "extra", options); }

}  // namespace training::datasets
