#include <catena/training/communicators/endpoint.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <catena/kernels/base/error.h>

namespace training::communicators::internal {

using catena::check;
using catena::Owned;
using catena::RuntimeError;
using catena::Shared;
using catena::ValueError;

namespace {
constexpr double kLongest = 1e9;  // seconds; more would overflow the clock, and is as good as no limit
}

Deadline::Deadline(std::optional<double> seconds) {
  if (!seconds || *seconds > kLongest) return;
  seconds_ = *seconds;
  at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_));
}

void fail_late(int rank, int other, const Deadline& deadline) {
  throw TimeoutError(catena::concat("rank ", rank, " waits for rank ", other, " for more than ", deadline.seconds(),
                                    " s (CommunicatorOptions::timeout)"));
}
void fail_ended(int rank, int other, std::string_view why) {
  throw RuntimeError(catena::concat("rank ", rank, " waits for rank ", other, ", which ", why));
}
std::string aborted_text(int rank, std::string_view message) {
  return catena::concat("rank ", rank, " has aborted: ", message);
}
void check_length(int from, int to, std::size_t sent, std::size_t expected) {
  if (sent == expected) return;
  throw RuntimeError(catena::concat("rank ", from, " sent ", sent, " bytes to rank ", to, ", which expects ", expected,
                                    ": the ranks do not make the same calls in the same order"));
}
void check_timeout(const char* who, const std::optional<double>& seconds) {
  check<ValueError>(!seconds || *seconds > 0, who, "timeout is ", seconds.value_or(0),
                    "; it is a number of seconds above 0, or std::nullopt for no limit");
}

Endpoint::~Endpoint() = default;

std::uint64_t Endpoint::new_channel() {
  constexpr int kBits = 32;
  return (std::uint64_t(rank()) << kBits) + ++channels_;
}

GroupTransport::GroupTransport(Shared<Endpoint> endpoint, std::uint64_t channel, std::vector<int> members,
                               std::vector<std::string> hosts, std::optional<double> timeout)
    : endpoint_(std::move(endpoint)),
      channel_(channel),
      members_(std::move(members)),
      hosts_(std::move(hosts)),
      timeout_(timeout) {
  rank_ = static_cast<int>(std::find(members_.begin(), members_.end(), endpoint_->rank()) - members_.begin());
}

int GroupTransport::member(const char* op, int rank) const {
  check<ValueError>(rank >= 0 && rank < size(), op, "there is no rank ", rank, " among ", size());
  check<ValueError>(rank != rank_, op, "rank ", rank, " is this rank itself");
  return members_[static_cast<std::size_t>(rank)];
}

Owned<Transport::Request> GroupTransport::start_send(int to, std::span<const std::byte> bytes) {
  return endpoint_->start_send(member("start_send", to), channel_, bytes, timeout_);
}
Owned<Transport::Request> GroupTransport::start_receive(int from, std::span<std::byte> bytes) {
  return endpoint_->start_receive(member("start_receive", from), channel_, bytes, timeout_);
}

void GroupTransport::abort(const std::string& message) {
  endpoint_->abort(message);
  std::abort();  // not reached
}

Shared<Transport> GroupTransport::split(int color, int key) {
  // Every rank sends its choice to every other one, with a channel for the group in which it comes first.
  struct Choice {
    std::int64_t color, key;
    std::uint64_t channel;
  };
  const auto count = static_cast<std::size_t>(size()), self = static_cast<std::size_t>(rank_);
  std::vector<Choice> choices(count);
  choices[self] = {color, key, endpoint_->new_channel()};
  std::vector<Owned<Request>> requests;
  for (std::size_t r = 0; r < count; ++r) {
    if (r == self) continue;
    requests.push_back(start_send(static_cast<int>(r), std::as_bytes(std::span(&choices[self], 1))));
    requests.push_back(start_receive(static_cast<int>(r), std::as_writable_bytes(std::span(&choices[r], 1))));
  }
  for (const auto& request : requests) request->wait();
  if (color < 0) return {};

  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < count; ++r)
    if (choices[r].color == color) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::size_t a, std::size_t b) { return choices[a].key < choices[b].key; });
  std::vector<int> members;
  std::vector<std::string> hosts;
  for (const std::size_t r : ranks) {
    members.push_back(members_[r]);
    hosts.push_back(hosts_[r]);
  }
  return Shared<GroupTransport>::make(endpoint_, choices[ranks[0]].channel, std::move(members), std::move(hosts),
                                      timeout_);
}

Shared<Transport> world_transport(Shared<Endpoint> endpoint, std::vector<std::string> hosts,
                                  std::optional<double> timeout) {
  std::vector<int> all(hosts.size());
  for (std::size_t r = 0; r < all.size(); ++r) all[r] = static_cast<int>(r);
  return Shared<GroupTransport>::make(std::move(endpoint), kWorldChannel, std::move(all), std::move(hosts), timeout);
}

}  // namespace training::communicators::internal
