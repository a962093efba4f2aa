// Capture of streams into graphs, and launches of graphs.
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
  std::size_t branch = 0;          // index of the captured stream; 0: the origin
  std::vector<std::size_t> after;  // indices of the nodes that precede this one
};
struct CUgraph_st {
  std::vector<CUgraphNode_st> nodes;
  std::size_t branches = 1;
};
struct CUgraphExec_st {
  std::vector<CUgraphNode_st> nodes;
  std::vector<cuda_device::StreamPtr> branches;  // streams of the branches; branch 0 runs on the launching stream
  cuda_device::Point end;                        // end of the last launch; without a stream: no launch
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
std::shared_ptr<CUgraph_st> end_capture(CUstream_st& stream);  // the capture ends also if it throws

// The three ways to add work to a stream, which may be in capture.
void enqueue(const StreamPtr& stream, OperationPtr operation, Lock& lock);
void record_event(CUevent_st& event, const StreamPtr& stream, Lock& lock);
void wait_event(const StreamPtr& stream, const CUevent_st& event, Lock& lock);

// For calls that wait for a stream or query it: fails for a capturing stream and invalidates its capture.
void require_not_capturing(const CUstream_st& stream);
void require_no_capture(const CUctx_st& context);  // for calls that affect a whole context
// For calls with effects that a capture cannot record (e.g. allocation): they fail on a thread that captures unless in
// relaxed mode, and while another thread captures in global mode.
void require_safe_call();
// Fails for an event that was recorded in a capture, because it is not a point in time.
void require_not_captured(const CUevent_st& event);

std::shared_ptr<CUgraphExec_st> instantiate(CUctx_st& context, const CUgraph_st& graph);
void destroy(CUgraphExec_st& exec);
void launch(CUgraphExec_st& exec, const StreamPtr& stream, Lock& lock);

}  // namespace cuda_device
