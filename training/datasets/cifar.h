// CIFAR-10 and CIFAR-100: 32 x 32 colour images in 10 and 100 classes (Krizhevsky, 2009).
#pragma once

#include <cstdint>

#include <catena/training/datasets/train_test.h>

namespace training::datasets {

struct CifarOptions {
  bool withlabel = true;  // examples are (image, label); false: only images
  // dimensions of an image: 3 (3, 32, 32) or 1 (3072), with planes red, green, blue; ValueError for others
  int ndim = 3;
  double scale = 1.0;  // value of a white pixel
};

// Returns float32 images in 0..scale and int32 labels. The first call reads cifar-10-python.tar.gz
// (cifar-100-python.tar.gz) from the download cache (and downloads it if it is missing), and writes
// pfnet/chainer/cifar/cifar-10.npz (cifar-100.npz) in the data set root. Later calls, and Chainer, read that file.
// CIFAR-100 has the 100 fine labels. The pickles of the archive are read, not executed. IOError, with the address and
// the path of the missing file, if the archive is not available; generated_cifar10() works everywhere. The ValueError
// for a damaged file names it.
//   auto [train, test] = training::datasets::get_cifar10();
CATENA_EXPORT TrainTest get_cifar10(const CifarOptions& options = {});
CATENA_EXPORT TrainTest get_cifar100(const CifarOptions& options = {});
inline TrainTest get_cifar10(bool withlabel, int ndim = 3, double scale = 1.0) {
  return get_cifar10(CifarOptions{withlabel, ndim, scale});
}
inline TrainTest get_cifar100(bool withlabel, int ndim = 3, double scale = 1.0) {
  return get_cifar100(CifarOptions{withlabel, ndim, scale});
}

// Synthetic images in the same form: a class has a shape, two colours and a direction of stripes; place, size, light
// and noise vary. `seed` determines everything: equal arguments give equal images.
CATENA_EXPORT TrainTest generated_cifar10(std::int64_t n_train = 5000, std::int64_t n_test = 1000,
                                          const CifarOptions& options = {}, std::uint64_t seed = 0);
CATENA_EXPORT TrainTest generated_cifar100(std::int64_t n_train = 5000, std::int64_t n_test = 1000,
                                           const CifarOptions& options = {}, std::uint64_t seed = 0);

}  // namespace training::datasets
