// Reference values for tests: groups of a JSON list of cases and the arrays of an npz file.
//
// The folders searched are those of the environment variable CATENA_TEST_GOLDEN (separated by ':'), else the folders
// that the build would put there. A test whose group is absent must skip:
//
//   BOOST_AUTO_TEST_CASE(golden_values) {
//     const auto golden = test::Golden::open("nd_cast");
//     if (!golden) return;                                   // one line on standard output has said so
//     for (const auto& c : golden->cases()) {
//       const catena::NpyArray x = golden->array(c["inputs"][0]);
//       ...
//
// Cases have the fields of the README of that folder: name, function, args, inputs (keys of arrays), outputs,
// tolerance, ...
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include <catena/kernels/formats/npz.h>

namespace test {

class Golden {
 public:
  // <group>.json, and <group>.npz where there is one. `group` may name a file in a subfolder: "nd_io/index". Absent:
  // nothing, and a line on standard output says what is skipped.
  static std::optional<Golden> open(std::string_view group);

  // The content of the JSON file: an array of cases (one object in nd_promotion). Lives as long as *this.
  const nlohmann::json& cases() const { return *json_; }
  // The array of that key, as in the case's "inputs". Throws catena::KeyError if there is none.
  catena::NpyArray array(const std::string& key) const;
  bool has_array(const std::string& key) const { return npz_ && npz_->contains(key); }
  // The folder of the JSON file, for groups that consist of files.
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::shared_ptr<const nlohmann::json> json_;
  std::shared_ptr<const catena::NpzReader> npz_;
};

// Whether |actual - expected| <= atol + rtol * |expected|, [atol, rtol] being the "tolerance" of a case. NaN equals
// NaN; an infinity equals only itself.
bool close(double actual, double expected, double atol, double rtol);

}  // namespace test
