// safetensors files, which PyTorch and other libraries read and write: arrays with names.
//
//   save_safetensors("model.safetensors", model);
//   load_safetensors("model.safetensors", model);
//
//   // Weights of a PyTorch model with the same modules, and back.
//   load_safetensors("resnet.safetensors", model, {.style = nn::KeyStyle::pytorch});
//   save_safetensors("for_torch.safetensors", model, {.style = nn::KeyStyle::pytorch});
//
// Parameters, persistent arrays and numbers (as arrays of shape ()) can be stored; text, and with it most trainers, is
// a TypeError: use save_npz or save_hdf5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/error_context.h>
#include <catena/nn/serializers/named_tensors.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/serializers/safetensors_file.h>
#include <catena/nn/serializers/serializer.h>

namespace nn::serializers {

struct SafetensorsOptions {
  KeyStyle style = KeyStyle::chainer;
  KeyRenames rename = {};
  // Text for readers of the file. With KeyStyle::pytorch, {"format", "pt"} is added unless there is a format, because
  // some readers require it.
  SafetensorsMetadata metadata = {};
  // Bytes of elements in a file, at most. A larger model becomes several files, model-00001-of-00003.safetensors and so
  // on, and the index model.safetensors.index.json, by whose name load_safetensors reads them. ValueError for 0.
  std::uint64_t max_shard_size = UINT64_MAX;
};

// Reads parameters by name from a safetensors file.
class CATENA_EXPORT SafetensorsDeserializer : public Serializer {
 public:
  explicit SafetensorsDeserializer(const std::string& filename, const LoadOptions& options = {});
  bool is_writer() const noexcept override { return false; }
  std::vector<std::string> keys() const override;
  const SafetensorsFile& file() const noexcept { return file_; }

 protected:
  SafetensorsDeserializer(SafetensorsFile file, std::string path, bool strict);
  catena::Owned<Serializer> child(std::string path) const override;
  catena::Owned<catena::NpyStream> open(const std::string& path) const override;
  std::string source() const override { return file_.context(); }

 private:
  SafetensorsFile file_;
};

// Returns the array of that name on the host, whatever its element type. KeyError if there is none, TypeError for types
// that no array can have.
CATENA_EXPORT autograd::Array get_tensor(const SafetensorsFile& file, std::string_view name);

// Returns all arrays of a file, or of those of an index.
CATENA_EXPORT ArrayMap read_safetensors(const std::string& filename);

namespace internal {
CATENA_EXPORT void write_safetensors(const std::string& filename, const DictionarySerializer& s,
                                     const SafetensorsOptions& options);
}

// Writes `filename` atomically: if saving fails, the previous file is unchanged. Equal content gives equal bytes. Of a
// model in several files, each is written atomically and the index last.
template <class T>
void save_safetensors(const std::string& filename, T& object, const SafetensorsOptions& options = {}) try {
  DictionarySerializer s;
  s.save(object);
  internal::write_safetensors(filename, s, options);
} catch (...) {
  catena::rethrow_standard("save_safetensors");
}
// Has the options and errors of load_npz. bfloat16 and float16 are converted to the dtype of the parameter.
template <class T>
LoadReport load_safetensors(const std::string& filename, T& object, const LoadOptions& options = {}) try {
  SafetensorsDeserializer s(filename, options);
  return s.load(object);
} catch (...) {
  catena::rethrow_standard("load_safetensors");
}
template <class T, class First, class... More>
LoadReport load_safetensors(const std::string& filename, T& object, const First& first,
                            const More&... more) requires(!std::same_as<First, LoadOptions>) {
  return load_safetensors(filename, object, nn::internal::load_options(first, more...));
}

}  // namespace nn::serializers
