// Files that have arrays by name, whatever their format: the interface of those that are opened to be read.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/serializer.h>

namespace nn::serializers {

// Arrays by name, on the host.
using ArrayMap = std::map<std::string, autograd::Array>;

// One open file. Several threads may call every function.
class CATENA_EXPORT NamedTensors {
 public:
  virtual ~NamedTensors();
  // Returns the beginning of error messages: `load_torch: "model.pt"`.
  virtual const std::string& context() const noexcept = 0;
  virtual std::vector<std::string> keys() const = 0;
  // Returns the texts of the file by their names; by default none.
  virtual std::map<std::string, std::string> texts() const;
  // Returns the array of that name with its elements; nothing if there is none. An element type that no array can have
  // gives an NpyArray without a dtype and without elements.
  virtual std::optional<catena::NpyArray> read(std::string_view name) const = 0;
};

// Reads parameters by name from such a file.
class CATENA_EXPORT NamedTensorsDeserializer : public Serializer {
 public:
  NamedTensorsDeserializer(catena::Shared<const NamedTensors> file, const LoadOptions& options);
  bool is_writer() const noexcept override { return false; }
  std::vector<std::string> keys() const override;

 protected:
  NamedTensorsDeserializer(catena::Shared<const NamedTensors> file, std::string path, bool strict);
  catena::Owned<Serializer> child(std::string path) const override;
  std::optional<catena::NpyArray> fetch(const std::string& path) const override;
  std::string source() const override { return file_->context(); }

 private:
  catena::Shared<const NamedTensors> file_;
};

// Returns all arrays of the file. TypeError for an element type that no array can have.
CATENA_EXPORT ArrayMap read_all(const NamedTensors& file);

}  // namespace nn::serializers
