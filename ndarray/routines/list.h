// Nested lists of host numbers, the results of Array::tolist().
//
//   const nd::List rows = a.tolist();             // of shape (2, 3): [[1, 2, 3], [4, 5, 6]]
//   rows[1][2].number()                           // 6
//   std::vector<std::vector<float>> v = rows;     // ValueError if the depth is another one
#pragma once

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <utility>
#include <vector>

#include <catena/ndarray/routines/creation.h>

namespace nd {

// A number, or a list of such objects.
class List {
 public:
  List(const Scalar& number) : number_(number), is_number_(true) {}
  List(std::vector<List> items) : items_(std::move(items)) {}

  bool is_number() const noexcept { return is_number_; }
  CATENA_EXPORT const Scalar& number() const;                 // ValueError for a list
  CATENA_EXPORT const std::vector<List>& items() const;       // ValueError for a number
  CATENA_EXPORT const List& operator[](std::size_t i) const;  // IndexError if there is no such item
  std::size_t size() const { return items().size(); }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }

  // Converts a number to an element type, and a list to a container of converted items, such as vectors of vectors of
  // numbers. Numbers are converted by the library's rules.
  template <class T>
  requires(Element<T> || internal::NestedContainer<T>) T to()
  const {
    if constexpr (Element<T>) {
      return number().template to<T>();
    } else {
      T all;
      for (const List& item : items()) all.push_back(item.template to<typename T::value_type>());
      return all;
    }
  }
  template <internal::NestedContainer T> operator T() const { return to<T>(); }

  CATENA_EXPORT friend bool operator==(const List& a, const List& b);
  CATENA_EXPORT friend std::ostream& operator<<(std::ostream& out, const List& list);  // as in Python: [[1, 2], [3, 4]]

 private:
  Scalar number_;
  bool is_number_ = false;
  std::vector<List> items_;
};

}  // namespace nd
