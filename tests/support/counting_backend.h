// A backend of host memory that counts allocations and fails at the Nth one; for tests of the memory pool.
#pragma once

#include <atomic>
#include <cstdlib>
#include <functional>

#include <catena/ndarray/device/runtime.h>

namespace test {

class CountingBackend final : public nd::Runtime {
 public:
  explicit CountingBackend(catena::Device::Kind kind = catena::Device::Kind::cpu, int devices = 2)
      : kind_(kind), devices_(devices) {}
  // growing: the backend also has the growing memory of the CPU.
  explicit CountingBackend(bool growing) : CountingBackend() { growing_ = growing; }

  std::atomic<std::int64_t> allocations{0}, deallocations{0}, bytes{0};
  std::atomic<std::int64_t> fail_at{0};           // allocations from this number (from 1) on fail; 0: none
  std::atomic<std::int64_t> capacity{INT64_MAX};  // bytes of each device
  std::atomic<int> events{0}, recorded{0};
  std::atomic<bool> events_done{true};
  std::function<void()> on_create_event;  // called first; the pool makes events under the lock of an arena

  catena::Device::Kind kind() const noexcept override { return kind_; }
  int device_count() const noexcept override { return devices_; }
  const nd::DeviceProperties& properties(int) const override { return properties_; }
  std::byte* allocate(int, std::size_t n) override {
    if (!count(n)) return nullptr;
    return static_cast<std::byte*>(std::aligned_alloc(64, (n + 63) / 64 * 64));
  }
  void deallocate(int, std::byte* data, std::size_t n) noexcept override {
    ++deallocations;
    bytes -= std::int64_t(n);
    std::free(data);
  }
  std::size_t growth_unit() const noexcept override { return growing_ ? cpu().growth_unit() : 0; }
  std::byte* grow(int, std::byte* end, std::size_t n) override {
    if (!count(n)) return nullptr;
    std::byte* const data = cpu().grow(0, end, n);
    if (data == nullptr) bytes -= std::int64_t(n);
    return data;
  }
  void shrink(int, std::byte* data, std::size_t n) noexcept override {
    ++deallocations;
    bytes -= std::int64_t(n);
    cpu().shrink(0, data, n);
  }
  nd::MemoryInfo memory_info(int) const override { return {std::size_t(1) << 30, std::size_t(1) << 30}; }
  bool copy(std::byte*, catena::Device, const std::byte*, catena::Device, std::size_t, nd::StreamRef) override {
    return true;
  }
  void synchronize(nd::StreamRef) override {}
  void* create_stream(int, bool, int) override { return new char; }
  void destroy_stream(nd::StreamRef s) noexcept override { delete static_cast<char*>(s.handle); }
  bool stream_done(nd::StreamRef) override { return true; }
  void* create_event(int, const nd::EventOptions&) override {
    if (on_create_event) on_create_event();
    ++events;
    return new char;
  }
  void destroy_event(int, void* e) noexcept override {
    --events;
    delete static_cast<char*>(e);
  }
  void record_event(void*, nd::StreamRef) override { ++recorded; }
  void wait_event(nd::StreamRef, void*) override {}
  bool event_done(void*) override { return events_done; }
  void synchronize_event(void*) override {}
  double elapsed_ms(void*, void*) override { return 0; }

 private:
  static nd::Runtime& cpu() { return nd::runtime(catena::Device::Kind::cpu); }
  bool count(std::size_t n) {
    const std::int64_t number = ++allocations;
    if (fail_at != 0 && number >= fail_at) return false;
    if (bytes + std::int64_t(n) > capacity) return false;
    bytes += std::int64_t(n);
    return true;
  }

  catena::Device::Kind kind_;
  int devices_;
  bool growing_ = false;
  nd::DeviceProperties properties_;
};

}  // namespace test
