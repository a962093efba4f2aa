// Indexing by arrays: plans and texts.
#include <algorithm>
#include <utility>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/plans/plan_layout.h>

namespace nd::cuda {

namespace device = catena::device;
using catena::concat;
using catena::itemsize;
using catena::Shape;
using catena::Strides;

namespace {

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

// The loop with its axes merged; strides: of the base, of the other side, of each index array.
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

  // Neighbouring elements that move together count as one of up to 16 bytes.
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

bool all_fit_int32(const IndexedLoop& loop, const catena::bound::Gather& call) {
  Shape shape = loop.shape;
  Strides base = loop.strides[0];
  for (const catena::bound::Index& a : call.axes) {
    if (shape.size() == catena::kMaxRank) return false;
    shape.push_back(a.length);
    base.push_back(a.stride);
  }
  bool all = fits_int32(shape, base);
  for (std::size_t k = 1; k < loop.strides.size(); ++k) all = all && fits_int32(loop.shape, loop.strides[k]);
  return all && catena::size_of(loop.shape) <= kMax31;
}

// Additions to few targets. A block writes its sums of all of them, by one addition each, which should take less time
// than its part of the elements: it gets at least kPerTarget elements for each target. With fewer than kLeast blocks,
// most processors of a large device would have none.
constexpr std::int64_t kElementsPerBlock = 4 * device::kBlock, kPerTarget = 4, kLeast = 128;

std::int64_t blocks_for_few(std::int64_t n, std::int64_t targets) {
  return std::min(ceil_divide(n, kElementsPerBlock), std::max<std::int64_t>(n / (kPerTarget * targets), 1));
}
bool has_few_targets(const IndexedLoop& loop, const catena::bound::Gather& call) {
  if (call.axes.size() != 1 || catena::is_complex_dtype(call.base.dtype)) return false;
  const std::int64_t n = catena::size_of(loop.shape), targets = call.axes[0].length;
  const auto sum_bytes = std::max<std::int64_t>(std::int64_t(itemsize(call.base.dtype)), 4);
  const bool only_indexed =
      std::all_of(loop.strides[0].begin(), loop.strides[0].end(), [](std::int64_t s) { return s == 0; });
  return n >= kPerTarget * targets && only_indexed && targets * sum_bytes <= device::kTableBytes &&
         blocks_for_few(n, targets) >= std::min(ceil_divide(n, kElementsPerBlock), kLeast);
}

// The end of the array that a sum is written to, if its elements are contiguous in some order of its axes; else null.
// Kernels need it for 16-bit floats only.
const std::byte* dense_end(const IndexedLoop& loop, const catena::bound::Gather& call) {
  if (!catena::is_floating(call.base.dtype) || itemsize(call.base.dtype) != 2) return nullptr;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // stride, length
  for (int a = 0; a < loop.shape.size(); ++a)
    if (loop.strides[0][a] != 0) axes.emplace_back(loop.strides[0][a], loop.shape[a]);
  for (const catena::bound::Index& a : call.axes)
    if (a.length > 1) axes.emplace_back(a.stride, a.length);
  std::sort(axes.begin(), axes.end());
  auto bytes = static_cast<std::int64_t>(itemsize(call.base.dtype));
  for (const auto& [stride, length] : axes) {
    if (stride != bytes) return nullptr;
    bytes *= length;
  }
  return call.base.data + bytes;
}

LaunchPlan plan_indexing(const catena::bound::Gather& call, Form form, int processors) {
  check_indices(call);
  IndexedLoop loop(call);
  const bool adds = form == Form::scatter_add;
  if (!adds) loop.widen(call);
  if (adds && has_few_targets(loop, call)) form = Form::scatter_add_few;
  const int axes = static_cast<int>(call.axes.size());
  LaunchPlan plan;
  KernelKey& key = plan.key;
  key.form = form;
  key.rank = rank_class(loop.shape.size(), device::kMaxExactRank);
  key.index_arrays = static_cast<std::uint8_t>(axes);
  key.index32 = all_fit_int32(loop, call);
  if (adds) key.dtypes[0] = call.base.dtype;
  else key.word_bytes = static_cast<std::uint8_t>(loop.item);
  for (std::size_t k = 0; k < call.axes.size(); ++k) {
    const Dtype t = call.axes[k].index.dtype;
    key.dtypes[k + 1] = t == Dtype::bool_ ? Dtype::uint8 : t;
  }
  const int rank = key.rank != 0 ? key.rank : gather_rank(axes), array_slots = std::max(axes, 1);
  catena::check<catena::ValueError>(loop.shape.size() <= rank, "indexing", "a loop with ", axes, " index arrays over ",
                                    loop.shape.size(), " axes that do not merge exceeds the limit of ", rank, " axes");
  const std::int64_t n = catena::size_of(loop.shape);
  ParameterBlock& p = plan.parameters;
  p.put_head(device::GatherHead{.n = n,
                                .rank = loop.shape.size(),
                                .base = call.base.data,
                                .other = call.other.data,
                                .dense_end = adds ? dense_end(loop, call) : nullptr});
  const auto put_each = [&](auto&& value) {
    for (int k = 0; k < array_slots; ++k)
      p.put(k < axes ? value(call.axes[static_cast<std::size_t>(k)]) : decltype(value(call.axes[0])){});
  };
  put_each([](const catena::bound::Index& a) { return static_cast<const void*>(a.index.data); });
  put_each([](const catena::bound::Index& a) { return a.length; });
  put_each([](const catena::bound::Index& a) { return a.stride; });
  put_axes(p, loop.shape, rank, 1);
  for (std::size_t k = 0; k < loop.strides.size(); ++k) put_axes(p, loop.strides[k], rank, 0);
  if (axes == 0) put_axes(p, {}, rank, 0);
  // Additions run in blocks that all fit the device at once, so that few blocks write sums.
  if (form == Form::scatter_add_few) plan.grid_x = blocks(blocks_for_few(n, call.axes[0].length), processors, 4);
  else plan.grid_x = blocks(ceil_divide(n, device::kBlock), processors, adds ? 8 : 16);
  return plan;
}

}  // namespace

LaunchPlan plan_gather(const catena::bound::Gather& call, int processors) {
  return plan_indexing(call, Form::gather, processors);
}
LaunchPlan plan_scatter(const catena::bound::Scatter& call, int processors) {
  return plan_indexing(call.walk, call.mode == catena::ScatterMode::set ? Form::scatter : Form::scatter_add,
                       processors);
}

void add_gather(GeneratedKernel& k, const KernelKey& key) {
  add_header(k, "catena/kernels/device/gather.h");
  const int axes = key.index_arrays, array_slots = std::max(axes, 1),
            rank = key.rank != 0 ? key.rank : gather_rank(axes);
  k.parameters = concat("catena::device::GatherParameters<", array_slots, ", ", rank, ">");
  k.parameter_bytes =
      sizeof(device::GatherHead) + static_cast<std::size_t>(8 * (3 * array_slots + 3 * rank + array_slots * rank));
  std::string call = concat("catena::device::Indexed<", index_name(key), ", ", int(key.rank));
  for (int j = 0; j < axes; ++j) call += concat(", ", type_name(key.dtypes[static_cast<std::size_t>(j + 1)]));
  if (key.form == Form::scatter_add) call += concat(">::add<", type_name(key.dtypes[0]), ">");
  else if (key.form == Form::scatter_add_few) call += concat(">::add_few<", type_name(key.dtypes[0]), ">");
  else call += concat(">::", name_of(key.form), "<", int(key.word_bytes), ">");
  add_function(k, call);
}

int gather_rank(int axes) {
  const int array_slots = std::max(axes, 1);
  return std::min(
      catena::kMaxRank,
      ((device::kParameterBytes - int(sizeof(device::GatherHead))) / 8 - 3 * array_slots) / (3 + array_slots));
}

}  // namespace nd::cuda
