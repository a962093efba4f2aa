// The encoding of protocol buffers (https://protobuf.dev/programming-guides/encoding): the fields of a message, one
// after the other. wire_message.h reads and writes whole messages.
//
// Truncated data, data longer than its container and too deep nesting are a ValueError with the position in the file,
// and memory is never allocated by a length in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <catena/kernels/base/export.h>

namespace catena {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, begin_group = 3, end_group = 4, fixed32 = 5 };

struct WireField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;           // for varint, fixed64 and fixed32
  std::span<const std::byte> bytes;  // for bytes: a text, a message or packed numbers
};

class CATENA_EXPORT WireReader {
 public:
  // A message that is a whole file. Errors are `context`, then "is no <kind>": "is no model of Caffe". `context`,
  // `kind` and the bytes must outlive the reader.
  WireReader(const std::string& context, std::string_view kind, std::span<const std::byte> file)
      : context_(&context), kind_(kind), begin_(file.data()), rest_(file) {}
  // A message, or packed numbers, inside the message of `outer`. ValueError if too many messages lie in each other.
  WireReader(const WireReader& outer, std::span<const std::byte> part);

  bool at_end() const noexcept { return rest_.empty(); }
  // Returns the next field, or nothing at the end. Groups, an obsolete kind of field, are skipped.
  std::optional<WireField> next();
  // Read the next number of a packed field; there must be one.
  std::uint64_t varint();
  std::uint32_t fixed32();
  std::uint64_t fixed64();

  const std::string& context() const noexcept { return *context_; }
  std::string_view kind() const noexcept { return kind_; }
  std::uint64_t position() const noexcept { return std::uint64_t(rest_.data() - begin_); }  // in the file

 private:
  // Reads the number and the type of a field, which precede its value.
  WireField tag();
  void value_of(WireField& field);
  void skip_group(std::uint32_t number);
  std::span<const std::byte> take(std::uint64_t n, const char* what);

  const std::string* context_;
  std::string_view kind_;
  int depth_ = 0;  // the number of messages around this one
  const std::byte* begin_;
  std::span<const std::byte> rest_;
};

// Writes the fields of a message.
class CATENA_EXPORT WireWriter {
 public:
  void varint(std::uint32_t number, std::uint64_t value);
  void fixed32(std::uint32_t number, float value);
  void fixed64(std::uint32_t number, double value);
  void bytes(std::uint32_t number, std::string_view value);

  // The fields, or packed numbers, that are written between the two calls are one field of type bytes. `end` takes the
  // result of `begin`.
  std::size_t begin(std::uint32_t number);
  void end(std::size_t begun);

  // Numbers without a tag, of which a packed field consists.
  void packed_varint(std::uint64_t value);
  void packed(float value);
  void packed(double value);

  const std::string& text() const noexcept { return text_; }
  std::string take() noexcept { return std::move(text_); }

 private:
  void tag(std::uint32_t number, WireType type);
  std::string text_;
};

}  // namespace catena
