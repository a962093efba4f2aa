// Datasets of image files, which are read when an example is requested.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/training/dataset.h>

namespace training {

namespace internal {
// The type of a folder passed by position. A list in braces means the options instead.
template <class T>
concept Text = std::is_convertible_v<const T&, std::string>;
}  // namespace internal

struct ImageOptions {
  std::string root = ".";  // the folder to which relative paths refer
  autograd::Dtype dtype = autograd::Dtype::float32;
};

// Example i is the image of path i as an array (C, H, W) on the CPU, with the values of the file
// (datasets::read_image). The paths are a list, or a text file with one path per line, without surrounding white space.
// The ValueError for an empty line names it. The constructor throws a RuntimeError if this build cannot read one of the
// formats. get_example may be called from several threads; its errors are those of read_image.
//   ImageDataset({"a.png", "b.jpg"}, "images");  ImageDataset("images/list.txt", {.root = "images"});
class CATENA_EXPORT ImageDataset : public DatasetMixin {
 public:
  explicit ImageDataset(std::vector<std::string> paths, ImageOptions options = {});
  explicit ImageDataset(std::initializer_list<const char*> paths, ImageOptions options = {})
      : ImageDataset(std::vector<std::string>(paths.begin(), paths.end()), std::move(options)) {}
  explicit ImageDataset(std::initializer_list<std::string> paths, ImageOptions options = {})
      : ImageDataset(std::vector<std::string>(paths), std::move(options)) {}
  explicit ImageDataset(const std::string& list_file, ImageOptions options = {});
  template <class Paths, internal::Text Root>
  ImageDataset(Paths&& paths, const Root& root, autograd::Dtype dtype = autograd::Dtype::float32)
      : ImageDataset(std::forward<Paths>(paths), ImageOptions{root, dtype}) {}
  template <internal::Text Root>
  ImageDataset(std::initializer_list<const char*> paths, const Root& root,
               autograd::Dtype dtype = autograd::Dtype::float32)
      : ImageDataset(paths, ImageOptions{root, dtype}) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(paths_.size()); }
  Example get_example(std::int64_t i) const override;

 private:
  std::vector<std::string> paths_;
  ImageOptions options_;
};

struct LabeledImageOptions {
  std::string root = ".";
  autograd::Dtype dtype = autograd::Dtype::float32;
  autograd::Dtype label_dtype = autograd::Dtype::int32;
};

// Example i is a tuple of the image of pair i and its label as a 0-d array. The pairs are a list, or a text file whose
// lines have two columns, the path and the integer, separated by white space; the ValueError for another line names the
// line and the file. Otherwise like ImageDataset.
//   LabeledImageDataset({{"a.png", 0}, {"b.jpg", 1}}, "images");  LabeledImageDataset("train.txt");
class CATENA_EXPORT LabeledImageDataset : public DatasetMixin {
 public:
  using Pair = std::pair<std::string, std::int64_t>;
  explicit LabeledImageDataset(std::vector<Pair> pairs, LabeledImageOptions options = {});
  explicit LabeledImageDataset(std::initializer_list<Pair> pairs, LabeledImageOptions options = {})
      : LabeledImageDataset(std::vector<Pair>(pairs), std::move(options)) {}
  explicit LabeledImageDataset(const std::string& list_file, LabeledImageOptions options = {});
  template <class Pairs, internal::Text Root>
  LabeledImageDataset(Pairs&& pairs, const Root& root, autograd::Dtype dtype = autograd::Dtype::float32,
                      autograd::Dtype label_dtype = autograd::Dtype::int32)
      : LabeledImageDataset(std::forward<Pairs>(pairs), LabeledImageOptions{root, dtype, label_dtype}) {}
  template <internal::Text Root>
  LabeledImageDataset(std::initializer_list<Pair> pairs, const Root& root,
                      autograd::Dtype dtype = autograd::Dtype::float32,
                      autograd::Dtype label_dtype = autograd::Dtype::int32)
      : LabeledImageDataset(pairs, LabeledImageOptions{root, dtype, label_dtype}) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(pairs_.size()); }
  Example get_example(std::int64_t i) const override;
  const std::vector<Pair>& pairs() const noexcept { return pairs_; }

 private:
  std::vector<Pair> pairs_;
  LabeledImageOptions options_;
};

}  // namespace training
