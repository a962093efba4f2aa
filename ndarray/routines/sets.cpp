#include <catena/ndarray/routines/sets.h>

#include <utility>
#include <vector>

#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/array_like.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd {
namespace {

using catena::check;
using internal::on_one_device;

// ---- distinct elements ----------------------------------------------------------------------------
Array new_bools(const Array& like, std::int64_t n) {
  const DeviceScope scope(like.device());
  return empty(n, Dtype::bool_);
}

// True for each element of a sorted array that is different from the one before. In a sorted array NaN is followed by
// nothing but NaN.
Array differs_from_previous(const Array& s, bool equal_nan) {
  const Array first = new_bools(s, s.size());
  if (s.size() == 0) return first;
  first(0).fill(true);
  const Array before = s(Slice({}, -1)), later = first(Slice(1, {}));
  not_equal(before, s(Slice(1, {})), {.out = later});
  if (equal_nan && (catena::is_floating(s.dtype()) || catena::is_complex_dtype(s.dtype())))
    greater(later, isnan(before), {.out = later});
  return first;
}

// Positions and counts, of elements that are sorted by `order` (null if that is not needed). `first` is true for the
// first ones of equal elements, and `starts` has their positions.
void describe_groups(UniqueResult& result, const Array& order, const Array& first, const Array& starts,
                     const UniqueOptions& o) {
  if (o.return_index) result.indices = take(order, starts);
  if (o.return_inverse) {
    result.inverse_indices = empty_like(order);
    result.inverse_indices(order) = cumsum(first) - 1;
  }
  if (o.return_counts) {
    result.counts = empty_like(starts);
    if (starts.size() == 0) return;
    subtract(starts(Slice(1, {})), starts(Slice({}, -1)), {.out = result.counts(Slice({}, -1))});
    subtract(first.size(), starts(Slice(-1, {})), {.out = result.counts(Slice(-1, {}))});
  }
}

UniqueResult distinct_elements(const Array& a, const UniqueOptions& o) {
  UniqueResult result;
  const Array flat = a.ravel();
  if (!o.return_index && !o.return_inverse) {
    const Array s = sort(flat), first = differs_from_previous(s, o.equal_nan);
    if (!o.return_counts) return {.values = extract(first, s)};
    const Array starts = flatnonzero(first);
    result.values = take(s, starts);
    describe_groups(result, Array(), first, starts, o);
    return result;
  }
  const Array order = argsort(flat), s = take(flat, order);
  const Array first = differs_from_previous(s, o.equal_nan), starts = flatnonzero(first);
  result.values = take(s, starts);
  describe_groups(result, order, first, starts, o);
  if (o.return_inverse) result.inverse_indices = result.inverse_indices.reshape(a.shape());
  return result;
}

// The positions that sort rows by their first different elements.
Array order_of_rows(const Array& rows) {
  if (rows.shape(1) == 0) {
    const DeviceScope scope(rows.device());
    return arange(rows.shape(0));
  }
  std::vector<Array> keys;
  for (std::int64_t k = rows.shape(1) - 1; k >= 0; --k) {
    const Array column = rows(_, k);
    if (catena::is_complex_dtype(rows.dtype())) keys.push_back(column.imag());
    keys.push_back(catena::is_complex_dtype(rows.dtype()) ? column.real() : column);
  }
  return lexsort(keys);
}

UniqueResult distinct_slices(const Array& a, const UniqueOptions& o) {
  const int axis = catena::normalize_axis("unique", *o.axis, a.ndim());
  const Array moved = moveaxis(a, axis, 0);
  Shape shape = moved.shape();
  const std::int64_t n = moved.len(), m = a.size() == 0 ? 0 : a.size() / n;
  const Array rows = moved.reshape(Shape{n, m}), order = order_of_rows(rows), s = take(rows, order, 0);
  const Array first = new_bools(a, n);
  if (n > 0) first(0).fill(true);
  if (n > 1) any(s(Slice(1, {})) != s(Slice({}, -1)), 1, {.out = first(Slice(1, {}))});
  const Array starts = flatnonzero(first);
  shape[0] = starts.size();
  UniqueResult result{.values = internal::contiguous(moveaxis(take(s, starts, 0).reshape(shape), 0, axis))};
  describe_groups(result, order, first, starts, o);
  return result;
}

UniqueResult unique_of(std::string_view op, const ArrayLike& ar, const UniqueOptions& o) try {
  const Array a = on_one_device(op, ar)[0];
  return o.axis ? distinct_slices(a, o) : distinct_elements(a, o);
} catch (...) {
  internal::rethrow_out_of_memory(op);
}

// ---- two arrays -----------------------------------------------------------------------------------
// Two arrays of rank 1 of one dtype.
struct Sets {
  Sets(std::string_view op, const ArrayLike& ar1, const ArrayLike& ar2) {
    const auto [x, y] = on_one_device(op, ar1, ar2);
    const Operand both[] = {x, y};
    internal::common_device(op, both);
    const Dtype common = catena::promote_types(x.dtype(), y.dtype());
    a = x.ravel().astype(common, {.copy = false});
    b = y.ravel().astype(common, {.copy = false});
  }
  Array a, b;
};

// Real numbers that are equal if the elements of the two arrays are: these themselves, or the positions of complex
// elements among all distinct ones.
std::pair<Array, Array> comparable(const Array& a, const Array& b) {
  if (!catena::is_complex_dtype(a.dtype())) return {a, b};
  const Array all = unique(concatenate({a, b}), {.return_inverse = true, .equal_nan = false}).inverse_indices;
  return {all(Slice({}, a.size())), all(Slice(a.size(), {}))};
}

// For each of `wanted` the position of an equal element in `among`, which is sorted and not empty, if there is one.
Array places_in(const Array& among, const Array& wanted) {
  const Array at = searchsorted(among, wanted);
  return minimum(at, among.size() - 1, {.out = at});
}

Array full_of(const Array& like, bool value) {
  const Array result = new_bools(like, like.size());
  result.fill(value);
  return result;
}

// The integers modulo 2^64, so that differences do not overflow.
Array modular(const Array& x) {
  return x.dtype() == Dtype::uint64 ? x : x.astype(Dtype::int64, {.copy = false}).view(Dtype::uint64);
}

// Looks the elements up in a table that begins at the least of `among`. Returns a null array if the table would be too
// long and `must` is false.
Array found_in_table(const Array& x, const Array& among, bool invert, bool must) {
  const Scalar low = amin(among).item(), high = amax(among).item();
  const std::uint64_t least = low.to<std::uint64_t>(), range = high.to<std::uint64_t>() - least;
  const bool fits = range <= 6 * static_cast<std::uint64_t>(x.size() + among.size());
  check<ValueError>(fits || !must, "isin", "a table from ", low, " to ", high, " for ", x.size(), " and ", among.size(),
                    " elements is too long; kind 'sort' needs none");
  if (!fits) return Array();
  // The last item is for all elements outside of the table.
  const std::int64_t length = static_cast<std::int64_t>(range) + 2;
  const Array table = new_bools(x, length);
  table.fill(invert);
  table((modular(among) - Scalar(least)).view(Dtype::int64)) = !invert;
  const Array at = modular(x) - Scalar(least);
  minimum(at, Scalar(length - 1), {.out = at});
  return take(table, at.view(Dtype::int64));
}

Array membership(const Sets& sets, const IsinOptions& o) {
  const bool sort_only = o.kind == "sort", table_only = o.kind == "table";
  check<ValueError>(o.kind.empty() || sort_only || table_only, "isin", "kind is '", o.kind,
                    "', must be 'sort' or 'table'");
  const bool exact = sets.a.dtype() == Dtype::bool_ || catena::is_integer(sets.a.dtype());
  check<ValueError>(exact || !table_only, "isin", "elements of ", sets.a.dtype(),
                    " have no table; kind 'table' is for integers and bools");
  if (sets.a.size() == 0 || sets.b.size() == 0) return full_of(sets.a, o.invert);
  if (exact && !sort_only && (table_only || sets.a.device().kind == Device::Kind::cpu)) {
    const Array result = found_in_table(sets.a, sets.b, o.invert, table_only);
    if (!result.is_null()) return result;
  }
  const auto [x, among] = comparable(sets.a, sets.b);
  const Array s = sort(among), nearest = take(s, places_in(s, x));
  return o.invert ? nearest != x : nearest == x;
}

// The sorted elements, and their positions unless `positions` is false.
UniqueResult ordered_set(const Array& a, bool assume_unique, bool positions) {
  if (!assume_unique) return distinct_elements(a, {.return_index = positions});
  if (!positions) return {.values = sort(a)};
  const Array order = argsort(a);
  return {.values = take(a, order), .indices = order};
}

}  // namespace

Array UniqueResult::single_output() const {
  check<TypeError>(indices.is_null() && inverse_indices.is_null() && counts.is_null(), "unique",
                   "the result has several arrays, and cannot be assigned to one; take its member `values`");
  return values;
}

Array Intersect1dResult::single_output() const {
  check<TypeError>(indices1.is_null(), "intersect1d",
                   "the result has several arrays, and cannot be assigned to one; take its member `values`");
  return values;
}

Array unique(const ArrayLike& ar) { return unique_of("unique", ar, {}).values; }
UniqueResult unique(const ArrayLike& ar, const UniqueOptions& options) { return unique_of("unique", ar, options); }

UniqueResult unique_all(const ArrayLike& x) {
  return unique_of("unique_all", x,
                   {.return_index = true, .return_inverse = true, .return_counts = true, .equal_nan = false});
}
UniqueCountsResult unique_counts(const ArrayLike& x) {
  UniqueResult r = unique_of("unique_counts", x, {.return_counts = true, .equal_nan = false});
  return {.values = r.values, .counts = r.counts};
}
UniqueInverseResult unique_inverse(const ArrayLike& x) {
  UniqueResult r = unique_of("unique_inverse", x, {.return_inverse = true, .equal_nan = false});
  return {.values = r.values, .inverse_indices = r.inverse_indices};
}
Array unique_values(const ArrayLike& x) { return unique_of("unique_values", x, {.equal_nan = false}).values; }

Array isin(const ArrayLike& element, const ArrayLike& test_elements, const IsinOptions& options) try {
  return membership({"isin", element, test_elements}, options).reshape(element.array().shape());
} catch (...) {
  internal::rethrow_out_of_memory("isin");
}

Array in1d(const ArrayLike& ar1, const ArrayLike& ar2, const IsinOptions& options) {
  return isin(ar1, ar2, options).ravel();
}

Array intersect1d(const ArrayLike& ar1, const ArrayLike& ar2) { return intersect1d(ar1, ar2, Intersect1dOptions{}); }

Intersect1dResult intersect1d(const ArrayLike& ar1, const ArrayLike& ar2, const Intersect1dOptions& o) try {
  const Sets sets("intersect1d", ar1, ar2);
  const UniqueResult first = ordered_set(sets.a, o.assume_unique, o.return_indices);
  const UniqueResult second = ordered_set(sets.b, o.assume_unique, o.return_indices);
  const auto [x, y] = comparable(first.values, second.values);
  Array at, common;
  if (y.size() > 0) {
    at = places_in(y, x);
    common = take(y, at) == x;
  } else {
    common = full_of(x, false);
  }
  if (!o.return_indices) return {.values = extract(common, first.values)};
  const Array hits = flatnonzero(common);
  return {.values = take(first.values, hits),
          .indices1 = take(first.indices, hits),
          .indices2 = y.size() > 0 ? take(second.indices, take(at, hits)) : hits};
} catch (...) {
  internal::rethrow_out_of_memory("intersect1d");
}

Array setdiff1d(const ArrayLike& ar1, const ArrayLike& ar2, const SetOptions& options) try {
  const auto [x, y] = on_one_device("setdiff1d", ar1, ar2);
  const Array a = options.assume_unique ? x.ravel() : unique(x);
  return extract(isin(a, y, {.invert = true}), a);
} catch (...) {
  internal::rethrow_out_of_memory("setdiff1d");
}

Array setxor1d(const ArrayLike& ar1, const ArrayLike& ar2, const SetOptions& options) try {
  const Sets sets("setxor1d", ar1, ar2);
  const bool distinct = options.assume_unique;
  const Array all = sort(concatenate({distinct ? sets.a : unique(sets.a), distinct ? sets.b : unique(sets.b)}));
  const Array first = new_bools(all, all.size() + 1);
  first(-1).fill(true);
  first(Slice({}, -1)) = differs_from_previous(all, false);
  return extract(first(Slice({}, -1)) & first(Slice(1, {})), all);
} catch (...) {
  internal::rethrow_out_of_memory("setxor1d");
}

Array union1d(const ArrayLike& ar1, const ArrayLike& ar2) try {
  const Sets sets("union1d", ar1, ar2);
  return unique(concatenate({sets.a, sets.b}));
} catch (...) {
  internal::rethrow_out_of_memory("union1d");
}

}  // namespace nd
