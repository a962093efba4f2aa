// ModuleList and ModuleDict: PyTorch's containers of layers, which a class of a program calls in a way of its own.
//
//   struct Net : nn::Chain {
//     nn::ModuleList layers;
//     nn::ModuleDict heads{{"a", nn::Linear(8, 1)}, {"b", nn::Linear(8, 2)}};
//     Net() { for (int i = 0; i < 3; ++i) layers.append(nn::Linear(8, 8)); }
//     NN_MEMBERS(layers, heads)
//     Variable operator()(Variable h) {
//       for (nn::Link& layer : layers) h = nn::relu(layer(h));
//       return heads["b"](h);
//     }
//   };
//
// Elements are links, and functions of one variable (nn::relu, nn::ReLU()), which become links without parameters.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/nn/chain_list.h>
#include <catena/nn/layer_members.h>
#include <catena/nn/sequential.h>

namespace nn {

class ModuleDict;
class ModuleList;

namespace internal {
// An element of a ModuleList or a ModuleDict: it can be called, has the members of its link, is a Link&, and can be
// assigned to. The name of a dict may be new then; other uses of a name that is not there are a KeyError. It is for one
// expression, and not to be kept over a change of the container.
class CATENA_EXPORT ModuleEntry : public LayerMembers<ModuleEntry> {
 public:
  ModuleEntry(ModuleList& list, std::int64_t index);  // IndexError
  ModuleEntry(ModuleDict& dict, std::string_view name);
  ModuleEntry(const ModuleEntry&) = default;
  Link& operator=(SequenceElement element);
  Link& operator=(const ModuleEntry& o) { return *this = o.element(); }  // a copy of its link
  Link& as_link() const;                                                 // KeyError
  operator Link&() const { return as_link(); }
  // The link if it is of class L, else null: if (auto* fc = layers[0].as<nn::Linear>()) ...
  template <class L> L* as() const { return dynamic_cast<L*>(&as_link()); }
  template <std::convertible_to<Variable>... V>
  requires(sizeof...(V) > 0) Variable operator()(const V&... args) const {
    return as_link().call(Variables{Variable(args)...});
  }
  Variable operator()(const Variables& args) const { return call(args); }
  Variable call(const Variables& args) const { return as_link().call(args); }
  SequenceElement element() const;  // with a copy of the link

 private:
  friend class LayerMembers<ModuleEntry>;
  Link& layer() const { return as_link(); }

  ModuleList* list_ = nullptr;
  ModuleDict* dict_ = nullptr;
  std::int64_t index_ = 0;
  std::string name_;
};
}  // namespace internal

// Children "0", "1", ... by their position, functions included.
class CATENA_EXPORT ModuleList : public ChainList {
 public:
  using Element = internal::SequenceElement;
  ModuleList() = default;
  ModuleList(std::initializer_list<Element> elements);
  Link& append(Element element);
  Link& push_back(Element element) { return append(std::move(element)); }
  void extend(std::initializer_list<Element> elements);
  void extend(const ModuleList& more);  // by copies of its links
  // Puts an element before the one of this index; negative: from the end; IndexError. The later ones get new names.
  void insert(std::int64_t index, Element element);
  Element pop(std::int64_t index = -1);  // removes an element and returns it
  // layers[0](x), layers[-1].weight, layers[1] = nn::Linear(8, 3);
  internal::ModuleEntry operator[](std::int64_t index) { return {*this, index}; }
  using ChainList::operator[];

 private:
  friend class internal::ModuleEntry;
  std::size_t position(const char* op, std::int64_t index) const;
  Link& set(std::int64_t index, Element element);
};

// Children by their names, in the order of insertion.
class CATENA_EXPORT ModuleDict : public Chain {
 public:
  using Element = internal::SequenceElement;
  using Item = std::pair<std::string, Element>;
  ModuleDict() = default;
  ModuleDict(std::initializer_list<Item> items) { update(items); }
  // AttributeError for a name that is in use, is empty or has a slash.
  Link& insert(const std::string& name, Element element);
  // Inserts the elements, and replaces those whose names are in use.
  void update(std::initializer_list<Item> items);
  // heads["a"](x), heads["a"].weight, heads["c"] = nn::Linear(8, 3);
  internal::ModuleEntry operator[](std::string_view name) { return {*this, name}; }
  using Chain::operator[];
  Element pop(std::string_view name);  // removes an element and returns it; KeyError
  bool contains(std::string_view name);
  std::size_t size();
  std::vector<std::string> keys();
  LinkRange values() { return children(); }
  // For a loop: for (auto& [name, layer] : heads.items()) y[name] = layer(h);
  std::vector<std::pair<std::string, Link&>> items();

 private:
  friend class internal::ModuleEntry;
  Link& set(const std::string& name, Element element);
  internal::AnyLink copy_of(std::string_view name);
};

}  // namespace nn
