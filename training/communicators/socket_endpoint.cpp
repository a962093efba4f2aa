#include <catena/training/communicators/socket_endpoint.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>

namespace training::communicators::internal {

using catena::Owned;
using catena::RuntimeError;
using catena::Shared;

namespace {
constexpr std::uint64_t kAbortChannel = ~std::uint64_t(0);
constexpr std::size_t kLongestText = std::size_t(1) << 16;  // bytes of a message on it
constexpr std::size_t kAtOnce = std::size_t(1) << 20;       // bytes that are read with the lock held
}  // namespace

// ---- requests -----------------------------------------------------------------------------------
// A request of a message that has a flag `done`.
template <class Message> class SocketEndpoint::Pending : public Transport::Request {
 public:
  Pending(SocketEndpoint& endpoint, int other, Shared<Message> message, std::optional<double> timeout)
      : endpoint_(endpoint), other_(other), message_(std::move(message)), deadline_(timeout) {}

  bool is_done() override { return finish(false); }
  void wait() override { finish(true); }

 protected:
  virtual void check() const {}

  SocketEndpoint& endpoint_;
  int other_;
  Shared<Message> message_;

 private:
  bool finish(bool wait) {
    const State state = endpoint_.state_of(other_, message_->done, deadline_, wait);
    if (state == State::late) fail_late(endpoint_.rank_, other_, deadline_);
    endpoint_.check_state(state, other_);
    if (state == State::done) check();
    return state == State::done;
  }
  Deadline deadline_;
};

class SocketEndpoint::SendRequest final : public Pending<Outgoing> {
 public:
  using Pending<Outgoing>::Pending;
  ~SendRequest() override {
    const std::lock_guard lock(endpoint_.mutex_);
    if (message_->done) return;
    // A message that has been announced to the other rank must come.
    message_->kept.assign(message_->bytes.begin(), message_->bytes.end());
    message_->bytes = message_->kept;
  }
};

class SocketEndpoint::ReceiveRequest final : public Pending<Incoming> {
 public:
  using Pending<Incoming>::Pending;
  ~ReceiveRequest() override {
    const std::lock_guard lock(endpoint_.mutex_);
    message_->given_up = true;
    message_->to = {};
  }

 private:
  void check() const override { check_length(other_, endpoint_.rank_, message_->size, message_->to.size()); }
};

void SocketEndpoint::Incoming::take(const std::vector<std::byte>& message) {
  size = message.size();
  if (to.size() == size && size > 0) std::memcpy(to.data(), message.data(), size);
  done = true;
}

// ---- the endpoint -------------------------------------------------------------------------------
SocketEndpoint::SocketEndpoint(int rank, std::vector<Socket> sockets) : rank_(rank) {
  catena::reserve_standard_descriptors();
  int pair[2];
  catena::check<RuntimeError>(::pipe(pair) == 0, "SocketEndpoint", "cannot make a pipe: ", system_reason(errno));
  woken_ = Socket(pair[0]);
  wake_up_ = Socket(pair[1]);
  for (const int end : pair) {
    ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::fcntl(end, F_SETFL, O_NONBLOCK);
  }
  for (Socket& socket : sockets) {
    peers_.emplace_back();
    peers_.back().ended = !socket;
    peers_.back().socket = std::move(socket);
  }
  thread_ = std::thread([this] { serve(); });
}

SocketEndpoint::~SocketEndpoint() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
}

void SocketEndpoint::wake() noexcept {
  const char byte = 0;
  [[maybe_unused]] const ssize_t n = ::write(wake_up_.get(), &byte, 1);  // a full pipe wakes as well
}

// Errors are thrown without the lock: a program without a handler for them is terminated where they are thrown, and the
// lock is needed to send the error to the other ranks.
SocketEndpoint::State SocketEndpoint::state_of(int other, const bool& done, const Deadline& deadline, bool wait) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (done) return State::done;
    // A rank that ended without an error may be one that this rank has nothing to do with; one with an error is not.
    if (!aborted_.empty()) return State::aborted;
    if (peer(other).ended) return State::ended;
    if (deadline.has_passed()) return State::late;
    if (!wait) return State::pending;
    if (deadline.at()) changed_.wait_until(lock, *deadline.at());
    else changed_.wait(lock);
  }
}

// The error with which the other rank ended never changes again.
void SocketEndpoint::check_state(State state, int other) {
  if (state == State::aborted) throw RuntimeError(aborted_);
  if (state != State::ended) return;
  const int error = peer(other).error;
  const bool is_lost = error != 0 && error != ECONNRESET && error != EPIPE;
  fail_ended(rank_, other, is_lost ? catena::concat("cannot be reached: ", system_reason(error)) : "has ended");
}

Owned<Transport::Request> SocketEndpoint::start_send(int to, std::uint64_t channel, std::span<const std::byte> bytes,
                                                     std::optional<double> timeout) {
  check_state(state_of(to, false, Deadline({}), false), to);
  const auto message = Shared<Outgoing>::make(Outgoing{{channel, bytes.size()}, bytes});
  bool is_done = false;
  {
    const std::lock_guard lock(mutex_);
    Peer& p = peer(to);
    if (!p.ended) {  // else wait() fails
      p.outgoing.push_back(message);
      if (p.outgoing.size() == 1) write_some(p);
    }
    is_done = message->done;
  }
  if (!is_done) wake();
  return Owned<Transport::Request>(new SendRequest(*this, to, message, timeout));
}

Owned<Transport::Request> SocketEndpoint::start_receive(int from, std::uint64_t channel, std::span<std::byte> bytes,
                                                        std::optional<double> timeout) {
  const auto receive = Shared<Incoming>::make(Incoming{bytes});
  {
    const std::lock_guard lock(mutex_);
    Queue& queue = peer(from).queues[channel];
    if (queue.messages.empty()) {
      queue.receives.push_back(receive);
    } else {
      receive->take(queue.messages.front());
      queue.messages.pop_front();
    }
  }
  return Owned<Transport::Request>(new ReceiveRequest(*this, from, receive, timeout));
}

std::vector<Shared<SocketEndpoint::Outgoing>> SocketEndpoint::send_abort(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  std::vector<Shared<Outgoing>> all;
  for (Peer& p : peers_) {
    if (p.ended) continue;
    all.push_back(Shared<Outgoing>::make(
        Outgoing{{kAbortChannel, text.size()}, {}, 0, false, std::vector<std::byte>(bytes.begin(), bytes.end())}));
    all.back()->bytes = all.back()->kept;
    p.outgoing.push_back(all.back());
    if (p.outgoing.size() == 1) write_some(p);
  }
  return all;
}

void SocketEndpoint::announce_abort(const std::string& message) noexcept {
  try {
    const std::string text = aborted_text(rank_, message).substr(0, kLongestText);
    const Deadline deadline(1);
    std::unique_lock lock(mutex_);
    const std::vector<Shared<Outgoing>> all = send_abort(text);
    wake();
    const auto is_done = [](const Shared<Outgoing>& o) { return o->done; };
    changed_.wait_until(lock, *deadline.at(), [&] { return std::all_of(all.begin(), all.end(), is_done); });
  } catch (const std::exception&) {  // the process ends anyway
  }
}

void SocketEndpoint::abort(const std::string& message) {
  announce_abort(message);
  std::fflush(nullptr);
  std::fputs(catena::concat("catena: ", aborted_text(rank_, message), "\n").c_str(), stderr);
  std::_Exit(EXIT_FAILURE);
}

// ---- the thread ---------------------------------------------------------------------------------
void SocketEndpoint::serve() noexcept {
  try {
    move_messages();
  } catch (const std::exception& e) {  // no memory for a message
    const std::lock_guard lock(mutex_);
    for (Peer& p : peers_) end_peer(p, 0);
    try {
      if (aborted_.empty()) aborted_ = catena::concat("rank ", rank_, " cannot go on: ", e.what());
    } catch (const std::exception&) {  // the message says then that the other rank has ended
    }
  }
}

void SocketEndpoint::move_messages() {
  std::vector<pollfd> polled;
  std::vector<std::size_t> ranks;
  for (;;) {
    polled.assign(1, {woken_.get(), POLLIN, 0});
    ranks.assign(1, 0);
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      for (std::size_t r = 0; r < peers_.size(); ++r) {
        if (peers_[r].ended) continue;
        const int events = peers_[r].outgoing.empty() ? POLLIN : POLLIN | POLLOUT;
        polled.push_back({peers_[r].socket.get(), static_cast<short>(events), 0});
        ranks.push_back(r);
      }
    }
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) {
      std::array<char, 64> bytes;
      while (::read(woken_.get(), bytes.data(), bytes.size()) > 0) {}
    }
    for (std::size_t i = 1; i < polled.size(); ++i) {
      const std::lock_guard lock(mutex_);
      Peer& p = peers_[ranks[i]];
      if ((polled[i].revents & POLLOUT) != 0 && !p.ended) write_some(p);
      if ((polled[i].revents & ~POLLOUT) != 0 && !p.ended) read_some(p);
    }
  }
}

void SocketEndpoint::end_peer(Peer& p, int error) noexcept {
  if (p.error == 0) p.error = error;
  p.ended = true;
  p.outgoing.clear();
  changed_.notify_all();
}

void SocketEndpoint::write_some(Peer& p) {
  while (!p.outgoing.empty()) {
    Outgoing& message = *p.outgoing.front();
    auto* const head = reinterpret_cast<std::byte*>(&message.head);
    const std::size_t of_head = std::min(message.written, sizeof(Head)), of_bytes = message.written - of_head;
    iovec parts[2] = {{head + of_head, sizeof(Head) - of_head},
                      {const_cast<std::byte*>(message.bytes.data()) + of_bytes, message.bytes.size() - of_bytes}};
    msghdr all{};
    all.msg_iov = parts;
    all.msg_iovlen = 2;
    const ssize_t n = ::sendmsg(p.socket.get(), &all, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    // After another error the messages that have arrived are still read, up to the end of the stream.
    if (n < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (p.error == 0) p.error = errno;
      p.outgoing.clear();
      return;
    }
    message.written += static_cast<std::size_t>(n);
    if (message.written < sizeof(Head) + message.bytes.size()) continue;
    message.done = true;
    p.outgoing.pop_front();
    changed_.notify_all();
  }
}

// Returns false if the head is not complete yet, or the peer has ended.
bool SocketEndpoint::read_head(Peer& p) {
  while (p.head_read < sizeof(Head)) {
    const ssize_t n = ::recv(p.socket.get(), reinterpret_cast<std::byte*>(&p.head) + p.head_read,
                             sizeof(Head) - p.head_read, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    if (n <= 0) {
      end_peer(p, n < 0 ? errno : 0);
      return false;
    }
    p.head_read += static_cast<std::size_t>(n);
  }
  return true;
}

void SocketEndpoint::begin_message(Peer& p) {
  p.read = 0;
  if (p.head.channel != kAbortChannel) {
    Queue& queue = p.queues[p.head.channel];
    if (!queue.receives.empty() && queue.receives.front()->to.size() == p.head.size) {
      p.target = std::move(queue.receives.front());
      queue.receives.pop_front();
    }
  }
}

void SocketEndpoint::end_message(Peer& p) {
  p.head_read = 0;
  if (p.target) {
    p.target->size = p.head.size;
    p.target->done = true;
    p.target.reset();
  } else if (p.head.channel == kAbortChannel) {
    if (aborted_.empty()) {
      aborted_.assign(reinterpret_cast<const char*>(p.bytes.data()), p.bytes.size());
      send_abort(aborted_);  // this rank may end before the others have the message
    }
  } else {
    Queue& queue = p.queues[p.head.channel];
    if (queue.receives.empty()) {
      queue.messages.push_back(std::move(p.bytes));
    } else {  // its receive was started meanwhile, or expects another length
      queue.receives.front()->take(p.bytes);
      queue.receives.pop_front();
    }
  }
  p.bytes.clear();
  changed_.notify_all();
}

void SocketEndpoint::read_some(Peer& p) {
  for (std::size_t budget = kAtOnce; budget > 0;) {
    if (p.head_read < sizeof(Head)) {
      if (!read_head(p)) return;
      begin_message(p);
    }
    // A receive that was given up takes its message nevertheless.
    const bool is_kept = !p.target || p.target->given_up;
    if (is_kept) p.bytes.resize(p.head.size);
    std::byte* const to = is_kept ? p.bytes.data() : p.target->to.data();
    while (p.read < p.head.size) {
      const std::size_t size = std::min<std::size_t>(p.head.size - p.read, budget);
      if (size == 0) return;
      const ssize_t n = ::recv(p.socket.get(), to + p.read, size, MSG_DONTWAIT);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (n <= 0) return end_peer(p, n < 0 ? errno : 0);
      p.read += static_cast<std::size_t>(n);
      budget -= static_cast<std::size_t>(n);
    }
    end_message(p);
  }
}

}  // namespace training::communicators::internal
