#include <catena/kernels/formats/wire.h>

#include <bit>
#include <cstring>
#include <vector>

#include <catena/kernels/base/error.h>

namespace catena {

static_assert(std::endian::native == std::endian::little, "numbers are used as they lie in the file");

namespace {

constexpr int kMaxDepth = 100;  // of groups or messages in each other, as in the library of protocol buffers
constexpr int kMaxVarint = 10;  // bytes

}  // namespace

WireReader::WireReader(const WireReader& outer, std::span<const std::byte> part)
    : context_(outer.context_), kind_(outer.kind_), depth_(outer.depth_ + 1), begin_(outer.begin_), rest_(part) {
  check<ValueError>(depth_ <= kMaxDepth, context(), "is no ", kind(), ": more than ", kMaxDepth,
                    " messages lie in each other at byte ", position());
}

std::span<const std::byte> WireReader::take(std::uint64_t n, const char* what) {
  check<ValueError>(n <= rest_.size(), context(), "is no ", kind(), ", or truncated: ", what, " of ", n,
                    " bytes begins at byte ", position(), ", where ", rest_.size(), " are left");
  const std::span<const std::byte> taken = rest_.first(std::size_t(n));
  rest_ = rest_.subspan(std::size_t(n));
  return taken;
}

std::uint64_t WireReader::varint() {
  std::uint64_t value = 0;
  const std::uint64_t start = position();
  for (int i = 0; i < kMaxVarint; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(take(1, "a number")[0]);
    value |= (byte & 0x7f) << (7 * i);  // only one bit of the tenth byte is used
    if (byte < 0x80) return value;
  }
  fail<ValueError>(context(), "is no ", kind(), ": the number at byte ", start, " has more than ", kMaxVarint,
                   " bytes");
}

std::uint32_t WireReader::fixed32() {
  std::uint32_t value = 0;
  std::memcpy(&value, take(sizeof value, "a number").data(), sizeof value);
  return value;
}

std::uint64_t WireReader::fixed64() {
  std::uint64_t value = 0;
  std::memcpy(&value, take(sizeof value, "a number").data(), sizeof value);
  return value;
}

WireField WireReader::tag() {
  const std::uint64_t start = position();
  const std::uint64_t tag = varint();
  const std::uint64_t number = tag >> 3, type = tag & 7;
  check<ValueError>(number >= 1 && number < (1u << 29) && type <= 5, context(), "is no ", kind(), ": at byte ", start,
                    " there is a field ", number, " of type ", type, ", which no message has");
  WireField field;
  field.number = std::uint32_t(number);
  field.type = WireType(type);
  return field;
}

void WireReader::value_of(WireField& field) {
  switch (field.type) {
    case WireType::varint: field.value = varint(); break;
    case WireType::fixed64: field.value = fixed64(); break;
    case WireType::fixed32: field.value = fixed32(); break;
    case WireType::bytes: field.bytes = take(varint(), "a field"); break;
    case WireType::begin_group:
    case WireType::end_group: break;
  }
}

void WireReader::skip_group(std::uint32_t number) {
  const std::uint64_t start = position();
  std::vector<std::uint32_t> open = {number};
  while (!open.empty()) {
    check<ValueError>(!at_end(), context(), "is no model of Caffe, or truncated: the group that begins at byte ", start,
                      " has no end");
    WireField field = tag();
    value_of(field);
    if (field.type == WireType::begin_group) {
      open.push_back(field.number);
      check<ValueError>(open.size() <= std::size_t(kMaxDepth), context(), "is no ", kind(), ": more than ", kMaxDepth,
                        " groups lie in each other at byte ", position());
    } else if (field.type == WireType::end_group) {
      check<ValueError>(field.number == open.back(), context(), "is no ", kind(), ": the group ", open.back(),
                        " ends as ", field.number, " at byte ", position());
      open.pop_back();
    }
  }
}

std::optional<WireField> WireReader::next() {
  while (!at_end()) {
    WireField field = tag();
    check<ValueError>(field.type != WireType::end_group, context(), "is no ", kind(), ": the group ", field.number,
                      " ends at byte ", position(), " without a beginning");
    if (field.type == WireType::begin_group) {
      skip_group(field.number);
      continue;
    }
    value_of(field);
    return field;
  }
  return {};
}

void WireWriter::packed_varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(0x80 | (value & 0x7f));
  text_ += static_cast<char>(value);
}
void WireWriter::packed(float value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
void WireWriter::packed(double value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }

void WireWriter::tag(std::uint32_t number, WireType type) {
  packed_varint(std::uint64_t(number) << 3 | static_cast<std::uint64_t>(type));
}
void WireWriter::varint(std::uint32_t number, std::uint64_t value) {
  tag(number, WireType::varint);
  packed_varint(value);
}
void WireWriter::fixed32(std::uint32_t number, float value) {
  tag(number, WireType::fixed32);
  packed(value);
}
void WireWriter::fixed64(std::uint32_t number, double value) {
  tag(number, WireType::fixed64);
  packed(value);
}
std::size_t WireWriter::begin(std::uint32_t number) {
  tag(number, WireType::bytes);
  return text_.size();
}
void WireWriter::end(std::size_t begun) {
  WireWriter length;
  length.packed_varint(text_.size() - begun);
  text_.insert(begun, length.text());
}
void WireWriter::bytes(std::uint32_t number, std::string_view value) {
  tag(number, WireType::bytes);
  packed_varint(value.size());
  text_ += value;
}

}  // namespace catena
