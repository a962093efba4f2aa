// Owning pointers for members of public headers. They are constructed from the results of std::make_unique and
// std::make_shared and convert to std::unique_ptr and std::shared_ptr, without <memory>, which would make every public
// header much longer. The deleter is stored at construction, so the class may be incomplete elsewhere.
//
// Thread safety: handles to one object may be copied and destroyed on different threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/atomic.h>
#include <catena/kernels/base/language.h>

namespace catena {

namespace internal {
// True for std::shared_ptr<U> where U* converts to T*.
template <class S, class T>
concept SharedOf = requires(const S& s) {
  typename S::element_type;
  typename S::weak_type;
  { s.get() } -> std::convertible_to<T*>;
};
// True for std::unique_ptr<U> where U* converts to T*.
template <class P, class T>
concept UniqueOf = requires(P& p) {
  typename P::deleter_type;
  { p.release() } -> std::convertible_to<T*>;
};

// The reference count that the owners of one object share.
struct OwnerCount {
  Atomic<std::uint32_t> refs{1};
  void (*destroy)(OwnerCount*) noexcept;
};
// The object itself, or a value that keeps it alive.
template <class V> struct OwnerHolder : OwnerCount {
  template <class... A>
  explicit OwnerHolder(A&&... arguments)
      : OwnerCount{1, [](OwnerCount* c) noexcept { delete static_cast<OwnerHolder*>(c); }},
        value(std::forward<A>(arguments)...) {}
  V value;
};
}  // namespace internal

// Exclusive ownership of an object.
template <class T> class Owned {
 public:
  Owned() noexcept = default;
  Owned(std::nullptr_t) noexcept {}
  template <std::derived_from<T> U>
  explicit Owned(U* adopt) noexcept : p_(adopt), destroy_([](T* p) noexcept { delete static_cast<U*>(p); }) {}
  template <class P>
  requires(!std::is_lvalue_reference_v<P> && internal::UniqueOf<P, T>) Owned(P&& p)
  noexcept : Owned(p.release()) {}
  Owned(Owned&& o) noexcept : p_(std::exchange(o.p_, nullptr)), destroy_(o.destroy_) {}
  Owned& operator=(Owned o) noexcept {
    std::swap(p_, o.p_);
    std::swap(destroy_, o.destroy_);
    return *this;
  }
  ~Owned() {
    if (p_) destroy_(p_);
  }

  T* get() const noexcept { return p_; }
  T& operator*() const noexcept { return *p_; }
  T* operator->() const noexcept { return p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  friend bool operator==(const Owned& a, std::nullptr_t) noexcept { return a.p_ == nullptr; }
  void reset() noexcept { *this = Owned(); }
  // Transfers the ownership to a std::unique_ptr.
  template <class P>
  requires(internal::UniqueOf<P, const volatile void>&& std::is_convertible_v<T*, typename P::pointer>&&
               std::has_virtual_destructor_v<T>)
  operator P() && noexcept {
    return P(std::exchange(p_, nullptr));
  }

 private:
  T* p_ = nullptr;
  void (*destroy_)(T*) noexcept = nullptr;
};

// Shared ownership of an object, or a plain reference to an object that is owned elsewhere (borrowed).
template <class T> class Shared {
 public:
  using element_type = T;

  Shared() noexcept = default;
  Shared(std::nullptr_t) noexcept {}
  template <class U>
  requires std::is_convertible_v<U*, T*> Shared(const Shared<U>& o)
  noexcept : p_(o.p_), count_(o.count_) { retain(); }
  template <class U>
  requires std::is_convertible_v<U*, T*> Shared(Shared<U>&& o)
  noexcept : p_(std::exchange(o.p_, nullptr)), count_(std::exchange(o.count_, nullptr)) {}
  template <class S>
  requires internal::SharedOf<std::decay_t<S>, T> Shared(S&& s) : p_(s.get()) {
    if (p_) count_ = new internal::OwnerHolder<std::decay_t<S>>(std::forward<S>(s));
  }
  Shared(const Shared& o) noexcept : p_(o.p_), count_(o.count_) { retain(); }
  Shared(Shared&& o) noexcept : p_(std::exchange(o.p_, nullptr)), count_(std::exchange(o.count_, nullptr)) {}
  Shared& operator=(Shared o) noexcept {
    std::swap(p_, o.p_);
    std::swap(count_, o.count_);
    return *this;
  }
  ~Shared() {
    if (count_ && count_->refs.fetch_sub(1, MemoryOrder::acq_rel) == 1) count_->destroy(count_);
  }

  template <class... A> static Shared make(A&&... arguments) {
    Shared result;
    auto* const holder = new internal::OwnerHolder<T>(std::forward<A>(arguments)...);
    result.p_ = &holder->value;
    result.count_ = holder;
    return result;
  }
  // Returns a plain reference; the object must outlive every copy.
  static Shared borrowed(T* object) noexcept {
    Shared result;
    result.p_ = object;
    return result;
  }
  // Points to `p`, and keeps `owner`, a value of any type, alive.
  template <class Owner> static Shared kept_by(T* p, Owner owner) {
    Shared result;
    result.count_ = new internal::OwnerHolder<Owner>(std::move(owner));
    result.p_ = p;
    return result;
  }

  T* get() const noexcept { return p_; }
  std::add_lvalue_reference_t<T> operator*() const noexcept { return *p_; }
  T* operator->() const noexcept { return p_; }
  explicit operator bool() const noexcept { return p_ != nullptr; }
  friend bool operator==(const Shared& a, const Shared& b) noexcept { return a.p_ == b.p_; }
  friend bool operator==(const Shared& a, std::nullptr_t) noexcept { return a.p_ == nullptr; }
  void reset() noexcept { *this = Shared(); }
  // Converts to a std::shared_ptr; its copies together count as one owner.
  template <class S>
  requires(internal::SharedOf<S, const volatile void>&& std::is_convertible_v<T*, typename S::element_type*>)
  operator S() const {
    if (p_ == nullptr) return S();
    return S(p_, [kept = *this](const volatile void*) mutable noexcept { kept.reset(); });
  }

 private:
  template <class U> friend class Shared;
  void retain() const noexcept {
    if (count_) count_->refs.fetch_add(1, MemoryOrder::relaxed);
  }

  T* p_ = nullptr;
  internal::OwnerCount* count_ = nullptr;
};

}  // namespace catena
