#include <catena/ndarray/routines/ufunc_methods.h>

#include <algorithm>
#include <limits>

#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/reduction.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/datatype.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/operand.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>
#include <catena/ndarray/routines/ufunc_loops.h>

namespace nd {
namespace {

using catena::check;
using catena::KernelDef;
namespace kernels = catena::kernels;

// A function that can be applied in any order: the reduction that computes it, if there is one, and its identity.
struct Fold {
  const KernelDef* function;
  const KernelDef* reduction;
  bool scans;  // the reduction has a running form with the same results
  std::optional<Scalar> identity = {};
};
const Fold* find_fold(const KernelDef& def) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const Fold all[] = {
      {&kernels::add, &kernels::sum, true, Scalar(0)},
      {&kernels::multiply, &kernels::prod, true, Scalar(1)},
      {&kernels::maximum, &kernels::amax, true},
      {&kernels::minimum, &kernels::amin, true},
      {&kernels::fmax, &kernels::nanmax, true},
      {&kernels::fmin, &kernels::nanmin, true},
      {&kernels::logical_and, &kernels::all, false, Scalar(true)},
      {&kernels::logical_or, &kernels::any, false, Scalar(false)},
      {&kernels::logical_xor, nullptr, false, Scalar(false)},
      {&kernels::bitwise_and, nullptr, false, Scalar(-1)},
      {&kernels::bitwise_or, nullptr, false, Scalar(0)},
      {&kernels::bitwise_xor, nullptr, false, Scalar(0)},
      {&kernels::gcd, nullptr, false, Scalar(0)},
      {&kernels::lcm, nullptr, false},
      {&kernels::hypot, nullptr, false, Scalar(0)},
      {&kernels::logaddexp, nullptr, false, Scalar(-infinity)},
      {&kernels::logaddexp2, nullptr, false, Scalar(-infinity)},
  };
  for (const Fold& f : all)
    if (f.function == &def) return &f;
  return nullptr;
}
const Fold& fold_of(const KernelDef& def, const char* method, const Array& a) {
  const Fold* const fold = find_fold(def);
  check<TypeError>(fold != nullptr, def.name, method,
                   ": the result would depend on the order of application; use add, "
                   "multiply or another function that nd::ufuncs::",
                   def.name, " is the inverse of");
  check<TypeError>(!a.is_null(), def.name, method, ": the array is null");
  check<TypeError>(a.ndim() > 0, def.name, method, ": the array has rank 0; write a.reshape({1})");
  return *fold;
}

Array apply(const KernelDef& def, const Operand& x1, const Operand& x2, const UfuncOptions& options = {}) {
  const Operand in[2] = {x1, x2};
  return internal::apply_ufunc(def, in, options);
}
// The dtype of the function of two operands of one dtype.
Dtype result_of(const KernelDef& def, const Array& a) {
  const catena::Input in[2] = {catena::Input(*a.get()), catena::Input(*a.get())};
  return def.loop_table[catena::choose_loop(def, in)].type[2];
}
// The elements in the dtype in which they are combined.
Array as_combined(const Fold& fold, const Array& a, std::optional<Dtype> dtype) {
  if (dtype) return a.astype(*dtype, {.copy = false});
  return fold.reduction != nullptr ? a : a.astype(result_of(*fold.function, a), {.copy = false});
}
Array of_dtype(const Scalar& value, const Array& like) {
  const DeviceScope scope(like.device());
  return array(value).astype(like.dtype());
}
Array along_first(const Array& a, std::int64_t start, std::int64_t stop, std::int64_t step = 1) {
  return a(Slice(start, stop, step));
}

// Combines the rows of an array along its first axis, the two halves with each other until one is left.
Array combine_rows(const KernelDef& def, Array x) {
  while (x.shape()[0] > 1) {
    const std::int64_t n = x.shape()[0], half = n / 2;
    Array y = apply(def, along_first(x, 0, half), along_first(x, half, 2 * half));
    if (n % 2 != 0) apply(def, y(0), x(n - 1), {.out = y(0)});
    x = y;
  }
  return x(0);
}
// The reduction of a function without a reduction kernel.
Array reduce_by_halves(const Fold& fold, const Array& a, const catena::Dims& axes, bool keepdims) {
  catena::Dims order(axes);
  Shape kept = a.shape(), rest;
  std::int64_t n = 1;
  for (int k = 0; k < a.ndim(); ++k) {
    const bool reduced = std::find(axes.begin(), axes.end(), k) != axes.end();
    if (reduced) {
      n *= a.shape()[k];
      kept[k] = 1;
    } else {
      order.push_back(k);
      rest.push_back(a.shape()[k]);
    }
  }
  Shape rows = {n};
  for (const std::int64_t length : rest) rows.push_back(length);
  const Array x = a.transpose(order).reshape(rows);
  Array result = n == 0 ? of_dtype(*fold.identity, a) : combine_rows(*fold.function, x);
  if (n == 0) result = broadcast_to(result, rest).copy();
  else if (n == 1) result = fold.identity ? apply(*fold.function, result, of_dtype(*fold.identity, a)) : result.copy();
  return keepdims ? result.reshape(kept) : result;
}

// The running combination of rows: of every second row those of the pairs, of the others one more step.
Array scan_rows(const KernelDef& def, const Array& x) {
  const std::int64_t n = x.shape()[0];
  if (n < 2) return x.copy();
  const Array pairs = scan_rows(def, apply(def, along_first(x, 0, n - 1, 2), along_first(x, 1, n, 2)));
  const Array out = empty_like(x);
  internal::assign(def.name, out(0), x(0));
  internal::assign(def.name, along_first(out, 1, n, 2), pairs);
  if (n > 2)
    apply(def, along_first(pairs, 0, (n - 1) / 2), along_first(x, 2, n, 2), {.out = along_first(out, 2, n, 2)});
  return out;
}

Array scan_by_kernel(const KernelDef& def, const Array& a, int axis) {
  const catena::Input input(*a.get());
  const int loop = catena::choose_loop(def, {&input, 1});
  const Array out(internal::new_array(a.shape(), def.loop_table[loop].type[1], a.device(), def.name));
  internal::execute(catena::call::Scan{&def, loop, a.get(), axis, out.get()});
  return out;
}

// The result, converted to `dtype` if that is given, or written to `out`.
Array delivered(std::string_view op, const Array& result, std::optional<Dtype> dtype, const Array& out) {
  const Array converted = dtype ? result.astype(*dtype, {.copy = false}) : result;
  if (out.is_null()) return converted;
  check<ValueError>(out.shape() == result.shape(), op, "the output has shape ", out.shape(), ", the result ",
                    result.shape());
  internal::assign(op, out, converted);
  return out;
}

}  // namespace

// ---- calls ----------------------------------------------------------------------------------------
Array BinaryUfunc::operator()(const Operand& x1, const Operand& x2, const UfuncCallOptions& o) const {
  const UfuncOptions plain{.out = o.out, .dtype = o.dtype, .casting = o.casting};
  if (o.where.is_null()) return apply(*def_, x1, x2, plain);
  const Array all = apply(*def_, x1, x2, {.dtype = o.dtype});
  Array out = o.out;
  if (out.is_null()) {
    const DeviceScope scope(all.device());
    out = zeros(catena::broadcast_shapes(def_->name, all.shape(), o.where.shape()), all.dtype());
  }
  copyto(out, all, {.casting = o.casting, .where = o.where});
  return out;
}

Array BinaryUfunc::outer(const Operand& x1, const Operand& x2, const UfuncOptions& options) const {
  if (!x1.is_array() || !x2.is_array()) return apply(*def_, x1, x2, options);
  const Array first = x1.array();
  Shape shape = first.shape();
  for (int k = 0; k < x2.array().ndim(); ++k) shape.push_back(1);
  return apply(*def_, first.reshape(shape), x2, options);
}

// ---- reductions -----------------------------------------------------------------------------------
Array BinaryUfunc::reduce(const Array& a, const UfuncReduceOptions& o) const {
  const Fold& fold = fold_of(*def_, ".reduce", a);
  const std::string_view op = def_->name;
  const catena::Dims axes = catena::normalize_axes(op, o.axis, a.ndim());
  const std::optional<Scalar> start = o.initial ? o.initial : fold.identity;
  Array x = as_combined(fold, a, o.dtype);
  if (!o.where.is_null()) {
    check<ValueError>(start.has_value(), op,
                      "there is no result where options.where selects nothing; give options.initial");
    x = where(broadcast_to(o.where, a.shape()), x, of_dtype(fold.identity.value_or(*start), x));
  }
  std::int64_t n = 1;
  for (const std::int64_t k : axes) n *= a.shape()[int(k)];
  check<ValueError>(n > 0 || start.has_value(), op, "an axis of length 0 of shape ", a.shape(),
                    " has no elements to combine; give options.initial");
  Array result;
  if (fold.reduction != nullptr)
    result =
        internal::apply_reduction(*fold.reduction, x, {.axis = axes, .keepdims = o.keepdims, .empty_value = start});
  else result = reduce_by_halves({def_, nullptr, false, fold.identity ? fold.identity : start}, x, axes, o.keepdims);
  if (o.initial) result = apply(*def_, result, of_dtype(*o.initial, result));
  return delivered(op, result, o.dtype, o.out);
}

Array BinaryUfunc::accumulate(const Array& a, const UfuncScanOptions& o) const {
  const Fold& fold = fold_of(*def_, ".accumulate", a);
  const int axis = catena::normalize_axis(def_->name, o.axis, a.ndim());
  Array x = as_combined(fold, a, o.dtype);
  if (fold.scans) return delivered(def_->name, scan_by_kernel(*fold.reduction, x, axis), o.dtype, o.out);
  x = x.astype(result_of(*def_, x), {.copy = false});
  const Array result = moveaxis(scan_rows(*def_, moveaxis(x, axis, 0)), 0, axis);
  return delivered(def_->name, internal::contiguous(result), o.dtype, o.out);
}

namespace {

// Slices of the rows of an array, and what is left of each while they are combined.
struct Slices {
  std::vector<std::int64_t> first, length;
};
// The number of elements in the slices that begin at these indices of an axis of length n.
std::int64_t total_of_slices(std::string_view op, std::span<const std::int64_t> indices, std::int64_t n) {
  check<IndexError>(!indices.empty(), op, "there are no indices");
  std::int64_t total = 0;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    check<IndexError>(indices[k] >= 0 && indices[k] < n, op, "the index ", indices[k],
                      " is out of range for an axis of length ", n);
    total += internal::length_of_range(indices, k, n);
  }
  return total;
}
Slices slices_of(std::span<const std::int64_t> indices, std::int64_t n) {
  Slices s{{indices.begin(), indices.end()}, {}};
  s.length.reserve(indices.size());
  for (std::size_t k = 0; k < indices.size(); ++k) s.length.push_back(internal::length_of_range(indices, k, n));
  return s;
}
constexpr std::int64_t kLongSlices = 256;      // from this mean length on, a call for each slice is faster
constexpr std::int64_t kLongRanges = 1 << 15;  // and from this one on where there is a loop on the host

// Combines neighbouring rows of every slice until each has one.
Array combine_slices(const KernelDef& def, Array x, Slices s) {
  for (bool whole = true;; whole = false) {
    const bool done = std::all_of(s.length.begin(), s.length.end(), [](std::int64_t n) { return n == 1; });
    if (done && !whole) return x;
    std::vector<std::int64_t> left, right, paired;
    std::int64_t at = 0;
    for (std::size_t k = 0; k < s.first.size(); ++k) {
      for (std::int64_t i = 0; i < s.length[k]; i += 2) {
        if (i + 1 < s.length[k]) {
          paired.push_back(std::int64_t(left.size()));
          right.push_back(s.first[k] + i + 1);
        }
        left.push_back(s.first[k] + i);
      }
      s.first[k] = at;
      s.length[k] = (s.length[k] + 1) / 2;
      at += s.length[k];
    }
    const Array next = take(x, left, {.axis = 0});
    if (paired.size() == left.size()) {
      apply(def, next, take(x, right, {.axis = 0}), {.out = next});
    } else if (!paired.empty()) {
      next(paired) = apply(def, take(next, paired, {.axis = 0}), take(x, right, {.axis = 0}));
    }
    x = next;
    if (done) return x;
  }
}

}  // namespace

Array BinaryUfunc::reduceat(const Array& a, const std::vector<std::int64_t>& indices, const UfuncScanOptions& o) const {
  const Fold& fold = fold_of(*def_, ".reduceat", a);
  const int axis = catena::normalize_axis(def_->name, o.axis, a.ndim());
  const Array rows = moveaxis(a, axis, 0);
  const std::int64_t n = rows.shape()[0], total = total_of_slices(def_->name, indices, n);
  // A slice of the empty selection tells the dtype in which the reduction gives its result.
  const Dtype dtype = reduce(along_first(rows, 0, 1), {.dtype = o.dtype}).dtype();
  Shape shape = rows.shape();
  shape[0] = std::int64_t(indices.size());
  const bool is_row = a.device().kind == Device::Kind::cpu && rows.ndim() == 1;
  const bool tries_loop =
      is_row && (total < kLongSlices * shape[0] || (rows.dtype() == dtype && total < kLongRanges * shape[0]));
  Array result;
  if (tries_loop) {
    const DeviceScope scope(a.device());
    result = empty(shape, dtype);
    const Array x = internal::contiguous(rows.astype(dtype, {.copy = false}));
    if (!internal::combine_ranges(*fold.function, x, indices, result)) result = {};
  }
  if (result.is_null() && total >= kLongSlices * shape[0]) {
    const DeviceScope scope(a.device());
    result = empty(shape, dtype);
    const Slices s = slices_of(indices, n);
    for (std::size_t k = 0; k < s.first.size(); ++k) {
      const Array to = result(std::int64_t(k));
      if (s.length[k] == 1) internal::assign(def_->name, to, rows(s.first[k]));
      else reduce(along_first(rows, s.first[k], s.first[k] + s.length[k]), {.dtype = o.dtype, .out = to});
    }
  } else if (result.is_null()) {
    result = combine_slices(*fold.function, rows.astype(dtype, {.copy = false}), slices_of(indices, n));
  }
  return delivered(def_->name, internal::contiguous(moveaxis(result, 0, axis)), o.dtype, o.out);
}
Array BinaryUfunc::reduceat(const Array& a, const Array& indices, const UfuncScanOptions& o) const {
  check<TypeError>(!indices.is_null() && catena::is_integer(indices.dtype()) && indices.ndim() == 1, def_->name,
                   "the indices must be integers of rank 1");
  return reduceat(a, indices.to_vector<std::int64_t>(), o);
}
Array BinaryUfunc::reduceat(const Array& a, std::initializer_list<catena::Integer> indices,
                            const UfuncScanOptions& o) const {
  return reduceat(a, std::vector<std::int64_t>(indices.begin(), indices.end()), o);
}

// ---- at ---------------------------------------------------------------------------------------------
namespace {

// Applies the function to elements of `flat` whose positions are sorted: to the first value of each position at once,
// then to the second ones...
void apply_in_turn(const KernelDef& def, const Array& flat, const Array& positions, const Array& values,
                   const std::vector<std::int64_t>& starts) {
  std::vector<std::int64_t> next = starts, ends(starts.begin() + 1, starts.end());
  ends.push_back(positions.size());
  while (!next.empty()) {
    const Array where = take(positions, next, {.axis = 0});
    flat(where) = apply(def, take(flat, where, {.axis = 0}), take(values, next, {.axis = 0}));
    std::size_t kept = 0;
    for (std::size_t k = 0; k < next.size(); ++k) {
      if (next[k] + 1 == ends[k]) continue;
      next[kept] = next[k] + 1;
      ends[kept++] = ends[k];
    }
    next.resize(kept);
    ends.resize(kept);
  }
}

// Raises the version of an array that a loop on the host has written.
bool written_in_place(const Array& a, bool written) {
  const catena::ArrayHeader* const header = a.get();
  if (written) internal::raise_versions({&header, 1});
  return written;
}

// BinaryUfunc::at for one array of integers as the index of a row on the host. False, with nothing done, for other keys
// and arrays.
bool apply_to_row(const KernelDef& def, const Array& a, std::span<const IndexKey> keys, const Operand& b) {
  if (a.device().kind != Device::Kind::cpu || a.ndim() != 1 || !a.is_c_contiguous()) return false;
  if (keys.size() != 1 || !keys[0].is_array()) return false;
  const Array& indices = keys[0].array();
  if ((indices.dtype() != Dtype::int64 && indices.dtype() != Dtype::int32) || indices.shares_memory(a)) return false;
  const Array values = internal::as_array(b, a.device());
  if (values.device() != a.device() || indices.device() != a.device() ||
      (values.size() != 1 && values.shape() != indices.shape()))
    return false;
  if (values.ndim() > indices.ndim()) return false;
  return written_in_place(
      a, internal::apply_at_indices(def, a, internal::contiguous(indices),
                                    internal::contiguous(values.astype(a.dtype(), {.copy = values.shares_memory(a)}))));
}

}  // namespace

void BinaryUfunc::at(const Array& a, std::span<const IndexKey> keys, const Operand& b) const {
  const std::string_view op = def_->name;
  check<TypeError>(!a.is_null(), op, ".at: the array is null");
  const catena::Input in[2] = {catena::Input(*a.get()), b};
  const Dtype result = def_->loop_table[catena::choose_loop(*def_, in)].type[2];
  check<TypeError>(catena::can_cast(result, a.dtype(), Casting::same_kind), op, ".at: the result ", result,
                   " does not cast to ", a.dtype(), " under casting 'same_kind'; write a.astype(...)");
  if (result == a.dtype() && apply_to_row(*def_, a, keys, b)) return;
  const bool subtracts = def_ == &kernels::subtract && a.dtype() != Dtype::bool_;
  if ((def_ == &kernels::add && a.dtype() != Dtype::bool_) || subtracts) {
    if (!subtracts) return scatter_add(a, keys, b);
    const Array value = internal::as_array(b, a.device()).astype(a.dtype());
    return scatter_add(a, keys, subtract(0, value));
  }
  const DeviceScope scope(a.device());
  const Array selected = getitem(arange(a.size()).reshape(a.shape()), keys);
  const Array values = broadcast_to(internal::as_array(b, a.device()), selected.shape()).ravel();
  const bool in_place = internal::is_in_order(a, Order::C);
  const Array flat = in_place ? a.reshape({-1}) : a.copy().reshape({-1});
  const auto finish = [&] {
    if (!in_place) internal::assign(op, a, flat.reshape(a.shape()));
  };
  if (a.device().kind == Device::Kind::cpu && result == a.dtype() &&
      written_in_place(flat, internal::apply_at_positions(
                                 *def_, flat, internal::contiguous(selected.ravel()),
                                 internal::contiguous(values.astype(result, {.copy = values.shares_memory(flat)})))))
    return finish();
  const Array order = argsort(selected.ravel(), {.kind = "stable"});
  const Array positions = take(selected.ravel(), order), sorted = take(values, order);
  if (positions.size() == 0) return;
  const std::int64_t n = positions.size();
  std::vector<std::int64_t> starts = {0};
  for (const std::int64_t k :
       nonzero(along_first(positions, 1, n) != along_first(positions, 0, n - 1))[0].to_vector<std::int64_t>())
    starts.push_back(k + 1);
  if (find_fold(*def_) != nullptr) {
    const Array at_starts = take(positions, starts, {.axis = 0});
    const Array change = combine_slices(*def_, sorted.astype(result, {.copy = false}), slices_of(starts, n));
    flat(at_starts) = apply(*def_, take(flat, at_starts, {.axis = 0}), change);
  } else {
    apply_in_turn(*def_, flat, positions, sorted, starts);
  }
  finish();
}

void scatter_max(const Array& a, std::span<const IndexKey> keys, const Operand& value) {
  BinaryUfunc(kernels::maximum).at(a, keys, value);
}
void scatter_min(const Array& a, std::span<const IndexKey> keys, const Operand& value) {
  BinaryUfunc(kernels::minimum).at(a, keys, value);
}

}  // namespace nd
