#include <catena/tests/support/cuda_device/nccl_call.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include <catena/kernels/bfloat16.h>
#include <catena/kernels/float16.h>
#include <catena/ndarray/cuda/api/nccl.h>

namespace cuda_device::nccl {
namespace {

using namespace nd::cuda::api;

template <class T> using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
template <class T> Wide<T> load(const T& v) {
  if constexpr (sizeof(T) == 2) return static_cast<float>(v);
  else return v;
}

template <class T>
void combine(int op, std::size_t count, const std::vector<const void*>& from, std::size_t first, void* to) {
  std::vector<T> result(count);
  for (std::size_t k = 0; k < count; ++k) {
    Wide<T> value = load(static_cast<const T*>(from[0])[first + k]);
    for (std::size_t r = 1; r < from.size(); ++r) {
      const Wide<T> next = load(static_cast<const T*>(from[r])[first + k]);
      switch (op) {
        case nccl_prod: value = static_cast<Wide<T>>(value * next); break;
        case nccl_max: value = std::max(value, next); break;
        case nccl_min: value = std::min(value, next); break;
        default: value = static_cast<Wide<T>>(value + next);
      }
    }
    if (op == nccl_avg) value = static_cast<Wide<T>>(value / static_cast<Wide<T>>(from.size()));
    result[k] = T(value);
  }
  std::memcpy(to, result.data(), count * sizeof(T));  // `to` may be one of the inputs
}

void combine(int type, int op, std::size_t count, const std::vector<const void*>& from, std::size_t first, void* to) {
  switch (type) {
    case nccl_int8: return combine<std::int8_t>(op, count, from, first, to);
    case nccl_uint8: return combine<std::uint8_t>(op, count, from, first, to);
    case nccl_int32: return combine<std::int32_t>(op, count, from, first, to);
    case nccl_uint32: return combine<std::uint32_t>(op, count, from, first, to);
    case nccl_int64: return combine<std::int64_t>(op, count, from, first, to);
    case nccl_uint64: return combine<std::uint64_t>(op, count, from, first, to);
    case nccl_float16: return combine<catena::float16>(op, count, from, first, to);
    case nccl_bfloat16: return combine<catena::bfloat16>(op, count, from, first, to);
    case nccl_float32: return combine<float>(op, count, from, first, to);
    default: return combine<double>(op, count, from, first, to);
  }
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::all_reduce: return "ncclAllReduce";
    case Kind::reduce: return "ncclReduce";
    case Kind::broadcast: return "ncclBroadcast";
    case Kind::all_gather: return "ncclAllGather";
    case Kind::reduce_scatter: return "ncclReduceScatter";
    case Kind::send: return "ncclSend";
    default: return "ncclRecv";
  }
}

std::size_t bytes_of(int type) {
  switch (type) {
    case nccl_int8:
    case nccl_uint8: return 1;
    case nccl_float16:
    case nccl_bfloat16: return 2;
    case nccl_int32:
    case nccl_uint32:
    case nccl_float32: return 4;
    default: return 8;
  }
}

std::vector<std::byte> result_of(const Request& one, const std::vector<const void*>& from, std::size_t rank) {
  const std::size_t bytes = one.count * bytes_of(one.type);
  const auto root = static_cast<std::size_t>(std::max(one.other, 0));
  if (bytes == 0 || (one.kind == Kind::reduce && rank != root)) return {};
  std::vector<std::byte> result(bytes * (one.kind == Kind::all_gather ? from.size() : 1));
  switch (one.kind) {
    case Kind::broadcast: std::memcpy(result.data(), from[root], bytes); break;
    case Kind::all_gather:
      for (std::size_t s = 0; s < from.size(); ++s) std::memcpy(result.data() + s * bytes, from[s], bytes);
      break;
    case Kind::reduce_scatter: combine(one.type, one.op, one.count, from, rank * one.count, result.data()); break;
    default: combine(one.type, one.op, one.count, from, 0, result.data());
  }
  return result;
}

}  // namespace cuda_device::nccl
