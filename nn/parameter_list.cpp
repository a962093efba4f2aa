#include <catena/nn/parameter_list.h>

#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/nn/link_parameters.h>

namespace nn {

internal::ParameterElement::ParameterElement(const Array& values) : parameter(autograd::copy(values)) {}

ParameterList::ParameterList(const std::vector<Parameter>& elements) {
  for (const Parameter& p : elements) append(p);
}

Parameter& ParameterList::append(Element element) {
  if (const auto device = own_device()) element.parameter.to_device(*device);
  element.parameter.set_name(std::to_string(elements_.size()));  // in place of the name that it had elsewhere
  elements_.push_back(std::move(element.parameter));
  return elements_.back();
}

void ParameterList::extend(std::initializer_list<Element> elements) {
  for (const Element& e : elements) append(e);
}

void ParameterList::extend(const ParameterList& more) {
  const std::vector<Parameter> copies = more.elements_;  // `more` may be this list
  for (const Parameter& p : copies) append(p);
}

Parameter& ParameterList::operator[](std::int64_t index) {
  const auto n = std::int64_t(elements_.size());
  catena::check<catena::IndexError>(index >= -n && index < n, "ParameterList[]", "the index ", index,
                                    " is out of range for ", n, " parameters");
  return elements_[std::size_t(index < 0 ? index + n : index)];
}

void ParameterList::visit_declared(MemberVisitor& v) {
  Link::visit_declared(v);
  for (std::size_t i = 0; i < elements_.size(); ++i) v.parameter(std::to_string(i), elements_[i]);
}

Parameter& ParameterDict::insert(const std::string& name, Element element) {
  return register_parameter(name, std::move(element.parameter));
}

void ParameterDict::update(std::initializer_list<Item> items) {
  ParameterDict checked;  // throws for a name that is not allowed, before this object changes
  for (const auto& [name, element] : items)
    if (!contains(name) && !checked.contains(name)) checked.insert(name, Parameter());
  for (const auto& [name, element] : items) {
    if (!contains(name)) {
      insert(name, element);
      continue;
    }
    Parameter& own = (*this)[name];
    own = element.parameter;
    own.set_name(name);
    if (const auto device = own_device()) own.to_device(*device);
  }
}

bool ParameterDict::contains(std::string_view name) const {
  const std::vector<std::string> names = keys();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> ParameterDict::keys() const {
  std::vector<std::string> result;
  for_each_param([&](std::string_view path, const Variable&) { result.emplace_back(path.substr(1)); });
  return result;
}

std::vector<std::pair<std::string, Parameter&>> ParameterDict::items() {
  std::vector<std::pair<std::string, Parameter&>> result;
  for (const internal::PathParameter& p : internal::parameters_of(*this))
    result.emplace_back(p.path.substr(1), *p.parameter);
  return result;
}

}  // namespace nn
