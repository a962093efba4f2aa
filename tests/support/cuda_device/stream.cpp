#include <catena/tests/support/cuda_device/stream.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include <catena/tests/support/cuda_device/memory_pool.h>
#include <catena/tests/support/cuda_device/record.h>
#include <catena/tests/support/cuda_device/runtime.h>

namespace cuda_device {
namespace {

using namespace nd::cuda::api;

thread_local bool in_host_function = false;

bool eager() {
  static const bool wanted = [] {
    const char* mode = std::getenv("CATENA_SOFTWARE_CUDA_STREAMS");
    return mode != nullptr && std::string_view(mode) == "eager";
  }();
  return wanted;
}

// ---- clocks -------------------------------------------------------------------------------------
struct Slots {
  Clock host;                       // the operations known to the host
  Clock last;                       // position of the last work of each slot
  std::vector<std::size_t> unused;  // slots of destroyed streams
};
Slots& slots() {
  static Slots& s = *new Slots;
  return s;
}

// A slot is reused only if all its work is known to the host, so that the work of the new stream follows it in any
// case.
std::size_t take_slot() {
  Slots& s = slots();
  s.host.resize(s.last.size());
  const auto known = [&](std::size_t slot) { return s.host[slot] >= s.last[slot]; };
  if (const auto found = std::find_if(s.unused.begin(), s.unused.end(), known); found != s.unused.end()) {
    const std::size_t slot = *found;
    s.unused.erase(found);
    return slot;
  }
  s.last.push_back(0);
  return s.last.size() - 1;
}

void retire(CUstream_st& stream) {
  slots().unused.push_back(stream.slot);
  slots().last[stream.slot] = stream.submitted;
  std::erase_if(stream.context->streams, [&](const StreamPtr& s) { return s.get() == &stream; });
}

// ---- executing ----------------------------------------------------------------------------------
void run_host_function(CUstream_st& stream, const Operation& op, Lock& lock) {
  close_memory();
  stream.running = true;
  lock.unlock();
  in_host_function = true;
  if (op.kind == Operation::Kind::host) op.host(op.host_context);
  else op.callback(stream.legacy ? nullptr : &stream, stream.context->error, op.host_context);
  in_host_function = false;
  lock.lock();
  stream.running = false;
}

void run_kernel(CUctx_st& context, const Operation& op, const Actor& actor) {
  open_memory(1u << context.device | context.peers);
  run_grid(*op.function->function, op.grid, op.block, op.shared_bytes, op.parameters.data());
  if (actor.failed) poison(context, cu_error_illegal_address);
}

void run_transfer(const Operation& op) {
  if (op.kind == Operation::Kind::library) return op.work();
  const bool copy = op.kind == Operation::Kind::copy;
  if (copy) check_access(op.from, op.bytes, false, nullptr);
  check_access(op.to, op.bytes, true, nullptr);
  if (op.kind == Operation::Kind::release) {
    leave_pool(op.to);
    free_memory(op.to, Allocation::Kind::device);
    return;
  }
  if (copy) std::memmove(op.to, op.from, op.bytes);
  else std::memset(op.to, op.value, op.bytes);
}

const char* what_is(const Operation& op) {
  switch (op.kind) {
    case Operation::Kind::copy: return "a copy";
    case Operation::Kind::fill: return "a fill";
    case Operation::Kind::kernel: return op.function->function->name.c_str();
    case Operation::Kind::library: return op.name;
    case Operation::Kind::host:
    case Operation::Kind::callback: return "a host function";
    case Operation::Kind::release: return "a free";
  }
  return "";
}

// Returns false if the operation waits for other ranks.
bool run_operation(CUstream_st& stream, Work& work, Lock& lock) {
  const Operation& op = *work.operation;
  const bool host = op.kind == Operation::Kind::callback || op.kind == Operation::Kind::host;
  if (op.kind != Operation::Kind::callback && stream.context->error != 0) return true;
  if (host) {
    run_host_function(stream, op, lock);
    return true;
  }
  const bool kernel = op.kind == Operation::Kind::kernel;
  if (!work.begun && (kernel || op.kind == Operation::Kind::library))
    if (const Fault fault = begin_call(Entry::kernel); fault.code != 0) {
      poison(*stream.context, fault.code);
      return true;
    }
  if (work.begun && !op.ready()) return false;
  Actor actor;
  actor.what = (kernel ? "kernel " : "") + std::string(what_is(op));
  actor.stream = stream.legacy ? nullptr : &stream;
  actor.slot = stream.slot;
  actor.position = stream.completed + 1;
  actor.clock = &work.clock;
  actor.kernel = kernel;
  actor.arguments = op.arguments.data();
  actor.argument_bytes = op.arguments.size() * sizeof(Operation::Line);
  begin_actor(&actor);
  if (kernel) {
    run_kernel(*stream.context, op, actor);
  } else {
    open_memory(op.devices);
    if (work.begun) op.finish();
    else run_transfer(op);
    if (actor.failed) poison(*stream.context, cu_error_illegal_address);
  }
  end_actor();
  if (!op.ready || work.begun) return true;
  work.begun = true;
  return run_operation(stream, work, lock);
}

// Executes the first item of a stream's queue, which has no pending waits. Returns false if it waits for other ranks.
bool run_front(CUstream_st& stream, Lock& lock) {
  Work& work = stream.queue.front();
  if (work.operation != nullptr && !run_operation(stream, work, lock)) return false;
  if (work.guard != 0) unguard_pinned(work.guard);
  if (work.record != nullptr) work.record->time = std::chrono::steady_clock::now();
  stream.queue.pop_front();
  ++stream.completed;
  runtime().changed.notify_all();
  if (stream.destroyed && stream.queue.empty()) retire(stream);
  return true;
}

// Lets other threads use the device for a moment, while work waits for other ranks.
void pause(Lock& lock) {
  constexpr std::chrono::microseconds kPause{50};
  close_memory();
  lock.unlock();
  std::this_thread::sleep_for(kPause);
  lock.lock();
}

// Executes at most `limit` items on the way to a mark. Without `may_wait`, it stops at work that waits for other ranks
// or in another thread.
void execute(const Mark& mark, Lock& lock, std::uint64_t limit, bool may_wait) {
  std::vector<Mark> path{mark};  // each mark waits for the next one
  while (!path.empty() && limit > 0) {
    const Mark& next = path.back();
    if (next.reached()) {
      path.pop_back();
      continue;
    }
    CUstream_st& stream = *next.stream;
    if (stream.running) {
      if (!may_wait) break;
      close_memory();
      runtime().changed.wait(lock);
      continue;
    }
    const std::vector<Mark>& waits = stream.queue.front().waits;
    const auto open = std::find_if(waits.begin(), waits.end(), [](const Mark& m) { return !m.reached(); });
    if (open != waits.end()) {
      path.push_back(Mark(*open));
      continue;
    }
    if (run_front(stream, lock)) --limit;
    else if (may_wait) pause(lock);
    else break;
  }
  close_memory();
}

// ---- work that others wait for ------------------------------------------------------------------
// A program may wait for a host function without a call of the driver, and other ranks may wait for the part of this
// rank; a real device reaches the work eventually. If no call has led to its execution after this time, a background
// thread executes it.
constexpr std::chrono::milliseconds kPatience{200}, kPatienceOfRanks{20};

struct Waiting {
  Mark mark;
  std::chrono::steady_clock::time_point until;
};
struct Patience {
  std::condition_variable more;
  std::deque<Waiting> waiting;
  bool started = false;
};
Patience& patience() {
  static Patience& p = *new Patience;
  return p;
}

void run_overdue() {
  constexpr std::chrono::milliseconds kRetry{1};
  Lock lock(runtime().mutex);
  for (auto& waiting = patience().waiting;;) {
    std::erase_if(waiting, [](const Waiting& w) { return w.mark.reached(); });
    if (waiting.empty()) {
      patience().more.wait(lock);
      continue;
    }
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < waiting.size(); ++k)  // more may be added meanwhile
      if (waiting[k].until <= now) execute(Mark(waiting[k].mark), lock, UINT64_MAX, false);
    auto next = std::chrono::steady_clock::time_point::max();
    for (const Waiting& w : waiting)
      if (!w.mark.reached()) next = std::min(next, w.until <= now ? now + kRetry : w.until);
    if (next != std::chrono::steady_clock::time_point::max()) patience().more.wait_until(lock, next);
  }
}

void expect(Mark mark, std::chrono::milliseconds limit) {
  Patience& p = patience();
  if (!std::exchange(p.started, true)) std::thread(run_overdue).detach();
  p.waiting.push_back({std::move(mark), std::chrono::steady_clock::now() + limit});
  p.more.notify_all();
}

// The implicit order between the legacy stream and blocking streams.
void wait_for_legacy(CUstream_st& stream, Work& work) {
  if (!stream.blocking) return;
  for (const StreamPtr& other : stream.context->streams) {
    if (other.get() == &stream || !other->blocking || (!stream.legacy && !other->legacy)) continue;
    if (other->completed < other->submitted) work.waits.push_back({other, other->submitted});
    join(stream.clock, other->clock);
  }
}

}  // namespace

bool Mark::reached() const { return stream->completed >= position; }

StreamPtr make_stream(CUctx_st& context, bool blocking, bool legacy) {
  auto stream = std::make_shared<CUstream_st>();
  stream->context = &context;
  stream->legacy = legacy;
  stream->blocking = blocking;
  stream->slot = take_slot();
  stream->submitted = stream->completed = slots().last[stream->slot];
  context.streams.push_back(stream);
  return stream;
}

void destroy_stream(CUstream_st& stream) {
  stream.destroyed = true;
  if (stream.queue.empty()) retire(stream);
}

Point end_of(const StreamPtr& stream) {
  Point point;
  point.stream = stream;
  point.position = stream->submitted;
  point.clock = stream->clock;
  return point;
}

void submit(const StreamPtr& stream, OperationPtr operation, Lock& lock, const std::vector<Point>& waits,
            std::shared_ptr<EventRecord> record) {
  Work work;
  for (const Point& point : waits) {
    if (!point.reached()) work.waits.push_back(point);
    join(stream->clock, point.clock);
  }
  wait_for_legacy(*stream, work);
  join(stream->clock, slots().host);
  if (stream->clock.size() <= stream->slot) stream->clock.resize(stream->slot + 1);
  stream->clock[stream->slot] = ++stream->submitted;
  work.clock = stream->clock;
  if (record != nullptr) static_cast<Point&>(*record) = end_of(stream);
  work.record = std::move(record);
  if (operation != nullptr) {
    const Operation& op = *operation;
    const bool copy = op.kind == Operation::Kind::copy;
    if (copy && is_pinned(op.to)) work.guard = guard_pinned(op.to, op.bytes, stream->legacy ? nullptr : stream.get());
    if (op.kind == Operation::Kind::kernel)
      record_launch({op.function->function->name, op.grid, op.block, stream->legacy ? nullptr : stream.get(),
                     stream->context->device});
    if (op.kind == Operation::Kind::library)
      record_launch({op.name, dim3(), dim3(), stream->legacy ? nullptr : stream.get(), stream->context->device});
    if (op.kind == Operation::Kind::host || op.kind == Operation::Kind::callback)
      expect({stream, stream->submitted}, kPatience);
    if (op.ready) expect({stream, stream->submitted}, kPatienceOfRanks);
    work.operation = std::move(operation);
  }
  stream->queue.push_back(std::move(work));
  if (eager()) execute({stream, stream->submitted}, lock, UINT64_MAX, false);
}

void execute_until(const Mark& mark, Lock& lock) { execute(mark, lock, UINT64_MAX, true); }
void execute_some(const Mark& mark, Lock& lock) { execute(mark, lock, 1, false); }

void learn(const Point& point) { join(slots().host, point.clock); }

void wait_for(const Point& point, Lock& lock) {
  execute_until(point, lock);
  learn(point);
  trim_pools();
}

// Executes the newest stream first, so that a missing dependency on other streams shows: their work has not run yet.
void wait_for_all(CUctx_st& context, Lock& lock) {
  std::vector<Point> ends;
  for (const StreamPtr& stream : context.streams) ends.push_back(end_of(stream));
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) wait_for(*end, lock);
}

bool inside_host_function() { return in_host_function; }

}  // namespace cuda_device
