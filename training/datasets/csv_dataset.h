// A dataset of the rows of a table of text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catena/training/dataset.h>

namespace training {

struct CsvOptions {
  std::string target = {};                // the column of the label; empty: examples are only features
  std::vector<std::string> columns = {};  // of the features, in this order; empty: all but the target
  char delimiter = ',';
  bool header = true;  // the first row has the names of the columns; false: they are "0", "1", ...
  autograd::Dtype dtype = autograd::Dtype::float32;  // of the features
  // Of the target. Empty: int32 if all its cells are integers or some are texts, else the dtype of the features.
  std::optional<autograd::Dtype> target_dtype = {};
  std::optional<double> missing = {};  // value of empty cells of features; empty: they are errors
};

// Example i is the features of row i, an array (columns), or a tuple of them and the target, a 0-d array. Cells are
// numbers; targets that are not get the numbers of their texts, which are sorted: classes(). The file is read and kept
// in memory as arrays.
//
//   training::CsvDataset iris("iris.csv", {.target = "species"});
//
// Cells are separated as in RFC 4180: a cell in double quotes may contain delimiters, line ends and, written twice,
// quotes. Spaces around unquoted cells do not count, nor do empty lines. IOError if the file cannot be read.
// ValueError, with file, line and column, for a row of another length, a feature that is no number, an integer target
// that its dtype does not hold and an unfinished quote, and for a name of several columns; KeyError, with the names
// that there are, for a column that is not there.
class CATENA_EXPORT CsvDataset : public DatasetMixin {
 public:
  explicit CsvDataset(const std::string& path, const CsvOptions& options = {});
  std::int64_t size() const override { return data_->size(); }
  Example get_example(std::int64_t i) const override { return data_->get_example(i); }
  std::optional<Example> get_batch(std::span<const std::int64_t> indices) const override {
    return data_->get_batch(indices);
  }
  const std::vector<std::string>& columns() const noexcept { return columns_; }  // names of the features
  const std::vector<std::string>& classes() const noexcept { return classes_; }  // texts of the target, by number

 private:
  std::vector<std::string> columns_, classes_;
  DatasetPtr data_;
};

}  // namespace training
