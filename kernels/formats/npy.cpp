#include <catena/kernels/formats/npy.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <span>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/npy_parser.h>
#include <catena/kernels/formats/npy_stream.h>
#include <catena/kernels/formats/npz.h>

namespace catena {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
constexpr std::uint32_t kMaxHeader = 1 << 20;          // bytes; far more than the header of an array of 32 axes
constexpr std::size_t kGrowth = std::size_t(1) << 22;  // bytes by which memory grows for sources of unknown length
constexpr bool kNativeBigEndian = std::endian::native == std::endian::big;

std::uint32_t little_endian(const unsigned char* b, int n) {
  std::uint32_t v = 0;
  for (int i = 0; i < n; ++i) v |= static_cast<std::uint32_t>(b[i]) << (8 * i);
  return v;
}

struct ElementType {
  std::optional<Dtype> dtype;
  std::size_t itemsize;
};

// Returns the library's dtype for a kind and size. Other elements of fixed size have no dtype and stay raw bytes.
std::optional<Dtype> dtype_of_code(char kind, std::uint64_t bytes, char order) {
  if (kind == 'V') return bytes == 2 && order != '>' ? std::optional(Dtype::bfloat16) : std::nullopt;
  for (int i = 0; i < kNumDtypes; ++i) {
    const auto t = static_cast<Dtype>(i);
    if (t != Dtype::bfloat16 && kind_char(t) == kind && itemsize(t) == bytes) return t;
  }
  return std::nullopt;
}

struct DescrName {
  std::string_view name, code;
};
// Two further spellings of numpy.dtype: letters, which may have a byte order, and names, which have none.
constexpr DescrName kLetters[] = {{"?", "b1"},  {"b", "i1"}, {"B", "u1"},  {"h", "i2"},  {"H", "u2"}, {"i", "i4"},
                                  {"I", "u4"},  {"l", "i8"}, {"L", "u8"},  {"q", "i8"},  {"Q", "u8"}, {"p", "i8"},
                                  {"P", "u8"},  {"n", "i8"}, {"N", "u8"},  {"e", "f2"},  {"f", "f4"}, {"d", "f8"},
                                  {"g", "f16"}, {"F", "c8"}, {"D", "c16"}, {"G", "c32"}, {"c", "S1"}, {"O", "O"}};
constexpr DescrName kNames[] = {
    {"bool", "b1"},        {"bool_", "b1"},    {"int8", "i1"},        {"byte", "i1"},      {"uint8", "u1"},
    {"ubyte", "u1"},       {"int16", "i2"},    {"short", "i2"},       {"uint16", "u2"},    {"ushort", "u2"},
    {"int32", "i4"},       {"intc", "i4"},     {"uint32", "u4"},      {"uintc", "u4"},     {"int64", "i8"},
    {"int", "i8"},         {"int_", "i8"},     {"long", "i8"},        {"longlong", "i8"},  {"intp", "i8"},
    {"uint64", "u8"},      {"uint", "u8"},     {"ulong", "u8"},       {"ulonglong", "u8"}, {"uintp", "u8"},
    {"float16", "f2"},     {"half", "f2"},     {"float32", "f4"},     {"single", "f4"},    {"float64", "f8"},
    {"float", "f8"},       {"double", "f8"},   {"longdouble", "f16"}, {"complex64", "c8"}, {"csingle", "c8"},
    {"complex128", "c16"}, {"complex", "c16"}, {"cdouble", "c16"},    {"object", "O"}};

// Returns the canonical descr, as NumPy writes it: "f8", "d", "float64" and "=f8" are "<f8".
std::string usual_descr(std::string_view descr) {
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  std::string code(descr.substr(has_order ? 1 : 0));
  const auto replace_by = [&](std::span<const DescrName> names) {
    for (const DescrName& n : names)
      if (code == n.name) return static_cast<void>(code = n.code);
  };
  if (code.size() == 1) replace_by(kLetters);
  else if (!has_order) replace_by(kNames);
  if (code.starts_with('a') && code.size() > 1) code[0] = 'S';
  const bool is_native = !has_order || descr[0] == '=' || descr[0] == '|';
  if (code.starts_with('V')) return (has_order ? descr[0] : '|') + code;  // '<V2' is bfloat16
  const bool has_bytes_only = code == "b1" || code == "i1" || code == "u1" || code == "O" || code.starts_with('S');
  if (has_bytes_only) return '|' + code;
  return (is_native ? (kNativeBigEndian ? '>' : '<') : descr[0]) + code;
}

// descr = byte order, kind, count: "<f4", "|b1", "<U12", "<M8[ns]", "|O".
ElementType parse_descr(const std::string& context, std::string_view in_file, std::string_view descr) {
  check<ValueError>(descr.size() >= 2, context, "descr '", in_file, "' is no element type");
  const char kind = descr[1];
  if (descr == "|O") return {std::nullopt, 0};
  std::uint64_t count = 0;
  const char* end = descr.data() + descr.size();
  const auto [rest, error] = std::from_chars(descr.data() + 2, end, count);
  const bool date = (kind == 'M' || kind == 'm') && (rest == end || *rest == '[');
  const bool fixed_size = std::string_view("biufcSUVMm").find(kind) != std::string_view::npos;
  check<ValueError>(fixed_size && error == std::errc() && (rest == end || date), context, "descr '", in_file,
                    "' is no element type");
  const std::uint64_t unit = kind == 'U' ? 4 : 1;
  check<ValueError>(count > 0 && count < (std::uint64_t(1) << 48), context, "descr '", in_file, "' has elements of ",
                    count, " units");
  return {dtype_of_code(kind, count, descr[0]), static_cast<std::size_t>(count * unit)};
}

std::string read_header_text(ByteSource& source) {
  unsigned char head[12];
  const std::size_t got = source.read(head, 8);
  const std::size_t magic = std::min(got, kMagic.size());
  check<ValueError>(std::memcmp(head, kMagic.data(), magic) == 0, source.context(), "is no npy data: its first ", magic,
                    " bytes are not npy's magic bytes");
  check<ValueError>(magic == kMagic.size(), source.context(), "is no npy data: it ends after ", got,
                    " of 6 magic bytes");
  check<ValueError>(got == 8, source.context(), "header ends after ", got, " of 10 bytes");
  check<ValueError>(head[6] >= 1 && head[6] <= 3 && head[7] == 0, source.context(), "npy version ", int(head[6]), '.',
                    int(head[7]), " is not one of 1.0, 2.0, 3.0");
  const std::size_t width = head[6] == 1 ? 2 : 4;
  const std::size_t more = source.read(head + 8, width);
  check<ValueError>(more == width, source.context(), "header ends after ", 8 + more, " of ", 8 + width, " bytes");
  const std::uint32_t length = little_endian(head + 8, static_cast<int>(width));
  const std::size_t total = 8 + width + length;
  check<ValueError>(length <= kMaxHeader, source.context(), "header of ", length, " bytes exceeds the limit of ",
                    kMaxHeader);
  const auto remaining = source.remaining();
  if (remaining && *remaining < length)
    fail<ValueError>(source.context(), "header ends after ", 8 + width + *remaining, " of ", total, " bytes");
  std::string text(length, '\0');
  const std::size_t n = source.read(text.data(), length);
  check<ValueError>(n == length, source.context(), "header ends after ", 8 + width + n, " of ", total, " bytes");
  return text;
}

void swap_bytes(std::byte* data, std::uint64_t bytes, std::size_t width) {
  for (std::byte* p = data; p < data + bytes; p += width) std::reverse(p, p + width);
}

// Returns the width of the units that are byte-swapped between byte orders; 1 if nothing is swapped.
std::size_t swap_width(const NpyHeader& h) {
  if (h.big_endian == kNativeBigEndian) return 1;
  const char kind = h.descr[1];
  if (kind == 'S' || kind == 'V') return 1;
  return kind == 'U' ? 4 : kind == 'c' ? h.itemsize / 2 : h.itemsize;
}

// Converts Fortran order to C order: fills `to` sequentially and advances the source position axis by axis, like an
// odometer.
void transpose(const std::byte* from, std::byte* to, const Shape& shape, std::size_t width) {
  const Strides step = f_strides(shape, width);
  Dims at = Dims::filled(shape.size(), 0);
  const int last = shape.size() - 1;
  for (std::int64_t left = size_of(shape); left > 0; left -= shape[last]) {
    const std::byte* p = from;
    for (int k = 0; k < last; ++k) p += at[k] * step[k];
    for (std::int64_t i = 0; i < shape[last]; ++i, to += width, p += step[last]) std::memcpy(to, p, width);
    for (int k = last - 1; k >= 0 && ++at[k] == shape[k]; --k) at[k] = 0;
  }
}

void read_exactly(ByteSource& source, void* to, std::uint64_t done, std::uint64_t n, std::uint64_t total) {
  const std::size_t got = source.read(to, static_cast<std::size_t>(n));
  check<ValueError>(got == n, source.context(), "data ends after ", done + got, " of ", total, " bytes");
}

void make_native(const NpyHeader& h, std::byte* data, std::uint64_t bytes) {
  const std::size_t width = swap_width(h);
  if (width > 1) swap_bytes(data, bytes, width);
  if (h.dtype == Dtype::bool_)  // a C++ bool with any other byte would be undefined
    for (std::uint64_t i = 0; i < bytes; ++i) data[i] = std::byte(data[i] != std::byte(0));
}

bool needs_transpose(const NpyHeader& h) { return h.fortran_order && h.shape.size() > 1 && h.size > 0; }

// Reads all data in the order of the file. If the length of the source is unknown, memory grows with the data.
std::vector<std::byte> read_raw(ByteSource& source, const NpyHeader& h) {
  const std::uint64_t total = h.data_bytes();
  std::vector<std::byte> data;
  if (source.remaining()) {
    data.resize(static_cast<std::size_t>(total));
    read_exactly(source, data.data(), 0, total, total);
    return data;
  }
  while (data.size() < total) {
    const std::uint64_t done = data.size();
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(total - done, std::max(kGrowth, data.size())));
    data.resize(data.size() + part);
    read_exactly(source, data.data() + done, done, part, total);
  }
  return data;
}

// Checks the size in the header against the source. Must be called directly after reading the header, so that
// remaining() counts from its end.
void check_claim(const ByteSource& source, const NpyHeader& h) {
  std::uint64_t bytes = 0;
  const bool fits =
      !__builtin_mul_overflow(h.size, static_cast<std::uint64_t>(h.itemsize), &bytes) && bytes <= INT64_MAX;
  check<ValueError>(fits, source.context(), "shape ", h.shape, " of ", h.itemsize,
                    "-byte elements does not fit 63 bits");
  const auto remaining = source.remaining();
  if (remaining && *remaining < bytes)
    fail<ValueError>(source.context(), "data ends after ", *remaining, " of ", bytes, " bytes");
}

// Of pickled objects, only None is accepted: dtype object, shape ().
void check_no_objects(const ByteSource& source, const NpyHeader& h) {
  if (h.is_object())
    check<ValueError>(h.shape.empty(), source.context(), "holds pickled Python objects of shape ", h.shape,
                      ", which are never executed");
}

// Reads the elements after the header, in C order.
NpyArray read_array(ByteSource& source, const NpyHeader& h) {
  NpyArray a{h.descr, h.dtype, h.itemsize, h.fortran_order, h.shape, {}};
  if (h.is_object()) return a;
  a.data = read_raw(source, h);
  if (needs_transpose(h)) {
    std::vector<std::byte> c_order(a.data.size());
    transpose(a.data.data(), c_order.data(), h.shape, h.itemsize);
    a.data = std::move(c_order);
  }
  make_native(h, a.data.data(), a.data.size());
  return a;
}

}  // namespace

NpyHeader read_npy_header(ByteSource& source) {
  const std::string text = read_header_text(source);
  NpyDictionary fields = parse_npy_dictionary(source.context(), text);
  NpyHeader h;
  h.descr = usual_descr(fields.descr);
  h.fortran_order = fields.fortran_order;
  h.shape = fields.shape;
  const ElementType element = parse_descr(source.context(), fields.descr, h.descr);
  h.dtype = element.dtype;
  h.itemsize = element.itemsize;
  h.big_endian = h.descr[0] == '>' || (h.descr[0] == '=' && kNativeBigEndian);
  try {
    h.size = static_cast<std::uint64_t>(checked_size(h.shape));
  } catch (const ValueError& e) {
    fail<ValueError>(source.context(), e.what());
  }
  check_claim(source, h);
  return h;
}

Dtype npy_dtype(const ByteSource& source, const NpyHeader& header) {
  if (header.is_object()) fail<ValueError>(source.context(), "holds pickled Python objects, which are never executed");
  check<ValueError>(header.dtype.has_value(), source.context(), "element type '", header.descr, "' is not supported");
  return *header.dtype;
}

void read_npy_data(ByteSource& source, const NpyHeader& header, void* to) {
  auto* data = static_cast<std::byte*>(to);
  if (needs_transpose(header)) {
    const std::vector<std::byte> raw = read_raw(source, header);
    transpose(raw.data(), data, header.shape, header.itemsize);
  } else if (header.size > 0) {
    read_exactly(source, data, 0, header.data_bytes(), header.data_bytes());
  }
  make_native(header, data, header.data_bytes());
}

NpyArray read_npy(ByteSource& source) {
  const NpyHeader h = read_npy_header(source);
  check_no_objects(source, h);
  return read_array(source, h);
}

// ---- NpyStream ----------------------------------------------------------------------------------
namespace {

class ArraySource final : public ByteSource {
 public:
  ArraySource(std::string context, std::vector<std::byte> bytes)
      : ByteSource(context), bytes_(std::move(bytes)), source_(std::move(context), bytes_) {}
  std::size_t read(void* to, std::size_t n) override { return source_.read(to, n); }
  std::optional<std::uint64_t> remaining() const override { return source_.remaining(); }

 private:
  const std::vector<std::byte> bytes_;
  MemorySource source_;
};

NpyHeader header_of(const NpyArray& a) {
  NpyHeader h;
  h.descr = a.descr;
  h.dtype = a.dtype;
  h.shape = a.shape;
  h.size = static_cast<std::uint64_t>(a.size());
  h.itemsize = h.size > 0 ? a.data.size() / h.size : a.itemsize;
  h.big_endian = kNativeBigEndian;
  return h;
}

}  // namespace

NpyStream::NpyStream(Owned<ByteSource> source) : header_(read_npy_header(*source)), source_(std::move(source)) {
  check_no_objects(*source_, header_);
}
NpyStream::NpyStream(NpyHeader header, Owned<ByteSource> source)
    : header_(std::move(header)), source_(std::move(source)) {
  check_claim(*source_, header_);
}
NpyStream::NpyStream(std::string context, NpyArray array) : header_(header_of(array)) {
  source_ = Owned<ByteSource>(new ArraySource(std::move(context), std::move(array.data)));
}

Shape NpyStream::shape_in_file() const {
  Shape shape = header_.shape;
  if (is_transposed()) std::reverse(shape.begin(), shape.end());
  return shape;
}

void NpyStream::read(void* to, std::size_t bytes) {
  const std::uint64_t total = header_.data_bytes();
  check<ValueError>(bytes <= total - done_ && (bytes == 0 || bytes % header_.itemsize == 0), source_->context(), bytes,
                    " bytes were asked for after ", done_, " of ", total);
  if (bytes == 0) return;
  read_exactly(*source_, to, done_, bytes, total);
  make_native(header_, static_cast<std::byte*>(to), bytes);
  done_ += bytes;
}

void NpyStream::finish() { finish_npy(*source_); }

NpyArray NpyStream::read_all() {
  check<ValueError>(done_ == 0, source_->context(), "read_all: ", done_, " bytes have been read before");
  NpyArray a = read_array(*source_, header_);
  done_ = header_.data_bytes();
  finish();
  return a;
}

// ---- text, and writing --------------------------------------------------------------------------
std::string npy_text(const NpyArray& array) {
  check<TypeError>(array.is_text() && array.shape.empty(), "npy_text", "elements '", array.descr, "' of shape ",
                   array.shape, " are not one text");
  const auto* bytes = reinterpret_cast<const char*>(array.data.data());
  if (array.descr[1] == 'S') {
    const std::string text(bytes, array.data.size());
    return text.substr(0, text.find_last_not_of('\0') + 1);
  }
  std::vector<char32_t> points(array.data.size() / 4);
  if (!points.empty()) std::memcpy(points.data(), bytes, points.size() * 4);
  while (!points.empty() && points.back() == 0) points.pop_back();
  return utf8_of(points);
}

std::string npy_header(std::string_view descr, const Shape& shape) {
  constexpr std::size_t kGrowthDigits = 21;  // NumPy reserves space for the first length to grow in place
  std::string text = concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }");
  if (!shape.empty()) text.append(kGrowthDigits - std::min(kGrowthDigits, std::to_string(shape[0]).size()), ' ');
  const std::size_t unpadded = kMagic.size() + 4 + text.size() + 1;
  text.append(kAlignment - unpadded % kAlignment,
              ' ');  // NumPy pads a header that is already aligned by another 64 bytes
  text += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

std::string_view npy_descr(Dtype dtype) {
  constexpr std::string_view descrs[] = {"|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8",
                                         "<u8", "<f2", "<f4", "<f8", "<V2", "<c8", "<c16"};
  return descrs[static_cast<std::size_t>(dtype)];
}

void write_npy(ByteSink& sink, Dtype dtype, const Shape& shape, std::span<const std::byte> c_order_bytes) {
  static_assert(!kNativeBigEndian, "the elements are written as they lie in memory");
  const auto bytes = static_cast<std::uint64_t>(checked_size(shape)) * itemsize(dtype);
  check<ValueError>(bytes == c_order_bytes.size(), "write_npy", "shape ", shape, " of ", dtype, " has ", bytes,
                    " bytes, given were ", c_order_bytes.size());
  const std::string header = npy_header(npy_descr(dtype), shape);
  sink.write(header.data(), header.size());
  if (bytes) sink.write(c_order_bytes.data(), c_order_bytes.size());
}

void write_npy_text(ByteSink& sink, std::string_view utf8) {
  std::vector<char32_t> points = code_points_of(utf8);
  if (points.empty()) points.push_back(0);  // the shortest text that NumPy stores has one code point
  const std::string header = npy_header(concat("<U", points.size()), {});
  sink.write(header.data(), header.size());
  sink.write(points.data(), points.size() * 4);
}

}  // namespace catena
