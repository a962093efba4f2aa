// Plans of indexing by arrays, checks of indices, random fills and matrix products.
#include <algorithm>
#include <array>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>
#include <catena/ndarray/device/random_kernel.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::BoundOperand;
using catena::Dims;
using catena::itemsize;
using catena::Shape;
using catena::Strides;

constexpr std::int64_t kWidest = 16;                       // bytes that a thread moves at once
constexpr int kMaxIndexArrays = catena::kMaxOperands - 1;  // the key has a dtype for each

// ---- indexing by arrays -------------------------------------------------------------------------
void check_indices(const catena::bound::Gather& call) {
  catena::check<catena::ValueError>(call.axes.size() <= std::size_t(kMaxIndexArrays), "indexing", call.axes.size(),
                                    " index arrays exceed the limit of ", kMaxIndexArrays, " on CUDA");
  for (const catena::bound::Index& a : call.axes) {
    const Dtype t = a.index.dtype;
    catena::check<catena::IndexError>(catena::is_integer(t) || t == Dtype::bool_, "indexing",
                                      "index arrays must be of an integer dtype, not ", t);
    catena::check<catena::IndexError>(a.length > 0 || catena::size_of(call.loop) == 0, "indexing",
                                      "an axis of length 0 has no element ", "for the ", catena::size_of(call.loop),
                                      " indices");
  }
}

// The loop with its axes merged; `strides` has the strides of the base, of the other operand and of each index array.
struct IndexedLoop {
  Shape shape;
  std::vector<Strides> strides;
  std::int64_t item;

  explicit IndexedLoop(const catena::bound::Gather& call)
      : shape(call.loop), item(std::int64_t(itemsize(call.base.dtype))) {
    strides = {*call.base.strides, *call.other.strides};
    for (const catena::bound::Index& a : call.axes) strides.push_back(*a.index.strides);
    merge();
  }
  void merge() {
    catena::merge_axes(shape, strides);
    at_least_one_axis(shape, strides);
  }

  // Combines neighbouring elements that move together to one element of up to 16 bytes.
  void widen(const catena::bound::Gather& call) {
    const auto unindexed = [&] {
      return std::all_of(strides.begin() + 2, strides.end(), [](const Strides& s) { return s.back() == 0; });
    };
    if (!unindexed()) return;
    const auto fits = [&](std::int64_t wide) {
      const auto multiple = [wide](std::int64_t v) { return v % wide == 0; };
      bool ok = shape.back() % 2 == 0 && strides[0].back() == item && strides[1].back() == item;
      ok = ok && multiple(std::int64_t(reinterpret_cast<std::uintptr_t>(call.base.data))) &&
           multiple(std::int64_t(reinterpret_cast<std::uintptr_t>(call.other.data)));
      for (int a = 0; a + 1 < shape.size(); ++a) ok = ok && multiple(strides[0][a]) && multiple(strides[1][a]);
      for (const catena::bound::Index& a : call.axes) ok = ok && multiple(a.stride);
      return ok;
    };
    for (; item < kWidest && fits(2 * item); item *= 2) {
      shape.back() /= 2;
      strides[0].back() = strides[1].back() = 2 * item;
    }
    merge();
  }
};

bool all_near(const IndexedLoop& loop, const catena::bound::Gather& call) {
  Shape shape = loop.shape;
  Strides base = loop.strides[0];
  for (const catena::bound::Index& a : call.axes) {
    if (shape.size() == catena::kMaxRank) return false;
    shape.push_back(a.length);
    base.push_back(a.stride);
  }
  bool all = near(shape, base);
  for (std::size_t k = 1; k < loop.strides.size(); ++k) all = all && near(loop.shape, loop.strides[k]);
  return all && catena::size_of(loop.shape) <= kMax31;
}

LaunchPlan plan_indexing(const catena::bound::Gather& call, Form form, int processors) {
  check_indices(call);
  IndexedLoop loop(call);
  if (form != Form::scatter_add) loop.widen(call);
  const int axes = static_cast<int>(call.axes.size());
  LaunchPlan plan;
  KernelKey& key = plan.key;
  key.form = form;
  key.rank = rank_class(loop.shape.size(), device::kMaxExactRank);
  key.reduced_rank = static_cast<std::uint8_t>(axes);
  key.index32 = all_near(loop, call);
  if (form == Form::scatter_add) key.dtypes[0] = call.base.dtype;
  else key.scalars = static_cast<std::uint16_t>(loop.item);
  for (std::size_t k = 0; k < call.axes.size(); ++k) {
    const Dtype t = call.axes[k].index.dtype;
    key.dtypes[k + 1] = t == Dtype::bool_ ? Dtype::uint8 : t;
  }
  const int rank = key.rank != 0 ? key.rank : gather_rank(axes), room = std::max(axes, 1);
  catena::check<catena::ValueError>(loop.shape.size() <= rank, "indexing", "a loop with ", axes, " index arrays over ",
                                    loop.shape.size(), " axes that do not merge exceeds the limit of ", rank, " axes");
  const std::int64_t n = catena::size_of(loop.shape);
  ParameterBlock& p = plan.parameters;
  p.put(n);
  p.put(std::int64_t(loop.shape.size()));
  p.put(static_cast<const void*>(call.base.data));
  p.put(static_cast<const void*>(call.other.data));
  const auto put_each = [&](auto&& value) {
    for (int k = 0; k < room; ++k)
      p.put(k < axes ? value(call.axes[static_cast<std::size_t>(k)]) : decltype(value(call.axes[0])){});
  };
  put_each([](const catena::bound::Index& a) { return static_cast<const void*>(a.index.data); });
  put_each([](const catena::bound::Index& a) { return a.length; });
  put_each([](const catena::bound::Index& a) { return a.stride; });
  put_axes(p, loop.shape, rank, 1);
  for (std::size_t k = 0; k < loop.strides.size(); ++k) put_axes(p, loop.strides[k], rank, 0);
  if (axes == 0) put_axes(p, {}, rank, 0);
  plan.grid_x = blocks(ceil_divide(n, device::kBlock), processors, 16);
  return plan;
}

}  // namespace

LaunchPlan plan_gather(const catena::bound::Gather& call, int processors) {
  return plan_indexing(call, Form::gather, processors);
}
LaunchPlan plan_scatter(const catena::bound::Gather& call, catena::ScatterMode mode, int processors) {
  return plan_indexing(call, mode == catena::ScatterMode::set ? Form::scatter : Form::scatter_add, processors);
}

LaunchPlan plan_index_check(const catena::bound::CheckIndices& call, device::IndexRecord* record, const char* name,
                            int processors) {
  Shape shape = *call.indices.shape;
  Strides strides = *call.indices.strides;
  catena::merge_axes(shape, {&strides, 1});
  at_least_one_axis(shape, {&strides, 1});
  const std::int64_t n = catena::size_of(shape);
  LaunchPlan plan;
  plan.key.form = Form::index_check;
  plan.key.rank = rank_class(shape.size(), device::kMaxExactRank);
  plan.key.index32 = n <= kMax31 && near(shape, strides);
  plan.key.dtypes[0] = call.indices.dtype == Dtype::bool_ ? Dtype::uint8 : call.indices.dtype;
  ParameterBlock& p = plan.parameters;
  p.put(n);
  p.put(std::int64_t(shape.size()));
  p.put(static_cast<const void*>(call.indices.data));
  p.put(static_cast<const void*>(record));
  p.append(&call.rule, sizeof call.rule);
  p.put(static_cast<const void*>(name));
  put_axes(p, shape, axes_of(plan.key.rank), 1);
  put_axes(p, strides, axes_of(plan.key.rank), 0);
  plan.grid_x = blocks(ceil_divide(n, device::kBlock), processors, 16);
  return plan;
}

// ---- random fills -------------------------------------------------------------------------------
LaunchPlan plan_random(const catena::bound::Random& call, const std::uint64_t* device_offset, int processors) {
  LaunchPlan plan;
  const auto& [def, loop] = random_kernel(call);
  plan.kernel = &def;
  plan.loop = loop;
  plan.key.program = kernel_hash(def, def.loop_table[loop]);
  plan.key.form = Form::random;
  plan.key.dtypes[0] = call.out.dtype;
  plan.key.index32 = call.n <= kMax31;
  ParameterBlock& p = plan.parameters;
  p.put(call.n);
  for (std::uint64_t v : {call.seed, call.offset}) p.append(&v, sizeof v);
  p.put(static_cast<const void*>(device_offset));
  p.put(call.low);
  p.put(call.high);
  p.put(static_cast<const void*>(call.out.data));
  plan.grid_x = blocks(ceil_divide(ceil_divide(call.n, 4), device::kBlock), processors, 16);
  return plan;
}

// ---- matrix products ----------------------------------------------------------------------------
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

  // Describes the same product as out^T = b^T a^T, so that few columns become few rows.
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
  std::int64_t items, least;  // pieces of work, one block each; length of k that is worth a block
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
  for (std::int64_t v : {x.m, x.n, x.k, batch, std::int64_t(x.batch.size()), splits}) p.put(v);
  p.put(static_cast<const void*>(x.a));
  p.put(static_cast<const void*>(x.b));
  p.put(static_cast<const void*>(call.out.data));
  p.put_scratch(sequence.reserve(splits > 1 ? static_cast<std::size_t>(outputs * splits * device::kMaxSumBytes) : 0));
  for (std::int64_t v : {x.a_row, x.a_column, x.b_row, x.b_column, x.out_row, x.out_column}) p.put(v);
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

}  // namespace nd::cuda
