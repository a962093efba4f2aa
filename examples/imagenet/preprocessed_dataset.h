// The images that the networks of the ImageNet examples are trained with.
#pragma once

#include <string>

#include <catena/catena.h>

// Reads image i of a list, cuts out crop_size x crop_size pixels, subtracts the mean and scales to [0, 1]. With
// `random`, the place is random and one half of the images is mirrored; otherwise it is the center.
class PreprocessedDataset : public training::DatasetMixin {
 public:
  PreprocessedDataset(const std::string& list, const std::string& root, const nd::Array& mean, int crop_size,
                      bool random = true)
      : base_(list, root),
        mean_(mean.astype(nd::float32).to_device(nd::cpu_device)),  // images are prepared in host memory
        crop_size_(crop_size),
        random_(random) {}

  std::int64_t size() const override { return base_.size(); }

  training::Example get_example(std::int64_t i) const override {
    const training::Example example = base_.get_example(i);
    nd::Array image = example.values[0];
    std::int64_t top = image.shape(1) - crop_size_, left = image.shape(2) - crop_size_;
    if (random_) {
      top = nd::random::randint(top).item<int>();
      left = nd::random::randint(left).item<int>();
      if (nd::random::randint(2).item<int>() == 1) image = nd::flip(image, 2);
    } else {
      top /= 2;
      left /= 2;
    }
    const auto cut = [&](const nd::Array& a) {
      return a(nd::ellipsis, nd::Slice(top, top + crop_size_), nd::Slice(left, left + crop_size_));
    };
    return training::Example({(cut(image) - cut(mean_)) * (1.0 / 255.0), example.values[1]});
  }

 private:
  training::LabeledImageDataset base_;
  nd::Array mean_;
  int crop_size_;
  bool random_;
};
