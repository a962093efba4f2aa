#include <catena/nn/serializers/named_tensors.h>

#include <utility>

#include <catena/nn/serializers/keys_below.h>

namespace nn::serializers {

NamedTensors::~NamedTensors() = default;
std::map<std::string, std::string> NamedTensors::texts() const { return {}; }

NamedTensorsDeserializer::NamedTensorsDeserializer(catena::Shared<const NamedTensors> file, const LoadOptions& options)
    : Serializer(options), file_(std::move(file)) {}
NamedTensorsDeserializer::NamedTensorsDeserializer(catena::Shared<const NamedTensors> file, std::string path,
                                                   bool strict)
    : Serializer(std::move(path), strict), file_(std::move(file)) {}

catena::Owned<Serializer> NamedTensorsDeserializer::child(std::string path) const {
  return catena::Owned<Serializer>(new NamedTensorsDeserializer(file_, std::move(path), is_strict()));
}
std::optional<catena::NpyArray> NamedTensorsDeserializer::fetch(const std::string& path) const {
  return file_->read(path);
}
std::vector<std::string> NamedTensorsDeserializer::keys() const {
  KeysBelow below(path(), has_names_of_its_own());
  for (const std::string& name : file_->keys()) below.add(name);
  return below.take();
}

ArrayMap read_all(const NamedTensors& file) {
  ArrayMap result;
  for (const std::string& name : file.keys()) {
    const std::optional<catena::NpyArray> a = file.read(name);
    catena::check<catena::TypeError>(a && a->dtype, file.context(), "the tensor ", name, " has the element type ",
                                     a ? a->descr : "", ", which no array can hold");
    result[name] = autograd::from_host(a->data.data(), a->shape, *a->dtype, autograd::Device{});
  }
  return result;
}

}  // namespace nn::serializers
