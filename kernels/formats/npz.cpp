#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npz.h>

#include <algorithm>

namespace catena {
namespace {

constexpr std::string_view kSuffix = ".npy";

// Returns the first keys in quotes.
std::string listed(const std::vector<std::string>& keys) {
  constexpr std::size_t kShown = 20;
  std::string text;
  for (std::size_t k = 0; k < std::min(keys.size(), kShown); ++k) text += concat(k > 0 ? ", " : "", '"', keys[k], '"');
  if (keys.size() > kShown) text += concat(" and ", keys.size() - kShown, " more");
  return text.empty() ? "none" : text;
}

std::string member_name(std::string_view key) { return std::string(key).append(kSuffix); }

}  // namespace

std::vector<std::string> NpzReader::keys() const {
  std::vector<std::string> result;
  result.reserve(zip_.members().size());
  for (const ZipMember& m : zip_.members())
    result.push_back(m.name.ends_with(kSuffix) ? m.name.substr(0, m.name.size() - kSuffix.size()) : m.name);
  return result;
}

// As in NumPy, the full member name ("<key>.npy") is accepted too.
const ZipMember* NpzReader::find(std::string_view key) const {
  const ZipMember* m = zip_.find(member_name(key));
  return m ? m : zip_.find(key);
}

std::unique_ptr<ByteSource> NpzReader::open(std::string_view key) const {
  const ZipMember* m = find(key);
  if (m == nullptr) fail<KeyError>(zip_.context(), "there is no key \"", key, "\"; the keys are ", listed(keys()));
  return zip_.open(*m);
}

NpyStream NpzReader::stream(std::string_view key) const { return NpyStream(Owned<ByteSource>(open(key))); }
NpyArray NpzReader::read(std::string_view key) const { return stream(key).read_all(); }

void finish_npy(ByteSource& source) {
  std::vector<std::byte> rest(4096);
  while (source.read(rest.data(), rest.size()) == rest.size()) {}
}

void NpzWriter::add(std::string_view key, Dtype dtype, const Shape& shape, std::span<const std::byte> c_order_bytes) {
  write_npy(zip_.begin(member_name(key), method_), dtype, shape, c_order_bytes);
  zip_.end();
}

void NpzWriter::add_text(std::string_view key, std::string_view utf8) {
  write_npy_text(zip_.begin(member_name(key), method_), utf8);
  zip_.end();
}

}  // namespace catena
