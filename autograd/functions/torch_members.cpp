// The functions with PyTorch's names as members of Variable.
#include <cmath>

#include <catena/autograd/array.h>
#include <catena/autograd/functions/extrema.h>
#include <catena/autograd/functions/torch_arithmetic.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/functions/torch_products.h>
#include <catena/autograd/functions/torch_special.h>
#include <catena/autograd/functions/torch_statistics.h>
#include <catena/autograd/variable_node.h>

namespace autograd {

Dims Variable::stride() const {
  Dims all;
  for (int axis = 0; axis < ndim(); ++axis) all.push_back(stride(axis));
  return all;
}
std::int64_t Variable::stride(int axis) const {
  return present().strides()[catena::normalize_axis("stride", axis, ndim())] / element_size();
}
const Variable& Variable::retain_grad() const {
  catena::check<catena::RuntimeError>(requires_grad(), "retain_grad", "the variable needs no gradient");
  checked().graph_node()->retains_grad = true;
  return *this;
}
bool Variable::retains_grad() const { return checked().graph_node()->retains_grad; }
const Variable& Variable::detach_() const {
  unchain();
  Variable(*this).set_requires_grad(false);
  return *this;
}

namespace {
// A member takes every number as a double; one that is whole stands for an integer. -0.0 does not.
bool is_whole(double v) { return v == std::trunc(v) && std::abs(v) < 0x1p53 && !(v == 0 && std::signbit(v)); }
Constant number(double v) { return is_whole(v) ? Constant(std::int64_t(v)) : Constant(v); }
}  // namespace

#define CATENA_MEMBER(name) \
  Variable Variable::name() const { return autograd::name(*this); }
CATENA_TORCH_UNARY(CATENA_MEMBER)
#undef CATENA_MEMBER
Variable Variable::mT() const { return swapaxes(-2, -1); }
#define CATENA_MEMBER(name)                                                                             \
  Variable Variable::name(const Variable& other) const { return autograd::name(*this, other); }         \
  Variable Variable::name(double other) const {                                                         \
    return is_whole(other) ? autograd::name(*this, std::int64_t(other)) : autograd::name(*this, other); \
  }
CATENA_TORCH_BINARY_OF_NUMBERS(CATENA_MEMBER)
#undef CATENA_MEMBER
// These broadcast, unlike the functions of two arguments.
Variable Variable::fmod(const Variable& other) const {
  const Variables same = broadcast({*this, other});
  return autograd::fmod(same[0], same[1]);
}
Variable Variable::fmod(double other) const { return autograd::fmod(*this, other); }
Variable Variable::maximum(const Variable& other) const { return autograd::maximum(Variables{*this, other}); }
Variable Variable::maximum(double other) const {
  const auto of = internal::as_variables(*this, number(other));
  return of.x.maximum(of.constant);
}
Variable Variable::minimum(const Variable& other) const { return autograd::minimum(Variables{*this, other}); }
Variable Variable::minimum(double other) const {
  const auto of = internal::as_variables(*this, number(other));
  return of.x.minimum(of.constant);
}
Variable Variable::clamp_min(const Variable& min) const { return autograd::clamp_min(*this, min); }
Variable Variable::clamp_min(double min) const { return autograd::clamp_min(*this, min); }
Variable Variable::clamp_max(const Variable& max) const { return autograd::clamp_max(*this, max); }
Variable Variable::clamp_max(double max) const { return autograd::clamp_max(*this, max); }
#define CATENA_MEMBER(name) \
  Variable Variable::name(const Variable& other) const { return autograd::name(*this, other); }
CATENA_TORCH_BINARY(CATENA_MEMBER)
#undef CATENA_MEMBER
Variable Variable::logit(double eps) const { return autograd::logit(*this, eps); }
Variable Variable::polygamma(std::int64_t n) const { return autograd::polygamma(n, *this); }
Variable Variable::lerp(const Variable& end, const Variable& weight) const {
  return autograd::lerp(*this, end, weight);
}
Variable Variable::lerp(const Variable& end, double weight) const { return autograd::lerp(*this, end, weight); }
Variable Variable::addcmul(const Variable& x, const Variable& y, const ValueOption& o) const {
  return autograd::addcmul(*this, x, y, o);
}
Variable Variable::addcdiv(const Variable& x, const Variable& y, const ValueOption& o) const {
  return autograd::addcdiv(*this, x, y, o);
}

Variable Variable::bmm(const Variable& other) const { return autograd::bmm(*this, other); }
Variable Variable::mv(const Variable& vector) const { return autograd::mv(*this, vector); }
Variable Variable::outer(const Variable& other) const { return autograd::outer(*this, other); }
Variable Variable::inner(const Variable& other) const { return autograd::inner(*this, other); }
#define CATENA_MEMBER(name)                                                                                  \
  Variable Variable::name(const Variable& a, const Variable& b, const BetaAlphaOptions& o) const {           \
    return autograd::name(*this, a, b, o);                                                                   \
  }                                                                                                          \
  const Variable& Variable::name##_(const Variable& a, const Variable& b, const BetaAlphaOptions& o) const { \
    a.read_by(#name "_"), b.read_by(#name "_");                                                              \
    return replace_elements(name(a, b, o), #name "_");                                                       \
  }
CATENA_ADDED_PRODUCTS(CATENA_MEMBER)
#undef CATENA_MEMBER
Variable Variable::cross(const Variable& other, std::optional<int> dim) const {
  return autograd::cross(*this, other, dim);
}
Variable Variable::dist(const Variable& other, double p) const { return autograd::dist(*this, other, p); }
Variable Variable::matrix_power(std::int64_t n) const { return autograd::matrix_power(*this, n); }
Variable Variable::renorm(double p, int dim, double maxnorm) const { return autograd::renorm(*this, p, dim, maxnorm); }
Variable Variable::pinverse(double rcond) const { return autograd::pinverse(*this, rcond); }
Variable Variable::cholesky(bool upper) const { return autograd::cholesky(*this, {.upper = upper}); }
Variable Variable::cholesky_inverse(bool upper) const { return autograd::cholesky_inverse(*this, {.upper = upper}); }
Variable Variable::cholesky_solve(const Variable& factor, bool upper) const {
  return autograd::cholesky_solve(*this, factor, {.upper = upper});
}
TriangularSolution Variable::triangular_solve(const Variable& a, const TriangularSolveOptions& o) const {
  return autograd::triangular_solve(*this, a, o);
}
TriangularSolution Variable::triangular_solve(const Variable& a) const { return autograd::triangular_solve(*this, a); }
SlogdetResult Variable::slogdet() const { return autograd::slogdet(*this); }
QRResult Variable::qr() const { return autograd::qr(*this); }
SVDFactors Variable::svd() const {
  const SVDResult factors = autograd::svd(*this);
  return {factors.U, factors.S, factors.Vh.mT()};
}

Sorted Variable::median(int dim, bool keepdim) const { return autograd::median(*this, dim, keepdim); }
Sorted Variable::median(const ExtremumOptions& o) const { return autograd::median(*this, o); }
Sorted Variable::nanmedian(int dim, bool keepdim) const { return autograd::nanmedian(*this, dim, keepdim); }
Sorted Variable::nanmedian(const ExtremumOptions& o) const { return autograd::nanmedian(*this, o); }
MinMax Variable::aminmax(const ExtremumOptions& o) const { return autograd::aminmax(*this, o); }
Variable Variable::nanquantile(double q, std::optional<int> dim, bool keepdim) const {
  return autograd::nanquantile(*this, q, QuantileOptions{.dim = dim, .keepdim = keepdim});
}
Sorted Variable::kthvalue(std::int64_t k, int dim, bool keepdim) const {
  return autograd::kthvalue(*this, k, dim, keepdim);
}
Sorted Variable::mode(int dim, bool keepdim) const { return autograd::mode(*this, dim, keepdim); }
Variable Variable::quantile(double q, std::optional<int> dim, bool keepdim) const {
  return autograd::quantile(*this, q, QuantileOptions{.dim = dim, .keepdim = keepdim});
}
Variable Variable::amax(const Axes& axes, bool keepdims) const { return autograd::amax(*this, axes, keepdims); }
Variable Variable::amin(const Axes& axes, bool keepdims) const { return autograd::amin(*this, axes, keepdims); }
Variable Variable::logsumexp(const Axes& axes, bool keepdims) const {
  return autograd::logsumexp(*this, axes, keepdims);
}
Variable Variable::logcumsumexp(int dim) const { return autograd::logcumsumexp(*this, dim); }
Sorted Variable::cummax(int dim) const { return autograd::cummax(*this, dim); }
Sorted Variable::cummin(int dim) const { return autograd::cummin(*this, dim); }

Variable Variable::narrow(int dim, std::int64_t start, std::int64_t length) const {
  return autograd::narrow(*this, dim, start, length);
}
Variable Variable::select(int dim, std::int64_t index) const { return autograd::select(*this, dim, index); }
Variable Variable::slice(int dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                         std::int64_t step) const {
  return autograd::slice(*this, dim, start, end, step);
}
Variable Variable::take(const Variable& index) const { return autograd::take(*this, index); }
Variable Variable::take_along_dim(const Variable& indices, std::optional<int> dim) const {
  return autograd::take_along_dim(*this, indices, dim);
}
Variable Variable::masked_scatter(const Variable& mask, const Variable& source) const {
  return autograd::masked_scatter(*this, mask, source);
}
Variable Variable::index_add(int dim, const Variable& index, const Variable& source, const AlphaOption& o) const {
  return autograd::index_add(*this, dim, index, source, o);
}
Variable Variable::index_copy(int dim, const Variable& index, const Variable& source) const {
  return autograd::index_copy(*this, dim, index, source);
}
Variable Variable::index_fill(int dim, const Variable& index, double value) const {
  return autograd::index_fill(*this, dim, index, value);
}
Variable Variable::index_put(const std::vector<IndexItem>& items, const Variable& values, bool accumulate) const {
  return autograd::index_put(*this, items, values, accumulate);
}
Variable Variable::scatter_reduce(int dim, const Variable& index, const Variable& src, std::string_view reduce,
                                  bool include_self) const {
  return autograd::scatter_reduce(*this, dim, index, src, reduce, {.include_self = include_self});
}
Variable Variable::index_reduce(int dim, const Variable& index, const Variable& source, std::string_view reduce,
                                bool include_self) const {
  return autograd::index_reduce(*this, dim, index, source, reduce, {.include_self = include_self});
}
Variable Variable::put(const Variable& index, const Variable& source, bool accumulate) const {
  return autograd::put(*this, index, source, accumulate);
}
Variable Variable::select_scatter(const Variable& src, int dim, std::int64_t index) const {
  return autograd::select_scatter(*this, src, dim, index);
}
Variable Variable::slice_scatter(const Variable& src, int dim, std::optional<std::int64_t> start,
                                 std::optional<std::int64_t> end, std::int64_t step) const {
  return autograd::slice_scatter(*this, src, dim, start, end, step);
}
Variable Variable::diagonal_scatter(const Variable& src, std::int64_t offset, int dim1, int dim2) const {
  return autograd::diagonal_scatter(*this, src, offset, dim1, dim2);
}
Variable Variable::as_strided(const Shape& shape, const Dims& strides, std::int64_t offset) const {
  return autograd::as_strided(*this, shape, strides, offset);
}
Variable Variable::as_strided_scatter(const Variable& src, const Shape& shape, const Dims& strides,
                                      std::int64_t offset) const {
  return autograd::as_strided_scatter(*this, src, shape, strides, offset);
}
Variable Variable::where(const Variable& condition, const Variable& other) const {
  return autograd::where(condition, *this, other);
}
Variable Variable::where(const Variable& condition, double other) const {
  return autograd::where(condition, *this, other);
}
Variable Variable::narrow_copy(int dim, std::int64_t start, std::int64_t length) const {
  return autograd::narrow_copy(*this, dim, start, length);
}
Variable Variable::sum_to_size(const Shape& shape) const { return sum_to(*this, shape); }
Variable Variable::fliplr() const { return flip(1); }
Variable Variable::flipud() const { return flip(0); }
Variable Variable::diagflat(std::int64_t offset) const { return autograd::diagflat(*this, offset); }
#define CATENA_MEMBER(name)                                             \
  Variables Variable::name(const Sections& indices_or_sections) const { \
    return autograd::name(*this, indices_or_sections);                  \
  }
CATENA_MEMBER(hsplit)
CATENA_MEMBER(vsplit)
CATENA_MEMBER(dsplit)
#undef CATENA_MEMBER
Variable Variable::unflatten(int dim, const Shape& sizes) const { return autograd::unflatten(*this, dim, sizes); }
Variable Variable::diagonal(std::int64_t offset, int dim1, int dim2) const {
  return autograd::diagonal(*this, offset, dim1, dim2);
}
Variable Variable::diag(std::int64_t diagonal) const { return autograd::diag(*this, diagonal); }
Variable Variable::diag_embed(std::int64_t offset) const { return autograd::diag_embed(*this, offset); }
Variable Variable::unfold(int dim, std::int64_t size, std::int64_t step) const {
  return autograd::unfold(*this, dim, size, step);
}
Variable Variable::rot90(int k, const Dims& dims) const { return autograd::rot90(*this, k, dims); }
Variables Variable::tensor_split(const Sections& indices_or_sections, int dim) const {
  return autograd::tensor_split(*this, indices_or_sections, dim);
}

Variable Variable::new_full(const Shape& shape, const Scalar& value) const {
  return Variable(arrays::full(shape, value, dtype(), device()), {.requires_grad = false});
}
Variable Variable::new_empty(const Shape& shape) const {
  return Variable(arrays::empty(shape, dtype(), device()), {.requires_grad = false});
}

}  // namespace autograd
