// Matrix products by kernels of the library: plans and texts.
#include <algorithm>
#include <array>

#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::BoundOperand;
using catena::concat;
using catena::Shape;
using catena::Strides;

namespace {

struct Product {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column, out_row, out_column;
  const std::byte *a, *b;
  Shape batch;
  std::array<Strides, 3> strides;  // of a, b and out over the batch

  explicit Product(const catena::bound::Matmul& call) {
    const BoundOperand* const operands[] = {&call.a, &call.b, &call.out};
    const int rank = call.out.shape->size();
    batch.assign(call.out.shape->begin(), call.out.shape->begin() + (rank - 2));
    for (std::size_t o = 0; o < 3; ++o) {
      const BoundOperand& x = *operands[o];
      strides[o].assign(x.strides->begin(), x.strides->begin() + (rank - 2));
      for (int i = 0; i < batch.size(); ++i)
        if ((*x.shape)[i] == 1) strides[o][i] = 0;  // repeated
    }
    const auto row = [rank](const BoundOperand& o) { return (*o.strides)[rank - 2]; };
    const auto column = [rank](const BoundOperand& o) { return (*o.strides)[rank - 1]; };
    m = (*call.out.shape)[rank - 2];
    n = (*call.out.shape)[rank - 1];
    k = (*call.a.shape)[rank - 1];
    a_row = row(call.a), a_column = column(call.a);
    b_row = row(call.b), b_column = column(call.b);
    out_row = row(call.out), out_column = column(call.out);
    a = call.a.data;
    b = call.b.data;
    catena::merge_axes(batch, strides);
    at_least_one_axis(batch, strides);
    if (n <= device::kNarrow && m > device::kNarrow) transpose();
  }

  // The same product as out^T = b^T a^T: few columns become few rows.
  void transpose() {
    std::swap(m, n);
    std::swap(a, b);
    std::swap(a_row, b_column);
    std::swap(a_column, b_row);
    std::swap(out_row, out_column);
    std::swap(strides[0], strides[1]);
  }
};

}  // namespace

Sequence plan_matmul(const catena::bound::Matmul& call, int processors) {
  const Product x(call);
  Sequence sequence;
  LaunchPlan plan;
  plan.key.dtypes[0] = call.out.dtype;
  plan.key.rank = rank_class(x.batch.size(), device::kMaxExactRank);
  const std::int64_t batch = catena::size_of(x.batch), outputs = batch * x.m * x.n;
  std::int64_t items, least;  // pieces of work of one block, and how much of k is worth one
  if (x.m > device::kNarrow) {
    plan.key.form = Form::matmul_tiles;
    items = batch * ceil_divide(x.m, device::kTile) * ceil_divide(x.n, device::kTile);
    least = 16 * device::kTileDepth;
  } else if (x.n >= device::kWarp && distance(x.b_column) < distance(x.b_row)) {
    plan.key.form = Form::matmul_columns;
    items = batch * ceil_divide(x.n, device::kWarp);
    least = 16 * device::kBlock / device::kWarp;
  } else {
    plan.key.form = Form::matmul_rows;
    items = ceil_divide(batch * x.n, device::kBlock / device::kWarp);
    least = 16 * device::kWarp;
  }
  if (outputs == 0) return sequence;
  constexpr std::int64_t wanted = kBlocks / 2;
  const std::int64_t splits =
      items >= wanted ? 1 : std::clamp<std::int64_t>(x.k / least, 1, std::min<std::int64_t>(wanted / items, 256));
  plan.grid_x = static_cast<std::uint32_t>(std::min(items, kMax31));
  plan.grid_y = static_cast<std::uint32_t>(splits);

  ParameterBlock& p = plan.parameters;
  p.put_head(device::MatmulHead{.m = x.m,
                                .n = x.n,
                                .k = x.k,
                                .batch = batch,
                                .batch_rank = x.batch.size(),
                                .splits = splits,
                                .a = x.a,
                                .b = x.b,
                                .out = call.out.data,
                                .partial = nullptr,
                                .a_row = x.a_row,
                                .a_column = x.a_column,
                                .b_row = x.b_row,
                                .b_column = x.b_column,
                                .out_row = x.out_row,
                                .out_column = x.out_column});
  p.put_scratch(&device::MatmulHead::partial,
                sequence.reserve(splits > 1 ? static_cast<std::size_t>(outputs * splits * device::kMaxSumBytes) : 0));
  const int rank = axes_of(plan.key.rank);
  put_axes(p, x.batch, rank, 1);
  for (const Strides& s : x.strides) put_axes(p, s, rank, 0);
  sequence.launches.push_back(plan);
  if (splits > 1) {
    plan.key.form = Form::matmul_second;
    plan.grid_x = blocks(ceil_divide(outputs, device::kBlock), processors, 16);
    plan.grid_y = 1;
    sequence.launches.push_back(plan);
  }
  return sequence;
}

void add_matmul(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/matmul.h");
  set_parameters<device::MatmulParameters>(k, "MatmulParameters", key.rank);
  const char* function = "tiles";
  if (key.form == Form::matmul_rows) function = "narrow_rows";
  if (key.form == Form::matmul_columns) function = "narrow_columns";
  if (key.form == Form::matmul_second) function = "second";
  const bool light = key.form == Form::matmul_tiles && catena::itemsize(key.dtypes[0]) < 8;
  add_function(k, concat("catena::device::Matmul<", type_name(key.dtypes[0]), ", ", int(key.rank), ">::", function),
               light ? "2" : "");
}

}  // namespace nd::cuda
