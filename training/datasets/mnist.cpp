#include <catena/training/datasets/mnist.h>

#include <filesystem>
#include <optional>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/npz.h>
#include <catena/training/datasets/digits.h>
#include <catena/training/datasets/download.h>
#include <catena/training/datasets/idx.h>

namespace training::datasets {

namespace fs = std::filesystem;
using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::RuntimeError;
using catena::ValueError;
using internal::kDigitSide;

namespace {

constexpr std::int64_t kPixels = kDigitSide * kDigitSide;

// Pixels and labels of one part (training or test) as bytes.
struct Raw {
  std::vector<std::uint8_t> images, labels;
};

DatasetPtr make_dataset(const Raw& raw, const MnistOptions& o) {
  const auto n = static_cast<std::int64_t>(raw.labels.size());
  Shape shape{n};
  if (o.ndim == 3) shape = {n, 1, kDigitSide, kDigitSide};
  else if (o.ndim == 2) shape = {n, kDigitSide, kDigitSide};
  else shape = {n, kPixels};
  Array images = autograd::astype(autograd::from_host(raw.images.data(), shape, Dtype::uint8), o.dtype);
  images *= o.scale / 255.0;
  std::vector<Array> arrays{images};
  if (o.withlabel)
    arrays.push_back(autograd::astype(autograd::from_host(raw.labels.data(), {n}, Dtype::uint8), o.label_dtype));
  return catena::Shared<TupleDataset>::make(std::move(arrays));
}

void check_options(const MnistOptions& o) {
  check<ValueError>(o.ndim >= 1 && o.ndim <= 3, "mnist", "images have 1, 2 or 3 dimensions, not ", o.ndim);
  check<catena::TypeError>(catena::is_floating(o.dtype), "mnist", "images of ", o.dtype,
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

Raw read_part(const std::string& images_path, const std::string& labels_path) {
  IdxArray images = read_idx(images_path), labels = read_idx(labels_path);
  check<ValueError>(images.shape.size() == 3 && images.shape[1] == kDigitSide && images.shape[2] == kDigitSide, "mnist",
                    '"', images_path, "\" has the shape ", images.shape, "; images of 28 x 28 are needed");
  check<ValueError>(labels.shape.size() == 1, "mnist", '"', labels_path, "\" has the shape ", labels.shape,
                    "; one label per image is needed");
  check<RuntimeError>(labels.shape[0] == images.shape[0], "mnist", '"', images_path, "\" has ", images.shape[0],
                      " images, but \"", labels_path, "\" has ", labels.shape[0], " labels");
  check<ValueError>(images.shape[0] > 0, "mnist", '"', images_path, "\" holds no images");
  return {std::move(images.data), std::move(labels.data)};
}

// The format that Chainer caches: x (N, 784) and y (N) as bytes.
Raw read_cache(const std::string& path) {
  const catena::NpzReader npz("mnist", path);
  const catena::NpyArray x = npz.read("x"), y = npz.read("y");
  check<ValueError>(x.dtype == Dtype::uint8 && y.dtype == Dtype::uint8 && x.shape.size() == 2 &&
                        x.shape[1] == kPixels && y.shape == Shape{x.shape[0]} && x.shape[0] > 0,
                    "mnist", '"', path, "\" holds x of shape ", x.shape, " and y of shape ", y.shape,
                    "; bytes of (N, 784) and (N) are needed");
  const auto xs = x.as<std::uint8_t>(), ys = y.as<std::uint8_t>();
  return {{xs.begin(), xs.end()}, {ys.begin(), ys.end()}};
}

std::optional<Raw> load_part(const fs::path& folder, const Part& part) {
  const auto images = find_file(folder, part.images), labels = find_file(folder, part.labels);
  if (images && labels) return read_part(*images, *labels);
  if (std::error_code ignored; fs::exists(folder / part.cache, ignored))
    return read_cache((folder / part.cache).string());
  return {};
}

std::optional<Mnist> load(const fs::path& folder, const MnistOptions& options) {
  const std::optional<Raw> train = load_part(folder, kTrain);
  if (!train) return {};
  const std::optional<Raw> test = load_part(folder, kTest);
  if (!test) return {};
  return Mnist{make_dataset(*train, options), make_dataset(*test, options), "real (" + folder.string() + ")"};
}

// IOError naming the file, the address that was tried last and what happened there.
void download_all(const fs::path& folder) {
  constexpr const char* kMirrors[] = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                                      "https://storage.googleapis.com/cvdf-datasets/mnist/"};
  constexpr std::size_t kLimit = 64 << 20;
  for (const Part& part : {kTrain, kTest}) {
    for (const char* name : {part.images, part.labels}) {
      if (find_file(folder, name)) continue;
      const std::string file = std::string(name) + ".gz";
      bool there = false;
      std::string address, why;
      for (const char* mirror : kMirrors) {
        address = mirror + file;
        there = internal::download(
            address, (folder / file).string(), kLimit, [](const std::string& path) { read_idx(path); }, why);
        if (there) break;
      }
      check<catena::IOError>(there, "mnist", "there is no \"", (folder / file).string(),
                             "\", and it could not be downloaded from ", address, ": ", why,
                             " (put the file there, set CATENA_DATASET_ROOT to a folder that holds mnist/, or use "
                             "generated_mnist())");
    }
  }
}

Raw draw(std::uint64_t seed, std::uint64_t first, std::int64_t n) {
  Raw raw;
  raw.images.resize(static_cast<std::size_t>(n * kPixels));
  raw.labels.resize(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < raw.labels.size(); ++i)
    raw.labels[i] =
        static_cast<std::uint8_t>(internal::draw_digit(seed, first + i, raw.images.data() + i * std::size_t(kPixels)));
  return raw;
}

}  // namespace

Mnist mnist(const MnistOptions& options) {
  check_options(options);
  const fs::path root = get_dataset_root();
  for (const char* folder : {"mnist", "pfnet/chainer/mnist"})
    if (std::optional<Mnist> found = load(root / folder, options)) return *found;
  const fs::path folder = root / "mnist";
  download_all(folder);
  std::optional<Mnist> found = load(folder, options);
  check<catena::IOError>(found.has_value(), "mnist", "the files in \"", folder.string(), "\" have disappeared");
  return std::move(*found);
}

Mnist generated_mnist(std::int64_t n_train, std::int64_t n_test, const MnistOptions& options, std::uint64_t seed) {
  check_options(options);
  check<ValueError>(n_train > 0 && n_test > 0, "generated_mnist", "there must be images in both parts, not ", n_train,
                    " and ", n_test);
  // The offset in the stream is large, so that the parts have no image in common at any size.
  return {make_dataset(draw(seed, 0, n_train), options),
          make_dataset(draw(seed, std::uint64_t(1) << 40, n_test), options), "generated"};
}

}  // namespace training::datasets
