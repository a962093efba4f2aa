#include <catena/training/communicators/thread_transport.h>

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/training/communicators/endpoint.h>

namespace training::communicators {
namespace {

using catena::check;
using catena::Owned;
using catena::Shared;
using catena::ValueError;
using internal::Deadline;

using Bytes = std::vector<std::byte>;

// Shared by the ranks.
struct World {
  // The messages of one channel from one rank to another. They are numbered, and so are the receives: message i is for
  // receive i.
  struct Queue {
    std::uint64_t sends = 0, receives = 0;
    std::map<std::uint64_t, Bytes> messages = {};
  };
  using Key = std::tuple<std::uint64_t, int, int>;  // channel, from, to

  explicit World(int size) : ended(static_cast<std::size_t>(size), false) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::map<Key, Queue> queues;
  std::vector<bool> ended;  // by rank
  std::string aborted;      // the message of the rank that aborted, with its rank
};

class Sent final : public Transport::Request {
 public:
  bool is_done() override { return true; }
  void wait() override {}
};

class Receive final : public Transport::Request {
 public:
  Receive(Shared<World> world, World::Key key, std::uint64_t number, std::span<std::byte> to,
          std::optional<double> timeout)
      : world_(std::move(world)), key_(key), number_(number), to_(to), deadline_(timeout) {}

  bool is_done() override { return finish(false); }
  void wait() override { finish(true); }

 private:
  bool finish(bool wait) {
    std::unique_lock lock(world_->mutex);
    const auto [channel, from, to] = key_;
    while (!take()) {
      if (!world_->aborted.empty()) throw catena::RuntimeError(world_->aborted);
      if (world_->ended[static_cast<std::size_t>(from)]) internal::fail_ended(to, from, "has ended");
      if (deadline_.has_passed()) internal::fail_late(to, from, deadline_);
      if (!wait) return false;
      if (deadline_.at()) world_->changed.wait_until(lock, *deadline_.at());
      else world_->changed.wait(lock);
    }
    return true;
  }
  bool take() {
    if (done_) return true;
    auto& messages = world_->queues[key_].messages;
    const auto found = messages.find(number_);
    if (found == messages.end()) return false;
    const Bytes message = std::move(found->second);
    messages.erase(found);
    internal::check_length(std::get<1>(key_), std::get<2>(key_), message.size(), to_.size());
    if (!message.empty()) std::memcpy(to_.data(), message.data(), message.size());
    return done_ = true;
  }

  Shared<World> world_;
  World::Key key_;
  std::uint64_t number_;
  std::span<std::byte> to_;
  Deadline deadline_;
  bool done_ = false;
};

class ThreadEndpoint final : public internal::Endpoint {
 public:
  ThreadEndpoint(Shared<World> world, int rank) : world_(std::move(world)), rank_(rank) {}
  ~ThreadEndpoint() override {
    {
      const std::lock_guard lock(world_->mutex);
      world_->ended[static_cast<std::size_t>(rank_)] = true;
    }
    world_->changed.notify_all();
  }

  int rank() const noexcept override { return rank_; }

  Owned<Transport::Request> start_send(int to, std::uint64_t channel, std::span<const std::byte> bytes,
                                       std::optional<double>) override {
    {
      const std::lock_guard lock(world_->mutex);
      if (!world_->aborted.empty()) throw catena::RuntimeError(world_->aborted);
      if (world_->ended[static_cast<std::size_t>(to)]) internal::fail_ended(rank_, to, "has ended");
      World::Queue& queue = world_->queues[{channel, rank_, to}];
      queue.messages.emplace(queue.sends++, Bytes(bytes.begin(), bytes.end()));
    }
    world_->changed.notify_all();
    return Owned<Transport::Request>(new Sent);
  }

  Owned<Transport::Request> start_receive(int from, std::uint64_t channel, std::span<std::byte> bytes,
                                          std::optional<double> timeout) override {
    const World::Key key{channel, from, rank_};
    const std::lock_guard lock(world_->mutex);
    return Owned<Transport::Request>(new Receive(world_, key, world_->queues[key].receives++, bytes, timeout));
  }

  void announce_abort(const std::string& message) noexcept override {
    {
      const std::lock_guard lock(world_->mutex);
      if (world_->aborted.empty()) world_->aborted = internal::aborted_text(rank_, message);
    }
    world_->changed.notify_all();
  }
  void abort(const std::string& message) override {
    announce_abort(message);
    throw catena::RuntimeError(internal::aborted_text(rank_, message));
  }

 private:
  Shared<World> world_;
  int rank_;
};

}  // namespace

std::vector<Shared<Transport>> thread_transports(int n, ThreadTransportOptions options) {
  check<ValueError>(n >= 1, "thread_transports", n, " ranks; there must be at least one");
  if (options.hosts.empty()) options.hosts.assign(static_cast<std::size_t>(n), "localhost");
  check<ValueError>(options.hosts.size() == static_cast<std::size_t>(n), "thread_transports", options.hosts.size(),
                    " hosts for ", n, " ranks");
  internal::check_timeout("thread_transports", options.timeout);
  const auto world = Shared<World>::make(n);
  std::vector<Shared<Transport>> transports;
  for (int r = 0; r < n; ++r)
    transports.push_back(
        internal::world_transport(Shared<ThreadEndpoint>::make(world, r), options.hosts, options.timeout));
  return transports;
}

void run_thread_ranks(int n, const catena::Function<void(Shared<Transport>)>& program, ThreadTransportOptions options) {
  std::vector<Shared<Transport>> transports = thread_transports(n, std::move(options));
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r) {
    threads.emplace_back([&, own = std::move(transports[static_cast<std::size_t>(r)])]() mutable {
      try {
        program(own);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
      }
      own.reset();  // only now: whoever waits for this rank fails after it
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace training::communicators
