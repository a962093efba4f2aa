#include <catena/nn/serializers/npz.h>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/nn/serializers/keys_below.h>

namespace nn::serializers {

using nn::internal::without_slashes;

DictionarySerializer::DictionarySerializer(std::string path)
    : DictionarySerializer(catena::Shared<std::vector<Entry>>::make(), nullptr, without_slashes(path)) {}
DictionarySerializer::DictionarySerializer(Target& target, std::string path)
    : DictionarySerializer(catena::Shared<std::vector<Entry>>::make(), &target, without_slashes(path)) {}
DictionarySerializer::DictionarySerializer(catena::Shared<std::vector<Entry>> entries, Target* target, std::string path)
    : Serializer(std::move(path)), entries_(std::move(entries)), target_(target) {}

catena::Owned<Serializer> DictionarySerializer::child(std::string path) const {
  return catena::Owned<Serializer>(new DictionarySerializer(entries_, target_, std::move(path)));
}
void DictionarySerializer::store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
                                 std::span<const std::byte> bytes) {
  add({path, dtype, shape, {bytes.begin(), bytes.end()}, {}, false});
}
void DictionarySerializer::store_text(const std::string& path, std::string_view text) {
  add({path, {}, {}, {}, std::string(text), true});
}
static autograd::Array array_of(const DictionarySerializer::Entry& e) {
  const auto length = std::int64_t(e.text.size());
  const autograd::Device cpu{autograd::Device::Kind::cpu, 0};
  return e.is_text ? autograd::from_host(e.text.data(), {length}, autograd::Dtype::uint8, cpu)
                   : autograd::from_host(e.bytes.data(), e.shape, e.dtype, cpu);
}
void DictionarySerializer::add(Entry e) {
  if (target_ != nullptr) (*target_)[e.key] = array_of(e);
  entries_->push_back(std::move(e));
}
DictionarySerializer::Target DictionarySerializer::target() const {
  Target all;
  for (const Entry& e : *entries_) all.insert_or_assign(e.key, array_of(e));
  return all;
}

NpzDeserializer::NpzDeserializer(const std::string& filename, const LoadOptions& options)
    : Serializer(options),
      npz_(catena::Shared<const catena::NpzReader>::make("load_npz", filename)),
      filename_(filename) {}
NpzDeserializer::NpzDeserializer(catena::Shared<const catena::NpzReader> npz, std::string filename, std::string path,
                                 bool strict)
    : Serializer(std::move(path), strict), npz_(std::move(npz)), filename_(std::move(filename)) {}

catena::Owned<Serializer> NpzDeserializer::child(std::string path) const {
  return catena::Owned<Serializer>(new NpzDeserializer(npz_, filename_, std::move(path), is_strict()));
}
catena::Owned<catena::NpyStream> NpzDeserializer::open(const std::string& path) const {
  if (!npz_->contains(path)) return {};
  return catena::Owned<catena::NpyStream>(new catena::NpyStream(npz_->stream(path)));
}
std::vector<std::string> NpzDeserializer::keys() const {
  KeysBelow below(path(), has_names_of_its_own());
  for (const std::string& key : npz_->keys()) below.add(key);
  return below.take();
}

void internal::write_npz(const std::string& filename, const DictionarySerializer& s, bool compression) {
  catena::AtomicFile file("save_npz", filename);
  catena::NpzWriter npz(file, compression);
  for (const DictionarySerializer::Entry& e : s.entries()) {
    if (e.is_text) npz.add_text(e.key, e.text);
    else npz.add(e.key, e.dtype, e.shape, e.bytes);
  }
  npz.finish();
  file.commit();
}

}  // namespace nn::serializers
