#include <catena/training/parallel/packed_state.h>

#include <utility>

#include <catena/training/parallel/worker_process.h>

namespace training::internal {
namespace {

using Entry = PackedDeserializer::Entry;

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::vector<Entry> unpacked(std::string_view bytes) {
  MessageReader r(bytes);
  std::vector<Entry> entries;
  while (!r.is_empty()) {
    Entry e;
    e.key = r.get_text();
    e.is_text = r.get<bool>();
    e.dtype = r.get<autograd::Dtype>();
    for (auto ndim = r.get<std::int64_t>(); ndim > 0; --ndim) e.shape.push_back(r.get<std::int64_t>());
    e.bytes = bytes_of(r.get_text());
    entries.push_back(std::move(e));
  }
  return entries;
}

}  // namespace

std::string packed(const nn::serializers::DictionarySerializer& written) {
  MessageWriter w;
  for (const Entry& e : written.entries()) {
    w.put_text(e.key);
    w.put(e.is_text);
    w.put(e.dtype);
    w.put(std::int64_t(e.shape.size()));
    for (const std::int64_t n : e.shape) w.put(n);
    w.put_text(e.is_text ? std::string_view(e.text) : text_of(e.bytes));
  }
  return w.take();
}

PackedDeserializer::PackedDeserializer(std::string_view bytes)
    : PackedDeserializer(catena::Shared<std::vector<Entry>>::make(unpacked(bytes)), "") {}
PackedDeserializer::PackedDeserializer(catena::Shared<const std::vector<Entry>> entries, std::string path)
    : Serializer(std::move(path)), entries_(std::move(entries)) {}

catena::Owned<nn::Serializer> PackedDeserializer::child(std::string path) const {
  return catena::Owned<nn::Serializer>(new PackedDeserializer(entries_, std::move(path)));
}

std::optional<catena::NpyArray> PackedDeserializer::fetch(const std::string& path) const {
  for (const Entry& e : *entries_) {
    if (e.key != path) continue;
    catena::NpyArray a;
    a.data = e.bytes;
    if (e.is_text) {
      a.descr = "|S" + std::to_string(e.bytes.size());
      a.itemsize = e.bytes.size();
    } else {
      a.descr = catena::name_of(e.dtype);
      a.dtype = e.dtype;
      a.itemsize = catena::itemsize(e.dtype);
      a.shape = e.shape;
    }
    return a;
  }
  return {};
}

}  // namespace training::internal
