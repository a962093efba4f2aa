#include <catena/training/communicators/array_messages.h>

#include <algorithm>
#include <utility>

namespace training::communicators::internal {

using autograd::Device;
using autograd::Dtype;
using autograd::Shape;

Array on_host(const Array& a) { return autograd::contiguous(autograd::to_device(a, Device{})); }

std::span<std::byte> bytes_of(const Array& host) {
  return {host->data, static_cast<std::size_t>(host.size()) * catena::itemsize(host.dtype())};
}

ArrayHead::ArrayHead(const Array& a) : ndim(a.ndim()), dtype(a.dtype()) {
  std::copy(a.shape().begin(), a.shape().end(), lengths);
}
Array ArrayHead::empty() const {
  return autograd::arrays::empty(Shape(std::span(lengths, static_cast<std::size_t>(ndim))), dtype, Device{});
}

namespace {

std::span<const std::byte> head_bytes(const ArrayHead& head) { return std::as_bytes(std::span(&head, 1)); }
std::span<std::byte> head_bytes(ArrayHead& head) { return std::as_writable_bytes(std::span(&head, 1)); }

}  // namespace

void send_array(Transport& t, const Array& a, int to) {
  const ArrayHead head(a);
  const Array host = on_host(a);
  Exchange messages(t);
  messages.send(to, head_bytes(head));
  messages.send(to, bytes_of(host));
  messages.wait();
}

Array receive_array(Transport& t, int from) {
  ArrayHead head;
  Array host;  // destroyed after the requests, which write to it
  Exchange messages(t);
  messages.receive(from, head_bytes(head));
  messages.wait();
  host = head.empty();
  messages.receive(from, bytes_of(host));
  messages.wait();
  return host;
}

std::vector<Array> exchange_arrays(Transport& t, std::span<const Array> arrays) {
  const auto n = static_cast<std::size_t>(t.size()), self = static_cast<std::size_t>(t.rank());
  std::vector<ArrayHead> out(n), in(n);
  std::vector<Array> hosts(n), results(n);
  Exchange messages(t);
  for (std::size_t r = 0; r < n; ++r) {
    if (r == self) continue;
    out[r] = ArrayHead(arrays[r]);
    hosts[r] = on_host(arrays[r]);
    messages.receive(static_cast<int>(r), head_bytes(in[r]));
    messages.send(static_cast<int>(r), head_bytes(std::as_const(out[r])));
  }
  messages.wait();
  for (std::size_t r = 0; r < n; ++r) {
    if (r == self) continue;
    results[r] = in[r].empty();
    messages.receive(static_cast<int>(r), bytes_of(results[r]));
    messages.send(static_cast<int>(r), bytes_of(hosts[r]));
  }
  messages.wait();
  results[self] = arrays[self];
  return results;
}

// ---- sums ---------------------------------------------------------------------------------------
namespace {

// The elements of an array, divided into one part for each rank.
class Parts {
 public:
  Parts(Transport& t, const Array& host)
      : n_(t.size()), flat_(autograd::reshape(host, {host.size()})), width_(catena::itemsize(host.dtype())) {}

  Array array(int part) const { return autograd::slice(flat_, 0, begin(part), begin(part + 1)); }
  std::span<std::byte> bytes(int part) const {
    return bytes_of(flat_).subspan(static_cast<std::size_t>(begin(part)) * width_, size(part) * width_);
  }
  Array empty(int part) const {
    return autograd::arrays::empty({begin(part + 1) - begin(part)}, flat_.dtype(), Device{});
  }

 private:
  // The quotient and the remainder, because the product of size and number may overflow.
  std::int64_t begin(int part) const {
    return flat_.size() / n_ * part + std::min<std::int64_t>(part, flat_.size() % n_);
  }
  std::size_t size(int part) const { return static_cast<std::size_t>(begin(part + 1) - begin(part)); }

  int n_;
  Array flat_;
  std::size_t width_;
};

// Every rank sends its part r to rank r, which adds them, and sends the sum to all.
void all_reduce_ordered(Transport& t, const Parts& parts, std::optional<double> divisor) {
  const int n = t.size(), self = t.rank();
  const Array own = parts.array(self);
  std::vector<Array> summands;
  Exchange messages(t);
  for (int r = 0; r < n; ++r) {
    summands.push_back(r == self ? own : parts.empty(self));
    if (r != self) messages.receive(r, bytes_of(summands.back()));
  }
  for (int r = 0; r < n; ++r)
    if (r != self) messages.send(r, parts.bytes(r));
  messages.wait();

  // Without a wider dtype the first summand becomes the sum: on rank 0 this is its own part, elsewhere a copy of a
  // part.
  const Dtype wide = is_narrow(own.dtype()) ? Dtype::float32 : own.dtype();
  const Array sum = autograd::astype(summands[0], wide);
  for (int r = 1; r < n; ++r) sum += autograd::astype(summands[static_cast<std::size_t>(r)], wide);
  if (divisor) sum /= *divisor;
  if (self != 0 || wide != own.dtype()) autograd::assign(own, sum);

  for (int r = 0; r < n; ++r) {
    if (r == self) continue;
    messages.receive(r, parts.bytes(r));
    messages.send(r, parts.bytes(self));
  }
  messages.wait();
}

// In step s, rank r sends part r - s to the next rank, which adds its own. After n - 1 steps part r + 1 is complete on
// rank r, and goes around once more.
void all_reduce_ring(Transport& t, const Parts& parts, std::optional<double> divisor) {
  const int n = t.size(), self = t.rank(), next = (self + 1) % n, previous = (self + n - 1) % n;
  Array received;  // destroyed after the requests, which write to it
  Exchange messages(t);
  for (int step = 0; step < n - 1; ++step) {
    const int out = (self + n - step) % n, in = (out + n - 1) % n;
    received = parts.empty(in);
    messages.receive(previous, bytes_of(received));
    messages.send(next, parts.bytes(out));
    messages.wait();
    parts.array(in) += received;
  }
  if (divisor) parts.array(next) /= *divisor;
  for (int step = 0; step < n - 1; ++step) {
    const int out = (self + 1 + n - step) % n, in = (out + n - 1) % n;
    messages.receive(previous, parts.bytes(in));
    messages.send(next, parts.bytes(out));
    messages.wait();
  }
}

}  // namespace

void all_reduce(Transport& t, Summation how, const Array& host, std::optional<double> divisor) {
  if (host.size() == 0) return;
  if (t.size() == 1) {
    if (divisor && *divisor != 1) host /= *divisor;
    return;
  }
  const Parts parts(t, host);
  if (how == Summation::ordered) return all_reduce_ordered(t, parts, divisor);
  const bool divide_first = divisor && is_narrow(host.dtype());
  if (divide_first) host /= *divisor;
  all_reduce_ring(t, parts, divide_first ? std::nullopt : divisor);
}

}  // namespace training::communicators::internal
