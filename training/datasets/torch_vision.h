// Data sets with the names and arguments of torchvision.datasets. Files are read where that library keeps them; nothing
// is downloaded.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/training/dataset.h>

namespace training::datasets {

struct VisionOptions {
  bool train = true;
  bool download = false;                              // true is a ValueError: get_mnist() downloads
  catena::Function<Example(Example)> transform = {};  // of each example, such as transforms::ToTensor()
};

// The base of data sets that are in memory, with a transform.
class CATENA_EXPORT VisionDataset : public DatasetMixin {
 public:
  std::int64_t size() const override { return data_->size(); }
  Example get_example(std::int64_t i) const override { return data_->get_example(i); }
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override {
    return data_->get_batch(indices);
  }

 protected:
  VisionDataset() = default;
  // Example i is the tuple of images[i] and labels[i], changed by the transform if there is one.
  void set_data(const Array& images, const Array& labels, catena::Function<Example(Example)> transform);

 private:
  DatasetPtr data_;
};

// The IDX files, plain or .gz, in <root>/MNIST/raw, as torchvision writes them, or in root itself. Example i is a tuple
// of a uint8 image (1, 28, 28) and its label (int64, shape ()). IOError with the folders if there are none; errors of
// read_idx for a damaged one.
//   training::datasets::MNIST train("data", {.train = true, .transform = training::transforms::ToTensor()});
class CATENA_EXPORT MNIST : public VisionDataset {
 public:
  explicit MNIST(const std::string& root, VisionOptions options = {}) : MNIST("MNIST", root, std::move(options)) {}
  // MNIST("data", true, transforms::ToTensor())
  template <std::same_as<bool> B>
  MNIST(const std::string& root, B train, catena::Function<Example(Example)> transform = {})
      : MNIST(root, VisionOptions{.train = train, .transform = std::move(transform)}) {}

 protected:
  MNIST(const char* name, const std::string& root, VisionOptions options);
};
// The same in <root>/FashionMNIST/raw and <root>/KMNIST/raw.
struct CATENA_EXPORT FashionMNIST : MNIST {
  explicit FashionMNIST(const std::string& root, VisionOptions options = {})
      : MNIST("FashionMNIST", root, std::move(options)) {}
};
struct CATENA_EXPORT KMNIST : MNIST {
  explicit KMNIST(const std::string& root, VisionOptions options = {}) : MNIST("KMNIST", root, std::move(options)) {}
};

// The files of <root>/cifar-10-batches-py, as torchvision unpacks them, or the archive <root>/cifar-10-python.tar.gz.
// Example i is a tuple of a uint8 image (3, 32, 32) and its label (int64, shape ()). IOError if there are none; the
// ValueError for a damaged file names it.
class CATENA_EXPORT CIFAR10 : public VisionDataset {
 public:
  explicit CIFAR10(const std::string& root, VisionOptions options = {}) : CIFAR10(10, root, std::move(options)) {}
  // CIFAR10("data", true, transforms::ToTensor())
  template <std::same_as<bool> B>
  CIFAR10(const std::string& root, B train, catena::Function<Example(Example)> transform = {})
      : CIFAR10(root, VisionOptions{.train = train, .transform = std::move(transform)}) {}

 protected:
  CIFAR10(int classes, const std::string& root, VisionOptions options);
};
// The same in <root>/cifar-100-python and <root>/cifar-100-python.tar.gz, with the 100 fine labels.
struct CATENA_EXPORT CIFAR100 : CIFAR10 {
  explicit CIFAR100(const std::string& root, VisionOptions options = {}) : CIFAR10(100, root, std::move(options)) {}
  template <std::same_as<bool> B>
  CIFAR100(const std::string& root, B train, catena::Function<Example(Example)> transform = {})
      : CIFAR100(root, VisionOptions{.train = train, .transform = std::move(transform)}) {}
};

struct FakeDataOptions {
  std::int64_t size = 1000;
  std::array<std::int64_t, 3> image_size = {3, 224, 224};  // channels, height, width
  std::int64_t num_classes = 10;
  catena::Function<Example(Example)> transform = {};
  std::uint64_t random_offset = 0;  // of the seeds of the images
};
// Random uint8 images and labels (int64): equal options give equal examples. ValueError for lengths below 1.
class CATENA_EXPORT FakeData : public DatasetMixin {
 public:
  explicit FakeData(FakeDataOptions options = {});
  std::int64_t size() const override { return options_.size; }
  Example get_example(std::int64_t i) const override;

 private:
  FakeDataOptions options_;
};

}  // namespace training::datasets
