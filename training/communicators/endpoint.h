// Transports of groups of ranks over one means of moving messages. Internal to this folder.
//
// An Endpoint belongs to one rank and moves messages to all others, each on a channel. A GroupTransport is a channel
// with the ranks that take part: split() makes further ones over the same endpoint.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/training/communicators/transport.h>

namespace training::communicators::internal {

// The time limit of one request.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Deadline(std::optional<double> seconds);
  const std::optional<Clock::time_point>& at() const noexcept { return at_; }
  bool has_passed() const { return at_ && Clock::now() >= *at_; }
  double seconds() const noexcept { return seconds_; }

 private:
  std::optional<Clock::time_point> at_;
  double seconds_ = 0;
};

// The errors of waiting, with the ranks in the whole run.
[[noreturn]] void fail_late(int rank, int other, const Deadline& deadline);
[[noreturn]] void fail_ended(int rank, int other, std::string_view why);
std::string aborted_text(int rank, std::string_view message);
void check_length(int from, int to, std::size_t sent, std::size_t expected);

// Thread safety: all members may be called from any thread.
class Endpoint {
 public:
  virtual ~Endpoint();
  virtual int rank() const noexcept = 0;
  virtual catena::Owned<Transport::Request> start_send(int to, std::uint64_t channel, std::span<const std::byte> bytes,
                                                       std::optional<double> timeout) = 0;
  virtual catena::Owned<Transport::Request> start_receive(int from, std::uint64_t channel, std::span<std::byte> bytes,
                                                          std::optional<double> timeout) = 0;
  // As the functions of Transport.
  virtual void announce_abort(const std::string& message) noexcept = 0;
  [[noreturn]] virtual void abort(const std::string& message) = 0;

  // A number that no other channel has in the whole run.
  std::uint64_t new_channel();

 private:
  std::atomic<std::uint32_t> channels_{0};
};

class GroupTransport final : public Transport {
 public:
  // `members`: the ranks in the whole run, by rank of this transport; `hosts`: of the members.
  GroupTransport(catena::Shared<Endpoint> endpoint, std::uint64_t channel, std::vector<int> members,
                 std::vector<std::string> hosts, std::optional<double> timeout);

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return static_cast<int>(members_.size()); }
  const std::vector<std::string>& hosts() const noexcept override { return hosts_; }
  void set_timeout(std::optional<double> seconds) override { timeout_ = seconds; }
  catena::Owned<Request> start_send(int to, std::span<const std::byte> bytes) override;
  catena::Owned<Request> start_receive(int from, std::span<std::byte> bytes) override;
  catena::Shared<Transport> split(int color, int key) override;
  void announce_abort(const std::string& message) noexcept override { endpoint_->announce_abort(message); }
  [[noreturn]] void abort(const std::string& message) override;

 private:
  int member(const char* op, int rank) const;

  catena::Shared<Endpoint> endpoint_;
  std::uint64_t channel_;
  std::vector<int> members_;
  std::vector<std::string> hosts_;
  std::optional<double> timeout_;
  int rank_ = 0;
};

// The channel of the transport with all ranks.
inline constexpr std::uint64_t kWorldChannel = 0;
catena::Shared<Transport> world_transport(catena::Shared<Endpoint> endpoint, std::vector<std::string> hosts,
                                          std::optional<double> timeout);

// ValueError unless the time limit is empty or a number of seconds above 0.
void check_timeout(const char* who, const std::optional<double>& seconds);

}  // namespace training::communicators::internal
