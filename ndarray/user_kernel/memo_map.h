// A table of values, each computed once, for memoised functions and loaded kernels. Thread safety: see memoize.h.
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/export.h>

namespace nd::internal {

// A table that clear_memo() empties.
class CATENA_EXPORT MemoTable {
 public:
  virtual ~MemoTable();
  virtual void clear() = 0;
};
CATENA_EXPORT void register_memo(const std::shared_ptr<MemoTable>& table);

// Values by key; each is computed once.
template <class Key, class Value, class Hash> class MemoMap final : public MemoTable {
 public:
  static std::shared_ptr<MemoMap> make() {
    auto table = std::make_shared<MemoMap>();
    register_memo(table);
    return table;
  }

  // Returns the value of `key`: a stored one, one that another thread is computing now, or compute(). RuntimeError if
  // compute() requests the same key.
  template <class F> std::shared_ptr<const Value> find(const Key& key, F&& compute) {
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
    Entries dropped;  // destroyed after the mutex is unlocked
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

  template <class F> std::shared_ptr<const Value> fill(const Key& key, Entry& entry, F&& compute) {
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

}  // namespace nd::internal
