#include <catena/nn/vision/pretrained.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include <catena/kernels/formats/cache.h>
#include <catena/kernels/formats/npy_stream.h>
#include <catena/nn/caffe/caffe_function.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/serializers/safetensors.h>

namespace nn {

namespace fs = std::filesystem;
using catena::check;
using catena::KeyError;
using catena::ValueError;

// ---- results ------------------------------------------------------------------------------------
namespace {

void add_to_list(std::string& list, std::string_view name) {
  if (!list.empty()) list += ", ";
  list += name;
}

}  // namespace

autograd::Variable FeatureMaps::operator[](std::string_view name) const {
  std::string names;
  for (const Item& item : items_) {
    if (item.first == name) return item.second;
    add_to_list(names, item.first);
  }
  catena::fail<KeyError>("FeatureMaps", "there is no \"", name, "\" among the results: ", names);
}

bool FeatureMaps::contains(std::string_view name) const noexcept {
  return std::any_of(begin(), end(), [&](const Item& item) { return item.first == name; });
}

// ---- stages -------------------------------------------------------------------------------------
std::vector<std::string> VisionModel::available_layers() const {
  std::vector<std::string> names;
  for (const Stage& stage : stages_) names.emplace_back(stage.name);
  return names;
}

void VisionModel::check_names(const std::vector<std::string>& layers) const {
  const std::vector<std::string> names = available_layers();
  for (const std::string& layer : layers) {
    if (std::find(names.begin(), names.end(), layer) != names.end()) continue;
    std::string all;
    for (const std::string& name : names) add_to_list(all, name);
    catena::fail<KeyError>("layers", "there is no layer \"", layer, "\"; the layers are ", all);
  }
}

FeatureMaps VisionModel::operator()(const Variable& x, const VisionCallOptions& options) {
  const internal::CallScope scope(*this);
  check_names(options.layers);
  const auto is_wanted = [&](std::string_view name) {
    return std::find(options.layers.begin(), options.layers.end(), name) != options.layers.end();
  };
  const auto is_source = [&](std::string_view name) {
    return std::any_of(stages_.begin(), stages_.end(), [&](const Stage& s) { return s.from == name; });
  };
  auto wanted = std::count_if(stages_.begin(), stages_.end(), [&](const Stage& s) { return is_wanted(s.name); });
  FeatureMaps results;
  std::map<std::string_view, Variable> sources;
  Variable h = x;
  for (const Stage& stage : stages_) {
    if (wanted == 0) break;
    h = stage.compute(*this, stage.from.empty() ? h : sources.at(stage.from), options.test && !options.train);
    if (is_source(stage.name)) sources.emplace(stage.name, h);
    if (!is_wanted(stage.name)) continue;
    results.add(std::string(stage.name), h);
    --wanted;
  }
  return results;
}

// ---- images -------------------------------------------------------------------------------------
Variable VisionModel::input_of(const ImageList& images, const PrepareOptions& options, autograd::Flag flag) const {
  check<ValueError>(images.size() > 0, "extract", "there are no images");
  std::vector<Array> prepared;
  for (const Array& image : images) {
    prepared.push_back(autograd::expand_dims(prepare_image(image, mean, options), 0));
    check<ValueError>(prepared.back().shape() == prepared.front().shape(), "extract", "image ", prepared.size() - 1,
                      " is ", prepared.back().shape(2), " x ", prepared.back().shape(3), " pixels and image 0 ",
                      prepared.front().shape(2), " x ", prepared.front().shape(3),
                      "; give a size, to which all of them are resized");
  }
  const Array batch = autograd::to_device(autograd::concatenate(prepared, 0), device());
  return Variable(batch, {.volatile_ = flag});
}

FeatureMaps VisionModel::extract(const ImageList& images, const VisionExtractOptions& options) {
  const std::vector<std::string> layers =
      options.layers.empty() ? std::vector<std::string>{std::string(default_layer_)} : options.layers;
  check_names(layers);
  return (*this)(input_of(images, {options.size, options.resample}, options.volatile_),
                 {.layers = layers, .test = options.test, .train = options.train});
}

Variable VisionModel::predict(const ImageList& images, const VisionPredictOptions& options) {
  constexpr int kWhole = 256, kCrop = 224, kCrops = 10;
  Array x = input_of(images, {ImageSize(kWhole), options.resample}, autograd::ON).data();
  if (options.oversample) {
    x = autograd::to_device(oversample(x, kCrop), x.device());
  } else {
    const std::int64_t start = (kWhole - kCrop) / 2;
    for (const int axis : {2, 3}) x = autograd::slice(x, axis, start, start + kCrop);
  }
  const Variable y = (*this)(Variable(x, {.volatile_ = autograd::ON}))["prob"];
  if (!options.oversample) return y;
  return y.reshape(y.shape(0) / kCrops, kCrops, y.shape(1)).mean(1);
}

// ---- weights ------------------------------------------------------------------------------------
namespace {

std::string models_folder() { return (fs::path(catena::cache_root()) / "pfnet/chainer/models").string(); }

// Loads the npz file. If there is none, makes it from the caffemodel.
void load_converted(Chain& net, const std::string& npz, const std::string& caffemodel, std::string_view origin,
                    const catena::Function<void(const std::string&, const std::string&)>& convert) {
  if (!catena::is_cached(npz)) {
    check<catena::IOError>(fs::exists(caffemodel), "PretrainedModel", "there is neither \"", npz, "\" nor \"",
                           caffemodel, "\", and Catena does not download weights. Put ",
                           fs::path(caffemodel).filename().string(), " there, which is available from ", origin,
                           ". For random weights, give nullptr");
    catena::create_cached("PretrainedModel", npz, [&](const std::string& temporary) {
      std::fputs("Now loading caffemodel (usually it may take few minutes)\n", stderr);
      convert(caffemodel, temporary);
    });
  }
  serializers::load_npz(npz, net);
}

}  // namespace

void VisionModel::load(const PretrainedModel& pretrained, const Files& files,
                       const catena::Function<void(const std::string&, const std::string&)>& convert) {
  if (pretrained.is_random()) return;
  const bool automatic = pretrained.path() == "auto";
  // An absolute path replaces the folder.
  const fs::path path = fs::path(models_folder()) / (automatic ? files.caffemodel : pretrained.path());
  if (path.extension() == ".caffemodel") {
    const fs::path npz = automatic ? fs::path(models_folder()) / files.npz : fs::path(path).replace_extension(".npz");
    load_converted(*this, npz.string(), path.string(), files.origin, convert);
  } else if (path.extension() == ".safetensors") {
    const serializers::SafetensorsFile file(pretrained.path(), "load_safetensors");
    if (file.find("conv1/W") != nullptr || file.find("conv1_1/W") != nullptr)
      serializers::load_safetensors(pretrained.path(), *this);
    else load_torchvision(pretrained.path());
  } else {
    serializers::load_npz(pretrained.path(), *this);
  }
}

void VisionModel::load_torchvision(const std::string& path) {
  catena::fail<catena::NotImplementedError>(
      "load_torchvision", "\"", path,
      "\" cannot be loaded: torchvision's network of this name has other layers (of GoogLeNet: batch normalization, no "
      "local response normalization, 3x3 filters in place of 5x5)");
}

namespace {

// Reads the entries of a link that were saved in memory.
class EntriesDeserializer final : public Serializer {
 public:
  using Entry = serializers::DictionarySerializer::Entry;
  using Entries = std::map<std::string, const Entry*, std::less<>>;

  EntriesDeserializer(const std::vector<Entry>& entries, std::string source, const LoadOptions& options)
      : Serializer(options), entries_(catena::Shared<Entries>::make()), source_(std::move(source)) {
    for (const Entry& e : entries) entries_->emplace(e.key, &e);
  }
  bool is_writer() const noexcept override { return false; }

 protected:
  catena::Owned<Serializer> child(std::string path) const override {
    return catena::Owned<Serializer>(new EntriesDeserializer(entries_, source_, std::move(path), is_strict()));
  }
  std::optional<catena::NpyArray> fetch(const std::string& path) const override {
    const auto found = entries_->find(path);
    if (found == entries_->end()) return {};
    const Entry& e = *found->second;
    return catena::NpyArray{.descr = std::string(catena::npy_descr(e.dtype)),
                            .dtype = e.dtype,
                            .itemsize = catena::itemsize(e.dtype),
                            .shape = e.shape,
                            .data = e.bytes};
  }
  std::string source() const override { return source_; }

 private:
  EntriesDeserializer(catena::Shared<Entries> entries, std::string source, std::string path, bool strict)
      : Serializer(std::move(path), strict), entries_(std::move(entries)), source_(std::move(source)) {}

  catena::Shared<Entries> entries_;
  std::string source_;
};

}  // namespace

void internal::convert_caffemodel(const std::string& path_caffemodel, const std::string& path_npz, Chain& net,
                                  const std::vector<std::pair<std::string, std::string>>& names,
                                  const std::vector<std::string>& left_out) {
  serializers::DictionarySerializer saved;
  {
    links::caffe::CaffeFunction caffe(path_caffemodel);
    saved.save(caffe);
  }
  EntriesDeserializer from(saved.entries(), catena::concat("convert_caffemodel_to_npz: \"", path_caffemodel, "\""),
                           {.ignore_names = left_out, .rename = names});
  from.load(net);
  serializers::save_npz(path_npz, net, false);
}

}  // namespace nn
