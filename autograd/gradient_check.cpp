#include <catena/autograd/gradient_check.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/random_state.h>
#include <catena/autograd/testing.h>

namespace autograd::gradient_check {
namespace {

// Sets one element of an array to other values; restores it at the end.
class Element {
 public:
  Element(const Array& a, std::int64_t index) {
    std::int64_t offset = 0;
    for (int axis = a.ndim() - 1; axis >= 0; --axis) {
      offset += index % a.shape(axis) * a.strides()[axis];
      index /= a.shape(axis);
    }
    view_ = a.backend().view(a, Shape{}, Strides{}, offset);
    value_ = item(view_);
  }
  ~Element() { fill(view_, value_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  void move(double by) { fill(view_, value_.to_double() + by); }

 private:
  Array view_;
  Scalar value_;
};

double weighted_difference(const std::vector<std::vector<double>>& plus, const std::vector<std::vector<double>>& minus,
                           const std::vector<std::vector<double>>& weights) {
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k)
    for (std::size_t i = 0; i < weights[k].size(); ++i) sum += (plus[k][i] - minus[k][i]) * weights[k][i];
  return sum;
}

// The unit of rounding of values of this dtype, relative to them.
double rounding_of(Dtype t) {
  if (!catena::is_floating(t) || t == Dtype::float64) return 0x1p-52;
  return t == Dtype::float32 ? 0x1p-23 : t == Dtype::float16 ? 0x1p-10 : 0x1p-7;
}

// Throws if the values of an output at -1, -1/2, 0, 1/2 and 1 steps are not on a parabola: the third and fourth
// differences of one vanish.
void check_smooth(const std::vector<double>& y, double rounding, const Detection& d) {
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  const bool finite = std::isfinite(*low) && std::isfinite(*high);
  const double third = y[4] - 2 * y[3] + 2 * y[1] - y[0], fourth = y[4] - 4 * y[3] + 6 * y[2] - 4 * y[1] + y[0];
  const double tolerance =
      d.diff_atol + d.diff_rtol * (*high - *low) + 16 * rounding * std::max(std::abs(*low), std::abs(*high));
  if (finite && std::max(std::abs(third), std::abs(fourth)) <= tolerance) return;
  throw NondifferentiableError(catena::concat("numerical_grad: an output has the values ", y[0], ", ", y[1], ", ", y[2],
                                              ", ", y[3], ", ", y[4],
                                              " around this point, where it has no derivative"));
}

// points[i][k][e]: the element e of output k at the i-th of these steps.
void check_all_smooth(const std::vector<std::vector<std::vector<double>>>& points, const std::vector<double>& rounding,
                      const Detection& d) {
  for (std::size_t k = 0; k < points[0].size(); ++k)
    for (std::size_t e = 0; e < points[0][k].size(); ++e) {
      std::vector<double> y;
      for (const auto& point : points) y.push_back(point[k][e]);
      check_smooth(y, rounding[k], d);
    }
}

std::vector<std::vector<double>> host_values(const Arrays& arrays) {
  std::vector<std::vector<double>> v;
  for (const Array& a : arrays) v.push_back(a ? to_vector<double>(a) : std::vector<double>());
  return v;
}

}  // namespace

Arrays internal::numerical_grad(const catena::Function<Arrays()>& f, const Arrays& inputs, const Arrays& grad_outputs,
                                double eps, const Detection& detection) {
  catena::check<catena::AssertionError>(eps > 0, "numerical_grad", "eps is ", eps, " and must be positive");
  const Array* first = nullptr;
  for (const Arrays* list : {&inputs, &grad_outputs})
    for (const Array& a : *list) {
      if (!a) continue;
      if (first == nullptr) first = &a;
      catena::check<catena::RuntimeError>(a->owner == (*first)->owner && a.device().kind == first->device().kind,
                                          "numerical_grad", "arrays on ", first->device(), " and on ", a.device(),
                                          " are mixed");
    }
  const TypeCheckMode unchecked = type_check_mode(false);
  const RandomState random;
  std::vector<double> rounding;  // of the outputs
  const auto evaluate = [&] {
    random.restore();
    const Arrays outputs = f();
    rounding.clear();
    for (const Array& a : outputs) rounding.push_back(a ? rounding_of(a.dtype()) : 0);
    return host_values(outputs);
  };
  const std::vector<std::vector<double>> weights = host_values(grad_outputs);
  Arrays grads;
  for (const Array& x : inputs) {
    std::vector<double> g(static_cast<std::size_t>(x.size()));
    for (std::int64_t i = 0; i < x.size(); ++i) {
      Element element(x, i);
      element.move(eps);
      const auto plus = evaluate();
      element.move(-eps);
      const auto minus = evaluate();
      if (detection.detect_nondifferentiable) {
        std::vector<std::vector<std::vector<double>>> points{minus};
        for (const double step : {-eps / 2, 0.0, eps / 2}) {
          element.move(step);
          points.push_back(evaluate());
        }
        points.push_back(plus);
        check_all_smooth(points, rounding, detection);
      }
      catena::check<catena::ValueError>(plus.size() == weights.size(), "numerical_grad", grad_outputs.size(),
                                        " grad_outputs for ", plus.size(), " outputs");
      g[std::size_t(i)] = weighted_difference(plus, minus, weights) / (2 * eps);
    }
    grads.push_back(x.backend().from_host(g.data(), x.shape(), Dtype::float64, x.device()));
    if (catena::is_floating(x.dtype())) grads.back() = astype(grads.back(), x.dtype());
  }
  return grads;
}

namespace internal {
namespace {

void compare(const char* check, const std::string& what, const Array& analytic, const Array& numeric,
             const Options& o) {
  try {
    testing::assert_allclose(analytic, numeric, o.atol, o.rtol);
  } catch (const catena::AssertionError& e) {
    catena::fail<catena::AssertionError>(check, "the gradient of ", what, " is wrong (x: backward, y: numerical)\n",
                                         e.what());
  }
}

std::vector<bool> skipped_inputs(const char* check, const Arrays& x, const Options& o) {
  if (o.no_grads.empty()) {
    std::vector<bool> skip;
    for (const Array& a : x) skip.push_back(!catena::is_floating(a.dtype()));
    return skip;
  }
  catena::check<catena::ValueError>(o.no_grads.size() == x.size(), check, "no_grads has ", o.no_grads.size(),
                                    " entries for ", x.size(), " inputs");
  return o.no_grads;
}

Arrays data_of(const Variables& v) {
  Arrays a;
  for (const Variable& y : v) a.push_back(y.data());
  return a;
}

// Passes all outputs through one node and sets their gradients, so that one backward call reaches all of them.
Variables joined_outputs(const char* check, const Variables& ys, Arrays& gy) {
  const Variables joined = identity(ys);
  if (gy.empty()) {
    catena::check<catena::ValueError>(joined.size() == 1, check, "func returned ", joined.size(),
                                      " outputs and no y_grad is given");
    catena::check<catena::ValueError>(joined[0].size() == 1, check, "the output has shape ", joined[0].shape(),
                                      " and no y_grad is given");
    gy.push_back(ones_like(joined[0].data()));
  }
  catena::check<catena::ValueError>(joined.size() == gy.size(), check, gy.size(), " y_grad for ", joined.size(),
                                    " outputs");
  for (std::size_t k = 0; k < gy.size(); ++k) Variable(joined[k]).set_grad(gy[k]);
  return joined;
}

// Compares the derivative in a random direction of unit length, by the gradients and by differences.
void check_direction(const catena::Function<Arrays()>& f, const Arrays& inputs, const Arrays& gradients,
                     const Arrays& gy, const Options& o) {
  Arrays origin, direction;
  double squares = 0;
  for (const Array& a : inputs) {
    origin.push_back(astype(a, Dtype::float64));
    if (origin.back().get() == a.get()) origin.back() = copy(a);
    direction.push_back(random_normal(a.shape(), 0, 1, Dtype::float64, default_generator(), a.device()));
    for (const double d : to_vector<double>(direction.back())) squares += d * d;
  }
  double analytic = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    direction[i] = direction[i] * (squares > 0 ? 1 / std::sqrt(squares) : 0.0);
    if (gradients[i]) analytic += item(sum(astype(gradients[i], Dtype::float64) * direction[i])).to_double();
  }
  const Array step = arrays::zeros({}, Dtype::float64, inputs.empty() ? Device() : inputs[0].device());
  struct Restore {
    const Arrays &to, &from;
    ~Restore() {
      for (std::size_t i = 0; i < to.size(); ++i) assign(to[i], from[i]);
    }
  } const restore{inputs, origin};
  const auto along = [&] {
    const double t = item(step).to_double();
    for (std::size_t i = 0; i < inputs.size(); ++i) assign(inputs[i], origin[i] + direction[i] * t);
    return f();
  };
  const Array numeric = numerical_grad(along, {step}, gy, o.eps, o.detection)[0];
  compare("check_backward", "a random direction", full_like(numeric, analytic), numeric, o);
}

}  // namespace

void check_backward(const Call& f, const Arrays& x, const Arrays& gy_given, const Options& o, bool absent_is_zero) {
  const char* check = "check_backward";
  if (o.dtype) {
    catena::check<catena::ValueError>(catena::is_floating(*o.dtype), check, "dtype is ", *o.dtype,
                                      " and must be floating");
    catena::check<catena::ValueError>(o.params.empty(), check, "dtype is only available when params is empty");
  }
  const std::vector<bool> skip = skipped_inputs(check, x, o);

  const RandomState random;
  Variables xs;
  for (const Array& a : x) xs.push_back(Variable(a));
  for (Variable p : o.params) p.cleargrad();
  Arrays gy = gy_given;
  {
    // handles of all outputs: a destroyed output would lose its gradient
    Variables ys = joined_outputs(check, f(xs), gy);
    ys[0].backward();
  }

  // The numerical side perturbs the compared floating inputs, converted to options.dtype if given, and the parameters
  // themselves.
  Arrays moved = x, perturbed;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (o.dtype && catena::is_floating(x[i].dtype())) moved[i] = astype(x[i], *o.dtype);
    if (moved[i].get() == x[i].get() || !moved[i].is_c_contiguous()) moved[i] = copy(moved[i]);
    if (!skip[i]) perturbed.push_back(moved[i]);
  }
  for (const Variable& p : o.params) perturbed.push_back(p.data());
  const auto evaluate = [&] {
    Variables in;
    for (const Array& a : moved) in.push_back(Variable(a));
    return data_of(f(in));
  };
  random.restore();
  if (o.directional) {
    Arrays analytic;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!skip[i]) analytic.push_back(xs[i].grad());
    for (const Variable& p : o.params) analytic.push_back(p.grad());
    return check_direction(evaluate, perturbed, analytic, gy, o);
  }
  const Arrays numeric = numerical_grad(evaluate, perturbed, gy, o.eps, o.detection);

  std::size_t next = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Array g = xs[i].grad();
    const std::string what = catena::concat("input ", i);
    if (skip[i]) {
      catena::check<catena::AssertionError>(!g, check, what, " has a gradient and should have none");
      continue;
    }
    const Array& expected = numeric[next++];
    catena::check<catena::AssertionError>(g || absent_is_zero, check, what, " has no gradient");
    compare(check, what, g ? g : zeros_like(x[i]), expected, o);
  }
  for (std::size_t i = 0; i < o.params.size(); ++i) {
    const Array g = o.params[i].grad();
    const std::string what = catena::concat("parameter ", i);
    catena::check<catena::AssertionError>(g || absent_is_zero, check, what, " has no gradient");
    const Array& expected = numeric[next++];
    if (g)
      catena::check<catena::AssertionError>(g.dtype() == expected.dtype(), check, what, " has dtype ", expected.dtype(),
                                            ", its gradient ", g.dtype());
    compare(check, what, g ? g : zeros_like(o.params[i].data()), expected, o);
  }
}

void check_double_backward(const Call& f, const Arrays& x, const Arrays& gy, const Arrays& ggx, const Options& o) {
  const std::vector<bool> skip = skipped_inputs("check_double_backward", x, o);
  catena::check<catena::ValueError>(ggx.size() == x.size(), "check_double_backward", ggx.size(), " x_grad_grad for ",
                                    x.size(), " inputs");
  catena::check<catena::ValueError>(o.params_grad_grad.empty() || o.params_grad_grad.size() == o.params.size(),
                                    "check_double_backward", o.params_grad_grad.size(), " params_grad_grad for ",
                                    o.params.size(), " parameters");
  // Computes the first gradients as a function of the inputs and of the given output gradients.
  std::vector<std::size_t> given;
  Arrays inputs = x, weights;
  Options options = o;
  options.no_grads = skip;
  for (std::size_t k = 0; k < gy.size(); ++k)
    if (gy[k]) {
      given.push_back(k);
      inputs.push_back(gy[k]);
      options.no_grads.push_back(false);
    }
  std::vector<bool> wanted(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) wanted[i] = !skip[i] && ggx[i];
  const auto first = [&](const Variables& in) {
    Variables xs, sources, gys(gy.size()), outputs, output_grads;
    for (std::size_t i = 0; i < x.size(); ++i) xs.push_back(in[i]);
    for (std::size_t j = 0; j < given.size(); ++j) gys[given[j]] = in[x.size() + j];
    const Variables ys = f(xs);
    catena::check<catena::ValueError>(ys.size() == gys.size(), "check_double_backward", gys.size(), " y_grad for ",
                                      ys.size(), " outputs");
    for (std::size_t k = 0; k < ys.size(); ++k)
      if (gys[k]) {
        outputs.push_back(ys[k]);
        output_grads.push_back(gys[k].dtype() == ys[k].dtype() ? gys[k] : cast(gys[k], ys[k].dtype()));
      }
    for (std::size_t i = 0; i < x.size(); ++i)
      if (wanted[i]) sources.push_back(xs[i]);
    for (std::size_t i = 0; i < o.params_grad_grad.size(); ++i)
      if (o.params_grad_grad[i]) sources.push_back(o.params[i]);
    const Variables gx = grad(outputs, sources, output_grads, true);
    Variables result;
    for (std::size_t i = 0; i < gx.size(); ++i)
      result.push_back(gx[i] ? gx[i] : Variable(zeros_like(sources[i].data())));
    return result;
  };
  for (std::size_t i = 0; i < x.size(); ++i)
    if (wanted[i]) weights.push_back(ggx[i]);
  for (const Array& w : o.params_grad_grad)
    if (w) weights.push_back(w);
  check_backward(first, inputs, weights, options, true);
}

}  // namespace internal

void assert_allclose(const Array& x, const Array& y, double atol, double rtol, bool verbose) {
  warn("DeprecationWarning", "gradient_check.assert_allclose is deprecated. Use testing.assert_allclose instead.");
  testing::assert_allclose(x, y, atol, rtol, verbose);
}

}  // namespace autograd::gradient_check

bool autograd::internal::gradcheck(const gradient_check::Call& f, const Variables& inputs, const GradcheckOptions& o,
                                   bool second) {
  const char* op = second ? "gradgradcheck" : "gradcheck";
  Arrays x;
  for (const Variable& v : inputs)
    if (v.requires_grad()) x.push_back(v.data());
  catena::check<catena::ValueError>(!x.empty(), op, "none of the ", inputs.size(), " inputs requires a gradient");
  const gradient_check::Call checked = [&](const Variables& given) {
    Variables all;
    std::size_t at = 0;
    for (const Variable& v : inputs)
      all.push_back(v.requires_grad() ? given[at++] : Variable(v.data(), {.requires_grad = false}));
    return f(all);
  };
  Generator numbers(0);
  const auto weights = [&](const Array& like) {
    return random_normal(like.shape(), 0, 1, like.dtype(), numbers, like.device());
  };
  Arrays gy, ggx;
  {
    const RandomState random;
    Variables xs;
    for (const Array& a : x) xs.push_back(Variable(a));
    for (const Variable& y : checked(xs))
      gy.push_back(catena::is_floating(y.dtype()) && y.requires_grad() ? weights(y.data()) : Array());
    random.restore();
  }
  for (const Array& a : x) ggx.push_back(weights(a));
  const gradient_check::Options options{.eps = o.eps, .atol = o.atol, .rtol = o.rtol, .directional = o.fast_mode};
  try {
    if (second) gradient_check::internal::check_double_backward(checked, x, gy, ggx, options);
    else gradient_check::internal::check_backward(checked, x, gy, options, true);
  } catch (const catena::AssertionError&) {
    if (o.raise_exception) throw;
    return false;
  }
  return true;
}
