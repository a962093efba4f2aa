// The part of std::atomic that the libraries use, without <atomic>, whose waiting functions include threads, clocks and
// system headers in every file. Sources may use std::atomic.
//
//   catena::Atomic<std::uint32_t> refs{1};
//   if (refs.fetch_sub(1, catena::MemoryOrder::acq_rel) == 1) destroy();
#pragma once

#include <type_traits>

namespace catena {

// The memory orders of C++; a call without one is sequentially consistent.
enum class MemoryOrder : int {
  relaxed = __ATOMIC_RELAXED,
  acquire = __ATOMIC_ACQUIRE,
  release = __ATOMIC_RELEASE,
  acq_rel = __ATOMIC_ACQ_REL,
  seq_cst = __ATOMIC_SEQ_CST
};

// T is an integer, bool or pointer; addition is for integers only.
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
  // If the value is `expected`, stores `desired` and returns true; otherwise stores the value in `expected`. May fail
  // spuriously.
  bool compare_exchange_weak(T& expected, T desired, MemoryOrder order = MemoryOrder::seq_cst) noexcept {
    return __atomic_compare_exchange_n(&value_, &expected, desired, true, int(order), __ATOMIC_RELAXED);
  }

 private:
  T value_;
};

}  // namespace catena
