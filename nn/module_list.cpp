#include <catena/nn/module_list.h>

#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/nn/link_parameters.h>

namespace nn {
namespace {

internal::AnyLink link_of(internal::SequenceElement element, const char* op) {
  catena::check<catena::ValueError>(element.link.has_value(), op, "there is no link and no function to add");
  return std::move(*element.link);
}

}  // namespace

internal::ModuleEntry::ModuleEntry(ModuleList& list, std::int64_t index) : list_(&list), index_(index) {
  refer_to(&as_link());
}
internal::ModuleEntry::ModuleEntry(ModuleDict& dict, std::string_view name) : dict_(&dict), name_(name) {
  refer_to(dict.contains(name) ? &as_link() : nullptr);
}
Link& internal::ModuleEntry::as_link() const {
  if (list_ != nullptr) return list_->ChainList::operator[](index_);
  if (AnyLink* const added = dict_->added_link(name_)) return added->get();  // without a list of all children
  return dict_->Chain::operator[](name_);
}
Link& internal::ModuleEntry::operator=(SequenceElement element) {
  Link& link = list_ != nullptr ? list_->set(index_, std::move(element)) : dict_->set(name_, std::move(element));
  refer_to(&link);
  return link;
}
internal::SequenceElement internal::ModuleEntry::element() const {
  return internal::SequenceElement(list_ != nullptr ? list_->links_[list_->position("ModuleList", index_)]
                                                    : dict_->copy_of(name_));
}

ModuleList::ModuleList(std::initializer_list<Element> elements) { extend(elements); }

Link& ModuleList::append(Element element) {
  insert(std::int64_t(size()), std::move(element));
  return links_.back().get();
}

void ModuleList::extend(std::initializer_list<Element> elements) {
  for (const Element& e : elements) append(e);
}

void ModuleList::extend(const ModuleList& more) {
  std::vector<internal::AnyLink> copies = more.links_;  // `more` may be this list
  for (internal::AnyLink& link : copies) append(internal::SequenceElement(std::move(link)));
}

std::size_t ModuleList::position(const char* op, std::int64_t index) const {
  const auto n = std::int64_t(links_.size());
  catena::check<catena::IndexError>(index >= -n && index < n, op, "the index ", index, " is out of range for ", n,
                                    " links");
  return std::size_t(index < 0 ? index + n : index);
}

Link& ModuleList::set(std::int64_t index, Element element) {
  internal::AnyLink& place = links_[position("ModuleList", index)];
  internal::AnyLink link = link_of(std::move(element), "ModuleList");
  adopt(link.get(), place.get().name());
  place = std::move(link);
  return place.get();
}

ModuleList::Element ModuleList::pop(std::int64_t index) {
  const auto at = links_.begin() + std::ptrdiff_t(position("ModuleList.pop", index));
  internal::AnyLink taken = std::move(*at);
  links_.erase(at);
  for (std::size_t i = 0; i < links_.size(); ++i) set_name(links_[i].get(), std::to_string(i));
  set_name(taken.get(), {});
  return internal::SequenceElement(std::move(taken));
}

void ModuleList::insert(std::int64_t index, Element element) {
  const auto n = std::int64_t(links_.size());
  catena::check<catena::IndexError>(index >= -n && index <= n, "ModuleList.insert", "the index ", index,
                                    " is out of range for ", n, " links");
  internal::AnyLink link = link_of(std::move(element), "ModuleList.insert");
  adopt(link.get(), {});
  links_.insert(links_.begin() + (index < 0 ? index + n : index), std::move(link));
  for (std::size_t i = 0; i < links_.size(); ++i) set_name(links_[i].get(), std::to_string(i));
}

Link& ModuleDict::insert(const std::string& name, Element element) {
  return own_link(name, link_of(std::move(element), "ModuleDict.insert"));
}

Link& ModuleDict::set(const std::string& name, Element element) {
  internal::AnyLink link = link_of(std::move(element), "ModuleDict");
  internal::AnyLink* const place = added_link(name);
  if (place == nullptr) return own_link(name, std::move(link));
  adopt(link.get(), name);
  *place = std::move(link);
  return place->get();
}

void ModuleDict::update(std::initializer_list<Item> items) {
  for (const Item& item : items) set(item.first, item.second);
}

internal::AnyLink ModuleDict::copy_of(std::string_view name) {
  Chain::operator[](name);  // the KeyError
  return *added_link(name);
}

ModuleDict::Element ModuleDict::pop(std::string_view name) {
  Chain::operator[](name);  // the KeyError
  internal::AnyLink taken = std::move(*added_link(name));
  internal::remove_added(*this, name);
  set_name(taken.get(), {});
  return internal::SequenceElement(std::move(taken));
}

bool ModuleDict::contains(std::string_view name) {
  if (added_link(name) != nullptr) return true;
  for (const auto& [key, child] : named_children())
    if (key == name) return true;
  return false;
}

std::size_t ModuleDict::size() { return children().size(); }

std::vector<std::string> ModuleDict::keys() {
  std::vector<std::string> result;
  for (auto& [key, child] : named_children()) result.push_back(std::move(key));
  return result;
}

std::vector<std::pair<std::string, Link&>> ModuleDict::items() {
  std::vector<std::pair<std::string, Link&>> result;
  for (auto& [key, child] : named_children()) result.emplace_back(std::move(key), *child);
  return result;
}

}  // namespace nn
