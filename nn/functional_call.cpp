#include <catena/nn/functional_call.h>

#include <algorithm>
#include <string>

#include <catena/autograd/functions/array.h>
#include <catena/kernels/base/error_context.h>

namespace nn {

using catena::check;
using catena::ValueError;

namespace {

constexpr const char* kOp = "functional_call";

struct Place {
  std::string path;
  Parameter* parameter;
};

// Collects the parameters in the order of Link::params().
class Places final : public MemberVisitor {
 public:
  Places(std::vector<Place>& found, std::vector<const Link*>& shared, std::string path)
      : found_(found), shared_(shared), path_(std::move(path)) {}
  void visit(Link& link) {
    link.visit_members(*this);
    for (const auto& [name, child] : children_) Places(found_, shared_, path_ + "/" + name).visit(*child);
  }
  void parameter(std::string_view name, Parameter& p) override {
    found_.push_back({path_ + "/" + std::string(name), &p});
  }
  void link(std::string_view name, Link& child) override { children_.emplace_back(name, &child); }
  void shared_link(std::string_view name, Link& child) override {
    if (std::find(shared_.begin(), shared_.end(), &child) != shared_.end()) return;
    shared_.push_back(&child);
    link(name, child);
  }

 private:
  std::vector<Place>& found_;
  std::vector<const Link*>& shared_;
  const std::string path_;
  std::vector<std::pair<std::string, Link*>> children_;
};

std::vector<Place> places_of(Link& link) {
  std::vector<Place> found;
  std::vector<const Link*> shared;
  Places(found, shared, "").visit(link);
  return found;
}

std::pair<Parameter*, Variable> replacement(const Place& place, const Variable& by) {
  check<catena::TypeError>(by && by.data(), kOp, "the variable for ", place.path, " is null");
  check<catena::RuntimeError>(place.parameter->is_initialized(), kOp, "the parameter ", place.path,
                              " has no shape yet: call the link once before");
  check<ValueError>(by.shape() == place.parameter->shape(), kOp, "the parameter ", place.path, " has shape ",
                    place.parameter->shape(), ", the variable ", by.shape());
  return {place.parameter, by};
}

}  // namespace

internal::OtherParameters::OtherParameters(Link& link, const Variables& parameters) {
  const std::vector<Place> places = places_of(link);
  check<ValueError>(places.size() == parameters.size(), kOp, "the link has ", places.size(), " parameters, and ",
                    parameters.size(), " variables are given");
  for (std::size_t i = 0; i < places.size(); ++i) list_.push_back(replacement(places[i], parameters[i]));
  exchange();
}

internal::OtherParameters::OtherParameters(Link& link, const std::vector<NamedParam>& parameters) {
  const std::vector<Place> places = places_of(link);
  for (const NamedParam& given : parameters) {
    const auto at = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.path == given.path; });
    if (at == places.end()) {
      std::string paths;
      for (const Place& p : places) paths += (paths.empty() ? "" : ", ") + p.path;
      catena::fail<catena::KeyError>(kOp, "there is no parameter ", given.path, " (there are: ", paths, ")");
    }
    list_.push_back(replacement(*at, given.param));
  }
  exchange();
}

internal::OtherParameters::~OtherParameters() { exchange(); }

void internal::OtherParameters::exchange() noexcept {
  for (auto& [place, variable] : list_) std::swap(static_cast<Variable&>(*place), variable);
}

Variables per_example_grads(Link& link, const catena::Function<Variable(const Variables&)>& loss,
                            const Variables& batch) try {
  check<ValueError>(!batch.empty() && batch[0] && batch[0].ndim() > 0 && batch[0].shape(0) > 0, "per_example_grads",
                    "the batch has no example");
  const std::int64_t count = batch[0].shape(0);
  for (const Variable& x : batch)
    check<ValueError>(x && x.ndim() > 0 && x.shape(0) == count, "per_example_grads",
                      "the arguments have different numbers of examples");
  std::vector<Variables> rows;
  Variables parameters;
  for (std::int64_t i = 0; i < count; ++i) {
    Variables example;
    for (const Variable& x : batch)
      example.push_back(Variable(autograd::slice(x.data(), 0, i, i + 1), {.requires_grad = false}));
    const auto graph = autograd::force_backprop_mode();
    const Variable y = loss(example);
    if (i == 0) {  // the first call may have initialised parameters
      for (const Variable& p : link.params()) parameters.push_back(p);
      rows.resize(parameters.size());
    }
    const Variables g = autograd::grad({y}, parameters);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const autograd::Array one = g[k] ? g[k].data() : autograd::zeros_like(parameters[k].data());
      rows[k].push_back(autograd::expand_dims(Variable(one), 0));
    }
  }
  Variables result;
  for (const Variables& of_parameter : rows) result.push_back(Variable(autograd::concat(of_parameter, 0).data()));
  return result;
} catch (...) {
  catena::rethrow_standard("per_example_grads");
}

}  // namespace nn
