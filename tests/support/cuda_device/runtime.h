// Folder tests/support/cuda_device: the software CUDA device, a shared library with the entry points of the driver,
// NVRTC, cuBLASLt, cuRAND, cuSOLVER, cuFFT, cuSPARSE and nvJPEG, implemented on the CPU, with fault injection and
// checks of memory and order. Tests of the device are in tests/cuda. It uses kernels and the declarations of
// ndarray/cuda.
//
// This file: the objects of the driver's handles, the state of the device, and the prologue of every entry point.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <catena/tests/support/cuda_device/errors.h>
#include <catena/tests/support/cuda_device/fault.h>
#include <catena/tests/support/cuda_device/memory.h>
#include <catena/tests/support/cuda_device/module.h>
#include <catena/tests/support/cuda_device/stream.h>

struct CUctx_st {  // the primary context of a device
  int device = 0;
  bool retained = false;
  int error = 0;       // a fatal error, which every call in the context returns; 0: none
  unsigned peers = 0;  // bit mask of the devices whose memory its kernels may use
  // The legacy stream, streams in use, and destroyed streams with work left.
  std::vector<cuda_device::StreamPtr> streams;
};
struct CUfunc_st {
  cuda_device::Function* function = nullptr;
  CUctx_st* context = nullptr;
  std::size_t max_dynamic_shared_bytes = 0;
};
struct CUmod_st {
  cuda_device::Module* module = nullptr;
  CUctx_st* context = nullptr;
  std::map<std::string, CUfunc_st*> functions;  // by name; filled by cuModuleGetFunction
  std::vector<void*> globals;
};
struct CUevent_st {
  CUctx_st* context = nullptr;
  bool timing = true;
  std::shared_ptr<cuda_device::EventRecord> record;  // the last record; null: none
  std::shared_ptr<cuda_device::Capture> capture;     // the capture in which it was last recorded; null: none
  std::vector<std::size_t> nodes;                    // the nodes of the capture that precede it
};

namespace cuda_device {

inline void require_device(int device) {
  require(device >= 0 && device < kDevices, nd::cuda::api::cu_error_invalid_device);
}

// The handles in use. The address of a released handle is not reused soon, so that its use is detected.
template <class T> class Handles {
 public:
  T* add(std::shared_ptr<T> object) {
    T* handle = object.get();
    live_.emplace(handle, std::move(object));
    return handle;
  }
  bool has(T* handle) const { return live_.contains(handle); }
  // Throws CUDA_ERROR_INVALID_HANDLE for an unknown handle.
  const std::shared_ptr<T>& find(T* handle) const {
    const auto found = live_.find(handle);
    require(found != live_.end(), nd::cuda::api::cu_error_invalid_handle);
    return found->second;
  }
  template <class F> void for_each(F&& f) const {
    for (const auto& [handle, object] : live_) f(*object);
  }
  std::shared_ptr<T> remove(T* handle) {
    std::shared_ptr<T> object = find(handle);
    live_.erase(handle);
    dead_.push_back(object);
    if (dead_.size() > 1024) dead_.pop_front();
    return object;
  }

 private:
  std::unordered_map<T*, std::shared_ptr<T>> live_;
  std::deque<std::shared_ptr<T>> dead_;
};

struct Runtime {
  std::mutex mutex;
  std::condition_variable changed;  // notified when a host function has ended
  bool initialised = false;
  std::array<CUctx_st, kDevices> contexts;
  Handles<CUstream_st> streams;
  Handles<CUevent_st> events;
  Handles<CUmod_st> modules;
  Handles<CUfunc_st> functions;  // functions of these modules
  Handles<CUgraph_st> graphs;
  Handles<CUmemPoolHandle_st> pools;
  Handles<CUgraphExec_st> graph_execs;
  std::vector<std::shared_ptr<Capture>> captures;  // active captures

  Runtime();
};
Runtime& runtime();

CUctx_st*& current_context();  // context of the calling thread; null: none
CUctx_st& context_of_handle(nd::cuda::api::cu_context handle);
// Returns the stream; a null handle, or 1, is the legacy stream of the context.
const StreamPtr& stream_of_handle(CUctx_st& context, nd::cuda::api::cu_stream handle);
void poison(CUctx_st& context, int code);
// Clears the errors of all contexts.
void heal();

// Every entry point of the driver uses one of these calls. They count the call, return a planned failure, and run the
// body under the lock; the body throws Failure.
// - plain_call: no condition; basic_call: after cuInit; context_call: with a current context without an error.
enum class Needs { nothing, initialisation, context };
int enter(Entry entry, Needs needs, void (*body)(void*, Lock&), void* argument);
template <class Body> int guarded(Entry entry, Needs needs, Body body) {
  return enter(
      entry, needs, [](void* b, Lock& lock) { (*static_cast<Body*>(b))(lock); }, &body);
}
template <class Body> int plain_call(Entry entry, Body body) {
  return guarded(entry, Needs::nothing, [&](Lock&) { body(); });
}
template <class Body> int basic_call(Entry entry, Body body) {
  return guarded(entry, Needs::initialisation, [&](Lock&) { body(); });
}
template <class Body> int context_call(Entry entry, Body body) {
  return guarded(entry, Needs::context, [&](Lock& lock) { body(*current_context(), lock); });
}

}  // namespace cuda_device
