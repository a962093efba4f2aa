// A hash table of values. A value is created once per key and then found by all threads without a lock. Internal to
// ndarray/cuda.
//
// Entries are neither changed nor freed while the table exists, so a reader needs only two loads. When the table grows,
// a new one is published beside the old one, which current readers continue to use.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>

namespace nd::cuda {

// Keys are compared completely: keys with equal hashes are different keys.
struct PackedKey {
  std::array<std::uint64_t, 4> words{};

  std::size_t hash() const noexcept {
    std::uint64_t h = words[0];
    for (std::size_t k = 1; k < words.size(); ++k) h = (std::rotl(h, 29) ^ words[k]) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
  friend auto operator<=>(const PackedKey&, const PackedKey&) = default;
};

template <class Value> class OnceTable {
 public:
  OnceTable() = default;
  OnceTable(const OnceTable&) = delete;
  OnceTable& operator=(const OnceTable&) = delete;

  // Returns null if the key has no value yet. References to values stay valid as long as the table.
  const Value* find(const PackedKey& key) const noexcept {
    const Slots* slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return nullptr;
    for (std::size_t i = key.hash();; ++i) {
      const Entry* entry = slots->at(i).load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->key == key) return &entry->value;
    }
  }

  // Returns the value of `key`, created by `make()` if necessary. If several threads request it at once, one creates it
  // while the others wait, without holding a lock. A CompileError is thrown in all of them, and the next call tries
  // again. After other errors (of the driver, for instance) each waiting thread tries again.
  template <class Make> const Value& find_or_make(const PackedKey& key, Make&& make) {
    for (;;) {
      std::promise<Outcome> promise;
      std::shared_future<Outcome> of_another;
      {
        const std::lock_guard lock(mutex_);
        if (const Value* value = find(key)) return *value;
        const auto [place, first] = in_flight_.try_emplace(key);
        if (first) place->second = promise.get_future().share();
        else of_another = place->second;
      }
      if (!of_another.valid()) return this->make(key, promise, make);
      const Outcome& outcome = of_another.get();
      if (outcome.value != nullptr) return *outcome.value;
      if (!outcome.compile_error.empty()) throw catena::CompileError(outcome.compile_error);
    }
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    Entry(const PackedKey& k, Value&& v) : key(k), value(std::move(v)) {}
    PackedKey key;
    Value value;
  };
  // Holds the text of an exception instead of the object, because every thread must throw its own object.
  struct Outcome {
    const Value* value = nullptr;
    std::string compile_error;
  };
  struct Slots {
    explicit Slots(std::size_t n) : mask(n - 1), entries(n) {}
    std::atomic<const Entry*>& at(std::size_t i) { return entries[i & mask]; }
    const std::atomic<const Entry*>& at(std::size_t i) const { return entries[i & mask]; }

    std::size_t mask;
    std::vector<std::atomic<const Entry*>> entries;  // at most half full, so that probing is short and terminates
  };

  template <class Make> const Value& make(const PackedKey& key, std::promise<Outcome>& promise, Make& make) {
    const auto publish = [&](std::unique_ptr<const Entry> made, const char* compile_error) {
      const std::lock_guard lock(mutex_);
      in_flight_.erase(key);
      const Value* value = made != nullptr ? add(std::move(made)) : nullptr;
      promise.set_value({value, compile_error});
      return value;
    };
    std::unique_ptr<const Entry> made;
    try {
      made = std::make_unique<const Entry>(key, make());
    } catch (const catena::CompileError& e) {
      publish(nullptr, e.what());
      throw;
    } catch (...) {
      publish(nullptr, "");
      throw;
    }
    return *publish(std::move(made), "");
  }

  static void place(Slots& slots, const Entry* entry) {
    std::size_t i = entry->key.hash();
    while (slots.at(i).load(std::memory_order_relaxed) != nullptr) ++i;
    slots.at(i).store(entry, std::memory_order_release);
  }

  const Value* add(std::unique_ptr<const Entry> entry) {
    const Entry* added = entry.get();
    entries_.push_back(std::move(entry));
    if (tables_.empty() || entries_.size() * 2 > tables_.back()->entries.size()) {
      auto grown = std::make_unique<Slots>(tables_.empty() ? 64 : tables_.back()->entries.size() * 2);
      for (const auto& e : entries_) place(*grown, e.get());
      tables_.push_back(std::move(grown));
      slots_.store(tables_.back().get(), std::memory_order_release);
    } else {
      place(*tables_.back(), added);
    }
    return &added->value;
  }

  std::atomic<const Slots*> slots_{nullptr};
  mutable std::mutex mutex_;  // guards all members below
  std::vector<std::unique_ptr<const Entry>> entries_;
  std::vector<std::unique_ptr<Slots>> tables_;  // the last one is in use; readers may still use the others
  std::map<PackedKey, std::shared_future<Outcome>> in_flight_;
};

}  // namespace nd::cuda
