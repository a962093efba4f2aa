#include <catena/ndarray/cuda/plans/execute.h>

#include <cstring>
#include <map>
#include <mutex>

#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/cuda_backend.h>
#include <catena/ndarray/cuda/plans/index_errors.h>
#include <catena/ndarray/cuda/plans/long_products.h>
#include <catena/ndarray/cuda/plans/multi_tensor.h>
#include <catena/ndarray/cuda/plans/products.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/cufft.h>
#include <catena/ndarray/cuda/vendor/factorize.h>

namespace nd::cuda {
namespace {

int processors_of(StreamRef stream) { return properties(stream.device.id).processors; }

void launch_sequence(Sequence sequence, StreamRef stream) {
  const Scratch scratch(sequence.scratch_bytes, stream);
  sequence.set_scratch(scratch.data());
  for (const LaunchPlan& plan : sequence.launches) launch_plan(plan, stream);
}

// Returns the memory of BlockCounters. Kernels of one stream share them, because they run one after the other. Kernels
// of a captured graph may run beside others of the stream: there is none for them.
std::uint32_t* block_counters(StreamRef stream) {
  if (is_recording()) return nullptr;
  static std::mutex mutex;
  static auto& of_stream = *new std::map<std::pair<int, void*>, api::cu_deviceptr>;
  const std::lock_guard lock(mutex);
  api::cu_deviceptr& counters = of_stream[{stream.device.id, stream.handle}];
  if (counters == 0) {
    use_device(stream.device.id);
    constexpr std::size_t bytes = kCounters * sizeof(std::uint32_t);
    api::cu_deviceptr memory = 0;
    CATENA_CU(memory_allocate, &memory, bytes);
    CATENA_CU(fill_async, memory, 0, bytes, stream_of(stream));
    counters = memory;
  }
  return reinterpret_cast<std::uint32_t*>(counters);
}

}  // namespace

void launch_plan(const LaunchPlan& plan, StreamRef stream) {
  if (plan.grid_x == 0) return;
  const LoadedKernel& kernel = loaded_kernel(stream.device.id, plan.key, [&] { return generate(plan); });
  void* parameters[] = {const_cast<std::byte*>(plan.parameters.data())};
  launch(kernel, {plan.grid_x, plan.grid_y, 1}, {plan.block_x, 1, 1}, 0, parameters, stream);
}

namespace {

// ---- one function for each kind of call, which CudaBackend::execute chooses --------------------------------------
void run(const catena::bound::Elementwise& call, StreamRef stream) {
  launch_plan(plan_elementwise(*call.program, call.operands, *call.loop, processors_of(stream)), stream);
}

void run(const catena::bound::Reduce& call, StreamRef stream) {
  launch_sequence(plan_reduce(call, processors_of(stream), [stream] { return block_counters(stream); }), stream);
}

void run(const catena::bound::RowWise& call, StreamRef stream) {
  launch_plan(plan_row_wise(call, processors_of(stream)), stream);
}

void run(const catena::bound::RowWiseAndSums& call, StreamRef stream) {
  run(call.rows, stream);
  for (const catena::bound::Reduce& sum : call.sums) run(sum, stream);
}

void run(const catena::bound::Gather& call, StreamRef stream) {
  launch_plan(plan_gather(call, processors_of(stream)), stream);
}

void run(const catena::bound::Scatter& call, StreamRef stream) {
  launch_plan(plan_scatter(call, processors_of(stream)), stream);
}

void run(const catena::bound::CheckIndices& call, StreamRef stream) {
  launch_plan(plan_index_check(call, index_record(stream.device.id), lasting_name(call.name), processors_of(stream)),
              stream);
}

void run(const catena::bound::Scan& call, StreamRef stream) {
  launch_sequence(plan_scan(call, processors_of(stream)), stream);
}

void run(const catena::bound::Sort& call, StreamRef stream) {
  launch_sequence(plan_sort(call, processors_of(stream)), stream);
}

void run(const catena::bound::Join& call, StreamRef stream) {
  launch_sequence(plan_join(call, processors_of(stream)), stream);
}

void run(const catena::bound::CountPieces& call, StreamRef stream) {
  launch_sequence(plan_count_pieces(call, processors_of(stream), [stream] { return block_counters(stream); }), stream);
}

void run(const catena::bound::Nonzero& call, StreamRef stream) {
  launch_plan(plan_nonzero(call, processors_of(stream)), stream);
}

void run(const catena::bound::Compress& call, StreamRef stream) {
  launch_plan(plan_compress(call, processors_of(stream)), stream);
}

void run(const catena::bound::Fft& call, StreamRef stream) {
  if (call.scale == 1 && uses_cufft()) return transform_by_cufft(call, stream);
  launch_sequence(plan_fft(call, processors_of(stream)), stream);
}

void run(const catena::bound::Matmul& call, StreamRef stream) {
  if (is_long_product(call) ? multiply_in_pieces(call, stream) : multiply_by_library(call, stream)) return;
  launch_sequence(plan_matmul(call, processors_of(stream)), stream);
}

void run(const catena::bound::Factorize& call, StreamRef stream) {
  if (is_recording()) forbid_recording(call.name, "the status of a factorization decides what follows it");
  solver_factorize(call, stream);
}

// Recorded work reads its offset from the device: in the first run the offset of the call, in later runs the offset of
// the generator at that time.
void run(const catena::bound::Random& call, StreamRef stream) {
  if (!is_recording()) {
    launch_plan(plan_random(call, nullptr, processors_of(stream)), stream);
    return;
  }
  if (call.refresh == nullptr) forbid_recording("random", "replays would draw the numbers of the first run again");
  const std::byte* offset = live_bytes(&call.offset, sizeof call.offset, [refresh = *call.refresh](std::byte* at) {
    const std::uint64_t value = refresh();
    std::memcpy(at, &value, sizeof value);
  });
  catena::bound::Random from_device = call;
  from_device.offset = 0;
  launch_plan(plan_random(from_device, reinterpret_cast<const std::uint64_t*>(offset), processors_of(stream)), stream);
}

}  // namespace

bool CudaBackend::execute_in_order(const catena::bound::Elementwise& call, StreamRef stream) {
  const LaunchPlan plan = plan_recurrence(call, processors_of(stream));
  if (plan.grid_x == 0) return false;
  launch_plan(plan, stream);
  return true;
}

void CudaBackend::execute(const catena::bound::Call& call, StreamRef stream) {
  call.visit([&](const auto& one) { run(one, stream); });
}

}  // namespace nd::cuda
