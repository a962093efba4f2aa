// Folder ndarray/chainer_cuda/: for programs that run with and without a GPU, in the terms of Chainer's module `cuda`:
// nd::cuda::Device, transfers, the module of an array, kernels by their texts. It gives these names to functions of
// other folders. May use all folders of ndarray/ except the CPU backend.
//
// This header: a CUDA device as an object, and its replacement on the CPU.
//
//   nd::cuda::Device(1).use();                                   // for this thread, from now on
//   { const auto on = nd::cuda::Device(0).scope();  ... }        // until the end of the scope
//
// Thread safety: all functions may be called from any thread; the current device belongs to the calling thread.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/stream.h>

// The types of the libraries' handles, under their names there.
struct cublasContext;
struct cusolverDnContext;

namespace nd::cuda {

// A CUDA device by its number, or the DummyDevice, whose number is -1. Constructing one needs no GPU; using it does.
class CATENA_EXPORT Device {
 public:
  Device();  // the current device; the DummyDevice if that is the CPU
  template <std::integral I> Device(I number) : Device(Number{}, static_cast<std::int64_t>(number)) {}
  constexpr Device(nd::Device device) noexcept  // the DummyDevice for the CPU
      : id(device.kind == nd::Device::Kind::cuda ? device.id : -1) {}

  int id;

  bool is_dummy() const noexcept { return id < 0; }
  // Returns the device as the value for functions on arrays; nd::cpu_device for the DummyDevice.
  operator nd::Device() const noexcept;
  explicit operator int() const noexcept { return id; }

  // Makes this the current device of the thread. RuntimeError "CUDA is unavailable: ...", ValueError for a number
  // without a device. The DummyDevice does nothing, here and below: to make the CPU current, use nd::DeviceScope.
  void use() const;
  // Makes this the current device until the end of the scope, then restores the previous one, also if an exception is
  // thrown.
  class Scope {
   public:
    explicit Scope(const Device& device) {
      if (!device.is_dummy()) scope_.emplace(device);
    }

   private:
    std::optional<DeviceScope> scope_;
  };
  [[nodiscard]] Scope scope() const { return Scope(*this); }
  void synchronize() const;                // waits for all work on the device
  std::string compute_capability() const;  // "90"; empty for the DummyDevice

  // Return the handles of the libraries for low-level calls (cuda/vendor/cublas.h, cusolver_calls.h): one per device
  // and library, created at the first use, shared by all Device objects of that number. They exist until the program
  // ends. Their stream is the default stream unless the program sets it. RuntimeError without the library, and for the
  // DummyDevice.
  cublasContext* cublas_handle() const;
  cusolverDnContext* cusolver_handle() const;

  friend bool operator==(const Device& a, const Device& b) noexcept { return a.id == b.id; }
  friend bool operator==(const Device& a, const nd::Device& b) noexcept { return a == Device(b); }
  friend std::strong_ordering operator<=>(const Device& a, const Device& b) noexcept { return a.id <=> b.id; }

 private:
  struct Number {};
  Device(Number, std::int64_t number);  // ValueError for a negative number and for those beyond 32767
};
CATENA_EXPORT std::string to_string(const Device& device);  // "<CUDA Device 1>", "<CPU Device>"
CATENA_EXPORT std::ostream& operator<<(std::ostream& out, const Device& device);

// The CPU as a device: its scope, use() and synchronize() do nothing, and all dummies are equal.
inline constexpr Device DummyDevice{cpu_device};

CATENA_EXPORT int get_device_id();  // of the current device; -1 on the CPU
// Return the handles of the current device.
CATENA_EXPORT cublasContext* get_cublas_handle();
CATENA_EXPORT cusolverDnContext* get_cusolver_handle();

// True if there is a CUDA device.
CATENA_EXPORT bool available() noexcept;
// RuntimeError "CUDA is unavailable: <why>" if there is none.
CATENA_EXPORT void check_available();
// Deprecated: nothing needs to be initialised.
CATENA_EXPORT void init();

// Returns the device of that number, or the DummyDevice without a number. RuntimeError if CUDA is unavailable and a
// number is given.
CATENA_EXPORT Device get_device_from_id(std::optional<int> device_id);

}  // namespace nd::cuda
