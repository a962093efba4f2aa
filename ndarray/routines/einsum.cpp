// einsum by contractions of two operands.
#include <catena/ndarray/routines/einsum.h>

#include <algorithm>
#include <numeric>

#include <catena/kernels/base/einsum_contraction.h>
#include <catena/kernels/base/einsum_path.h>
#include <catena/kernels/registry/program.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/engine/ufunc.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/joining.h>
#include <catena/ndarray/routines/linalg.h>
#include <catena/ndarray/routines/loops_products.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/operand.h>
#include <catena/ndarray/routines/reduction.h>

namespace nd {
namespace {

using catena::check;
using catena::einsum::Contraction;
using catena::einsum::Labels;
using catena::einsum::LabelSet;
using catena::einsum::Path;
using catena::einsum::set_of;
using catena::einsum::Subscripts;

constexpr const char* kOp = "einsum";

// An array whose axes have different labels.
struct Term {
  Array array;
  Labels labels;

  int axis_of(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
  }
};

bool is_in(const LabelSet& set, int label) { return set[static_cast<std::size_t>(label)]; }

Array ordered(const Term& t, const Labels& labels) {
  Dims axes;
  bool same = true;
  for (const int label : labels) {
    same = same && t.axis_of(label) == axes.size();
    axes.push_back(t.axis_of(label));
  }
  return same ? t.array : t.array.transpose(axes);
}

// Takes the diagonals of repeated axes, and drops axes of length 1 that broadcast.
Term term_of(const Array& operand, const Labels& labels, const std::vector<std::int64_t>& lengths) {
  Term t{operand, labels};
  for (std::size_t i = 0; i < t.labels.size();) {
    const int label = t.labels[i];
    const auto again = std::find(t.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, t.labels.end(), label);
    if (again == t.labels.end()) {
      ++i;
      continue;
    }
    t.array = diagonal(t.array, 0, static_cast<int>(i), static_cast<int>(again - t.labels.begin()));
    t.labels.erase(again);
    t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(i));
    t.labels.push_back(label);
  }
  for (int axis = static_cast<int>(t.labels.size()) - 1; axis >= 0; --axis) {
    if (t.array.shape()[axis] != 1 || lengths[static_cast<std::size_t>(t.labels[static_cast<std::size_t>(axis)])] == 1)
      continue;
    t.array = t.array.squeeze(axis);
    t.labels.erase(t.labels.begin() + axis);
  }
  return t;
}

Array total(const Array& a, const Axes& axes) {
  return a.dtype() == Dtype::bool_ ? any(a, {.axis = axes}) : sum(a, {.axis = axes, .dtype = a.dtype()});
}

void sum_all_but(Term& t, const LabelSet& kept) {
  Dims axes;
  Labels rest;
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    if (is_in(kept, t.labels[i])) rest.push_back(t.labels[i]);
    else axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.empty()) return;
  t.array = total(t.array, axes);
  t.labels = rest;
}

Array arranged(const Array& a, const Contraction::Operand& as) { return a.transpose(as.axes).reshape(as.shape); }
Array in_matrices(const Array& a) { return catena::einsum::matrices_lie_apart(*a.get()) ? internal::contiguous(a) : a; }

// sum(x * y, axes) of contiguous arrays of one shape on the host, over their first axes; null for other arrays and
// axes, and for short rows.
Array sums_on_host(const Array& x, const Array& y, const Shape& shape, const Dims& axes) {
  constexpr std::int64_t kShortRow = 16;
  const bool has_loop = x.dtype() == Dtype::float32 || x.dtype() == Dtype::float64;
  if (x.device().kind != Device::Kind::cpu || !has_loop || y.dtype() != x.dtype()) return {};
  if (x.shape() != shape || y.shape() != shape || !x.is_c_contiguous() || !y.is_c_contiguous()) return {};
  std::int64_t n = 1;
  for (int k = 0; k < axes.size(); ++k) {
    if (axes[k] != k) return {};
    n *= shape[k];
  }
  const Shape kept = catena::reduced_shape(shape, axes, false);
  const std::int64_t m = catena::size_of(kept);
  if (m < kShortRow) return {};
  const Array out(internal::new_array(kept, x.dtype(), x.device(), kOp));
  const std::byte *const a = x->data, *const b = y->data;
  if (x.dtype() == Dtype::float32)
    internal::sum_products_of_rows(reinterpret_cast<const float*>(a), reinterpret_cast<const float*>(b),
                                   reinterpret_cast<float*>(out->data), n, m);
  else
    internal::sum_products_of_rows(reinterpret_cast<const double*>(a), reinterpret_cast<const double*>(b),
                                   reinterpret_cast<double*>(out->data), n, m);
  return out;
}

// sum(x * y, axes) in one call, without an array of products; null if products or sums have another dtype.
Array fused_sums(const Array& x, const Array& y, const Shape& shape, const Dims& axes) {
  namespace kernels = catena::kernels;
  const Dtype dtype = x.dtype();
  const int product = kernels::multiply.loop_of(dtype), sum = kernels::sum.loop_of(dtype);
  if (dtype == Dtype::bool_ || y.dtype() != dtype || product < 0 || sum < 0) return {};
  const Array out(internal::new_array(catena::reduced_shape(shape, axes, false), dtype, x.device(), kOp));
  const catena::EagerProgram products(kernels::multiply, product);
  const catena::Input inputs[] = {catena::Input(*x.get()), catena::Input(*y.get())};
  if (out.size() > 0) internal::execute(catena::call::Reduce{&kernels::sum, sum, inputs, axes, out.get(), &products});
  return out;
}

// sum(x * y, axes) of arrays of one shape, apart from lengths of 1. On the CPU the products of a long array are formed
// by pieces that stay in the cache.
Array sums_of_products(const Array& x, const Array& y, const Dims& axes) {
  constexpr std::int64_t kPiece = 32768;
  const Shape shape = catena::broadcast_shapes(kOp, x.shape(), y.shape());
  const std::int64_t size = catena::size_of(shape);
  if (const Array sums = sums_on_host(x, y, shape, axes); !sums.is_null()) return sums;
  if (const Array sums = fused_sums(x, y, shape, axes); !sums.is_null()) return sums;
  const bool whole = x.device().kind != Device::Kind::cpu || size <= 2 * kPiece || shape[0] < 2;
  if (whole || x.shape() != y.shape()) return total(multiply(x, y), axes);
  const std::int64_t step = std::max<std::int64_t>(1, kPiece / (size / shape[0]));
  const bool adds = std::find(axes.begin(), axes.end(), 0) != axes.end();
  std::vector<Array> parts;
  for (std::int64_t i = 0; i < shape[0]; i += step) {
    const std::int64_t n = std::min(step, shape[0] - i);
    const Array part = total(multiply(internal::part(x, 0, i, n), internal::part(y, 0, i, n)), axes);
    if (adds && !parts.empty()) add(parts[0], part, {.out = parts[0]});
    else parts.push_back(part);
  }
  return adds ? parts[0] : concatenate(parts, 0);
}

// The contraction of two terms, as an array with the axes `kept` of them; in the order of `result` if that costs no
// copy.
Term contraction(Term x, Term y, const LabelSet& kept, const Labels& result) {
  LabelSet of_x = kept, of_y = kept;
  for (const int label : x.labels) of_y.set(static_cast<std::size_t>(label));
  for (const int label : y.labels) of_x.set(static_cast<std::size_t>(label));
  sum_all_but(x, of_x);
  sum_all_but(y, of_y);
  const Contraction c({x.array.get(), x.labels}, {y.array.get(), y.labels}, kept, result);
  if (c.swapped) std::swap(x, y);
  const Array left = arranged(x.array, c.operands[0]), right = arranged(y.array, c.operands[1]);
  switch (c.method) {
    case Contraction::Method::multiply: return {multiply(left, right), c.labels};
    case Contraction::Method::dots: return {sums_of_products(left, right, c.summed_axes), c.labels};
    default: return {matmul(in_matrices(left), in_matrices(right)).reshape(c.shape), c.labels};
  }
}

Path path_of(const EinsumOrder& order, const Subscripts& subscripts) {
  constexpr std::size_t kMost = 12;
  const std::size_t n = subscripts.operands.size();
  if (order.path()) {
    catena::einsum::check(*order.path(), n);
    return *order.path();
  }
  const std::string_view name = order.name();
  check<ValueError>(name == "auto" || name == "optimal" || name == "greedy" || name == "none", kOp, "optimize \"", name,
                    "\" is none of \"auto\", \"optimal\", \"greedy\", true, false and a path");
  check<ValueError>(name != "optimal" || n <= kMost, kOp, "the optimal order of ", n,
                    " operands takes too long to find; the limit is ", kMost, ", greedy finds a good one");
  if (n <= 2 || name == "none") return catena::einsum::in_order(n);
  if (name == "auto") return catena::einsum::automatic(subscripts);
  return name == "optimal" ? catena::einsum::optimal(subscripts) : catena::einsum::greedy(subscripts);
}

// Contracts the terms at these positions one after the other.
void contract_step(std::vector<Term>& terms, const Dims& step, const Labels& output) {
  std::vector<Term> taken;
  for (const std::int64_t i : step) taken.push_back(terms[static_cast<std::size_t>(i)]);
  Dims sorted = step;
  std::sort(sorted.begin(), sorted.end());
  for (int i = sorted.size() - 1; i >= 0; --i) terms.erase(terms.begin() + sorted[i]);
  LabelSet others = set_of(output);
  for (const Term& t : terms) others |= set_of(t.labels);
  Term result = taken[0];
  for (std::size_t i = 1; i < taken.size(); ++i) {
    LabelSet kept = others;
    for (std::size_t later = i + 1; later < taken.size(); ++later) kept |= set_of(taken[later].labels);
    const bool last = terms.empty() && i + 1 == taken.size();
    result = contraction(result, taken[i], kept, last ? output : Labels());
  }
  terms.push_back(result);
}

std::vector<Shape> shapes_of(const std::vector<Array>& arrays) {
  std::vector<Shape> shapes;
  for (const Array& a : arrays) shapes.push_back(a.shape());
  return shapes;
}

std::vector<Array> arrays_of(const std::vector<Operand>& operands, const Array& out = {}) {
  const Device device = internal::common_device(kOp, operands, {&out, 1});
  std::vector<Array> arrays;
  for (const Operand& x : operands) arrays.push_back(internal::as_array(x, device));
  return arrays;
}

// The operands in one dtype. Products of several 16-bit floats are computed in float32 and rounded once.
Dtype cast_to_one(std::vector<Array>& arrays, const EinsumOptions& o) {
  Dtype dtype = arrays[0].dtype();
  for (const Array& a : arrays) dtype = promote_types(dtype, a.dtype());
  if (o.dtype) {
    for (const Array& a : arrays)
      check<TypeError>(catena::can_cast(a.dtype(), *o.dtype, o.casting), kOp, "an operand of ", a.dtype(),
                       " does not cast to ", *o.dtype, "; another casting allows more: {.casting = Casting::unsafe}");
    dtype = *o.dtype;
  }
  const Dtype working = arrays.size() > 2 ? catena::compute_dtype(dtype) : dtype;
  for (Array& a : arrays) a = a.astype(working, {.copy = false});
  return dtype;
}

Array einsum_of(std::string_view text, const std::vector<Operand>& operands, const EinsumOptions& o) {
  check<ValueError>(!operands.empty(), kOp, "there are no operands");
  std::vector<Array> arrays = arrays_of(operands, o.out);
  const Subscripts subscripts = catena::einsum::read(text, shapes_of(arrays));
  const Path path = path_of(o.optimize, subscripts);
  const Dtype dtype = cast_to_one(arrays, o);
  if (!o.out.is_null()) {
    Shape shape;
    for (const int label : subscripts.output) shape.push_back(subscripts.lengths[static_cast<std::size_t>(label)]);
    check<ValueError>(o.out.shape() == shape, kOp, "the output has the shape ", o.out.shape(), ", the result has ",
                      shape);
    catena::check_output_cast(kOp, dtype, o.out.dtype(), o.casting);
  }
  std::vector<Term> terms;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    terms.push_back(term_of(arrays[i], subscripts.operands[i], subscripts.lengths));
  for (const Dims& step : path) contract_step(terms, step, subscripts.output);
  Term& last = terms[0];
  sum_all_but(last, set_of(subscripts.output));
  const Array result = ordered(last, subscripts.output).astype(dtype, {.copy = false});
  if (o.out.is_null()) return result;
  copyto(o.out, result, {.casting = o.casting});
  return o.out;
}

}  // namespace

Array einsum(std::string_view subscripts, const std::vector<Operand>& operands, const EinsumOptions& options) try {
  return einsum_of(subscripts, operands, options);
} catch (...) {
  internal::rethrow_out_of_memory(kOp);
}

Array einsum(const std::vector<std::pair<Operand, EinsumAxes>>& operands, const std::optional<EinsumAxes>& output,
             const EinsumOptions& options) {
  std::vector<Operand> arrays;
  std::vector<Labels> labels;
  for (const auto& [array, axes] : operands) {
    arrays.push_back(array);
    labels.push_back(axes.labels());
  }
  const std::string text = catena::einsum::text_of(labels, output ? &output->labels() : nullptr);
  return einsum(text, arrays, options);
}

EinsumPath einsum_path(std::string_view subscripts, const std::vector<Operand>& operands,
                       const EinsumPathOptions& options) {
  check<ValueError>(!operands.empty(), "einsum_path", "there are no operands");
  const Subscripts s = catena::einsum::read(subscripts, shapes_of(arrays_of(operands)));
  EinsumPath result{.path = path_of(options.optimize, s)};
  Dims all;
  for (std::size_t i = 0; i < operands.size(); ++i) all.push_back(static_cast<std::int64_t>(i));
  result.naive_multiplications = catena::einsum::cost_of({all}, s).multiplications;
  const catena::einsum::Cost cost = catena::einsum::cost_of(result.path, s);
  result.multiplications = cost.multiplications;
  result.largest_intermediate = cost.largest;
  return result;
}

}  // namespace nd
