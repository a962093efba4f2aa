// The safetensors format (https://github.com/huggingface/safetensors): a JSON header, followed by the elements.
//
// The reader does not trust its input. The header must have at most 100 MB (the limit of the reference implementation),
// start with "{" and have every name once; the bytes of every tensor must fit its shape and element type; the tensors
// must fill the rest of the file without gaps and overlaps. All of this is checked before an element is read. Only
// requested tensors are read. The file is not mapped into memory: if another process shortens it meanwhile, reading a
// missing part throws an IOError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/dtype.h>
#include <catena/kernels/base/pointers.h>
#include <catena/kernels/base/shape.h>

namespace nn::serializers {

// Texts by name, which a file has besides its tensors.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

// The header of a file that is open, and its tensors on request.
class CATENA_EXPORT SafetensorsFile {
 public:
  struct Tensor {
    std::string name;
    std::string dtype_name;              // name in the format: "F32", "BF16"
    std::optional<catena::Dtype> dtype;  // nothing for types that no array can have: "F8_E4M3"
    catena::Shape shape;
    std::uint64_t position = 0, n_bytes = 0;  // of the elements in the file, in C order
    std::size_t file = 0;                     // which of the files of an index has it
  };

  // Opens a file, or, by the name of an index (model.safetensors.index.json), the files that it lists, which must lie
  // in its folder; tensors that the index does not name are left out. IOError if a file cannot be read, ValueError if
  // it is no safetensors file or no index, or lacks a tensor of the index; both start with `op` and name it.
  explicit SafetensorsFile(const std::string& filename, std::string_view op = "SafetensorsFile");

  const std::string& context() const noexcept;
  const std::vector<Tensor>& tensors() const& noexcept;   // in the order of their bytes in the file
  std::vector<Tensor> tensors() && { return tensors(); }  // a copy, for loops over the list of a temporary
  std::vector<std::string> keys() const;
  // Returns nullptr if there is none.
  const Tensor* find(std::string_view name) const;
  // Reads n bytes of the elements, from byte `from` of them on; the caller must check that they are within n_bytes.
  // Several threads may read at once. IOError if the file cannot be read or has been shortened.
  void read(const Tensor& tensor, std::uint64_t from, void* to, std::size_t n) const;
  // "__metadata__", in the order of the file.
  const SafetensorsMetadata& metadata() const noexcept;

 private:
  struct Part;
  struct Content;
  catena::Shared<const Content> content_;
};

namespace internal {

struct SafetensorsInput {
  std::string name;
  catena::Dtype dtype;
  catena::Shape shape;
  std::span<const std::byte> bytes;
};
// Writes the file atomically; elements are aligned to their size. TypeError for complex128, which the format does not
// have; ValueError for names that occur twice and for invalid UTF-8.
void write_safetensors(const std::string& filename, std::vector<SafetensorsInput> tensors,
                       const SafetensorsMetadata& metadata);
// Distributes tensors, in their order, to files of at most max_bytes bytes of elements; a tensor that is larger gets a
// file of its own.
std::vector<std::vector<SafetensorsInput>> in_shards(std::vector<SafetensorsInput> tensors, std::uint64_t max_bytes);
// Writes these files and then the index, or one file if the tensors fit it.
void write_shards(const std::string& filename, std::vector<SafetensorsInput> tensors,
                  const SafetensorsMetadata& metadata, std::uint64_t max_bytes);

}  // namespace internal
}  // namespace nn::serializers
