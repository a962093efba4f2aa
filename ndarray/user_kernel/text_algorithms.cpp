#include <catena/ndarray/user_kernel/text_algorithms.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/user_kernel/elementwise_kernel.h>

namespace nd {
namespace {

using catena::check;
using catena::concat;

// Elements that one position of a kernel takes one after the other. On CUDA a position is a thread.
constexpr std::int64_t kHostChunk = 8192, kDeviceChunk = 32;
std::int64_t chunk_of(const Array& a) { return a.device().kind == Device::Kind::cpu ? kHostChunk : kDeviceChunk; }
std::int64_t pieces(std::int64_t length, std::int64_t chunk) { return (length + chunk - 1) / chunk; }

// The user's preamble with functions that are made from the user's expressions, and the options for the compiler.
struct UserText {
  std::string preamble;
  std::vector<std::string> options;

  // Adds `result name(T a, T b)` that returns the expression, which may end in a comment.
  void add_function(std::string_view result, std::string_view name, std::string_view expression) {
    preamble += concat("\ntemplate <class _V> __device__ inline ", result, " ", name,
                       "(_V a, _V b) {\n  typedef _V T;\n  return ", result, "(", expression, "\n  );\n}\n");
  }
  ElementwiseKernel kernel(std::string_view in, std::string_view out, std::string_view body,
                           std::string_view name) const {
    return ElementwiseKernel(in, out, body, name, {.preamble = preamble, .options = options});
  }
};

// All outputs are given, so that there may be any number of them.
void run(const ElementwiseKernel& kernel, std::initializer_list<Operand> args, std::int64_t size,
         std::int64_t elements = 1) {
  kernel.call(std::span(args.begin(), args.size()), {.size = size, .elements_per_position = elements});
}

void check_text(std::string_view op, std::string_view text, std::string_view what) {
  check<ValueError>(text.find_first_not_of(" \t\r\n") != std::string_view::npos, op, "the text of the ", what,
                    " is empty");
}

// An array as contiguous rows along an axis, and the way back.
struct Rows {
  Array rows;
  Shape moved;
  int axis = 0;
  bool flat = false;
  std::int64_t length = 0, count = 0;

  Rows(std::string_view op, const Array& a, std::optional<int> given) {
    check<TypeError>(!a.is_null(), op, "the array is null");
    flat = !given.has_value();
    const Array source = flat ? a.reshape(-1) : a;
    axis = flat ? 0 : catena::normalize_axis(op, *given, a.ndim());
    const Array last = moveaxis(source, axis, -1);
    moved = last.shape();
    rows = internal::contiguous(last);
    length = moved.back();
    count = length == 0 ? 0 : a.size() / length;
  }
  Array restored(const Array& result) const { return moveaxis(result.reshape(moved), -1, axis); }
};

// ---- scans --------------------------------------------------------------------------------------
// The kernels of a scan of rows in three steps. `chunks` scans each chunk by itself; then the totals of the chunks are
// scanned; `join` combines each of these results with the elements of the next chunk. With `segmented`, the scan begins
// anew at each element whose flag is set; `seen` is true for an element if its chunk has a set flag up to it, and `any`
// is true for a chunk that has one.
struct ScanKernels {
  ElementwiseKernel chunks, join;

  ScanKernels(const UserText& text, bool segmented)
      : chunks(text.kernel(
            segmented ? "raw T x, raw bool head, int64 length, int64 chunk, int64 per_row"
                      : "raw T x, int64 length, int64 chunk, int64 per_row",
            segmented ? "raw T y, raw T total, raw bool seen, raw bool any" : "raw T y, raw T total",
            concat("const long long first = i % per_row * chunk, last = min(first + chunk, length);\n"
                   "const long long row = i / per_row * length;\nT value = x[row + first];\n",
                   segmented ? "bool begun = head[row + first];\nseen[row + first] = begun;\n" : "",
                   "y[row + first] = value;\nfor (long long k = row + first + 1; k < row + last; ++k) {\n",
                   segmented ? "if (head[k]) { value = x[k]; begun = true; }\nelse value = _combine<T>(value, x[k]);\n"
                               "seen[k] = begun;\n"
                             : "value = _combine<T>(value, x[k]);\n",
                   "y[k] = value;\n}\ntotal[i] = value;\n", segmented ? "any[i] = begun;\n" : ""),
            "scan_chunks")),
        join(text.kernel(segmented ? "raw T before, raw bool seen, int64 length, int64 chunk, int64 per_row"
                                   : "raw T before, int64 length, int64 chunk, int64 per_row",
                         "raw T y",
                         concat("const long long row = i / length, c = (i - row * length) / chunk;\nif (c == 0",
                                segmented ? " || seen[i]" : "",
                                ") return;\ny[i] = _combine<T>(before[row * per_row + c - 1], y[i]);"),
                         "scan_join")) {}
};

// Returns the running results of rows of one length, given as one array.
Array scan_rows(const ScanKernels& kernels, const Array& x, const Array& head, std::int64_t length) {
  const std::int64_t chunk = chunk_of(x), per_row = pieces(length, chunk), total = x.size();
  const DeviceScope on(x.device());
  const Array y = empty({total}, x.dtype()), totals = empty({total / length * per_row}, x.dtype());
  if (head.is_null()) {
    run(kernels.chunks, {x, length, chunk, per_row, y, totals}, totals.size(), chunk);
    if (per_row == 1) return y;
    const Array before = scan_rows(kernels, totals, head, per_row);
    run(kernels.join, {before, length, chunk, per_row, y}, total);
    return y;
  }
  const Array seen = empty({total}, Dtype::bool_), any = empty({totals.size()}, Dtype::bool_);
  run(kernels.chunks, {x, head, length, chunk, per_row, y, totals, seen, any}, totals.size(), chunk);
  if (per_row == 1) return y;
  const Array before = scan_rows(kernels, totals, any, per_row);
  run(kernels.join, {before, seen, length, chunk, per_row, y}, total);
  return y;
}

// ---- sorts --------------------------------------------------------------------------------------
// The kernels of a stable merge sort of rows. Chunks are sorted by insertion; then neighbouring sorted runs are merged.
// Each position of the merging kernel writes a chunk of the result, and finds its beginnings in both runs by bisection.
// The positions of the elements are carried along if they are wanted.
struct SortKernels {
  ElementwiseKernel chunks, merge;

  SortKernels(const UserText& text, bool positions)
      : chunks(text.kernel("raw T x, int64 length, int64 chunk, int64 per_row",
                           positions ? "raw T y, raw int64 at" : "raw T y",
                           concat("const long long first = i % per_row * chunk, last = min(first + chunk, length);\n"
                                  "const long long row = i / per_row * length;\n"
                                  "for (long long k = first; k < last; ++k) {\n"
                                  "  const T value = x[row + k];\n  long long to = row + k;\n"
                                  "  for (; to > row + first && _less<T>(value, y[to - 1]); --to) {\n"
                                  "    y[to] = y[to - 1];\n",
                                  positions ? "    at[to] = at[to - 1];\n" : "", "  }\n  y[to] = value;\n",
                                  positions ? "  at[to] = k;\n" : "", "}"),
                           "sort_chunks")),
        merge(
            text.kernel(positions ? "raw T x, raw int64 from, int64 length, int64 chunk, int64 per_row, int64 width"
                                  : "raw T x, int64 length, int64 chunk, int64 per_row, int64 width",
                        positions ? "raw T y, raw int64 at" : "raw T y",
                        concat("const long long row = i / per_row * length, begin = row + i % per_row * chunk;\n"
                               "const long long end = min(begin + chunk, row + length);\n"
                               "const long long left = row + (begin - row) / (2 * width) * (2 * width);\n"
                               "const long long right = min(left + width, row + length);\n"
                               "const long long stop = min(right + width, row + length), before = begin - left;\n"
                               "long long low = max(0LL, before - (stop - right)), high = min(before, right - left);\n"
                               "while (low < high) {\n  const long long middle = (low + high) / 2;\n"
                               "  if (_less<T>(x[right + before - 1 - middle], x[left + middle])) high = middle;\n"
                               "  else low = middle + 1;\n}\n"
                               "long long a = left + low, b = right + before - low;\n"
                               "for (long long k = begin; k < end; ++k) {\n"
                               "  const bool second = a >= right || (b < stop && _less<T>(x[b], x[a]));\n"
                               "  const long long taken = second ? b++ : a++;\n  y[k] = x[taken];\n",
                               positions ? "  at[k] = from[taken];\n" : "", "}"),
                        "sort_merge")) {}
};

// Sorts contiguous rows. Returns the elements, or their positions in the rows.
Array sort_rows(const UserText& text, const Rows& r, bool positions) {
  const SortKernels kernels(text, positions);
  const DeviceScope on(r.rows.device());
  const Array x = r.rows.reshape(-1);
  constexpr std::int64_t kRun = 16;  // elements that are sorted by insertion
  const std::int64_t longest = chunk_of(x);
  Array from = empty({x.size()}, x.dtype()), to, at, next_at;
  if (positions) at = empty({x.size()}, Dtype::int64);
  std::int64_t per_row = pieces(r.length, kRun);
  const std::int64_t runs = r.count * per_row;
  if (positions) run(kernels.chunks, {x, r.length, kRun, per_row, from, at}, runs, kRun);
  else run(kernels.chunks, {x, r.length, kRun, per_row, from}, runs, kRun);
  for (std::int64_t width = kRun; width < r.length; width *= 2) {
    if (to.is_null()) {
      to = empty({x.size()}, x.dtype());
      if (positions) next_at = empty({x.size()}, Dtype::int64);
    }
    const std::int64_t chunk = std::min(2 * width, longest);
    per_row = pieces(r.length, chunk);
    const std::int64_t all = r.count * per_row;
    if (positions) run(kernels.merge, {from, at, r.length, chunk, per_row, width, to, next_at}, all, chunk);
    else run(kernels.merge, {from, r.length, chunk, per_row, width, to}, all, chunk);
    std::swap(from, to);
    std::swap(at, next_at);
  }
  return r.restored(positions ? at : from);
}

Array sorted(std::string_view op, const Array& a, std::string_view less, const TextSortOptions& options,
             bool positions) {
  check_text(op, less, "order");
  const Rows r(op, a, options.axis);
  if (a.size() == 0) return r.restored(positions ? empty_like(r.rows, Dtype::int64) : r.rows.copy());
  UserText text{options.preamble, options.options};
  text.add_function("bool", "_less", less);
  return sort_rows(text, r, positions);
}

}  // namespace

Array scan(const Array& a, std::string_view combine, const TextScanOptions& options) {
  check_text("scan", combine, "combination");
  if (options.exclusive) check_text("scan", options.identity, "identity, which element 0 of an exclusive scan has,");
  const Rows r("scan", a, options.axis);
  if (a.size() == 0) return r.restored(r.rows.copy());
  UserText text{options.preamble, options.options};
  text.add_function("_V", "_combine", combine);
  const Array y = scan_rows(ScanKernels(text, false), r.rows.reshape(-1), Array(), r.length);
  if (!options.exclusive) return r.restored(y);
  const DeviceScope on(a.device());
  const Array shifted = empty({y.size()}, y.dtype());
  run(text.kernel("raw T x, int64 length", "raw T y",
                  concat("if (i % length == 0) y[i] = T(", options.identity, "\n); else y[i] = x[i - 1];"),
                  "scan_shift"),
      {y, r.length, shifted}, y.size());
  return r.restored(shifted);
}

Array internal::sort_by_text(const Array& a, std::string_view less, const TextSortOptions& options) {
  return sorted("sort", a, less, options, false);
}
Array internal::argsort_by_text(const Array& a, std::string_view less, const TextSortOptions& options) {
  return sorted("argsort", a, less, options, true);
}

std::pair<Array, Array> reduce_by_key(const Array& keys, const Array& values, std::string_view combine,
                                      const ReduceByKeyOptions& options) {
  constexpr std::string_view op = "reduce_by_key";
  check_text(op, combine, "combination");
  check_text(op, options.equal, "equality");
  check<TypeError>(!keys.is_null() && !values.is_null(), op, "an array is null");
  check<ValueError>(keys.ndim() == 1 && values.shape() == keys.shape(), op, "the keys have shape ", keys.shape(),
                    " and the values ", values.shape(), "; both need rank 1 and one length");
  check<ValueError>(keys.device() == values.device(), op, "the keys are on ", keys.device(), ", the values on ",
                    values.device());
  if (keys.size() == 0) return {keys.copy(), values.copy()};
  const DeviceScope on(keys.device());
  UserText of_keys{options.preamble, options.options}, of_values = of_keys;
  of_keys.add_function("bool", "_equal", options.equal);
  of_values.add_function("_V", "_combine", combine);
  const std::int64_t n = keys.size();
  const Array head = empty({n}, Dtype::bool_), tail = empty({n}, Dtype::bool_);
  run(of_keys.kernel("raw T key", "raw bool head, raw bool tail",
                     "head[i] = i == 0 || !_equal<T>(key[i - 1], key[i]);\n"
                     "tail[i] = i == n - 1 || !_equal<T>(key[i], key[i + 1]);",
                     "key_runs"),
      {keys, head, tail}, n);
  const Array running = scan_rows(ScanKernels(of_values, true), internal::contiguous(values), head, n);
  return {compress(head, keys), compress(tail, running)};
}

std::pair<Array, Array> weighted_histogram(const Array& a, std::string_view weight,
                                           const TextHistogramOptions& options) {
  constexpr std::string_view op = "weighted_histogram";
  check_text(op, weight, "weight");
  check<TypeError>(!a.is_null(), op, "the array is null");
  const ElementwiseKernel kernel("T x", "float64 w", concat("w = ", weight), "weight",
                                 {.preamble = options.preamble, .options = options.options});
  const Array weights = kernel(a);
  return histogram(a, {.bins = options.bins, .range = options.range, .density = options.density, .weights = weights});
}

}  // namespace nd
