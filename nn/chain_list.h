// ChainList: a list of links that is composed at run time. For a list of links and functions, see sequential.h.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/index_key.h>
#include <catena/nn/link.h>

namespace nn {

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
  template <class L> void append(L&& link) { add_link(std::forward<L>(link)); }
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

}  // namespace nn
