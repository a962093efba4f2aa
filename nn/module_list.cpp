#include <catena/nn/module_list.h>

#include <utility>

#include <catena/kernels/base/error.h>

namespace nn {
namespace {

// A function of one variable as a link.
class FunctionLink : public Link {
 public:
  explicit FunctionLink(autograd::UnaryFunction function) : function_(std::move(function)) {}
  Variable call(const Variables& args) override {
    catena::check<catena::TypeError>(args.size() == 1, "Link.call", "the function takes 1 variable, not ", args.size());
    return function_(args[0]);
  }

 private:
  autograd::UnaryFunction function_;
};

internal::AnyLink link_of(internal::SequenceElement element, const char* op) {
  catena::check<catena::ValueError>(element.is_given, op, "there is no link and no function to add");
  if (element.link) return std::move(*element.link);
  return internal::AnyLink(FunctionLink(std::move(element.function)));
}

}  // namespace

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
  for (internal::AnyLink& link : copies) {
    Element element;
    element.link = std::move(link);
    element.is_given = true;
    append(std::move(element));
  }
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

void ModuleDict::update(std::initializer_list<Item> items) {
  for (const Item& item : items) insert(item.first, item.second);
}

bool ModuleDict::contains(std::string_view name) {
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
