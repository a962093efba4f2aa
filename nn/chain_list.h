// Links composed at run time: lists of children, and sequences that are called in order.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/link.h>

namespace nn {

namespace internal {
// A child of any link class; owned, copied deeply.
class CATENA_EXPORT AnyLink {
 public:
  template <class L, class = std::enable_if_t<std::is_base_of_v<Link, std::decay_t<L>>>>
  explicit AnyLink(L&& link)
      : link_(new std::decay_t<L>(std::forward<L>(link))), clone_([](const Link& l) -> catena::Owned<Link> {
          return catena::Owned<Link>(new std::decay_t<L>(static_cast<const std::decay_t<L>&>(l)));
        }) {}
  AnyLink(const AnyLink& o) : link_(o.link_ ? o.clone_(*o.link_) : nullptr), clone_(o.clone_) {}
  AnyLink(AnyLink&&) noexcept = default;
  AnyLink& operator=(AnyLink o) noexcept {
    std::swap(link_, o.link_);
    std::swap(clone_, o.clone_);
    return *this;
  }
  Link& get() const noexcept { return *link_; }

 private:
  catena::Owned<Link> link_;
  catena::Owned<Link> (*clone_)(const Link&);
};
}  // namespace internal

// Children "0", "1", ... in the order of insertion. A derived class gives it an operator().
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
    return static_cast<std::decay_t<L>&>(links_.back().get());
  }
  std::size_t size() const noexcept { return links_.size(); }
  Link& operator[](std::int64_t i) const;  // negative: from the end; IndexError

  void visit_members(MemberVisitor& v) override;
  // Calls the children in order, each with the result of the previous one.
  Variable call(const Variables& args) override;

 protected:
  std::vector<internal::AnyLink> links_;
};

// A sequence of links and functions: Sequential(Linear(100), relu, Linear(10)). The children are the links, named "0",
// "1", ... by their position among all elements, as in Chainer.
class CATENA_EXPORT Sequential : public Link {
 public:
  using Function = catena::Function<Variable(const Variable&)>;

  Sequential() = default;
  template <class... E,
            class = std::enable_if_t<sizeof...(E) != 1 || !(std::is_same_v<std::decay_t<E>, Sequential> && ...)>>
  explicit Sequential(E&&... elements) {
    (append(std::forward<E>(elements)), ...);
  }
  template <class E> void append(E&& element) {
    if constexpr (std::is_base_of_v<Link, std::decay_t<E>>)
      elements_.push_back({internal::AnyLink(std::forward<E>(element)), {}});
    else elements_.push_back({std::nullopt, Function(std::forward<E>(element))});
  }
  std::size_t size() const noexcept { return elements_.size(); }
  // n copies of this sequence in series, each newly initialised.
  Sequential repeat(int n) const;

  void visit_members(MemberVisitor& v) override;
  Variable call(const Variables& args) override;
  Variable operator()(const Variable& x) { return call({x}); }

 private:
  struct Element {
    std::optional<internal::AnyLink> link;
    Function function;
  };
  std::vector<Element> elements_;
};

}  // namespace nn
