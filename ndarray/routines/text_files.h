// Tables of numbers in files of text, and arrays of raw bytes, as in NumPy. Numbers are read and written as in the C
// locale. IOError for files that cannot be read or written, ValueError for content of another form; messages name the
// file and the row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/ndarray/core/array.h>

namespace nd {

// One format for all elements, "%.3f", or one for each column: {"%d", "%.3f"}. See Array::tofile for formats.
struct Formats : std::vector<std::string> {
  Formats(const char* one) : vector{one} {}
  Formats(std::string one) : vector{std::move(one)} {}
  Formats(std::initializer_list<std::string> columns) : vector(columns) {}
};
struct SavetxtOptions {
  Formats fmt = "%.18e";
  std::string delimiter = " ";
  std::string newline = "\n";
  std::string header = {}, footer = {};  // lines before and after the table, each behind `comments`
  std::string comments = "# ";
};
// Writes an array of rank 1, one element in each line, or of rank 2, one row in each line. A complex number is written
// as (re+imj). Files are replaced at once, when they are complete. ValueError for another rank and for a number of
// formats that is not the number of columns; TypeError for a number that its format cannot write.
CATENA_EXPORT void savetxt(const std::string& path, const Array& x, const SavetxtOptions& options = {});
CATENA_EXPORT void savetxt(std::ostream& out, const Array& x, const SavetxtOptions& options = {});
inline void savetxt(const std::string& path, const Array& x, const char* fmt, const std::string& delimiter = " ") {
  savetxt(path, x, SavetxtOptions{.fmt = fmt, .delimiter = delimiter});
}

struct LoadtxtOptions {
  Dtype dtype = Dtype::float64;
  std::string comments = "#";              // the rest of a line behind it is left out; empty: nothing is
  std::string delimiter = {};              // empty: white space
  std::int64_t skiprows = 0;               // lines at the beginning that are not read
  std::vector<std::int64_t> usecols = {};  // default: all columns; negative ones count from the last
  bool unpack = false;                     // the transposed table: one row for each column of the file
  int ndmin = 0;                           // least rank of the result, at most 2
  std::optional<std::int64_t> max_rows = {};
};
// Reads a table. The result has rank 2; axes of length 1 are dropped down to the rank ndmin. Lines without numbers are
// left out. ValueError for a text that is no number of the dtype and for rows of different lengths.
CATENA_EXPORT Array loadtxt(const std::string& path, const LoadtxtOptions& options = {});
CATENA_EXPORT Array loadtxt(std::istream& in, const LoadtxtOptions& options = {});

struct GenfromtxtOptions {
  Dtype dtype = Dtype::float64;
  std::string comments = "#";
  std::string delimiter = {};                     // empty: white space
  std::int64_t skip_header = 0, skip_footer = 0;  // lines at the beginning and at the end
  std::vector<std::string> missing_values = {};   // texts that stand for no number, beside the empty one
  std::optional<Scalar> filling_values = {};      // instead of missing numbers; default: NaN, or -1 for integers
  std::vector<std::int64_t> usecols = {};
  bool unpack = false;
  std::optional<std::int64_t> max_rows = {};
};
// Reads a table in which numbers may be missing: an empty text between delimiters, a text of missing_values, or one
// that is no number. ValueError for rows of different lengths, with the first of them.
CATENA_EXPORT Array genfromtxt(const std::string& path, const GenfromtxtOptions& options = {});
CATENA_EXPORT Array genfromtxt(std::istream& in, const GenfromtxtOptions& options = {});

struct FromfileOptions {
  Dtype dtype = Dtype::float64;
  std::int64_t count = -1;  // number of elements; -1: all
  std::string sep = {};     // between numbers written as text; empty: the file has the bytes of the elements
  std::int64_t offset = 0;  // bytes before the first element; for files of bytes only
};
// Reads what Array::tofile writes, as an array of rank 1. ValueError for fewer than `count` elements, and for bytes
// that are no whole number of elements.
CATENA_EXPORT Array fromfile(const std::string& path, const FromfileOptions& options = {});
inline Array fromfile(const std::string& path, Dtype dtype, std::int64_t count = -1, const std::string& sep = {},
                      std::int64_t offset = 0) {
  return fromfile(path, FromfileOptions{.dtype = dtype, .count = count, .sep = sep, .offset = offset});
}
// The numbers of a text between separators; a separator of white space stands for any white space.
CATENA_EXPORT Array fromstring(std::string_view text, Dtype dtype = Dtype::float64, std::int64_t count = -1,
                               std::string_view sep = " ");
// A copy of bytes as elements. (nd::wrap makes arrays over memory without a copy.)
CATENA_EXPORT Array frombuffer(std::span<const std::byte> bytes, Dtype dtype = Dtype::float64, std::int64_t count = -1,
                               std::int64_t offset = 0);
inline Array frombuffer(std::string_view bytes, Dtype dtype = Dtype::float64, std::int64_t count = -1,
                        std::int64_t offset = 0) {
  return frombuffer(std::as_bytes(std::span(bytes)), dtype, count, offset);
}

}  // namespace nd
