#include <catena/tests/support/cuda_device/graph.h>

#include <algorithm>

namespace cuda_device {
namespace {

using namespace nd::cuda::api;

[[noreturn]] void spoil(Capture& capture, int code) {
  capture.invalidated = true;
  throw Failure{code};
}

void require_valid(const Capture& capture) { require(!capture.invalidated, cu_error_stream_capture_invalidated); }

// Fails for work on the legacy stream during the capture of a blocking stream, which would be ordered implicitly.
void require_no_implicit_capture(const CUstream_st& stream) {
  if (!stream.legacy) return;
  bool found = false;
  for (const auto& capture : runtime().captures) {
    const auto blocking = [&](const StreamPtr& s) { return s->blocking && s->context == stream.context; };
    if (std::none_of(capture->streams.begin(), capture->streams.end(), blocking)) continue;
    capture->invalidated = found = true;
  }
  require(!found, error_capture_implicit);
}

void join_capture(CUstream_st& stream, const StreamPtr& self, const std::shared_ptr<Capture>& capture) {
  stream.capture = capture;
  stream.branch = capture->streams.size();
  stream.frontier.clear();
  capture->streams.push_back(self);
}

// True if every node precedes the end of the origin stream.
bool all_joined(const Capture& capture, const std::vector<std::size_t>& frontier) {
  std::vector<bool> seen(capture.nodes.size());
  std::vector<std::size_t> open = frontier;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    open.insert(open.end(), capture.nodes[node].after.begin(), capture.nodes[node].after.end());
  }
  return std::find(seen.begin(), seen.end(), false) == seen.end();
}

}  // namespace

void begin_capture(const StreamPtr& stream, int mode) {
  require(!stream->legacy, cu_error_stream_capture_unsupported);
  require(stream->capture == nullptr, error_illegal_state);
  auto capture = std::make_shared<Capture>();
  capture->origin = stream.get();
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  join_capture(*stream, stream, capture);
  runtime().captures.push_back(std::move(capture));
}

std::shared_ptr<CUgraph_st> end_capture(CUstream_st& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  require(capture != nullptr, error_illegal_state);
  if (capture->origin != &stream) spoil(*capture, error_capture_unmatched);
  if (capture->mode != cu_capture_relaxed && capture->thread != std::this_thread::get_id())
    spoil(*capture, error_capture_wrong_thread);
  const bool joined = all_joined(*capture, stream.frontier);
  for (const StreamPtr& s : capture->streams) s->capture = nullptr;
  std::erase(runtime().captures, capture);
  require_valid(*capture);
  require(joined, error_capture_unjoined);
  auto graph = std::make_shared<CUgraph_st>();
  graph->branches = capture->streams.size();
  graph->nodes = std::move(capture->nodes);
  return graph;
}

void enqueue(const StreamPtr& stream, OperationPtr operation, Lock& lock) {
  if (stream->capture == nullptr) {
    require_no_implicit_capture(*stream);
    return submit(stream, std::move(operation), lock);
  }
  Capture& capture = *stream->capture;
  require_valid(capture);
  capture.nodes.push_back({std::move(operation), stream->branch, stream->frontier});
  stream->frontier = {capture.nodes.size() - 1};
}

void record_event(CUevent_st& event, const StreamPtr& stream, Lock& lock) {
  if (stream->capture != nullptr) {
    require_valid(*stream->capture);
    event.capture = stream->capture;
    event.nodes = stream->frontier;
    event.record = nullptr;
    return;
  }
  require_no_implicit_capture(*stream);
  event.capture = nullptr;
  event.record = std::make_shared<EventRecord>();
  submit(stream, nullptr, lock, {}, event.record);
}

void wait_event(const StreamPtr& stream, const CUevent_st& event, Lock& lock) {
  if (event.capture == nullptr) {
    if (event.record == nullptr) return;
    if (stream->capture != nullptr) spoil(*stream->capture, error_capture_isolation);
    require_no_implicit_capture(*stream);
    return submit(stream, nullptr, lock, {*event.record});
  }
  require_valid(*event.capture);
  const auto& captures = runtime().captures;
  require(std::find(captures.begin(), captures.end(), event.capture) != captures.end(), error_captured_event);
  if (stream->capture == nullptr) {
    if (stream->legacy) spoil(*event.capture, error_capture_implicit);
    join_capture(*stream, stream, event.capture);
  } else if (stream->capture != event.capture) {
    event.capture->invalidated = true;
    spoil(*stream->capture, error_capture_merge);
  }
  for (const std::size_t node : event.nodes)
    if (std::find(stream->frontier.begin(), stream->frontier.end(), node) == stream->frontier.end())
      stream->frontier.push_back(node);
}

void require_not_capturing(const CUstream_st& stream) {
  require_no_implicit_capture(stream);
  if (stream.capture != nullptr) spoil(*stream.capture, cu_error_stream_capture_unsupported);
}

void require_no_capture(const CUctx_st& context) {
  bool found = false;
  for (const auto& capture : runtime().captures) {
    if (capture->origin->context != &context) continue;
    capture->invalidated = found = true;
  }
  require(!found, cu_error_stream_capture_unsupported);
}

void require_safe_call() {
  bool found = false;
  for (const auto& capture : runtime().captures) {
    const bool own = capture->thread == std::this_thread::get_id();
    if (capture->mode == cu_capture_relaxed || (capture->mode == cu_capture_thread_local && !own)) continue;
    capture->invalidated = found = true;
  }
  require(!found, cu_error_stream_capture_unsupported);
}

void require_not_captured(const CUevent_st& event) {
  if (event.capture == nullptr) return;
  event.capture->invalidated = true;
  throw Failure{error_captured_event};
}

std::shared_ptr<CUgraphExec_st> instantiate(CUctx_st& context, const CUgraph_st& graph) {
  auto exec = std::make_shared<CUgraphExec_st>();
  exec->nodes = graph.nodes;
  for (std::size_t branch = 1; branch < graph.branches; ++branch) exec->branches.push_back(make_stream(context, false));
  return exec;
}

void destroy(CUgraphExec_st& exec) {
  for (const StreamPtr& stream : exec.branches) destroy_stream(*stream);
}

// Each branch runs on a separate stream, so that work that the graph does not order runs in an unfavourable order.
void launch(CUgraphExec_st& exec, const StreamPtr& stream, Lock& lock) {
  if (stream->capture != nullptr) spoil(*stream->capture, cu_error_stream_capture_unsupported);
  require_no_implicit_capture(*stream);
  for (const CUgraphNode_st& node : exec.nodes) {
    const Operation& op = *node.operation;
    for (const std::byte* p : {op.from, static_cast<const std::byte*>(op.to)})
      require(p == nullptr || !is_reserved(p) || find_allocation(p, op.bytes) != nullptr, cu_error_invalid_value);
  }
  std::vector<Point> first;  // points for which every branch waits
  if (exec.end.stream != nullptr) first.push_back(exec.end);
  submit(stream, nullptr, lock, first);
  const Point start = end_of(stream);
  std::vector<Point> ends;
  for (const CUgraphNode_st& node : exec.nodes) {
    const StreamPtr& branch = node.branch == 0 ? stream : exec.branches[node.branch - 1];
    std::vector<Point> waits{start};
    for (const std::size_t before : node.after) waits.push_back(ends[before]);
    submit(branch, node.operation, lock, waits);
    ends.push_back(end_of(branch));
  }
  submit(stream, nullptr, lock, ends);
  exec.end = end_of(stream);
}

}  // namespace cuda_device
