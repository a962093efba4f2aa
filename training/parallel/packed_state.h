// The state of objects as bytes, to be sent between processes. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/npy.h>
#include <catena/nn/serializers/npz.h>

namespace training::internal {

std::string packed(const nn::serializers::DictionarySerializer& written);

// Reads the bytes that packed() returned.
class PackedDeserializer final : public nn::Serializer {
 public:
  using Entry = nn::serializers::DictionarySerializer::Entry;
  explicit PackedDeserializer(std::string_view bytes);
  bool is_writer() const noexcept override { return false; }

 protected:
  catena::Owned<nn::Serializer> child(std::string path) const override;
  std::optional<catena::NpyArray> fetch(const std::string& path) const override;
  std::string source() const override { return "PackedDeserializer"; }

 private:
  PackedDeserializer(catena::Shared<const std::vector<Entry>> entries, std::string path);
  catena::Shared<const std::vector<Entry>> entries_;
};

}  // namespace training::internal
