// Calls of a link with other parameters than its own: inner steps of meta-learning, ensembles, derivatives with respect
// to parameters.
//
//   Variables adapted;                                              // one step of gradient descent, differentiable
//   const Variables own = model.params(), g = grad({loss(model(x), t)}, own, {}, true);
//   for (std::size_t i = 0; i < g.size(); ++i) adapted.push_back(own[i] - g[i] * 0.01);
//   Variable y = nn::functional_call(model, adapted, x2);
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/grad.h>
#include <catena/kernels/base/function.h>
#include <catena/nn/link.h>

namespace nn {

namespace internal {
// Puts variables in the place of a link's parameters; the destructor puts the parameters back.
class CATENA_EXPORT OtherParameters {
 public:
  OtherParameters(Link& link, const Variables& parameters);
  OtherParameters(Link& link, const std::vector<NamedParam>& parameters);
  ~OtherParameters();
  OtherParameters(const OtherParameters&) = delete;
  OtherParameters& operator=(const OtherParameters&) = delete;

 private:
  void exchange() noexcept;
  std::vector<std::pair<Parameter*, Variable>> list_;  // the parameters, and the variables to exchange
};
}  // namespace internal

namespace internal {
// The list with paths in the place of PyTorch's names. KeyError for a name that no parameter has.
CATENA_EXPORT std::vector<NamedParam> with_paths(const Link& link, std::vector<NamedParam> by_name);
// The variables of a call: in the order of the parameters, by paths, or in a map by PyTorch's names.
template <class P> decltype(auto) other_parameters(const Link& link, const P& parameters) {
  if constexpr (requires { typename P::mapped_type; }) {
    std::vector<NamedParam> list;
    for (const auto& [name, variable] : parameters) list.push_back({name, variable});
    return with_paths(link, std::move(list));
  } else if constexpr (std::convertible_to<const P&, const std::vector<NamedParam>&>) {
    return static_cast<const std::vector<NamedParam>&>(parameters);
  } else {
    return Variables(parameters);
  }
}
}  // namespace internal

// Variables by the names that PyTorch gives to parameters: "fc1.weight".
using NamedVariables = std::map<std::string, Variable>;

// Returns link(xs...), or call(), computed with `parameters` instead of the link's own: Variables in the order of
// link.params(), {path, variable} for some of them, or a std::map of them by PyTorch's names ("fc1.weight"). Gradients
// flow to these variables. The link has its own parameters again afterwards, also after an exception. Running averages
// and recurrent state change as in any call. A variable for one of several tied parameters takes the place of all of
// them. ValueError for another number or another shape, or for two variables in one place, KeyError for an unknown path
// (it lists the paths), RuntimeError for a parameter that has no shape yet. Names and variables may stand in braces:
//   functional_call(link, {{"weight", w}, {"bias", b}}, x).
template <class L, class Parameters = NamedVariables, class... X>
auto functional_call(L& link, const Parameters& parameters,
                     const X&... xs) requires(std::derived_from<L, Link> &&
                                              (... && std::convertible_to<const X&, Variable>)) {
  const internal::OtherParameters scope(link, internal::other_parameters(link, parameters));
  return link(xs...);
}
template <class L, class Parameters, std::invocable F>
auto functional_call(L& link, const Parameters& parameters, F&& call) requires(std::derived_from<L, Link>) {
  const internal::OtherParameters scope(link, internal::other_parameters(link, parameters));
  return call();
}

// The parameters, and the buffers, of models of one class by PyTorch's names, each stacked along a new axis 0: the
// arguments of functional_call() within autograd::func::vmap. They are copies, which get gradients of their own.
// ValueError for no models, and for models with other names or shapes.
//   auto [params, buffers] = nn::stack_module_state(models);
CATENA_EXPORT std::pair<NamedVariables, NamedVariables> stack_module_state(const std::vector<Link*>& models);
template <std::derived_from<Link> L>
std::pair<NamedVariables, NamedVariables> stack_module_state(std::vector<L>& models) {
  std::vector<Link*> links;
  for (L& l : models) links.push_back(&l);
  return stack_module_state(links);
}

// Returns, for each parameter in the order of link.params(), the gradients of the losses of the single examples, of
// shape (N,) + the parameter's shape. loss(example) gets the arguments of `batch` for one example, with a first axis of
// length 1, and returns one element. It is called once, by autograd::vmap; once for each example in the cases in
// autograd/vmap.h, such as the running averages of batch normalization. Dropout draws other numbers for each example.
// ValueError for an empty batch, or arguments of different lengths.
CATENA_EXPORT Variables per_example_grads(Link& link, const catena::Function<Variable(const Variables&)>& loss,
                                          const Variables& batch);

}  // namespace nn
