#include <catena/nn/serializers/safetensors_file.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/nn/serializers/safetensors_index.h>

namespace nn::serializers {

using catena::check;
using catena::Dtype;
using catena::fail;
using catena::IOError;
using catena::Shape;
using catena::TypeError;
using catena::ValueError;

static_assert(std::endian::native == std::endian::little, "numbers are used as they lie in the file");

namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;  // bytes
constexpr std::size_t kLengthBytes = 8;
constexpr std::string_view kMetadata = "__metadata__";

struct DtypeName {
  std::string_view name;
  Dtype dtype;
};
constexpr DtypeName kDtypes[] = {{"BOOL", Dtype::bool_},  {"I8", Dtype::int8},       {"U8", Dtype::uint8},
                                 {"I16", Dtype::int16},   {"U16", Dtype::uint16},    {"I32", Dtype::int32},
                                 {"U32", Dtype::uint32},  {"I64", Dtype::int64},     {"U64", Dtype::uint64},
                                 {"F16", Dtype::float16}, {"BF16", Dtype::bfloat16}, {"F32", Dtype::float32},
                                 {"F64", Dtype::float64}, {"C64", Dtype::complex64}};

std::optional<Dtype> dtype_of(std::string_view name) {
  for (const DtypeName& d : kDtypes)
    if (d.name == name) return d.dtype;
  return {};
}

// A tensor as described by the header, not yet checked.
struct Claim {
  std::string name, dtype;
  std::vector<std::uint64_t> shape, offsets;
  bool has_dtype = false, has_shape = false, has_offsets = false;
};

// Reads the header from the events of the parser: limits the depth, and finds names that occur twice.
class HeaderReader {
 public:
  explicit HeaderReader(const std::string& context) : context_(context) {}

  bool null() { return refuse("null"); }
  bool boolean(bool) { return refuse("a truth value"); }
  bool number_integer(std::int64_t) { return refuse("a negative number"); }
  bool number_float(double, const std::string&) { return refuse("a number that is no integer"); }
  bool binary(nlohmann::json::binary_t&) { return refuse("binary data"); }
  bool number_unsigned(std::uint64_t v) {
    if (list_ == nullptr) return refuse("a number");
    check<ValueError>(list_->size() < catena::kMaxRank, context_, "the tensor ", name_, " has more than ",
                      catena::kMaxRank, " dimensions");
    list_->push_back(v);
    return true;
  }
  bool string(std::string& text) {
    if (depth_ == 2 && in_metadata_) {
      metadata.emplace_back(field_, std::move(text));
      return true;
    }
    if (depth_ != 2 || list_ != nullptr || field_ != "dtype") return refuse("a text");
    claims.back().dtype = std::move(text);
    claims.back().has_dtype = true;
    return true;
  }
  bool start_object(std::size_t) {
    if (depth_ >= 2 || list_ != nullptr) return refuse("an object");
    if (++depth_ == 2) {
      in_metadata_ = name_ == kMetadata;
      fields_.clear();
      if (!in_metadata_) claims.emplace_back().name = name_;
    }
    return true;
  }
  bool key(std::string& text) {
    std::string& current = depth_ == 1 ? name_ : field_;
    current = std::move(text);
    const bool is_new = (depth_ == 1 ? names_ : fields_).insert(current).second;
    check<ValueError>(is_new, context_, "the header has the name ", current, " twice");
    return true;
  }
  bool end_object() {
    if (depth_-- < 2 || in_metadata_) return true;
    const Claim& c = claims.back();
    check<ValueError>(c.has_dtype && c.has_shape && c.has_offsets && c.offsets.size() == 2, context_, "the tensor ",
                      c.name, " has not all of dtype, shape and two data_offsets");
    return true;
  }
  bool start_array(std::size_t) {
    if (depth_ != 2 || in_metadata_ || list_ != nullptr) return refuse("a list");
    Claim& c = claims.back();
    if (field_ == "shape") list_ = &c.shape, c.has_shape = true;
    else if (field_ == "data_offsets") list_ = &c.offsets, c.has_offsets = true;
    else return refuse("a list");
    return true;
  }
  bool end_array() {
    list_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& e) {
    fail<ValueError>(context_, "the header is no JSON at byte ", position, ": ", e.what());
  }

  std::vector<Claim> claims;
  SafetensorsMetadata metadata;

 private:
  [[noreturn]] bool refuse(const char* what) {
    fail<ValueError>(context_, "the header has ", what, " where the format has none (in ",
                     depth_ == 0 ? std::string("the beginning") : "\"" + name_ + "\"", ")");
  }

  const std::string& context_;
  int depth_ = 0;
  bool in_metadata_ = false;
  std::string name_, field_;
  std::unordered_set<std::string> names_, fields_;
  std::vector<std::uint64_t>* list_ = nullptr;  // the list that is being parsed
};

std::string header_of(const std::string& context, const catena::FileAccess& file) {
  check<ValueError>(file.size() >= kLengthBytes, context, "is no safetensors file: it has ", file.size(), " bytes");
  std::uint64_t length = 0;
  file.read_at(0, &length, kLengthBytes);
  check<ValueError>(length <= kMaxHeader, context, "is no safetensors file: its header has ", length,
                    " bytes, the limit being ", kMaxHeader);
  check<ValueError>(length <= file.size() - kLengthBytes, context, "the header has ", length, " bytes, the file ",
                    file.size());
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read_at(kLengthBytes, text.data(), text.size());
  check<ValueError>(text.starts_with('{'), context, "is no safetensors file: its header does not start with {");
  return text;
}

// Returns the checked tensor. The data after the header begin at `data_at` and have `data_bytes` bytes.
SafetensorsFile::Tensor tensor_of(const std::string& context, const Claim& c, std::uint64_t data_at,
                                  std::uint64_t data_bytes) {
  SafetensorsFile::Tensor t{c.name, c.dtype, dtype_of(c.dtype), {}};
  std::uint64_t size = 1;
  bool fits = true;
  for (const std::uint64_t n : c.shape) {
    fits = fits && n <= INT64_MAX && !__builtin_mul_overflow(size, n, &size);
    if (fits) t.shape.push_back(static_cast<std::int64_t>(n));
  }
  const std::uint64_t begin = c.offsets[0], end = c.offsets[1];
  check<ValueError>(fits && size <= INT64_MAX / catena::kMaxItemsize, context, "the shape of the tensor ", c.name,
                    " does not fit 63 bits");
  check<ValueError>(begin <= end && end <= data_bytes, context, "the tensor ", c.name, " lies at ", begin, " to ", end,
                    ", but there are ", data_bytes, " bytes");
  if (t.dtype) {
    const std::uint64_t bytes = size * catena::itemsize(*t.dtype);
    check<ValueError>(end - begin == bytes, context, "the tensor ", c.name, " has ", end - begin, " bytes, but ",
                      t.dtype_name, " of shape ", t.shape, " has ", bytes);
  }
  t.position = data_at + begin;
  t.n_bytes = end - begin;
  return t;
}

}  // namespace

// One file: its header, checked, and its bytes.
struct SafetensorsFile::Part {
  Part(std::string_view op, const std::string& filename)
      : context(catena::io_context(op, filename)), file(op, filename) {
    const std::string header = header_of(context, file);
    HeaderReader reader(context);
    static_cast<void>(nlohmann::json::sax_parse(header.begin(), header.end(), &reader));  // it throws
    metadata = std::move(reader.metadata);
    std::uint64_t next = kLengthBytes + header.size();
    for (const Claim& c : reader.claims) tensors.push_back(tensor_of(context, c, next, file.size() - next));
    std::stable_sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
      return std::pair(a.position, a.n_bytes) < std::pair(b.position, b.n_bytes);
    });
    for (const Tensor& t : tensors) {
      check<ValueError>(t.position == next, context, "the tensor ", t.name, " starts ",
                        t.position < next ? "within the one before it" : "after a gap");
      next += t.n_bytes;
    }
    check<ValueError>(next == file.size(), context, file.size() - next, " bytes at the end belong to no tensor");
  }

  std::string context;
  catena::FileAccess file;
  std::vector<Tensor> tensors;
  SafetensorsMetadata metadata;
};

struct SafetensorsFile::Content {
  Content(std::string_view op, const std::string& filename) : context(catena::io_context(op, filename)) {
    if (internal::is_safetensors_index(filename)) {
      open_parts(op, filename);
    } else {
      parts.push_back(catena::Shared<Part>::make(op, filename));
      tensors = std::move(parts[0]->tensors);
      metadata = std::move(parts[0]->metadata);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) index.emplace(tensors[i].name, i);
  }
  // Takes the tensors that the index names from its files, in the order of the files' names.
  void open_parts(std::string_view op, const std::string& filename) {
    internal::SafetensorsIndex listed = internal::read_safetensors_index(op, filename);
    metadata = std::move(listed.metadata);
    std::stable_sort(listed.weight_map.begin(), listed.weight_map.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string* current = nullptr;
    std::unordered_map<std::string_view, const Tensor*> there;
    for (const auto& [name, file] : listed.weight_map) {
      if (current == nullptr || *current != file) {
        parts.push_back(catena::Shared<Part>::make(op, internal::beside(filename, file)));
        current = &file;
        there.clear();
        for (const Tensor& t : parts.back()->tensors) there.emplace(t.name, &t);
      }
      const auto found = there.find(name);
      check<ValueError>(found != there.end(), context, "the file ", file, " lacks the tensor ", name);
      tensors.push_back(*found->second);
      tensors.back().file = parts.size() - 1;
    }
  }

  std::string context;
  std::vector<catena::Shared<Part>> parts;
  std::vector<Tensor> tensors;
  SafetensorsMetadata metadata;
  std::unordered_map<std::string_view, std::size_t> index;  // views into tensors, which does not change any more
};

SafetensorsFile::SafetensorsFile(const std::string& filename, std::string_view op)
    : content_(catena::Shared<const Content>::make(op, filename)) {}
const std::string& SafetensorsFile::context() const noexcept { return content_->context; }
const std::vector<SafetensorsFile::Tensor>& SafetensorsFile::tensors() const& noexcept { return content_->tensors; }
const SafetensorsMetadata& SafetensorsFile::metadata() const noexcept { return content_->metadata; }
std::vector<std::string> SafetensorsFile::keys() const {
  std::vector<std::string> names;
  for (const Tensor& t : tensors()) names.push_back(t.name);
  return names;
}
void SafetensorsFile::read(const Tensor& tensor, std::uint64_t from, void* to, std::size_t n) const {
  content_->parts[tensor.file]->file.read_at(tensor.position + from, to, n);
}
const SafetensorsFile::Tensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = content_->index.find(name);
  return found == content_->index.end() ? nullptr : &tensors()[found->second];
}

// ---- writing --------------------------------------------------------------------------------------

namespace {

std::string json_text(const std::string& context, const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception& e) {
    fail<ValueError>(context, "a name or a text of the metadata is no UTF-8: ", e.what());
  }
}

std::string_view name_of(const std::string& context, const internal::SafetensorsInput& t) {
  for (const DtypeName& d : kDtypes)
    if (d.dtype == t.dtype) return d.name;
  fail<TypeError>(context, "the entry ", t.name, " is ", t.dtype, ", which safetensors files lack");
}

std::string header_text(const std::string& context, const std::vector<internal::SafetensorsInput>& tensors,
                        const SafetensorsMetadata& metadata) {
  std::unordered_set<std::string_view> names{kMetadata};
  std::string text = "{";
  if (!metadata.empty()) {
    std::unordered_set<std::string_view> keys;
    text += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata) {
      check<ValueError>(keys.insert(key).second, context, "the metadata have the key ", key, " twice");
      text += (text.back() == '{' ? "" : ",") + json_text(context, key) + ":" + json_text(context, value);
    }
    text += "}";
  }
  std::uint64_t at = 0;
  for (const internal::SafetensorsInput& t : tensors) {
    check<ValueError>(names.insert(t.name).second, context, "there are two entries named ", t.name);
    text += (text.size() == 1 ? "" : ",") + json_text(context, t.name) + ":{\"dtype\":\"";
    text += name_of(context, t);
    text += "\",\"shape\":[";
    for (int k = 0; k < t.shape.size(); ++k) text += (k > 0 ? "," : "") + std::to_string(t.shape[k]);
    text += "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + t.bytes.size()) + "]}";
    at += t.bytes.size();
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  check<ValueError>(text.size() <= kMaxHeader, context, "the header has ", text.size(), " bytes, the limit being ",
                    kMaxHeader);
  return text;
}

}  // namespace

std::vector<std::vector<internal::SafetensorsInput>> internal::in_shards(std::vector<SafetensorsInput> tensors,
                                                                         std::uint64_t max_bytes) {
  std::vector<std::vector<SafetensorsInput>> shards(1);
  std::uint64_t bytes = 0;
  for (SafetensorsInput& t : tensors) {
    if (!shards.back().empty() && bytes + t.bytes.size() > max_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += t.bytes.size();
    shards.back().push_back(std::move(t));
  }
  return shards;
}

void internal::write_shards(const std::string& filename, std::vector<SafetensorsInput> tensors,
                            const SafetensorsMetadata& metadata, std::uint64_t max_bytes) {
  std::vector<std::vector<SafetensorsInput>> shards = in_shards(std::move(tensors), max_bytes);
  if (shards.size() == 1) return write_safetensors(filename, std::move(shards[0]), metadata);
  SafetensorsIndex index{{}, metadata};
  std::unordered_set<std::string_view> names;
  std::uint64_t total = 0;
  for (std::size_t k = 0; k < shards.size(); ++k)
    for (const SafetensorsInput& t : shards[k]) {
      check<ValueError>(names.insert(t.name).second, catena::io_context("save_safetensors", filename),
                        "there are two entries named ", t.name);
      index.weight_map.emplace_back(t.name, shard_name(filename, k, shards.size()));
      total += t.bytes.size();
    }
  for (std::size_t k = 0; k < shards.size(); ++k)
    write_safetensors(beside(filename, shard_name(filename, k, shards.size())), shards[k], metadata);
  write_safetensors_index(beside(filename, index_name(filename)), index, total);
}

void internal::write_safetensors(const std::string& filename, std::vector<SafetensorsInput> tensors,
                                 const SafetensorsMetadata& metadata) {
  // Wide elements first, so that all are aligned; then ordered by name, so that equal content gives equal bytes.
  std::sort(tensors.begin(), tensors.end(), [](const SafetensorsInput& a, const SafetensorsInput& b) {
    const std::size_t x = catena::itemsize(a.dtype), y = catena::itemsize(b.dtype);
    return x != y ? x > y : a.name < b.name;
  });
  catena::AtomicFile file("save_safetensors", filename);
  const std::string header = header_text(file.context(), tensors, metadata);
  const std::uint64_t length = header.size();
  file.write(&length, kLengthBytes);
  file.write(header.data(), header.size());
  for (const SafetensorsInput& t : tensors)
    if (!t.bytes.empty()) file.write(t.bytes.data(), t.bytes.size());
  file.commit();
}

}  // namespace nn::serializers
