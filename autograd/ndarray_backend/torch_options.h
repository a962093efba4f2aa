// Options by name of PyTorch's functions, for arguments that the functions themselves take by position, and arguments
// that they lack: sum(x, {.dim = 1, .dtype = nd::float64}), max(x, 1, {.keepdim = true}), gather(x, {.dim = 1, .index =
// i}), sort(x, {.stable = true}).
#pragma once

#include <concepts>
#include <optional>
#include <string_view>
#include <utility>

#include <catena/autograd/functions/einsum.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/functions/torch_arithmetic.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/functions/torch_products.h>
#include <catena/autograd/functions/torch_statistics.h>
#include <catena/autograd/ndarray_backend/torch_functions.h>

namespace autograd {

// Declares the overload of a function that takes options of one type. It is a template, so that functions whose options
// have the same names come first.
#define CATENA_OPTIONS(Result, name, Options, parameters, ...) \
  template <std::same_as<Options> O = Options> Result name parameters { return __VA_ARGS__; }
#define CATENA_X const Variable& x
#define CATENA_OF_X(Result, name, Options, ...) \
  CATENA_OPTIONS(Result, name, Options, (CATENA_X, const O& o), __VA_ARGS__)

// ---- an axis by position, the rest by name ----
// With keepdim, the reduced axis stays with the length 1: amax(x, 1, {.keepdim = true}).
struct KeepDimOption {
  bool keepdim = false;
};
#define CATENA_KEEPS(Result, name) \
  CATENA_OPTIONS(Result, name, KeepDimOption, (CATENA_X, int dim, const O& o), name(x, dim, o.keepdim))
CATENA_KEEPS(Variable, amax)
CATENA_KEEPS(Variable, amin)
CATENA_KEEPS(Extremes, max)
CATENA_KEEPS(Extremes, min)
CATENA_KEEPS(Sorted, median)
CATENA_KEEPS(Sorted, nanmedian)
CATENA_KEEPS(Sorted, mode)
CATENA_KEEPS(Mask, any)
CATENA_KEEPS(Mask, all)
CATENA_KEEPS(Variable, nansum)
CATENA_KEEPS(Variable, nanmean)
CATENA_KEEPS(Variable, logsumexp)
#undef CATENA_KEEPS
#define CATENA_KEEPS(name)                                                       \
  CATENA_OPTIONS(Variable, name, KeepDimOption, (CATENA_X, int dim, const O& o), \
                 name(x, ExtremumOptions{.dim = dim, .keepdim = o.keepdim}))
CATENA_KEEPS(argmax)
CATENA_KEEPS(argmin)
#undef CATENA_KEEPS
struct SpreadOptions {
  std::optional<bool> unbiased = {};
  double correction = 1;
  bool keepdim = false;
  CorrectionOptions along(const Axes& dim) const {
    return {.dim = dim, .unbiased = unbiased, .correction = correction, .keepdim = keepdim};
  }
};
CATENA_OPTIONS(VarMean, var_mean, SpreadOptions, (CATENA_X, const Axes& dim, const O& o), var_mean(x, o.along(dim)))
CATENA_OPTIONS(StdMean, std_mean, SpreadOptions, (CATENA_X, const Axes& dim, const O& o), std_mean(x, o.along(dim)))

// ---- the dtype in which a reduction computes ----
struct DtypeReductionOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Axes dim = {}, axis = {};
  bool keepdim = false, keepdims = false;
  std::optional<Dtype> dtype = {};
  ReductionOptions others() const { return {.dim = dim, .axis = axis, .keepdim = keepdim, .keepdims = keepdims}; }
  Variable converted(const Variable& x) const { return dtype ? cast(x, *dtype) : x; }
  DtypeReductionOptions over(const Axes& axes) const {
    return {.dim = axes, .keepdim = keepdim, .keepdims = keepdims, .dtype = dtype};
  }
};
#define CATENA_WITH_DTYPE(name)                                                        \
  CATENA_OF_X(Variable, name, DtypeReductionOptions, name(o.converted(x), o.others())) \
  CATENA_OPTIONS(Variable, name, DtypeReductionOptions, (CATENA_X, const Axes& axes, const O& o), name(x, o.over(axes)))
CATENA_WITH_DTYPE(sum)
CATENA_WITH_DTYPE(mean)
CATENA_WITH_DTYPE(prod)
CATENA_WITH_DTYPE(nansum)
CATENA_WITH_DTYPE(nanmean)
#undef CATENA_WITH_DTYPE

// ---- an axis by name ----
CATENA_OF_X(Variable, logcumsumexp, AxisOption, logcumsumexp(x, o.value()))
CATENA_OF_X(Sorted, cummax, AxisOption, cummax(x, o.value_or(-1)))
CATENA_OF_X(Sorted, cummin, AxisOption, cummin(x, o.value_or(-1)))
CATENA_OF_X(Variable, unsqueeze, AxisOption, unsqueeze(x, o.value_or(0)))
CATENA_OPTIONS(Variable, concatenate, AxisOption, (const Variables& xs, const O& o), concat(xs, o.value_or(0)))
CATENA_OPTIONS(Variables, tensor_split, AxisOption, (CATENA_X, const Sections& sections, const O& o),
               tensor_split(x, sections, o.value_or(0)))
CATENA_OPTIONS(Variable, cross, AxisOption, (CATENA_X, const Variable& y, const O& o), cross(x, y, o.value()))
CATENA_OPTIONS(Variable, take_along_dim, AxisOption, (CATENA_X, const Variable& i, const O& o),
               take_along_dim(x, i, o.value()))
CATENA_OPTIONS(Variable, trapezoid, AxisOption, (const Variable& y, CATENA_X, const O& o),
               trapezoid(y, x, o.value_or(-1)))
CATENA_OPTIONS(Variable, trapz, AxisOption, (const Variable& y, CATENA_X, const O& o), trapezoid(y, x, o.value_or(-1)))
CATENA_OPTIONS(Variable, cumulative_trapezoid, AxisOption, (const Variable& y, CATENA_X, const O& o),
               cumulative_trapezoid(y, x, o.value_or(-1)))
struct RepeatInterleaveOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> dim = {};
  std::optional<std::int64_t> output_size = {};  // without effect: the repeats determine it
};
CATENA_OPTIONS(Variable, repeat_interleave, RepeatInterleaveOptions, (CATENA_X, std::int64_t n, const O& o),
               repeat_interleave(x, n, o.dim))
CATENA_OPTIONS(Variable, repeat_interleave, RepeatInterleaveOptions,
               (CATENA_X, const std::vector<std::int64_t>& n, const O& o), repeat_interleave(x, n, o.dim))
// With the number of each element in a variable of integers, (n) or ().
CATENA_EXPORT Variable repeat_interleave(const Variable& x, const Variable& repeats,
                                         const RepeatInterleaveOptions& o = {});

// ---- positions along an axis, all by name ----
struct IndexOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int dim = 0;
  Variable index = {};
  bool sparse_grad = false;  // without effect
};
CATENA_OF_X(Variable, gather, IndexOptions, gather(x, o.dim, o.index))
CATENA_OPTIONS(Variable, gather, IndexOptions, (CATENA_X, int dim, const Variable& index, const O& o),
               (void(o), gather(x, dim, index)))
CATENA_OPTIONS(Variable, index_select, IndexOptions, (CATENA_X, int dim, const O& o), index_select(x, dim, o.index))
CATENA_OF_X(Variable, index_select, IndexOptions, index_select(x, o.dim, o.index))
struct SelectOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int dim = 0;
  std::int64_t index = 0;
};
CATENA_OF_X(Variable, select, SelectOptions, select(x, o.dim, o.index))
struct NarrowOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int dim = 0;
  std::int64_t start = 0, length = 0;
};
CATENA_OF_X(Variable, narrow, NarrowOptions, narrow(x, o.dim, o.start, o.length))
struct SliceOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int dim = 0;
  std::optional<std::int64_t> start = {}, end = {};
  std::int64_t step = 1;
};
CATENA_OPTIONS(Variable, slice_scatter, SliceOptions, (CATENA_X, const Variable& src, const O& o),
               slice_scatter(x, src, o.dim, o.start, o.end, o.step))
struct ScatterOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int dim = 0;
  Variable index = {}, src = {};
  std::optional<double> value = {};
  std::string_view reduce = {};  // "add" or "multiply" (ValueError for others); default: src replaces the elements
};
// scatter(x, 0, i, s, {.reduce = "add"}), scatter(x, {.dim = 0, .index = i, .src = s}). ValueError unless one of src
// and value is given.
CATENA_EXPORT Variable scatter(const Variable& x, const ScatterOptions& o);
CATENA_OPTIONS(Variable, scatter, ScatterOptions, (CATENA_X, int dim, const Variable& index, const O& o),
               scatter(x,
                       ScatterOptions{.dim = dim, .index = index, .src = o.src, .value = o.value, .reduce = o.reduce}))
CATENA_OPTIONS(Variable, scatter, ScatterOptions,
               (CATENA_X, int dim, const Variable& index, const Variable& src, const O& o),
               scatter(x, ScatterOptions{.dim = dim, .index = index, .src = src, .reduce = o.reduce}))

// ---- order ----
struct StableSortOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  int dim = -1;
  bool descending = false;
  bool stable = true;  // sorting is stable with either value
};
CATENA_OF_X(Sorted, sort, StableSortOptions, sort(x, o.dim, o.descending))
CATENA_OF_X(Variable, argsort, StableSortOptions, argsort(x, o.dim, o.descending))
CATENA_OPTIONS(Sorted, sort, StableSortOptions, (CATENA_X, int dim, const O& o), sort(x, dim, o.descending))
CATENA_OPTIONS(Variable, argsort, StableSortOptions, (CATENA_X, int dim, const O& o), argsort(x, dim, o.descending))
CATENA_OPTIONS(Sorted, topk, TopKOptions, (CATENA_X, std::int64_t k, int dim, const O& o), topk(x, k, dim, o.largest))
struct SearchSortedOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  bool out_int32 = false, right = false;
  std::string_view side = {};  // "left" or "right" (ValueError for others)
  Variable sorter = {};        // the order in which the last axis is sorted
};
namespace internal {
CATENA_EXPORT Variable places(const Variable& sorted, const TensorArgument& values, const SearchSortedOptions& o);
}
CATENA_OPTIONS(Variable, searchsorted, SearchSortedOptions,
               (const Variable& sorted, const TensorArgument& values, const O& o), internal::places(sorted, values, o))
CATENA_OPTIONS(Variable, bucketize, SearchSortedOptions,
               (const TensorArgument& values, const Variable& boundaries, const O& o),
               internal::places(boundaries, values, o))
struct IsinUniqueOptions {
  bool assume_unique = false;  // without effect
  bool invert = false;
};
CATENA_OPTIONS(Mask, isin, IsinUniqueOptions, (const TensorArgument& x, const TensorArgument& among, const O& o),
               isin(x, among, IsinOptions{o.invert}))

// ---- diagonals, turns and numbers ----
struct OffsetOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t offset = 0;
  std::optional<int> dim1 = {}, dim2 = {};
};
CATENA_OF_X(Variable, diagonal, OffsetOptions, diagonal(x, o.offset, o.dim1.value_or(0), o.dim2.value_or(1)))
CATENA_OPTIONS(Variable, diagonal_scatter, OffsetOptions, (CATENA_X, const Variable& src, const O& o),
               diagonal_scatter(x, src, o.offset, o.dim1.value_or(0), o.dim2.value_or(1)))
CATENA_OF_X(Variable, diagflat, OffsetOptions, diagflat(x, o.offset))
// The new axes are dim1 and dim2 of the result, the last two by default.
CATENA_EXPORT Variable diag_embed(const Variable& x, std::int64_t offset, int dim1, int dim2 = -1);
CATENA_OF_X(Variable, diag_embed, OffsetOptions, diag_embed(x, o.offset, o.dim1.value_or(-2), o.dim2.value_or(-1)))
CATENA_OF_X(Variable, diag, DiagonalOption, diag(x, o.diagonal))
struct IndicesOptions {
  std::int64_t offset = 0;
  Dtype dtype = Dtype::int64;
  DeviceOption device = {};
};
CATENA_EXPORT Variable tril_indices(std::int64_t rows, std::int64_t columns, const IndicesOptions& o);
CATENA_EXPORT Variable triu_indices(std::int64_t rows, std::int64_t columns, const IndicesOptions& o);
struct RollOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  Dims shifts = {};
  Axes dims = {};
};
CATENA_EXPORT Variable roll(const Variable& x, const RollOptions& o);
struct Rot90Options {
  [[no_unique_address]] catena::Named named = catena::Named();
  int k = 1;
  Dims dims = {0, 1};
};
CATENA_OF_X(Variable, rot90, Rot90Options, rot90(x, o.k, o.dims))
struct CombinationsOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t r = 2;
  bool with_replacement = false;
};
CATENA_OF_X(Variable, combinations, CombinationsOptions, combinations(x, o.r, o.with_replacement))
struct VanderOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<std::int64_t> N = {};
  bool increasing = false;
};
CATENA_OF_X(Variable, vander, VanderOptions, vander(x, o.N, o.increasing))
struct POption {
  double p = 2;
};
CATENA_OPTIONS(Variable, dist, POption, (CATENA_X, const Variable& y, const O& o), dist(x, y, o.p))
struct CdistOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  double p = 2;
  std::string_view compute_mode = {};  // without effect
};
CATENA_OPTIONS(Variable, cdist, CdistOptions, (CATENA_X, const Variable& y, const O& o), cdist(x, y, o.p))
// A number of axes, or two lists of them: {.dims = 1}, {.dims = {{0, 2}, {1, 0}}}.
struct ContractedAxes {
  ContractedAxes(int count) : n(count) {}
  ContractedAxes(const Dims& of_a, const Dims& of_b) : lists(std::in_place, of_a, of_b) {}
  int n = 0;
  std::optional<std::pair<Dims, Dims>> lists = {};
};
struct TensordotOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  ContractedAxes dims = 2;
};
CATENA_OPTIONS(Variable, tensordot, TensordotOptions, (CATENA_X, const Variable& y, const O& o),
               o.dims.lists ? tensordot(x, y, *o.dims.lists) : tensordot(x, y, o.dims.n))
// logit(x, {.eps = 1e-6}) is logit of x clamped to [eps, 1 - eps].
struct EpsOption {
  double eps = 0;
};
CATENA_OF_X(Variable, logit, EpsOption, logit(x, o.eps))
// Singular values up to rcond times the greatest one count as 0: pinverse(x, {.rcond = 1e-6}).
struct RcondOption {
  double rcond = 1e-15;
};
CATENA_OF_X(Variable, pinverse, RcondOption, pinverse(x, o.rcond))
// The memory format has no effect: clone(x, {.memory_format = channels_last}) is clone(x).
struct MemoryFormatOption {
  MemoryFormat memory_format = preserve_format;
};
CATENA_OF_X(Variable, clone, MemoryFormatOption, (void(o), clone(x)))

// ---- new tensors ----
struct SpacingOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::int64_t steps = 0;
  double base = 10;
  std::optional<Dtype> dtype = {};
  DeviceOption device = {};
  bool requires_grad = false;
  TensorOptions others() const { return {.dtype = dtype, .device = device, .requires_grad = requires_grad}; }
};
// linspace(0, 1, {.steps = 5}): `steps` numbers from start to end, both included, of shape (steps).
CATENA_OPTIONS(Variable, linspace, SpacingOptions, (double start, double end, const O& o),
               linspace(start, end, o.steps, o.others()))
// logspace(0, 2, {.steps = 3}), logspace(0, 3, 4, {.base = 2}): `base` to the powers linspace(start, end, steps).
CATENA_OPTIONS(Variable, logspace, SpacingOptions, (double start, double end, const O& o),
               logspace(start, end, o.steps, o.base, o.others()))
CATENA_OPTIONS(Variable, logspace, SpacingOptions, (double start, double end, std::int64_t steps, const O& o),
               logspace(start, end, steps, o.base, o.others()))

#undef CATENA_OF_X
#undef CATENA_X
#undef CATENA_OPTIONS

// ---- the options above under the names of modules ----
namespace special {
using autograd::logit, autograd::logsumexp;
}
namespace linalg {
template <std::same_as<OffsetOptions> O = OffsetOptions> Variable diagonal(const Variable& a, const O& o) {
  return linalg::diagonal(a, o.offset, o.dim1.value_or(-2), o.dim2.value_or(-1));
}
}  // namespace linalg

// ---- members of Variable ----
// Options of to(). With `copy`, the result has memory of its own; non_blocking and memory_format have no effect.
struct ToOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  DeviceOption device = {};
  std::optional<Dtype> dtype = {};
  bool non_blocking = false, copy = false;
  MemoryFormat memory_format = preserve_format;
};
// With accumulate, index_put_ adds to the elements.
struct AccumulateOption {
  bool accumulate = false;
};
namespace internal {
// `there`: x where the arguments by position have brought it.
CATENA_EXPORT Variable moved(const Variable& x, const Variable& there, const ToOptions& o);
CATENA_EXPORT Variable new_tensor_like(const Variable& x, const Shape& shape, const Scalar& value,
                                       const TensorOptions& o);
CATENA_EXPORT Variable new_tensor_like(const Variable& x, const nd::Values& values, const TensorOptions& o = {});
template <class O> struct OptionFunctions {
#define CATENA_MEMBER(name, Options) \
  template <class... A> static auto name(const Variable& x, const A&... a) { return autograd::name(x, a...); }
  CATENA_OPTIONS_ALONE(CATENA_MEMBER)
  CATENA_ONLY_BEHIND_ONE(CATENA_MEMBER)
#undef CATENA_MEMBER
  template <class... A> static auto topk(const Variable& x, const A&... a) { return autograd::topk(x, a...); }
  template <class... A> static Variable scatter_reduce(const Variable& x, const A&... a) {
    return autograd::scatter_reduce(x, a...);
  }
  static Variable moved(const Variable& x, const Variable& there, const O& o) { return internal::moved(x, there, o); }
  static Variable new_full(const Variable& x, const Shape& shape, const Scalar& value, const O& o) {
    return new_tensor_like(x, shape, value, tensor_options(o));
  }
  template <class N> static Variable new_tensor(const Variable& x, const N& values, const auto&... o) {
    return new_tensor_like(x, values, tensor_options(o)...);
  }
};
}  // namespace internal

}  // namespace autograd
