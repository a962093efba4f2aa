// Results of functions, kept per argument values.
//
//   auto squares = nd::memoize([](int n) { return nd::arange(n) * nd::arange(n); }, {.for_each_device = true});
//   squares(1000);  // computed
//   squares(1000);  // found
//
// Thread safety: everything here may be called from any thread. What several threads ask for at once is computed once,
// and no lock is held meanwhile; an exception reaches all of them, and the next call computes again.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <catena/kernels/base/array_header.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/device/device.h>

namespace nd {

// Drops every memoised result of the process, loaded user kernels among them. What is in use lives until it no longer
// is.
CATENA_EXPORT void clear_memo();

namespace internal {

// What clear_memo() empties.
class CATENA_EXPORT MemoTable {
 public:
  virtual ~MemoTable();
  virtual void clear() = 0;
};
CATENA_EXPORT void register_memo(const std::shared_ptr<MemoTable>& table);

// Values by key, each computed once.
template <class Key, class Value, class Hash>
class MemoMap final : public MemoTable {
 public:
  static std::shared_ptr<MemoMap> make() {
    auto table = std::make_shared<MemoMap>();
    register_memo(table);
    return table;
  }

  // The value of `key`: known, computed by another thread just now, or compute(). RuntimeError when compute() asks for
  // that very key.
  template <class F>
  std::shared_ptr<const Value> find(const Key& key, F&& compute) {
    std::shared_ptr<Entry> entry = known(key);
    if (entry == nullptr) {
      auto fresh = std::make_shared<Entry>();
      {
        const std::unique_lock lock(mutex_);
        entry = entries_.try_emplace(key, fresh).first->second;
      }
      if (entry == fresh) return fill(key, *entry, std::forward<F>(compute));
    }
    if (entry->owner == std::this_thread::get_id() &&
        entry->result.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      throw catena::RuntimeError("memoize: the value for these arguments is needed to compute itself");
    return entry->result.get();
  }

  void clear() override {
    Entries dropped;  // their destructors run without the lock
    const std::unique_lock lock(mutex_);
    dropped.swap(entries_);
  }

 private:
  struct Entry {
    std::promise<std::shared_ptr<const Value>> promise;
    std::shared_future<std::shared_ptr<const Value>> result{promise.get_future()};
    std::thread::id owner = std::this_thread::get_id();
  };
  using Entries = std::unordered_map<Key, std::shared_ptr<Entry>, Hash>;

  std::shared_ptr<Entry> known(const Key& key) const {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : found->second;
  }

  template <class F>
  std::shared_ptr<const Value> fill(const Key& key, Entry& entry, F&& compute) {
    try {
      auto value = std::make_shared<const Value>(compute());
      entry.promise.set_value(value);
      return value;
    } catch (...) {
      {
        const std::unique_lock lock(mutex_);
        const auto found = entries_.find(key);
        if (found != entries_.end() && found->second.get() == &entry) entries_.erase(found);
      }
      entry.promise.set_exception(std::current_exception());
      throw;
    }
  }

  mutable std::shared_mutex mutex_;
  Entries entries_;
};

// What an argument is kept as: texts by their characters, everything else by value.
template <class A>
struct memo_key {
  using type = std::decay_t<A>;
};
template <class A>
requires(std::is_convertible_v<A, std::string_view>) struct memo_key<A> {
  using type = std::string;
};

inline std::size_t mix(std::size_t a, std::size_t b) noexcept {
  return (a ^ b) * std::size_t(0x9e3779b97f4a7c15) + (a >> 29);
}

// Anything with std::hash; ranges by their elements.
inline std::size_t memo_hash(const std::optional<Device>& d) {
  return d ? mix(1 + std::size_t(d->kind), std::size_t(d->id)) : 0;
}
template <class T>
std::size_t memo_hash(const T& v) {
  if constexpr (std::is_default_constructible_v<std::hash<T>>) {
    return std::hash<T>{}(v);
  } else {
    static_assert(std::ranges::range<T>, "memoize: an argument type has neither std::hash nor elements");
    std::size_t h = 0;
    for (const auto& element : v) h = mix(h, memo_hash(element));
    return h;
  }
}
struct MemoHash {
  template <class... T>
  std::size_t operator()(const std::tuple<T...>& key) const {
    std::size_t h = 0;
    std::apply([&h](const T&... part) { ((h = mix(h, memo_hash(part))), ...); }, key);
    return h;
  }
};

template <class Function>
struct signature;
template <class R, class... A>
struct signature<std::function<R(A...)>> {
  using type = R(A...);
};
template <class F>
using signature_of = typename signature<decltype(std::function(std::declval<F>()))>::type;

}  // namespace internal

struct MemoizeOptions {
  bool for_each_device = false;  // results belong to the device that is current at the call
};

// A function that remembers. Copies share what they know.
template <class Signature>
class Memoized;
template <class R, class... A>
class Memoized<R(A...)> {
  static_assert(std::is_object_v<R>, "memoize: the function must return a value");

 public:
  Memoized(std::function<R(A...)> f, MemoizeOptions options)
      : f_(std::move(f)), options_(options), table_(Table::make()) {}

  // A copy of the result for these argument values.
  R operator()(A... args) const {
    Key key(options_.for_each_device ? std::optional(current_device()) : std::nullopt,
            typename internal::memo_key<A>::type(args)...);
    return *table_->find(key, [&] { return f_(std::forward<A>(args)...); });
  }

 private:
  using Key = std::tuple<std::optional<Device>, typename internal::memo_key<A>::type...>;
  using Table = internal::MemoMap<Key, R, internal::MemoHash>;

  std::function<R(A...)> f_;
  MemoizeOptions options_;
  std::shared_ptr<Table> table_;
};

// `f` with its results kept per argument values, which need == and std::hash, or are ranges of such. A function with
// several signatures (overloaded, generic) names the one: memoize<double(int)>(f).
template <class Signature, class F>
requires(std::is_function_v<Signature>) Memoized<Signature> memoize(F f, MemoizeOptions options = {}) {
  return {std::move(f), options};
}
template <class F>
Memoized<internal::signature_of<F>> memoize(F f, MemoizeOptions options = {}) {
  return {std::move(f), options};
}

}  // namespace nd
