// Operand: the argument type of computations, an array or a host number. Both convert implicitly.
#pragma once

#include <type_traits>

#include <catena/autograd/backend/array.h>

namespace autograd {

// An lvalue array is borrowed and must outlive the operand; the operand owns a reference to a temporary.
class Operand {
 public:
  Operand(const Array& a) : array_(a.get()), borrowed_(true) {
    catena::check<catena::ValueError>(bool(a), "Operand", "the array is null");
  }
  Operand(Array&& a) : array_(std::move(a)) {
    catena::check<catena::ValueError>(bool(array_), "Operand", "the array is null");
  }
  Operand(const Array&& a) : array_(a) {  // a const temporary, as from a conditional expression
    catena::check<catena::ValueError>(bool(array_), "Operand", "the array is null");
  }
  Operand(const Scalar& s) noexcept : scalar_(s) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Operand(T v) noexcept : scalar_(v) {}
  Operand(const Operand& o)
      : array_(o.borrowed_ ? Array(o.array_.get()) : o.array_), borrowed_(o.borrowed_), scalar_(o.scalar_) {}
  Operand(Operand&& o) noexcept
      : array_(std::move(o.array_)), borrowed_(std::exchange(o.borrowed_, false)), scalar_(o.scalar_) {}
  Operand& operator=(const Operand& o) {
    if (this != &o) {
      this->~Operand();
      new (this) Operand(o);
    }
    return *this;
  }
  ~Operand() {
    if (borrowed_) array_.release();
  }

  bool is_array() const noexcept { return bool(array_); }
  const Array& array() const noexcept { return array_; }
  const Scalar& scalar() const noexcept { return scalar_; }

 private:
  Array array_;
  bool borrowed_ = false;  // array_ owns no reference
  Scalar scalar_;
};

}  // namespace autograd
