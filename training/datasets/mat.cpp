#include <catena/training/datasets/mat.h>

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/byte_stream.h>

namespace training::datasets::internal {

using catena::check;
using catena::ValueError;

namespace {

// Types of elements, and classes of arrays.
constexpr std::uint32_t kInt8 = 1, kUint8 = 2, kInt16 = 3, kUint16 = 4, kInt32 = 5, kUint32 = 6, kSingle = 7,
                        kDouble = 9, kMatrix = 14, kCompressed = 15;
constexpr std::uint32_t kFirstNumericClass = 6, kLastNumericClass = 13;  // mxDOUBLE_CLASS to mxUINT32_CLASS

struct Element {
  std::uint32_t type = 0;
  std::string_view data;
};

// Reads the elements of a file or of an array, one after the other.
class Elements {
 public:
  Elements(std::string_view data, const std::string& context) : rest_(data), context_(context) {}
  bool is_empty() const { return rest_.empty(); }
  Element next() {
    const std::uint32_t first = number(0);
    if (first >> 16 != 0) {  // a small element: type, size and up to 4 bytes of data
      const std::uint32_t size = first >> 16;
      check<ValueError>(size <= 4, context_, "a small element has ", size, " bytes");
      return taken(first & 0xffff, 4, size, 8);
    }
    const std::uint32_t size = number(4);
    const std::uint64_t padded = first == kCompressed ? size : (std::uint64_t(size) + 7) / 8 * 8;
    return taken(first, 8, size, 8 + padded);
  }

 private:
  std::uint32_t number(std::size_t at) const {
    check<ValueError>(rest_.size() >= at + 4, context_, "the file ends within the head of an element");
    std::uint32_t value = 0;
    std::memcpy(&value, rest_.data() + at, 4);
    return value;
  }
  Element taken(std::uint32_t type, std::size_t begin, std::uint64_t size, std::uint64_t whole) {
    check<ValueError>(rest_.size() >= begin + size, context_, "the file ends within an element of ", size, " bytes");
    const Element element{type, rest_.substr(begin, std::size_t(size))};
    rest_.remove_prefix(std::size_t(std::min<std::uint64_t>(whole, rest_.size())));
    return element;
  }
  std::string_view rest_;
  const std::string& context_;
};

// Expands a compressed element, to at most `limit` bytes.
std::string expanded(std::string_view packed, std::uint64_t limit, const std::string& context) {
  z_stream stream{};
  check<catena::RuntimeError>(::inflateInit(&stream) == Z_OK, context, "zlib cannot be initialised");
  struct End {
    z_stream* stream;
    ~End() { ::inflateEnd(stream); }
  } const end{&stream};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  constexpr std::size_t kChunk = 1 << 20;
  std::string out, chunk(kChunk, '\0');
  int code = Z_OK;
  while (code == Z_OK) {
    check<ValueError>(out.size() < limit, context, "a compressed element expands to more than the ", limit,
                      " bytes that a file of its size may hold");
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(kChunk);
    code = ::inflate(&stream, Z_NO_FLUSH);
    out.append(chunk.data(), kChunk - stream.avail_out);
  }
  check<ValueError>(code == Z_STREAM_END, context, "a compressed element is damaged or cut off");
  return out;
}

// Converts numbers of a type to bytes; nothing if one is not an integer of 0 to 255.
template <class T> bool to_bytes(std::string_view data, std::vector<std::uint8_t>& bytes) {
  for (std::size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
    T value{};
    std::memcpy(&value, data.data() + at, sizeof(T));
    const auto number = static_cast<double>(value);
    if (!(number >= 0 && number <= 255)) return false;
    bytes.push_back(static_cast<std::uint8_t>(number));
    if (static_cast<double>(bytes.back()) != number) return false;
  }
  return true;
}
bool to_bytes(const Element& e, std::vector<std::uint8_t>& bytes) {
  switch (e.type) {
    case kInt8: return to_bytes<std::int8_t>(e.data, bytes);
    case kUint8: bytes.assign(e.data.begin(), e.data.end()); return true;
    case kInt16: return to_bytes<std::int16_t>(e.data, bytes);
    case kUint16: return to_bytes<std::uint16_t>(e.data, bytes);
    case kInt32: return to_bytes<std::int32_t>(e.data, bytes);
    case kUint32: return to_bytes<std::uint32_t>(e.data, bytes);
    case kSingle: return to_bytes<float>(e.data, bytes);
    case kDouble: return to_bytes<double>(e.data, bytes);
    default: return false;
  }
}

// Reads the four parts of an array: flags, lengths, name and values.
std::optional<MatArray> read_array(std::string_view data, const std::string& context) {
  Elements parts(data, context);
  const Element flags = parts.next();
  check<ValueError>(flags.type == kUint32 && flags.data.size() == 8, context, "an array has no flags");
  const auto array_class = std::uint32_t(static_cast<unsigned char>(flags.data[0]));
  if (array_class < kFirstNumericClass || array_class > kLastNumericClass) return {};
  const Element lengths = parts.next();
  check<ValueError>(lengths.type == kInt32 && lengths.data.size() % 4 == 0 &&
                        lengths.data.size() / 4 <= std::size_t(catena::kMaxRank),
                    context, "an array has no lengths, or too many");
  MatArray array;
  std::uint64_t size = 1;
  for (std::size_t at = 0; at < lengths.data.size(); at += 4) {
    std::int32_t length = 0;
    std::memcpy(&length, lengths.data.data() + at, 4);
    check<ValueError>(length >= 0 && (length == 0 || size <= data.size() / std::uint64_t(length)), context,
                      "an array claims more values than the file has");
    size *= std::uint64_t(length);
    array.shape.push_back(length);
  }
  array.name = parts.next().data;
  if (!to_bytes(parts.next(), array.values)) return {};
  check<ValueError>(array.values.size() == size, context, "the array \"", array.name, "\" of the shape ", array.shape,
                    " has ", array.values.size(), " values");
  return array;
}

}  // namespace

std::vector<MatArray> read_mat(std::string_view op, const std::string& path) {
  constexpr std::size_t kHeader = 128;
  constexpr std::uint64_t kAlwaysAllowed = std::uint64_t(16) << 20, kMaxRatio = 100;
  const std::string context = catena::io_context(op, path), file = catena::read_file(op, path);
  check<ValueError>(file.size() >= kHeader && file.starts_with("MATLAB 5.0"), context,
                    "it is no MATLAB file of level 5");
  check<ValueError>(file.substr(126, 2) == "IM", context, "it was written on a big-endian machine, or is damaged");
  const std::uint64_t limit = std::max(kAlwaysAllowed, kMaxRatio * file.size());
  std::vector<MatArray> arrays;
  for (Elements elements(std::string_view(file).substr(kHeader), context); !elements.is_empty();) {
    Element element = elements.next();
    std::string content;
    if (element.type == kCompressed) {
      content = expanded(element.data, limit, context);
      element = Elements(content, context).next();
    }
    if (element.type != kMatrix) continue;
    if (std::optional<MatArray> array = read_array(element.data, context)) arrays.push_back(std::move(*array));
  }
  return arrays;
}

}  // namespace training::datasets::internal
