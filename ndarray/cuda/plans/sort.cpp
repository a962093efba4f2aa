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

// Blocks that count the digits of all rows: enough for the loads that fill the memory of any device.
constexpr std::int64_t kCounters = 1024;
// Blocks per multiprocessor that move pieces: as many as its registers hold at once.
constexpr int kMovers = 3;

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
  // Appends the axes to the parameters of a launch.
  void put(LaunchPlan& plan) const {
    const int rank = axes_of(plan.key.rank);
    put_axes(plan.parameters, kept, rank, 1);
    for (const Strides& s : strides) put_axes(plan.parameters, s, rank, 0);
  }
};

LaunchPlan plan_block(const catena::bound::Sort& call, const Rows& x, int processors) {
  const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(x.count)));
  LaunchPlan plan;
  plan.key.form = Form::sort_block;
  plan.key.dtypes[0] = call.in.dtype;
  plan.key.rank = rank_class(x.kept.size(), device::kMaxExactRank);
  plan.parameters.put_head(device::SortHead{.rows = x.rows,
                                            .count = x.count,
                                            .rank = x.kept.size(),
                                            .padded = padded,
                                            .positions = call.positions,
                                            .in_step = x.in_step,
                                            .out_step = x.out_step,
                                            .in = call.in.data,
                                            .out = call.out.data});
  x.put(plan);
  plan.grid_x = blocks(ceil_divide(x.rows, device::kSortBlock / padded), processors, 16);
  return plan;
}

// The launches of a radix sort or of a division by pivots. All have the same parameters except for the digit.
class RadixSort {
 public:
  RadixSort(const catena::bound::Sort& call, const Rows& x, std::span<const std::int64_t> pivots, int processors,
            std::int64_t longest)
      : processors_(processors), digits_(static_cast<std::int64_t>(catena::itemsize(call.in.dtype))) {
    const std::int64_t wanted =
        std::clamp<std::int64_t>(kCounters / x.rows, 1, ceil_divide(x.count, device::kSortPiece));
    pieces_ = ceil_divide(x.count, device::kSortPiece);
    head_ = device::RadixHead{};
    head_.rows = x.rows;
    head_.count = x.count;
    head_.rank = x.kept.size();
    head_.pieces = pieces_;
    head_.part = ceil_divide(pieces_, wanted) * device::kSortPiece;
    head_.splits = ceil_divide(x.count, head_.part);
    head_.in_step = x.in_step;
    head_.out_step = x.out_step;
    head_.in = call.in.data;
    head_.out = call.out.data;
    head_.pivots = std::max<std::int64_t>(1, static_cast<std::int64_t>(pivots.size()));
    std::copy(pivots.begin(), pivots.end(), head_.kth);
    key_.dtypes = {call.in.dtype, call.positions ? Dtype::int64 : Dtype::bool_};
    key_.rank = rank_class(x.kept.size(), device::kMaxExactRank);
    key_.index32 = x.count < longest;
    reserve(call.positions, !pivots.empty());
    sequence_.launches.push_back(plan_clear(cleared_, counts_, processors));
    const auto add = [&](Form form, std::int64_t digit) { this->add(x, form, digit); };
    if (pivots.empty()) {
      add(Form::sort_count, 0);
      for (std::int64_t digit = 0; digit < digits_; ++digit) add(Form::sort_move, digit);
    } else {
      for (std::int64_t digit = digits_; digit-- > 0;) add(Form::select_count, digit);
      add(Form::select_move, 0);
    }
  }
  Sequence take() { return std::move(sequence_); }

 private:
  std::size_t reserve_items(std::int64_t n, std::size_t bytes) {
    return sequence_.reserve(static_cast<std::size_t>(n) * bytes);
  }
  void reserve(bool positions, bool selects) {
    const std::int64_t total = head_.rows * head_.count, states = head_.rows * pieces_ * device::kDigits,
                       counts = head_.rows * digits_ * head_.pivots * device::kDigits + device::kTaken;
    const std::size_t state = key_.index32 ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
    // Counts and the first half of the states are cleared together.
    counts_ = reserve_items(counts, sizeof(std::uint32_t));
    states_ = reserve_items(states, (selects ? 1 : 2) * state);
    cleared_ = static_cast<std::int64_t>((states_ - counts_ + static_cast<std::size_t>(states) * state) /
                                         sizeof(std::uint32_t));
    if (selects) {
      found_ = reserve_items(head_.rows * digits_ * head_.pivots, sizeof(device::Pivot));
    } else {
      values_ = reserve_items(2 * total, static_cast<std::size_t>(digits_));
      places_ = reserve_items(positions ? 2 * total : 0, sizeof(std::uint32_t));
    }
  }

  void add(const Rows& x, Form form, std::int64_t digit) {
    const bool moves = form == Form::sort_move || form == Form::select_move;
    LaunchPlan plan;
    plan.key = key_;
    plan.key.form = form;
    if (!moves) {  // the text of these kernels does not depend on it
      plan.key.dtypes[1] = Dtype::bool_;
      plan.key.index32 = true;
    }
    using Head = device::RadixHead;
    head_.digit = digit;
    plan.parameters.put_head(head_);
    plan.parameters.put_scratch(&Head::values, values_);
    plan.parameters.put_scratch(&Head::places, places_);
    plan.parameters.put_scratch(&Head::counts, counts_);
    plan.parameters.put_scratch(&Head::states, states_);
    plan.parameters.put_scratch(&Head::found, found_);
    x.put(plan);
    plan.grid_x =
        moves ? blocks(head_.rows * pieces_, processors_, kMovers) : blocks(head_.rows * head_.splits, processors_, 16);
    sequence_.launches.push_back(plan);
  }

  int processors_;
  std::int64_t digits_, pieces_ = 0;
  device::RadixHead head_;
  KernelKey key_;
  std::size_t values_ = 0, places_ = 0, counts_ = 0, states_ = 0, found_ = 0;
  std::int64_t cleared_ = 0;  // words from counts_ on
  Sequence sequence_;
};

// The positions at which a row is divided, or none for a complete sort. The last position is one of them for numbers
// that may be NaN, so that NaN is last as in a sorted row.
catena::SmallVector<std::int64_t, device::kPivots> pivots_of(const catena::bound::Sort& call, std::int64_t count) {
  catena::SmallVector<std::int64_t, device::kPivots> pivots;
  for (const std::int64_t k : call.kth) {
    if (pivots.size() == static_cast<std::size_t>(device::kPivots)) return {};
    pivots.push_back(k);
  }
  if (pivots.empty() || !catena::is_floating(call.in.dtype) || pivots.back() == count - 1) return pivots;
  if (pivots.size() == static_cast<std::size_t>(device::kPivots)) return {};
  pivots.push_back(count - 1);
  return pivots;
}

}  // namespace

Sequence plan_sort(const catena::bound::Sort& call, int processors, std::int64_t longest) {
  const Rows x(call);
  Sequence sequence;
  if (x.rows == 0 || x.count == 0) return sequence;
  if (x.count <= device::kSortBlock) {
    sequence.launches.push_back(plan_block(call, x, processors));
    return sequence;
  }
  catena::check<catena::ValueError>(x.count < std::int64_t(1) << 32, "sort", "rows of ", x.count,
                                    " elements, the limit is 2^32 - 1");
  const auto pivots = pivots_of(call, x.count);
  return RadixSort(call, x, {pivots.data(), pivots.size()}, processors, longest).take();
}

void add_sort(GeneratedKernel& k, const KernelKey& key) {
  if (key.form == Form::sort_block) {
    add_header(k, "catena/kernels/device/sort.h");
    set_parameters<device::SortParameters>(k, "SortParameters", key.rank);
    add_function(k, concat("catena::device::Sort<", type_name(key.dtypes[0]), ", ", int(key.rank), ">::block"),
                 catena::itemsize(key.dtypes[0]) == 8 ? "2" : "3");
    return;
  }
  add_header(k, "catena/kernels/device/radix.h");
  const bool selects = key.form == Form::select_count || key.form == Form::select_move;
  const std::string name(name_of(key.form));
  set_parameters<device::RadixParameters>(k, "RadixParameters", key.rank);
  const bool moves = key.form == Form::sort_move || key.form == Form::select_move;
  const bool wide = catena::itemsize(key.dtypes[0]) == 8 || key.dtypes[1] == Dtype::int64;
  const std::string_view blocks =
      !moves ? "4" : (!key.index32 ? "1" : (wide ? "catena::device::kWideMovers" : "catena::device::kMovers"));
  add_function(k,
               concat("catena::device::Radix<", type_name(key.dtypes[0]), ", ", key.index32 ? "uint32_t" : "uint64_t",
                      ", ", key.dtypes[1] == Dtype::int64 ? "true" : "false", ", ", int(key.rank),
                      ">::", selects ? name : name.substr(std::string_view("sort_").size())),
               blocks);
}

}  // namespace nd::cuda
