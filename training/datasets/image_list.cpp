#include <catena/training/datasets/image_list.h>

#include <fstream>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace training::datasets::internal {

using catena::check;
using catena::ValueError;

namespace {

// Returns the columns of each line, separated by white space, or, if `whole_lines`, each line without surrounding white
// space.
std::vector<std::vector<std::string>> read_list(const char* op, const std::string& path, bool whole_lines) {
  catena::reserve_standard_descriptors();
  std::ifstream file(path);
  check<catena::IOError>(file.is_open(), op, "cannot open the list \"", path, '"');
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string>& columns = lines.emplace_back();
    if (whole_lines) {
      constexpr const char* kSpace = " \t\r\n\v\f";
      const std::size_t first = line.find_first_not_of(kSpace);
      if (first != line.npos) columns.push_back(line.substr(first, line.find_last_not_of(kSpace) + 1 - first));
    } else {
      columns = catena::words_of(line);
    }
  }
  check<catena::IOError>(file.eof(), op, "cannot read the list \"", path, '"');
  return lines;
}

}  // namespace

std::vector<std::string> read_paths(const char* op, const std::string& list_file) {
  std::vector<std::string> paths;
  for (const auto& columns : read_list(op, list_file, true)) {
    check<ValueError>(!columns.empty(), op, "line ", paths.size() + 1, " of \"", list_file,
                      "\" is empty; a path is needed");
    paths.push_back(columns[0]);
  }
  return paths;
}

std::vector<std::pair<std::string, std::int64_t>> read_pairs(const char* op, const std::string& list_file) {
  std::vector<std::pair<std::string, std::int64_t>> pairs;
  for (const auto& columns : read_list(op, list_file, false)) {
    check<ValueError>(columns.size() == 2, op, "line ", pairs.size() + 1, " of \"", list_file, "\" has ",
                      columns.size(), " columns; a path and a label are needed");
    const std::optional<std::int64_t> label = catena::parse_integer(columns[1]);
    check<ValueError>(label.has_value(), op, "line ", pairs.size() + 1, " of \"", list_file, "\" has the label \"",
                      columns[1], "\"; an integer is needed");
    pairs.emplace_back(columns[0], *label);
  }
  return pairs;
}

Example labeled(Array image, std::int64_t label, autograd::Dtype label_dtype) {
  const Array number = autograd::from_host(&label, {}, autograd::Dtype::int64, Device{});
  return std::vector<Array>{std::move(image), autograd::astype(number, label_dtype)};
}

}  // namespace training::datasets::internal
