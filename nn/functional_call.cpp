#include <catena/nn/functional_call.h>

#include <algorithm>
#include <string>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/vmap.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/link_parameters.h>
#include <catena/nn/serializers/key_style.h>

namespace nn {

using catena::check;
using catena::ValueError;

namespace {

constexpr const char* kOp = "functional_call";

using internal::PathParameter;

constinit thread_local int replacements = 0;  // replacements of parameters in progress on this thread

std::pair<Parameter*, Variable> replacement(const PathParameter& place, const Variable& by) {
  check<catena::TypeError>(by && by.data(), kOp, "the variable for ", place.path, " is null");
  check<catena::RuntimeError>(place.parameter->is_initialized(), kOp, "the parameter ", place.path,
                              " has no shape yet: call the link once before");
  check<ValueError>(by.shape() == place.parameter->shape(), kOp, "the parameter ", place.path, " has shape ",
                    place.parameter->shape(), ", the variable ", by.shape());
  return {place.parameter, by};
}

}  // namespace

std::vector<NamedParam> internal::with_paths(const Link& link, std::vector<NamedParam> by_name) {
  const std::vector<PathParameter> places = internal::parameters_of(link);
  for (NamedParam& given : by_name) {
    const auto at = std::find_if(places.begin(), places.end(), [&](const PathParameter& p) {
      return internal::name_in_pytorch(p.path.substr(1)) == given.path;
    });
    check<catena::KeyError>(at != places.end(), kOp, "no parameter has the name ", given.path);
    given.path = at->path;
  }
  return by_name;
}

internal::OtherParameters::OtherParameters(Link& link, const Variables& parameters) {
  const std::vector<NamedParam> own = link.namedparams();
  check<ValueError>(own.size() == parameters.size(), kOp, "the link has ", own.size(), " parameters, and ",
                    parameters.size(), " variables are given");
  const std::vector<PathParameter> places = internal::parameters_of(link);
  for (std::size_t i = 0; i < own.size(); ++i)
    for (const PathParameter& place : places)
      if (place.parameter->is_same(own[i].param)) list_.push_back(replacement(place, parameters[i]));
  exchange();
  ++replacements;
}

internal::OtherParameters::OtherParameters(Link& link, const std::vector<NamedParam>& parameters) {
  const std::vector<PathParameter> places = internal::parameters_of(link);
  for (const NamedParam& given : parameters) {
    const auto at =
        std::find_if(places.begin(), places.end(), [&](const PathParameter& p) { return p.path == given.path; });
    if (at == places.end()) {
      std::string paths;
      for (const PathParameter& p : places) paths += (paths.empty() ? "" : ", ") + p.path;
      catena::fail<catena::KeyError>(kOp, "there is no parameter ", given.path, " (there are: ", paths, ")");
    }
    const auto earlier = std::find_if(list_.begin(), list_.end(),
                                      [&](const auto& known) { return known.first->is_same(*at->parameter); });
    if (earlier != list_.end()) {
      check<ValueError>(earlier->second.is_same(given.param), kOp, "two different variables are given for ", at->path,
                        ", or for parameters that are tied to it");
      continue;
    }
    for (const PathParameter& place : places)
      if (place.parameter->is_same(*at->parameter)) list_.push_back(replacement(place, given.param));
  }
  exchange();
  ++replacements;
}

internal::OtherParameters::~OtherParameters() {
  exchange();
  --replacements;
}

bool internal::are_parameters_replaced() noexcept { return replacements > 0; }
int& internal::parameter_replacements() noexcept { return replacements; }

void internal::OtherParameters::exchange() noexcept {
  for (auto& [place, variable] : list_) std::swap(static_cast<Variable&>(*place), variable);
}

namespace {

NamedVariables stacked(const std::vector<std::vector<NamedParam>>& models, bool requires_grad) {
  constexpr const char* kStack = "stack_module_state";
  NamedVariables result;
  for (std::size_t i = 0; i < models[0].size(); ++i) {
    const NamedParam& first = models[0][i];
    Variables all;
    for (const std::vector<NamedParam>& m : models) {
      check<ValueError>(m.size() == models[0].size() && m[i].path == first.path, kStack,
                        "the models have different names than ", first.path);
      check<ValueError>(m[i].param.data() && m[i].param.shape() == first.param.shape(), kStack, "a model has no ",
                        first.path, " of shape ", first.param.shape());
      all.push_back(m[i].param);
    }
    const auto no_graph = autograd::no_backprop_mode();
    result.emplace(first.path, Variable(autograd::stack(all, 0).data(), {.requires_grad = requires_grad}));
  }
  return result;
}

}  // namespace

std::pair<NamedVariables, NamedVariables> stack_module_state(const std::vector<Link*>& models) {
  check<ValueError>(!models.empty(), "stack_module_state", "there are no models");
  std::vector<std::vector<NamedParam>> parameters, buffers;
  for (Link* const m : models) {
    parameters.push_back(m->named_parameters());
    buffers.push_back(m->named_buffers());
  }
  return {stacked(parameters, true), stacked(buffers, false)};
}

Variables per_example_grads(Link& link, const catena::Function<Variable(const Variables&)>& loss,
                            const Variables& batch) try {
  check<ValueError>(!batch.empty() && batch[0] && batch[0].ndim() > 0 && batch[0].shape(0) > 0, "per_example_grads",
                    "the batch has no example");
  const std::int64_t count = batch[0].shape(0);
  for (const Variable& x : batch)
    check<ValueError>(x && x.ndim() > 0 && x.shape(0) == count, "per_example_grads",
                      "the arguments have different numbers of examples");
  if (link.params().empty()) return {};
  const auto gradients = [&](const Variables& example) {
    Variables rows;
    for (const Variable& x : example)
      rows.push_back(Variable(autograd::expand_dims(x.data(), 0), {.requires_grad = false}));
    const auto graph = autograd::force_backprop_mode();
    const Variable y = loss(rows);
    const Variables parameters = link.params();  // the call may have initialised some
    Variables g = autograd::grad({y}, parameters);
    for (std::size_t k = 0; k < parameters.size(); ++k)
      g[k] = Variable(g[k] ? g[k].data() : autograd::zeros_like(parameters[k].data()));
    return g;
  };
  const auto no_graph = autograd::no_backprop_mode();
  return autograd::vmap(gradients)(batch);
} catch (...) {
  catena::rethrow_standard("per_example_grads");
}

}  // namespace nn
