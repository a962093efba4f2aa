// MNIST: 28 x 28 grey images of handwritten digits.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include <catena/training/dataset.h>

namespace training::datasets {

struct MnistOptions {
  bool withlabel = true;  // examples (image, label), else images alone
  int ndim = 1;           // of an image: 1 (784), 2 (28, 28), 3 (1, 28, 28)
  double scale = 1.0;     // the largest value of a pixel
  autograd::Dtype dtype = autograd::Dtype::float32;
  autograd::Dtype label_dtype = autograd::Dtype::int32;
};

// auto [train, test] = training::datasets::mnist();
struct Mnist {
  DatasetPtr train, test;
  std::string origin;  // "real (<folder>)" or "generated"
};
template <std::size_t I>
DatasetPtr get(const Mnist& m) {
  if constexpr (I == 0) return m.train;
  else return m.test;
}

// The four IDX files, plain or .gz, in the folder mnist or pfnet/chainer/mnist of the data set root
// (get_dataset_root()), or the files train.npz and test.npz that the reference caches there. Missing ones are
// downloaded into the folder mnist, unless the environment variable CATENA_OFFLINE is set or the library was built
// without curl; when that is not possible either, generated images take their place and a line on the error output says
// so. Files that are there but broken are an error naming them.
CATENA_EXPORT Mnist mnist(const MnistOptions& options = {});

// Images of the same form, drawn: the strokes of a digit, bent, turned, scaled, shifted and under noise, all from
// `seed`. Equal arguments give equal images.
CATENA_EXPORT Mnist generated_mnist(std::int64_t n_train = 9000, std::int64_t n_test = 1000,
                                    const MnistOptions& options = {}, std::uint64_t seed = 0);

}  // namespace training::datasets

template <>
struct std::tuple_size<training::datasets::Mnist> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I>
struct std::tuple_element<I, training::datasets::Mnist> {
  using type = training::DatasetPtr;
};
