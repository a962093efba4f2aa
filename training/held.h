// How training objects hold each other.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>

namespace training {

// An lvalue is borrowed (it must outlive the holder), an rvalue is owned, a shared pointer is shared.
template <class Base>
class Held {
 public:
  Held(Base& borrowed) : p_(&borrowed, [](Base*) {}) {}
  template <class T, class = std::enable_if_t<std::is_base_of_v<Base, T> && !std::is_lvalue_reference_v<T>>>
  Held(T&& owned) : p_(std::make_shared<T>(std::move(owned))) {}
  template <class T, class = std::enable_if_t<std::is_convertible_v<T*, Base*>>>
  Held(std::shared_ptr<T> shared) : p_(std::move(shared)) {}
  Base& operator*() const noexcept { return *p_; }
  Base* operator->() const noexcept { return p_.get(); }
  Base* get() const noexcept { return p_.get(); }
  const std::shared_ptr<Base>& shared() const noexcept { return p_; }

 private:
  std::shared_ptr<Base> p_;
};

template <class Base>
using HeldMap = std::vector<std::pair<std::string, Held<Base>>>;  // in insertion order

// What is held under a name; KeyError listing the names.
template <class Base>
Base& find_held(const HeldMap<Base>& map, const std::string& name, const char* op) {
  std::string names;
  for (const auto& [key, held] : map) {
    if (key == name) return *held;
    names += (names.empty() ? "" : ", ") + key;
  }
  catena::fail<catena::KeyError>(op, "there is nothing named ", name, " (there is: ", names, ")");
}

}  // namespace training
