// MNIST: 28 x 28 grey images of handwritten digits, and data sets of the same form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <catena/training/datasets/train_test.h>

namespace training::datasets {

struct MnistOptions {
  bool withlabel = true;  // examples are (image, label); false: only images
  int ndim = 1;           // dimensions of an image: 1 (784), 2 (28, 28), 3 (1, 28, 28)
  double scale = 1.0;     // value of a white pixel
  autograd::Dtype dtype = autograd::Dtype::float32;
  autograd::Dtype label_dtype = autograd::Dtype::int32;
};

// The training part and the test part.
using Mnist = TrainTest;

// Reads the four IDX files, plain or .gz, from the folder mnist or pfnet/chainer/mnist of the data set root
// (get_dataset_root()), or the files train.npz and test.npz from the latter. If there are none, makes train.npz and
// test.npz there, like Chainer, from the files of the download cache (cached_download() of the addresses at
// yann.lecun.com). Missing files are downloaded from mirrors, unless the environment variable CATENA_OFFLINE is set or
// Catena was built without curl. IOError, with the folder, the address and the reason, if that fails; generated_mnist()
// works everywhere. The error for a corrupt file names it; different numbers of images and labels are a RuntimeError.
//   auto [train, test] = training::datasets::mnist();
CATENA_EXPORT Mnist mnist(const MnistOptions& options = {});
inline Mnist get_mnist(const MnistOptions& options = {}) { return mnist(options); }
inline Mnist get_mnist(bool withlabel, int ndim = 1, double scale = 1.0,
                       autograd::Dtype dtype = autograd::Dtype::float32,
                       autograd::Dtype label_dtype = autograd::Dtype::int32) {
  return mnist({withlabel, ndim, scale, dtype, label_dtype});
}

// Fashion-MNIST (Xiao et al., 2017): clothes of 10 kinds, and Kuzushiji-MNIST (Clanuwat et al., 2018): cursive Japanese
// characters of 10 kinds. The files have the names of MNIST's, in the folder fashion-mnist or
// pfnet/chainer/fashion-mnist (kuzushiji_mnist or pfnet/chainer/kuzushiji_mnist) of the data set root; else as mnist().
CATENA_EXPORT TrainTest get_fashion_mnist(const MnistOptions& options = {});
CATENA_EXPORT TrainTest get_kuzushiji_mnist(const MnistOptions& options = {});
inline TrainTest get_fashion_mnist(bool withlabel, int ndim = 1, double scale = 1.0,
                                   autograd::Dtype dtype = autograd::Dtype::float32,
                                   autograd::Dtype label_dtype = autograd::Dtype::int32) {
  return get_fashion_mnist({withlabel, ndim, scale, dtype, label_dtype});
}
inline TrainTest get_kuzushiji_mnist(bool withlabel, int ndim = 1, double scale = 1.0,
                                     autograd::Dtype dtype = autograd::Dtype::float32,
                                     autograd::Dtype label_dtype = autograd::Dtype::int32) {
  return get_kuzushiji_mnist({withlabel, ndim, scale, dtype, label_dtype});
}
// Return the names of the labels: "T-shirt/top", "Trouser", ..., and the sounds of the characters: "o", "ki", ...
CATENA_EXPORT std::vector<std::string> get_fashion_mnist_labels();
CATENA_EXPORT std::vector<std::string> get_kuzushiji_mnist_labels();

// Synthetic images in the same form: the strokes of a digit, deformed, rotated, scaled, shifted and with noise. `seed`
// determines everything: equal arguments give equal images.
CATENA_EXPORT Mnist generated_mnist(std::int64_t n_train = 9000, std::int64_t n_test = 1000,
                                    const MnistOptions& options = {}, std::uint64_t seed = 0);

}  // namespace training::datasets
