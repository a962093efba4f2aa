// Sequential: links and functions that are called in order.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/unary_function.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/index_key.h>
#include <catena/nn/layer_members.h>
#include <catena/nn/link.h>

namespace nn {

class Sequential;

namespace internal {
// Makes a function of one variable: further arguments (options) get the defaults of their types.
template <class O>
concept HasDefault = std::is_class_v<std::decay_t<O>> && !std::is_same_v<std::decay_t<O>, Variable>;
template <HasDefault O, HasDefault... More>
catena::Function<Variable(const Variable&)> layer_of(Variable (*f)(const Variable&, O, More...)) {
  return [f](const Variable& x) { return f(x, std::decay_t<O>{}, std::decay_t<More>{}...); };
}
template <class F> F&& layer_of(F&& f) { return std::forward<F>(f); }

// A function of one variable as a link without parameters.
CATENA_EXPORT AnyLink function_link(autograd::UnaryFunction function);

class ModuleEntry;

// A link or a function; neither of them if it was made without arguments. It has the members of its link that programs
// use in PyTorch. A function is a layer without parameters, which may have hooks.
class CATENA_EXPORT SequenceElement : public LayerMembers<SequenceElement> {
 public:
  SequenceElement() = default;
  SequenceElement(Variable (*f)(const Variable&)) : link(function_link(f)) {}
  template <class E> SequenceElement(E&& element) requires(!std::is_same_v<std::decay_t<E>, SequenceElement>) {
    if constexpr (std::is_base_of_v<Link, std::decay_t<E>> || std::is_same_v<AnyLink, std::decay_t<E>>) {
      link.emplace(std::forward<E>(element));
      is_link_ = true;
    } else if constexpr (std::is_same_v<ModuleEntry, std::decay_t<E>>) {
      take(element.element());
    } else {
      link = function_link(layer_of(std::forward<E>(element)));
    }
    refer_handles();
  }
  SequenceElement(const SequenceElement& o);
  SequenceElement(SequenceElement&& o) noexcept;
  // An element of a sequence is replaced: it keeps its name, and a link is moved to the device of the sequence.
  SequenceElement& operator=(SequenceElement o);
  ~SequenceElement() = default;

  bool is_link() const noexcept { return is_link_; }
  // Returns the link; TypeError for a function.
  Link& as_link() const;
  operator Link&() const { return as_link(); }
  // The link if it is of class L, else null: if (auto* fc = net[2].as<nn::Linear>()) ...
  template <class L> L* as() const { return is_link_ ? dynamic_cast<L*>(&link->get()) : nullptr; }
  // A function computes in the mode of the sequence that calls it, and has none of its own: TypeError.
  Link& train(bool mode = true) const { return as_link().train(mode); }
  Link& eval() const { return train(false); }
  Variable operator()(const Variable& x) const;
  template <std::convertible_to<Variable>... V>
  requires(sizeof...(V) > 1) Variable operator()(const V&... args) const {
    return as_link().call(Variables{Variable(args)...});
  }
  // An element of a sequence in the sequence: net[0][1].
  SequenceElement& operator[](std::int64_t index) const;

  std::optional<AnyLink> link;  // of a function, the link that has its hooks
  std::string name = {};        // of add_module; empty: the position

 private:
  friend class nn::Sequential;
  friend class LayerMembers<SequenceElement>;
  Link& layer() const;  // ValueError if there is none
  void refer_handles() { this->refer_to(is_link_ ? &link->get() : nullptr); }
  void take(SequenceElement&& o) noexcept;
  Variable call_function(const Variable& x) const;

  bool is_link_ = false;
  Sequential* owner_ = nullptr;  // the sequence of which the element is a part, for an assignment
};
}  // namespace internal

// A sequence of links and functions: Sequential(Linear(100), relu, Linear(10)). Functions, lambdas and objects with a
// call of one Variable are elements like links; functions with options, such as dropout and leaky_relu, are called with
// their defaults. The first link gets all arguments of a call.
//
// Every element has an index, which is the name of a link, as in PyTorch: Linear(2, 3), relu and Linear(3, 4) have the
// children "0" and "2". Functions have no keys in files. insert() and remove() change the keys behind them. (Chainer
// counts the links alone: load its files with .rename.)
//
// A C++ copy of a sequence, and of an element, is deep. Negative indices count from the end; IndexError for others.
class CATENA_EXPORT Sequential : public Link {
 public:
  using Function = autograd::UnaryFunction;
  using Element = internal::SequenceElement;

  Sequential() = default;
  Sequential(const Sequential& o);
  Sequential(Sequential&& o) noexcept;
  Sequential& operator=(const Sequential& o);
  Sequential& operator=(Sequential&& o) noexcept;
  ~Sequential() override = default;
  template <class... E,
            class = std::enable_if_t<sizeof...(E) != 1 || !(std::is_same_v<std::decay_t<E>, Sequential> && ...)>>
  explicit Sequential(E&&... elements) {
    (append(std::forward<E>(elements)), ...);
  }
  // Up to 16 elements, among which are names of several functions, such as tanh: no template takes these.
  explicit Sequential(Element e1, Element e2 = {}, Element e3 = {}, Element e4 = {}, Element e5 = {}, Element e6 = {},
                      Element e7 = {}, Element e8 = {}, Element e9 = {}, Element e10 = {}, Element e11 = {},
                      Element e12 = {}, Element e13 = {}, Element e14 = {}, Element e15 = {}, Element e16 = {}) {
    for (Element* e : {&e1, &e2, &e3, &e4, &e5, &e6, &e7, &e8, &e9, &e10, &e11, &e12, &e13, &e14, &e15, &e16})
      if (e->link) append(std::move(*e));
  }

  // With names, as add_module() gives them: Sequential({{"fc", Linear(8, 4)}, {"act", relu}}).
  explicit Sequential(std::initializer_list<std::pair<std::string, Element>> named) {
    for (const auto& [name, element] : named) add_module(name, element);
  }

  void append(Element element) { insert(static_cast<std::int64_t>(elements_.size()), std::move(element)); }
  void push_back(Element element) { append(std::move(element)); }
  void push_back(std::string name, Element element) { add_module(std::move(name), std::move(element)); }
  // Appends with a name: a link and its parameters then have it in place of the position, "fc/W".
  void add_module(std::string name, Element element);
  // Puts an element before the one of this index. If the sequence was moved to a device, a link is moved there too.
  void insert(std::int64_t index, Element element);
  void extend(const Sequential& more);  // appends copies of the elements
  void remove(std::int64_t index);
  Element pop(std::int64_t index = -1);  // removes an element and returns it
  void clear() noexcept { elements_.clear(); }
  // The number of links of a class, and their removal, by the name of the class without namespaces: "Linear".
  std::int64_t count_by_layer_type(std::string_view type) const;
  void remove_by_layer_type(std::string_view type);

  std::size_t size() const noexcept { return elements_.size(); }
  // The element of an index: it can be called, has the members of its link, is a Link& where it is one, and can be
  // replaced.
  //   seq[0].requires_grad_(false)   seq[2].weight.shape()   nn::Linear* l = seq[2].as<nn::Linear>();
  //   seq[2] = nn::Linear(4, 5);
  const Element& operator[](std::int64_t index) const { return elements_[position("Sequential", index)]; }
  Element& operator[](std::int64_t index);
  auto begin() const noexcept { return elements_.begin(); }
  auto end() const noexcept { return elements_.end(); }
  std::vector<Element>::iterator begin();
  std::vector<Element>::iterator end() noexcept { return elements_.end(); }
  // A sequence of some elements with the same arrays: features = net.slice(0, -1), net[nd::Slice({}, -1)].
  // ValueError for a step below 1.
  Sequential slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop = {},
                   std::int64_t step = 1) const;
  template <std::derived_from<catena::Slice> S> Sequential operator[](const S& range) const {
    return slice(range.start, range.stop, range.step.value_or(1));
  }

  // Returns a sequence of the elements of this one, with copies of the elements of sequences in place of these.
  Sequential flatten() const;
  // Returns a sequence of n times the elements of this one: newly initialised (init), with equal values (copy), or with
  // the same arrays (share). With init, the first repetition has the values of this sequence. ValueError for n < 0.
  Sequential repeat(int n, CopyModeName mode = CopyMode::init) const;

  Variable call(const Variables& args) override;
  Variable operator()(const Variables& args) { return Sequential::call(args); }
  Variable operator()(const Variable& x) { return Sequential::call({x}); }
  Variable forward(const Variable& x) { return Sequential::call({x}); }

 protected:
  void visit_declared(MemberVisitor& v) override;

 private:
  friend class internal::SequenceElement;
  std::size_t position(const char* op, std::int64_t index) const;
  void name_links() const;
  void replace(Element& place, Element element);
  // Without an owner, elements can be moved within the vector: an assignment to an owned one replaces it in its owner.
  void set_owner(Sequential* owner) noexcept;

  std::vector<Element> elements_;
};

// Returns a sequence of n copies of a link: Sequential(link, link, ...), see Sequential::repeat.
//   nn::Sequential tower = nn::repeat(nn::Linear(8, 8), 3);
CATENA_EXPORT Sequential repeat(const Sequential& links, int n, CopyModeName mode = CopyMode::init);
template <class L>
Sequential repeat(const L& link, int n, CopyModeName mode = CopyMode::init) requires(std::is_base_of_v<Link, L> &&
                                                                                     !std::is_same_v<L, Sequential>) {
  return Sequential(link).repeat(n, mode);
}

}  // namespace nn
