// Reductions, and indices.
#include <algorithm>

#include <catena/nn/onnx/operators.h>

namespace nn::onnx::internal {

using catena::Key;

std::string positions(GraphBuilder& b, const std::vector<Array>& arrays) {
  const Dtype dtype = arrays[0].dtype();
  return cast_to(b, b.constant(arrays), dtype, dtype == Dtype::int32 ? dtype : Dtype::int64);
}

std::string reduce(GraphBuilder& b, const char* op_type, const std::string& x, const std::vector<std::int64_t>& axes,
                   bool keepdims) {
  const Attribute keep = attribute("keepdims", int(keepdims));
  if (b.opset() >= 18 || op_type == std::string_view("ReduceSum")) return b.node(op_type, {x, b.int64s(axes)}, {keep});
  return b.node(op_type, {x}, {attribute("axes", axes), keep});
}

namespace {

std::vector<std::int64_t> axes_of(const CallView& c) {
  std::vector<std::int64_t> axes;
  if (c.has("axes")) axes = c.integers("axes");
  else
    for (int a = 0; a < c.rank(); ++a) axes.push_back(a);
  return axes;
}

// An operator without axes reduces all.
std::string reduced(CallView& c, const char* op_type, const std::string& x, bool keepdims) {
  const std::vector<std::int64_t> axes = axes_of(c);
  return axes.empty() ? c.b.node("Identity", {x}) : reduce(c.b, op_type, x, axes, keepdims);
}

enum class Of { sum, mean, product, maximum, minimum, log_sum_exp };
constexpr const char* kNames[] = {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceLogSumExp"};
// Sums and products of integers are wider than these.
template <Of of> void reduction(CallView& c) {
  const std::string x = cast_to(c.b, c.input(0), c.input_dtype(0), c.output_dtype());
  c.set(reduced(c, kNames[int(of)], x, c.integer("keepdims") != 0));
}

// 16-bit floats are computed in float32.
std::string variance(CallView& c, bool root) {
  const Dtype given = c.input_dtype(0), computed = catena::compute_dtype(given);
  const std::string x = cast_to(c.b, c.input(0), given, computed);
  const std::string centred = c.b.node("Sub", {x, reduced(c, "ReduceMean", x, true)});
  const std::string y = reduced(c, "ReduceMean", c.b.node("Mul", {centred, centred}), c.integer("keepdims") != 0);
  return cast_to(c.b, root ? c.b.node("Sqrt", {y}) : y, computed, given);
}
void var(CallView& c) { c.set(variance(c, false)); }
void std_(CallView& c) { c.set(variance(c, true)); }

void batch_l2_norm_squared(CallView& c) {
  std::vector<std::int64_t> axes;
  for (int a = 1; a < c.rank(); ++a) axes.push_back(a);
  c.set(reduce(c.b, "ReduceSumSquare", c.input(0), axes, false));
}

// The axes that the shape of the result lacks, or has with the length 1.
void sum_to(CallView& c) {
  const DimList from = c.input_shape(0), to = c.output_shape();
  const std::size_t missing = from.size() - to.size();
  std::vector<std::int64_t> dropped, kept;
  for (std::size_t a = 0; a < from.size(); ++a) {
    if (a < missing) dropped.push_back(std::int64_t(a));
    else if (from[a] != to[a - missing]) kept.push_back(std::int64_t(a));
  }
  std::string y = c.input(0);
  if (!kept.empty()) y = reduce(c.b, "ReduceSum", y, kept, true);
  if (!dropped.empty()) y = reduce(c.b, "ReduceSum", y, dropped, false);
  c.set(y);
}

template <bool greatest> void arg_extremum(CallView& c) {
  const char* const op_type = greatest ? "ArgMax" : "ArgMin";
  const bool flat = !c.has("axis");
  const std::string x = flat ? c.b.node("Reshape", {c.input(0), c.b.int64s({-1})}) : c.input(0);
  const std::string at = c.b.node(op_type, {x}, {attribute("axis", c.integer("axis")), attribute("keepdims", 0)});
  c.set(cast_to(c.b, at, Dtype::int64, c.output_dtype()));
}

// ---- indices ------------------------------------------------------------------------------------

// An index of slices and integers, or of slices and arrays.
struct Index {
  explicit Index(CallView& call) : c(call), shape(call.input_shape(0)), y(call.input(0)) {
    lists = c.in_traces("items");
    std::size_t named = 0;
    for (const auto& item : lists[0]->items)
      named += item.is_array() || item.key().kind() == Key::Kind::integer || item.key().kind() == Key::Kind::slice;
    for (std::size_t i = 0; i < lists[0]->items.size(); ++i) add(i, named);
  }

  // The value of one of the numbers of an item in all traces.
  Dim dim_of(std::size_t i, const catena::Function<std::int64_t(const Key&)>& f) {
    Dim d;
    for (const auto* list : lists) d.values.push_back(f(list->items[i].key()));
    return d;
  }

  void add(std::size_t i, std::size_t named) {
    const autograd::IndexItem& item = lists[0]->items[i];
    if (item.is_array()) {
      array_axes.push_back(std::int64_t(axis++));
      array_items.push_back(i);
      return;
    }
    switch (item.key().kind()) {
      case Key::Kind::newaxis: inserted.push_back(std::int64_t(result_axis++)); return;
      case Key::Kind::ellipsis: {
        const std::size_t rest = shape.size() - named;
        axis += rest, result_axis += rest;
        return;
      }
      case Key::Kind::integer: add_integer(i); return;
      case Key::Kind::slice: add_slice(i); return;
    }
  }

  void add_integer(std::size_t i) {
    const Dim at = dim_of(i, [](const Key& key) { return key.index(); });
    starts.push_back(at);
    Dim end = at;
    for (std::int64_t& v : end.values) v = v == -1 ? kEnd : v + 1;
    ends.push_back(end);
    axes.push_back(std::int64_t(axis)), steps.push_back(1), dropped.push_back(std::int64_t(axis++));
  }

  // The operator counts negative numbers from the end and limits numbers to the axis, as get_item does.
  void add_slice(std::size_t i) {
    const Dim step = dim_of(i, [](const Key& key) { return key.slice().step.value_or(1); });
    require(step.is_constant(), "the step of a slice depends on dynamic axes");
    const bool forward = step.given() > 0;
    const Dim start = dim_of(i, [&](const Key&key) { return key.slice().start.value_or(forward ? 0 : kEnd); }),
              end = dim_of(i, [&](const Key&key) { return key.slice().stop.value_or(forward ? kEnd : -kEnd); });
    const std::size_t at = axis++;
    ++result_axis;
    const bool begins = start.is_constant() && start.given() == 0;
    if (begins && step.given() == 1 && (end.given() == kEnd || end == shape[at])) return;
    starts.push_back(start), ends.push_back(end);
    axes.push_back(std::int64_t(at)), steps.push_back(step.given());
  }

  std::string result() {
    if (!axes.empty())
      y = c.b.node("Slice", {y, c.b.lengths(starts), c.b.lengths(ends), c.b.int64s(axes), c.b.int64s(steps)});
    if (!array_axes.empty()) {
      require(dropped.empty() && inserted.empty(), "it has an array and integers or new axes as indices");
      if (array_axes.size() == 1) gather();
      else gather_together();
    }
    if (!dropped.empty()) y = c.b.node("Squeeze", {y, c.b.int64s(dropped)});
    if (!inserted.empty()) y = c.b.node("Unsqueeze", {y, c.b.int64s(inserted)});
    return y;
  }

  // Negative positions count from the end in both.
  void gather() { y = c.b.node("Gather", {y, positions(c.b, arrays(0))}, {attribute("axis", array_axes[0])}); }

  // The operator reads along the first axes. The axes of the arrays stay there if the indexed axes are not adjacent.
  void gather_together() {
    const std::int64_t rank = std::int64_t(shape.size()), n = std::int64_t(array_axes.size()), first = array_axes[0];
    std::vector<std::vector<Array>> all;
    for (std::size_t k = 0; k < array_axes.size(); ++k) all.push_back(arrays(k));
    std::vector<std::int64_t> order = array_axes, moved;
    for (std::int64_t a = 0; a < rank; ++a)
      if (std::find(array_axes.begin(), array_axes.end(), a) == array_axes.end()) order.push_back(a);
    const std::string at_front =
        first == 0 && array_axes.back() == n - 1 ? y : c.b.node("Transpose", {y}, {attribute("perm", order)});
    y = c.b.node("GatherND", {at_front, stacked_positions(c.b, all)});
    if (first == 0 || array_axes.back() != first + n - 1) return;
    const std::int64_t result = std::int64_t(c.output_shape().size()), loop = result - (rank - n);
    for (std::int64_t a = 0; a < first; ++a) moved.push_back(loop + a);
    for (std::int64_t a = 0; a < loop; ++a) moved.push_back(a);
    for (std::int64_t a = loop + first; a < result; ++a) moved.push_back(a);
    y = c.b.node("Transpose", {y}, {attribute("perm", moved)});
  }
  std::vector<Array> arrays(std::size_t k) const {
    std::vector<Array> list;
    for (const auto* o : lists) list.push_back(o->items[array_items[k]].array());
    return list;
  }

  static constexpr std::int64_t kEnd = std::int64_t(1) << 62;
  CallView& c;
  DimList shape;
  std::string y;
  std::vector<const autograd::internal::FunctionOption*> lists;
  std::size_t axis = 0, result_axis = 0;
  std::vector<std::size_t> array_items;
  std::vector<std::int64_t> array_axes;
  DimList starts, ends;
  std::vector<std::int64_t> axes, steps, dropped, inserted;
};

void get_item(CallView& c) { c.set(Index(c).result()); }

constexpr Operators kReductionsTable[] = {
    {"ArgMax", "ArgMax, Cast, Reshape", arg_extremum<true>},
    {"ArgMin", "ArgMin, Cast, Reshape", arg_extremum<false>},
    {"BatchL2NormSquared", "ReduceSumSquare", batch_l2_norm_squared},
    {"GetItem", "Cast, Concat, Expand, Gather, GatherND, Slice, Squeeze, Transpose, Unsqueeze", get_item},
    {"LogSumExp", "ReduceLogSumExp", reduction<Of::log_sum_exp>},
    {"Max", "ReduceMax", reduction<Of::maximum>},
    {"Mean", "ReduceMean", reduction<Of::mean>},
    {"Min", "ReduceMin", reduction<Of::minimum>},
    {"Prod", "Cast, ReduceProd", reduction<Of::product>},
    {"Std", "Cast, Mul, ReduceMean, Sqrt, Sub", std_},
    {"Sum", "Cast, ReduceSum", reduction<Of::sum>},
    {"SumTo", "ReduceSum", sum_to},
    {"Var", "Cast, Mul, ReduceMean, Sub", var},
};

}  // namespace

std::span<const Operators> reduction_operators() noexcept { return kReductionsTable; }

}  // namespace nn::onnx::internal
