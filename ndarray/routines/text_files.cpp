#include <catena/ndarray/routines/text_files.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/element_format.h>
#include <catena/ndarray/routines/manipulation.h>

namespace nd {

using catena::check;
using Complex = catena::complex128;
using catena::fail;

namespace {

// ---- writing ------------------------------------------------------------------------------------
std::string complex_text(const internal::ElementFormat& format, const Scalar& value) {
  const Complex z = value.to<Complex>();
  const std::string imaginary = format(z.im);
  return " (" + format(z.re) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "j)";
}

void write_lines(catena::ByteSink& sink, const std::string& text, const SavetxtOptions& o) {
  if (text.empty()) return;
  std::string lines = o.comments;
  for (const char c : text) lines += c == '\n' ? "\n" + o.comments : std::string(1, c);
  lines += o.newline;
  sink.write(lines.data(), lines.size());
}

void write_table(catena::ByteSink& sink, const Array& x, const SavetxtOptions& o) {
  const std::int64_t rows = x.shape(0), columns = x.ndim() == 2 ? x.shape(1) : 1;
  std::vector<internal::ElementFormat> formats;
  for (const std::string& format : o.fmt) formats.emplace_back("savetxt", format);
  const bool is_complex = catena::is_complex_dtype(x.dtype());
  write_lines(sink, o.header, o);
  visit_dtype(x.dtype(), [&](auto tag) {
    using E = typename decltype(tag)::type;
    const std::vector<E> values = x.to_vector<E>();
    std::string line;
    for (std::int64_t r = 0; r < rows; ++r) {
      line.clear();
      for (std::int64_t c = 0; c < columns; ++c) {
        if (c > 0) line += o.delimiter;
        const internal::ElementFormat& format = formats[formats.size() == 1 ? 0 : std::size_t(c)];
        const Scalar value(static_cast<E>(values[std::size_t(r * columns + c)]));
        line += is_complex ? complex_text(format, value) : format(value);
      }
      line += o.newline;
      sink.write(line.data(), line.size());
    }
  });
  write_lines(sink, o.footer, o);
}

void check_table(const Array& x, const SavetxtOptions& o) {
  check<TypeError>(!x.is_null(), "savetxt", "the array is null");
  check<ValueError>(x.ndim() == 1 || x.ndim() == 2, "savetxt", "an array of rank ", x.ndim(),
                    " is no table: rank 1 or 2 is needed");
  const std::int64_t columns = x.ndim() == 2 ? x.shape(1) : 1;
  check<ValueError>(o.fmt.size() == 1 || std::int64_t(o.fmt.size()) == columns, "savetxt", o.fmt.size(),
                    " formats were given for ", columns, " columns");
}

// ---- reading ------------------------------------------------------------------------------------
std::string content_of(catena::ByteSource& source) {
  std::string text;
  constexpr std::size_t kPiece = std::size_t(1) << 20;
  for (std::size_t read = kPiece; read == kPiece;) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    read = source.read(text.data() + before, kPiece);
    text.resize(before + read);
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && catena::is_ascii_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && catena::is_ascii_space(text.back())) text.remove_suffix(1);
  return text;
}

// Calls f(part) for the parts between delimiters, or between white space if there is no delimiter.
template <class F> void split(std::string_view line, std::string_view delimiter, F&& f) {
  if (delimiter.empty()) {
    for (std::size_t i = 0; i < line.size();) {
      if (catena::is_ascii_space(line[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < line.size() && !catena::is_ascii_space(line[end])) ++end;
      f(line.substr(i, end - i));
      i = end;
    }
    return;
  }
  for (;;) {
    const std::size_t end = line.find(delimiter);
    f(trimmed(line.substr(0, end)));
    if (end == line.npos) return;
    line.remove_prefix(end + delimiter.size());
  }
}

std::optional<double> parsed_real(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return catena::parse_real(text);
}
std::optional<Complex> parsed_complex(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  if (!text.ends_with('j')) {
    const std::optional<double> re = parsed_real(text);
    return re ? std::optional(Complex(*re, 0)) : std::nullopt;
  }
  text.remove_suffix(1);
  std::size_t sign = text.find_last_of("+-");
  while (sign != text.npos && sign > 0 && catena::ascii_lower(text[sign - 1]) == 'e')
    sign = text.find_last_of("+-", sign - 1);
  if (sign == text.npos || sign == 0) {
    const std::optional<double> im = parsed_real(text);
    return im ? std::optional(Complex(0, *im)) : std::nullopt;
  }
  const std::optional<double> re = parsed_real(text.substr(0, sign)), im = parsed_real(text.substr(sign));
  return re && im ? std::optional(Complex(*re, *im)) : std::nullopt;
}

std::optional<Scalar> parsed(std::string_view text, Dtype dtype) {
  if (catena::is_complex_dtype(dtype)) {
    const auto z = parsed_complex(text);
    return z ? std::optional(Scalar(*z)) : std::nullopt;
  }
  if (!catena::is_floating(dtype)) {
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto n = catena::parse_integer(digits);
    if (!n || (dtype != Dtype::bool_ && !Scalar(*n).fits(dtype))) return std::nullopt;
    return dtype == Dtype::bool_ ? Scalar(*n != 0) : Scalar(*n);
  }
  const auto x = parsed_real(text);
  return x ? std::optional(Scalar(*x)) : std::nullopt;
}

// The options of loadtxt and genfromtxt that the reader of tables needs.
struct TableOptions {
  std::string_view op;
  Dtype dtype;
  std::string_view comments, delimiter;
  std::int64_t skipped = 0, skipped_at_end = 0;
  const std::vector<std::int64_t>& columns;
  std::optional<std::int64_t> most;
  const std::vector<std::string>* missing = nullptr;  // null: every text must be a number
  Scalar filling = 0;
};

class Table {
 public:
  Table(const std::string& context, const TableOptions& o) : context_(context), o_(o) {
    item_ = catena::itemsize(o.dtype);
  }

  void read(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      lines.push_back(text.substr(0, end));
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    const std::int64_t last = std::int64_t(lines.size()) - o_.skipped_at_end;
    for (std::int64_t i = o_.skipped; i < last && (!o_.most || rows_ < *o_.most); ++i)
      add(lines[std::size_t(i)], i + 1);
  }

  Array array() const {
    const std::int64_t columns = std::max<std::int64_t>(columns_, 0);
    const Array table = empty({rows_, rows_ == 0 ? 0 : columns}, o_.dtype);
    if (table.size() > 0) internal::from_host(table, bytes_.data());
    return table;
  }
  std::int64_t rows() const { return rows_; }

 private:
  void add(std::string_view line, std::int64_t number) {
    if (!o_.comments.empty()) line = line.substr(0, line.find(o_.comments));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty()) return;
    parts_.clear();
    split(line, o_.delimiter, [&](std::string_view part) { parts_.push_back(part); });
    const auto found = std::int64_t(parts_.size());
    if (in_file_ < 0) in_file_ = found;
    check<ValueError>(found == in_file_ || !o_.columns.empty(), context_, "line ", number, " has ", found,
                      " columns, the lines before have ", in_file_,
                      "; `usecols` takes some columns of lines of different lengths");
    if (o_.columns.empty()) {
      for (std::int64_t c = 0; c < found; ++c) store(parts_[std::size_t(c)], number, c);
      columns_ = found;
    } else {
      for (const std::int64_t wanted : o_.columns) {
        const std::int64_t c = wanted < 0 ? wanted + found : wanted;
        check<ValueError>(c >= 0 && c < found, context_, "line ", number, " has ", found, " columns, and no column ",
                          wanted);
        store(parts_[std::size_t(c)], number, c);
      }
      columns_ = std::int64_t(o_.columns.size());
    }
    ++rows_;
  }

  void store(std::string_view part, std::int64_t line, std::int64_t column) {
    std::optional<Scalar> value;
    const bool absent = o_.missing != nullptr &&
                        (part.empty() || std::find(o_.missing->begin(), o_.missing->end(), part) != o_.missing->end());
    if (!absent) value = parsed(part, o_.dtype);
    if (!value) {
      check<ValueError>(o_.missing != nullptr, context_, "'", catena::printable(part), "' in line ", line, ", column ",
                        column, " is no number of the dtype ", o_.dtype);
      value = o_.filling;
    }
    const std::size_t at = bytes_.size();
    bytes_.resize(at + item_);
    value->store(o_.dtype, bytes_.data() + at);
  }

  const std::string context_;
  const TableOptions& o_;
  std::size_t item_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::string_view> parts_;
  std::int64_t rows_ = 0, columns_ = -1, in_file_ = -1;
};

Array in_rank(Array table, int ndmin, bool unpack) {
  if (table.size() == 0) table = table.reshape({0});
  else if (ndmin < 2) table = table.squeeze();
  if (ndmin == 1 && table.ndim() == 0) table = table.reshape({1});
  if (ndmin == 2 && table.ndim() < 2) table = table.reshape({-1, 1});
  return unpack && table.ndim() == 2 ? table.T() : table;
}

Array read_table(catena::ByteSource& source, const TableOptions& o, int ndmin, bool unpack) {
  check<ValueError>(ndmin >= 0 && ndmin <= 2, o.op, "ndmin is ", ndmin, "; 0, 1 or 2 is needed");
  check<ValueError>(o.skipped >= 0 && o.skipped_at_end >= 0 && o.most.value_or(0) >= 0, o.op,
                    "numbers of lines cannot be negative");
  Table table(source.context(), o);
  table.read(content_of(source));
  if (table.rows() == 0) catena::warn("UserWarning", source.context() + ": there are no numbers");
  return in_rank(table.array(), ndmin, unpack);
}

Array load_text(catena::ByteSource& source, const LoadtxtOptions& o) {
  return read_table(source,
                    {.op = "loadtxt",
                     .dtype = o.dtype,
                     .comments = o.comments,
                     .delimiter = o.delimiter,
                     .skipped = o.skiprows,
                     .columns = o.usecols,
                     .most = o.max_rows},
                    o.ndmin, o.unpack);
}

Array generate_from_text(catena::ByteSource& source, const GenfromtxtOptions& o) {
  const bool real = catena::is_floating(o.dtype) || catena::is_complex_dtype(o.dtype);
  const Scalar nothing = real                      ? Scalar(std::numeric_limits<double>::quiet_NaN())
                         : o.dtype == Dtype::bool_ ? Scalar(false)
                                                   : Scalar(-1);
  return read_table(source,
                    {.op = "genfromtxt",
                     .dtype = o.dtype,
                     .comments = o.comments,
                     .delimiter = o.delimiter,
                     .skipped = o.skip_header,
                     .skipped_at_end = o.skip_footer,
                     .columns = o.usecols,
                     .most = o.max_rows,
                     .missing = &o.missing_values,
                     .filling = o.filling_values.value_or(nothing)},
                    0, o.unpack);
}

Array numbers_of(const std::string& context, std::string_view text, Dtype dtype, std::int64_t count,
                 std::string_view sep) {
  check<ValueError>(!sep.empty(), context, "the separator of numbers is empty");
  const bool white = trimmed(sep).empty();
  std::vector<std::byte> bytes;
  std::int64_t n = 0;
  split(text, white ? std::string_view() : trimmed(sep), [&](std::string_view part) {
    if (count >= 0 && n == count) return;
    if (part.empty() && !white && n > 0) return;  // behind the last separator
    const std::optional<Scalar> value = parsed(part, dtype);
    check<ValueError>(value.has_value(), context, "'", catena::printable(part), "' is no number of the dtype ", dtype);
    bytes.resize(bytes.size() + catena::itemsize(dtype));
    value->store(dtype, bytes.data() + bytes.size() - catena::itemsize(dtype));
    ++n;
  });
  check<ValueError>(count < 0 || n == count, context, "there are ", n, " numbers, fewer than ", count);
  const Array result = empty({n}, dtype);
  if (n > 0) internal::from_host(result, bytes.data());
  return result;
}

Array elements_of(const std::string& context, std::span<const std::byte> bytes, Dtype dtype, std::int64_t count,
                  std::int64_t offset) {
  const auto item = std::int64_t(catena::itemsize(dtype)), size = std::int64_t(bytes.size());
  check<ValueError>(offset >= 0 && offset <= size, context, "the offset ", offset, " is not within the ", size,
                    " bytes");
  const std::int64_t most = (size - offset) / item, n = count < 0 ? most : count;
  check<ValueError>(count >= 0 || (size - offset) % item == 0, context, size - offset,
                    " bytes are no whole number of elements of ", item, " bytes");
  check<ValueError>(n <= most, context, "there are ", most, " elements, fewer than ", n);
  const Array result = empty({n}, dtype);
  if (n > 0) internal::from_host(result, bytes.data() + offset);
  return result;
}

}  // namespace

void savetxt(const std::string& path, const Array& x, const SavetxtOptions& options) try {
  check_table(x, options);
  catena::AtomicFile file("savetxt", path);
  write_table(file, x, options);
  file.commit();
} catch (...) {
  internal::rethrow_out_of_memory("savetxt");
}
void savetxt(std::ostream& out, const Array& x, const SavetxtOptions& options) try {
  check_table(x, options);
  catena::StreamSink sink(catena::io_context("savetxt", "stream"), out);
  write_table(sink, x, options);
} catch (...) {
  internal::rethrow_out_of_memory("savetxt");
}

Array loadtxt(const std::string& path, const LoadtxtOptions& options) try {
  catena::FileSource file("loadtxt", path);
  return load_text(file, options);
} catch (...) {
  internal::rethrow_out_of_memory("loadtxt");
}
Array loadtxt(std::istream& in, const LoadtxtOptions& options) try {
  catena::StreamSource source(catena::io_context("loadtxt", "stream"), in);
  return load_text(source, options);
} catch (...) {
  internal::rethrow_out_of_memory("loadtxt");
}

Array genfromtxt(const std::string& path, const GenfromtxtOptions& options) try {
  catena::FileSource file("genfromtxt", path);
  return generate_from_text(file, options);
} catch (...) {
  internal::rethrow_out_of_memory("genfromtxt");
}
Array genfromtxt(std::istream& in, const GenfromtxtOptions& options) try {
  catena::StreamSource source(catena::io_context("genfromtxt", "stream"), in);
  return generate_from_text(source, options);
} catch (...) {
  internal::rethrow_out_of_memory("genfromtxt");
}

Array fromfile(const std::string& path, const FromfileOptions& o) try {
  catena::FileSource file("fromfile", path);
  const std::string content = content_of(file);
  if (o.sep.empty()) return elements_of(file.context(), std::as_bytes(std::span(content)), o.dtype, o.count, o.offset);
  check<TypeError>(o.offset == 0, file.context(), "an offset of ", o.offset, " bytes is possible without `sep` only");
  return numbers_of(file.context(), content, o.dtype, o.count, o.sep);
} catch (...) {
  internal::rethrow_out_of_memory("fromfile");
}

Array fromstring(std::string_view text, Dtype dtype, std::int64_t count, std::string_view sep) try {
  return numbers_of("fromstring", text, dtype, count, sep);
} catch (...) {
  internal::rethrow_out_of_memory("fromstring");
}

Array frombuffer(std::span<const std::byte> bytes, Dtype dtype, std::int64_t count, std::int64_t offset) try {
  return elements_of("frombuffer", bytes, dtype, count, offset);
} catch (...) {
  internal::rethrow_out_of_memory("frombuffer");
}

}  // namespace nd
