#include <catena/training/datasets/image_folder.h>

#include <algorithm>
#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace training {

namespace fs = std::filesystem;
using catena::check;
using catena::ValueError;

namespace {

// Returns the paths in a folder, or also below it, which `take` chooses, in the order of their names.
template <class Entries, class Take> std::vector<std::string> listed(const fs::path& folder, Take take) {
  std::vector<std::string> paths;
  std::error_code error;
  Entries entries(folder, fs::directory_options::follow_directory_symlink, error);
  for (; !error && entries != Entries(); entries.increment(error)) {
    std::error_code ignored;  // an entry without a readable status, such as a broken link, is passed over
    if (take(*entries, ignored)) paths.push_back(entries->path().string());
  }
  check<catena::IOError>(!error, "ImageFolder", "cannot read the folder \"", folder.string(), "\": ", error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_image(const fs::directory_entry& entry, std::error_code& error) {
  const std::string extension = catena::lower_case(entry.path().extension().string());
  return (extension == ".png" || extension == ".jpg" || extension == ".jpeg") && entry.is_regular_file(error);
}
bool is_folder(const fs::directory_entry& entry, std::error_code& error) { return entry.is_directory(error); }

std::vector<std::string> find_classes(const std::string& root) {
  std::vector<std::string> classes;
  for (const std::string& folder : listed<fs::directory_iterator>(root, is_folder))
    classes.push_back(fs::path(folder).filename().string());
  check<ValueError>(!classes.empty(), "ImageFolder", "the folder \"", root, "\" has no folders, which are the classes");
  return classes;
}

std::vector<LabeledImageDataset::Pair> find_images(const std::string& root, const std::vector<std::string>& classes) {
  std::vector<LabeledImageDataset::Pair> pairs;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const fs::path folder = fs::path(root) / classes[label];
    const std::vector<std::string> paths = listed<fs::recursive_directory_iterator>(folder, is_image);
    check<ValueError>(!paths.empty(), "ImageFolder", "the folder \"", folder.string(),
                      "\" has no images, which are files named .png, .jpg or .jpeg");
    for (const std::string& path : paths) pairs.emplace_back(path, std::int64_t(label));
  }
  return pairs;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, ImageFolderOptions options)
    : transform_(std::move(options.transform)),
      classes_(find_classes(root)),
      images_(find_images(root, classes_), LabeledImageOptions{"", options.dtype, options.label_dtype}) {}

Example ImageFolder::get_example(std::int64_t i) const {
  Example example = images_.get_example(i);
  return transform_ == nullptr ? example : transform_(std::move(example));
}

std::map<std::string, std::int64_t> ImageFolder::class_to_idx() const {
  std::map<std::string, std::int64_t> numbers;
  for (std::size_t i = 0; i < classes_.size(); ++i) numbers[classes_[i]] = std::int64_t(i);
  return numbers;
}

std::vector<std::int64_t> ImageFolder::targets() const {
  std::vector<std::int64_t> labels;
  for (const LabeledImageDataset::Pair& pair : pairs()) labels.push_back(std::int64_t(pair.second));
  return labels;
}

}  // namespace training
