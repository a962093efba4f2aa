// Positions of nonzero elements, and running sums of counts: plans and texts.
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::Shape;

LaunchPlan plan_offsets(Dtype dtype, std::int64_t rows, std::int64_t count, std::size_t offset, int processors) {
  LaunchPlan plan;
  plan.key.form = Form::offsets;
  plan.key.dtypes[0] = dtype;
  plan.parameters.put_head(device::OffsetsParameters{.rows = rows, .count = count, .counts = nullptr});
  plan.parameters.put_scratch(&device::OffsetsParameters::counts, offset);
  plan.grid_x = blocks(rows, processors, 16);
  return plan;
}

LaunchPlan plan_clear(std::int64_t words, std::size_t offset, int processors) {
  LaunchPlan plan;
  plan.key.form = Form::clear;
  plan.parameters.put_head(device::ClearParameters{.n = words, .words = nullptr});
  plan.parameters.put_scratch(&device::ClearParameters::words, offset);
  plan.grid_x = blocks(ceil_divide(words, device::kBlock), processors, 16);
  return plan;
}

Sequence plan_nonzero(const catena::bound::Nonzero& call, int processors) {
  const Shape& shape = *call.in.shape;
  const std::int64_t n = catena::size_of(shape), count = (*call.out.shape)[1], pieces = ceil_divide(n, device::kPiece);
  Sequence sequence;
  if (n == 0 || shape.empty() || count == 0) return sequence;
  LaunchPlan plan;
  plan.key.dtypes[0] = call.in.dtype;
  plan.key.rank = rank_class(shape.size(), device::kMaxExactRank);
  plan.key.index32 = n <= kMax31 && near(shape, *call.in.strides);
  const std::size_t counts = sequence.reserve(static_cast<std::size_t>(pieces) * sizeof(std::int64_t));
  ParameterBlock& p = plan.parameters;
  p.put_head(device::NonzeroHead{.n = n,
                                 .rank = shape.size(),
                                 .pieces = pieces,
                                 .count = count,
                                 .in = call.in.data,
                                 .out = reinterpret_cast<std::int64_t*>(call.out.data),
                                 .counts = nullptr});
  p.put_scratch(&device::NonzeroHead::counts, counts);
  const int rank = axes_of(plan.key.rank);
  put_axes(p, shape, rank, 1);
  put_axes(p, *call.in.strides, rank, 0);
  plan.grid_x = blocks(pieces, processors, 16);
  plan.key.form = Form::nonzero_count;
  sequence.launches.push_back(plan);
  sequence.launches.push_back(plan_offsets(Dtype::int64, 1, pieces, counts, processors));
  plan.key.form = Form::nonzero_write;
  sequence.launches.push_back(plan);
  return sequence;
}

Sequence plan_compress(const catena::bound::Compress& call, int processors) {
  const std::int64_t pieces = ceil_divide(call.n, device::kPiece);
  Sequence sequence;
  const std::size_t counts = sequence.reserve(static_cast<std::size_t>(pieces) * sizeof(std::int64_t));
  LaunchPlan plan;
  plan.parameters.put_head(device::CompressParameters{.n = call.n,
                                                      .pieces = pieces,
                                                      .mask = reinterpret_cast<const unsigned char*>(call.mask),
                                                      .in = call.in,
                                                      .out = call.out,
                                                      .counts = nullptr});
  plan.parameters.put_scratch(&device::CompressParameters::counts, counts);
  plan.grid_x = blocks(pieces, processors, 16);
  plan.key.form = Form::compress_count;
  sequence.launches.push_back(plan);
  sequence.launches.push_back(plan_offsets(Dtype::int64, 1, pieces, counts, processors));
  plan.key.form = Form::compress_write;
  plan.key.word_bytes = static_cast<std::uint8_t>(call.item);
  sequence.launches.push_back(plan);
  return sequence;
}

void add_compress(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  set_parameters<device::CompressParameters>(k, "CompressParameters");
  add_function(k, key.form == Form::compress_count
                      ? std::string("catena::device::compress_count")
                      : concat("catena::device::compress_write<", int(key.word_bytes), ">"));
}

void add_nonzero(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  set_parameters<device::NonzeroParameters>(k, "NonzeroParameters", key.rank);
  add_function(k, concat("catena::device::Nonzero<", type_name(key.dtypes[0]), ", ", index_name(key), ", ",
                         int(key.rank), ">::", key.form == Form::nonzero_count ? "count" : "write"));
}

void add_offsets(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/nonzero.h");
  if (key.form == Form::clear) {
    set_parameters<device::ClearParameters>(k, "ClearParameters");
    add_function(k, "catena::device::clear");
    return;
  }
  set_parameters<device::OffsetsParameters>(k, "OffsetsParameters");
  add_function(k, concat("catena::device::offsets<", type_name(key.dtypes[0]), ">"));
}

}  // namespace nd::cuda
