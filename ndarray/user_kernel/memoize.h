// memoize: keeps the results of a function per argument values.
//
//   auto squares = nd::memoize([](int n) { return nd::arange(n) * nd::arange(n); }, {.for_each_device = true});
//   squares(1000);  // computed
//   squares(1000);  // found
//
// Thread safety: all functions may be called from any thread. If several threads request the same value at the same
// time, it is computed once, without holding a lock; an exception is thrown in all of them, and the next call computes
// again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/ndarray/device/device.h>

namespace nd {

// Drops all memoised results of the process, including loaded user kernels. Objects in use exist until their last
// reference is gone.
CATENA_EXPORT void clear_memo();

namespace internal {

// The argument values of one call.
class CATENA_EXPORT MemoKey {
 public:
  virtual ~MemoKey();
  virtual std::size_t hash() const = 0;
  virtual bool equals(const MemoKey& other) const = 0;  // `other` has the same class
  virtual catena::Owned<MemoKey> copy() const = 0;
};

// The stored results of one memoised function.
class CATENA_EXPORT Memo {
 public:
  static catena::Shared<Memo> make();
  virtual ~Memo();
  // Returns the value of `key`: a stored one, one that another thread is computing now, or compute(). RuntimeError if
  // compute() requests the same key.
  virtual catena::Shared<const void> find(const MemoKey& key,
                                          const catena::Function<catena::Shared<const void>()>& compute) = 0;
};

// The type in which an argument is stored: texts as std::string, all other types by value.
template <class A> struct memo_key { using type = std::decay_t<A>; };
template <class A>
requires(std::is_convertible_v<A, std::string_view>) struct memo_key<A> {
  using type = std::string;
};

inline std::size_t mix(std::size_t a, std::size_t b) noexcept { return (a ^ b) * 0x9e3779b97f4a7c15ul + (a >> 29); }

// Hash of a part of a key: std::hash; for ranges, over their elements.
inline std::size_t memo_hash(const std::optional<Device>& d) {
  return d ? mix(1 + std::size_t(d->kind), std::size_t(d->id)) : 0;
}
template <class T> std::size_t memo_hash(const T& v) {
  if constexpr (std::is_default_constructible_v<std::hash<T>>) {
    return std::hash<T>{}(v);
  } else {
    static_assert(
        requires { v.begin(), v.end(); }, "memoize: an argument type has neither std::hash nor elements");
    std::size_t h = 0;
    for (const auto& element : v) h = mix(h, memo_hash(element));
    return h;
  }
}
template <class... K> class MemoKeyOf final : public MemoKey {
 public:
  explicit MemoKeyOf(K... values) : values_(std::move(values)...) {}
  std::size_t hash() const override {
    return std::apply(
        [](const K&... value) {
          std::size_t h = 0;
          ((h = mix(h, memo_hash(value))), ...);
          return h;
        },
        values_);
  }
  bool equals(const MemoKey& other) const override { return values_ == static_cast<const MemoKeyOf&>(other).values_; }
  catena::Owned<MemoKey> copy() const override { return catena::Owned<MemoKey>(new MemoKeyOf(*this)); }

 private:
  std::tuple<K...> values_;
};

// The signature R(A...) of a function pointer or of an object with one operator().
template <class F> struct signature {};
template <class F>
requires requires { &F::operator(); }
struct signature<F> : signature<decltype(&F::operator())> {};
#define ND_MEMO_SIGNATURE(qualifiers) \
  template <class R, class C, class... A> struct signature<R (C::*)(A...) qualifiers> { using type = R(A...); }
ND_MEMO_SIGNATURE();
ND_MEMO_SIGNATURE(const);
ND_MEMO_SIGNATURE(noexcept);
ND_MEMO_SIGNATURE(const noexcept);
ND_MEMO_SIGNATURE(&);
ND_MEMO_SIGNATURE(const&);
ND_MEMO_SIGNATURE(&noexcept);
ND_MEMO_SIGNATURE(const& noexcept);
#undef ND_MEMO_SIGNATURE
template <class R, class... A> struct signature<R (*)(A...)> { using type = R(A...); };
template <class R, class... A> struct signature<R (*)(A...) noexcept> { using type = R(A...); };
template <class F> using signature_of = typename signature<F>::type;

}  // namespace internal

struct MemoizeOptions {
  bool for_each_device = false;  // results are kept separately for each device that is current at the call
};

template <class Signature> class Memoized;
// A memoised function. Copies share the stored results.
template <class R, class... A> class Memoized<R(A...)> {
  static_assert(std::is_object_v<R>, "memoize: the function must return a value");

 public:
  Memoized(catena::Function<R(A...)> f, MemoizeOptions options)
      : f_(std::move(f)), options_(options), memo_(internal::Memo::make()) {}

  // Returns a copy of the result for these argument values.
  R operator()(A... args) const {
    const Key key(options_.for_each_device ? std::optional(current_device()) : std::nullopt,
                  typename internal::memo_key<A>::type(args)...);
    const auto compute = [&] { return catena::Shared<const R>::make(f_(std::forward<A>(args)...)); };
    return *static_cast<const R*>(memo_->find(key, compute).get());
  }

 private:
  using Key = internal::MemoKeyOf<std::optional<Device>, typename internal::memo_key<A>::type...>;

  catena::Function<R(A...)> f_;
  MemoizeOptions options_;
  catena::Shared<internal::Memo> memo_;
};

// Memoises `f`. Arguments must have == and std::hash, or be ranges of such values. For a function with several
// signatures (overloaded, generic) the signature is given explicitly: memoize<double(int)>(f).
template <class Signature, class F>
requires(std::is_function_v<Signature>) Memoized<Signature> memoize(F f, MemoizeOptions options = {}) {
  return {std::move(f), options};
}
template <class F> Memoized<internal::signature_of<F>> memoize(F f, MemoizeOptions options = {}) {
  return {std::move(f), options};
}

}  // namespace nd
