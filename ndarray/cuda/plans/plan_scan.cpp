// Plans of scans and of the positions of nonzero elements.
#include <algorithm>
#include <array>

#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kShortRow = 64;       // elements of a row that one thread may scan
constexpr std::int64_t kLeastPiece = 4096;   // elements of a part of a row per block
constexpr std::int64_t kLeastOfThread = 64;  // elements of a part of a row per thread

}  // namespace

Sequence plan_scan(const catena::bound::Scan& call, int processors) {
  Shape kept = *call.in.shape;
  std::array<Strides, 2> strides{*call.in.strides, *call.out.strides};
  const std::int64_t count = kept[call.axis], in_step = strides[0][call.axis], out_step = strides[1][call.axis];
  kept.erase(call.axis);
  for (Strides& s : strides) s.erase(call.axis);
  catena::merge_axes(kept, strides);
  at_least_one_axis(kept, strides);
  const std::int64_t rows = catena::size_of(kept);
  Sequence sequence;
  if (rows == 0 || count == 0) return sequence;

  const catena::Loop& loop = call.kernel->loop_table[call.loop];
  LaunchPlan plan;
  plan.kernel = call.kernel;
  plan.loop = call.loop;
  plan.key.program = kernel_hash(*call.kernel, loop);
  plan.key.dtypes[0] = call.in.dtype;
  plan.key.dtypes[1] = call.out.dtype;
  plan.key.rank = rank_class(kept.size(), device::kMaxExactRank);
  // Neighbouring threads should read neighbouring elements.
  const bool columns = rows >= device::kWarp && (count <= kShortRow || distance(strides[0].back()) < distance(in_step));
  const std::int64_t workers = kBlocks * (columns ? device::kBlock / 2 : 1);
  const std::int64_t least = columns ? kLeastOfThread : kLeastPiece;
  const std::int64_t wanted = rows >= workers ? 1 : std::clamp<std::int64_t>(count / least, 1, workers / rows);
  const std::int64_t piece = ceil_divide(ceil_divide(count, wanted), kLeastOfThread) * kLeastOfThread,
                     splits = ceil_divide(count, piece);
  const std::int64_t items = columns ? ceil_divide(rows * splits, device::kBlock) : rows * splits;

  ParameterBlock& p = plan.parameters;
  for (std::int64_t v : {rows, count, std::int64_t(kept.size()), splits, piece, in_step, out_step}) p.put(v);
  p.put(static_cast<const void*>(call.in.data));
  p.put(static_cast<const void*>(call.out.data));
  p.put_scratch(sequence.reserve(splits > 1 ? static_cast<std::size_t>(rows * splits) * loop.reduction->acc_bytes : 0));
  const int rank = axes_of(plan.key.rank);
  put_axes(p, kept, rank, 1);
  for (const Strides& s : strides) put_axes(p, s, rank, 0);
  const auto add = [&](Form form, std::int64_t needed) {
    plan.key.form = form;
    plan.grid_x = blocks(needed, processors, 16);
    sequence.launches.push_back(plan);
  };
  if (splits > 1) {
    add(columns ? Form::scan_column_sums : Form::scan_row_sums, items);
    add(Form::scan_carries, rows);
  }
  add(columns ? Form::scan_columns : Form::scan_rows, items);
  return sequence;
}

Sequence plan_nonzero(const catena::bound::Nonzero& call, int processors) {
  const Shape& shape = *call.in.shape;
  const std::int64_t n = catena::size_of(shape), pieces = ceil_divide(n, device::kPiece);
  Sequence sequence;
  if (n == 0 || call.count == 0 || shape.empty()) return sequence;
  LaunchPlan plan;
  plan.key.dtypes[0] = call.in.dtype;
  plan.key.rank = rank_class(shape.size(), device::kMaxExactRank);
  plan.key.index32 = n <= kMax31 && near(shape, *call.in.strides);
  const std::size_t counts = sequence.reserve(static_cast<std::size_t>(pieces) * sizeof(std::int64_t));
  ParameterBlock& p = plan.parameters;
  for (std::int64_t v : {n, std::int64_t(shape.size()), pieces, call.count}) p.put(v);
  p.put(static_cast<const void*>(call.in.data));
  p.put(static_cast<const void*>(call.out.data));
  p.put_scratch(counts);
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

}  // namespace nd::cuda
