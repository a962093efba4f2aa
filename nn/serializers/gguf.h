// GGUF files, in which llama.cpp and other programs have language models: metadata by key and tensors by name.
// (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; versions 2 and 3, little endian.)
//
//   const nn::serializers::GgufFile file("model.gguf");
//   file.metadata("llama.block_count").integer();
//   auto arrays = nn::serializers::read_gguf("model.gguf");                     // arrays["token_embd.weight"]
//
// The file is not trusted: counts and lengths are compared with the size of the file before anything is allocated,
// lists of the metadata have 2^24 values at most, and tensors must lie in the file and must not overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/nn/serializers/named_tensors.h>

namespace nn::serializers {

// A value of the metadata: a number, a text, or a list of them.
class CATENA_EXPORT GgufValue {
 public:
  enum class Kind : std::uint8_t { boolean, integer, number, text, list };

  Kind kind() const noexcept { return kind_; }
  // TypeError for a value of another kind. number() is also that of an integer.
  bool boolean() const;
  std::int64_t integer() const;  // a uint64 above the int64 maximum has the same bits
  double number() const;
  const std::string& text() const;
  const std::vector<GgufValue>& list() const;

 private:
  friend class GgufReader;
  void need(Kind kind) const;
  Kind kind_ = Kind::integer;
  std::int64_t integer_ = 0;
  double number_ = 0;
  std::string text_;
  std::vector<GgufValue> list_;
};

class CATENA_EXPORT GgufFile final : public NamedTensors {
 public:
  struct Tensor {
    std::string name, type_name;  // "Q4_0"
    std::uint32_t type = 0;
    autograd::Shape shape;                    // in C order: the reverse of the file's
    std::uint64_t position = 0, n_bytes = 0;  // of the elements in the file
  };

  // IOError if the file cannot be read, ValueError if it is no GGUF file; both start with `op` and name it.
  explicit GgufFile(const std::string& filename, std::string_view op = "GgufFile");

  const std::string& context() const noexcept override;
  // In the order of the file.
  const std::vector<std::pair<std::string, GgufValue>>& metadata() const& noexcept;
  const GgufValue& metadata(std::string_view key) const;  // KeyError if there is none
  const std::vector<Tensor>& tensors() const& noexcept;
  // Copies, for loops over the lists of a temporary.
  std::vector<std::pair<std::string, GgufValue>> metadata() && { return metadata(); }
  std::vector<Tensor> tensors() && { return tensors(); }
  std::vector<std::string> keys() const override;
  // Returns the elements in the dtype of the file (F32, F64, F16, BF16, I8 to I64), or, of Q8_0 and Q4_0, in blocks of
  // 32 with a factor each, as float32. Other types give an array without elements.
  std::optional<catena::NpyArray> read(std::string_view name) const override;

 private:
  struct Content;
  catena::Shared<const Content> content_;
};

// Returns all tensors of a file. TypeError for types of elements that are not read.
inline ArrayMap read_gguf(const std::string& filename) { return read_all(GgufFile(filename, "read_gguf")); }

}  // namespace nn::serializers
