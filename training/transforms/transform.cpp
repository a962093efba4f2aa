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

Compose::Compose(std::vector<Step> steps) : steps_(std::move(steps)) {
  for (std::size_t i = 0; i < steps_.size(); ++i)
    check<catena::TypeError>(bool(steps_[i]), "Compose", "step ", i, " is not callable");
}

Array Compose::apply(const Array& image, Generator& g) const {
  Array result = image;
  for (const Step& step : steps_) result = step(result, g);
  return result;
}

internal::RandomChange::RandomChange(const char* name, double p) : p_(p) { check_probability(name, p); }

Array internal::RandomChange::apply(const Array& image, Generator& g) const {
  return chance(g, p_) ? change(image, g) : image;
}

}  // namespace training::transforms
