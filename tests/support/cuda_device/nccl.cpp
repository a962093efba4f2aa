// NCCL of the software device: communicators in one process. A collective begins when all its ranks have called it: it
// waits for the streams of all ranks and is executed on the stream of the first; the other streams wait for it.
//
// A thread that calls for only one rank, outside a group, waits until the other ranks have called, but at most two
// seconds: then the call is a system error.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/export.h>
#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/ndarray/cuda/api/nccl.h>
#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/library_work.h>
#include <catena/tests/support/cuda_device/record.h>

using namespace nd::cuda::api;

namespace {
struct Clique;
}
struct ncclComm {
  std::shared_ptr<Clique> clique;
  int rank = 0;
  cu_context context = nullptr;
};

namespace cuda_device::exports {
#define CATENA_TYPE(symbol, field, ...) using symbol##_type = __VA_ARGS__;
CATENA_NCCL_FUNCTIONS(CATENA_TYPE)
#undef CATENA_TYPE
}  // namespace cuda_device::exports
extern "C" {
#define CATENA_DECLARE(symbol, field, ...) CATENA_EXPORT cuda_device::exports::symbol##_type symbol;
CATENA_NCCL_FUNCTIONS(CATENA_DECLARE)
#undef CATENA_DECLARE
}

namespace {

constexpr int kExecutionFailed = nccl_unhandled_cuda_error;  // for the macro CATENA_LIBRARY_CALL
constexpr std::chrono::seconds kPatience(2);

enum class Kind { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };

// A call for one rank.
struct Request {
  Kind kind;
  const void* from;
  void* to;
  std::size_t count;
  int type, op, other;  // other: the root or the peer
  CUstream_st* stream;
  std::uint64_t ticket = 0;
};

struct Clique {
  explicit Clique(int size) : ranks(static_cast<std::size_t>(size)), requests(static_cast<std::size_t>(size)) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<ncclComm*> ranks;               // null until the rank has joined
  std::vector<std::deque<Request>> requests;  // for each rank, in order
  std::uint64_t tickets = 0;                  // number of tickets handed out
  int size() const { return static_cast<int>(ranks.size()); }
};

// A call of a thread for a rank.
struct Call {
  std::shared_ptr<Clique> clique;
  int rank;
  std::uint64_t ticket;
};

// The group of this thread.
struct Group {
  int depth = 0;
  std::vector<Call> calls;
};
thread_local Group group;

std::size_t bytes_of(int type) {
  switch (type) {
    case nccl_int8:
    case nccl_uint8: return 1;
    case nccl_float16:
    case nccl_bfloat16: return 2;
    case nccl_int32:
    case nccl_uint32:
    case nccl_float32: return 4;
    default: return 8;
  }
}

// ---- arithmetic ---------------------------------------------------------------------------------
template <class T> using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
template <class T> Wide<T> load(const T& v) {
  if constexpr (sizeof(T) == 2) return static_cast<float>(v);
  else return v;
}

template <class T>
void combine(int op, std::size_t count, const std::vector<const void*>& from, std::size_t first, void* to) {
  std::vector<T> result(count);
  for (std::size_t k = 0; k < count; ++k) {
    Wide<T> value = load(static_cast<const T*>(from[0])[first + k]);
    for (std::size_t r = 1; r < from.size(); ++r) {
      const Wide<T> next = load(static_cast<const T*>(from[r])[first + k]);
      switch (op) {
        case nccl_prod: value = static_cast<Wide<T>>(value * next); break;
        case nccl_max: value = std::max(value, next); break;
        case nccl_min: value = std::min(value, next); break;
        default: value = static_cast<Wide<T>>(value + next);
      }
    }
    if (op == nccl_avg) value = static_cast<Wide<T>>(value / static_cast<Wide<T>>(from.size()));
    result[k] = T(value);
  }
  std::memcpy(to, result.data(), count * sizeof(T));  // `to` may be one of the inputs
}

void combine(int type, int op, std::size_t count, const std::vector<const void*>& from, std::size_t first, void* to) {
  switch (type) {
    case nccl_int8: return combine<std::int8_t>(op, count, from, first, to);
    case nccl_uint8: return combine<std::uint8_t>(op, count, from, first, to);
    case nccl_int32: return combine<std::int32_t>(op, count, from, first, to);
    case nccl_uint32: return combine<std::uint32_t>(op, count, from, first, to);
    case nccl_int64: return combine<std::int64_t>(op, count, from, first, to);
    case nccl_uint64: return combine<std::uint64_t>(op, count, from, first, to);
    case nccl_float16: return combine<catena::float16>(op, count, from, first, to);
    case nccl_bfloat16: return combine<catena::bfloat16>(op, count, from, first, to);
    case nccl_float32: return combine<float>(op, count, from, first, to);
    default: return combine<double>(op, count, from, first, to);
  }
}

// Executes a collective; the requests are in the order of the ranks.
void execute(const std::vector<Request>& all) {
  const Request& one = all.front();
  const std::size_t item = bytes_of(one.type), bytes = one.count * item;
  std::vector<const void*> from;
  for (const Request& r : all) from.push_back(r.from);
  const auto root = static_cast<std::size_t>(std::max(one.other, 0));
  // Computes all results first, because a rank may receive into memory that another rank has yet to read.
  std::vector<std::vector<std::byte>> results(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) {
    std::vector<std::byte>& result = results[r];
    switch (one.kind) {
      case Kind::all_reduce:
      case Kind::reduce:
        if (one.kind == Kind::reduce && r != root) break;
        result.resize(bytes);
        combine(one.type, one.op, one.count, from, 0, result.data());
        break;
      case Kind::broadcast:
        result.resize(bytes);
        std::memcpy(result.data(), from[root], bytes);
        break;
      case Kind::all_gather:
        result.resize(bytes * all.size());
        for (std::size_t s = 0; s < all.size(); ++s) std::memcpy(result.data() + s * bytes, from[s], bytes);
        break;
      default:  // reduce_scatter
        result.resize(bytes);
        combine(one.type, one.op, one.count, from, r * one.count, result.data());
    }
  }
  for (std::size_t r = 0; r < all.size(); ++r)
    if (!results[r].empty()) std::memcpy(all[r].to, results[r].data(), results[r].size());
}

// ---- streams ------------------------------------------------------------------------------------
// Makes the context of a rank current until the end of the scope.
class InContext {
 public:
  explicit InContext(cu_context context) {
    cuCtxGetCurrent(&before_);
    cuCtxSetCurrent(context);
  }
  ~InContext() { cuCtxSetCurrent(before_); }

 private:
  cu_context before_ = nullptr;
};

struct Participant {
  const ncclComm* rank;
  CUstream_st* stream;
};

// Submits `work` to the stream of the first rank, after the present and before the later work of all streams.
bool submit(const char* name, const std::vector<Participant>& all, std::function<void()> work) {
  std::vector<cu_event> events;
  bool good = true;
  const auto mark = [&](const Participant& p) {
    const InContext in(p.rank->context);
    cu_event event = nullptr;
    good = good && cuEventCreate(&event, cu_event_disable_timing) == cu_success &&
           cuEventRecord(event, p.stream) == cu_success;
    events.push_back(event);
    return event;
  };
  const auto wait = [&](const Participant& p, cu_event event) {
    const InContext in(p.rank->context);
    good = good && cuStreamWaitEvent(p.stream, event, 0) == cu_success;
  };
  for (std::size_t k = 1; k < all.size(); ++k) wait(all[0], mark(all[k]));
  {
    const InContext in(all[0].rank->context);
    good = good && cuda_device::submit_library_work(name, all[0].stream, std::move(work));
  }
  if (all.size() > 1) {
    const cu_event done = mark(all[0]);
    for (std::size_t k = 1; k < all.size(); ++k) wait(all[k], done);
  }
  for (const cu_event event : events) cuEventDestroy_v2(event);
  return good;
}

// ---- matching -----------------------------------------------------------------------------------
// Submits complete collectives and messages to streams. Returns false if the calls of the ranks do not match.
bool begin_messages(Clique& c) {
  bool good = true;
  for (std::size_t s = 0; s < c.requests.size(); ++s)
    for (auto sent = c.requests[s].begin(); sent != c.requests[s].end();) {
      if (sent->kind != Kind::send) break;
      auto& other = c.requests[static_cast<std::size_t>(sent->other)];
      const auto received = std::find_if(other.begin(), other.end(), [&](const Request& r) {
        return r.kind == Kind::receive && r.other == static_cast<int>(s);
      });
      if (received == other.end()) {
        ++sent;
        continue;
      }
      const Request a = *sent, b = *received;
      if (a.count != b.count || a.type != b.type) return false;
      const std::size_t bytes = a.count * bytes_of(a.type);
      good = good &&
             submit("ncclSendRecv", {{c.ranks[static_cast<std::size_t>(a.other)], b.stream}, {c.ranks[s], a.stream}},
                    [=] { std::memmove(b.to, a.from, bytes); });
      other.erase(received);
      c.requests[s].erase(std::find_if(c.requests[s].begin(), c.requests[s].end(), [&](const Request& r) {
        return r.kind == Kind::send && r.other == a.other && r.from == a.from;
      }));
      sent = c.requests[s].begin();
    }
  return good;
}

bool begin_collectives(Clique& c) {
  const auto ready = [&] {
    return std::all_of(c.requests.begin(), c.requests.end(), [](const std::deque<Request>& q) {
      return !q.empty() && q.front().kind != Kind::send && q.front().kind != Kind::receive;
    });
  };
  while (ready()) {
    std::vector<Request> all;
    std::vector<Participant> streams;
    for (std::size_t r = 0; r < c.requests.size(); ++r) {
      all.push_back(c.requests[r].front());
      streams.push_back({c.ranks[r], all.back().stream});
      c.requests[r].pop_front();
    }
    const Request& one = all.front();
    for (const Request& r : all)
      if (r.kind != one.kind || r.count != one.count || r.type != one.type || r.op != one.op || r.other != one.other)
        return false;
    if (!submit("ncclCollective", streams, [all] { execute(all); })) return false;
  }
  return true;
}

// Submits the work that is complete, and waits for the requests of other ranks that this thread's calls need.
nccl_result begin(const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    Clique& c = *call.clique;
    const std::lock_guard lock(c.mutex);
    if (!begin_messages(c) || !begin_collectives(c)) return nccl_invalid_usage;
    c.changed.notify_all();
  }
  for (const Call& call : calls) {
    Clique& c = *call.clique;
    std::unique_lock lock(c.mutex);
    // Only this thread's requests are checked: another rank may already be at its next call.
    auto& requests = c.requests[static_cast<std::size_t>(call.rank)];
    const auto mine = [&](const Request& r) { return r.ticket == call.ticket; };
    if (c.changed.wait_for(lock, kPatience, [&] { return std::none_of(requests.begin(), requests.end(), mine); }))
      continue;
    std::erase_if(requests, mine);
    return nccl_system_error;
  }
  return nccl_success;
}

nccl_result add(ncclComm* comm, const Request& r, std::size_t read, std::size_t written) {
  if (comm == nullptr) return nccl_invalid_argument;
  if (!cuda_device::context_is_usable()) return nccl_unhandled_cuda_error;
  const std::size_t item = bytes_of(r.type);
  if (read > 0 && !cuda_device::is_device_memory(r.from, read * item)) return nccl_invalid_argument;
  if (written > 0 && !cuda_device::is_device_memory(r.to, written * item)) return nccl_invalid_argument;
  if (r.count == 0) return nccl_success;
  Call call{comm->clique, comm->rank, 0};
  {
    const std::lock_guard lock(comm->clique->mutex);
    call.ticket = ++comm->clique->tickets;
    auto& requests = comm->clique->requests[static_cast<std::size_t>(comm->rank)];
    requests.push_back(r);
    requests.back().ticket = call.ticket;
  }
  if (group.depth == 0) return begin({call});
  group.calls.push_back(std::move(call));
  return nccl_success;
}

std::mutex ids_mutex;
std::map<std::string, std::shared_ptr<Clique>>& cliques_by_id() {
  static auto& all = *new std::map<std::string, std::shared_ptr<Clique>>;
  return all;
}

}  // namespace

nccl_result ncclGetVersion(int* version) {
  CATENA_LIBRARY_CALL(ncclGetVersion);
  *version = 22800;
  return nccl_success;
}
nccl_result ncclGetUniqueId(nccl_unique_id* id) {
  CATENA_LIBRARY_CALL(ncclGetUniqueId);
  static std::uint64_t next = 0;
  const std::lock_guard lock(ids_mutex);
  *id = {};
  ++next;
  std::memcpy(id->internal, &next, sizeof next);
  return nccl_success;
}
const char* ncclGetErrorString(nccl_result) {
  cuda_device::count_call(cuda_device::Entry::ncclGetErrorString);
  return "an error of the software NCCL";
}
const char* ncclGetLastError(nccl_comm) {
  cuda_device::count_call(cuda_device::Entry::ncclGetLastError);
  return "";
}

nccl_result ncclCommInitRank(nccl_comm* comm, int size, nccl_unique_id id, int rank) {
  CATENA_LIBRARY_CALL(ncclCommInitRank);
  if (size < 1 || rank < 0 || rank >= size) return nccl_invalid_argument;
  auto made = std::make_unique<ncclComm>();
  made->rank = rank;
  cuCtxGetCurrent(&made->context);
  {
    const std::lock_guard lock(ids_mutex);
    auto& clique = cliques_by_id()[std::string(id.internal, sizeof id.internal)];
    if (clique == nullptr) clique = std::make_shared<Clique>(size);
    made->clique = clique;
  }
  Clique& c = *made->clique;
  std::unique_lock lock(c.mutex);
  if (c.size() != size || c.ranks[static_cast<std::size_t>(rank)] != nullptr) return nccl_invalid_usage;
  c.ranks[static_cast<std::size_t>(rank)] = made.get();
  c.changed.notify_all();
  const auto complete = [&] { return std::find(c.ranks.begin(), c.ranks.end(), nullptr) == c.ranks.end(); };
  if (group.depth == 0 && !c.changed.wait_for(lock, kPatience, complete)) return nccl_system_error;
  *comm = made.release();
  return nccl_success;
}

nccl_result ncclCommInitAll(nccl_comm* comms, int count, const int* devices) {
  CATENA_LIBRARY_CALL(ncclCommInitAll);
  const auto clique = std::make_shared<Clique>(count);
  for (int rank = 0; rank < count; ++rank) {
    auto* const made = new ncclComm{clique, rank, nullptr};
    if (cuDevicePrimaryCtxRetain(&made->context, devices[rank]) != cu_success) return nccl_unhandled_cuda_error;
    clique->ranks[static_cast<std::size_t>(rank)] = comms[rank] = made;
  }
  return nccl_success;
}

nccl_result ncclCommDestroy(nccl_comm comm) {
  CATENA_LIBRARY_CALL(ncclCommDestroy);
  delete comm;
  return nccl_success;
}
nccl_result ncclCommAbort(nccl_comm comm) {
  CATENA_LIBRARY_CALL(ncclCommAbort);
  {
    const std::lock_guard lock(comm->clique->mutex);
    for (auto& requests : comm->clique->requests) requests.clear();
    comm->clique->changed.notify_all();
  }
  delete comm;
  return nccl_success;
}
nccl_result ncclCommGetAsyncError(nccl_comm, nccl_result* error) {
  CATENA_LIBRARY_CALL(ncclCommGetAsyncError);
  *error = cuda_device::context_is_usable() ? nccl_success : nccl_unhandled_cuda_error;
  return nccl_success;
}

nccl_result ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int op, nccl_comm comm,
                          CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclAllReduce);
  return add(comm, {Kind::all_reduce, send, receive, count, type, op, -1, stream}, count, count);
}
nccl_result ncclReduce(const void* send, void* receive, std::size_t count, int type, int op, int root, nccl_comm comm,
                       CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclReduce);
  return add(comm, {Kind::reduce, send, receive, count, type, op, root, stream}, count, comm->rank == root ? count : 0);
}
nccl_result ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, nccl_comm comm,
                          CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclBroadcast);
  return add(comm, {Kind::broadcast, send, receive, count, type, 0, root, stream}, comm->rank == root ? count : 0,
             count);
}
nccl_result ncclAllGather(const void* send, void* receive, std::size_t count, int type, nccl_comm comm,
                          CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclAllGather);
  return add(comm, {Kind::all_gather, send, receive, count, type, 0, -1, stream}, count,
             count * static_cast<std::size_t>(comm->clique->size()));
}
nccl_result ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int op, nccl_comm comm,
                              CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclReduceScatter);
  return add(comm, {Kind::reduce_scatter, send, receive, count, type, op, -1, stream},
             count * static_cast<std::size_t>(comm->clique->size()), count);
}
nccl_result ncclSend(const void* data, std::size_t count, int type, int peer, nccl_comm comm, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclSend);
  return add(comm, {Kind::send, data, nullptr, count, type, 0, peer, stream}, count, 0);
}
nccl_result ncclRecv(void* data, std::size_t count, int type, int peer, nccl_comm comm, CUstream_st* stream) {
  CATENA_LIBRARY_CALL(ncclRecv);
  return add(comm, {Kind::receive, nullptr, data, count, type, 0, peer, stream}, 0, count);
}

nccl_result ncclGroupStart() {
  CATENA_LIBRARY_CALL(ncclGroupStart);
  ++group.depth;
  return nccl_success;
}
nccl_result ncclGroupEnd() {
  if (const int planned = cuda_device::begin_library_call(cuda_device::Entry::ncclGroupEnd, kExecutionFailed)) {
    group = {};  // releases the calls of the group
    return planned;
  }
  if (group.depth == 0) return nccl_invalid_usage;
  if (--group.depth > 0) return nccl_success;
  return begin(std::exchange(group.calls, {}));
}
