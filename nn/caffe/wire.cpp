#include <catena/nn/caffe/wire.h>

#include <bit>
#include <cstring>
#include <vector>

#include <catena/kernels/base/error.h>

namespace nn::links::caffe::internal {

using catena::check;
using catena::fail;
using catena::ValueError;

static_assert(std::endian::native == std::endian::little, "numbers are used as they lie in the file");

namespace {

constexpr std::size_t kMaxDepth = 100;  // of nested groups, as in the library of protocol buffers
constexpr int kMaxVarint = 10;          // bytes

}  // namespace

std::span<const std::byte> WireReader::take(std::uint64_t n, const char* what) {
  check<ValueError>(n <= rest_.size(), context(), "is no model of Caffe, or truncated: ", what, " of ", n,
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
  fail<ValueError>(context(), "is no model of Caffe: the number at byte ", start, " has more than ", kMaxVarint,
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
  check<ValueError>(number >= 1 && number < (1u << 29) && type <= 5, context(), "is no model of Caffe: at byte ", start,
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
      check<ValueError>(open.size() <= kMaxDepth, context(), "is no model of Caffe: more than ", kMaxDepth,
                        " groups lie in each other at byte ", position());
    } else if (field.type == WireType::end_group) {
      check<ValueError>(field.number == open.back(), context(), "is no model of Caffe: the group ", open.back(),
                        " ends as ", field.number, " at byte ", position());
      open.pop_back();
    }
  }
}

std::optional<WireField> WireReader::next() {
  while (!at_end()) {
    WireField field = tag();
    check<ValueError>(field.type != WireType::end_group, context(), "is no model of Caffe: the group ", field.number,
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

}  // namespace nn::links::caffe::internal
