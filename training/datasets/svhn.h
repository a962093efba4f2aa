// SVHN: 32 x 32 colour images of house numbers, cropped to a digit (Netzer et al., 2011).
#pragma once

#include <catena/training/datasets/train_test.h>

namespace training::datasets {

struct SvhnOptions {
  bool withlabel = true;  // examples are (image, label); false: only images
  double scale = 1.0;     // value of a white pixel
  autograd::Dtype dtype = autograd::Dtype::float32;
  autograd::Dtype label_dtype = autograd::Dtype::int32;
};

// Returns images (3, 32, 32) in 0..scale, with planes red, green, blue, and labels 0 to 9, the digits. The first call
// reads train_32x32.mat and test_32x32.mat from the download cache (and downloads them if they are missing), and writes
// pfnet/chainer/svhn/train.npz and test.npz in the data set root. Later calls, and Chainer, read these. IOError, with
// the address and the path of the missing file, if a file is not available; ValueError for a damaged file, which it
// names. TypeError for a dtype that is not floating.
//   auto [train, test] = training::datasets::get_svhn();
CATENA_EXPORT TrainTest get_svhn(const SvhnOptions& options = {});
inline TrainTest get_svhn(bool withlabel, double scale = 1.0, autograd::Dtype dtype = autograd::Dtype::float32,
                          autograd::Dtype label_dtype = autograd::Dtype::int32) {
  return get_svhn(SvhnOptions{withlabel, scale, dtype, label_dtype});
}
// The extra training images, which are easier: extra_32x32.mat, extra.npz.
CATENA_EXPORT DatasetPtr get_svhn_extra(const SvhnOptions& options = {});

}  // namespace training::datasets
