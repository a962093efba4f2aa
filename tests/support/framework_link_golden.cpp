#include <catena/tests/support/framework_link_golden.h>

#include <algorithm>

#include <catena/autograd/functions/reduction.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/training_fixtures.h>

namespace test {
namespace {

// Sets or compares the members whose paths are in a case.
class MemberValues final : public nn::MemberVisitor {
 public:
  MemberValues(const LinkCase& c, const Json& keys, bool compare) : case_(c), keys_(keys), compare_(compare) {}
  void parameter(std::string_view name, nn::Parameter& p) override {
    if (!compare_) p.set_data(expected(name));
  }
  void persistent(std::string_view name, nn::Persistent& a) override {
    if (compare_) check_close(a.array(), expected(name), tolerance(0), tolerance(1), prefix_ + std::string(name));
    else a.array() = expected(name);
  }
  void persistent(std::string_view name, std::int64_t& v) override {
    const auto value = std::int64_t(values(expected(name))[0]);
    if (compare_) BOOST_TEST(v == value);
    else v = value;
  }
  void link(std::string_view name, nn::Link& child) override {
    const std::string outer = prefix_;
    prefix_ += std::string(name) + "/";
    child.visit_members(*this);
    prefix_ = outer;
  }

 private:
  Array expected(std::string_view name) const { return case_.array(keys_.at(prefix_ + std::string(name))); }
  double tolerance(std::size_t i) const { return case_.json()["tolerance"][i].get<double>(); }

  const LinkCase& case_;
  std::string prefix_;
  const Json& keys_;
  bool compare_;
};

}  // namespace

void LinkCase::run_calls(nn::Link& link, const Call& call, const char* field) const {
  const auto arguments = [&](const Json& one) -> const Json& { return field == nullptr ? one : one[field]; };
  std::vector<Variables> inputs;
  for (const Json& one : c_["calls"]) {
    inputs.emplace_back();
    for (const Json& key : one["inputs"]) inputs.back().push_back(key.is_null() ? Variable() : Variable(array(key)));
  }
  // A link without an input size creates its parameters in a first call; the other effects of that call are then
  // overwritten.
  const std::vector<nn::Link*> links = link.links();
  if (std::any_of(links.begin(), links.end(), [](const nn::Link* l) { return l->has_uninitialized_params(); })) {
    const auto scope = autograd::no_backprop_mode();
    call(inputs[0], arguments(c_["calls"][0]));
  }
  check_manifest(link);
  set_state(link);
  std::vector<Variables> outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) outputs.push_back(call(inputs[i], arguments(c_["calls"][i])));
  backward(outputs);
  compare(link, inputs, outputs);
}

void LinkCase::check_manifest(nn::Link& link) const {
  std::map<std::string, std::string> wanted, found;
  const auto line = [](const Shape& shape, const std::string& dtype) { return catena::to_string(shape) + " " + dtype; };
  // Links are made with float32 parameters; set_state() gives them the dtype of the case.
  const bool as_made = c_["dtype"] == "float32";
  const auto shown = [&](Dtype dtype) {
    return catena::is_floating(dtype) && !as_made ? std::string("floating") : std::string(catena::name_of(dtype));
  };
  for (const char* kind : {"params", "persistents"})
    for (const auto& [key, stored] : c_[kind].items()) {
      const catena::NpyArray a = golden_.array(stored.get<std::string>());
      wanted[key] = line(a.shape, shown(a.dtype.value()));
    }
  nn::serializers::DictionarySerializer s;
  link.serialize(s);
  for (const auto& e : s.entries()) found[e.key] = line(e.shape, shown(e.dtype));
  for (const auto& [key, what] : wanted)
    BOOST_TEST((found.contains(key) && found.at(key) == what), key << " is stored as "
                                                                   << (found.contains(key) ? found.at(key) : "nothing")
                                                                   << ", by Chainer as " << what);
  for (const auto& [key, what] : found) BOOST_TEST(wanted.contains(key), key << " is stored, but not by Chainer");
}

void LinkCase::set_state(nn::Link& link) const {
  Json keys = c_["params"];
  keys.update(c_["persistents"]);
  MemberValues set(*this, keys, false);
  link.visit_members(set);
  link.cleargrads();
}

void LinkCase::backward(const std::vector<Variables>& outputs) const {
  Variable total;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Json& keys = c_["calls"][i]["grad_outputs"];
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (keys[k].is_null()) continue;
      const Variable part = autograd::sum(outputs[i][k] * array(keys[k]));
      total = total ? total + part : part;
    }
  }
  if (total) total.backward();
}

void LinkCase::compare(nn::Link& link, const std::vector<Variables>& inputs,
                       const std::vector<Variables>& outputs) const {
  const double atol = tolerance(0), rtol = tolerance(1);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Json& one = c_["calls"][i];
    BOOST_REQUIRE(outputs[i].size() == one["outputs"].size());
    for (std::size_t k = 0; k < one["outputs"].size(); ++k)
      check_close(outputs[i][k].data(), array(one["outputs"][k]), atol, rtol, "output " + std::to_string(k));
    for (std::size_t k = 0; k < one["grad_inputs"].size(); ++k) {
      if (!inputs[i][k]) continue;
      if (one["grad_inputs"][k].is_null()) BOOST_TEST(!bool(inputs[i][k].grad()));
      else
        check_close(inputs[i][k].grad(), array(one["grad_inputs"][k]), atol, rtol,
                    "gradient of input " + std::to_string(k));
    }
  }
  BOOST_TEST(link.namedparams().size() == c_["params"].size());
  for (const nn::NamedParam& p : link.namedparams()) {
    const Json& key = c_["param_grads"].at(p.path.substr(1));
    if (key.is_null()) BOOST_TEST(!bool(p.param.grad()));
    else check_close(p.param.grad(), array(key), atol, rtol, "gradient of " + p.path);
  }
  MemberValues check(*this, c_["persistents_after"], true);
  link.visit_members(check);
}

std::map<std::string, LinkRunner>& link_runners() {
  static std::map<std::string, LinkRunner> all;
  return all;
}

}  // namespace test
