// Entry points for streams, events, captures and graphs.
#include <algorithm>
#include <chrono>
#include <memory>

#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/graph.h>
#include <catena/tests/support/cuda_device/record.h>
#include <catena/tests/support/cuda_device/runtime.h>

using namespace cuda_device;
using namespace nd::cuda::api;

namespace {

constexpr int kGreatestPriority = -5;  // of compute capability 9.0

void require_pointer(const void* p) { require(p != nullptr, cu_error_invalid_value); }

// Returns the end of a stream; the end of the legacy stream also follows the blocking streams.
Point point_of(const StreamPtr& stream, Lock& lock) {
  if (stream->legacy) submit(stream, nullptr, lock);
  return end_of(stream);
}

}  // namespace

// ---- streams ------------------------------------------------------------------------------------
cu_result cuStreamCreate(cu_stream* handle, unsigned flags) {
  return context_call(Entry::cuStreamCreate, [&](CUctx_st& context, Lock&) {
    require(handle != nullptr && flags <= cu_stream_non_blocking, cu_error_invalid_value);
    *handle = runtime().streams.add(make_stream(context, flags == cu_stream_default));
  });
}

cu_result cuStreamCreateWithPriority(cu_stream* handle, unsigned flags, int priority) {
  return context_call(Entry::cuStreamCreateWithPriority, [&](CUctx_st& context, Lock&) {
    require(handle != nullptr && flags <= cu_stream_non_blocking, cu_error_invalid_value);
    const StreamPtr stream = make_stream(context, flags == cu_stream_default);
    stream->priority = std::clamp(priority, kGreatestPriority, 0);
    *handle = runtime().streams.add(stream);
  });
}

cu_result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return context_call(Entry::cuCtxGetStreamPriorityRange, [&](CUctx_st&, Lock&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = kGreatestPriority;
  });
}

cu_result cuStreamGetPriority(cu_stream handle, int* priority) {
  return context_call(Entry::cuStreamGetPriority, [&](CUctx_st& context, Lock&) {
    require_pointer(priority);
    *priority = stream_of_handle(context, handle)->priority;
  });
}

cu_result cuStreamGetFlags(cu_stream handle, unsigned* flags) {
  return context_call(Entry::cuStreamGetFlags, [&](CUctx_st& context, Lock&) {
    require_pointer(flags);
    *flags = stream_of_handle(context, handle)->blocking ? cu_stream_default : cu_stream_non_blocking;
  });
}

cu_result cuStreamDestroy_v2(cu_stream handle) {
  return context_call(Entry::cuStreamDestroy_v2, [&](CUctx_st&, Lock&) {
    require_not_capturing(*runtime().streams.find(handle));
    destroy_stream(*runtime().streams.remove(handle));
  });
}

cu_result cuStreamQuery(cu_stream handle) {
  return context_call(Entry::cuStreamQuery, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    require_not_capturing(*stream);
    const Point end = point_of(stream, lock);
    execute_some(end, lock);
    require(end.reached(), cu_error_not_ready);
    learn(end);
  });
}

cu_result cuStreamSynchronize(cu_stream handle) {
  return context_call(Entry::cuStreamSynchronize, [&](CUctx_st& context, Lock& lock) {
    const StreamPtr& stream = stream_of_handle(context, handle);
    require_not_capturing(*stream);
    record_synchronisation(Entry::cuStreamSynchronize);
    wait_for(point_of(stream, lock), lock);
  });
}

cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags) {
  return context_call(Entry::cuStreamWaitEvent, [&](CUctx_st& context, Lock& lock) {
    require(flags == 0, cu_error_invalid_value);
    wait_event(stream_of_handle(context, stream), *runtime().events.find(event), lock);
  });
}

cu_result cuLaunchHostFunc(cu_stream stream, cu_host_fn function, void* argument) {
  return context_call(Entry::cuLaunchHostFunc, [&](CUctx_st& context, Lock& lock) {
    require(function != nullptr, cu_error_invalid_value);
    auto op = std::make_shared<Operation>();
    op->kind = Operation::Kind::host;
    op->host = function;
    op->host_context = argument;
    enqueue(stream_of_handle(context, stream), std::move(op), lock);
  });
}

cu_result cuStreamAddCallback(cu_stream stream_handle, cu_stream_callback function, void* argument, unsigned flags) {
  return context_call(Entry::cuStreamAddCallback, [&](CUctx_st& context, Lock& lock) {
    require(function != nullptr && flags == 0, cu_error_invalid_value);
    const StreamPtr& stream = stream_of_handle(context, stream_handle);
    require_not_capturing(*stream);  // graphs have no such node
    auto op = std::make_shared<Operation>();
    op->kind = Operation::Kind::callback;
    op->callback = function;
    op->host_context = argument;
    enqueue(stream, std::move(op), lock);
  });
}

// ---- events -------------------------------------------------------------------------------------
cu_result cuEventCreate(cu_event* handle, unsigned flags) {
  return context_call(Entry::cuEventCreate, [&](CUctx_st& context, Lock&) {
    constexpr unsigned known = cu_event_blocking_sync | cu_event_disable_timing | cu_event_interprocess;
    const bool timing = (flags & cu_event_disable_timing) == 0;
    require(handle != nullptr && (flags & ~known) == 0 && !(timing && (flags & cu_event_interprocess) != 0),
            cu_error_invalid_value);
    auto event = std::make_shared<CUevent_st>();
    event->context = &context;
    event->timing = timing;
    *handle = runtime().events.add(std::move(event));
  });
}

cu_result cuEventDestroy_v2(cu_event handle) {
  return context_call(Entry::cuEventDestroy_v2, [&](CUctx_st&, Lock&) { runtime().events.remove(handle); });
}

cu_result cuEventRecord(cu_event handle, cu_stream stream_handle) {
  return context_call(Entry::cuEventRecord, [&](CUctx_st& context, Lock& lock) {
    CUevent_st& event = *runtime().events.find(handle);
    const StreamPtr& stream = stream_of_handle(context, stream_handle);
    require(event.context == stream->context, cu_error_invalid_handle);
    record_event(event, stream, lock);
  });
}

cu_result cuEventQuery(cu_event handle) {
  return context_call(Entry::cuEventQuery, [&](CUctx_st&, Lock& lock) {
    const CUevent_st& event = *runtime().events.find(handle);
    require_safe_call();
    require_not_captured(event);
    if (event.record == nullptr) return;
    const std::shared_ptr<EventRecord> record = event.record;
    execute_some(*record, lock);
    require(record->reached(), cu_error_not_ready);
    learn(*record);
  });
}

cu_result cuEventSynchronize(cu_event handle) {
  return context_call(Entry::cuEventSynchronize, [&](CUctx_st&, Lock& lock) {
    const CUevent_st& event = *runtime().events.find(handle);
    require_not_captured(event);
    record_synchronisation(Entry::cuEventSynchronize);
    if (event.record == nullptr) return;
    const std::shared_ptr<EventRecord> record = event.record;
    wait_for(*record, lock);
  });
}

cu_result cuEventElapsedTime(float* milliseconds, cu_event start, cu_event stop) {
  return context_call(Entry::cuEventElapsedTime, [&](CUctx_st&, Lock&) {
    require_pointer(milliseconds);
    const CUevent_st &first = *runtime().events.find(start), &last = *runtime().events.find(stop);
    require_not_captured(first);
    require_not_captured(last);
    require(first.context == last.context && first.timing && last.timing, cu_error_invalid_handle);
    require(first.record != nullptr && last.record != nullptr, cu_error_invalid_handle);
    require(first.record->reached() && last.record->reached(), cu_error_not_ready);
    *milliseconds = std::chrono::duration<float, std::milli>(last.record->time - first.record->time).count();
  });
}

// ---- captures and graphs ------------------------------------------------------------------------
cu_result cuStreamBeginCapture_v2(cu_stream stream, int mode) {
  return context_call(Entry::cuStreamBeginCapture_v2, [&](CUctx_st& context, Lock&) {
    require(mode >= 0 && mode <= cu_capture_relaxed, cu_error_invalid_value);
    begin_capture(stream_of_handle(context, stream), mode);
  });
}

cu_result cuStreamEndCapture(cu_stream stream, cu_graph* handle) {
  return context_call(Entry::cuStreamEndCapture, [&](CUctx_st& context, Lock&) {
    require_pointer(handle);
    *handle = nullptr;
    *handle = runtime().graphs.add(end_capture(*stream_of_handle(context, stream)));
  });
}

cu_result cuStreamIsCapturing(cu_stream handle, int* status) {
  return context_call(Entry::cuStreamIsCapturing, [&](CUctx_st& context, Lock&) {
    require_pointer(status);
    const StreamPtr& stream = stream_of_handle(context, handle);
    if (stream->legacy) require_not_capturing(*stream);
    if (stream->capture == nullptr) *status = cu_capture_none;
    else *status = stream->capture->invalidated ? cu_capture_invalidated : cu_capture_active;
  });
}

cu_result cuGraphInstantiateWithFlags(cu_graph_exec* handle, cu_graph graph, unsigned long long flags) {
  return context_call(Entry::cuGraphInstantiateWithFlags, [&](CUctx_st& context, Lock&) {
    require(handle != nullptr && flags == 0, cu_error_invalid_value);
    *handle = runtime().graph_execs.add(instantiate(context, *runtime().graphs.find(graph)));
  });
}

cu_result cuGraphLaunch(cu_graph_exec exec, cu_stream stream) {
  return context_call(Entry::cuGraphLaunch, [&](CUctx_st& context, Lock& lock) {
    launch(*runtime().graph_execs.find(exec), stream_of_handle(context, stream), lock);
  });
}

cu_result cuGraphExecDestroy(cu_graph_exec handle) {
  return context_call(Entry::cuGraphExecDestroy,
                      [&](CUctx_st&, Lock&) { destroy(*runtime().graph_execs.remove(handle)); });
}

cu_result cuGraphDestroy(cu_graph handle) {
  return context_call(Entry::cuGraphDestroy, [&](CUctx_st&, Lock&) { runtime().graphs.remove(handle); });
}

cu_result cuGraphGetNodes(cu_graph handle, cu_graph_node* nodes, std::size_t* count) {
  return context_call(Entry::cuGraphGetNodes, [&](CUctx_st&, Lock&) {
    require_pointer(count);
    CUgraph_st& graph = *runtime().graphs.find(handle);
    const std::size_t known = graph.nodes.size();
    if (nodes != nullptr) {
      for (std::size_t k = 0; k < *count; ++k) nodes[k] = k < known ? &graph.nodes[k] : nullptr;
      *count = std::min(*count, known);
    } else {
      *count = known;
    }
  });
}
