#include <catena/ndarray/cuda/plans/multi_tensor.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/execute.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/staging.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::TensorTable;

static_assert(device::kHyper == catena::kMaxHyper && sizeof(catena::Hyper) == device::kHyper * sizeof(double));
static_assert(device::kChunk == TensorTable::kChunk && sizeof(device::TensorChunk) == sizeof(TensorTable::Chunk));
static_assert(sizeof(device::TensorEntry<3>) == (3 + 2) * sizeof(std::int64_t));

LaunchPlan plan_multi_tensor(const catena::KernelDef& kernel, int loop) {
  LaunchPlan plan;
  plan.kernel = &kernel;
  plan.loop = loop;
  KernelKey& key = plan.key;
  key.program = kernel_hash(kernel, kernel.loop_table[loop]);
  key.form = Form::multi_tensor;
  for (std::size_t k = 0; k < std::size_t(kernel.num_operands()); ++k) key.dtypes[k] = kernel.loop_table[loop].type[k];
  return plan;
}

void add_multi_tensor(GeneratedKernel& k, const catena::KernelDef& def, const catena::Loop& loop) {
  add_header(k, "catena/kernels/device/multi_tensor.h");
  set_parameters<device::MultiTensorParameters>(k, "MultiTensorParameters");
  std::string tags;
  for (int j = 0; j < def.num_operands(); ++j) {
    const char* role =
        (def.shared >> j) & 1 ? "Shared" : (j < def.nin ? "In" : (j < def.first_output() ? "InOut" : "Out"));
    tags += tag(role, loop.type[static_cast<std::size_t>(j)], loop.type[static_cast<std::size_t>(j)]);
  }
  const int width = vector_width({loop.type.data(), static_cast<std::size_t>(def.num_operands())}, def.shared);
  add_function(k, concat("catena::device::multi_tensor<catena::k::", def.name, ", ", std::min(width, 4), tags, ">"));
}

// Stores `bytes` bytes at `at`. Returns the range from the first to the last word that changed.
TableImage::Range TableImage::take(std::size_t at, const void* from, std::size_t bytes) {
  constexpr std::size_t word = sizeof(std::int64_t);
  const auto* fresh = static_cast<const std::byte*>(from);
  std::byte* old = bytes_.data() + at;
  const auto differs = [&](std::size_t i) { return std::memcmp(old + i, fresh + i, word) != 0; };
  std::size_t begin = 0, end = bytes;
  while (begin < end && !differs(begin)) begin += word;
  while (end > begin && !differs(end - word)) end -= word;
  std::memcpy(old + begin, fresh + begin, end - begin);
  return {at + begin, at + end};
}

TableImage::Range TableImage::update(const catena::call::MultiTensor& call, bool live) {
  const TensorTable& table = *call.table;
  const std::span<const TensorTable::Chunk> chunks = table.chunks();
  const std::size_t hyper_bytes = live || call.hyper.size() > 1 ? call.hyper.size_bytes() : 0;
  const std::size_t rows_at = chunks.size_bytes(), hyper_at = rows_at + table.words().size_bytes();
  if (layout_version_ != table.layout_version() || bytes_.size() != hyper_at + hyper_bytes) {
    layout_version_ = 0;  // belongs to no table if there is not enough memory
    bytes_.resize(hyper_at + hyper_bytes);
    std::copy_n(reinterpret_cast<const std::byte*>(chunks.data()), chunks.size_bytes(), bytes_.data());
    take(rows_at, table.words().data(), table.words().size_bytes());
    take(hyper_at, call.hyper.data(), hyper_bytes);
    rows_at_ = rows_at;
    hyper_at_ = hyper_at;
    layout_version_ = table.layout_version();
    version_ = table.version();
    return {0, bytes_.size()};
  }
  Range changed{hyper_at, hyper_at};
  if (version_ != table.version()) changed = take(rows_at, table.words().data(), table.words().size_bytes());
  version_ = table.version();
  const Range of_hyper = take(hyper_at, call.hyper.data(), hyper_bytes);
  if (of_hyper.empty()) return changed;
  return {changed.empty() ? of_hyper.begin : changed.begin, of_hyper.end};
}

void TableImage::complete(LaunchPlan& plan, const catena::call::MultiTensor& call, const void* device_memory) const {
  const auto* at = static_cast<const std::byte*>(device_memory);
  const bool in_memory = hyper_at_ != bytes_.size();
  device::MultiTensorParameters p{};
  p.tensors = at + rows_at_;
  p.chunks = reinterpret_cast<const device::TensorChunk*>(at);
  if (in_memory) p.hyper = reinterpret_cast<const double*>(at + hyper_at_);
  else std::copy(call.hyper[0].begin(), call.hyper[0].end(), p.common);
  plan.parameters.put_head(p);
  plan.grid_x = static_cast<std::uint32_t>(call.table->chunks().size());
}

namespace {

// The copy of a table that is used on one stream. Work on that stream reads the data that was copied before it, so a
// copy may change while earlier launches still run.
class DeviceTable final : public catena::TensorTableCopy {
 public:
  void run(const catena::call::MultiTensor& call, StreamRef stream) {
    const TableImage::Range changed = image_.update(call);
    const std::size_t bytes = image_.bytes().size();
    bool all = !complete_;
    if (!memory_ || bytes_ < bytes || !(stream_ == stream)) {
      memory_.reset();
      memory_.emplace(bytes, stream);
      bytes_ = bytes;
      stream_ = stream;
      all = true;
    }
    complete_ = false;  // until the copy has succeeded
    const TableImage::Range copied = all ? TableImage::Range{0, bytes} : changed;
    if (!copied.empty())
      copy_staged(address_of(memory_->data() + copied.begin), image_.bytes().data() + copied.begin,
                  copied.end - copied.begin, stream);
    complete_ = true;
    LaunchPlan plan = plan_multi_tensor(*call.kernel, call.loop);
    image_.complete(plan, call, memory_->data());
    launch_plan(plan, stream);
  }

 private:
  TableImage image_;
  std::optional<Scratch> memory_;
  std::size_t bytes_ = 0;  // size of the memory
  StreamRef stream_;
  bool complete_ = false;  // the memory holds the whole image
};

// Uses memory of the graph: a replay reads the addresses of the capture and the present hyperparameters.
void record(const catena::call::MultiTensor& call, StreamRef stream) {
  TableImage image;
  image.update(call, true);
  std::function<void(std::span<catena::Hyper>)> refresh;
  if (call.refresh != nullptr) refresh = *call.refresh;
  const std::byte* table = live_bytes(image.bytes().data(), image.bytes().size(),
                                      [refresh, at = image.hyper_at(), n = call.hyper.size()](std::byte* bytes) {
                                        if (refresh) refresh({reinterpret_cast<catena::Hyper*>(bytes + at), n});
                                      });
  LaunchPlan plan = plan_multi_tensor(*call.kernel, call.loop);
  image.complete(plan, call, table);
  launch_plan(plan, stream);
}

}  // namespace

void run(const catena::call::MultiTensor& call, StreamRef stream) {
  if (call.table->chunks().empty()) return;
  if (is_recording()) return record(call, stream);
  auto* copy = dynamic_cast<DeviceTable*>(call.table->copy.get());
  if (copy == nullptr) {
    auto fresh = std::make_unique<DeviceTable>();
    copy = fresh.get();
    call.table->copy = std::move(fresh);
  }
  copy->run(call, stream);
}

}  // namespace nd::cuda
