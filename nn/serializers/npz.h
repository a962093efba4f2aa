// npz files that Chainer can read, or has written, with the same keys, shapes and dtypes.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/serializer.h>

namespace catena {
class NpzReader;
}

namespace nn::serializers {

// Collects the entries of an object in memory, in the order in which serialize() visits them. They are in entries()
// and, if the caller gives a map, also in the map, as arrays on the CPU (a text as uint8, its UTF-8 bytes). The map
// must outlive the serializer.
//   std::map<std::string, autograd::Array> target;
//   DictionarySerializer(target).save(model);           // target["l1/W"]
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

  using Target = std::map<std::string, autograd::Array>;

  explicit DictionarySerializer(std::string path = "");
  explicit DictionarySerializer(Target& target, std::string path = "");
  bool is_writer() const noexcept override { return true; }
  const std::vector<Entry>& entries() const noexcept { return *entries_; }
  // Returns the values as arrays on the CPU, texts as bytes: serializer.target().at("fc1/W").
  Target target() const;

 protected:
  DictionarySerializer(catena::Shared<std::vector<Entry>> entries, Target* target, std::string path);
  catena::Owned<Serializer> child(std::string path) const override;
  void store(const std::string& path, autograd::Dtype dtype, const autograd::Shape& shape,
             std::span<const std::byte> bytes) override;
  void store_text(const std::string& path, std::string_view text) override;
  std::string source() const override { return "DictionarySerializer"; }

 private:
  void add(Entry entry);

  catena::Shared<std::vector<Entry>> entries_;
  Target* target_;
};

// Reads what DictionarySerializer has written, from an npz file.
class CATENA_EXPORT NpzDeserializer : public Serializer {
 public:
  // Opens `filename`. IOError if it cannot be read, ValueError if it is not an npz file; both name it. `path`: the part
  // of the file to read, "predictor" or "predictor/".
  explicit NpzDeserializer(const std::string& filename, const LoadOptions& options = {});
  template <std::convertible_to<std::string> Path>
  NpzDeserializer(const std::string& filename, const Path& path, bool strict = true)
      : NpzDeserializer(filename, LoadOptions{.path = std::string(path), .strict = strict}) {}
  bool is_writer() const noexcept override { return false; }
  std::vector<std::string> keys() const override;

 protected:
  NpzDeserializer(catena::Shared<const catena::NpzReader> npz, std::string filename, std::string path, bool strict);
  catena::Owned<Serializer> child(std::string path) const override;
  catena::Owned<catena::NpyStream> open(const std::string& path) const override;
  std::string source() const override { return "load_npz: \"" + filename_ + "\""; }

 private:
  catena::Shared<const catena::NpzReader> npz_;
  std::string filename_;
};

namespace internal {
CATENA_EXPORT void write_npz(const std::string& filename, const DictionarySerializer& s, bool compression);
}

struct SaveNpzOptions {
  bool compression = true;
};
namespace internal {
struct SaveNpz {
  template <class T> void operator()(const std::string& filename, T& object, bool compression = true) const try {
    DictionarySerializer s;
    s.save(object);
    write_npz(filename, s, compression);
  } catch (...) {
    catena::rethrow_standard("save_npz");
  }
  template <class T, std::same_as<SaveNpzOptions> O = SaveNpzOptions>
  void operator()(const std::string& filename, T& object, const O& options) const {
    (*this)(filename, object, options.compression);
  }
};
}  // namespace internal
// save_npz(filename, object) writes `filename` (no extension is appended) atomically: if saving fails, the previous
// file is unchanged. save_npz(filename, object, {.compression = false}) does not compress. An object, so that it can be
// the savefun of a snapshot.
inline constexpr internal::SaveNpz save_npz;
// KeyError naming a missing key when strict; otherwise what is missing stays as it is and is reported. Additional keys
// are reported. A load that fails leaves the object as it was (see Serializer::load).
//   load_npz("snapshot", model, "updater/model:main/");                  // a part of a file
//   load_npz("vgg.npz", model, {.ignore_names = {"fc8/W", "fc8/b"}});    // layers that are trained anew
//   load_npz("old.npz", model, false);                                   // not strict
template <class T> LoadReport load_npz(const std::string& filename, T& object, const LoadOptions& options = {}) try {
  NpzDeserializer s(filename, options);
  return s.load(object);
} catch (...) {
  catena::rethrow_standard("load_npz");
}
template <class T, class First, class... More>
LoadReport load_npz(const std::string& filename, T& object, const First& first,
                    const More&... more) requires(!std::same_as<First, LoadOptions>) {
  return load_npz(filename, object, nn::internal::load_options(first, more...));
}

}  // namespace nn::serializers
