#include <catena/training/communicators/messages.h>

#include <algorithm>
#include <utility>

namespace training::communicators::internal {
namespace {

template <class T> std::span<const std::byte> bytes_of(const T& number) { return std::as_bytes(std::span(&number, 1)); }
template <class T> std::span<std::byte> bytes_of(T& number) { return std::as_writable_bytes(std::span(&number, 1)); }
std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::span<std::byte> bytes_of(std::string& text) { return std::as_writable_bytes(std::span(text)); }

}  // namespace

void Exchange::send(int to, std::span<const std::byte> bytes) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size())))
    requests_.push_back(transport_.start_send(to, bytes.first(std::min(kPiece, bytes.size()))));
}
void Exchange::receive(int from, std::span<std::byte> bytes) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size())))
    requests_.push_back(transport_.start_receive(from, bytes.first(std::min(kPiece, bytes.size()))));
}
void Exchange::wait() {
  for (const auto& request : requests_) request->wait();
  requests_.clear();
}

void send_text(Transport& t, std::string_view text, int to) {
  const std::uint64_t size = text.size();
  Exchange messages(t);
  messages.send(to, bytes_of(size));
  messages.send(to, bytes_of(text));
  messages.wait();
}

std::string receive_text(Transport& t, int from) {
  std::uint64_t size = 0;
  std::string text;  // destroyed after the requests, which write to it
  Exchange messages(t);
  messages.receive(from, bytes_of(size));
  messages.wait();
  text.resize(size);
  messages.receive(from, bytes_of(text));
  messages.wait();
  return text;
}

void broadcast(Transport& t, std::span<std::byte> bytes, int root) {
  const int n = t.size(), self = (t.rank() - root + n) % n;  // the root is number 0 of a binomial tree
  const auto rank_of = [&](int number) { return (number + root) % n; };
  Exchange messages(t);
  int step = 1;
  while (step < n && (self & step) == 0) step *= 2;
  if (self != 0) {
    messages.receive(rank_of(self - step), bytes);
    messages.wait();
  }
  for (step /= 2; step >= 1; step /= 2)
    if (self + step < n) messages.send(rank_of(self + step), bytes);
  messages.wait();
}

std::string broadcast_text(Transport& t, std::string_view text, int root) {
  std::uint64_t size = text.size();
  broadcast(t, bytes_of(size), root);
  std::string result = t.rank() == root ? std::string(text) : std::string(size, '\0');
  broadcast(t, bytes_of(result), root);
  return result;
}

std::vector<std::byte> all_gather_bytes(Transport& t, std::span<const std::byte> own) {
  const auto n = static_cast<std::size_t>(t.size()), rank = static_cast<std::size_t>(t.rank()), width = own.size();
  // Entry i is of rank (rank + i) % n. After each step twice as many are known.
  std::vector<std::byte> known(n * width);
  std::copy(own.begin(), own.end(), known.begin());
  for (std::size_t step = 1; step < n; step *= 2) {
    const std::size_t count = std::min(step, n - step) * width;
    Exchange messages(t);
    messages.receive(static_cast<int>((rank + step) % n), std::span(known).subspan(step * width, count));
    messages.send(static_cast<int>((rank + n - step) % n), std::span(known).first(count));
    messages.wait();
  }
  std::rotate(known.begin(), known.begin() + static_cast<std::ptrdiff_t>((n - rank) % n * width), known.end());
  return known;
}

std::vector<std::string> all_gather_texts(Transport& t, std::string_view text) {
  const std::vector<std::uint64_t> sizes = all_gather<std::uint64_t>(t, text.size());
  std::vector<std::string> texts;
  for (const std::uint64_t size : sizes) texts.emplace_back(size, '\0');
  Exchange messages(t);
  for (int r = 0; r < t.size(); ++r) {
    std::string& of_rank = texts[static_cast<std::size_t>(r)];
    if (r == t.rank()) of_rank = text;
    else messages.receive(r, bytes_of(of_rank));
  }
  for (int r = 0; r < t.size(); ++r)
    if (r != t.rank()) messages.send(r, bytes_of(text));
  messages.wait();
  return texts;
}

std::vector<std::string> gather_texts(Transport& t, std::string_view text, int root) {
  if (t.rank() != root) {
    send_text(t, text, root);
    return {};
  }
  std::vector<std::string> texts;
  for (int r = 0; r < t.size(); ++r) texts.push_back(r == root ? std::string(text) : receive_text(t, r));
  return texts;
}

std::string scatter_text(Transport& t, std::span<const std::string> texts, int root) {
  if (t.rank() != root) return receive_text(t, root);
  for (int r = 0; r < t.size(); ++r)
    if (r != root) send_text(t, texts[static_cast<std::size_t>(r)], r);
  return texts[static_cast<std::size_t>(root)];
}

}  // namespace training::communicators::internal
