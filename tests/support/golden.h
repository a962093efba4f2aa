// Reference values for tests: groups of a JSON list of cases and the arrays of an npz file, in tests/golden.
//
// Every case of a group is run, or tests/golden/not_run.json says which part of the library it lacks:
//
//   BOOST_AUTO_TEST_CASE(golden_values) {
//     const auto golden = test::Golden::open("nd_cast");     // fails where the group is missing
//     golden.for_each([&](const Json& c) -> std::string {
//       const auto f = functions.find(c["function"]);
//       if (f == functions.end()) return c["function"];      // not run, for want of this function
//       const catena::NpyArray x = golden.array(c["inputs"][0]);
//       ...
//       return {};                                           // run
//     });
//
// Cases have the fields of the README of that folder: name, function, args, inputs (keys of arrays), outputs,
// tolerance, ...
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/json.h>

namespace test {

class Golden {
 public:
  // Opens <group>.json of tests/golden, and <group>.npz if it exists. `group` may be a file in a subfolder:
  // "nd_io/index". A missing group is an IOError, which fails the test.
  static Golden open(std::string_view group);
  // Opens a group of a folder shared/golden beside the checkout, for data outside the repository. If it is missing,
  // returns nothing and prints the skipped group to standard output.
  static std::optional<Golden> open_shared(std::string_view group);

  // Returns the content of the JSON file: an array of cases (one object in nd_promotion). Valid as long as *this.
  const Json& cases() const { return *json_; }
  // Returns the array of a key, as in the case's "inputs". Throws catena::KeyError if there is none.
  catena::NpyArray array(const std::string& key) const;
  bool has_array(const std::string& key) const { return npz_ && npz_->contains(key); }
  // Returns the folder of the JSON file, for groups that consist of files.
  const std::filesystem::path& folder() const { return folder_; }

  // Calls run(case) for every case. run returns the part of the library that is missing for the case ("lstm"; "get_item
  // mask" for an option of an existing function), or an empty text if it has run the case. It is a test error if the
  // numbers of cases that were not run differ from those of not_run.json. A line on standard output has the number of
  // cases that were run.
  void for_each(const std::function<std::string(const Json&)>& run) const;

 private:
  static Golden read(std::string_view group, const std::filesystem::path& file);

  std::string group_;
  std::filesystem::path folder_;
  std::shared_ptr<const Json> json_;
  std::shared_ptr<const catena::NpzReader> npz_;
};

// One line of tests/golden/not_run.json.
struct NotRun {
  std::string group;
  std::string lacks;  // as returned in for_each: a function, or a function and an option
  int cases;
  std::string reason;
};
std::vector<NotRun> cases_not_run();

// Returns the public header that declares a function which the list says is lacking ("nn/functions/loss.h"), or an
// empty text.
std::string declaration_of(const NotRun& line);

std::filesystem::path source_folder();  // of the whole repository

// True if |actual - expected| <= atol + rtol * |expected|, where [atol, rtol] is the "tolerance" of a case. NaN equals
// NaN; an infinity equals only itself.
bool close(double actual, double expected, double atol, double rtol);

}  // namespace test
