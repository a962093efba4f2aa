#include <catena/nn/serializers/gguf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include <catena/kernels/formats/byte_stream.h>

namespace nn::serializers {

using catena::check;
using catena::Dtype;
using catena::fail;
using catena::float16;
using catena::NpyArray;
using catena::TypeError;
using catena::ValueError;

static_assert(std::endian::native == std::endian::little, "numbers are used as they lie in the file");

namespace {

constexpr std::uint64_t kDefaultAlignment = 32;
constexpr int kMaxListDepth = 4;
constexpr std::uint64_t kMostValues = std::uint64_t(1) << 24;  // of lists, because a value is larger than in the file
constexpr std::int64_t kBlock = 32;                            // elements with one factor

// Types of elements, by number: bytes of a block, and elements in it.
struct ElementType {
  std::uint32_t number;
  std::string_view name;
  std::int64_t elements;
  std::uint64_t bytes;
  std::optional<Dtype> dtype;  // of the array
};
constexpr std::uint32_t kQ4_0 = 2, kQ8_0 = 8;
constexpr ElementType kTypes[] = {{0, "F32", 1, 4, Dtype::float32},
                                  {1, "F16", 1, 2, Dtype::float16},
                                  {kQ4_0, "Q4_0", kBlock, 18, Dtype::float32},
                                  {3, "Q4_1", kBlock, 20, {}},
                                  {6, "Q5_0", kBlock, 22, {}},
                                  {7, "Q5_1", kBlock, 24, {}},
                                  {kQ8_0, "Q8_0", kBlock, 34, Dtype::float32},
                                  {9, "Q8_1", kBlock, 36, {}},
                                  {10, "Q2_K", 256, 84, {}},
                                  {11, "Q3_K", 256, 110, {}},
                                  {12, "Q4_K", 256, 144, {}},
                                  {13, "Q5_K", 256, 176, {}},
                                  {14, "Q6_K", 256, 210, {}},
                                  {15, "Q8_K", 256, 292, {}},
                                  {24, "I8", 1, 1, Dtype::int8},
                                  {25, "I16", 1, 2, Dtype::int16},
                                  {26, "I32", 1, 4, Dtype::int32},
                                  {27, "I64", 1, 8, Dtype::int64},
                                  {28, "F64", 1, 8, Dtype::float64},
                                  {30, "BF16", 1, 2, Dtype::bfloat16}};

const ElementType* type_of(std::uint32_t number) {
  for (const ElementType& t : kTypes)
    if (t.number == number) return &t;
  return nullptr;
}

// Types of metadata.
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64 };

float factor_of(const std::byte* block) {
  float16 factor;
  std::memcpy(&factor, block, sizeof(factor));
  return static_cast<float>(factor);
}
// Q8_0: the factor and 32 signed bytes.
void expand_q8_0(const std::byte* block, float* to) {
  const float factor = factor_of(block);
  for (int i = 0; i < kBlock; ++i) to[i] = factor * float(static_cast<signed char>(block[2 + i]));
}
// Q4_0: the factor and 16 bytes, whose low halves are the first 16 elements plus 8, and whose high halves the last 16.
void expand_q4_0(const std::byte* block, float* to) {
  const float factor = factor_of(block);
  for (int i = 0; i < kBlock / 2; ++i) {
    const int both = std::to_integer<int>(block[2 + i]);
    to[i] = factor * float((both & 15) - 8);
    to[i + kBlock / 2] = factor * float((both >> 4) - 8);
  }
}

}  // namespace

// ---- metadata ----
void GgufValue::need(Kind kind) const {
  constexpr std::string_view kNames[] = {"a bool", "an integer", "a number", "a text", "a list"};
  if (kind_ != kind)
    fail<TypeError>("GgufValue", "it is ", kNames[std::size_t(kind_)], ", not ", kNames[std::size_t(kind)]);
}
bool GgufValue::boolean() const { return need(Kind::boolean), integer_ != 0; }
std::int64_t GgufValue::integer() const { return need(Kind::integer), integer_; }
double GgufValue::number() const {
  if (kind_ == Kind::integer) return double(integer_);
  return need(Kind::number), number_;
}
const std::string& GgufValue::text() const { return need(Kind::text), text_; }
const std::vector<GgufValue>& GgufValue::list() const { return need(Kind::list), list_; }

// ---- the header ----
// Reads a file from the beginning, piece by piece.
class GgufReader {
 public:
  GgufReader(const std::string& context, const catena::FileAccess& file) : context_(context), file_(file) {}

  template <class T> T number() {
    T value;
    take(&value, sizeof(T));
    return value;
  }
  std::string text() {
    std::string result(static_cast<std::size_t>(count(1, "a text")), '\0');
    take(result.data(), result.size());
    return result;
  }
  // Reads a number of things that have at least `bytes` bytes each.
  std::uint64_t count(std::uint64_t bytes, const char* what) {
    const auto n = number<std::uint64_t>();
    check<ValueError>(n <= (file_.size() - at_) / bytes, context_, "it has ", what, " of length ", n, " at byte ", at_,
                      ", more than the rest of the file");
    return n;
  }
  GgufValue value(ValueType type, int depth = 0) {
    GgufValue v;
    switch (type) {
      case ValueType::u8: return integer<std::uint8_t>();
      case ValueType::i8: return integer<std::int8_t>();
      case ValueType::u16: return integer<std::uint16_t>();
      case ValueType::i16: return integer<std::int16_t>();
      case ValueType::u32: return integer<std::uint32_t>();
      case ValueType::i32: return integer<std::int32_t>();
      case ValueType::u64: return integer<std::uint64_t>();
      case ValueType::i64: return integer<std::int64_t>();
      case ValueType::f32:
      case ValueType::f64:
        v.kind_ = GgufValue::Kind::number;
        v.number_ = type == ValueType::f32 ? double(number<float>()) : number<double>();
        return v;
      case ValueType::boolean:
        v.kind_ = GgufValue::Kind::boolean;
        v.integer_ = number<std::uint8_t>() != 0;
        return v;
      case ValueType::text:
        v.kind_ = GgufValue::Kind::text;
        v.text_ = text();
        return v;
      case ValueType::list: break;
      default: fail<ValueError>(context_, "it has a value of the unknown type ", std::uint32_t(type), " at byte ", at_);
    }
    check<ValueError>(depth < kMaxListDepth, context_, "it has lists nested more than ", kMaxListDepth, " deep");
    v.kind_ = GgufValue::Kind::list;
    const auto element = static_cast<ValueType>(number<std::uint32_t>());
    const std::uint64_t n = count(1, "a list");
    check<ValueError>(n <= kMostValues - values_, context_, "its lists have more than ", kMostValues, " values");
    values_ += n;
    for (std::uint64_t i = 0; i < n; ++i) v.list_.push_back(value(element, depth + 1));
    return v;
  }
  std::uint64_t position() const noexcept { return at_; }

 private:
  template <class T> GgufValue integer() {
    GgufValue v;
    v.integer_ = static_cast<std::int64_t>(number<T>());
    return v;
  }
  // The file is read in large pieces.
  void take(void* to, std::size_t n) {
    check<ValueError>(n <= file_.size() - at_, context_, "it ends at byte ", file_.size(), ", within its header");
    auto* out = static_cast<std::byte*>(to);
    while (n > 0) {
      if (at_ < begin_ || at_ >= begin_ + buffer_.size()) {
        begin_ = at_;
        buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBuffer, file_.size() - at_)));
        file_.read_at(begin_, buffer_.data(), buffer_.size());
      }
      const auto from = static_cast<std::size_t>(at_ - begin_);
      const std::size_t part = std::min(n, buffer_.size() - from);
      std::memcpy(out, buffer_.data() + from, part);
      out += part, at_ += part, n -= part;
    }
  }

  static constexpr std::size_t kBuffer = std::size_t(1) << 16;
  const std::string& context_;
  const catena::FileAccess& file_;
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0, at_ = 0;
  std::uint64_t values_ = 0;  // of lists so far
};

struct GgufFile::Content {
  Content(std::string_view op, const std::string& filename)
      : context(catena::io_context(op, filename)), file(op, filename) {
    constexpr std::uint64_t kLeastEntry = 13, kLeastTensor = 24;  // bytes
    GgufReader reader(context, file);
    check<ValueError>(file.size() >= 4 && reader.number<std::uint32_t>() == 0x46554747, context, "is no GGUF file");
    const auto version = reader.number<std::uint32_t>();
    check<ValueError>(version == 2 || version == 3, context, "has the version ", version,
                      " (or another byte order); 2 and 3 are read");
    const std::uint64_t n_tensors = reader.count(kLeastTensor, "a list of tensors");
    const std::uint64_t n_entries = reader.count(kLeastEntry, "metadata");
    for (std::uint64_t i = 0; i < n_entries; ++i) {
      std::string key = reader.text();
      const auto type = static_cast<ValueType>(reader.number<std::uint32_t>());
      check<ValueError>(find(key) == nullptr, context, "it has the key ", key, " twice");
      metadata.emplace_back(std::move(key), reader.value(type));
      entries.emplace(metadata.back().first, metadata.size() - 1);
    }
    for (std::uint64_t i = 0; i < n_tensors; ++i) tensors.push_back(described(reader));
    place(reader.position());
  }

  const GgufValue* find(std::string_view key) const {
    const auto found = entries.find(std::string(key));
    return found == entries.end() ? nullptr : &metadata[found->second].second;
  }

  // Reads the description of a tensor; its position is relative to the first one.
  Tensor described(GgufReader& reader) const {
    Tensor t;
    t.name = reader.text();
    const auto rank = reader.number<std::uint32_t>();
    check<ValueError>(rank <= std::uint32_t(catena::kMaxRank), context, "the tensor ", t.name, " has ", rank,
                      " dimensions, the limit being ", catena::kMaxRank);
    std::int64_t size = 1;
    std::vector<std::int64_t> lengths;
    for (std::uint32_t k = 0; k < rank; ++k) {
      const auto n = reader.number<std::uint64_t>();
      const bool fits = n <= INT64_MAX && !__builtin_mul_overflow(size, std::int64_t(n), &size);
      check<ValueError>(fits && size <= INT64_MAX / catena::kMaxItemsize, context, "the shape of the tensor ", t.name,
                        " does not fit 63 bits");
      lengths.push_back(std::int64_t(n));
    }
    for (std::size_t k = lengths.size(); k-- > 0;) t.shape.push_back(lengths[k]);
    t.type = reader.number<std::uint32_t>();
    t.position = reader.number<std::uint64_t>();
    const ElementType* const type = type_of(t.type);
    if (type == nullptr) {
      t.type_name = "type " + std::to_string(t.type);
      return t;
    }
    t.type_name = type->name;
    const std::int64_t row = lengths.empty() ? 1 : lengths[0];
    check<ValueError>(row % type->elements == 0, context, "the rows of the tensor ", t.name, " have ", row,
                      " elements, which are no whole blocks of ", type->name);
    t.n_bytes = std::uint64_t(size / type->elements) * type->bytes;
    return t;
  }

  void place(std::uint64_t header_end) {
    const GgufValue* const given = find("general.alignment");
    check<ValueError>(given == nullptr || given->kind() == GgufValue::Kind::integer, context,
                      "general.alignment is no integer");
    const std::uint64_t alignment = given == nullptr ? kDefaultAlignment : std::uint64_t(given->integer());
    check<ValueError>(std::has_single_bit(alignment) && alignment <= 1u << 20, context, "the alignment is ", alignment,
                      "; a power of two is needed");
    const std::uint64_t begin = (header_end + alignment - 1) / alignment * alignment;
    std::unordered_set<std::string_view> names;
    for (Tensor& t : tensors) {
      check<ValueError>(names.insert(t.name).second, context, "it has the tensor ", t.name, " twice");
      const bool fits =
          begin <= file.size() && t.position <= file.size() - begin && t.n_bytes <= file.size() - begin - t.position;
      check<ValueError>(fits, context, "the tensor ", t.name, " has ", t.n_bytes, " bytes from byte ", t.position,
                        " of the data on, but the file ends at byte ", file.size());
      check<ValueError>(t.position % alignment == 0, context, "the tensor ", t.name, " starts at byte ", t.position,
                        " of the data, which is no multiple of ", alignment);
      t.position += begin;
    }
    std::vector<const Tensor*> by_position;
    for (const Tensor& t : tensors) by_position.push_back(&t);
    std::sort(by_position.begin(), by_position.end(), [](const Tensor* a, const Tensor* b) {
      return std::pair(a->position, a->n_bytes) < std::pair(b->position, b->n_bytes);  // empty tensors first
    });
    for (std::size_t i = 1; i < by_position.size(); ++i) {
      const Tensor &before = *by_position[i - 1], &t = *by_position[i];
      check<ValueError>(before.position + before.n_bytes <= t.position, context, "the tensor ", t.name,
                        " starts within the tensor ", before.name);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) index.emplace(tensors[i].name, i);
  }

  std::string context;
  catena::FileAccess file;
  std::vector<std::pair<std::string, GgufValue>> metadata;
  std::vector<Tensor> tensors;
  std::unordered_map<std::string, std::size_t> entries;
  std::unordered_map<std::string_view, std::size_t> index;  // views into tensors, which does not change any more
};

// ---- the file ----
GgufFile::GgufFile(const std::string& filename, std::string_view op)
    : content_(catena::Shared<const Content>::make(op, filename)) {}
const std::string& GgufFile::context() const noexcept { return content_->context; }
const std::vector<std::pair<std::string, GgufValue>>& GgufFile::metadata() const& noexcept {
  return content_->metadata;
}
const GgufValue& GgufFile::metadata(std::string_view key) const {
  const GgufValue* const found = content_->find(key);
  check<catena::KeyError>(found != nullptr, context(), "there is no metadata ", key);
  return *found;
}
const std::vector<GgufFile::Tensor>& GgufFile::tensors() const& noexcept { return content_->tensors; }
std::vector<std::string> GgufFile::keys() const {
  std::vector<std::string> names;
  for (const Tensor& t : tensors()) names.push_back(t.name);
  return names;
}

std::optional<NpyArray> GgufFile::read(std::string_view name) const {
  const auto found = content_->index.find(name);
  if (found == content_->index.end()) return {};
  const Tensor& t = tensors()[found->second];
  const ElementType* const type = type_of(t.type);
  NpyArray a;
  a.shape = t.shape;
  a.descr = t.type_name;
  if (type == nullptr || !type->dtype) return a;
  a.dtype = type->dtype;
  a.descr = catena::npy_descr(*type->dtype);
  a.itemsize = catena::itemsize(*type->dtype);
  std::vector<std::byte> stored(static_cast<std::size_t>(t.n_bytes));
  content_->file.read_at(t.position, stored.data(), stored.size());
  if (type->elements == 1) {
    a.data = std::move(stored);
    return a;
  }
  a.data.resize(static_cast<std::size_t>(a.size()) * sizeof(float));
  float block[kBlock];
  for (std::size_t from = 0, to = 0; from < stored.size(); from += type->bytes, to += sizeof(block)) {
    if (t.type == kQ8_0) expand_q8_0(stored.data() + from, block);
    else expand_q4_0(stored.data() + from, block);
    std::memcpy(a.data.data() + to, block, sizeof(block));
  }
  return a;
}

}  // namespace nn::serializers
