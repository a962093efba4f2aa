// A vector with inline storage for N elements: the argument lists of graph nodes must not need a malloc.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/language.h>

namespace catena {

template <class T, std::size_t N> class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept {}
  SmallVector(std::initializer_list<T> v) {
    reserve(v.size());
    for (const T& x : v) push_back(x);
  }
  explicit SmallVector(std::size_t n) { resize(n); }
  SmallVector(const std::vector<T>& v) {
    reserve(v.size());
    for (const T& x : v) push_back(x);
  }
  // A list of objects that convert, such as arrays for variables.
  template <class U>
  SmallVector(const std::vector<U>& v) requires(std::is_class_v<U> && !std::is_same_v<U, T> &&
                                                std::is_convertible_v<const U&, T>) {
    reserve(v.size());
    for (const U& x : v) push_back(T(x));
  }
  SmallVector(const SmallVector& o) {
    reserve(o.size_);
    for (const T& x : o) push_back(x);
  }
  SmallVector(SmallVector&& o) noexcept { take(o); }
  SmallVector& operator=(const SmallVector& o) {
    if (this != &o) {
      SmallVector copy(o);
      *this = std::move(copy);
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& o) noexcept {
    if (this != &o) {
      release();
      take(o);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }
  T& front() noexcept { return data_[0]; }
  const T& front() const noexcept { return data_[0]; }
  iterator begin() noexcept { return data_; }
  iterator end() noexcept { return data_ + size_; }
  const_iterator begin() const noexcept { return data_; }
  const_iterator end() const noexcept { return data_ + size_; }
  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }
  operator std::span<const T>() const noexcept { return {data_, size_}; }
  operator std::span<T>() noexcept { return {data_, size_}; }
  std::vector<T> to_vector() const { return {begin(), end()}; }

  template <class... A> T& emplace_back(A&&... a) {
    if (size_ == capacity_) {
      T value(std::forward<A>(a)...);  // constructed before growing: the arguments may refer to an element
      grow(capacity_ * 2);
      return *new (data_ + size_++) T(std::move(value));
    }
    return *new (data_ + size_++) T(std::forward<A>(a)...);
  }
  void push_back(const T& x) { emplace_back(x); }
  void push_back(T&& x) { emplace_back(std::move(x)); }
  void pop_back() noexcept { data_[--size_].~T(); }
  void reserve(std::size_t n) {
    if (n > capacity_) grow(n);
  }
  void resize(std::size_t n) {
    reserve(n);
    while (size_ > n) pop_back();
    while (size_ < n) emplace_back();
  }
  void clear() noexcept {
    while (size_ > 0) pop_back();
  }

 private:
  T* inline_data() noexcept { return std::launder(reinterpret_cast<T*>(inline_)); }
  bool is_inline() const noexcept { return static_cast<const void*>(data_) == static_cast<const void*>(inline_); }
  void grow(std::size_t n) {
    T* fresh = static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
    for (std::size_t i = 0; i < size_; ++i) {
      new (fresh + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    if (!is_inline()) ::operator delete(data_, std::align_val_t(alignof(T)));
    data_ = fresh;
    capacity_ = n;
  }
  void release() noexcept {
    clear();
    if (!is_inline()) ::operator delete(data_, std::align_val_t(alignof(T)));
    data_ = inline_data();
    capacity_ = N;
  }
  void take(SmallVector& o) noexcept {  // this is empty and inline
    if (o.is_inline()) {
      for (std::size_t i = 0; i < o.size_; ++i) new (data_ + i) T(std::move(o.data_[i]));
      size_ = o.size_;
      o.clear();
    } else {
      data_ = std::exchange(o.data_, o.inline_data());
      size_ = std::exchange(o.size_, 0);
      capacity_ = std::exchange(o.capacity_, N);
    }
  }

  alignas(T) std::byte inline_[N * sizeof(T)];
  T* data_ = reinterpret_cast<T*>(inline_);
  std::size_t size_ = 0, capacity_ = N;
};

}  // namespace catena
