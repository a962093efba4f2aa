#include <catena/tests/support/cuda_device/library_work.h>

#include <memory>
#include <utility>

#include <catena/tests/support/cuda_device/graph.h>
#include <catena/tests/support/cuda_device/runtime.h>

namespace cuda_device {

int begin_library_call(Entry entry, int execution_failed) {
  const Fault fault = begin_call(entry);
  if (!is_fatal(fault.code) || fault.code == nd::cuda::api::cu_error_unknown) return fault.code;
  const Lock lock(runtime().mutex);
  if (current_context() != nullptr) poison(*current_context(), fault.code);
  return execution_failed;
}

bool context_is_usable() {
  const Lock lock(runtime().mutex);
  return current_context() != nullptr && current_context()->error == 0;
}

bool is_device_memory(const void* data, std::size_t bytes) {
  const Lock lock(runtime().mutex);
  const Allocation* found = find_allocation(data, bytes);
  return found != nullptr && (found->kind == Allocation::Kind::device || found->kind == Allocation::Kind::managed);
}

bool submit_library_work(const char* name, nd::cuda::api::cu_stream handle, std::function<void()> body) {
  return submit_rank_work(name, handle, {std::move(body), {}, {}});
}

bool submit_rank_work(const char* name, nd::cuda::api::cu_stream handle, RankWork work) {
  Lock lock(runtime().mutex);
  try {
    auto op = std::make_shared<Operation>();
    op->kind = Operation::Kind::library;
    op->devices = (1u << kDevices) - 1;
    op->name = name;
    op->work = std::move(work.begin);
    op->ready = std::move(work.ready);
    op->finish = std::move(work.end);
    enqueue(stream_of_handle(*current_context(), handle), std::move(op), lock);
  } catch (const Failure&) {
    return false;
  }
  return true;
}

}  // namespace cuda_device
