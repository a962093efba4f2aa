// Sorting: plans and texts.
#include <algorithm>
#include <array>
#include <bit>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {
namespace {

namespace device = catena::device;
using catena::concat;
using catena::Shape;
using catena::Strides;

Dtype key_dtype(Dtype t) {
  switch (catena::itemsize(t)) {
    case 1: return Dtype::uint8;
    case 2: return Dtype::uint16;
    case 4: return Dtype::uint32;
    default: return Dtype::uint64;
  }
}

// All rows of a call.
struct Rows {
  Shape kept;
  std::array<Strides, 2> strides;
  std::int64_t rows, count, in_step, out_step;

  explicit Rows(const catena::bound::Sort& call) : kept(*call.in.shape), strides{*call.in.strides, *call.out.strides} {
    count = kept[call.axis];
    in_step = strides[0][call.axis];
    out_step = strides[1][call.axis];
    kept.erase(call.axis);
    for (Strides& s : strides) s.erase(call.axis);
    catena::merge_axes(kept, strides);
    at_least_one_axis(kept, strides);
    rows = catena::size_of(kept);
  }
};

struct Buffers {
  std::array<std::size_t, 2> keys{}, places{};  // of one pass and of the next one
  std::size_t values = 0, counts = 0;
};

LaunchPlan plan_elements(const catena::bound::Sort& call, const Rows& x, Form form, std::int64_t padded,
                         const Buffers& at) {
  LaunchPlan plan;
  plan.key.form = form;
  plan.key.dtypes[0] = call.in.dtype;
  plan.key.rank = rank_class(x.kept.size(), device::kMaxExactRank);
  ParameterBlock& p = plan.parameters;
  p.put_head(device::SortHead{.rows = x.rows,
                              .count = x.count,
                              .rank = x.kept.size(),
                              .padded = padded,
                              .positions = call.positions,
                              .in_step = x.in_step,
                              .out_step = x.out_step,
                              .in = call.in.data,
                              .out = call.out.data,
                              .keys = nullptr,
                              .places = nullptr,
                              .values = nullptr});
  p.put_scratch(&device::SortHead::keys, at.keys[0]);
  p.put_scratch(&device::SortHead::places, at.places[0]);
  p.put_scratch(&device::SortHead::values, at.values);
  const int rank = axes_of(plan.key.rank);
  put_axes(p, x.kept, rank, 1);
  for (const Strides& s : x.strides) put_axes(p, s, rank, 0);
  return plan;
}

LaunchPlan plan_digit(const Rows& x, Dtype key, Form form, std::int64_t pieces, std::int64_t digit, const Buffers& at) {
  const std::size_t from = static_cast<std::size_t>(digit % 2), to = 1 - from;
  LaunchPlan plan;
  plan.key.form = form;
  plan.key.dtypes[0] = key;
  ParameterBlock& p = plan.parameters;
  using Radix = device::RadixParameters;
  Radix head{};
  head.rows = x.rows;
  head.count = x.count;
  head.pieces = pieces;
  head.shift = 8 * digit;
  p.put_head(head);
  p.put_scratch(&Radix::keys, at.keys[from]);
  p.put_scratch(&Radix::places, at.places[from]);
  p.put_scratch(&Radix::keys_out, at.keys[to]);
  p.put_scratch(&Radix::places_out, at.places[to]);
  p.put_scratch(&Radix::counts, at.counts);
  return plan;
}

}  // namespace

Sequence plan_sort(const catena::bound::Sort& call, int processors) {
  const Rows x(call);
  Sequence sequence;
  if (x.rows == 0 || x.count == 0) return sequence;
  if (x.count <= device::kSortBlock) {
    const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(x.count)));
    LaunchPlan plan = plan_elements(call, x, Form::sort_block, padded, {});
    plan.grid_x = blocks(ceil_divide(x.rows, device::kSortBlock / padded), processors, 16);
    sequence.launches.push_back(plan);
    return sequence;
  }
  catena::check<catena::ValueError>(x.count < std::int64_t(1) << 32, "sort", "rows of ", x.count,
                                    " elements, the limit is 2^32 - 1");
  const std::int64_t pieces = ceil_divide(x.count, device::kSortPiece), total = x.rows * x.count;
  const Dtype key = key_dtype(call.in.dtype);
  const auto reserve = [&](std::int64_t n, std::size_t item) {
    return sequence.reserve(static_cast<std::size_t>(n) * item);
  };
  Buffers at;
  for (std::size_t k = 0; k < 2; ++k) {
    at.keys[k] = reserve(total, catena::itemsize(key));
    at.places[k] = reserve(total, sizeof(std::uint32_t));
  }
  at.values = call.positions ? 0 : reserve(total, catena::itemsize(call.in.dtype));
  at.counts = reserve(x.rows * device::kDigits * pieces, sizeof(std::uint32_t));
  const auto add = [&](LaunchPlan plan, std::int64_t items, int waves) {
    plan.grid_x = blocks(items, processors, waves);
    sequence.launches.push_back(plan);
  };
  const std::int64_t whole = ceil_divide(total, device::kBlock);
  add(plan_elements(call, x, Form::sort_keys, 0, at), whole, 16);
  const auto digits = static_cast<std::int64_t>(catena::itemsize(key));
  for (std::int64_t digit = 0; digit < digits; ++digit) {
    add(plan_digit(x, key, Form::sort_count, pieces, digit, at), x.rows * pieces, 16);
    sequence.launches.push_back(plan_offsets(Dtype::uint32, x.rows, device::kDigits * pieces, at.counts, processors));
    add(plan_digit(x, key, Form::sort_move, pieces, digit, at), x.rows * pieces, 16);
  }
  if (digits % 2 != 0) std::swap(at.places[0], at.places[1]);
  add(plan_elements(call, x, Form::sort_result, 0, at), whole, 16);
  return sequence;
}

void add_sort(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/sort.h");
  if (key.form == Form::sort_count || key.form == Form::sort_move) {
    set_parameters<device::RadixParameters>(k, "RadixParameters");
    add_function(k, concat("catena::device::Radix<", type_name(key.dtypes[0]),
                           ">::", key.form == Form::sort_count ? "count" : "move"));
    return;
  }
  set_parameters<device::SortParameters>(k, "SortParameters", key.rank);
  const char* function = key.form == Form::sort_block ? "block" : (key.form == Form::sort_keys ? "keys" : "result");
  add_function(k, concat("catena::device::Sort<", type_name(key.dtypes[0]), ", ", int(key.rank), ">::", function));
}

}  // namespace nd::cuda
