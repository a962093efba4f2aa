// The pickle of a file of torch.save: its tensors, as parts of storages whose bytes lie elsewhere. Internal to this
// folder.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/shape.h>
#include <catena/kernels/formats/pickle.h>

namespace nn::serializers::internal {

// A tensor, in elements of its dtype. Its elements lie within the storage.
struct TorchTensor {
  std::string name;
  std::string dtype_name;              // of PyTorch: "FloatStorage", "float8_e4m3fn"
  std::optional<catena::Dtype> dtype;  // nothing for types that no array can have
  std::string storage;                 // the key of its storage
  catena::Shape shape;
  catena::Dims strides;
  std::int64_t offset = 0, size = 0, storage_size = 0;  // elements
  std::optional<double> number = {};                    // the value of a number, which has no storage
  std::int64_t integer = 0;                             // the same of an integer or a bool
};

using catena::PickleNode;

class TorchPickle final : public catena::PickleReader {
 public:
  TorchPickle(const std::string& context, std::string_view bytes);
  // Returns the tensors and numbers of the value, by names with dots. ValueError for a key that is neither text nor
  // integer, for the same name twice, and for values inside of themselves.
  std::vector<TorchTensor> tensors() const;
  // Returns the texts of the value by such names.
  std::map<std::string, std::string> texts() const;
  // Returns the size of an element, in bytes, of each storage to which the pickle refers, by its key.
  const std::unordered_map<std::string, std::uint64_t>& storages() const noexcept { return storages_; }

 private:
  // The tensors found so far, with the numbers that are limited because a value may occur in several places.
  struct Found {
    std::vector<TorchTensor> tensors;
    std::map<std::string, std::string> texts;
    std::size_t values = 0, name_bytes = 0;
  };

  bool can_call(std::string_view global) const override;
  PickleNode& call(const PickleNode& function, const std::vector<PickleNode*>& arguments) override;
  void set_state(PickleNode& object, const PickleNode& state) override;
  PickleNode& persistent(const PickleNode& id) override;

  PickleNode& tensor(const std::vector<PickleNode*>& arguments, bool has_dtype);
  PickleNode& ordered_dict(const std::vector<PickleNode*>& arguments);
  void check_within_storage(const PickleNode& tensor, std::int64_t storage_size) const;
  void collect(const PickleNode& node, const std::string& name, int depth, Found& to) const;
  void collect_children(const PickleNode& node, const std::string& name, int depth, Found& to) const;

  std::unordered_map<std::string, std::uint64_t> storages_;
};

}  // namespace nn::serializers::internal
