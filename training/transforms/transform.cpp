#include <catena/training/transforms/transform.h>

#include <algorithm>

#include <catena/kernels/base/error.h>
#include <catena/training/transforms/images.h>

namespace training::transforms {

using catena::check;

Transform::~Transform() = default;

Array Transform::operator()(const Array& image) const { return apply(image, autograd::default_generator()); }

Example Transform::operator()(Example example) const {
  check<catena::ValueError>(!example.values.empty(), "Transform", "the example has no values");
  std::size_t at = 0;
  if (example.is_map()) {
    const auto found = std::find(example.names.begin(), example.names.end(), "image");
    check<catena::ValueError>(found != example.names.end(), "Transform", "the example has no value named \"image\"; ",
                              "apply the transform to its image in a function");
    at = std::size_t(found - example.names.begin());
  }
  example.values[at] = (*this)(example.values[at]);
  return example;
}

namespace {

std::vector<Step> callable(const char* name, std::vector<Step> steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    check<catena::TypeError>(bool(steps[i]), name, "step ", i, " is not callable");
  return steps;
}

}  // namespace

Compose::Compose(std::vector<Step> steps) : steps_(callable("Compose", std::move(steps))) {}

Array Compose::apply(const Array& image, Generator& g) const {
  Array result = image;
  for (const Step& step : steps_) result = step(result, g);
  return result;
}

RandomChoice::RandomChoice(std::vector<Step> steps, std::vector<double> p)
    : steps_(callable("RandomChoice", std::move(steps))), p_(std::move(p)) {
  check<catena::ValueError>(!steps_.empty(), "RandomChoice", "there are no transforms");
  if (p_.empty()) p_.assign(steps_.size(), 1);
  check<catena::ValueError>(p_.size() == steps_.size(), "RandomChoice", "there are ", p_.size(), " probabilities and ",
                            steps_.size(), " transforms");
  double sum = 0;
  for (const double v : p_) {
    check<catena::ValueError>(v >= 0, "RandomChoice", "a probability is ", v, " and must not be negative");
    sum += v;
  }
  check<catena::ValueError>(sum > 0, "RandomChoice", "all probabilities are 0");
  for (double& v : p_) v /= sum;
}

Array RandomChoice::apply(const Array& image, Generator& g) const {
  double left = training::internal::uniform(g, 0, 1);
  std::size_t chosen = steps_.size() - 1;
  while (p_[chosen] == 0) --chosen;  // where rounding leaves more than the sum of all
  for (std::size_t i = 0; i < chosen; ++i) {
    if (left < p_[i]) return steps_[i](image, g);
    left -= p_[i];
  }
  return steps_[chosen](image, g);
}

RandomOrder::RandomOrder(std::vector<Step> steps) : steps_(callable("RandomOrder", std::move(steps))) {}

Array RandomOrder::apply(const Array& image, Generator& g) const {
  Array result = image;
  for (const std::int64_t i : permutation(std::int64_t(steps_.size()), g)) result = steps_[std::size_t(i)](result, g);
  return result;
}

internal::RandomChange::RandomChange(const char* name, double p) : p_(p) { check_probability(name, p); }

Array internal::RandomChange::apply(const Array& image, Generator& g) const {
  return chance(g, p_) ? change(image, g) : image;
}

}  // namespace training::transforms
