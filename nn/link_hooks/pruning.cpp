#include <catena/nn/link_hooks/pruning.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/nn/buffer.h>
#include <catena/nn/initializer.h>
#include <catena/nn/link_hooks/parametrizations.h>
#include <catena/nn/link_parameters.h>

namespace nn {

using catena::check;
using catena::ValueError;

Variable link_hooks::Pruning::weight(Link& link, const Variable& W) const {
  const Persistent* const mask = nn::internal::persistent_of(link, weight_name() + "_mask");
  return mask != nullptr ? W * autograd::as_variable(mask->array()) : W;
}

namespace utils::prune {
namespace {

using Numbers = std::vector<double>;

// A parameter, and its mask on the host.
class Pruned {
 public:
  Pruned(Link& module, const std::string& name) : module_(module), name_(internal::name_in(module, name)) {
    const Parameter& p = module.param(name_);
    check<catena::RuntimeError>(p.is_initialized(), "prune", "the parameter ", name_,
                                " has no shape yet: call the module once before");
    const Persistent* const given = nn::internal::persistent_of(module, name_ + "_mask");
    mask = given != nullptr ? autograd::to_vector<double>(given->array()) : Numbers(std::size_t(p.size()), 1.0);
  }
  const Parameter& parameter() const { return module_.param(name_); }
  // Writes the mask and the zeros.
  void store() {
    const Parameter& p = parameter();
    const Array on_host = autograd::array(mask, p.shape());
    Array array = autograd::astype(autograd::to_device(on_host, p.device()), p.dtype());
    if (Persistent* const given = nn::internal::persistent_of(module_, name_ + "_mask")) {
      autograd::assign(given->array(), array);
    } else {
      module_.register_buffer(name_ + "_mask", array);
      module_.add_hook(link_hooks::Pruning(name_), internal::key_of("Pruning", name_));
    }
    const auto no_graph = autograd::no_backprop_mode();
    autograd::assign(p.data(), (autograd::as_variable(p.data()) * autograd::as_variable(array)).data());
  }
  Link& module() const { return module_; }

  Numbers mask;

 private:
  Link& module_;
  std::string name_;
};

Numbers magnitudes(const Parameter& p) {
  Numbers values = autograd::to_vector<double>(p.data());
  for (double& v : values) v = std::fabs(v);
  return values;
}
Numbers random_scores(std::int64_t n) {
  return autograd::to_vector<double>(generate_array(initializers::Uniform(1.0), {n}));
}

// The places of the least scores among those that are left.
std::vector<std::size_t> least(const Numbers& scores, const std::vector<bool>& is_left, Amount amount) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (is_left[i]) places.push_back(i);
  const double n = double(places.size());
  check<ValueError>(amount.value >= 0 && amount.value <= (amount.is_number ? n : 1.0), "prune", "the amount ",
                    amount.value, amount.is_number ? " is not a number of the " : " is not a fraction of the ",
                    places.size(), " that are left");
  const auto k = std::ptrdiff_t(amount.is_number ? amount.value : std::nearbyint(amount.value * n));
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  places.resize(std::size_t(k));
  return places;
}

void prune_elements(std::vector<Pruned>& parameters, Method method, Amount amount) {
  Numbers scores;
  std::vector<bool> is_left;
  for (const Pruned& p : parameters) {
    const Numbers own = method == L1Unstructured ? magnitudes(p.parameter()) : random_scores(p.parameter().size());
    scores.insert(scores.end(), own.begin(), own.end());
    for (const double m : p.mask) is_left.push_back(m != 0);
  }
  for (const std::size_t i : least(scores, is_left, amount)) is_left[i] = false;
  auto left = is_left.begin();
  for (Pruned& p : parameters) {
    for (double& m : p.mask)
      if (!*left++) m = 0;
    p.store();
  }
}
Link& prune_elements(Link& module, const std::string& name, Method method, Amount amount) {
  std::vector<Pruned> one{Pruned(module, name)};
  prune_elements(one, method, amount);
  return module;
}

// Prunes slices along an axis. n: the order of the norm; random without one.
Link& prune_slices(Link& module, const std::string& name, Amount amount, std::optional<double> n, int dim) {
  check<ValueError>(!n || *n > 0, "prune", "the order of the norm is ", n.value_or(0), ", it must be positive");
  Pruned pruned(module, name);
  const Parameter& p = pruned.parameter();
  const int axis = dim < 0 ? dim + p.ndim() : dim;
  check<ValueError>(axis >= 0 && axis < p.ndim(), "prune", "the dim ", dim, " does not exist in ", name, " of shape ",
                    p.shape());
  const auto length = std::size_t(p.shape(axis));
  std::size_t inner = 1;
  for (int k = axis + 1; k < p.ndim(); ++k) inner *= std::size_t(p.shape(k));
  const Numbers values = magnitudes(p);
  Numbers scores(length, 0.0);
  std::vector<bool> is_left(length, false);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t slice = i / inner % length;
    if (pruned.mask[i] != 0) is_left[slice] = true;
    if (n)
      scores[slice] = std::isinf(*n) ? std::max(scores[slice], values[i]) : scores[slice] + std::pow(values[i], *n);
  }
  if (!n) scores = random_scores(std::int64_t(length));
  for (const std::size_t slice : least(scores, is_left, amount)) is_left[slice] = false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_left[i / inner % length]) pruned.mask[i] = 0;
  pruned.store();
  return module;
}

}  // namespace

Link& identity(Link& module, const std::string& name) {
  Pruned(module, name).store();
  return module;
}
Link& l1_unstructured(Link& module, const std::string& name, Amount amount) {
  return prune_elements(module, name, L1Unstructured, amount);
}
Link& random_unstructured(Link& module, const std::string& name, Amount amount) {
  return prune_elements(module, name, RandomUnstructured, amount);
}
Link& ln_structured(Link& module, const std::string& name, Amount amount, double n, int dim) {
  return prune_slices(module, name, amount, n, dim);
}
Link& random_structured(Link& module, const std::string& name, Amount amount, int dim) {
  return prune_slices(module, name, amount, {}, dim);
}

Link& custom_from_mask(Link& module, const std::string& name, const Variable& mask) {
  Pruned pruned(module, name);
  check<ValueError>(mask.shape() == pruned.parameter().shape(), "prune", "the mask has the shape ", mask.shape(),
                    " and ", name, " ", pruned.parameter().shape());
  const Numbers given = autograd::to_vector<double>(mask.data());
  for (std::size_t i = 0; i < given.size(); ++i) pruned.mask[i] *= given[i] != 0 ? 1 : 0;
  pruned.store();
  return module;
}

void global_unstructured(const std::vector<PrunedParameter>& parameters, Method method, Amount amount) {
  std::vector<Pruned> all;
  for (const PrunedParameter& p : parameters) all.emplace_back(p.module, p.name);
  prune_elements(all, method, amount);
}

Link& remove(Link& module, const std::string& name) {
  internal::remove_hook("prune.remove", "Pruning", module, name);
  return module;
}

bool is_pruned(Link& module) {
  for (Link& link : module.modules())
    if (const auto* const hooks = nn::internal::hooks_of(link))
      for (const auto& [name, hook] : *hooks)
        if (dynamic_cast<const link_hooks::Pruning*>(hook.get()) != nullptr) return true;
  return false;
}

}  // namespace utils::prune
}  // namespace nn
