#include <catena/training/datasets/cifar.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/training/datasets/byte_images.h>
#include <catena/training/datasets/cache.h>
#include <catena/training/datasets/pickle.h>
#include <catena/training/datasets/tar.h>
#include <catena/training/datasets/textures.h>

namespace training::datasets {

using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::ValueError;
using internal::ByteImages;
using internal::Pickle;
using internal::PickleNode;

namespace {

constexpr std::int64_t kPixels = 3 * internal::kTextureSide * internal::kTextureSide;

struct Kind {
  const char* op;
  std::string name;                // name of the archive and of the cache file
  std::string folder;              // folder in the archive
  std::vector<std::string> train;  // files in the folder, whose images are concatenated
  std::string test;
  const char* labels;  // key of the labels
  int classes;
};
const Kind& cifar10() {
  static const Kind kind{"get_cifar10",
                         "cifar-10",
                         "cifar-10-batches-py/",
                         {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"},
                         "test_batch",
                         "labels",
                         10};
  return kind;
}
const Kind& cifar100() {
  static const Kind kind{"get_cifar100", "cifar-100", "cifar-100-python/", {"train"}, "test", "fine_labels", 100};
  return kind;
}

ByteImages read_batch(const Kind& kind, const std::string& context, const std::string& content) {
  const Pickle pickle(context, content);
  const PickleNode &data = pickle.member("data", PickleNode::Kind::array),
                   &labels = pickle.member(kind.labels, PickleNode::Kind::list);
  const std::size_t n = labels.items.size();
  check<ValueError>(n > 0 && data.text.size() == n * std::size_t(kPixels), context, "it has ", data.text.size(),
                    " bytes of pixels and ", n, " labels; an image has ", kPixels);
  ByteImages images;
  images.pixels.assign(data.text.begin(), data.text.end());
  for (const PickleNode* label : labels.items) {
    check<ValueError>(label->kind == PickleNode::Kind::integer && label->integer >= 0 && label->integer < kind.classes,
                      context, "a label is not one of the integers from 0 to ", kind.classes - 1);
    images.labels.push_back(static_cast<std::uint8_t>(label->integer));
  }
  return images;
}

void append(ByteImages& to, const ByteImages& more) {
  to.pixels.insert(to.pixels.end(), more.pixels.begin(), more.pixels.end());
  to.labels.insert(to.labels.end(), more.labels.begin(), more.labels.end());
}

// Returns {train, test}.
std::vector<ByteImages> read_archive(const Kind& kind, const std::string& path) {
  std::vector<std::string> names;
  for (const std::string& name : kind.train) names.push_back(kind.folder + name);
  names.push_back(kind.folder + kind.test);
  std::vector<ByteImages> parts(names.size());
  internal::read_tar(kind.op, path, names, [&](const std::string& name, const std::string& content) {
    const auto part = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    parts[part] = read_batch(kind, catena::io_context(kind.op, path) + ": " + name, content);
  });
  for (std::size_t i = 1; i < kind.train.size(); ++i) {
    append(parts[0], parts[i]);
    parts[i] = {};
  }
  return {std::move(parts.front()), std::move(parts.back())};
}

void check_options(const char* op, const CifarOptions& o) {
  check<ValueError>(o.ndim == 1 || o.ndim == 3, op, "images have 1 or 3 dimensions, not ", o.ndim);
}

TrainTest make(const std::vector<ByteImages>& parts, const CifarOptions& o, std::string origin) {
  const Shape shape = o.ndim == 1 ? Shape{kPixels} : Shape{3, internal::kTextureSide, internal::kTextureSide};
  const std::optional<Dtype> labels = o.withlabel ? std::optional(Dtype::int32) : std::nullopt;
  return {internal::make_dataset(parts[0], shape, o.scale, Dtype::float32, labels),
          internal::make_dataset(parts[1], shape, o.scale, Dtype::float32, labels), std::move(origin)};
}

TrainTest get(const Kind& kind, const CifarOptions& options) {
  check_options(kind.op, options);
  const std::vector<std::string> prefixes = {"train_", "test_"};
  const std::string folder = get_dataset_directory("pfnet/chainer/cifar", false);
  const auto creator = [&](const std::string& to) {
    const std::string archive = cached_download("https://www.cs.toronto.edu/~kriz/" + kind.name + "-python.tar.gz");
    std::vector<ByteImages> parts = read_archive(kind, archive);
    internal::write_images(kind.op, to, prefixes, parts, kPixels);
    return parts;
  };
  const auto loader = [&](const std::string& from) { return internal::read_images(kind.op, from, prefixes, kPixels); };
  const std::vector<ByteImages> parts = cache_or_load_file(folder + '/' + kind.name + ".npz", creator, loader);
  return make(parts, options, "real (" + folder + ")");
}

ByteImages draw(int classes, std::uint64_t seed, std::uint64_t first, std::int64_t n) {
  ByteImages images;
  images.pixels.resize(static_cast<std::size_t>(n * kPixels));
  images.labels.resize(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < images.labels.size(); ++i)
    images.labels[i] = static_cast<std::uint8_t>(
        internal::draw_texture(seed, first + i, classes, images.pixels.data() + i * std::size_t(kPixels)));
  return images;
}

TrainTest generate(const char* op, int classes, std::int64_t n_train, std::int64_t n_test, const CifarOptions& options,
                   std::uint64_t seed) {
  check<ValueError>(n_train > 0 && n_test > 0, op, "there must be images in both parts, not ", n_train, " and ",
                    n_test);
  check_options(op, options);
  // The offset in the stream is large, so that the two parts have no common image for any sizes.
  return make({draw(classes, seed, 0, n_train), draw(classes, seed, std::uint64_t(1) << 40, n_test)}, options,
              "generated");
}

}  // namespace

ByteImages internal::read_cifar(const char* who, int classes, const std::string& root, bool train) {
  Kind kind = classes == 10 ? cifar10() : cifar100();
  kind.op = who;
  namespace fs = std::filesystem;
  const fs::path unpacked = fs::path(root) / kind.folder, archive = fs::path(root) / (kind.name + "-python.tar.gz");
  std::error_code ignored;
  if (fs::exists(unpacked, ignored)) {
    ByteImages images;
    for (const std::string& name : train ? kind.train : std::vector<std::string>{kind.test}) {
      const std::string path = (unpacked / name).string();
      append(images, read_batch(kind, catena::io_context(who, path), catena::read_file(who, path)));
    }
    return images;
  }
  check<catena::IOError>(fs::exists(archive, ignored), who, "there is neither the folder \"", unpacked.string(),
                         "\" nor the file \"", archive.string(), "\"");
  return std::move(read_archive(kind, archive.string())[train ? 0 : 1]);
}

TrainTest get_cifar10(const CifarOptions& options) { return get(cifar10(), options); }
TrainTest get_cifar100(const CifarOptions& options) { return get(cifar100(), options); }

TrainTest generated_cifar10(std::int64_t n_train, std::int64_t n_test, const CifarOptions& options,
                            std::uint64_t seed) {
  return generate("generated_cifar10", 10, n_train, n_test, options, seed);
}
TrainTest generated_cifar100(std::int64_t n_train, std::int64_t n_test, const CifarOptions& options,
                             std::uint64_t seed) {
  return generate("generated_cifar100", 100, n_train, n_test, options, seed);
}

}  // namespace training::datasets
