#include <catena/training/datasets/image_dataset.h>

#include <filesystem>

#include <catena/training/datasets/image_file.h>
#include <catena/training/datasets/image_list.h>

namespace training {

namespace {

std::string full_path(const std::string& root, const std::string& path) {
  return (std::filesystem::path(root) / path).string();
}

}  // namespace

ImageDataset::ImageDataset(std::vector<std::string> paths, ImageOptions options)
    : paths_(std::move(paths)), options_(std::move(options)) {
  datasets::internal::check_codecs("ImageDataset", paths_, datasets::image_codecs());
}
ImageDataset::ImageDataset(const std::string& list_file, ImageOptions options)
    : ImageDataset(datasets::internal::read_paths("ImageDataset", list_file), std::move(options)) {}

Example ImageDataset::get_example(std::int64_t i) const {
  return datasets::read_image(full_path(options_.root, paths_[static_cast<std::size_t>(i)]), options_.dtype);
}

LabeledImageDataset::LabeledImageDataset(std::vector<Pair> pairs, LabeledImageOptions options)
    : pairs_(std::move(pairs)), options_(std::move(options)) {
  std::vector<std::string> paths;
  for (const auto& [path, label] : pairs_) paths.push_back(path);
  datasets::internal::check_codecs("LabeledImageDataset", paths, datasets::image_codecs());
}
LabeledImageDataset::LabeledImageDataset(const std::string& list_file, LabeledImageOptions options)
    : LabeledImageDataset(datasets::internal::read_pairs("LabeledImageDataset", list_file), std::move(options)) {}

Example LabeledImageDataset::get_example(std::int64_t i) const {
  const auto& [path, label] = pairs_[static_cast<std::size_t>(i)];
  return datasets::internal::labeled(datasets::read_image(full_path(options_.root, path), options_.dtype), label,
                                     options_.label_dtype);
}

}  // namespace training
