#include <catena/tests/support/cuda_device/runtime.h>

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include <catena/tests/support/cuda_device/report.h>

namespace cuda_device {

using namespace nd::cuda::api;

namespace {

// As with a real driver, every call fails in a child of fork() if the parent has initialised the driver. Tests of
// reports that end a program run it in such children; they set $CATENA_SOFTWARE_CUDA_FORK to "survives".
std::atomic<bool> forked{false};
void note_fork() {
  const char* wanted = std::getenv("CATENA_SOFTWARE_CUDA_FORK");
  if (wanted == nullptr || *wanted == '\0') forked.store(true);
}

}  // namespace

Runtime::Runtime() {
  pthread_atfork(nullptr, nullptr, note_fork);
  for (int d = 0; d < kDevices; ++d) contexts[static_cast<std::size_t>(d)].device = d;
}

// Never destroyed, because threads may call the driver until the process ends.
Runtime& runtime() {
  static Runtime& r = *new Runtime;
  return r;
}

CUctx_st*& current_context() {
  static thread_local CUctx_st* current = nullptr;
  return current;
}

CUctx_st& context_of_handle(cu_context handle) {
  for (CUctx_st& context : runtime().contexts)
    if (&context == handle && context.retained) return context;
  throw Failure{cu_error_invalid_context};
}

const StreamPtr& stream_of_handle(CUctx_st& context, cu_stream handle) {
  if (reinterpret_cast<std::uintptr_t>(handle) <= 1) return context.streams.front();
  if (!runtime().streams.has(handle))
    report("a stream is used that was destroyed; a real driver may crash" + describe_stack());
  return runtime().streams.find(handle);
}

void poison(CUctx_st& context, int code) {
  if (context.error == 0) context.error = code;
}

void heal() {
  const Lock lock(runtime().mutex);
  for (CUctx_st& context : runtime().contexts) context.error = 0;
}

int enter(Entry entry, Needs needs, void (*body)(void*, Lock&), void* argument) {
  if (inside_host_function()) return error_not_permitted;
  if (forked.load() && needs != Needs::nothing) return cu_error_not_initialized;
  Lock lock(runtime().mutex);
  const Fault fault = begin_call(entry);
  CUctx_st* const context = current_context();
  if (fault.code != 0) {
    if (fault.sticky && is_fatal(fault.code) && context != nullptr) poison(*context, fault.code);
    return fault.code;
  }
  if (needs != Needs::nothing && !runtime().initialised) return cu_error_not_initialized;
  if (needs == Needs::context) {
    if (context == nullptr) return cu_error_invalid_context;
    if (context->error != 0) return context->error;
  }
  try {
    body(argument, lock);
  } catch (const Failure& failure) {
    return failure.code;
  }
  return needs == Needs::context ? context->error : cu_success;
}

}  // namespace cuda_device
