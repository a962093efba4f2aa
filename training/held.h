// References between training objects.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/pointers.h>

namespace training {

// A specialisation defines conversions of other types to a Base: make(x) returns a shared pointer to one that is made
// of x, and take(x) to one that refers to an lvalue and owns an rvalue.
template <class Base> struct HeldFrom {};

namespace internal {
// As catena::Shared<T>::make(); without memory, an OutOfMemoryError of Catena.
template <class T> catena::Shared<std::decay_t<T>> make_held(T&& owned) try {
  return catena::Shared<std::decay_t<T>>::make(std::forward<T>(owned));
} catch (...) {
  catena::rethrow_standard("Held");
}
}  // namespace internal

// A reference or an owner: an lvalue is borrowed (it must outlive the holder), an rvalue is owned, a shared pointer is
// shared.
template <class Base> class Held {
 public:
  Held(Base& borrowed) : p_(catena::Shared<Base>::borrowed(&borrowed)) {}
  template <class T, class = std::enable_if_t<std::is_base_of_v<Base, T> && !std::is_lvalue_reference_v<T>>>
  Held(T&& owned) : p_(internal::make_held(std::move(owned))) {}
  template <class S> Held(S shared) requires std::is_convertible_v<S, catena::Shared<Base>> : p_(std::move(shared)) {}
  template <class T>
  requires requires(const T& x) { HeldFrom<Base>::make(x); }
  Held(const T& x) : p_(HeldFrom<Base>::make(x)) {}
  template <class T>
  requires requires(T&& x) { HeldFrom<Base>::take(static_cast<T&&>(x)); }
  Held(T&& x) : p_(HeldFrom<Base>::take(static_cast<T&&>(x))) {}
  Base& operator*() const noexcept { return *p_; }
  Base* operator->() const noexcept { return p_.get(); }
  Base* get() const noexcept { return p_.get(); }
  const catena::Shared<Base>& shared() const noexcept { return p_; }

 private:
  catena::Shared<Base> p_;
};

template <class Base> using HeldMap = std::vector<std::pair<std::string, Held<Base>>>;  // in insertion order

// Returns the object with a name; the KeyError lists the names.
template <class Base> Base& find_held(const HeldMap<Base>& map, const std::string& name, const char* op) {
  std::string names;
  for (const auto& [key, held] : map) {
    if (key == name) return *held;
    names += (names.empty() ? "" : ", ") + key;
  }
  catena::fail<catena::KeyError>(op, "there is nothing named ", name, " (there is: ", names, ")");
}

}  // namespace training
