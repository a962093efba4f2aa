// The messages of one rank over sockets. Internal to this folder.
//
// A thread reads and writes all sockets. Each message has a head with its channel and length. A message that arrives
// before its receive is kept; else it is read into the receiver's memory.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catena/training/communicators/endpoint.h>
#include <catena/training/communicators/sockets.h>

namespace training::communicators::internal {

class SocketEndpoint final : public Endpoint {
 public:
  SocketEndpoint(int rank, std::vector<Socket> sockets);
  ~SocketEndpoint() override;

  int rank() const noexcept override { return rank_; }
  catena::Owned<Transport::Request> start_send(int to, std::uint64_t channel, std::span<const std::byte> bytes,
                                               std::optional<double> timeout) override;
  catena::Owned<Transport::Request> start_receive(int from, std::uint64_t channel, std::span<std::byte> bytes,
                                                  std::optional<double> timeout) override;
  // Prints the message and ends the process.
  [[noreturn]] void abort(const std::string& message) override;
  // Sends the message to all ranks, as far as that is possible within a second.
  void announce_abort(const std::string& message) noexcept override;

 private:
  struct Head {
    std::uint64_t channel, size;
  };
  struct Outgoing {
    Head head;
    std::span<const std::byte> bytes;
    std::size_t written = 0;  // of head and bytes
    bool done = false;
    std::vector<std::byte> kept = {};  // the bytes of a request that was given up
  };
  struct Incoming {
    std::span<std::byte> to;
    std::size_t size = 0;  // of the message
    bool done = false, given_up = false;
    void take(const std::vector<std::byte>& message);
  };
  struct Queue {
    std::deque<catena::Shared<Incoming>> receives;  // without a message
    std::deque<std::vector<std::byte>> messages;    // without a receive
  };
  struct Peer {
    Socket socket;
    bool ended = false;
    int error = 0;  // of the system, with which it ended; 0: none
    std::deque<catena::Shared<Outgoing>> outgoing = {};
    std::map<std::uint64_t, Queue> queues = {};  // by channel
    // The message that is being read: into the memory of a receive if that has been started and expects this length.
    Head head = {};
    std::size_t head_read = 0, read = 0;
    catena::Shared<Incoming> target = {};
    std::vector<std::byte> bytes = {};
  };
  enum class State { pending, done, aborted, ended, late };
  template <class Message> class Pending;
  class SendRequest;
  class ReceiveRequest;

  Peer& peer(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  // Waits, if so, until `done`, which the lock protects, or until that will not happen.
  State state_of(int other, const bool& done, const Deadline& deadline, bool wait);
  void check_state(State state, int other);
  void serve() noexcept;
  void move_messages();
  void wake() noexcept;
  // With the lock.
  std::vector<catena::Shared<Outgoing>> send_abort(std::string_view text);
  void write_some(Peer& p);
  void read_some(Peer& p);
  bool read_head(Peer& p);
  void begin_message(Peer& p);
  void end_message(Peer& p);
  void end_peer(Peer& p, int error) noexcept;

  int rank_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Peer> peers_;
  std::string aborted_;  // the message of a rank that has aborted, with its number
  bool stopping_ = false;
  Socket wake_up_, woken_;
  std::thread thread_;
};

}  // namespace training::communicators::internal
