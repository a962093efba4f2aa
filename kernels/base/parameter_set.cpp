#include <catena/kernels/base/parameter_set.h>

#include <algorithm>

namespace catena::testing {

namespace {
bool is_before(const ParameterSet::Item& item, std::string_view name) { return item.first < name; }
}  // namespace

bool ParameterSet::contains(std::string_view name) const {
  const auto found = std::lower_bound(items_.begin(), items_.end(), name, is_before);
  return found != items_.end() && found->first == name;
}

const Parameter& ParameterSet::at(std::string_view name) const {
  check<KeyError>(contains(name), "ParameterSet", "there is no parameter ", name, " in ", to_string());
  return std::lower_bound(items_.begin(), items_.end(), name, is_before)->second;
}

void ParameterSet::set(const std::string& name, const Parameter& value) {
  const auto found = std::lower_bound(items_.begin(), items_.end(), std::string_view(name), is_before);
  if (found != items_.end() && found->first == name) found->second = value;
  else items_.insert(found, {name, value});
}

std::string ParameterSet::to_string() const {
  std::string text = "{";
  for (const auto& [name, value] : items_) text += concat(text.size() > 1 ? ", " : "", name, ": ", value.text());
  return text + "}";
}

std::vector<ParameterSet> product_dict(const std::vector<std::vector<ParameterSet>>& lists) {
  std::vector<ParameterSet> sets(1);
  for (const std::vector<ParameterSet>& list : lists) {
    std::vector<ParameterSet> longer;
    for (const ParameterSet& before : sets)
      for (const ParameterSet& next : list) {
        longer.push_back(before);
        for (const auto& [name, value] : next.items()) longer.back().set(name, value);
      }
    sets = std::move(longer);
  }
  return sets;
}

std::vector<ParameterSet> product(const Choices& choices) {
  Choices sorted = choices;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<ParameterSet>> lists;
  for (const auto& [name, values] : sorted) {
    std::vector<ParameterSet>& list = lists.emplace_back();
    for (const Parameter& v : values) list.emplace_back().set(name, v);
  }
  return product_dict(lists);
}

}  // namespace catena::testing
