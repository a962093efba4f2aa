// Runs the cases of a golden group of functions: builds the arguments, calls the function of that name, compares
// outputs and gradients with Chainer's, and differentiates float64 cases twice.
//
//   BOOST_AUTO_TEST_CASE(golden_values) {
//     test::run_golden("activation", {
//       {"elu", [](const test::GoldenCall& c) { return Variables{nn::elu(c.x(0), c.number("alpha", 1.0))}; }},
//       ...
//     });
//   }
//
// It is a test error if the group is missing, or if a case whose function is not in the table is not listed in
// tests/golden/not_run.json. Inputs that the README of that folder describes as plain arrays are also Variables here:
// use c.array(i).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include <catena/autograd/variable.h>
#include <catena/tests/support/golden.h>

namespace test {

// One call: the inputs of a case as variables, or copies of them that a gradient check perturbs.
class GoldenCall {
 public:
  GoldenCall(const Json& json, autograd::Variables inputs) : json_(json), inputs_(std::move(inputs)) {}
  const Json& json() const { return json_; }
  const Json& args() const { return json_["args"]; }

  std::size_t size() const { return inputs_.size(); }
  const autograd::Variable& x(std::size_t i) const { return inputs_[i]; }  // null if the input of the case is null
  const autograd::Variables& xs() const { return inputs_; }
  autograd::Variable x(const std::string& name) const;      // null if the case has no such input
  autograd::Variables list(const std::string& name) const;  // name[0], name[1], ...
  autograd::Array array(std::size_t i) const { return inputs_[i] ? inputs_[i].data() : autograd::Array(); }
  autograd::Array array(const std::string& name) const;

  bool has(const char* arg) const { return args().contains(arg) && !args()[arg].is_null(); }
  bool flag(const char* arg, bool otherwise) const { return has(arg) ? args()[arg].get<bool>() : otherwise; }
  double number(const char* arg, double otherwise) const;  // "inf", "-inf" and "nan" included
  std::int64_t integer(const char* arg, std::int64_t otherwise) const {
    return has(arg) ? args()[arg].get<std::int64_t>() : otherwise;
  }
  std::string text(const char* arg, const std::string& otherwise) const {
    return has(arg) ? args()[arg].get<std::string>() : otherwise;
  }
  // Returns an integer or a list of integers; null means not given.
  autograd::Axes axes(const char* arg) const;
  autograd::Dims dims(const char* arg) const;

 private:
  const Json& json_;
  autograd::Variables inputs_;
};

using GoldenFunction = std::function<autograd::Variables(const GoldenCall&)>;
using GoldenFunctions = std::map<std::string, GoldenFunction>;

struct GoldenOptions {
  std::set<std::string> once_only =
      {};  // functions that are not differentiated twice: with ties or kinks, and functions on raw arrays
  // Returns the option of a function of the table that the library lacks for this case, or an empty text.
  std::function<std::string(const Json& json)> lacks = {};
};

// Failures are Boost.Test errors that name the case.
void run_golden(const std::string& group, const GoldenFunctions& functions, const GoldenOptions& options = {});

// Returns the array of a golden file on the default device.
autograd::Array to_array(const catena::NpyArray& a);

}  // namespace test
