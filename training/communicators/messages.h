// Exchanges of bytes between the ranks of a transport. Internal to this folder.
//
// Collective functions are called by all ranks of the transport, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <catena/training/communicators/transport.h>

namespace training::communicators::internal {

// Messages that are under way at once. Long ones travel in pieces, so that no library beneath meets a length beyond its
// integers. Empty ones do not travel.
class Exchange {
 public:
  static constexpr std::size_t kPiece = std::size_t(16) << 20;

  explicit Exchange(Transport& transport) : transport_(transport) {}
  void send(int to, std::span<const std::byte> bytes);
  void receive(int from, std::span<std::byte> bytes);
  void wait();  // for all of them

 private:
  Transport& transport_;
  std::vector<catena::Owned<Transport::Request>> requests_;
};

void send_text(Transport& t, std::string_view text, int to);
std::string receive_text(Transport& t, int from);

// The bytes of the root, on all ranks.
void broadcast(Transport& t, std::span<std::byte> bytes, int root);
std::string broadcast_text(Transport& t, std::string_view text, int root);

// The records of all ranks, by rank, in about log2(n) steps (Bruck, Ho, Kipnis, Upfal, Weathersby: "Efficient
// algorithms for all-to-all communications in multiport message-passing systems", 1997). `bytes` of each record.
std::vector<std::byte> all_gather_bytes(Transport& t, std::span<const std::byte> own);
template <class T> std::vector<T> all_gather(Transport& t, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::byte> bytes = all_gather_bytes(t, std::as_bytes(std::span(&own, 1)));
  std::vector<T> all(bytes.size() / sizeof(T));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}
std::vector<std::string> all_gather_texts(Transport& t, std::string_view text);
// By rank, on the root; empty on others.
std::vector<std::string> gather_texts(Transport& t, std::string_view text, int root);
// The root's entry for this rank. `texts` is read on the root.
std::string scatter_text(Transport& t, std::span<const std::string> texts, int root);

}  // namespace training::communicators::internal
