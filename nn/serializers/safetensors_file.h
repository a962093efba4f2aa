// The safetensors format (https://github.com/huggingface/safetensors): a header of JSON, and the elements behind it.
//
// The reader does not trust its input. The header is at most 100 MB (the limit of the reference implementation), starts
// with "{" and has every name once; of every tensor the bytes must be those of its shape and element type; the tensors
// must fill the rest of the file without gaps and overlaps. All of this is checked before an element is read. Only
// tensors that are asked for are read. The file is not mapped into memory: if another process shortens it meanwhile,
// the read of a missing part throws an IOError.
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

using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

class CATENA_EXPORT SafetensorsFile {
 public:
  struct Tensor {
    std::string name;
    std::string dtype_name;              // of the format: "F32", "BF16"
    std::optional<catena::Dtype> dtype;  // nothing for types that no array can hold: "F8_E4M3"
    catena::Shape shape;
    std::uint64_t position = 0, n_bytes = 0;  // of the elements in the file, in C order
  };

  // IOError when the file cannot be read, ValueError when it is no safetensors file; both start with `op` and name it.
  explicit SafetensorsFile(const std::string& filename, std::string_view op = "SafetensorsFile");

  const std::string& context() const noexcept;
  const std::vector<Tensor>& tensors() const noexcept;  // in the order of their bytes
  std::vector<std::string> keys() const;
  // nullptr where there is none.
  const Tensor* find(std::string_view name) const;
  // n bytes of the elements, from the byte `from` of them on; the caller has checked that they are within n_bytes.
  // Several threads may read at once. IOError when the file cannot be read or is shorter than it was.
  void read(const Tensor& tensor, std::uint64_t from, void* to, std::size_t n) const;
  // "__metadata__", in the order of the file.
  const SafetensorsMetadata& metadata() const noexcept;

 private:
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
// Writes the file atomically; elements are aligned to their size. TypeError for complex128, which the format lacks;
// ValueError for names that are used twice and for invalid UTF-8.
void write_safetensors(const std::string& filename, std::vector<SafetensorsInput> tensors,
                       const SafetensorsMetadata& metadata);

}  // namespace internal
}  // namespace nn::serializers
