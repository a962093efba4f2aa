#include <catena/tests/support/golden.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

namespace test {
namespace {

namespace fs = std::filesystem;

std::string content_of(std::istream& in) { return {std::istreambuf_iterator<char>(in), {}}; }

// Returns the text of a header without its comments.
std::string code_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text = content_of(in);
  std::string code;
  for (std::size_t i = 0; i < text.size();) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
    } else {
      code += text[i++];
    }
  }
  return code;
}

struct Header {
  std::string path, code;
};
const std::vector<Header>& public_headers() {
  static const std::vector<Header> all = [] {
    std::vector<Header> list;
    for (const char* library : {"kernels/lists", "ndarray/routines", "autograd", "nn", "training"})
      for (const auto& entry : fs::recursive_directory_iterator(source_folder() / library))
        if (entry.path().extension() == ".h" || entry.path().extension() == ".inc")
          list.push_back({fs::relative(entry.path(), source_folder()).generic_string(), code_of(entry.path())});
    return list;
  }();
  return all;
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Returns the position after white space.
std::size_t behind_space(const std::string& code, std::size_t at) {
  while (at < code.size() && std::isspace(static_cast<unsigned char>(code[at]))) ++at;
  return at;
}

bool word_at(const std::string& code, const std::string& word, std::size_t at) {
  return code.compare(at, word.size(), word) == 0 && (at == 0 || !is_word_char(code[at - 1])) &&
         (at + word.size() >= code.size() || !is_word_char(code[at + word.size()]));
}

// True if `word` occurs somewhere as a whole word and test(its position, the position after it) returns true there.
template <class F> bool any_word(const std::string& code, const std::string& word, F&& test) {
  for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1))
    if (word_at(code, word, at) && test(at, at + word.size())) return true;
  return false;
}
bool is_word(const std::string& code, const std::string& word) {
  return any_word(code, word, [](std::size_t, std::size_t) { return true; });
}

// True for CATENA_UNARY(name), CATENA_BINARY(name) and CATENA_REDUCTION(name, ...).
bool is_public_kernel(const std::string& code, const std::string& name) {
  return any_word(code, name, [&](std::size_t at, std::size_t) {
    const std::string before = code.substr(0, at);
    return before.ends_with("CATENA_UNARY(") || before.ends_with("CATENA_BINARY(") ||
           before.ends_with("CATENA_REDUCTION(");
  });
}

// True for a class, struct or using, exported or not.
bool is_type(const std::string& code, const std::string& name) {
  for (const char* kind : {"class", "struct", "using"})
    if (any_word(code, kind, [&](std::size_t, std::size_t end) {
          std::size_t at = behind_space(code, end);
          if (at > end && word_at(code, "CATENA_EXPORT", at)) at = behind_space(code, end = at + 13);
          return at > end && word_at(code, name, at);
        }))
      return true;
  return false;
}

// True for a function with Variables among its parameters, a line of a list of such functions, or a
// using of one.
bool is_function_of_variables(const std::string& code, const std::string& name) {
  return any_word(code, name, [&](std::size_t at, std::size_t end) {
    const std::size_t open = behind_space(code, end);
    if (code.compare(open, 1, "(") == 0) {
      const std::string parameters = code.substr(open, code.find_first_of(";{", open) - open);
      if (is_word(parameters, "Variable") || is_word(parameters, "Variables")) return true;
    }
    if (at >= 2 && code.compare(at - 2, 2, "::") == 0 && code.compare(end, 1, ";") == 0) return true;
    const std::string before = code.substr(0, at);
    return before.ends_with("CATENA_REDUCTION_RULE(");
  });
}

// Functions of the framework share names with functions on arrays (copy, where), so they count as declared only if they
// have parameters that are Variables. The other names on the list are unique.
bool declares(const Header& header, const NotRun& line, const std::string& name) {
  const bool of_ndarray = line.group.starts_with("nd_");
  if (header.path.starts_with("kernels/"))  // the lists of kernels from which functions of ndarray are made
    return of_ndarray && is_public_kernel(header.code, name);
  if (of_ndarray != header.path.starts_with("ndarray/")) return false;
  if (line.group == "links" || line.group == "initializers")  // a link Parameter would not be nn::Parameter
    return header.path.starts_with("nn/links/") && is_type(header.code, name);
  // Among the headers outside the folders of functions, variable.h is excluded: it has members of the same names.
  const bool beside = fs::path(header.path).parent_path() == "autograd" && header.path != "autograd/variable.h";
  const bool of_functions = header.path.find("/functions/") != std::string::npos || beside;
  if (of_functions && line.group != "triggers") return is_function_of_variables(header.code, name);
  const bool of_a_class =
      line.group == "triggers" || line.group == "computational_graph" || line.group == "serializers/index";
  return (of_ndarray || of_a_class) && is_word(header.code, name);
}

}  // namespace

fs::path source_folder() {
  const char* folder = std::getenv("CATENA_TEST_SOURCE_DIR");
  return folder ? fs::path(folder) : fs::path(__FILE__).parent_path().parent_path().parent_path();
}

Golden Golden::read(std::string_view group, const fs::path& file) {
  std::ifstream in(file);
  catena::check<catena::IOError>(in.good(), "Golden", "there are no reference values \"", group, "\": ", file.string(),
                                 " is missing");
  Golden golden;
  golden.group_ = group;
  golden.folder_ = file.parent_path();
  golden.json_ = std::make_shared<const Json>(Json::parse(content_of(in)));
  auto arrays = file;
  arrays.replace_extension(".npz");
  if (fs::exists(arrays)) golden.npz_ = std::make_shared<const catena::NpzReader>("Golden", arrays.string());
  return golden;
}

Golden Golden::open(std::string_view group) {
  return read(group, source_folder() / "tests/golden" / (std::string(group) + ".json"));
}

std::optional<Golden> Golden::open_shared(std::string_view group) {
  const fs::path file = source_folder().parent_path() / "shared/golden" / (std::string(group) + ".json");
  if (fs::exists(file)) return read(group, file);
  std::cout << "skipped: \"" << group << "\", which is read from " << file.string() << " only\n";
  return std::nullopt;
}

catena::NpyArray Golden::array(const std::string& key) const {
  catena::check<catena::KeyError>(npz_ != nullptr, "Golden", "the group has no arrays, asked was for \"", key, '"');
  return npz_->read(key);
}

void Golden::for_each(const std::function<std::string(const Json&)>& run) const {
  std::map<std::string, int> lacking, listed;
  std::size_t not_run = 0;
  for (const auto& c : cases())
    if (const std::string lacks = run(c); !lacks.empty()) {
      ++lacking[lacks];
      ++not_run;
    }
  for (const NotRun& line : cases_not_run())
    if (line.group == group_) listed[line.lacks] += line.cases;
  std::ostringstream summary;
  summary << "golden " << group_ << ": " << cases().size() << " cases, " << not_run << " of them not run";
  for (const auto& [lacks, n] : lacking)
    summary << (lacks == lacking.begin()->first ? " for want of " : ", ") << lacks << " (" << n << ")";
  std::cout << summary.str() << std::endl;
  for (const auto& [lacks, n] : lacking)
    BOOST_CHECK_MESSAGE(listed[lacks] == n, "golden " << group_ << ": " << n << " cases are not run for want of "
                                                      << lacks << "; tests/golden/not_run.json has " << listed[lacks]);
  for (const auto& [lacks, n] : listed)
    BOOST_CHECK_MESSAGE(lacking.contains(lacks), "golden " << group_ << ": all cases of " << lacks
                                                           << " are run; tests/golden/not_run.json has " << n);
  BOOST_CHECK_MESSAGE(not_run < cases().size(), "golden " << group_ << ": no case is run");
}

std::vector<NotRun> cases_not_run() {
  std::ifstream in(source_folder() / "tests/golden/not_run.json");
  catena::check<catena::IOError>(in.good(), "cases_not_run", "tests/golden/not_run.json is missing");
  std::vector<NotRun> list;
  const Json lines = Json::parse(content_of(in));
  for (const Json& line : lines) list.push_back({line["group"], line["lacks"], line["cases"], line["reason"]});
  return list;
}

std::string declaration_of(const NotRun& line) {
  const std::size_t space = line.lacks.find(' ');
  std::string name = line.lacks.substr(0, space);
  name = name.substr(name.rfind('.') + 1);  // linalg.svd
  const std::string option = space == std::string::npos ? "" : line.lacks.substr(space + 1);
  for (const Header& header : public_headers())
    if (declares(header, line, name) && (option.empty() || is_word(header.code, option))) return header.path;
  return {};
}

bool close(double actual, double expected, double atol, double rtol) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::abs(actual - expected) <= atol + rtol * std::abs(expected);
}

}  // namespace test
