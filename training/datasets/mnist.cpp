#include <catena/training/datasets/mnist.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/training/datasets/byte_images.h>
#include <catena/training/datasets/cache.h>
#include <catena/training/datasets/digits.h>
#include <catena/training/datasets/idx.h>

namespace training::datasets {

namespace fs = std::filesystem;
using autograd::Shape;
using catena::check;
using catena::RuntimeError;
using catena::ValueError;
using internal::ByteImages;
using internal::kDigitSide;

namespace {

constexpr std::int64_t kPixels = kDigitSide * kDigitSide;

// One of the data sets that have MNIST's form.
struct Kind {
  const char* op;
  std::string folder;                // in the data set root
  std::string cache;                 // Chainer's folder there
  std::string url;                   // where Chainer looks for the files, which gives their names in the download cache
  std::vector<std::string> mirrors;  // where they are
  const char* otherwise;             // what to use without the files, or nothing
};
const Kind& digits() {
  static const Kind kind{
      "mnist",
      "mnist",
      "pfnet/chainer/mnist",
      "http://yann.lecun.com/exdb/mnist/",
      {"https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/"},
      ", or use generated_mnist()"};
  return kind;
}
const Kind& fashion() {
  static const std::string url = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/";
  static const Kind kind{"get_fashion_mnist", "fashion-mnist", "pfnet/chainer/fashion-mnist", url, {url}, ""};
  return kind;
}
const Kind& kuzushiji() {
  static const std::string url = "http://codh.rois.ac.jp/kmnist/dataset/kmnist/";
  static const Kind kind{"get_kuzushiji_mnist", "kuzushiji_mnist", "pfnet/chainer/kuzushiji_mnist", url, {url}, ""};
  return kind;
}

DatasetPtr make_dataset(const ByteImages& images, const MnistOptions& o) {
  Shape shape{kPixels};
  if (o.ndim == 3) shape = {1, kDigitSide, kDigitSide};
  else if (o.ndim == 2) shape = {kDigitSide, kDigitSide};
  return internal::make_dataset(images, shape, o.scale, o.dtype,
                                o.withlabel ? std::optional(o.label_dtype) : std::nullopt);
}

void check_options(const char* op, const MnistOptions& o) {
  check<ValueError>(o.ndim >= 1 && o.ndim <= 3, op, "images have 1, 2 or 3 dimensions, not ", o.ndim);
  check<catena::TypeError>(catena::is_floating(o.dtype), op, "images of ", o.dtype,
                           " cannot hold scaled pixels; a floating dtype is needed");
}

struct Part {
  const char *images, *labels, *cache;  // file names without ".gz"
};
constexpr Part kTrain{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "train.npz"};
constexpr Part kTest{"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", "test.npz"};

std::optional<std::string> find_file(const fs::path& folder, const std::string& name) {
  for (const char* suffix : {".gz", ""}) {
    const fs::path path = folder / (name + suffix);
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
  }
  return {};
}

ByteImages read_part(const char* op, const std::string& images_path, const std::string& labels_path) {
  IdxArray images = read_idx(images_path), labels = read_idx(labels_path);
  check<ValueError>(images.shape.size() == 3 && images.shape[1] == kDigitSide && images.shape[2] == kDigitSide, op, '"',
                    images_path, "\" has the shape ", images.shape, "; images of 28 x 28 are needed");
  check<ValueError>(labels.shape.size() == 1, op, '"', labels_path, "\" has the shape ", labels.shape,
                    "; one label per image is needed");
  check<RuntimeError>(labels.shape[0] == images.shape[0], op, '"', images_path, "\" has ", images.shape[0],
                      " images, but \"", labels_path, "\" has ", labels.shape[0], " labels");
  check<ValueError>(images.shape[0] > 0, op, '"', images_path, "\" holds no images");
  return {std::move(images.data), std::move(labels.data)};
}

// Reads Chainer's cache format: x (N, 784) and y (N) as bytes.
ByteImages read_cache(const char* op, const std::string& path) {
  return std::move(internal::read_images(op, path, {""}, kPixels).front());
}

std::optional<ByteImages> load_part(const char* op, const fs::path& folder, const Part& part) {
  const auto images = find_file(folder, part.images), labels = find_file(folder, part.labels);
  if (images && labels) return read_part(op, *images, *labels);
  if (std::error_code ignored; fs::exists(folder / part.cache, ignored))
    return read_cache(op, (folder / part.cache).string());
  return {};
}

std::optional<Mnist> load(const char* op, const fs::path& folder, const MnistOptions& options) {
  const std::optional<ByteImages> train = load_part(op, folder, kTrain);
  if (!train) return {};
  const std::optional<ByteImages> test = load_part(op, folder, kTest);
  if (!test) return {};
  return Mnist{make_dataset(*train, options), make_dataset(*test, options), "real (" + folder.string() + ")"};
}

// Returns the path in the download cache, with Chainer's name for the file. Downloads it from a mirror, because
// Chainer's address may not offer it any more.
std::string retrieve(const Kind& kind, const std::string& name) {
  const std::string file = name + ".gz";
  std::vector<std::string> mirrors;
  for (const std::string& folder : kind.mirrors) mirrors.push_back(folder + file);
  return internal::cached_download(kind.url + file, mirrors, [](const std::string& path) { read_idx(path); });
}

ByteImages cached_part(const Kind& kind, const fs::path& folder, const Part& part) {
  const auto creator = [&](const std::string& to) {
    const std::string images = retrieve(kind, part.images), labels = retrieve(kind, part.labels);
    std::vector<ByteImages> read;
    read.push_back(read_part(kind.op, images, labels));
    internal::write_images(kind.op, to, {""}, read, kPixels);
    return std::move(read.front());
  };
  return cache_or_load_file((folder / part.cache).string(), creator,
                            [&](const std::string& from) { return read_cache(kind.op, from); });
}

Mnist get(const Kind& kind, const MnistOptions& options) {
  check_options(kind.op, options);
  const fs::path root = get_dataset_root(), cache = root / kind.cache;
  for (const fs::path& folder : {root / kind.folder, cache})
    if (std::optional<Mnist> found = load(kind.op, folder, options)) return *found;
  try {
    std::error_code error;
    fs::create_directories(cache, error);
    check<catena::IOError>(fs::is_directory(cache), kind.op, "cannot create the folder \"", cache.string(),
                           "\": ", error.message());
    const ByteImages train = cached_part(kind, cache, kTrain), test = cached_part(kind, cache, kTest);
    return {make_dataset(train, options), make_dataset(test, options), "real (" + cache.string() + ")"};
  } catch (const catena::IOError& e) {
    catena::fail<catena::IOError>(kind.op, "there are no images in \"", (root / kind.folder).string(), "\" and \"",
                                  cache.string(), "\", and ", e.what(),
                                  "; set CATENA_DATASET_ROOT to a folder that holds ", kind.folder,
                                  "/train-images-idx3-ubyte.gz and the other three files", kind.otherwise);
  }
}

ByteImages draw(std::uint64_t seed, std::uint64_t first, std::int64_t n) {
  ByteImages raw;
  raw.pixels.resize(static_cast<std::size_t>(n * kPixels));
  raw.labels.resize(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < raw.labels.size(); ++i)
    raw.labels[i] =
        static_cast<std::uint8_t>(internal::draw_digit(seed, first + i, raw.pixels.data() + i * std::size_t(kPixels)));
  return raw;
}

}  // namespace

Mnist mnist(const MnistOptions& options) { return get(digits(), options); }
TrainTest get_fashion_mnist(const MnistOptions& options) { return get(fashion(), options); }
TrainTest get_kuzushiji_mnist(const MnistOptions& options) { return get(kuzushiji(), options); }

std::vector<std::string> get_fashion_mnist_labels() {
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};
}
std::vector<std::string> get_kuzushiji_mnist_labels() {
  return {"o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"};
}

Mnist generated_mnist(std::int64_t n_train, std::int64_t n_test, const MnistOptions& options, std::uint64_t seed) {
  check_options("generated_mnist", options);
  check<ValueError>(n_train > 0 && n_test > 0, "generated_mnist", "there must be images in both parts, not ", n_train,
                    " and ", n_test);
  // The offset in the stream is large, so that the two parts have no common image for any sizes.
  return {make_dataset(draw(seed, 0, n_train), options),
          make_dataset(draw(seed, std::uint64_t(1) << 40, n_test), options), "generated"};
}

}  // namespace training::datasets
