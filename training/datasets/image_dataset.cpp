#include <catena/training/datasets/image_dataset.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/training/datasets/image_file.h>

namespace training {

using autograd::Dtype;
using catena::check;
using catena::ValueError;

namespace {

// Returns the columns of each line, separated by white space, or, if `whole_lines`, each line without surrounding white
// space.
std::vector<std::vector<std::string>> read_list(const char* op, const std::string& path, bool whole_lines) {
  catena::reserve_standard_descriptors();
  std::ifstream file(path);
  check<catena::IOError>(file.is_open(), op, "cannot open the list \"", path, '"');
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string>& columns = lines.emplace_back();
    if (whole_lines) {
      constexpr const char* kSpace = " \t\r\n\v\f";
      const std::size_t first = line.find_first_not_of(kSpace);
      if (first != line.npos) columns.push_back(line.substr(first, line.find_last_not_of(kSpace) + 1 - first));
    } else {
      columns = catena::words_of(line);
    }
  }
  check<catena::IOError>(file.eof(), op, "cannot read the list \"", path, '"');
  return lines;
}

std::vector<std::string> read_paths(const std::string& list_file) {
  std::vector<std::string> paths;
  for (const auto& columns : read_list("ImageDataset", list_file, true)) {
    check<ValueError>(!columns.empty(), "ImageDataset", "line ", paths.size() + 1, " of \"", list_file,
                      "\" is empty; a path is needed");
    paths.push_back(columns[0]);
  }
  return paths;
}

std::vector<LabeledImageDataset::Pair> read_pairs(const std::string& list_file) {
  std::vector<LabeledImageDataset::Pair> pairs;
  for (const auto& columns : read_list("LabeledImageDataset", list_file, false)) {
    check<ValueError>(columns.size() == 2, "LabeledImageDataset", "line ", pairs.size() + 1, " of \"", list_file,
                      "\" has ", columns.size(), " columns; a path and a label are needed");
    std::int64_t label = 0;
    const std::string& text = columns[1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), label);
    check<ValueError>(error == std::errc() && end == text.data() + text.size(), "LabeledImageDataset", "line ",
                      pairs.size() + 1, " of \"", list_file, "\" has the label \"", text, "\"; an integer is needed");
    pairs.emplace_back(columns[0], label);
  }
  return pairs;
}

std::string full_path(const std::string& root, const std::string& path) {
  return (std::filesystem::path(root) / path).string();
}

}  // namespace

ImageDataset::ImageDataset(std::vector<std::string> paths, ImageOptions options)
    : paths_(std::move(paths)), options_(std::move(options)) {
  datasets::internal::check_codecs("ImageDataset", paths_, datasets::image_codecs());
}
ImageDataset::ImageDataset(const std::string& list_file, ImageOptions options)
    : ImageDataset(read_paths(list_file), std::move(options)) {}

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
    : LabeledImageDataset(read_pairs(list_file), std::move(options)) {}

Example LabeledImageDataset::get_example(std::int64_t i) const {
  const auto& [path, label] = pairs_[static_cast<std::size_t>(i)];
  Array image = datasets::read_image(full_path(options_.root, path), options_.dtype);
  return std::vector<Array>{std::move(image), autograd::astype(autograd::from_host(&label, {}, Dtype::int64, Device{}),
                                                               options_.label_dtype)};
}

}  // namespace training
