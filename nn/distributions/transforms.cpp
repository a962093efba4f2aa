#include <catena/nn/distributions/transforms.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/operators.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/families.h>
#include <catena/nn/distributions/parameters.h>
#include <catena/nn/functions/activation.h>

namespace nn::distributions {

using namespace internal;
namespace kernels = catena::kernels;

// ---- Transform ----
namespace {
template <class F> const F& needed(const F& function, const char* name) {
  catena::check<catena::NotImplementedError>(bool(function), "Transform", "this transform has no ", name);
  return function;
}
}  // namespace
Transform::Transform(TransformRule rule) : rule_(catena::Shared<TransformRule>::make(std::move(rule))) {}
Variable Transform::operator()(const Variable& x) const { return needed(rule_->forward, "forward")(x); }
Variable Transform::inv(const Variable& y) const { return needed(rule_->inverse, "inverse")(y); }
Transform Transform::inv() const {
  const TransformRule& r = *rule_;
  const auto jacobian = r.log_abs_det_jacobian;
  TransformRule inverse{.forward = r.inverse,
                        .inverse = r.forward,
                        .domain_event_dim = r.codomain_event_dim,
                        .codomain_event_dim = r.domain_event_dim,
                        .sign = r.sign,
                        .forward_shape = r.inverse_shape,
                        .inverse_shape = r.forward_shape,
                        .bijective = r.bijective};
  if (jacobian)
    inverse.log_abs_det_jacobian = [jacobian](const Variable& x, const Variable& y) { return -jacobian(y, x); };
  return Transform(std::move(inverse));
}
Variable Transform::log_abs_det_jacobian(const Variable& x, const Variable& y) const {
  return needed(rule_->log_abs_det_jacobian, "log_abs_det_jacobian")(x, y);
}
Shape Transform::forward_shape(const Shape& shape) const {
  return rule_->forward_shape ? rule_->forward_shape(shape) : shape;
}
Shape Transform::inverse_shape(const Shape& shape) const {
  return rule_->inverse_shape ? rule_->inverse_shape(shape) : shape;
}

// ---- transforms of numbers ----
namespace {
Parameter sign_of(const Parameter& p) {
  if (p.number()) return Parameter(double((*p.number() > 0) - (*p.number() < 0)));
  return Parameter(autograd::sign(without_graph(p.value())));
}
Shape broadcast_with(const Shape& shape, const Parameter& p) {
  return p.number() ? shape : catena::broadcast_shapes("Transform", shape, p.value().shape());
}
Variable softplus_of(const Variable& x) { return nn::softplus(x); }
// The logarithm of the derivative of a transform that keeps lengths, summed over the last n axes of x.
Variable zeros_without_last(const Variable& x, int n) { return constant(without_last(x.shape(), n), 0, x); }
}  // namespace
AffineTransform::AffineTransform(const Parameter& loc, const Parameter& scale, int event_dim)
    : Transform({.forward = [=](const Variable& x) { return in_dtype(loc, x) + in_dtype(scale, x) * x; },
                 .inverse = [=](const Variable& y) { return (y - in_dtype(loc, y)) / in_dtype(scale, y); },
                 .log_abs_det_jacobian =
                     [=](const Variable& x, const Variable&) {
                       const Variable slope = autograd::log(autograd::absolute(in_dtype(scale, x)));
                       return sum_of_last(autograd::broadcast_to(slope, broadcast_with(x.shape(), scale)), event_dim);
                     },
                 .domain_event_dim = event_dim,
                 .codomain_event_dim = event_dim,
                 .sign = sign_of(scale),
                 .forward_shape = [=](const Shape& s) { return broadcast_with(broadcast_with(s, loc), scale); },
                 .inverse_shape = [=](const Shape& s) { return broadcast_with(broadcast_with(s, loc), scale); }}) {}
ExpTransform::ExpTransform()
    : Transform({.forward = [](const Variable& x) { return autograd::exp(x); },
                 .inverse = [](const Variable& y) { return autograd::log(y); },
                 .log_abs_det_jacobian = [](const Variable& x, const Variable&) { return x; },
                 .sign = 1}) {}
SigmoidTransform::SigmoidTransform()
    : Transform(
          {.forward = clipped_sigmoid,
           .inverse =
               [](const Variable& y) {
                 const Variable inside = autograd::clip(y, tiny(y.dtype()), 1 - eps(y.dtype()));
                 return autograd::log(inside) - autograd::log1p(-inside);
               },
           .log_abs_det_jacobian = [](const Variable& x, const Variable&) { return -softplus_of(-x) - softplus_of(x); },
           .sign = 1}) {}
TanhTransform::TanhTransform()
    : Transform(
          {.forward = [](const Variable& x) { return autograd::tanh(x); },
           .inverse = [](const Variable& y) { return autograd::arctanh(y); },
           // log(1 - tanh(x)^2), accurate for large x
           .log_abs_det_jacobian = [](const Variable& x,
                                      const Variable&) { return (std::numbers::ln2 - x - softplus_of(x * -2)) * 2; },
           .sign = 1}) {}
SoftplusTransform::SoftplusTransform()
    : Transform({.forward = softplus_of,
                 .inverse = [](const Variable& y) { return autograd::log(-autograd::expm1(-y)) + y; },
                 .log_abs_det_jacobian = [](const Variable& x, const Variable&) { return -softplus_of(-x); },
                 .sign = 1}) {}
PowerTransform::PowerTransform(const Parameter& exponent)
    : Transform({.forward = [=](const Variable& x) { return autograd::pow(x, in_dtype(exponent, x)); },
                 .inverse = [=](const Variable& y) { return autograd::pow(y, 1 / in_dtype(exponent, y)); },
                 .log_abs_det_jacobian =
                     [=](const Variable& x, const Variable& y) {
                       return autograd::log(autograd::absolute(in_dtype(exponent, x) * y / x));
                     },
                 .sign = sign_of(exponent),
                 .forward_shape = [=](const Shape& s) { return broadcast_with(s, exponent); },
                 .inverse_shape = [=](const Shape& s) { return broadcast_with(s, exponent); }}) {}
AbsTransform::AbsTransform()
    : Transform({.forward = [](const Variable& x) { return autograd::absolute(x); },
                 .inverse = [](const Variable& y) { return y; },
                 .bijective = false}) {}
CumulativeDistributionTransform::CumulativeDistributionTransform(catena::Shared<const Distribution> d)
    : Transform({.forward = [d](const Variable& x) { return d->cdf(x); },
                 .inverse = [d](const Variable& y) { return d->icdf(y); },
                 .log_abs_det_jacobian = [d](const Variable& x, const Variable&) { return d->log_prob(x); },
                 .sign = 1}) {}

// ---- transforms of vectors ----
namespace {
Shape lengthened(const Shape& s, int by) { return extended(without_last(s), Shape{s[s.size() - 1] + by}); }
// x without its last element.
Variable cropped(const Variable& x) { return autograd::slice(x, x.ndim() - 1, 0, x.shape()[x.ndim() - 1] - 1); }
Variable edge(const Variable& x, double value) {
  return constant(lengthened(x.shape(), 1 - int(x.shape()[x.ndim() - 1])), value, x);
}
// log(K - k) of the elements k = 0, ..., K - 1 of vectors of the length K.
Variable log_rest(const Variable& x) {
  const Variable ones = constant(Shape{x.shape()[x.ndim() - 1]}, 1, x);
  return autograd::log(double(ones.size() + 1) - autograd::cumsum(ones));
}
Variable broken(const Variable& x) {
  const int axis = x.ndim() - 1;
  const Variable z = clipped_sigmoid(x - log_rest(x)), rest = autograd::cumprod(1 - z, axis);
  return autograd::concat({z, edge(z, 1)}, axis) * autograd::concat({edge(z, 1), rest}, axis);
}
Variable joined_again(const Variable& y) {
  const Variable first = cropped(y);
  const Variable rest = autograd::clip(1 - autograd::cumsum(first, y.ndim() - 1), tiny(y.dtype()), kInfinity);
  return autograd::log(first) - autograd::log(rest) + log_rest(first);
}
}  // namespace
SoftmaxTransform::SoftmaxTransform()
    : Transform({.forward = [](const Variable& x) { return nn::softmax(x, x.ndim() - 1); },
                 .inverse = [](const Variable& y) { return autograd::log(y); },
                 .domain_event_dim = 1,
                 .codomain_event_dim = 1,
                 .bijective = false}) {}
StickBreakingTransform::StickBreakingTransform()
    : Transform({.forward = broken,
                 .inverse = joined_again,
                 .log_abs_det_jacobian =
                     [](const Variable& x, const Variable& y) {
                       return last_sum(autograd::log(cropped(y)) - softplus_of(x - log_rest(x)));
                     },
                 .domain_event_dim = 1,
                 .codomain_event_dim = 1,
                 .forward_shape = [](const Shape& s) { return lengthened(s, 1); },
                 .inverse_shape = [](const Shape& s) { return lengthened(s, -1); }}) {}

// ---- transforms of matrices ----
namespace {
using MapOfDiagonal = Variable (*)(const Variable&);
// The lower triangle, with `map` of the diagonal.
Variable lower_with(MapOfDiagonal map, const Variable& x) {
  const Variable diagonal = autograd::diagonal(x, 0, x.ndim() - 2, x.ndim() - 1);
  return autograd::tril(x, -1) + autograd::diag_embed(map(diagonal));
}
Variable lower_exp(const Variable& x) { return lower_with(autograd::exp, x); }
Variable lower_log(const Variable& y) { return lower_with(autograd::log, y); }
std::int64_t rows_of(std::int64_t numbers) {
  const auto rows = static_cast<std::int64_t>(std::lround((1 + std::sqrt(1 + 8 * double(numbers))) / 2));
  catena::check<catena::ValueError>(rows * (rows - 1) / 2 == numbers, "CorrCholeskyTransform", "the last axis has ",
                                    numbers, " numbers; D rows take D (D - 1) / 2 of them");
  return rows;
}
// The numbers of the row k of a triangle without a diagonal: the k ones that begin at k (k - 1) / 2.
Variable row(const Variable& x, std::int64_t k) {
  return autograd::slice(x, x.ndim() - 1, k * (k - 1) / 2, k * (k + 1) / 2);
}
// Row by row: the numbers tanh(x) times the root of what the squares before them have left of 1.
Variable correlated(const Variable& x) {
  const int axis = x.ndim() - 1;
  const std::int64_t rows = rows_of(x.shape()[axis]);
  const double most = 1 - eps(x.dtype());
  const Variable r = autograd::clip(autograd::tanh(x), -most, most);
  autograd::Variables lines;
  for (std::int64_t k = 0; k < rows; ++k) {
    autograd::Variables line;
    if (k > 0) {
      const Variable z = row(r, k), left = autograd::cumprod(autograd::sqrt(1 - autograd::square(z)), axis);
      line = {autograd::concat({z, edge(z, 1)}, axis) * autograd::concat({edge(z, 1), left}, axis)};
    } else {
      line = {constant(extended(without_last(x.shape()), Shape{1}), 1, x)};
    }
    if (k + 1 < rows) line.push_back(constant(extended(without_last(x.shape()), Shape{rows - 1 - k}), 0, x));
    lines.push_back(autograd::concat(line, axis));
  }
  return autograd::stack(lines, axis);
}
Variable uncorrelated(const Variable& y) {
  const int axis = y.ndim() - 2;
  autograd::Variables numbers;
  for (std::int64_t k = 1; k < y.shape()[axis]; ++k) {
    const Variable line = autograd::squeeze(autograd::slice(y, axis, k, k + 1), catena::Axes{axis});
    const Variable z = autograd::slice(line, axis, 0, k);
    const Variable before =
        autograd::slice(autograd::concat({edge(z, 0), autograd::cumsum(autograd::square(z), axis)}, axis), axis, 0, k);
    numbers.push_back(autograd::arctanh(z / autograd::sqrt(1 - before)));
  }
  return autograd::concat(numbers, axis);
}
Variable correlation_jacobian(const Variable& x, const Variable& y) {
  // Half the logarithms of what is left of 1 in each row before the column, and those of the derivatives of tanh.
  Variable sum = last_sum((x + softplus_of(x * -2) - std::numbers::ln2) * -2);
  const int axis = y.ndim() - 2;
  for (std::int64_t k = 2; k < y.shape()[axis]; ++k) {
    const Variable line = autograd::squeeze(autograd::slice(y, axis, k, k + 1), catena::Axes{axis});
    const Variable before = autograd::cumsum(autograd::square(autograd::slice(line, axis, 0, k - 1)), axis);
    sum = sum + last_sum(autograd::log1p(-before)) * 0.5;
  }
  return sum;
}
Shape triangle_shape(const Shape& s) {
  const std::int64_t rows = rows_of(s[s.size() - 1]);
  return extended(without_last(s), Shape{rows, rows});
}
Shape numbers_shape(const Shape& s) {
  const std::int64_t rows = s[s.size() - 1];
  return extended(without_last(s, 2), Shape{rows * (rows - 1) / 2});
}
}  // namespace
LowerCholeskyTransform::LowerCholeskyTransform()
    : Transform({.forward = lower_exp,
                 .inverse = lower_log,
                 .domain_event_dim = 2,
                 .codomain_event_dim = 2,
                 .bijective = false}) {}
PositiveDefiniteTransform::PositiveDefiniteTransform()
    : Transform({.forward =
                     [](const Variable& x) {
                       const Variable factor = lower_exp(x);
                       return autograd::matmul(factor, factor, {.transb = true});
                     },
                 .inverse = [](const Variable& y) { return lower_log(autograd::cholesky(y)); },
                 .domain_event_dim = 2,
                 .codomain_event_dim = 2,
                 .bijective = false}) {}
CorrCholeskyTransform::CorrCholeskyTransform()
    : Transform({.forward = correlated,
                 .inverse = uncorrelated,
                 .log_abs_det_jacobian = correlation_jacobian,
                 .domain_event_dim = 1,
                 .codomain_event_dim = 2,
                 .forward_shape = triangle_shape,
                 .inverse_shape = numbers_shape}) {}

// ---- transforms of transforms ----
namespace {
// The numbers of last axes of x and of y that belong together for a whole list.
std::pair<int, int> event_dims(const Transforms& parts) {
  int domain = 0, codomain = 0;
  if (parts.empty()) return {0, 0};
  domain = parts.back().rule().codomain_event_dim, codomain = parts.front().rule().domain_event_dim;
  for (auto t = parts.rbegin(); t != parts.rend(); ++t) {
    const TransformRule& r = t->rule();
    domain = std::max(domain + r.domain_event_dim - r.codomain_event_dim, r.domain_event_dim);
  }
  for (const Transform& t : parts) {
    const TransformRule& r = t.rule();
    codomain = std::max(codomain + r.codomain_event_dim - r.domain_event_dim, r.codomain_event_dim);
  }
  return {domain, codomain};
}
Variable applied(const Transforms& parts, Variable x) {
  for (const Transform& t : parts) x = t(x);
  return x;
}
Variable undone(const Transforms& parts, Variable y) {
  for (auto t = parts.rbegin(); t != parts.rend(); ++t) y = t->inv(y);
  return y;
}
Variable composed_jacobian(const Transforms& parts, Variable x, const Variable& y) {
  int event_dim = event_dims(parts).first;
  if (parts.empty()) return zeros_without_last(x, event_dim);
  Variable sum;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Transform& t = parts[k];
    const Variable next = k + 1 < parts.size() ? t(x) : y;
    const Variable term = sum_of_last(t.log_abs_det_jacobian(x, next), event_dim - t.rule().domain_event_dim);
    sum = k == 0 ? term : sum + term;
    event_dim += t.rule().codomain_event_dim - t.rule().domain_event_dim;
    x = next;
  }
  return sum;
}
Parameter product_of_signs(const Transforms& parts) {
  Parameter sign = 1;
  for (const Transform& t : parts) {
    const Parameter& s = t.rule().sign;
    sign = sign.number() && s.number() ? Parameter(*sign.number() * *s.number())
           : sign.number()             ? Parameter(s.value() * *sign.number())
           : s.number()                ? Parameter(sign.value() * *s.number())
                                       : Parameter(sign.value() * s.value());
  }
  return sign;
}
Shape forward_shape_of(const Transforms& parts, Shape s) {
  for (const Transform& t : parts) s = t.forward_shape(s);
  return s;
}
Shape inverse_shape_of(const Transforms& parts, Shape s) {
  for (auto t = parts.rbegin(); t != parts.rend(); ++t) s = t->inverse_shape(s);
  return s;
}
bool all_bijective(const Transforms& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const Transform& t) { return t.bijective(); });
}
}  // namespace
ComposeTransform::ComposeTransform(const Transforms& parts)
    : Transform({.forward = [parts](const Variable& x) { return applied(parts, x); },
                 .inverse = [parts](const Variable& y) { return undone(parts, y); },
                 .log_abs_det_jacobian = [parts](const Variable& x,
                                                 const Variable& y) { return composed_jacobian(parts, x, y); },
                 .domain_event_dim = event_dims(parts).first,
                 .codomain_event_dim = event_dims(parts).second,
                 .sign = product_of_signs(parts),
                 .forward_shape = [parts](const Shape& s) { return forward_shape_of(parts, s); },
                 .inverse_shape = [parts](const Shape& s) { return inverse_shape_of(parts, s); },
                 .bijective = all_bijective(parts)}) {}
namespace {
TransformRule independent_rule(const Transform& base, int n) {
  TransformRule rule = base.rule();
  catena::check<catena::ValueError>(n >= 0, "IndependentTransform", "the number of axes is ", n);
  rule.domain_event_dim += n, rule.codomain_event_dim += n;
  rule.log_abs_det_jacobian = [base, n](const Variable& x, const Variable& y) {
    return sum_of_last(base.log_abs_det_jacobian(x, y), n);
  };
  return rule;
}
// `to` in place of the last axes `from` of a shape.
Shape replaced(const Shape& shape, const Shape& from, const Shape& to) {
  const int n = from.size();
  catena::check<catena::ValueError>(shape.size() >= n && last_of(shape, n, {}) == from, "ReshapeTransform",
                                    "the shape ", shape, " does not end with ", from);
  return extended(without_last(shape, n), to);
}
}  // namespace
IndependentTransform::IndependentTransform(const Transform& base, int n) : Transform(independent_rule(base, n)) {}
ReshapeTransform::ReshapeTransform(const Shape& in, const Shape& out)
    : Transform(
          {.forward = [=](const Variable& x) { return autograd::reshape(x, replaced(x.shape(), in, out)); },
           .inverse = [=](const Variable& y) { return autograd::reshape(y, replaced(y.shape(), out, in)); },
           .log_abs_det_jacobian = [=](const Variable& x, const Variable&) { return zeros_without_last(x, in.size()); },
           .domain_event_dim = in.size(),
           .codomain_event_dim = out.size(),
           .forward_shape = [=](const Shape& s) { return replaced(s, in, out); },
           .inverse_shape = [=](const Shape& s) { return replaced(s, out, in); }}) {
  catena::check<catena::ValueError>(catena::checked_size(in) == catena::checked_size(out), "ReshapeTransform",
                                    "the shapes ", in, " and ", out, " have different numbers of elements");
}
namespace {
// The rule of transforms of parts, which `apart` takes from an array and `together` joins.
template <class Apart, class Together>
TransformRule parts_rule(const Transforms& parts, Apart apart, Together together) {
  const auto joined = [=](auto run) {
    autograd::Variables results;
    for (std::size_t k = 0; k < parts.size(); ++k) results.push_back(run(parts[k], k));
    return together(results);
  };
  return {
      .forward =
          [=](const Variable& x) {
            const autograd::Variables of_x = apart(x);
            return joined([&](const Transform& t, std::size_t k) { return t(of_x[k]); });
          },
      .inverse =
          [=](const Variable& y) {
            const autograd::Variables of_y = apart(y);
            return joined([&](const Transform& t, std::size_t k) { return t.inv(of_y[k]); });
          },
      .log_abs_det_jacobian =
          [=](const Variable& x, const Variable& y) {
            const autograd::Variables of_x = apart(x), of_y = apart(y);
            return joined([&](const Transform& t, std::size_t k) { return t.log_abs_det_jacobian(of_x[k], of_y[k]); });
          },
      .bijective = all_bijective(parts)};
}
Shape with_axis(const Shape& s, int axis, std::int64_t length) {
  return extended(extended(without_last(s, s.size() - axis), Shape{length}), last_of(s, s.size() - axis, {}));
}
TransformRule stack_rule(const Transforms& parts, int dim) {
  const char* const who = "StackTransform";
  catena::check<catena::ValueError>(!parts.empty(), who, "there is no transform");
  const Transform first = parts[0];
  for (const Transform& t : parts)
    catena::check<catena::ValueError>(t.rule().domain_event_dim == first.rule().domain_event_dim &&
                                          t.rule().codomain_event_dim == first.rule().codomain_event_dim,
                                      who, "the events of the transforms have different numbers of axes");
  const auto number = std::int64_t(parts.size());
  const auto apart = [=](const Variable& x) {
    const int axis = catena::normalize_axis(who, dim, x.ndim());
    catena::check<catena::ValueError>(x.shape(axis) == number, who, "the axis ", dim, " has the length ", x.shape(axis),
                                      "; there are ", number, " transforms");
    return autograd::unbind(x, axis);
  };
  const auto together = [=](const autograd::Variables& results) {
    return autograd::stack(results, catena::normalize_axis(who, dim, results[0].ndim() + 1));
  };
  TransformRule rule = parts_rule(parts, apart, together);
  rule.domain_event_dim = first.rule().domain_event_dim, rule.codomain_event_dim = first.rule().codomain_event_dim;
  const auto shape_of = [=](const Shape& one) {
    return with_axis(one, catena::normalize_axis(who, dim, one.size() + 1), number);
  };
  const auto slice_of = [=](const Shape& s) {
    return catena::reduced_shape(s, catena::normalize_axis(who, dim, s.size()), false);
  };
  rule.forward_shape = [=](const Shape& s) { return shape_of(first.forward_shape(slice_of(s))); };
  rule.inverse_shape = [=](const Shape& s) { return shape_of(first.inverse_shape(slice_of(s))); };
  return rule;
}
TransformRule cat_rule(const Transforms& parts, int dim, const std::vector<std::int64_t>& given) {
  const char* const who = "CatTransform";
  const std::vector<std::int64_t> lengths = given.empty() ? std::vector<std::int64_t>(parts.size(), 1) : given;
  catena::check<catena::ValueError>(!parts.empty(), who, "there is no transform");
  catena::check<catena::ValueError>(lengths.size() == parts.size(), who, "there are ", parts.size(), " transforms and ",
                                    lengths.size(), " lengths");
  for (const Transform& t : parts)
    catena::check<catena::ValueError>(t.rule().domain_event_dim == 0 && t.rule().codomain_event_dim == 0, who,
                                      "a part is no transform of single numbers");
  return parts_rule(
      parts, [=](const Variable& x) { return autograd::split(x, lengths, catena::normalize_axis(who, dim, x.ndim())); },
      [=](const autograd::Variables& results) {
        return autograd::concat(results, catena::normalize_axis(who, dim, results[0].ndim()));
      });
}
}  // namespace
StackTransform::StackTransform(const Transforms& parts, int dim) : Transform(stack_rule(parts, dim)) {}
CatTransform::CatTransform(const Transforms& parts, int dim, const std::vector<std::int64_t>& lengths)
    : Transform(cat_rule(parts, dim, lengths)) {}

// ---- TransformedDistribution ----
TransformedDistribution::Shapes TransformedDistribution::shapes_of(const Distribution& base, const Transforms& list) {
  const auto [domain, codomain] = event_dims(list);
  const Shape all = extended(base.batch_shape(), base.event_shape());
  catena::check<catena::ValueError>(all.size() >= domain, "TransformedDistribution", "the base has ", all.size(),
                                    " axes; the transforms take ", domain);
  const Shape forward = forward_shape_of(list, all), back = inverse_shape_of(list, forward);
  const int events = std::max(codomain, base.event_shape().size() + codomain - domain);
  return {without_last(back, base.event_shape().size()), without_last(forward, events), last_of(forward, events, {})};
}
TransformedDistribution::TransformedDistribution(AnyDistribution base, const Transforms& list)
    : TransformedDistribution(base, list, shapes_of(*base.held, list)) {}
TransformedDistribution::TransformedDistribution(AnyDistribution base, const Transforms& list, const Shapes& shapes)
    : Distribution(shapes.batch, shapes.event),
      transforms(list),
      base_(base.held->batch_shape() == shapes.base_batch ? base : base.expand(shapes.base_batch)) {}
Variable TransformedDistribution::as_value(const Parameter& value) const { return base_.held->as_value(value); }
TransformedDistribution TransformedDistribution::expand(const Shape& batch) const {
  const Shape all = inverse_shape_of(transforms, extended(batch, event_shape()));
  return {base_.expand(without_last(all, base_.held->event_shape().size())), transforms};
}
Variable TransformedDistribution::rsample(const Shape& shape) const {
  return applied(transforms, base_.held->rsample(shape));
}
Variable TransformedDistribution::draw(const Shape& shape) const {
  return applied(transforms, base_.held->sample(shape));
}
Variable TransformedDistribution::log_prob(const Parameter& value) const {
  const Distribution& base = *base_.held;
  int event_dim = event_shape().size();
  Variable y = as_value(value), sum;
  for (auto t = transforms.rbegin(); t != transforms.rend(); ++t) {
    const Variable x = t->inv(y);
    event_dim += t->rule().domain_event_dim - t->rule().codomain_event_dim;
    const Variable term = sum_of_last(t->log_abs_det_jacobian(x, y), event_dim - t->rule().domain_event_dim);
    sum = t == transforms.rbegin() ? -term : sum - term;
    y = x;
  }
  const Variable of_base = sum_of_last(base.log_prob(y), event_dim - base.event_shape().size());
  return transforms.empty() ? of_base : sum + of_base;
}
namespace {
// A probability, or 1 less it where the transforms decrease.
Variable turned(const Transforms& transforms, const Variable& probability) {
  const Parameter sign = product_of_signs(transforms);
  catena::check<catena::NotImplementedError>(!sign.number() || *sign.number() != 0, "cdf",
                                             "the transforms do not increase or decrease everywhere");
  return in_dtype(sign, probability) * (probability - 0.5) + 0.5;
}
}  // namespace
Variable TransformedDistribution::cdf(const Parameter& value) const {
  return turned(transforms, base_.held->cdf(undone(transforms, as_value(value))));
}
Variable TransformedDistribution::icdf(const Parameter& probability) const {
  return applied(transforms, base_.held->icdf(turned(transforms, as_value(probability))));
}

// ---- LogisticNormal ----
LogisticNormal::LogisticNormal(const Normal& numbers)
    : TransformedDistribution(AnyDistribution(numbers), Transforms{StickBreakingTransform()}),
      loc(numbers.loc),
      scale(numbers.scale) {}
LogisticNormal LogisticNormal::expand(const Shape& batch) const {
  return {expanded(loc, batch, 1), expanded(scale, batch, 1)};
}

// ---- MixtureSameFamily ----
namespace {
// x with an axis of length 1 for the components, before the axes of the event.
Variable with_components(const Variable& x, int event_axes) { return autograd::expand_dims(x, x.ndim() - event_axes); }
// The mixture in the batch of the components.
Categorical mixed(const Categorical& mixture, const Shape& components) {
  const std::int64_t number = mixture.probs.shape()[mixture.probs.ndim() - 1];
  catena::check<catena::ValueError>(!components.empty() && components[components.size() - 1] == number,
                                    "MixtureSameFamily", "the batch of the components is ", components,
                                    "; its last axis is that of the ", number, " classes of the mixture");
  const Shape batch = without_last(components), &own = mixture.batch_shape();
  catena::check<catena::ValueError>(catena::broadcast_shapes("MixtureSameFamily", own, batch) == batch,
                                    "MixtureSameFamily", "the batch of the mixture is ", own,
                                    "; that of the components without their last axis is ", batch);
  return mixture.expand(batch);
}
}  // namespace
MixtureSameFamily::MixtureSameFamily(const Categorical& mixture, AnyDistribution components)
    : Distribution(components.held->batch_shape().empty() ? Shape{} : without_last(components.held->batch_shape()),
                   components.held->event_shape()),
      mixture_(mixed(mixture, components.held->batch_shape())),
      components_(std::move(components)) {}
Variable MixtureSameFamily::as_value(const Parameter& value) const { return components_.held->as_value(value); }
MixtureSameFamily MixtureSameFamily::expand(const Shape& batch) const {
  const Shape& components = components_.held->batch_shape();
  return {mixture_.expand(batch), components_.expand(extended(batch, last_of(components, 1, {})))};
}
Variable MixtureSameFamily::log_prob(const Parameter& value) const {
  const Variable x = with_components(as_value(value), event_shape().size()), each = components_.held->log_prob(x);
  const Variable terms = each + in_dtype(mixture_.logits, each.dtype());
  return autograd::logsumexp(terms, catena::Axes{terms.ndim() - 1});
}
namespace {
// The sum of values of the components, which `event_axes` axes follow, with their probabilities.
Variable weighted(const Categorical& mixture, const Variable& values, int event_axes) {
  Variable weights = in_dtype(mixture.probs, values.dtype());
  for (int k = 0; k < event_axes; ++k) weights = autograd::expand_dims(weights, weights.ndim());
  const Variable terms = weights * values;
  return autograd::sum(terms, terms.ndim() - 1 - event_axes);
}
}  // namespace
Variable MixtureSameFamily::cdf(const Parameter& value) const {
  return weighted(mixture_, components_.held->cdf(with_components(as_value(value), 0)), 0);
}
Variable MixtureSameFamily::mean() const { return weighted(mixture_, components_.held->mean(), event_shape().size()); }
Variable MixtureSameFamily::variance() const {
  const int events = event_shape().size();
  const Variable distance = components_.held->mean() - with_components(mean(), events);
  return weighted(mixture_, components_.held->variance() + autograd::square(distance), events);
}
Variable MixtureSameFamily::draw(const Shape& shape) const {
  const int events = event_shape().size();
  const Variable all = components_.held->sample(shape);
  Variable chosen =
      autograd::one_hot(mixture_.sample(shape), all.shape()[all.ndim() - 1 - events], autograd::Dtype::bool_);
  for (int k = 0; k < events; ++k) chosen = autograd::expand_dims(chosen, chosen.ndim());
  return autograd::sum(autograd::where(chosen, all, 0.0), all.ndim() - 1 - events);
}

}  // namespace nn::distributions
