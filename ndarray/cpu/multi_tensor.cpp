#include <algorithm>
#include <vector>

#include <catena/kernels/base/parallel.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/cpu_backend.h>

namespace nd::cpu {
namespace {

using catena::compute_dtype;
using catena::itemsize;

constexpr std::int64_t kPiece = 16 * 1024;  // elements of one tensor that are updated without looking for the next

// One piece of one tensor, whose types the loop cannot take as they are.
void run_tiled(const catena::KernelDef& def, const catena::Loop& loop, const double* hyper, std::byte* const* data,
               std::int64_t n) {
  const int n_op = def.num_operands();
  alignas(64) std::byte tiles[catena::kMaxOperands][kTile * 4];  // only 16-bit types pass through tiles, as floats
  std::byte* ptr[catena::kMaxOperands];
  Load load[catena::kMaxOperands];
  Store store[catena::kMaxOperands];
  for (int k = 0; k < n_op; ++k) {
    const Dtype t = loop.type[std::size_t(k)];
    if (!is_half(t)) continue;
    load[k] = Load(t, t);
    store[k] = Store(t, t);
    if ((def.shared >> k) & 1) load[k](data[k], 0, tiles[k], 1);
  }
  for (std::int64_t i = 0; i < n; i += kTile) {
    const std::int64_t m = std::min(kTile, n - i);
    for (int k = 0; k < n_op; ++k) {
      const Dtype t = loop.type[std::size_t(k)];
      const bool shared = (def.shared >> k) & 1;
      const auto item = static_cast<std::int64_t>(itemsize(t));
      ptr[k] = is_half(t) ? tiles[k] : data[k] + (shared ? 0 : i * item);
      if (is_half(t) && !shared && k < def.first_output()) load[k](data[k] + i * item, item, ptr[k], m);
    }
    loop.multi_tensor(hyper, ptr, m);
    for (int k = def.nin; k < n_op; ++k) {
      const Dtype t = loop.type[std::size_t(k)];
      const auto item = static_cast<std::int64_t>(itemsize(t));
      if (is_half(t)) store[k](ptr[k], data[k] + i * item, item, m);
    }
  }
}

}  // namespace

void CpuBackend::multi_tensor(const catena::MultiTensorCall& call, StreamRef) {
  const catena::KernelDef& def = *call.kernel;
  const catena::Loop& loop = def.loop_table[call.loop];
  const int n_op = def.num_operands();
  bool tiled = false;
  for (int k = 0; k < n_op; ++k) tiled |= is_half(loop.type[std::size_t(k)]);
  // first[t]: number of pieces before tensor t.
  std::vector<std::int64_t> first(call.tensors.size() + 1, 0);
  for (std::size_t t = 0; t < call.tensors.size(); ++t)
    first[t + 1] = first[t] + (call.tensors[t].n + kPiece - 1) / kPiece;
  catena::parallel_for(first.back(), 2, [&](std::int64_t b, std::int64_t e) {
    auto t = static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), b) - first.begin()) - 1;
    for (std::int64_t piece = b; piece < e; ++piece) {
      while (piece >= first[t + 1]) ++t;
      const catena::TensorEntry& entry = call.tensors[t];
      const std::int64_t begin = (piece - first[t]) * kPiece, n = std::min(kPiece, entry.n - begin);
      static constexpr catena::Hyper none{};
      const double* hyper = call.hyper.empty() ? none.data() : call.hyper[std::size_t(entry.hyper)].data();
      std::byte* ptr[catena::kMaxOperands];
      for (int k = 0; k < n_op; ++k) {
        const auto item = static_cast<std::int64_t>(itemsize(loop.type[std::size_t(k)]));
        ptr[k] = entry.data[std::size_t(k)] + (((def.shared >> k) & 1) ? 0 : begin * item);
      }
      if (tiled) run_tiled(def, loop, hyper, ptr, n);
      else loop.multi_tensor(hyper, ptr, n);
    }
  });
}

}  // namespace nd::cpu
