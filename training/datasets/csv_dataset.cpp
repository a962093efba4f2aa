#include <catena/training/datasets/csv_dataset.h>

#include <algorithm>
#include <cmath>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/kernels/formats/byte_stream.h>

namespace training {

using autograd::Dtype;
using catena::check;
using catena::ValueError;

namespace {

struct Row {
  std::int64_t line;  // in the file, from 1
  std::vector<std::string> cells;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string() : text.substr(first, last + 1 - first);
}

std::string list_of(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// Reads the rows of a table, cell by cell (RFC 4180).
class Reader {
 public:
  Reader(std::string_view text, char delimiter, const std::string& context)
      : text_(text), delimiter_(delimiter), context_(context) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // the byte order mark of UTF-8
  }
  // Returns false at the end. Empty lines are passed over.
  bool next(Row& row) {
    do {
      if (at_ >= text_.size()) return false;
      row = {line_, {}};
      bool more = true;
      while (more) more = read_cell(row);
    } while (row.cells.size() == 1 && row.cells[0].empty());
    return true;
  }

 private:
  bool at_line_end() const { return at_ >= text_.size() || text_[at_] == '\n'; }
  // Reads a cell with the delimiter or line end behind it. Returns whether the row goes on.
  bool read_cell(Row& row) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t') && text_[at_] != delimiter_) ++at_;
    std::string cell;
    if (at_ < text_.size() && text_[at_] == '"') {
      cell = read_quoted(row);
      while (!at_line_end() && text_[at_] != delimiter_) {
        check<ValueError>(catena::is_ascii_space(text_[at_]), context_, "line ", line_,
                          ": text follows the quotes of cell ", row.cells.size() + 1);
        ++at_;
      }
    } else {
      while (!at_line_end() && text_[at_] != delimiter_) cell += text_[at_++];
      if (at_line_end() && cell.ends_with('\r')) cell.pop_back();
      cell = trimmed(cell);
    }
    row.cells.push_back(std::move(cell));
    const bool goes_on = !at_line_end();
    if (!goes_on) ++line_;
    ++at_;
    return goes_on;
  }
  std::string read_quoted(const Row& row) {
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') {
          ++at_;
          return cell;
        }
        ++at_;
      }
      if (text_[at_] == '\n') ++line_;
      cell += text_[at_];
    }
    catena::fail<ValueError>(context_, "line ", row.line, ": the quotes of cell ", row.cells.size() + 1, " do not end");
  }

  std::string_view text_;
  char delimiter_;
  const std::string& context_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

// The rows of a file, all of one length, and the names of its columns.
struct Table {
  std::string context;
  std::vector<std::string> names;
  std::vector<Row> rows;

  Table(const std::string& path, const CsvOptions& options) : context(catena::io_context("CsvDataset", path)) {
    const std::string text = catena::read_file("CsvDataset", path);
    Reader reader(text, options.delimiter, context);
    Row row;
    for (bool first = true; reader.next(row); first = false) {
      if (first)
        for (std::size_t i = 0; i < row.cells.size(); ++i)
          names.push_back(options.header ? row.cells[i] : std::to_string(i));
      if (first && options.header) continue;
      check<ValueError>(row.cells.size() == names.size(), context, "line ", row.line, " has ", row.cells.size(),
                        " cells, not ", names.size());
      rows.push_back(std::move(row));
    }
  }
  std::size_t column(const std::string& name) const {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      catena::fail<catena::KeyError>(context, "there is no column \"", name, "\" (there is: ", list_of(names), ")");
    if (std::find(found + 1, names.end(), name) != names.end())
      catena::fail<ValueError>(context, "several columns have the name \"", name, "\" (there is: ", list_of(names),
                               "); rename them");
    return std::size_t(found - names.begin());
  }
  double number(std::size_t row, std::size_t column, const std::optional<double>& missing) const {
    const std::string& cell = rows[row].cells[column];
    if (cell.empty() && missing) return *missing;
    const std::optional<double> value = catena::parse_real(cell);
    check<ValueError>(value.has_value(), context, "line ", rows[row].line, ", column \"", names[column], "\": \"", cell,
                      "\" is no number", cell.empty() ? "; `missing` gives empty cells a value" : "");
    return *value;
  }
};

Array features(const Table& table, const std::vector<std::string>& columns, const CsvOptions& options) {
  std::vector<double> values;
  std::vector<std::size_t> places;
  for (const std::string& name : columns) places.push_back(table.column(name));
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (const std::size_t column : places) values.push_back(table.number(row, column, options.missing));
  const autograd::Shape shape{std::int64_t(table.rows.size()), std::int64_t(columns.size())};
  return autograd::astype(autograd::array(values, shape, Device{}), options.dtype);
}

// Returns the numbers of a column of integers. ValueError for one that the dtype does not hold.
Array integers_of(const Table& table, std::size_t column, Dtype dtype) {
  std::vector<std::int64_t> values;
  for (const Row& row : table.rows) values.push_back(*catena::parse_integer(row.cells[column]));
  const Array result = autograd::astype(autograd::array(values, {std::int64_t(values.size())}, Device{}), dtype);
  if (!catena::is_integer(dtype)) return result;
  const std::vector<std::int64_t> held = autograd::to_vector<std::int64_t>(result);
  const bool is_signed = catena::kind_of(dtype) == catena::DtypeKind::signed_;  // -1 as uint64 reads back as -1
  for (std::size_t i = 0; i < values.size(); ++i)
    check<ValueError>(held[i] == values[i] && (values[i] >= 0 || is_signed), table.context, "line ", table.rows[i].line,
                      ", column \"", table.names[column], "\": ", values[i], " does not fit ", dtype,
                      "; set target_dtype");
  return result;
}

// Returns the target of each row; `classes` gets their texts unless they are numbers.
Array targets(const Table& table, const CsvOptions& options, std::vector<std::string>& classes) {
  const std::size_t column = table.column(options.target);
  bool integers = true, reals = true;
  for (const Row& row : table.rows) {
    check<ValueError>(!row.cells[column].empty(), table.context, "line ", row.line, ", column \"", options.target,
                      "\": the target is empty");
    integers = integers && catena::parse_integer(row.cells[column]);
    reals = reals && catena::parse_real(row.cells[column]);
    classes.push_back(row.cells[column]);
  }
  const Dtype dtype = options.target_dtype.value_or(integers || !reals ? Dtype::int32 : options.dtype);
  if (integers) {
    classes.clear();
    return integers_of(table, column, dtype);
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  std::vector<double> values;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto place = std::lower_bound(classes.begin(), classes.end(), table.rows[row].cells[column]);
    values.push_back(reals ? table.number(row, column, {}) : double(place - classes.begin()));
  }
  if (reals) classes.clear();
  return autograd::astype(autograd::array(values, {std::int64_t(values.size())}, Device{}), dtype);
}

}  // namespace

CsvDataset::CsvDataset(const std::string& path, const CsvOptions& options) : columns_(options.columns) {
  const Table table(path, options);
  if (columns_.empty())
    for (const std::string& name : table.names)
      if (name != options.target) columns_.push_back(name);
  const Array x = features(table, columns_, options);
  if (options.target.empty()) data_ = catena::Shared<ArrayDataset>::make(x);
  else data_ = catena::Shared<TupleDataset>::make(std::vector<Array>{x, targets(table, options, classes_)});
}

}  // namespace training
