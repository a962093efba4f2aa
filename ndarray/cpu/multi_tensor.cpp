#include <algorithm>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/kernels/registry/tensor_table.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/run.h>

namespace nd::cpu {
namespace {

using catena::compute_dtype;
using catena::itemsize;

// Processes a part of one tensor through tiles, because its stored types are not the compute types of the loop.
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

void run(const catena::call::MultiTensor& call) {
  const catena::KernelDef& def = *call.kernel;
  const catena::Loop& loop = def.loop_table[call.loop];
  const catena::TensorTable& table = *call.table;
  const int n_op = def.num_operands();
  std::int64_t item[catena::kMaxOperands];  // bytes between elements
  bool tiled = false;
  for (int k = 0; k < n_op; ++k) {
    const Dtype t = loop.type[std::size_t(k)];
    item[k] = ((def.shared >> k) & 1) ? 0 : static_cast<std::int64_t>(itemsize(t));
    tiled |= is_half(t);
  }
  const std::span<const catena::TensorTable::Chunk> chunks = table.chunks();
  catena::parallel_for(std::int64_t(chunks.size()), 2, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t i = b; i < e; ++i) {
      const catena::TensorTable::Chunk& chunk = chunks[std::size_t(i)];
      const auto t = std::size_t(chunk.tensor);
      const std::int64_t begin = chunk.chunk * catena::TensorTable::kChunk;
      const std::int64_t n = std::min(catena::TensorTable::kChunk, table.elements(t) - begin);
      const double* hyper = call.hyper[std::size_t(table.hyper(t))].data();
      std::byte* ptr[catena::kMaxOperands];
      for (int k = 0; k < n_op; ++k) ptr[k] = table.data(t, k) + begin * item[k];
      if (tiled) run_tiled(def, loop, hyper, ptr, n);
      else loop.multi_tensor(hyper, ptr, n);
    }
  });
}

}  // namespace nd::cpu
