"""torch.distributions: log_prob, moments, distribution functions and divergences, and transforms."""
import numpy as np
import torch
import torch.distributions as D

from make_torch_fixture import spread

NARROW = dict(float64=[1e-9, 1e-7], float32=[2e-4, 2e-3])


def numbers(low, high, seed=0, shape=(2, 3)):
    return spread(shape, low, high, seed)


def counts(high, seed=0, shape=(2, 3)):
    return np.floor(spread(shape, 0, high + 1, seed))


def positive(*names):
    return {n: numbers(0.5, 3, k + 1, (2, 3) if k == 0 else (3,)) for k, n in enumerate(names)}


def located(**more):
    return dict(loc=numbers(-1, 1, 1), scale=numbers(0.5, 2, 2, (3,)), **more)


def one_hot(classes, number, seed):
    return np.eye(classes)[np.random.RandomState(seed).randint(0, classes, number)]


def simplex(shape, seed):
    x = spread(shape, 0.1, 1, seed)
    return x / x.sum(-1, keepdims=True)


PROBS, LOGITS = dict(probs=numbers(0.1, 0.9, 3)), dict(logits=numbers(-2, 2, 4))
CLASSES, CLASS_LOGITS = dict(probs=numbers(0.1, 1, 5)), dict(logits=numbers(-2, 2, 6))
REALS, ABOVE, UNIT = numbers(-2, 2, 7), numbers(0.1, 3, 8), numbers(0.05, 0.95, 9)

# name: (constructor of tensors, its parameters, values of log_prob)
FAMILIES = {
    'Normal': (D.Normal, located(), REALS),
    'Laplace': (D.Laplace, located(), REALS),
    'Uniform': (D.Uniform, dict(low=numbers(-3, -2.1, 1), high=numbers(2.1, 3, 2, (3,))), REALS),
    'Exponential': (D.Exponential, positive('rate'), ABOVE),
    'Bernoulli': (D.Bernoulli, PROBS, counts(1)),
    'BernoulliLogits': (lambda x: D.Bernoulli(logits=x), LOGITS, counts(1)),
    'Categorical': (D.Categorical, CLASSES, np.array([2, 0])),
    'CategoricalLogits': (lambda x: D.Categorical(logits=x), CLASS_LOGITS, np.array([1, 2])),
    'Gamma': (D.Gamma, dict(concentration=numbers(1.1, 4, 1), rate=numbers(0.5, 2, 2, (3,))), ABOVE),
    'Beta': (D.Beta, dict(a=numbers(1.1, 3, 1), b=numbers(1.1, 3, 2)), UNIT),
    'Dirichlet': (D.Dirichlet, dict(concentration=numbers(1.1, 3, 1)), simplex((2, 3), 2)),
    'Poisson': (D.Poisson, positive('rate'), counts(5)),
    'LogNormal': (D.LogNormal, located(), ABOVE),
    'Cauchy': (D.Cauchy, located(), REALS),
    'Gumbel': (D.Gumbel, located(), REALS),
    'HalfNormal': (D.HalfNormal, positive('scale'), ABOVE),
    'HalfCauchy': (D.HalfCauchy, positive('scale'), ABOVE),
    'StudentT': (D.StudentT, located() | dict(df=numbers(2.5, 6, 3)), REALS),
    'Pareto': (D.Pareto, dict(scale=numbers(0.5, 1, 1), alpha=numbers(2.5, 4, 2, (3,))), numbers(1.1, 3, 3)),
    'GeneralizedPareto': (D.GeneralizedPareto, located() | dict(concentration=numbers(0.05, 0.4, 3)), numbers(1.1, 3, 4)),
    'Weibull': (D.Weibull, dict(scale=numbers(0.5, 2, 1), concentration=numbers(1.2, 3, 2, (3,))), ABOVE),
    'Kumaraswamy': (D.Kumaraswamy, positive('a', 'b'), UNIT),
    'ContinuousBernoulli': (D.ContinuousBernoulli, dict(probs=np.array([0.1, 0.3, 0.4995, 0.8])), numbers(0.1, 0.9, 1, (4,))),
    'VonMises': (D.VonMises, dict(loc=numbers(-1, 1, 1), concentration=numbers(0.5, 4, 2)), REALS),
    'Chi2': (D.Chi2, dict(df=numbers(2.5, 5, 1)), ABOVE),
    'InverseGamma': (D.InverseGamma, dict(concentration=numbers(2.5, 4, 1), rate=numbers(0.5, 2, 2, (3,))), ABOVE),
    'FisherSnedecor': (D.FisherSnedecor, dict(df1=numbers(2.5, 5, 1), df2=numbers(4.5, 7, 2)), ABOVE),
    'Geometric': (D.Geometric, PROBS, counts(4)),
    'GeometricLogits': (lambda x: D.Geometric(logits=x), LOGITS, counts(4)),
    'Binomial': (lambda p: D.Binomial(7, p), PROBS, counts(7)),
    'BinomialLogits': (lambda x: D.Binomial(7, logits=x), LOGITS, counts(7)),
    'NegativeBinomial': (D.NegativeBinomial, dict(total_count=numbers(1.5, 5, 1)) | PROBS, counts(6)),
    'Multinomial': (lambda p: D.Multinomial(5, p), CLASSES, np.array([[1., 0, 4], [2, 2, 1]])),
    'MultinomialLogits': (lambda x: D.Multinomial(5, logits=x), CLASS_LOGITS, np.array([[1., 0, 4], [2, 2, 1]])),
    'OneHotCategorical': (D.OneHotCategorical, CLASSES, one_hot(3, 2, 1)),
    'RelaxedBernoulli': (D.RelaxedBernoulli, dict(temperature=np.array(0.7)) | PROBS, UNIT),
    'RelaxedBernoulliLogits': (lambda t, x: D.RelaxedBernoulli(t, logits=x), dict(temperature=np.array(2.)) | LOGITS, UNIT),
    'RelaxedOneHotCategorical': (D.RelaxedOneHotCategorical, dict(temperature=np.array(0.7)) | CLASSES, simplex((2, 3), 3)),
    'LogisticNormal': (D.LogisticNormal, located(), simplex((2, 4), 4)),
    'LowRankMultivariateNormal': (D.LowRankMultivariateNormal, dict(
        loc=numbers(-1, 1, 1), factor=numbers(-1, 1, 2, (3, 2)), diagonal=numbers(0.5, 2, 3, (3,))), REALS),
    'Wishart': (lambda df, a: D.Wishart(df, a @ a.mT + torch.eye(3)), dict(
        df=numbers(3.5, 6, 1, (2,)), root=numbers(-1, 1, 2, (3, 3))), np.stack([np.eye(3) * 1.5 + 0.25, np.eye(3) + 0.1])),
    'LKJCholesky': (lambda c: D.LKJCholesky(3, c), dict(concentration=numbers(0.5, 3, 1, (2,))),
                    np.linalg.cholesky(np.eye(3) * 0.7 + 0.3)),
    'Squashed': (lambda m, s: D.TransformedDistribution(D.Normal(m, s), [D.AffineTransform(0.5, -2), D.TanhTransform()]),
                 located(), numbers(-0.9, 0.9, 5)),
    'Mixture': (lambda w, m, s: D.MixtureSameFamily(D.Categorical(logits=w), D.Normal(m, s)),
                dict(weights=numbers(-1, 1, 5, (3,))) | located(), numbers(-2, 2, 6, (2,))),
    'VectorMixture': (lambda w, m: D.MixtureSameFamily(D.Categorical(logits=w), D.Independent(D.Laplace(m, 1.), 1)),
                      dict(weights=numbers(-1, 1, 5, (2,)), loc=numbers(-1, 1, 1)), numbers(-2, 2, 6, (4, 3))),
}
DIVERGENCES = ('Normal', 'Laplace', 'Exponential', 'Bernoulli', 'Categorical', 'Gamma', 'Beta', 'Dirichlet', 'Poisson',
               'LogNormal', 'Cauchy', 'Gumbel', 'HalfNormal', 'ContinuousBernoulli', 'Geometric', 'Binomial',
               'OneHotCategorical', 'LowRankMultivariateNormal')
TRANSFORMS = {
    'Affine': (D.AffineTransform(0.5, torch.tensor([2., -1, 0.5], dtype=torch.float64)), REALS),
    'AffineEvent': (D.AffineTransform(0.5, -2., event_dim=1), REALS),
    'Exp': (D.ExpTransform(), REALS),
    'Sigmoid': (D.SigmoidTransform(), REALS),
    'Tanh': (D.TanhTransform(), REALS),
    'Softplus': (D.SoftplusTransform(), REALS),
    'Power': (D.PowerTransform(1.5), ABOVE),
    'StickBreaking': (D.StickBreakingTransform(), REALS),
    'CorrCholesky': (D.CorrCholeskyTransform(), numbers(-1, 1, 1, (2, 6))),
    'Compose': (D.ComposeTransform([D.AffineTransform(0.25, 0.5), D.StickBreakingTransform()]), REALS),
    'ComposeInverse': (D.ComposeTransform([D.ExpTransform(), D.PowerTransform(2.)]).inv, ABOVE),
    'Independent': (D.IndependentTransform(D.TanhTransform(), 1), REALS),
    'Reshape': (D.ReshapeTransform((3,), (3, 1)), REALS),
    'Stack': (D.StackTransform([D.ExpTransform(), D.AffineTransform(1., 2.), D.TanhTransform()], 1), REALS),
    'Cat': (D.CatTransform([D.ExpTransform(), D.TanhTransform()], 1, [2, 1]), REALS),
    'Cumulative': (D.CumulativeDistributionTransform(D.Normal(0.5, 2.)), REALS),
}
MAPS = {'Softmax': D.SoftmaxTransform(), 'LowerCholesky': D.LowerCholeskyTransform(),
        'PositiveDefinite': D.PositiveDefiniteTransform(), 'Abs': D.AbsTransform()}


def has(run, inputs):
    try:
        run(*(torch.tensor(v) for v in inputs.values()))
        return True
    except NotImplementedError:
        return False


def add_family(writer, name, make, parameters, values):
    n = len(parameters)
    # PyTorch's Bessel functions are polynomials of the accuracy of float32.
    tolerance = dict(float64=[1e-6, 1e-5], float32=NARROW['float32']) if name == 'VonMises' else NARROW
    with_value = parameters | dict(value=values)
    writer.add(name + '.log_prob', lambda *x: make(*x[:n]).log_prob(x[n]), with_value, tolerance=tolerance)
    for what in ('entropy', 'mean', 'variance', 'stddev', 'mode'):
        run = (lambda *x: make(*x).entropy()) if what == 'entropy' else (lambda *x: getattr(make(*x), what))
        if name == 'Kumaraswamy' and what == 'mode' or not has(run, parameters):
            continue
        if torch.isfinite(run(*(torch.tensor(v) for v in parameters.values()))).all():
            writer.add(name + '.' + what, run, parameters, tolerance=tolerance, gradient=what != 'mode')
    if has(lambda *x: make(*x[:n]).cdf(x[n]), with_value):
        writer.add(name + '.cdf', lambda *x: make(*x[:n]).cdf(x[n]), with_value, tolerance=tolerance,
                   gradient=name not in ('Gamma', 'Chi2', 'InverseGamma'))
    with_probability = parameters | dict(value=UNIT[:, :1] if name != 'ContinuousBernoulli' else UNIT[:1, :1])
    if has(lambda *x: make(*x[:n]).icdf(x[n]), with_probability):
        writer.add(name + '.icdf', lambda *x: make(*x[:n]).icdf(x[n]), with_probability, tolerance=tolerance)


def cases(writer):
    writer.unused = 'none'
    D.Distribution.set_default_validate_args(False)
    torch.set_default_dtype(torch.float64)  # GeneralizedPareto compares with a number of the default dtype
    try:
        all_cases(writer)
    finally:
        torch.set_default_dtype(torch.float32)


def all_cases(writer):
    for name, (make, parameters, values) in FAMILIES.items():
        if name == 'StudentT':
            make = lambda loc, scale, df: D.StudentT(df, loc, scale)
        add_family(writer, name, make, parameters, values)
    for name in DIVERGENCES:
        make, parameters, _ = FAMILIES[name]
        n = len(parameters)
        other = {'other_' + k: v[::-1].copy() * 0.75 for k, v in parameters.items()}
        writer.add(name + '.kl_divergence', lambda *x: D.kl_divergence(make(*x[:n]), make(*x[n:])), parameters | other,
                   tolerance=NARROW)
    for name, (t, x) in TRANSFORMS.items():
        writer.add(name + 'Transform.forward', t, {'x': x}, tolerance=NARROW)
        y = t(torch.tensor(x)).numpy(force=True)
        writer.add(name + 'Transform.inverse', t.inv, {'y': y}, dtypes=('float64',), tolerance=NARROW)
        writer.add(name + 'Transform.jacobian', lambda x: t.log_abs_det_jacobian(x, t(x)), {'x': x}, tolerance=NARROW)
    for name, t in MAPS.items():
        writer.add(name + 'Transform.forward', t, {'x': numbers(-1, 1, 1, (2, 3, 3))}, tolerance=NARROW)
