// NCCL of the software device: a call for one rank, and the arithmetic of its operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

struct CUstream_st;

namespace cuda_device::nccl {

enum class Kind : int { all_reduce, reduce, broadcast, all_gather, reduce_scatter, send, receive };
const char* name_of(Kind kind);  // "ncclAllReduce"

struct Request {
  Kind kind;
  const void* from;
  void* to;
  std::size_t count;
  int type, op, other;  // other: the root or the peer
  CUstream_st* stream;
  std::uint64_t ticket = 0;

  bool is_message() const { return kind == Kind::send || kind == Kind::receive; }
  bool agrees_with(const Request& r) const {
    return kind == r.kind && count == r.count && type == r.type && op == r.op && other == r.other;
  }
};

std::size_t bytes_of(int type);

// Returns the result of a collective on rank `rank`; the inputs are in the order of the ranks.
std::vector<std::byte> result_of(const Request& collective, const std::vector<const void*>& from, std::size_t rank);

}  // namespace cuda_device::nccl
