// Datasets of image files in zip archives, which are read when an example is requested.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/pointers.h>
#include <catena/training/datasets/image_dataset.h>

namespace training {

namespace internal {
class ZippedImages;
}

struct ZippedImageOptions {
  autograd::Dtype dtype = autograd::Dtype::float32;
};

// Example i is image i of an archive, or of several archives one after the other, as an array (C, H, W) on the CPU with
// the values of the file; the order is that of the archives. All members but folders are images. IOError if an archive
// cannot be read, ValueError if it is damaged, RuntimeError if this build cannot read one of the formats.
// get_example may be called from several threads; its errors name archive and member, and are those of
// datasets::read_image.
class CATENA_EXPORT ZippedImageDataset : public DatasetMixin {
 public:
  explicit ZippedImageDataset(const std::string& archive, ZippedImageOptions options = {})
      : ZippedImageDataset(std::vector<std::string>{archive}, options) {}
  explicit ZippedImageDataset(const std::vector<std::string>& archives, ZippedImageOptions options = {});
  explicit ZippedImageDataset(std::initializer_list<std::string> archives, ZippedImageOptions options = {})
      : ZippedImageDataset(std::vector<std::string>(archives), std::move(options)) {}
  ~ZippedImageDataset() override;
  std::int64_t size() const override { return static_cast<std::int64_t>(images_.size()); }
  Example get_example(std::int64_t i) const override;

 private:
  struct Image {
    std::size_t archive;
    std::string name;
  };
  std::vector<catena::Shared<const internal::ZippedImages>> archives_;
  std::vector<Image> images_;
  ZippedImageOptions options_;
};
using MultiZippedImageDataset = ZippedImageDataset;

struct LabeledZippedImageOptions {
  autograd::Dtype dtype = autograd::Dtype::float32;
  autograd::Dtype label_dtype = autograd::Dtype::int32;
};

// Example i is a tuple of the image of pair i, a member of the archive, and its label as a 0-d array. The pairs are a
// list, or a text file as of LabeledImageDataset. ValueError if the archive has no such member. Otherwise as
// ZippedImageDataset.
//   LabeledZippedImageDataset("images.zip", "train.txt");   LabeledZippedImageDataset("images.zip", {{"a.png", 0}});
class CATENA_EXPORT LabeledZippedImageDataset : public DatasetMixin {
 public:
  using Pair = LabeledImageDataset::Pair;
  LabeledZippedImageDataset(const std::string& archive, std::vector<Pair> pairs,
                            LabeledZippedImageOptions options = {});
  LabeledZippedImageDataset(const std::string& archive, const std::string& list_file,
                            LabeledZippedImageOptions options = {});
  LabeledZippedImageDataset(const std::string& archive, const char* list_file, LabeledZippedImageOptions options = {})
      : LabeledZippedImageDataset(archive, std::string(list_file), options) {}
  ~LabeledZippedImageDataset() override;
  std::int64_t size() const override { return static_cast<std::int64_t>(pairs_.size()); }
  Example get_example(std::int64_t i) const override;

 private:
  catena::Shared<const internal::ZippedImages> archive_;
  std::vector<Pair> pairs_;
  LabeledZippedImageOptions options_;
};

}  // namespace training
