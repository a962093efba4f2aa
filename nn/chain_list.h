// Links composed at run time: lists of children, and sequences that are called in order.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/unary_function.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/index_key.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/link.h>

namespace nn {

namespace internal {
// Makes a function of one variable: further arguments (options) get the defaults of their types.
template <class O>
concept HasDefault = std::is_class_v<std::decay_t<O>> && !std::is_same_v<std::decay_t<O>, Variable>;
template <HasDefault O, HasDefault... More>
catena::Function<Variable(const Variable&)> layer_of(Variable (*f)(const Variable&, O, More...)) {
  return [f](const Variable& x) { return f(x, std::decay_t<O>{}, std::decay_t<More>{}...); };
}
template <class F> F&& layer_of(F&& f) { return std::forward<F>(f); }

// A link or a function; what is made of nothing is neither.
struct SequenceElement {
  SequenceElement() = default;
  SequenceElement(Variable (*f)(const Variable&)) : function(f), is_given(true) {}
  template <class E>
  SequenceElement(E&& element) requires(!std::is_same_v<std::decay_t<E>, SequenceElement>) : is_given(true) {
    if constexpr (std::is_base_of_v<Link, std::decay_t<E>>) link.emplace(std::forward<E>(element));
    else function = layer_of(std::forward<E>(element));
  }

  std::optional<AnyLink> link;
  autograd::UnaryFunction function;
  bool is_given = false;
};
}  // namespace internal

// Children "0", "1", ... in the order of insertion. A call calls them in order; a derived class may change that.
class CATENA_EXPORT ChainList : public Link {
 public:
  ChainList() = default;
  template <class... L,
            class = std::enable_if_t<(std::is_base_of_v<Link, std::decay_t<L>> && ...) &&
                                     (sizeof...(L) > 1 || !(std::is_base_of_v<ChainList, std::decay_t<L>> && ...))>>
  explicit ChainList(L&&... links) {
    (add_link(std::forward<L>(links)), ...);
  }
  template <class L> std::decay_t<L>& add_link(L&& link) {
    links_.emplace_back(std::forward<L>(link));
    name_last();
    return static_cast<std::decay_t<L>&>(links_.back().get());
  }
  std::size_t size() const noexcept { return links_.size(); }
  Link& operator[](std::int64_t i) const;  // negative: from the end; IndexError
  // Returns the children that a slice selects: for (nn::Link* child : list[Slice(1, {})]) ...
  std::vector<Link*> operator[](const catena::Slice& slice) const;

  class Iterator {
   public:
    explicit Iterator(const internal::AnyLink* at) noexcept : at_(at) {}
    Link& operator*() const noexcept { return at_->get(); }
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const internal::AnyLink* at_;
  };
  Iterator begin() const noexcept { return Iterator(links_.data()); }
  Iterator end() const noexcept { return Iterator(links_.data() + links_.size()); }

  // Calls the children in order, each with the result of the previous one; the first child gets all arguments.
  Variable call(const Variables& args) override;
  Variable operator()(const Variables& args) { return ChainList::call(args); }
  Variable operator()(const Variable& x) { return ChainList::call({x}); }

 protected:
  void visit_declared(MemberVisitor& v) override;

  std::vector<internal::AnyLink> links_;

 private:
  void name_last();
};

// A sequence of links and functions: Sequential(Linear(100), relu, Linear(10)). The children are the links, named "0",
// "1", ... by their position among the links, as in Chainer. Functions with options, such as dropout and leaky_relu,
// are called with their defaults.
class CATENA_EXPORT Sequential : public Link {
 public:
  using Function = autograd::UnaryFunction;
  using Element = internal::SequenceElement;

  Sequential() = default;
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
      if (e->is_given) append(std::move(*e));
  }
  void append(Element element) { elements_.push_back(std::move(element)); }
  std::size_t size() const noexcept { return elements_.size(); }
  // Returns a sequence of n copies of this sequence, each newly initialised.
  Sequential repeat(int n) const;

  Variable call(const Variables& args) override;
  Variable operator()(const Variables& args) { return Sequential::call(args); }
  Variable operator()(const Variable& x) { return Sequential::call({x}); }

 protected:
  void visit_declared(MemberVisitor& v) override;

 private:
  std::vector<Element> elements_;
};

}  // namespace nn
