#include <catena/ndarray/routines/sorting.h>

#include <algorithm>
#include <span>

#include <catena/kernels/registry/families.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/engine/compress.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/complex_order.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd {
namespace {

using catena::check;

void check_kind(std::string_view op, std::string_view kind) {
  const bool known =
      kind.empty() || kind == "quicksort" || kind == "mergesort" || kind == "heapsort" || kind == "stable";
  check<ValueError>(known, op, "kind is '", kind, "', must be 'quicksort', 'mergesort', 'heapsort' or 'stable'");
}

// The array and its axis; if no axis is given, the flattened array and axis 0.
struct AlongAxis {
  AlongAxis(std::string_view op, const Array& a, std::optional<int> given) {
    check<TypeError>(!a.is_null(), op, "the array is null");
    array = given ? a : a.ravel();
    axis = given ? catena::normalize_axis(op, *given, a.ndim()) : 0;
  }
  Array array;
  int axis;
};

// As in NumPy, positions in a 0-d array are positions in an array of length 1.
Array at_least_one_axis(const Array& a) { return !a.is_null() && a.ndim() == 0 ? a.ravel() : a; }

// kth: the positions that matter, in ascending order; empty: all.
Array run_sort(const AlongAxis& a, bool positions, std::span<const std::int64_t> kth = {}) {
  if (catena::is_complex_dtype(a.array.dtype())) {
    const Array order = internal::complex_argsort(a.array, a.axis);
    return positions ? order : take_along_axis(a.array, order, a.axis);
  }
  const Array out(internal::new_array(a.array.shape(), positions ? Dtype::int64 : a.array.dtype(), a.array.device()));
  internal::execute(catena::call::Sort{a.array.get(), a.axis, positions, out.get(), kth});
  return out;
}

Array run_partition(std::string_view op, const Array& a, const std::vector<std::int64_t>& kth,
                    const PartitionOptions& options, bool positions) {
  const AlongAxis along(op, a, options.axis);
  const std::int64_t n = along.array.shape()[along.axis];
  std::vector<std::int64_t> places;
  for (std::int64_t k : kth) {
    check<ValueError>(k >= -n && k < n, op, "kth ", k, " is out of range for an axis of length ", n);
    places.push_back(k < 0 ? k + n : k);
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return run_sort(along, positions, places);
}

// Returns `values` as an array; a scalar gets its natural dtype.
Array as_values(const Operand& values, Device device) {
  if (values.is_array()) return values.array();
  const Array a(internal::new_array(Shape{}, values.scalar().natural_dtype(), device));
  a.fill(values.scalar());
  return a;
}

Array places(std::string_view op, const Array& a, const Operand& values, bool right) {
  check<TypeError>(!a.is_null(), op, "the array is null");
  check<ValueError>(a.ndim() == 1, op, "the sorted array has rank ", a.ndim(), ", must have rank 1");
  const Operand both[] = {a, values};
  const Device device = internal::common_device(op, both);
  const Array v = as_values(values, device);
  const Dtype common = catena::promote_types(a.dtype(), v.dtype());
  const Array sorted = a.astype(common, {.copy = false}), wanted = v.astype(common, {.copy = false});
  const Array out(internal::new_array(v.shape(), Dtype::int64, device));
  const catena::KernelDef& def = catena::kernels::searchsorted;
  int loop = 0;
  while (loop < def.num_loops && def.loop_table[loop].type[0] != common) ++loop;
  check<TypeError>(loop < def.num_loops, op, "no loop for ", common, " numbers");
  const catena::Input inputs[] = {catena::Input(*sorted.get()), catena::Input(*wanted.get()),
                                  catena::Input(Scalar(right))};
  catena::ArrayHeader* const output = out.get();
  const catena::EagerProgram program(def, loop);
  internal::execute(catena::call::Elementwise{&program, inputs, {&output, 1}, op});
  return out;
}

}  // namespace

Array internal::nonzero_rows(const Array& a) {
  check<TypeError>(!a.is_null(), "nonzero", "the array is null");
  const auto [total, counts] = count_pieces(a);
  const Array out(internal::new_array(Shape{a.ndim(), total}, Dtype::int64, a.device()));
  internal::execute(catena::call::Nonzero{a.get(), counts.get(), out.get()});
  return out;
}

// ---- sorting ------------------------------------------------------------------------------------
Array sort(const Array& a, const SortOptions& options) try {
  check_kind("sort", options.kind);
  return run_sort({"sort", a, options.axis}, false);
} catch (...) {
  internal::rethrow_out_of_memory("sort");
}

Array argsort(const Array& a, const SortOptions& options) try {
  check_kind("argsort", options.kind);
  return run_sort({"argsort", at_least_one_axis(a), options.axis}, true);
} catch (...) {
  internal::rethrow_out_of_memory("argsort");
}

Array sort_complex(const Array& a) try {
  const Array sorted = sort(a);
  if (catena::is_complex_dtype(a.dtype())) return sorted;
  const bool narrow = catena::is_integer(a.dtype()) && a.itemsize() <= 2;
  return sorted.astype(narrow ? Dtype::complex64 : Dtype::complex128);
} catch (...) {
  internal::rethrow_out_of_memory("sort_complex");
}

Array msort(const Array& a) try { return run_sort({"msort", a, 0}, false); } catch (...) {
  internal::rethrow_out_of_memory("msort");
}

void Array::sort(int axis) const try {
  internal::assign("sort", *this, run_sort({"sort", *this, axis}, false));
} catch (...) {
  internal::rethrow_out_of_memory("sort");
}

Array lexsort(const std::vector<Array>& keys, int axis) try {
  check<TypeError>(!keys.empty(), "lexsort", "there are no keys");
  std::vector<Operand> operands;
  for (const Array& key : keys) {
    operands.emplace_back(key);
    check<ValueError>(key.shape() == keys[0].shape(), "lexsort", "keys have the shapes ", keys[0].shape(), " and ",
                      key.shape(), ", which must be one");
  }
  internal::common_device("lexsort", operands);
  Array order = run_sort({"lexsort", keys[0], axis}, true);
  for (std::size_t k = 1; k < keys.size(); ++k) {
    const Array next = run_sort({"lexsort", take_along_axis(keys[k], order, axis), axis}, true);
    order = take_along_axis(order, next, axis);
  }
  return order;
} catch (...) {
  internal::rethrow_out_of_memory("lexsort");
}

Array partition(const Array& a, const std::vector<std::int64_t>& kth, const PartitionOptions& options) try {
  return run_partition("partition", a, kth, options, false);
} catch (...) {
  internal::rethrow_out_of_memory("partition");
}

Array argpartition(const Array& a, const std::vector<std::int64_t>& kth, const PartitionOptions& options) try {
  return run_partition("argpartition", at_least_one_axis(a), kth, options, true);
} catch (...) {
  internal::rethrow_out_of_memory("argpartition");
}

// ---- searching ----------------------------------------------------------------------------------
Array searchsorted(const Array& a, const Operand& values, const SearchOptions& options) try {
  const bool right = options.side == "right";
  check<ValueError>(right || options.side == "left", "searchsorted", "side is '", options.side,
                    "', must be 'left' or 'right'");
  if (options.sorter.is_null()) return places("searchsorted", a, values, right);
  const Array& sorter = options.sorter;
  check<TypeError>(catena::is_integer(sorter.dtype()), "searchsorted", "the sorter has the dtype ", sorter.dtype(),
                   ", must be integers");
  check<TypeError>(!a.is_null(), "searchsorted", "the array is null");
  check<ValueError>(a.ndim() == 1 && sorter.shape() == a.shape(), "searchsorted", "the sorter has shape ",
                    sorter.shape(), ", the sorted array ", a.shape(), ", which must be one and of rank 1");
  return places("searchsorted", take(a, sorter), values, right);
} catch (...) {
  internal::rethrow_out_of_memory("searchsorted");
}

Array digitize(const Operand& x, const Array& bins, const DigitizeOptions& options) try {
  check<TypeError>(!bins.is_null(), "digitize", "the array of bins is null");
  check<ValueError>(bins.ndim() == 1, "digitize", "the bins have rank ", bins.ndim(), ", must have rank 1");
  const bool complex = catena::is_complex_dtype(bins.dtype()) || iscomplexobj(x);
  check<TypeError>(!complex, "digitize", "complex numbers are in no interval");
  const Array before = bins(Slice({}, -1)), behind = bins(Slice(1, {}));
  // The interval is open at its right end, or with `right` at its left end, whichever way the bins are ordered. NaN is
  // the greatest number, as in all sorted arrays.
  if (all((before <= behind) | isnan(behind)).item<bool>()) return places("digitize", bins, x, !options.right);
  check<ValueError>(all(before >= behind).item<bool>(), "digitize", "the ", bins.size(),
                    " bins neither increase nor decrease");
  return bins.size() - places("digitize", bins(Slice({}, {}, -1)), x, !options.right);
} catch (...) {
  internal::rethrow_out_of_memory("digitize");
}

std::vector<Array> nonzero(const Array& a) try {
  const Array rows = internal::nonzero_rows(!a.is_null() && a.ndim() == 0 ? a.ravel() : a);
  std::vector<Array> list;
  for (std::int64_t k = 0; k < rows.shape()[0]; ++k) list.push_back(rows(k));
  return list;
} catch (...) {
  internal::rethrow_out_of_memory("nonzero");
}

Array flatnonzero(const Array& a) { return nonzero(a.is_null() ? a : a.ravel())[0]; }

Array argwhere(const Array& a) try { return internal::contiguous(internal::nonzero_rows(a).transpose()); } catch (...) {
  internal::rethrow_out_of_memory("argwhere");
}

// ---- methods ------------------------------------------------------------------------------------
std::vector<Array> Array::nonzero() const { return nd::nonzero(*this); }
Array Array::argsort(std::optional<int> axis) const { return nd::argsort(*this, {.axis = axis}); }
Array Array::argpartition(std::int64_t kth, std::optional<int> axis) const {
  return nd::argpartition(*this, kth, {.axis = axis});
}
Array Array::searchsorted(const Operand& values, std::string_view side) const {
  return nd::searchsorted(*this, values, {.side = side});
}

}  // namespace nd
