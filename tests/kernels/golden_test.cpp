// The reference values themselves: no group and no case can be left out without a line of tests/golden/not_run.json,
// and no line of it outlives what the library lacks.
#include <catena/tests/support/golden.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The sources of all tests but this one, without white space.
std::string sources() {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(test::source_folder() / "tests"))
    if (entry.path().extension() == ".cpp" && entry.path().filename() != "golden_test.cpp")
      all += content_of(entry.path());
  all.erase(std::remove_if(all.begin(), all.end(), [](unsigned char c) { return std::isspace(c); }), all.end());
  return all;
}

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(a_missing_group_is_an_error) {
  BOOST_CHECK_EXCEPTION(test::Golden::open("no_such_group"), catena::IOError, [](const catena::IOError& e) {
    const std::string text = e.what();
    return text.starts_with("Golden: there are no reference values \"no_such_group\": ") &&
           text.ends_with("tests/golden/no_such_group.json is missing");
  });
  // Values that are only in shared/golden may be absent, and a line says so.
  std::ostringstream said;
  std::streambuf* const before = std::cout.rdbuf(said.rdbuf());
  const bool found = test::Golden::open_shared("no_such_group").has_value();
  std::cout.rdbuf(before);
  BOOST_TEST(!found);
  BOOST_TEST(said.str().starts_with("skipped: \"no_such_group\", which is read from "), said.str());
}

// A group is opened by a test, or the list has all its cases.
BOOST_AUTO_TEST_CASE(every_group_is_run_or_on_the_list) {
  const std::string text = sources();
  std::map<std::string, int> on_the_list;
  for (const test::NotRun& line : test::cases_not_run()) on_the_list[line.group] += line.cases;
  int groups = 0;
  for (const auto& entry : fs::directory_iterator(test::source_folder() / "tests/golden")) {
    const std::string name = entry.path().stem().string();
    const std::string group = entry.is_directory() ? name + "/index" : name;
    if (entry.path().extension() == ".npz")
      BOOST_TEST(fs::exists(fs::path(entry.path()).replace_extension(".json")), name << " has arrays and no cases");
    if ((!entry.is_directory() && entry.path().extension() != ".json") || name == "not_run") continue;
    if (entry.is_directory() && !fs::exists(entry.path() / "index.json")) {  // files without a list of cases
      BOOST_TEST(text.find("tests/golden/" + name + '"') != std::string::npos, name << ": no test reads the folder");
      continue;
    }
    ++groups;
    const std::string argument = "(\"" + group + "\"";
    if (text.find("Golden::open" + argument) != std::string::npos) continue;
    if (text.find("run_golden" + argument) != std::string::npos) continue;
    BOOST_TEST(std::size_t(on_the_list[group]) == test::Golden::open(group).cases().size(),
               group << ": no test opens the group, and the list has " << on_the_list[group] << " of its cases");
  }
  BOOST_TEST(groups == 53);
}

BOOST_AUTO_TEST_CASE(lines_of_the_list) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const test::NotRun& line : test::cases_not_run()) BOOST_TEST_CONTEXT(line.group << ": " << line.lacks) {
      BOOST_CHECK_NO_THROW(test::Golden::open(line.group));
      BOOST_TEST(line.cases > 0);
      BOOST_TEST(!line.reason.empty());
      BOOST_TEST(seen.emplace(line.group, line.lacks).second, "twice");
      const std::string header = test::declaration_of(line);
      BOOST_TEST(header.empty(), "it is declared in " << header << ": run its cases");
    }
  BOOST_TEST(seen.size() == test::cases_not_run().size());
}

// The search would find what is there.
BOOST_AUTO_TEST_CASE(declarations_are_found) {
  const auto found = [](const char* group, const char* lacks) { return test::declaration_of({group, lacks, 1, ""}); };
  BOOST_TEST(found("activation", "relu") == "nn/functions/activation.h");
  BOOST_TEST(found("activation", "sigmoid") != "");  // in a list and by a using-declaration
  BOOST_TEST(found("math", "arcsin") == "autograd/functions/math.h");
  BOOST_TEST(found("math", "logsumexp keepdims") == "autograd/functions/reduction.h");
  BOOST_TEST(found("math", "mean") == "autograd/reductions.inc");
  BOOST_TEST(found("array", "rollaxis start") == "autograd/functions/array.h");
  BOOST_TEST(found("operators", "forget") == "autograd/forget.h");  // beside the folders of functions
  BOOST_TEST(found("array", "partition") == "");                    // of arrays only
  BOOST_TEST(found("links", "Linear") == "nn/links/linear.h");
  BOOST_TEST(found("links", "TheanoFunction") == "");  // not offered
  BOOST_TEST(found("initializers", "BatchNormalization") == "nn/links/batch_normalization.h");
  BOOST_TEST(found("triggers", "IntervalTrigger") == "training/triggers.h");
  BOOST_TEST(found("serializers/index", "load_npz") == "nn/serializers/files.h");
  BOOST_TEST(found("nd_ufunc", "clip") == "ndarray/routines/math.h");
  BOOST_TEST(found("nd_ufunc", "arcsinh") == "kernels/lists/elementwise.inc");
  BOOST_TEST(found("nd_ufunc", "sum_squares") == "");  // a kernel of no function's own
  BOOST_TEST(found("nd_linalg", "linalg.dot") == "ndarray/routines/linalg.h");
  BOOST_TEST(found("nd_reduction", "count_nonzero") != "");
}

BOOST_AUTO_TEST_CASE(all_files_of_the_reference_are_in_the_repository) {
  std::set<std::string> here;
  const auto own = test::Golden::open("serializers/index");
  for (const auto& entry : own.cases()) here.insert(entry["file"]);
  BOOST_TEST(here.size() == 22u);
  const auto all = test::Golden::open_shared("serializers/index");
  if (!all) return;  // a line has said so
  for (const auto& entry : all->cases()) BOOST_TEST(here.contains(entry["file"]), entry["file"].get<std::string>());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
