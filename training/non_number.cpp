#include <catena/training/non_number.h>

#include <cmath>

namespace training::internal {
namespace {

bool is_loss(const std::string& key) { return key == "loss" || key.ends_with("/loss"); }

std::optional<std::string> checked(const std::string& key, const nn::Observed& observed, bool wait) {
  const Variable& variable = observed.variable();
  if (variable) {
    if (!variable.data() || variable.size() != 1 || !catena::is_floating(variable.dtype())) return {};
    if (!wait && variable.device().kind != autograd::Device::Kind::cpu) return {};
  }
  const double value = observed.value();
  if (std::isfinite(value)) return {};
  return catena::concat(key, " is ", value);
}

Array all_finite(const Array& a) { return autograd::map_reduce(catena::kernels::all, catena::kernels::isfinite, {a}); }
bool is_true(const Array& a) { return autograd::item(a).to_double() != 0; }

}  // namespace

std::optional<std::string> loss_that_is_no_number(Trainer& trainer, bool wait) {
  bool reported = false;
  for (const auto& [key, value] : trainer.observation()) {
    if (!is_loss(key)) continue;
    reported = true;
    if (auto found = checked(key, value, wait)) return found;
  }
  if (reported) return {};
  for (const auto& [name, optimizer] : trainer.updater().get_all_optimizers())
    if (optimizer->loss())
      if (auto found = checked("the loss of the optimizer " + name, optimizer->loss(), wait)) return found;
  return {};
}

std::optional<std::string> parameter_that_is_no_number(Trainer& trainer) {
  Array all;
  std::vector<std::pair<std::string, nn::NamedParam>> params;
  for (const auto& [name, optimizer] : trainer.updater().get_all_optimizers()) {
    for (nn::NamedParam& p : optimizer->target().namedparams()) {
      if (!p.param.data() || p.param.size() == 0) continue;
      const Array one = all_finite(p.param.data());
      if (all) all = autograd::apply(catena::kernels::logical_and, {all, autograd::to_device(one, all.device())});
      else all = one;
      params.emplace_back(name, std::move(p));
    }
  }
  if (!all || is_true(all)) return {};
  for (const auto& [name, p] : params)
    if (!is_true(all_finite(p.param.data())))
      return catena::concat("the parameter ", p.path, " of the optimizer ", name, " holds NaN or infinity");
  return {};
}

}  // namespace training::internal
