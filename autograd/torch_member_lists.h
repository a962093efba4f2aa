// Lists of names of functions that are members of Variable as well. One word in a list makes the member.
#pragma once

// clang-format off
// Differentiable functions of one variable: neg(x) is x.neg().
#define CATENA_TORCH_UNARY(X) \
  X(neg) X(negative) X(absolute) X(reciprocal) X(exp2) X(acos) X(asin) X(atan) X(acosh) X(arccosh) X(asinh) \
  X(arcsinh) X(atanh) X(arctanh) X(erf) X(erfc) X(erfinv) X(lgamma) X(digamma) X(sinc) X(logit) X(positive) X(sgn) \
  X(trunc) X(frac) X(deg2rad) X(rad2deg) X(nan_to_num) X(det) X(logdet) X(inverse) X(matrix_exp) X(diff) X(median) \
  X(nanmedian) X(msort) X(nansum) X(nanmean) X(cov) X(corrcoef) X(trace)
// Of two variables, and of a variable and one or a number.
#define CATENA_TORCH_BINARY(X) \
  X(atan2) X(arctan2) X(hypot) X(logaddexp) X(logaddexp2) X(kron) X(vdot) X(ger)
#define CATENA_TORCH_BINARY_OF_NUMBERS(X) \
  X(remainder) X(floor_divide) X(fmax) X(fmin) X(copysign) X(xlogy) X(ldexp) X(float_power)
// The same, of functions whose two arguments have one shape; the members broadcast.
#define CATENA_TORCH_BINARY_THAT_BROADCASTS(X) X(fmod) X(maximum) X(minimum) X(clamp_min) X(clamp_max)
// beta x + alpha a b
#define CATENA_ADDED_PRODUCTS(X) X(addmm) X(addmv) X(addr) X(addbmm) X(baddbmm)
// Functions of ndarray_backend/torch_functions.h: logical_and(x, y) is x.logical_and(y).
#define CATENA_TENSOR_FUNCTIONS(X) \
  X(isnan) X(isinf) X(isfinite) X(isneginf) X(isposinf) X(isreal) X(signbit) X(isclose) X(allclose) X(equal) \
  X(logical_and) X(logical_or) X(logical_xor) X(logical_not) X(bitwise_and) X(bitwise_or) X(bitwise_xor) \
  X(bitwise_not) X(bitwise_left_shift) X(bitwise_right_shift) X(gcd) X(lcm) X(heaviside) X(nextafter) X(any) X(all) \
  X(count_nonzero) X(nonzero) X(argwhere) X(bincount) X(histc) X(unique) X(unique_consecutive) X(multinomial) \
  X(bernoulli) X(real) X(imag) X(conj) X(conj_physical) X(angle) X(adjoint) X(frexp)
// Members whose result can be written into the elements: x.atan2_(y) is x.atan2(y) in the memory of x. From a word
// follow the member with an underscore and the function of functions/torch_in_place.h. The members of
// catena::InPlaceMembers (add_, exp_) are not in this list.
#define CATENA_IN_PLACE_RELATIVES(X) \
  X(arccos) X(arcsin) X(arctan) X(acosh) X(asinh) X(atanh) X(arccosh) X(arcsinh) X(arctanh) X(deg2rad) X(rad2deg) \
  X(erf) X(erfc) X(erfinv) X(lgamma) X(digamma) X(polygamma) X(logit) X(sinc) X(sgn) X(fix) X(conj_physical) \
  X(true_divide) X(atan2) X(arctan2) X(hypot) X(copysign) X(nextafter) X(heaviside) X(xlogy) X(ldexp) X(float_power) \
  X(gcd) X(lcm) X(bitwise_and) X(bitwise_or) X(bitwise_xor) X(bitwise_not) X(bitwise_left_shift) \
  X(bitwise_right_shift) X(logical_and) X(logical_or) X(logical_xor) X(logical_not) X(eq) X(ne) X(not_equal) X(lt) \
  X(less) X(le) X(less_equal) X(gt) X(greater) X(ge) X(greater_equal) X(addmm) X(addmv) X(addr) X(addbmm) X(baddbmm) \
  X(cumsum) X(cumprod) X(renorm) X(masked_scatter) X(scatter_reduce) X(index_reduce) X(put)
// Options by name of members (members_with_options.inc): x.name(options), and behind one, two and three other
// arguments.
#define CATENA_OPTIONS_ALONE(X) \
  X(sum, DtypeReductionOptions) X(mean, DtypeReductionOptions) X(prod, DtypeReductionOptions) \
  X(nansum, DtypeReductionOptions) X(nanmean, DtypeReductionOptions) X(mode, ExtremumOptions) \
  X(count_nonzero, ExtremumOptions) X(logcumsumexp, AxisOption) X(cummax, AxisOption) X(cummin, AxisOption) \
  X(unsqueeze, AxisOption) X(gather, IndexOptions) X(index_select, IndexOptions) X(select, SelectOptions) \
  X(narrow, NarrowOptions) X(scatter, ScatterOptions) X(sort, StableSortOptions) X(argsort, StableSortOptions) \
  X(diagonal, OffsetOptions) X(diagflat, OffsetOptions) X(diag_embed, OffsetOptions) X(diag, DiagonalOption) \
  X(tril, DiagonalOption) X(triu, DiagonalOption) X(roll, RollOptions) X(rot90, Rot90Options) X(logit, EpsOption) \
  X(pinverse, RcondOption) X(clone, MemoryFormatOption) X(round, RoundOption) X(nan_to_num, NanToNumOptions) \
  X(diff, DiffOptions) X(cov, CovOptions) X(unique, UniqueOptions) X(unique_consecutive, UniqueOptions) \
  X(bincount, BincountOptions) X(histc, HistcOptions) X(bernoulli, BernoulliOptions) X(nonzero, NonzeroOptions)
#define CATENA_ONLY_BEHIND_ONE(X) \
  X(cumsum, DtypeAxisOptions) X(cumprod, DtypeAxisOptions) X(logsumexp, KeepDimOption) X(amax, KeepDimOption) \
  X(amin, KeepDimOption) X(median, KeepDimOption) X(nanmedian, KeepDimOption) X(any, KeepDimOption) \
  X(all, KeepDimOption) X(tensor_split, AxisOption) X(cross, AxisOption) X(take_along_dim, AxisOption) \
  X(repeat_interleave, RepeatInterleaveOptions) X(dist, POption) X(kthvalue, ExtremumOptions) \
  X(quantile, QuantileOptions) X(nanquantile, QuantileOptions) X(multinomial, MultinomialOptions) \
  X(isclose, CloseOptions) X(allclose, CloseOptions)
#define CATENA_OPTIONS_BEHIND_ONE(X) \
  CATENA_ONLY_BEHIND_ONE(X) X(sum, DtypeReductionOptions) X(mean, DtypeReductionOptions) \
  X(prod, DtypeReductionOptions) X(nansum, DtypeReductionOptions) X(nanmean, DtypeReductionOptions) \
  X(mode, KeepDimOption) X(sort, StableSortOptions) X(argsort, StableSortOptions) X(index_select, IndexOptions)
#define CATENA_OPTIONS_BEHIND_TWO(X) X(topk, TopKOptions) X(scatter, ScatterOptions) X(gather, IndexOptions)
#define CATENA_OPTIONS_BEHIND_THREE(X) X(scatter, ScatterOptions)
// clang-format on
