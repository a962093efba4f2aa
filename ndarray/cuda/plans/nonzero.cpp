// Numbers and positions of nonzero elements, selections by a mask, and zeros for counts: plans and texts.
#include <algorithm>

#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::Shape;
using catena::Strides;

LaunchPlan plan_clear(std::int64_t words, std::size_t offset, int processors) {
  LaunchPlan plan;
  plan.key.form = Form::clear;
  plan.parameters.put_head(device::ClearParameters{.n = words, .words = nullptr});
  plan.parameters.put_scratch(&device::ClearParameters::words, offset);
  plan.grid_x = blocks(ceil_divide(words, device::kBlock), processors, 16);
  return plan;
}

namespace {

static_assert(device::kPiece >= catena::kLeastPiece);

// Puts the axes behind the head, and sets the fields of the key that depend on them.
void put_elements(LaunchPlan& plan, Dtype dtype, const Shape& shape, const Strides& strides) {
  plan.key.dtypes[0] = dtype;
  plan.key.rank = rank_class(shape.size(), device::kMaxExactRank);
  plan.key.index32 = catena::size_of(shape) <= kMax31 && fits_int32(shape, strides);
  const int rank = axes_of(plan.key.rank);
  put_axes(plan.parameters, shape, rank, 1);
  put_axes(plan.parameters, strides, rank, 0);
}

const std::int64_t* numbers(const catena::BoundOperand& counts) {
  return reinterpret_cast<const std::int64_t*>(counts.data);
}

LaunchPlan plan_offsets(std::int64_t* counts, std::int64_t pieces) {
  LaunchPlan plan;
  plan.key.form = Form::offsets;
  plan.parameters.put_head(device::OffsetsParameters{.pieces = pieces, .counts = counts});
  plan.grid_x = 1;
  return plan;
}

}  // namespace

Sequence plan_count_pieces(const catena::bound::CountPieces& call, int processors, const BlockCounters& counters) {
  Shape shape = *call.in.shape;
  Strides strides = *call.in.strides;
  const std::int64_t n = catena::size_of(shape), pieces = ceil_divide(n, device::kPiece);
  const std::size_t item = catena::itemsize(call.in.dtype);
  const bool contiguous = catena::is_c_contiguous(shape, strides, item);
  if (contiguous) {
    shape = Shape{n};
    strides = Strides{static_cast<std::int64_t>(item)};
  }
  auto* const counts = reinterpret_cast<std::int64_t*>(call.counts.data);
  LaunchPlan plan;
  plan.grid_x = std::max(1u, blocks(pieces, processors, 16));
  std::uint32_t* const blocks_done = plan.grid_x > 1 && counters ? counters() : nullptr;
  plan.parameters.put_head(device::CountHead{.n = n,
                                             .rank = shape.size(),
                                             .pieces = pieces,
                                             .in = call.in.data,
                                             .counts = counts,
                                             .blocks_done = blocks_done});
  plan.key.form = contiguous && item == 1 ? Form::nonzero_count_bytes : Form::nonzero_count;
  if (plan.key.form == Form::nonzero_count) put_elements(plan, call.in.dtype, shape, strides);
  Sequence sequence;
  sequence.launches.push_back(plan);
  if (plan.grid_x > 1 && blocks_done == nullptr) sequence.launches.push_back(plan_offsets(counts, pieces));
  return sequence;
}

LaunchPlan plan_nonzero(const catena::bound::Nonzero& call, int processors) {
  const Shape& shape = *call.in.shape;
  const std::int64_t n = catena::size_of(shape), count = (*call.out.shape)[1], pieces = ceil_divide(n, device::kPiece);
  LaunchPlan plan;
  if (n == 0 || shape.empty() || count == 0) return plan;
  plan.parameters.put_head(device::NonzeroHead{.n = n,
                                               .rank = shape.size(),
                                               .pieces = pieces,
                                               .count = count,
                                               .in = call.in.data,
                                               .out = reinterpret_cast<std::int64_t*>(call.out.data),
                                               .counts = numbers(call.counts)});
  put_elements(plan, call.in.dtype, shape, *call.in.strides);
  plan.key.form = Form::nonzero_write;
  plan.grid_x = blocks(pieces, processors, 16);
  return plan;
}

LaunchPlan plan_compress(const catena::bound::Compress& call, int processors) {
  const std::int64_t pieces = ceil_divide(call.n, device::kPiece);
  LaunchPlan plan;
  plan.parameters.put_head(device::CompressParameters{.n = call.n,
                                                      .pieces = pieces,
                                                      .mask = reinterpret_cast<const unsigned char*>(call.mask),
                                                      .in = call.in,
                                                      .out = call.out,
                                                      .counts = call.counts});
  plan.key.form = Form::compress_write;
  plan.key.word_bytes = static_cast<std::uint8_t>(call.item);
  plan.grid_x = blocks(pieces, processors, 16);
  return plan;
}

void add_compress(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  set_parameters<device::CompressParameters>(k, "CompressParameters");
  add_function(k, concat("catena::device::compress_write<", int(key.word_bytes), ">"));
}

void add_nonzero(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  if (key.form == Form::nonzero_count_bytes) {
    set_parameters<device::CountHead>(k, "CountHead");
    add_function(k, "catena::device::count_bytes");
    return;
  }
  const bool counts = key.form == Form::nonzero_count;
  if (counts) set_parameters<device::CountParameters>(k, "CountParameters", key.rank);
  else set_parameters<device::NonzeroParameters>(k, "NonzeroParameters", key.rank);
  add_function(k, concat("catena::device::Nonzero<", type_name(key.dtypes[0]), ", ", index_name(key), ", ",
                         int(key.rank), ">::", counts ? "count" : "write"));
}

void add_offsets(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  if (key.form == Form::clear) {
    set_parameters<device::ClearParameters>(k, "ClearParameters");
    add_function(k, "catena::device::clear");
    return;
  }
  set_parameters<device::OffsetsParameters>(k, "OffsetsParameters");
  add_function(k, "catena::device::offsets");
}

}  // namespace nd::cuda
