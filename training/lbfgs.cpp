#include <catena/training/lbfgs.h>

#include <algorithm>
#include <cmath>

#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/registry/families.h>
#include <catena/training/stored_number.h>

namespace training {

namespace kernels = catena::kernels;
using catena::check;
using catena::RuntimeError;
using catena::ValueError;

namespace {

double number(const Array& a) { return autograd::item(a).to<double>(); }
// 0-d, on the device of the vectors.
Array inner(const Array& a, const Array& b) { return autograd::map_reduce(kernels::sum, kernels::multiply, {a, b}); }
double dot(const Array& a, const Array& b) { return number(inner(a, b)); }
double greatest(const Array& a) { return number(autograd::amax(autograd::apply(kernels::absolute, {a}))); }
double magnitude(const Array& a) { return number(autograd::sum(autograd::apply(kernels::absolute, {a}))); }

}  // namespace

LBFGS::LBFGS(Options options)
    : Optimizer({.name = "LBFGS",
                 .hyper = {{"lr", options.lr}},
                 .no_groups = "a step moves all parameters along one direction"}),
      options_(options) {
  check<ValueError>(options_.max_iter >= 1, "LBFGS", "max_iter is ", options_.max_iter, " and must be at least 1");
  check<ValueError>(options_.history_size >= 1, "LBFGS", "history_size is ", options_.history_size,
                    " and must be at least 1");
  const std::string_view search = options_.line_search_fn == nullptr ? "" : options_.line_search_fn;
  check<ValueError>(search.empty() || search == "strong_wolfe", "LBFGS", "line_search_fn is \"", search,
                    "\" and must be \"strong_wolfe\"");
  options_.strong_wolfe = options_.strong_wolfe || !search.empty();
  options_.line_search_fn = nullptr;
  if (options_.max_eval == 0) options_.max_eval = options_.max_iter * 5 / 4;
}

void LBFGS::update() {
  catena::fail<RuntimeError>("LBFGS", "it computes the loss several times: write optimizer.update(lossfun)");
}

// All gradients as one vector. Parameters that have none count with zeros, as for other optimizers.
Array LBFGS::gradient() const {
  std::vector<Array> parts;
  for (const Variable& p : target().params()) {
    if (!p.data() || !p.requires_grad()) continue;
    const Array g = autograd::reshape(p.grad(), {p.size()});
    parts.push_back(autograd::astype(g, catena::compute_dtype(g.dtype())));
    check<ValueError>(parts.back().device() == parts.front().device(), "LBFGS",
                      "all parameters must be on one device; some are on ", parts.front().device(), ", some on ",
                      parts.back().device());
    if (parts.back().dtype() != parts.front().dtype())
      for (Array& part : parts) part = autograd::astype(part, autograd::Dtype::float64);
  }
  check<ValueError>(!parts.empty(), "LBFGS", "the model has no parameter that can be updated");
  return autograd::concatenate(parts);
}

void LBFGS::move(const Array& direction, double length) {
  std::int64_t at = 0;
  for (const Variable& p : target().params()) {
    if (!p.data() || !p.requires_grad()) continue;
    const Array part = autograd::reshape(autograd::slice(direction, 0, at, at + p.size()), p.shape());
    at += p.size();
    autograd::assign(p.data(), autograd::astype(p.data(), part.dtype()) + part * length);
  }
}

double LBFGS::evaluate(const catena::Function<Variable()>& lossfun) {
  ++evaluations_;
  const Variable loss = lossfun();
  if (!has_own_backward_) {
    target().cleargrads();
    loss.backward();
  }
  prepare();
  reallocate_cleared_grads();
  call_hooks();
  return loss.item<double>();
}

// The direction that the inverse of the approximate Hessian gives, by two passes over the history, whose numbers stay
// on the device.
void LBFGS::update_direction(const Array& g) {
  if (steps_ == 1) {
    direction_ = -g;
    changes_of_gradient_.clear();
    changes_.clear();
    scale_ = 1;
    return;
  }
  const Array y = g - gradient_before_, s = direction_ * length_;
  const double curvature = dot(y, s);
  if (curvature > 1e-10) {
    if (std::int64_t(changes_.size()) == options_.history_size) {
      changes_of_gradient_.erase(changes_of_gradient_.begin());
      changes_.erase(changes_.begin());
    }
    changes_of_gradient_.push_back(y);
    changes_.push_back(s);
    scale_ = curvature / dot(y, y);
  }
  const std::size_t n = changes_.size();
  std::vector<Array> part(n), curvatures(n);
  Array q = -g;
  for (std::size_t i = n; i-- > 0;) {
    curvatures[i] = inner(changes_of_gradient_[i], changes_[i]);
    part[i] = inner(changes_[i], q) / curvatures[i];
    q -= changes_of_gradient_[i] * part[i];
  }
  q *= scale_;
  for (std::size_t i = 0; i < n; ++i) q += changes_[i] * (part[i] - inner(changes_of_gradient_[i], q) / curvatures[i]);
  direction_ = q;
}

double LBFGS::minimize(const catena::Function<Variable()>& lossfun) try {
  check<RuntimeError>(!autograd::is_capturing(), "LBFGS", "it reads numbers from the device and cannot be captured");
  const std::int64_t before = evaluations_;
  const double first = evaluate(lossfun);
  double loss = first;
  Array g = gradient();
  if (greatest(g) <= options_.tolerance_grad) return first;
  for (std::int64_t i = 1; i <= options_.max_iter; ++i) {
    ++steps_;
    update_direction(g);
    const double loss_before = loss, slope = dot(g, direction_), lr = get_hyper("lr");
    gradient_before_ = g;
    length_ = steps_ == 1 ? std::min(1.0, 1 / magnitude(g)) * lr : lr;
    if (slope > -options_.tolerance_change) break;
    if (options_.strong_wolfe) {
      length_ = search(lossfun, loss, g, slope, options_.max_eval - (evaluations_ - before));
    } else {
      move(direction_, length_);
      if (i == options_.max_iter) break;  // the next update computes the loss here anyway
      loss = evaluate(lossfun);
      g = gradient();
    }
    if (i == options_.max_iter || evaluations_ - before >= options_.max_eval) break;
    if (greatest(g) <= options_.tolerance_grad) break;
    if (greatest(direction_) * std::fabs(length_) <= options_.tolerance_change) break;
    if (std::fabs(loss - loss_before) < options_.tolerance_change) break;
  }
  set_t(t() + 1);
  call_post_hooks();
  return first;
} catch (...) {
  catena::rethrow_standard("LBFGS");
}

// A point along the direction: its distance, the loss, its slope along the direction, and the gradient.
struct LBFGS::Point {
  double at, loss, slope;
  Array g;
};

namespace {

// The minimum, between two bounds, of the cubic through two points with their slopes.
double cubic_minimum(double x1, double f1, double g1, double x2, double f2, double g2, double low, double high) {
  const double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2), square = d1 * d1 - g1 * g2;
  if (square < 0) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double at = x1 <= x2 ? x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
                             : x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2));
  return std::min(std::max(at, low), high);
}

}  // namespace

// Nocedal and Wright, algorithms 3.5 and 3.6: first steps that grow until an interval has a point that satisfies the
// conditions, then smaller and smaller intervals. Moves the parameters to the point found. At most `most` losses.
double LBFGS::search(const catena::Function<Variable()>& lossfun, double& loss, Array& g, double slope,
                     std::int64_t most) {
  constexpr double c1 = 1e-4, c2 = 0.9;
  double here = 0;
  const auto at = [&](double distance) {
    move(direction_, distance - here);
    here = distance;
    const double f = evaluate(lossfun);
    const Array gradient_here = gradient();
    return Point{distance, f, dot(gradient_here, direction_), gradient_here};
  };
  const double start = loss, length_of_direction = greatest(direction_);
  const auto is_too_high = [&](const Point& p) { return p.loss > start + c1 * p.at * slope; };
  const auto is_flat = [&](const Point& p) { return std::fabs(p.slope) <= -c2 * slope; };

  Point low{0, start, slope, g}, high = at(length_);
  std::int64_t tries = 0;
  bool done = false, has_interval = false;
  for (; tries < most; ++tries) {
    if (is_too_high(high) || (tries > 1 && high.loss >= low.loss) || (!is_flat(high) && high.slope >= 0)) {
      has_interval = true;
      break;
    }
    if (is_flat(high)) {
      done = true;
      break;
    }
    const double next = cubic_minimum(low.at, low.loss, low.slope, high.at, high.loss, high.slope,
                                      high.at + 0.01 * (high.at - low.at), high.at * 10);
    low = std::exchange(high, at(next));
  }
  if (done) low = high;
  else if (!has_interval) low = Point{0, start, slope, gradient_before_};
  if (high.loss < low.loss) std::swap(low, high);

  bool was_at_edge = false;
  while (!done && tries < most) {
    const double left = std::min(low.at, high.at), right = std::max(low.at, high.at);
    if ((right - left) * length_of_direction < options_.tolerance_change) break;
    double next = cubic_minimum(low.at, low.loss, low.slope, high.at, high.loss, high.slope, left, right);
    const double margin = 0.1 * (right - left);
    if (std::min(right - next, next - left) < margin) {
      // Twice in a row near an edge of the interval: away from it, because it would hardly become smaller.
      if (was_at_edge || next >= right || next <= left) {
        next = right - next < next - left ? right - margin : left + margin;
        was_at_edge = false;
      } else {
        was_at_edge = true;
      }
    } else {
      was_at_edge = false;
    }
    Point now = at(next);
    ++tries;
    if (is_too_high(now) || now.loss >= low.loss) {
      high = now;
      if (high.loss < low.loss) std::swap(low, high);
      continue;
    }
    if (is_flat(now)) done = true;
    else if (now.slope * (high.at - low.at) >= 0) high = low;
    low = now;
  }
  move(direction_, low.at - here);
  loss = low.loss;
  g = low.g;
  return low.at;
}

void LBFGS::serialize(Serializer& s) {
  Optimizer::serialize(s);
  internal::restore_on_rollback(s, evaluations_, steps_, length_, scale_, direction_, gradient_before_,
                                changes_of_gradient_, changes_);
  internal::serialize_count(s, "evaluations", evaluations_, "LBFGS");
  internal::serialize_count(s, "steps", steps_, "LBFGS");
  s("length", length_);
  s("scale", scale_);
  std::int64_t pairs = std::int64_t(changes_.size());
  internal::serialize_count(s, "pairs", pairs, "LBFGS");
  check<ValueError>(pairs <= options_.history_size, "LBFGS", "the file has a history of ", pairs,
                    " pairs, more than history_size ", options_.history_size);
  const auto device_of = [&] {
    for (const Variable& p : target().params())
      if (p.data()) return p.device();
    return autograd::Device();
  };
  // Loaded into new arrays, so that the present ones stay as they are if the load fails.
  const auto array = [&](const std::string& key, Array& a) {
    if (s.is_writer()) return s(key, a);
    Array loaded;
    s(key, loaded);
    a = autograd::to_device(loaded, device_of());
  };
  if (!s.is_writer()) {
    changes_of_gradient_.assign(std::size_t(pairs), Array());
    changes_.assign(std::size_t(pairs), Array());
  }
  if (steps_ > 0) {
    array("direction", direction_);
    array("gradient", gradient_before_);
  }
  for (std::size_t k = 0; k < changes_.size(); ++k) {
    array(catena::concat("changes_of_gradient/", k), changes_of_gradient_[k]);
    array(catena::concat("changes/", k), changes_[k]);
  }
}

}  // namespace training
