// Parameter groups: which parameters belong to them, and the hyperparameters with which a parameter is updated.
#include <algorithm>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/optimizer.h>
#include <catena/training/optimizer_parts.h>
#include <catena/training/schedules.h>

namespace training {

using catena::check;
using catena::KeyError;
using catena::RuntimeError;
using catena::ValueError;
using internal::ParamGroupData;

namespace {

// A predicate may read the shape, so it is called once there is one.
bool group_selects(const ParamGroupData& group, const nn::NamedParam& p) {
  const ParamGroupOptions& o = group.options;
  if (group.is_rule) return p.path == o.name;
  if (!o.match.empty() && !o.match.match(p.path)) return false;
  if (!o.params.empty() &&
      std::none_of(o.params.begin(), o.params.end(), [&](const Variable& own) { return own.is_same(p.param); }))
    return false;
  return o.select == nullptr || (p.param.data() && o.select(p.path, p.param));
}

std::string listed(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

// ---- hyperparameters ----------------------------------------------------------------------------
std::size_t Optimizer::hyper_index(std::string_view name) const {
  for (std::size_t i = 0; i < rule_.hyper.size(); ++i)
    if (name == rule_.hyper[i].name) return i;
  check<KeyError>(name != "lr" || rule_.lr == nullptr, rule_.name, "the hyperparameter lr follows from others and the ",
                  "number of updates; it cannot be set");
  catena::fail<KeyError>(rule_.name, "there is no hyperparameter ", name, " (there are: ", listed(hyper_names()), ")");
}

double Optimizer::value_of(std::string_view name, std::span<const double> values, std::int64_t t) const {
  if (name == "lr" && rule_.lr != nullptr) {
    check<ValueError>(t > 0, rule_.name, "lr depends on the number of updates, and there was none yet");
    return rule_.lr(values, t);
  }
  return values[hyper_index(name)];
}

std::vector<std::string> Optimizer::hyper_names() const {
  std::vector<std::string> names;
  for (const UpdateRule::HyperParameter& h : rule_.hyper) names.emplace_back(h.name);
  return names;
}

double Optimizer::get_hyper(std::string_view name) const {
  if (updating_ == nullptr) return value_of(name, hyper_, t_);
  return value_of(name, values_of(value_sets_[updating_->value_set]), t());
}

void Optimizer::set_hyper(std::string_view name, double value) { hyper_[hyper_index(name)] = value; }

std::vector<double> Optimizer::values_of(const ValueSet& groups) const {
  std::vector<double> values(hyper_);
  for (const ParamGroupData* group : groups)
    for (std::size_t i = 0; i < values.size(); ++i)
      if (group->values[i]) values[i] = *group->values[i];
  return values;
}

// ---- membership ---------------------------------------------------------------------------------
void Optimizer::assign_groups() {
  if (groups_.empty()) return;
  for (Slot& s : slots_) {
    if (s.grouped) continue;
    ValueSet set;
    for (const auto& group : groups_)
      if (group_selects(*group, s.param)) set.push_back(group.get());
    const auto known = std::find(value_sets_.begin(), value_sets_.end(), set);
    s.value_set = std::size_t(known - value_sets_.begin());
    if (known == value_sets_.end()) value_sets_.push_back(std::move(set));
    s.grouped = bool(s.param.param.data());
  }
}

void Optimizer::groups_changed() {
  value_sets_.assign(1, {});
  for (Slot& s : slots_) {
    s.value_set = 0;
    s.grouped = false;
  }
  assign_groups();
  ++changes_;
}

void Optimizer::forget_groups() {
  for (const auto& group : groups_) group->optimizer = nullptr;
  if (whole_ != nullptr) whole_->optimizer = nullptr;
  whole_.reset();
  groups_.clear();
  groups_changed();
}

bool Optimizer::is_hooked(const Slot& slot) const noexcept {
  if (hook_group_ == nullptr) return true;
  const ValueSet& groups = value_sets_[slot.value_set];
  return std::find(groups.begin(), groups.end(), hook_group_) != groups.end();
}

std::vector<Variable> Optimizer::hook_params() const {
  std::vector<Variable> params;
  for (const Slot& s : slots_)
    if (is_hooked(s)) params.push_back(s.param.param);
  return params;
}

Optimizer::Slot& Optimizer::slot_of(std::string_view path) {
  refresh_slots();
  for (Slot& s : slots_)
    if (s.param.path == path) return s;
  catena::fail<KeyError>(rule_.name, "there is no parameter ", path, " in the target");
}

// ---- making groups ------------------------------------------------------------------------------
void Optimizer::check_groups(const char* op) const {
  check<RuntimeError>(target_ != nullptr, op, "call setup first, which forgets the groups of before");
  check<ValueError>(rule_.no_groups == nullptr, op, rule_.name, " has no parameter groups: ", rule_.no_groups);
}

catena::Shared<ParamGroupData> Optimizer::add_group(ParamGroupOptions options, bool is_rule) {
  ParamGroupData data{.optimizer = this, .options = std::move(options), .is_rule = is_rule};
  data.values.resize(hyper_.size());
  if (const std::optional<double> lr = data.options.lr)
    data.values[hyper_index(internal::hyper_to_set(*this, "", "add_param_group"))] = *lr;
  if (data.options.momentum) data.values[hyper_index("momentum")] = data.options.momentum;
  if (const std::optional<double> decay = data.options.weight_decay)
    data.values[hyper_index(internal::own_name(*this, "weight_decay"))] = *decay;
  for (const auto& [name, value] : data.options.hyperparams) data.values[hyper_index(name)] = value;
  for (std::size_t i = 0; i < data.values.size(); ++i)
    if (const char* other = rule_.hyper[i].follows; other != nullptr && !data.values[i])
      data.values[i] = data.values[hyper_index(other)];
  data.given = data.values;
  refresh_slots();
  const auto may_join = [&](const Slot& s) {
    return group_selects(data, s.param) || (data.options.select != nullptr && !s.param.param.data());
  };
  check<KeyError>(
      std::any_of(slots_.begin(), slots_.end(), may_join), "add_param_group",
      "no parameter of the model belongs to the group ", data.name(), data.options.match.empty() ? "" : ": ",
      listed(data.options.match.list()),
      slots_.empty() ? std::string(" (it has none)") : " (the first one of the model is " + slots_[0].param.path + ")");
  auto group = catena::Shared<ParamGroupData>::make(std::move(data));
  const auto end = std::find_if(groups_.begin(), groups_.end(), [&](const auto& g) { return g->is_rule && !is_rule; });
  groups_.insert(end, group);
  groups_changed();
  return group;
}

ParamGroup Optimizer::add_param_group(ParamGroupOptions options) try {
  check_groups("add_param_group");
  check<ValueError>(!options.match.empty() || options.select != nullptr || !options.params.empty(), "add_param_group",
                    "the group selects no parameters: give match, select or params");
  const auto in_use = [&](const std::string& name) {
    return std::any_of(groups_.begin(), groups_.end(), [&](const auto& g) { return !g->is_rule && g->name() == name; });
  };
  const auto groups = std::count_if(groups_.begin(), groups_.end(), [](const auto& g) { return !g->is_rule; });
  for (std::ptrdiff_t number = groups; options.name.empty(); ++number)
    if (std::string free = std::to_string(number); !in_use(free)) options.name = std::move(free);
  check<ValueError>(options.name.find('/') == options.name.npos, "add_param_group", "the name ", options.name,
                    " has a slash");
  check<KeyError>(!in_use(options.name), "add_param_group", "there is a group named ", options.name, " already");
  const std::vector<Variable> all = target().params();
  auto* const list = dynamic_cast<internal::ListedParameters*>(target_);
  const auto is_known = [&](const Variable& p) {
    return std::any_of(all.begin(), all.end(), [&](const Variable& known) { return known.is_same(p); });
  };
  for (const Variable& p : options.params)
    check<KeyError>(is_known(p) || (list != nullptr && p), "add_param_group", "a parameter ", p ? p.name() : "(null)",
                    " of the group ", options.name,
                    " is not in the target; setup() takes a model, or a list of parameters, that has all of them");
  try {
    if (list != nullptr)
      for (const Variable& p : options.params) list->append(p);
    return ParamGroup(add_group(std::move(options), false));
  } catch (...) {
    if (list != nullptr) list->shorten(all.size());
    throw;
  }
} catch (...) {
  catena::rethrow_standard("add_param_group");
}

void Optimizer::setup_groups(std::span<const ParamGroupOptions> groups) {
  Variables params;
  for (const ParamGroupOptions& group : groups) {
    check<ValueError>(!group.params.empty(), rule_.name,
                      "each of the groups of the constructor needs its `params`; for others, call add_param_group");
    for (const Variable& p : group.params) params.push_back(p);
  }
  setup(params);
  for (const ParamGroupOptions& group : groups) add_param_group(group);
}

std::vector<ParamGroup> Optimizer::param_groups() {
  std::vector<ParamGroup> result;
  for (const auto& group : groups_)
    if (!group->is_rule) result.push_back(ParamGroup(group));
  if (result.empty() && target_ != nullptr) result.push_back(ParamGroup(whole_group()));
  return result;
}

catena::Shared<ParamGroupData> Optimizer::whole_group() {
  if (whole_ == nullptr)
    whole_ = catena::Shared<ParamGroupData>::make(ParamGroupData{.optimizer = this, .is_whole = true});
  return whole_;
}

ParamGroup Optimizer::param_group(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& group : groups_) {
    if (group->is_rule) continue;
    if (group->name() == name) return ParamGroup(group);
    names.push_back(group->name());
  }
  catena::fail<KeyError>("param_group", "there is no group ", name, " (there are: ", listed(names), ")");
}

// The group of the parameter at a path, which has the values of its ParamRule.
catena::Shared<ParamGroupData> Optimizer::own_group(const std::string& path) {
  for (const auto& group : groups_)
    if (group->is_rule && group->name() == path) return group;
  return add_group({.name = path}, true);
}

ParamRule Optimizer::update_rule(std::string_view path) {
  check_groups("update_rule");
  const std::string from_root = path.starts_with('/') ? std::string(path) : catena::concat("/", path);
  return ParamRule(*this, slot_of(from_root).param.path);
}

ParamRule Optimizer::update_rule(const Variable& param) {
  check_groups("update_rule");
  refresh_slots();
  for (const Slot& s : slots_)
    if (s.param.param.is_same(param)) return ParamRule(*this, s.param.path);
  catena::fail<KeyError>("update_rule", "the parameter ", param.name(), " is not in the target of ", rule_.name);
}

// ---- files --------------------------------------------------------------------------------------
namespace {

std::string stored_prefix(const ParamGroupData& group) {
  return group.is_rule ? "rules" + group.name() + "/" : "groups/" + group.name() + "/";
}

}  // namespace

// Makes the groups of single parameters that the file has values for.
void Optimizer::add_stored_rules(const Serializer& s) {
  constexpr std::string_view kRules = "rules";
  for (const std::string& key : s.keys()) {
    const std::size_t slash = key.rfind('/');
    if (!key.starts_with("rules/") || slash <= kRules.size()) continue;
    const std::string path = key.substr(kRules.size(), slash - kRules.size()), name = key.substr(slash + 1);
    const auto is_hyper = [&](const UpdateRule::HyperParameter& h) { return name == h.name; };
    if (std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.param.path == path; }) &&
        std::any_of(rule_.hyper.begin(), rule_.hyper.end(), is_hyper))
      static_cast<void>(own_group(path));
  }
}

void Optimizer::check_stored_groups(const Serializer& s) const {
  for (const std::string& key : s.keys()) {
    constexpr std::string_view kGroups = "groups/";
    if (!key.starts_with(kGroups)) continue;
    const std::string name = key.substr(kGroups.size(), key.find('/', kGroups.size()) - kGroups.size());
    if (std::any_of(groups_.begin(), groups_.end(), [&](const auto& g) { return !g->is_rule && g->name() == name; }))
      continue;
    autograd::warn("UserWarning",
                   catena::concat(rule_.name, ": the file has hyperparameters of a parameter group ", name,
                                  ", which this optimizer does not have (add_param_group comes before the "
                                  "load); they are not used"));
    return;
  }
}

void Optimizer::serialize_groups(Serializer& s, bool all) {
  if (!s.is_writer()) {
    refresh_slots();
    add_stored_rules(s);
    check_stored_groups(s);
  }
  for (const auto& group : groups_) {
    if (!s.is_writer()) s.on_rollback([group, before = group->values] { group->values = before; });
    for (std::size_t i = 0; i < hyper_.size(); ++i) {
      const std::string key = stored_prefix(*group) + rule_.hyper[i].name;
      const bool is_to_be_written = group->values[i] != group->given[i] || (all && group->values[i]);
      if (s.is_writer() ? !is_to_be_written : !s.contains(key)) continue;
      double value = group->values[i].value_or(0);
      s(key, value);
      group->values[i] = value;
    }
  }
  for (Slot& slot : slots_) {
    const std::string key = "rules" + slot.param.path + "/enabled";
    if (s.is_writer() ? slot.enabled : !s.contains(key)) continue;
    if (!s.is_writer())
      s.on_rollback([this, path = slot.param.path, before = slot.enabled] {
        for (Slot& known : slots_)
          if (known.param.path == path) known.enabled = before;
      });
    s(key, slot.enabled);
  }
}

}  // namespace training
