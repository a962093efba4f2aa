// Runs the cases of the golden group `links`: sets parameters, makes the calls and one backward over all outputs, and
// compares everything.
//
// A file of tests/nn registers how to build and call the links that it tests; nn/links_golden runs the cases of all.
//
//   const test::LinkRunners registered({{"Bias", [](test::LinkCase& c, const test::Json& args, Dtype) {
//     nn::Bias link(args["axis"].get<int>());
//     c.run(link, [&](const Variables& in, const test::Json&) { return Variables{link(in[0], in[1])}; });
//   }}});
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>

#include <catena/nn/link.h>
#include <catena/tests/support/framework_golden.h>

namespace test {

class LinkCase {
 public:
  using Call = std::function<autograd::Variables(const autograd::Variables& inputs, const Json& args)>;

  LinkCase(const Golden& golden, const Json& c) : golden_(golden), c_(c) {}

  // Returns the case as it is in the file.
  const Json& json() const { return c_; }
  autograd::Array array(const Json& key) const { return to_array(golden_.array(key.get<std::string>())); }

  // Sets the parameters and persistents of `link`, makes the calls of the case one after the other, and compares
  // outputs, gradients and the resulting persistents. `args` are the keyword arguments of a call.
  void run(nn::Link& link, const Call& call) const { run_calls(link, call, "args"); }
  // The same for links with several methods: `call` gets the complete record of a call (method, input_names, args,
  // ...).
  void run_calls(nn::Link& link, const Call& call) const { run_calls(link, call, nullptr); }

 private:
  void run_calls(nn::Link& link, const Call& call, const char* field) const;
  double tolerance(std::size_t i) const { return c_["tolerance"][i].get<double>(); }
  // Checks that the link stores exactly the keys of the case, with their shapes and dtypes.
  void check_manifest(nn::Link& link) const;
  void set_state(nn::Link& link) const;
  void backward(const std::vector<autograd::Variables>& outputs) const;
  void compare(nn::Link& link, const std::vector<autograd::Variables>& inputs,
               const std::vector<autograd::Variables>& outputs) const;

  const Golden& golden_;
  const Json& c_;
};

// Builds the link of a case from the arguments of its constructor, and runs the case.
using LinkRunner = std::function<void(LinkCase& c, const Json& args, autograd::Dtype dtype)>;

// The registered links by Chainer's names.
std::map<std::string, LinkRunner>& link_runners();
struct LinkRunners {
  LinkRunners(std::initializer_list<std::pair<const std::string, LinkRunner>> runners) {
    link_runners().insert(runners);
  }
};

}  // namespace test
