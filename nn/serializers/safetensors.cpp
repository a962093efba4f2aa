#include <catena/nn/serializers/safetensors.h>

#include <algorithm>

#include <catena/autograd/array_reader.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npy_stream.h>
#include <catena/nn/serializers/key_style.h>
#include <catena/nn/serializers/keys_below.h>

namespace nn::serializers {

using catena::check;
using catena::KeyError;
using catena::TypeError;

SafetensorsDeserializer::SafetensorsDeserializer(const std::string& filename, const LoadOptions& options)
    : Serializer(options), file_(filename, "load_safetensors") {}
SafetensorsDeserializer::SafetensorsDeserializer(SafetensorsFile file, std::string path, bool strict)
    : Serializer(std::move(path), strict), file_(std::move(file)) {}

catena::Owned<Serializer> SafetensorsDeserializer::child(std::string path) const {
  return catena::Owned<Serializer>(new SafetensorsDeserializer(file_, std::move(path), is_strict()));
}

namespace {

// The elements of one tensor.
class TensorSource final : public catena::ByteSource {
 public:
  TensorSource(std::string context, SafetensorsFile file, const SafetensorsFile::Tensor& tensor)
      : ByteSource(std::move(context)), file_(std::move(file)), tensor_(tensor) {}
  std::size_t read(void* to, std::size_t n) override {
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, tensor_.n_bytes - done_));
    file_.read(tensor_, done_, to, n);
    done_ += n;
    return n;
  }
  std::optional<std::uint64_t> remaining() const override { return tensor_.n_bytes - done_; }

 private:
  const SafetensorsFile file_;  // owns the tensor
  const SafetensorsFile::Tensor& tensor_;
  std::uint64_t done_ = 0;  // bytes
};

}  // namespace

catena::Owned<catena::NpyStream> SafetensorsDeserializer::open(const std::string& path) const {
  const SafetensorsFile::Tensor* const t = file_.find(path);
  if (t == nullptr) return {};
  catena::NpyHeader h;
  h.descr = t->dtype ? std::string(catena::npy_descr(*t->dtype)) : t->dtype_name;
  h.dtype = t->dtype;
  h.shape = t->shape;
  h.size = static_cast<std::uint64_t>(catena::size_of(t->shape));
  h.itemsize = t->dtype ? catena::itemsize(*t->dtype) : 0;  // the elements of other types are not read
  return catena::Owned<catena::NpyStream>(new catena::NpyStream(
      std::move(h),
      catena::Owned<catena::ByteSource>(new TensorSource(catena::concat(source(), " tensor ", t->name), file_, *t))));
}

std::vector<std::string> SafetensorsDeserializer::keys() const {
  KeysBelow below(path(), has_names_of_its_own());
  for (const SafetensorsFile::Tensor& t : file_.tensors()) below.add(t.name);
  return below.take();
}

autograd::Array get_tensor(const SafetensorsFile& file, std::string_view name) {
  const SafetensorsFile::Tensor* const t = file.find(name);
  check<KeyError>(t != nullptr, file.context(), "there is no tensor ", name);
  check<TypeError>(t->dtype.has_value(), file.context(), "the tensor ", name, " has the element type ", t->dtype_name,
                   ", which no array can hold");
  std::uint64_t done = 0;
  return autograd::array_from_reader(autograd::default_backend(), t->shape, *t->dtype, autograd::Device{},
                                     [&](void* to, std::size_t bytes) {
                                       file.read(*t, done, to, bytes);
                                       done += bytes;
                                     });
}

ArrayMap read_safetensors(const std::string& filename) {
  const SafetensorsFile file(filename, "read_safetensors");
  ArrayMap result;
  for (const SafetensorsFile::Tensor& t : file.tensors()) result[t.name] = get_tensor(file, t.name);
  return result;
}

void internal::write_safetensors(const std::string& filename, const DictionarySerializer& s,
                                 const SafetensorsOptions& options) {
  check<catena::ValueError>(options.max_shard_size > 0, "save_safetensors", "max_shard_size is 0 bytes");
  const std::vector<DictionarySerializer::Entry> entries =
      nn::internal::styled_entries(s.entries(), options.style, options.rename);
  std::vector<SafetensorsInput> tensors;
  for (const DictionarySerializer::Entry& e : entries) {
    check<TypeError>(!e.is_text, "save_safetensors", "the entry ", e.key,
                     " is a text, and safetensors files hold arrays only: use save_npz or save_hdf5");
    tensors.push_back({e.key, e.dtype, e.shape, e.bytes});
  }
  SafetensorsMetadata metadata = options.metadata;
  const auto is_format = [](const auto& pair) { return pair.first == "format"; };
  if (options.style == KeyStyle::pytorch && std::none_of(metadata.begin(), metadata.end(), is_format))
    metadata.emplace_back("format", "pt");
  write_shards(filename, std::move(tensors), metadata, options.max_shard_size);
}

}  // namespace nn::serializers
