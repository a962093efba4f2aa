// Room training/datasets: the data sets that Catena provides, their download and their file formats. The Dataset
// interface, splits and batches are in training/dataset.h. This room may use training, autograd and kernels.
//
// MNIST: 28 x 28 grey images of handwritten digits.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/training/dataset.h>

namespace training::datasets {

struct MnistOptions {
  bool withlabel = true;  // examples are (image, label); false: images alone
  int ndim = 1;           // of an image: 1 (784), 2 (28, 28), 3 (1, 28, 28)
  double scale = 1.0;     // value of a white pixel
  autograd::Dtype dtype = autograd::Dtype::float32;
  autograd::Dtype label_dtype = autograd::Dtype::int32;
};

// auto [train, test] = training::datasets::mnist();
struct Mnist {
  DatasetPtr train, test;
  std::string origin;  // "real (<folder>)" or "generated"
};
template <std::size_t I> DatasetPtr get(const Mnist& m) {
  if constexpr (I == 0) return m.train;
  else return m.test;
}

// Reads the four IDX files, plain or .gz, from the folder mnist or pfnet/chainer/mnist of the data set root
// (get_dataset_root()), or the files train.npz and test.npz that Chainer caches there. Missing files are downloaded to
// the folder mnist, unless the environment variable CATENA_OFFLINE is set or Catena was built without curl. IOError
// naming the folder, the address and the reason if that fails; generated_mnist() works everywhere. A corrupt file is an
// error naming it.
CATENA_EXPORT Mnist mnist(const MnistOptions& options = {});

// Synthetic images of the same form: the strokes of a digit, deformed, rotated, scaled, shifted and with noise, all
// determined by `seed`. Equal arguments give equal images.
CATENA_EXPORT Mnist generated_mnist(std::int64_t n_train = 9000, std::int64_t n_test = 1000,
                                    const MnistOptions& options = {}, std::uint64_t seed = 0);

}  // namespace training::datasets

template <> struct std::tuple_size<training::datasets::Mnist> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I> struct std::tuple_element<I, training::datasets::Mnist> { using type = training::DatasetPtr; };
