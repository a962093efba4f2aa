// The items of an index of a Variable.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <catena/autograd/backend/array.h>
#include <catena/kernels/base/index_key.h>

namespace autograd {

using catena::_;
using catena::ellipsis;
using catena::newaxis;
using catena::Slice;
#ifndef None  // a macro of X11
using catena::None;
#endif
// Python's name of ellipsis: x(Ellipsis, 0).
inline constexpr catena::Ellipsis Ellipsis{};

// One item of an index: an item of basic indexing, or integers as an array, a vector of any integer type or a list.
class CATENA_EXPORT IndexItem {
 public:
  template <std::convertible_to<catena::Key> T> IndexItem(const T& key) : key_(key) {}
  IndexItem(const Array& integers) : key_(0), array_(integers) {}
  template <ForeignArray T> IndexItem(const T& integers) : IndexItem(Array(integers)) {}
  // A variable of integers or bools: x[index], x[x > 0].
  template <class V>
  requires requires(const V& v) {
    { v.data() } -> std::same_as<const Array&>;
  }
  IndexItem(const V& variable) : IndexItem(variable.data()) {}
  IndexItem(const char* dots);  // "..." is ellipsis; ValueError for other texts
  IndexItem(const std::vector<std::int64_t>& integers);
  template <class I>
  IndexItem(const std::vector<I>& integers) requires(catena::is_index<I>)
      : IndexItem(std::vector<std::int64_t>(integers.begin(), integers.end())) {}
  IndexItem(std::initializer_list<catena::Integer> integers)
      : IndexItem(std::vector<std::int64_t>(integers.begin(), integers.end())) {}
  bool is_array() const noexcept { return bool(array_); }
  const catena::Key& key() const noexcept { return key_; }
  const Array& array() const noexcept { return array_; }

 private:
  catena::Key key_;
  Array array_;
};

// Several items in braces, of which not all are integers: x[{0, Slice(1, 3)}].
struct IndexItems {
  template <class A, class B, class... More>
  requires(std::convertible_to<const A&, IndexItem>&& std::convertible_to<const B&, IndexItem> &&
           (... && std::convertible_to<const More&, IndexItem>)&&!(std::integral<A> && std::integral<B> &&
                                                                   (... && std::integral<More>)))
      IndexItems(const A& a, const B& b, const More&... more)
      : items{IndexItem(a), IndexItem(b), IndexItem(more)...} {}
  std::vector<IndexItem> items;
};

}  // namespace autograd
