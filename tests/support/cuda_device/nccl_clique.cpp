#include <catena/tests/support/cuda_device/nccl_clique.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/library_work.h>

namespace cuda_device::nccl {

using namespace nd::cuda::api;

namespace {

constexpr std::chrono::seconds kPatience(2);

// Executes a collective; the requests are in the order of the ranks.
void execute(const std::vector<Request>& all) {
  std::vector<const void*> from;
  for (const Request& r : all) from.push_back(r.from);
  // All results first, because a rank may receive into memory that another rank has yet to read.
  std::vector<std::vector<std::byte>> results;
  for (std::size_t r = 0; r < all.size(); ++r) results.push_back(result_of(all[r], from, r));
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
  cu_context context;
  CUstream_st* stream;
};

// Submits `work` to the stream of the first rank, after the present and before the later work of all streams.
bool submit(const char* name, const std::vector<Participant>& all, std::function<void()> work) {
  std::vector<cu_event> events;
  bool good = true;
  const auto mark = [&](const Participant& p) {
    const InContext in(p.context);
    cu_event event = nullptr;
    good = good && cuEventCreate(&event, cu_event_disable_timing) == cu_success &&
           cuEventRecord(event, p.stream) == cu_success;
    events.push_back(event);
    return event;
  };
  const auto wait = [&](const Participant& p, cu_event event) {
    const InContext in(p.context);
    good = good && cuStreamWaitEvent(p.stream, event, 0) == cu_success;
  };
  for (std::size_t k = 1; k < all.size(); ++k) wait(all[0], mark(all[k]));
  {
    const InContext in(all[0].context);
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
      good = good && submit(name_of(a.kind),
                            {{c.contexts[static_cast<std::size_t>(a.other)], b.stream}, {c.contexts[s], a.stream}},
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
    return std::all_of(c.requests.begin(), c.requests.end(),
                       [](const std::deque<Request>& q) { return !q.empty() && !q.front().is_message(); });
  };
  while (ready()) {
    std::vector<Request> all;
    std::vector<Participant> streams;
    for (std::size_t r = 0; r < c.requests.size(); ++r) {
      all.push_back(c.requests[r].front());
      streams.push_back({c.contexts[r], all.back().stream});
      c.requests[r].pop_front();
    }
    const Request& one = all.front();
    for (const Request& r : all)
      if (!r.agrees_with(one)) return false;
    if (!submit(name_of(one.kind), streams, [all] { execute(all); })) return false;
  }
  return true;
}

}  // namespace

CliqueCall add(const std::shared_ptr<Clique>& clique, int rank, const Request& request) {
  const std::lock_guard lock(clique->mutex);
  auto& requests = clique->requests[static_cast<std::size_t>(rank)];
  requests.push_back(request);
  requests.back().ticket = ++clique->tickets;
  return {clique, rank, requests.back().ticket};
}

nccl_result begin(const std::vector<CliqueCall>& calls) {
  for (const CliqueCall& call : calls) {
    Clique& c = *call.clique;
    const std::lock_guard lock(c.mutex);
    if (!begin_messages(c) || !begin_collectives(c)) return nccl_invalid_usage;
    c.changed.notify_all();
  }
  for (const CliqueCall& call : calls) {
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

void abort(Clique& clique) {
  const std::lock_guard lock(clique.mutex);
  for (auto& requests : clique.requests) requests.clear();
  clique.changed.notify_all();
}

}  // namespace cuda_device::nccl
