// A variable with another value within a scope.
#pragma once

#include <utility>

#include <catena/kernels/base/language.h>

namespace catena {

// Gives a variable a value; gives it its previous value back at the end of the scope, also when an exception leaves it.
template <class T> class [[nodiscard]] ScopedValue {
 public:
  ScopedValue(T& variable, T value) : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
  ~ScopedValue() { variable_ = std::move(before_); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T& variable_;
  T before_;
};

}  // namespace catena
