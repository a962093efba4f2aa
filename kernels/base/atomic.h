// What the libraries use of std::atomic, without <atomic>, whose waiting functions bring threads, clocks and system
// headers into every file: a sixteenth of the time in which a compiler reads catena.h. Sources may use std::atomic.
//
//   catena::Atomic<std::uint32_t> refs{1};
//   if (refs.fetch_sub(1, catena::MemoryOrder::acq_rel) == 1) destroy();
#pragma once

#include <type_traits>

namespace catena {

// Of C++; a call without one is sequentially consistent.
enum class MemoryOrder : int {
  relaxed = __ATOMIC_RELAXED,
  acquire = __ATOMIC_ACQUIRE,
  release = __ATOMIC_RELEASE,
  acq_rel = __ATOMIC_ACQ_REL,
  seq_cst = __ATOMIC_SEQ_CST
};

// An integer, bool or pointer; addition is for integers.
template <class T> class Atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(void*));

 public:
  constexpr Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  operator T() const noexcept { return load(); }
  T load(MemoryOrder order = MemoryOrder::seq_cst) const noexcept { return __atomic_load_n(&value_, int(order)); }
  void store(T value, MemoryOrder order = MemoryOrder::seq_cst) noexcept {
    __atomic_store_n(&value_, value, int(order));
  }
  T exchange(T value, MemoryOrder order = MemoryOrder::seq_cst) noexcept {
    return __atomic_exchange_n(&value_, value, int(order));
  }
  T fetch_add(T by, MemoryOrder order = MemoryOrder::seq_cst) noexcept {
    return __atomic_fetch_add(&value_, by, int(order));
  }
  T fetch_sub(T by, MemoryOrder order = MemoryOrder::seq_cst) noexcept {
    return __atomic_fetch_sub(&value_, by, int(order));
  }
  // Stores `desired` and is true if the value is `expected`, which otherwise becomes the value. May fail without
  // reason.
  bool compare_exchange_weak(T& expected, T desired, MemoryOrder order = MemoryOrder::seq_cst) noexcept {
    return __atomic_compare_exchange_n(&value_, &expected, desired, true, int(order), __ATOMIC_RELAXED);
  }

 private:
  T value_;
};

}  // namespace catena
