// A dataset of image files in one folder for each class.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/training/datasets/image_dataset.h>

namespace training {

struct ImageFolderOptions {
  autograd::Dtype dtype = autograd::Dtype::uint8;  // the values of the files; transforms::ToFloat scales them to 0..1
  autograd::Dtype label_dtype = autograd::Dtype::int32;
  catena::Function<Example(Example)> transform = {};  // of each example, such as transforms::Resize({32, 32})
};

// The folders in `root` are the classes, in the order of their names (bytes of UTF-8), and the PNG and JPEG files below
// them, at any depth and in the order of their paths, the images: files with the extensions .png, .jpg and .jpeg in any
// case. Example i is a tuple of an image (C, H, W) and the number of its class. Other files are not read.
//
//   training::ImageFolder train("flowers/train");       // flowers/train/daisy/7.jpg, flowers/train/rose/1.png, ...
//
// IOError if a folder cannot be read, ValueError if there is no class or a class without images; both name the folder.
// get_example may be called from several threads; its errors are those of datasets::read_image.
class CATENA_EXPORT ImageFolder : public DatasetMixin {
 public:
  explicit ImageFolder(const std::string& root, ImageFolderOptions options = {});
  // With a transform alone: ImageFolder("images", transforms::ToTensor()).
  template <class F>
  ImageFolder(const std::string& root, F transform) requires std::is_invocable_r_v<Example, F&, Example>
      : ImageFolder(root, ImageFolderOptions{.transform = std::move(transform)}) {}
  std::int64_t size() const override { return images_.size(); }
  Example get_example(std::int64_t i) const override;
  const std::vector<std::string>& classes() const noexcept { return classes_; }  // names, by number
  std::map<std::string, std::int64_t> class_to_idx() const;                      // the numbers, by name
  std::vector<std::int64_t> targets() const;                                     // the labels of all examples
  // Paths with labels, in the order of the examples.
  const std::vector<LabeledImageDataset::Pair>& pairs() const noexcept { return images_.pairs(); }

 private:
  catena::Function<Example(Example)> transform_;
  std::vector<std::string> classes_;
  LabeledImageDataset images_;
};

}  // namespace training
