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

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/nn/chain_list.h>
#include <catena/nn/sequential.h>

namespace nn {

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
  void update(std::initializer_list<Item> items);
  bool contains(std::string_view name);
  std::size_t size();
  std::vector<std::string> keys();
  LinkRange values() { return children(); }
  // For a loop: for (auto& [name, layer] : heads.items()) y[name] = layer(h);
  std::vector<std::pair<std::string, Link&>> items();
};

}  // namespace nn
