#include <catena/training/datasets/torch_vision.h>

#include <filesystem>
#include <optional>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/training/datasets/byte_images.h>
#include <catena/training/datasets/idx.h>
#include <catena/training/draws.h>

namespace training::datasets {

namespace fs = std::filesystem;
using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::ValueError;

namespace {

// The path of a file in one of the folders, plain or compressed.
std::string found(const char* name, const std::vector<fs::path>& folders, const std::string& file) {
  for (const fs::path& folder : folders)
    for (const char* suffix : {"", ".gz"}) {
      const fs::path path = folder / (file + suffix);
      std::error_code ignored;
      if (fs::exists(path, ignored)) return path.string();
    }
  catena::fail<catena::IOError>(name, "there is no file ", file, " or ", file, ".gz in \"", folders[0].string(),
                                "\" or \"", folders[1].string(), "\"");
}

Array labels_of(const std::vector<std::uint8_t>& bytes) {
  const std::vector<std::int64_t> labels(bytes.begin(), bytes.end());
  return autograd::array(labels, {std::int64_t(labels.size())});
}

}  // namespace

void VisionDataset::set_data(const Array& images, const Array& labels, catena::Function<Example(Example)> transform) {
  data_ = catena::Shared<TupleDataset>::make(std::vector<Array>{images, labels});
  if (transform) data_ = catena::Shared<TransformDataset>::make(std::move(data_), std::move(transform));
}

MNIST::MNIST(const char* name, const std::string& root, VisionOptions options) {
  check<ValueError>(!options.download, name, "download is true, but this class reads files only; get_mnist(), ",
                    "get_fashion_mnist() and get_kuzushiji_mnist() download");
  const std::vector<fs::path> folders{fs::path(root) / name / "raw", root};
  const std::string part = options.train ? "train" : "t10k";
  const std::string path = found(name, folders, part + "-images-idx3-ubyte");
  const IdxArray images = read_idx(path), labels = read_idx(found(name, folders, part + "-labels-idx1-ubyte"));
  check<ValueError>(images.shape.size() == 3 && labels.shape.size() == 1 && images.shape[0] == labels.shape[0], name,
                    "\"", path, "\" has the shape ", images.shape, " and its labels ", labels.shape);
  const Array pixels = autograd::array(images.data, {images.shape[0], 1, images.shape[1], images.shape[2]});
  set_data(pixels, labels_of(labels.data), std::move(options.transform));
}

CIFAR10::CIFAR10(int classes, const std::string& root, VisionOptions options) {
  const char* const name = classes == 10 ? "CIFAR10" : "CIFAR100";
  check<ValueError>(!options.download, name, "download is true, but this class reads files only; get_cifar10() and ",
                    "get_cifar100() download");
  const internal::ByteImages images = internal::read_cifar(name, classes, root, options.train);
  const std::int64_t n = std::int64_t(images.labels.size());
  const Array pixels = autograd::array(images.pixels, {n, 3, 32, 32});
  set_data(pixels, labels_of(images.labels), std::move(options.transform));
}

FakeData::FakeData(FakeDataOptions options) : options_(std::move(options)) {
  const auto& [channels, height, width] = options_.image_size;
  check<ValueError>(options_.size >= 1 && channels >= 1 && height >= 1 && width >= 1 && options_.num_classes >= 1,
                    "FakeData", "there are ", options_.size, " images of ", channels, " x ", height, " x ", width,
                    " and ", options_.num_classes, " classes; all lengths are at least 1");
}

Example FakeData::get_example(std::int64_t i) const {
  autograd::Generator g{options_.random_offset + static_cast<std::uint64_t>(i), 0};
  const auto& [channels, height, width] = options_.image_size;
  const std::int64_t label = training::internal::integer(g, 0, options_.num_classes - 1);
  const Array noise = autograd::random_uniform({channels, height, width}, 0, 256, Dtype::float32, g, {});
  Example example({autograd::astype(noise, Dtype::uint8), label});
  return options_.transform ? options_.transform(std::move(example)) : example;
}

}  // namespace training::datasets
