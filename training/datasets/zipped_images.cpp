#include <catena/training/datasets/zipped_images.h>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/zip.h>
#include <catena/training/datasets/image_file.h>
#include <catena/training/datasets/image_list.h>

namespace training {

using catena::check;

namespace internal {

class ZippedImages {
 public:
  ZippedImages(const char* op, const std::string& path) : op_(op), path_(path), zip_(op, path) {}

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const catena::ZipMember& member : zip_.members())
      if (!member.name.ends_with('/')) names.push_back(member.name);
    datasets::internal::check_codecs(op_, names, datasets::image_codecs());
    return names;
  }
  void check_names(const std::vector<LabeledImageDataset::Pair>& pairs) const {
    std::vector<std::string> names;
    for (const auto& [name, label] : pairs) {
      check<catena::ValueError>(zip_.find(name) != nullptr, zip_.context(), "the archive has no member \"", name, '"');
      names.push_back(name);
    }
    datasets::internal::check_codecs(op_, names, datasets::image_codecs());
  }
  Array image(const std::string& name, autograd::Dtype dtype) const {
    const std::vector<std::byte> content = zip_.read(*zip_.find(name));
    const std::string_view file(reinterpret_cast<const char*>(content.data()), content.size());
    return datasets::internal::decode_image(op_, path_ + '/' + name, file, dtype);
  }

 private:
  const char* op_;
  std::string path_;
  catena::ZipReader zip_;
};

}  // namespace internal

ZippedImageDataset::ZippedImageDataset(const std::vector<std::string>& archives, ZippedImageOptions options)
    : options_(options) {
  check<catena::ValueError>(!archives.empty(), "ZippedImageDataset", "there are no archives");
  for (const std::string& path : archives) {
    archives_.push_back(catena::Shared<internal::ZippedImages>::make("ZippedImageDataset", path));
    for (std::string& name : archives_.back()->names()) images_.push_back({archives_.size() - 1, std::move(name)});
  }
}
ZippedImageDataset::~ZippedImageDataset() = default;

Example ZippedImageDataset::get_example(std::int64_t i) const {
  const Image& image = images_[static_cast<std::size_t>(i)];
  return archives_[image.archive]->image(image.name, options_.dtype);
}

LabeledZippedImageDataset::LabeledZippedImageDataset(const std::string& archive, std::vector<Pair> pairs,
                                                     LabeledZippedImageOptions options)
    : archive_(catena::Shared<internal::ZippedImages>::make("LabeledZippedImageDataset", archive)),
      pairs_(std::move(pairs)),
      options_(options) {
  archive_->check_names(pairs_);
}
LabeledZippedImageDataset::LabeledZippedImageDataset(const std::string& archive, const std::string& list_file,
                                                     LabeledZippedImageOptions options)
    : LabeledZippedImageDataset(archive, datasets::internal::read_pairs("LabeledZippedImageDataset", list_file),
                                options) {}
LabeledZippedImageDataset::~LabeledZippedImageDataset() = default;

Example LabeledZippedImageDataset::get_example(std::int64_t i) const {
  const auto& [name, label] = pairs_[static_cast<std::size_t>(i)];
  return datasets::internal::labeled(archive_->image(name, options_.dtype), label, options_.label_dtype);
}

}  // namespace training
