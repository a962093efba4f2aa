// ParameterList and ParameterDict: PyTorch's containers of parameters, members of a class of a program.
//
//   struct Net : nn::Chain {
//     nn::ParameterList factors;
//     nn::ParameterDict shifts{{"left", nn::Parameter(autograd::arrays::zeros({3}))}};
//     Net() { for (int i = 0; i < 4; ++i) factors.append(nn::Parameter(autograd::arrays::ones({3}))); }
//     NN_MEMBERS(factors, shifts)
//     Variable operator()(Variable h) {
//       for (nn::Parameter& factor : factors) h = h * factor;
//       return h + shifts["left"];
//     }
//   };
//
// Elements are parameters, and arrays and variables, whose values a new parameter copies.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/nn/link.h>

namespace nn {

namespace internal {
struct CATENA_EXPORT ParameterElement {
  Parameter parameter;
  ParameterElement(const Parameter& p) : parameter(p) {}
  ParameterElement(Parameter&& p) noexcept : parameter(std::move(p)) {}
  ParameterElement(const Array& values);
  template <autograd::PlainVariable V> ParameterElement(const V& values) : ParameterElement(values.data()) {}
  template <autograd::ForeignArray T> ParameterElement(const T& values) : ParameterElement(Array(values)) {}
};
}  // namespace internal

// Parameters "0", "1", ... by their position, on the device of the list (Link::own_device). References of elements and
// iterators are valid until the list grows.
class CATENA_EXPORT ParameterList : public Link {
 public:
  using Element = internal::ParameterElement;
  using iterator = std::vector<Parameter>::iterator;
  ParameterList() = default;
  ParameterList(std::initializer_list<Element> elements) { extend(elements); }
  explicit ParameterList(const std::vector<Parameter>& elements);
  Parameter& append(Element element);
  void extend(std::initializer_list<Element> elements);
  void extend(const ParameterList& more);  // by copies of its parameters
  std::size_t size() const noexcept { return elements_.size(); }
  Parameter& operator[](std::int64_t index);  // negative: from the end; IndexError
  iterator begin() noexcept { return elements_.begin(); }
  iterator end() noexcept { return elements_.end(); }

 protected:
  void visit_declared(MemberVisitor& v) override;

 private:
  std::vector<Parameter> elements_;
};

// Parameters by their names, in the order of insertion.
class CATENA_EXPORT ParameterDict : public Link {
 public:
  using Element = internal::ParameterElement;
  using Item = std::pair<std::string, Element>;
  ParameterDict() = default;
  ParameterDict(std::initializer_list<Item> items) { update(items); }
  // AttributeError for a name that is in use, is empty or has a slash. The reference stays valid until the object is
  // moved from or destroyed.
  Parameter& insert(const std::string& name, Element element);
  // Inserts the elements, and replaces the values of those whose names are in use. AttributeError as for insert.
  void update(std::initializer_list<Item> items);
  // The KeyError lists the names. An assignment replaces the values of an element: dict["a"] = nn::Parameter(...).
  Parameter& operator[](std::string_view name) { return param(name); }
  bool contains(std::string_view name) const;
  std::size_t size() const { return keys().size(); }
  std::vector<std::string> keys() const;
  std::vector<Variable> values() const { return params(); }
  // For a loop: for (auto& [name, parameter] : shifts.items()) ...
  std::vector<std::pair<std::string, Parameter&>> items();
};

}  // namespace nn
