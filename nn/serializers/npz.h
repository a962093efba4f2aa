// npz files, exchangeable with the reference in both directions: same keys, shapes and dtypes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <catena/kernels/formats/npz.h>
#include <catena/nn/serializers/serializer.h>

namespace nn::serializers {

// Flattens an object into entries in memory, in the order in which serialize() names them.
class CATENA_EXPORT DictionarySerializer : public Serializer {
 public:
  struct Entry {
    std::string key;
    autograd::Dtype dtype = autograd::Dtype::float64;
    autograd::Shape shape;
    std::vector<std::byte> bytes;  // C order
    std::string text;
    bool is_text = false;
  };

  explicit DictionarySerializer(std::string path = "");
  bool is_writer() const noexcept override { return true; }
  const std::vector<Entry>& entries() const noexcept { return *entries_; }

 protected:
  DictionarySerializer(std::shared_ptr<std::vector<Entry>> entries, std::string path);
  std::unique_ptr<Serializer> child(std::string path) const override;
  void store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
             std::span<const std::byte> bytes) override;
  void store_text(const std::string& path, std::string_view text) override;
  std::string source() const override { return "DictionarySerializer"; }

 private:
  std::shared_ptr<std::vector<Entry>> entries_;
};

class CATENA_EXPORT NpzDeserializer : public Serializer {
 public:
  // Opens `filename`; IOError or ValueError naming it when it is missing or no npz file.
  explicit NpzDeserializer(const std::string& filename, std::string path = "", bool strict = true);
  bool is_writer() const noexcept override { return false; }
  std::vector<std::string> keys() const override;

 protected:
  NpzDeserializer(std::shared_ptr<const catena::NpzReader> npz, std::string filename, std::string path, bool strict);
  std::unique_ptr<Serializer> child(std::string path) const override;
  std::optional<catena::NpyArray> fetch(const std::string& path) const override;
  std::string source() const override { return "load_npz: \"" + filename_ + "\""; }

 private:
  std::shared_ptr<const catena::NpzReader> npz_;
  std::string filename_;
};

namespace internal {
CATENA_EXPORT void write_npz(const std::string& filename, const DictionarySerializer& s, bool compression);
}

// Writes exactly `filename` (no extension is appended), atomically: a failed save leaves the previous file whole.
template <class T>
void save_npz(const std::string& filename, T& object, bool compression = true) {
  DictionarySerializer s;
  s.save(object);
  internal::write_npz(filename, s, compression);
}
// Strict: a missing key is a KeyError naming it; extra keys are ignored.
template <class T>
void load_npz(const std::string& filename, T& object, bool strict = true) {
  NpzDeserializer s(filename, "", strict);
  s.load(object);
}

}  // namespace nn::serializers
