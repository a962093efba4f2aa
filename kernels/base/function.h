// A callable with a given signature, used in headers instead of std::function, whose header <functional> would make
// every public header much longer.
//
// Copies are deep and moves do not throw. An empty Function must not be called; it results from an empty std::function,
// a null function pointer or another empty Function. Thread safety: as thread-safe as the callable.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/language.h>

namespace catena {

template <class Signature> class Function;

// Classes whose operator() takes keys, such as arrays, have a member type of this name. They are not functions.
template <class F>
concept NotAFunction = requires {
  typename F::not_a_function;
};

template <class R, class... A> class Function<R(A...)> {
  template <class F>
  static constexpr bool is_callable = [] {
    if constexpr (std::is_same_v<F, Function> || NotAFunction<F>) return false;
    else return std::is_invocable_r_v<R, F&, A...>;
  }();

 public:
  Function() noexcept = default;
  Function(std::nullptr_t) noexcept {}
  template <class F>
  requires(is_callable<std::decay_t<F>>) Function(F&& f) {
    using Target = std::decay_t<F>;
    if constexpr (!std::is_function_v<std::remove_reference_t<F>> && requires { f == nullptr; })
      if (f == nullptr) return;
    if constexpr (is_small<Target>) new (bytes_) Target(std::forward<F>(f));
    else *reinterpret_cast<Target**>(bytes_) = new Target(std::forward<F>(f));
    table_ = &kTable<Target>;
  }
  Function(const Function& o) {
    if (o.table_) o.table_->copy(bytes_, o.bytes_);
    table_ = o.table_;
  }
  Function(Function&& o) noexcept { take(o); }
  Function& operator=(Function o) noexcept {
    clear();
    take(o);
    return *this;
  }
  ~Function() { clear(); }

  explicit operator bool() const noexcept { return table_ != nullptr; }
  friend bool operator==(const Function& f, std::nullptr_t) noexcept { return f.table_ == nullptr; }
  R operator()(A... arguments) const { return table_->call(bytes_, std::forward<A>(arguments)...); }

 private:
  static constexpr std::size_t kBytes = 3 * sizeof(void*);
  template <class T>
  static constexpr bool is_small = sizeof(T) <= kBytes &&
                                   alignof(T) <= alignof(void*) && std::is_nothrow_move_constructible_v<T>;
  template <class T> static T& target(std::byte* bytes) noexcept {
    if constexpr (is_small<T>) return *std::launder(reinterpret_cast<T*>(bytes));
    else return **reinterpret_cast<T**>(bytes);
  }

  // The operations on a callable of one type, which is stored at `bytes`.
  struct Table {
    R (*call)(std::byte* bytes, A&&... arguments);
    void (*copy)(std::byte* to, std::byte* from);
    void (*move)(std::byte* to, std::byte* from) noexcept;  // destroys the source
    void (*destroy)(std::byte* bytes) noexcept;
  };
  template <class T>
  static constexpr Table kTable = {[](std::byte* bytes, A&&... arguments) -> R {
                                     if constexpr (std::is_void_v<R>)
                                       static_cast<void>(target<T>(bytes)(std::forward<A>(arguments)...));
                                     else return target<T>(bytes)(std::forward<A>(arguments)...);
                                   },
                                   [](std::byte* to, std::byte* from) {
                                     if constexpr (is_small<T>) new (to) T(std::as_const(target<T>(from)));
                                     else *reinterpret_cast<T**>(to) = new T(std::as_const(target<T>(from)));
                                   },
                                   [](std::byte* to, std::byte* from) noexcept {
                                     if constexpr (is_small<T>) {
                                       new (to) T(std::move(target<T>(from)));
                                       target<T>(from).~T();
                                     } else {
                                       *reinterpret_cast<T**>(to) = *reinterpret_cast<T**>(from);
                                     }
                                   },
                                   [](std::byte* bytes) noexcept {
                                     if constexpr (is_small<T>) target<T>(bytes).~T();
                                     else delete &target<T>(bytes);
                                   }};

  void take(Function& o) noexcept {
    if (o.table_) o.table_->move(bytes_, o.bytes_);
    table_ = std::exchange(o.table_, nullptr);
  }
  void clear() noexcept {
    if (table_) table_->destroy(bytes_);
    table_ = nullptr;
  }

  const Table* table_ = nullptr;
  alignas(void*) mutable std::byte bytes_[kBytes];
};

}  // namespace catena
