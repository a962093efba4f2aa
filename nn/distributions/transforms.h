// Transforms of torch.distributions: functions with their inverses and with the logarithms of their derivatives, and
// distributions of their values.
//
//   const D::TransformedDistribution squashed(D::Normal(mu, sigma), {D::AffineTransform(0, 2), D::TanhTransform()});
//   auto action = squashed.rsample(), log_p = squashed.log_prob(action);
//
// Every transform is an object of the class Transform; the others have constructors alone. One's own is made of
// functions:
//   const D::Transform cube({.forward = [](const Variable& x) { return x * x * x; }, .inverse = ..., ...});
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/distributions/distributions.h>

namespace nn::distributions {

class Transform;
using Transforms = std::vector<Transform>;

// The functions of a transform. A transform without one of them throws NotImplementedError where it is needed.
struct TransformRule {
  catena::Function<Variable(const Variable&x)> forward = {}, inverse = {};
  // log(|dy / dx|), summed over the axes of an event of the domain.
  catena::Function<Variable(const Variable& x, const Variable& y)> log_abs_det_jacobian = {};
  // How many last axes of x and of y belong together.
  int domain_event_dim = 0, codomain_event_dim = 0;
  // 1 or -1 where y increases or decreases with x; else 0, and cdf has no value.
  Parameter sign = 0;
  // The shapes of y and of x from the other one, if they differ.
  catena::Function<Shape(const Shape&)> forward_shape = {}, inverse_shape = {};
  bool bijective = true;
};
class CATENA_EXPORT Transform {
 public:
  explicit Transform(TransformRule rule);
  Variable operator()(const Variable& x) const;
  Variable inv(const Variable& y) const;
  Transform inv() const;  // the inverse as a transform
  Variable log_abs_det_jacobian(const Variable& x, const Variable& y) const;
  Shape forward_shape(const Shape&shape) const, inverse_shape(const Shape&shape) const;
  bool bijective() const { return rule_->bijective; }
  const TransformRule& rule() const { return *rule_; }

 private:
  catena::Shared<const TransformRule> rule_;
};

struct AffineOptions {
  Parameter loc = 0, scale = 1;
  int event_dim = 0;
};
// loc + scale x.
class CATENA_EXPORT AffineTransform : public Transform {
 public:
  AffineTransform(const Parameter& loc, const Parameter& scale, int event_dim = 0);
  template <std::same_as<AffineOptions> O = AffineOptions>
  explicit AffineTransform(const O& o) : AffineTransform(o.loc, o.scale, o.event_dim) {}
};
// exp(x).
class CATENA_EXPORT ExpTransform : public Transform {
 public:
  ExpTransform();
};
// 1 / (1 + exp(-x)), at least the least normal number and below 1, as the dtype has them.
class CATENA_EXPORT SigmoidTransform : public Transform {
 public:
  SigmoidTransform();
};
// tanh(x).
class CATENA_EXPORT TanhTransform : public Transform {
 public:
  TanhTransform();
};
// log(1 + exp(x)).
class CATENA_EXPORT SoftplusTransform : public Transform {
 public:
  SoftplusTransform();
};
// x^exponent for x > 0.
class CATENA_EXPORT PowerTransform : public Transform {
 public:
  explicit PowerTransform(const Parameter& exponent);
};
// |x|. It is not bijective; inv gives y.
class CATENA_EXPORT AbsTransform : public Transform {
 public:
  AbsTransform();
};
// softmax of the last axis. It is not bijective; inv gives log(y).
class CATENA_EXPORT SoftmaxTransform : public Transform {
 public:
  SoftmaxTransform();
};
// Vectors of K numbers to K + 1 probabilities: each takes the part sigmoid(x_k - log(K - k)) of what the ones before it
// have left.
class CATENA_EXPORT StickBreakingTransform : public Transform {
 public:
  StickBreakingTransform();
};
// Square matrices to lower triangular ones with exp of the diagonal; it is not bijective.
class CATENA_EXPORT LowerCholeskyTransform : public Transform {
 public:
  LowerCholeskyTransform();
};
// Square matrices to positive definite ones: L L^T of LowerCholeskyTransform.
class CATENA_EXPORT PositiveDefiniteTransform : public Transform {
 public:
  PositiveDefiniteTransform();
};
// Vectors of D (D - 1) / 2 numbers to the Cholesky factors (D, D) of correlation matrices. (Stan's manual,
// "Cholesky factors of correlation matrices".)
class CATENA_EXPORT CorrCholeskyTransform : public Transform {
 public:
  CorrCholeskyTransform();
};
// cdf of a distribution of numbers; inv is its icdf.
class CATENA_EXPORT CumulativeDistributionTransform : public Transform {
 public:
  template <std::derived_from<Distribution> D>
  explicit CumulativeDistributionTransform(const D& distribution)
      : CumulativeDistributionTransform(catena::Shared<const Distribution>(catena::Shared<D>::make(distribution))) {}

 private:
  explicit CumulativeDistributionTransform(catena::Shared<const Distribution> distribution);
};
// The transforms of a list one after another; none is the identity.
class CATENA_EXPORT ComposeTransform : public Transform {
 public:
  explicit ComposeTransform(const Transforms& parts);
};
// A transform of which the last n axes more belong to one event.
class CATENA_EXPORT IndependentTransform : public Transform {
 public:
  IndependentTransform(const Transform& base, int reinterpreted_batch_ndims);
};
// The last axes of the lengths in_shape become those of out_shape. ValueError for different numbers of elements.
class CATENA_EXPORT ReshapeTransform : public Transform {
 public:
  ReshapeTransform(const Shape& in_shape, const Shape& out_shape);
};
// One transform for each element along an axis, which gets the element without that axis. ValueError for an axis of
// another length, and for transforms of events of different numbers of axes.
class CATENA_EXPORT StackTransform : public Transform {
 public:
  explicit StackTransform(const Transforms& parts, int dim = 0);
};
// One transform of numbers for each of the parts of an axis, whose lengths are 1 if none are given. ValueError for an
// axis of another length.
class CATENA_EXPORT CatTransform : public Transform {
 public:
  explicit CatTransform(const Transforms& parts, int dim = 0, const std::vector<std::int64_t>& lengths = {});
};

namespace internal {
// Any distribution, and how to expand it.
struct AnyDistribution {
  template <std::derived_from<Distribution> D>
  AnyDistribution(const D& d)
      : held(catena::Shared<const Distribution>(catena::Shared<D>::make(d))),
        expand([d](const Shape& batch) { return AnyDistribution(d.expand(batch)); }) {}
  catena::Shared<const Distribution> held;
  catena::Function<AnyDistribution(const Shape&)> expand;
};
}  // namespace internal

// The distribution of transforms, one after another, of the samples of `base`. entropy, mean and variance have no
// formula (NotImplementedError).
class CATENA_EXPORT TransformedDistribution : public Distribution {
 public:
  template <std::derived_from<Distribution> D>
  TransformedDistribution(const D& base, const Transforms& list, const ValidateArgs& = {})
      : TransformedDistribution(internal::AnyDistribution(base), list) {}
  template <std::derived_from<Distribution> D>
  TransformedDistribution(const D& base, const Transform& one, const ValidateArgs& = {})
      : TransformedDistribution(internal::AnyDistribution(base), Transforms{one}) {}
  TransformedDistribution expand(const Shape& batch) const;
  Variable rsample(const Shape& shape = {}) const override;
  Variable log_prob(const Parameter& value) const override;
  Variable cdf(const Parameter&value) const override, icdf(const Parameter&probability) const override;
  Variable as_value(const Parameter& value) const override;
  const Distribution& base_dist() const { return *base_.held; }
  Transforms transforms;

 protected:
  Variable draw(const Shape& shape) const override;
  TransformedDistribution(internal::AnyDistribution base, const Transforms& list);

 private:
  struct Shapes {
    Shape base_batch, batch, event;
  };
  static Shapes shapes_of(const Distribution& base, const Transforms& list);
  TransformedDistribution(internal::AnyDistribution base, const Transforms& list, const Shapes& shapes);
  Variable forward(Variable x) const;
  internal::AnyDistribution base_;
};

// Vectors of K + 1 probabilities: StickBreakingTransform of K numbers of Normal(loc, scale), the last axis of which is
// one event.
class CATENA_EXPORT LogisticNormal : public TransformedDistribution {
 public:
  LogisticNormal(const Parameter& location, const Parameter& deviation, const ValidateArgs& = {})
      : LogisticNormal(Normal(location, deviation)) {}
  template <std::same_as<LocationScale> O = LocationScale>
  explicit LogisticNormal(const O& o) : LogisticNormal(Normal(o.loc, o.scale)) {}
  LogisticNormal expand(const Shape& batch) const;
  Variable loc, scale;

 private:
  explicit LogisticNormal(const Normal& numbers);
};

// A mixture of the elements along the last axis of the batch of `components`, chosen by the Categorical `mixture`.
// ValueError unless both have the same number of them and the batch of the mixture broadcasts to that of the components
// without its last axis. Samples have no derivatives.
class CATENA_EXPORT MixtureSameFamily : public Distribution {
 public:
  template <std::derived_from<Distribution> D>
  MixtureSameFamily(const Categorical& mixture, const D& components, const ValidateArgs& = {})
      : MixtureSameFamily(mixture, internal::AnyDistribution(components)) {}
  MixtureSameFamily expand(const Shape& batch) const;
  Variable log_prob(const Parameter& value) const override;
  Variable mean() const override, variance() const override;
  Variable cdf(const Parameter& value) const override;
  Variable as_value(const Parameter& value) const override;
  const Categorical& mixture_distribution() const { return mixture_; }
  const Distribution& component_distribution() const { return *components_.held; }

 protected:
  Variable draw(const Shape& shape) const override;

 private:
  MixtureSameFamily(const Categorical& mixture, internal::AnyDistribution components);
  Categorical mixture_;
  internal::AnyDistribution components_;
};

// The module of the transforms, and that of kl_divergence.
namespace transforms {
using distributions::AbsTransform, distributions::AffineTransform, distributions::CatTransform,
    distributions::ComposeTransform, distributions::CorrCholeskyTransform,
    distributions::CumulativeDistributionTransform, distributions::ExpTransform, distributions::IndependentTransform,
    distributions::LowerCholeskyTransform, distributions::PositiveDefiniteTransform, distributions::PowerTransform,
    distributions::ReshapeTransform, distributions::SigmoidTransform, distributions::SoftmaxTransform,
    distributions::SoftplusTransform, distributions::StackTransform, distributions::StickBreakingTransform,
    distributions::TanhTransform, distributions::Transform;
}
namespace kl {
using distributions::kl_divergence;
}

}  // namespace nn::distributions
