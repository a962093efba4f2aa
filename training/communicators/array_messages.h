// Arrays as messages, and sums of arrays over ranks. Internal to this folder.
//
// Elements travel from and to host memory, in C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <catena/autograd/array.h>
#include <catena/training/communicators/messages.h>

namespace training::communicators::internal {

using autograd::Array;

// The array itself if it is C-contiguous on the host, else a copy there.
Array on_host(const Array& a);
// The elements of a C-contiguous array on the host.
std::span<std::byte> bytes_of(const Array& host);

// Precedes the elements of an array.
struct ArrayHead {
  std::int32_t ndim = 0;
  autograd::Dtype dtype = autograd::Dtype::float32;
  std::int64_t lengths[catena::kMaxRank] = {};

  ArrayHead() = default;
  explicit ArrayHead(const Array& a);
  Array empty() const;  // a new array on the host
};

void send_array(Transport& t, const Array& a, int to);
Array receive_array(Transport& t, int from);  // on the host
// Sends entry r to rank r, and returns what the ranks sent to this one, by rank, on the host; this rank's own entry is
// returned as it is.
std::vector<Array> exchange_arrays(Transport& t, std::span<const Array> arrays);

// True for the floating dtypes of 16 bits, whose sums over ranks may overflow or lose digits.
inline bool is_narrow(autograd::Dtype dtype) {
  return dtype == autograd::Dtype::float16 || dtype == autograd::Dtype::bfloat16;
}

// The ways to compute a sum.
//   ordered   In the order of the ranks, each element on one rank: ((x0 + x1) + x2) + ..., in float32 for dtypes of 16
//             bits, rounded once.
//   ring      Part by part around a ring (Patarasuk, Yuan: "Bandwidth optimal all-reduce algorithms for clusters of
//             workstations", 2009). Every rank sends and receives 2 (n - 1) / n of the elements.
enum class Summation { ordered, ring };
// Replaces the elements of a C-contiguous array on the host by their sums over the ranks, divided by `divisor`. The
// bits are the same on all ranks. In the ring, dtypes of 16 bits are divided first, so that the sum does not overflow.
void all_reduce(Transport& t, Summation how, const Array& host, std::optional<double> divisor = {});

}  // namespace training::communicators::internal
