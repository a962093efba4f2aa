// Mixtures of the examples of a batch.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/training/iterator.h>
#include <catena/training/transforms/transform.h>

namespace training::transforms {

// Returns ratio * x[i] + (1 - ratio) * x[i - 1] for each i along the first axis, where the last one comes before the
// first: for images, and for labels that are probabilities. ValueError unless the ratio lies in 0..1 and for an array
// without axes; TypeError unless x is floating.
CATENA_EXPORT Array mixup(const Array& x, double ratio);
// Returns a copy of the images (N, C, H, W) in which a rectangle of image i is that of image i - 1. ValueError if it
// does not lie within the images; an empty one changes nothing.
CATENA_EXPORT Array cutmix(const Array& images, std::int64_t top, std::int64_t left, std::int64_t height,
                           std::int64_t width);

struct MixOptions {
  std::int64_t classes = 0;                      // number of classes, for labels that are integers
  std::optional<std::int64_t> num_classes = {};  // PyTorch's name of it; takes its place
  double alpha = 1;                              // the ratio is drawn from the distribution Beta(alpha, alpha)
  double p = 1;                                  // of a batch being mixed
};

// The base of both: mixes a batch (images, labels), whose images have the shape (N, C, H, W). Labels are integers (N)
// below `classes`, or probabilities (N, classes); the result has probabilities, which nn::softmax_cross_entropy takes,
// in the dtype of floating images, else float32. Example i is mixed with example i - 1, for iterators shuffle the
// examples; a batch has one ratio. Numbers come from autograd::default_generator(), or from the given generator.
//
// A converter of updaters:  StandardUpdater(iterator, optimizer, {.converter = transforms::MixUp({.classes = 10})})
//
// ValueError for another number of components, images that do not have four axes, labels of another shape, and options
// that are not positive or a p above 1; IndexError for a label that is no class (see autograd::one_hot).
class CATENA_EXPORT BatchMix {
 public:
  virtual ~BatchMix();
  Example operator()(const Example& batch) const;
  Example operator()(const Example& batch, Generator& g) const;
  // auto [mixed, probabilities] = mix(images, labels)
  Example operator()(const ExampleValue& images, const ExampleValue& labels) const {
    return (*this)(Example(images.array(), labels.array()));
  }
  Example operator()(const Batch& batch, std::optional<Device> device) const;

 protected:
  BatchMix(const char* name, const MixOptions& options);
  // Mixes `images` and returns the part of their own examples.
  virtual double mix(Array& images, double ratio, Generator& g) const = 0;

 private:
  const char* name_;
  MixOptions options_;
};

// Adds two images, each by its ratio (Zhang et al., "mixup: Beyond Empirical Risk Minimization", 2018). Floating
// images.
class CATENA_EXPORT MixUp : public BatchMix {
 public:
  explicit MixUp(const MixOptions& options) : BatchMix("MixUp", options) {}

 protected:
  double mix(Array& images, double ratio, Generator& g) const override;
};

// Replaces a rectangle, whose area has the other image's ratio (Yun et al., "CutMix: Regularization Strategy to Train
// Strong Classifiers with Localizable Features", 2019). Where it would leave the image it is cut off, and the labels
// have the ratio of what remains.
class CATENA_EXPORT CutMix : public BatchMix {
 public:
  explicit CutMix(const MixOptions& options) : BatchMix("CutMix", options) {}

 protected:
  double mix(Array& images, double ratio, Generator& g) const override;
};

}  // namespace training::transforms
