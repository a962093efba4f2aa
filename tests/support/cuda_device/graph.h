// Capturing streams into graphs, and repeating those.
//
// Thread safety: all functions are called under the runtime's lock.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <catena/tests/support/cuda_device/runtime.h>

struct CUgraphNode_st {
  cuda_device::OperationPtr operation;
  std::size_t branch = 0;          // number of the stream that it was captured from; 0: the one that began
  std::vector<std::size_t> after;  // nodes
};
struct CUgraph_st {
  std::vector<CUgraphNode_st> nodes;
  std::size_t branches = 1;
};
struct CUgraphExec_st {
  std::vector<CUgraphNode_st> nodes;
  std::vector<cuda_device::StreamPtr>
      branches;            // streams of its own for all but branch 0, which is the launching stream's
  cuda_device::Point end;  // of the last launch; no stream: none
};

namespace cuda_device {

struct Capture {
  CUstream_st* origin = nullptr;
  int mode = 0;
  std::thread::id thread;
  bool invalidated = false;
  std::vector<CUgraphNode_st> nodes;
  std::vector<StreamPtr> streams;  // by branch
};

void begin_capture(const StreamPtr& stream, int mode);
std::shared_ptr<CUgraph_st> end_capture(
    CUstream_st& stream);  // also after a failure, which it throws, the capture is over

// The three ways to put something on a stream, which may be capturing.
void enqueue(const StreamPtr& stream, OperationPtr operation, Lock& lock);
void record_event(CUevent_st& event, const StreamPtr& stream, Lock& lock);
void wait_event(const StreamPtr& stream, const CUevent_st& event, Lock& lock);

// Before a call that waits for a stream or asks how far it is: a capturing one will never be there, and its capture is
// spoiled.
void require_not_capturing(const CUstream_st& stream);
void require_no_capture(const CUctx_st& context);  // for calls about a whole context
// Before a call that may do something that a capture does not see (allocation, say): not for a thread that captures,
// unless relaxed, nor while another thread captures globally.
void require_safe_call();
// The event is not one that was recorded in a capture: such are no points in time.
void require_not_captured(const CUevent_st& event);

std::shared_ptr<CUgraphExec_st> instantiate(CUctx_st& context, const CUgraph_st& graph);
void destroy(CUgraphExec_st& exec);
void launch(CUgraphExec_st& exec, const StreamPtr& stream, Lock& lock);

}  // namespace cuda_device
