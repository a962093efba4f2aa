// Folder nn/caffe: networks of Caffe. CaffeFunction (caffe_function.h) is the link; wire.h (the encoding of protocol
// buffers) and caffe_model.h (the messages of a file) read the file. This folder may use nn and, in sources,
// nn/functions, nn/links and the file streams of kernels/formats.
//
// This file: the fields of an encoded message, one after the other. The reader does not trust its input: truncated
// data, data longer than its container and too deep nesting are a ValueError with the position in the file, and memory
// is never allocated by a length in the file. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <catena/kernels/base/export.h>

namespace nn::links::caffe::internal {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, begin_group = 3, end_group = 4, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;           // for varint, fixed64 and fixed32
  std::span<const std::byte> bytes;  // for bytes: a text, a message or packed numbers
};

class CATENA_EXPORT WireReader {
 public:
  // A message that is a whole file. `context` is the beginning of errors; `context` and the bytes must outlive the
  // reader.
  WireReader(const std::string& context, std::span<const std::byte> file)
      : context_(&context), begin_(file.data()), rest_(file) {}
  // A message, or packed numbers, inside the message of `outer`.
  WireReader(const WireReader& outer, std::span<const std::byte> part)
      : context_(outer.context_), begin_(outer.begin_), rest_(part) {}

  bool at_end() const noexcept { return rest_.empty(); }
  // Returns the next field, or nothing at the end. Groups, an obsolete kind of field, are skipped.
  std::optional<WireField> next();
  // Read the next number of a packed field; there must be one.
  std::uint64_t varint();
  std::uint32_t fixed32();
  std::uint64_t fixed64();

  const std::string& context() const noexcept { return *context_; }
  std::uint64_t position() const noexcept { return std::uint64_t(rest_.data() - begin_); }  // in the file

 private:
  // Reads the number and the type of a field, which precede its value.
  WireField tag();
  void value_of(WireField& field);
  void skip_group(std::uint32_t number);
  std::span<const std::byte> take(std::uint64_t n, const char* what);

  const std::string* context_;
  const std::byte* begin_;
  std::span<const std::byte> rest_;
};

}  // namespace nn::links::caffe::internal
