// The interface of transforms of images, and compositions of them.
//
// An image is an array (..., C, H, W), uint8 with values 0..255 or floating with values 0..1; leading axes are images
// that are changed in the same way. Results have the dtype and the device of the image; some are views of it.
//
// Random transforms draw from a generator: the given one, or autograd::default_generator(). While an iterator loads an
// example, the latter depends only on the seed of the iterator, the epoch and the index of the example (see
// SerialIterator), and so do the changes, with any number of workers and after a resume.
//
// The transforms and the functions take a Variable in place of an array, too, and then return a Variable, through which
// no gradients flow.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/training/dataset.h>

namespace training::transforms {

using autograd::Generator;
using autograd::Variable;

// A Variable, whose array is the image.
template <class V>
concept VariableImage = std::derived_from<V, Variable> && !std::derived_from<V, Example>;

// The base of all transforms of images. A class of your own overrides apply.
class CATENA_EXPORT Transform {
 public:
  virtual ~Transform();
  Array operator()(const Array& image) const;
  Array operator()(const Array& image, Generator& g) const { return apply(image, g); }
  template <VariableImage V> Variable operator()(const V& image) const {
    return autograd::as_variable((*this)(Array(image.data())));
  }
  template <VariableImage V> Variable operator()(const V& image, Generator& g) const {
    return autograd::as_variable(apply(image.data(), g));
  }
  // Changes the value named "image" of a map, or the first value of a tuple; the others stay. ValueError for a map
  // without that name and an example without values.
  Example operator()(Example example) const;

 protected:
  virtual Array apply(const Array& image, Generator& g) const = 0;
};

// Functions that a composition takes: of an image, of a Variable, and of an image and a generator.
template <class F>
concept StepOfImage = std::is_invocable_r_v<Array, F&, const Array&>;
template <class F>
concept StepOfVariable = !StepOfImage<F> && std::is_invocable_r_v<Variable, F&, const Variable&>;
template <class F>
concept RandomStep = std::is_invocable_r_v<Array, F&, const Array&, Generator&>;
template <class F>
concept StepOfComposition = RandomStep<F> || StepOfImage<F> || StepOfVariable<F>;
// A function of a composition.
class Step {
 public:
  template <class F> Step(F f) requires(!std::is_same_v<F, Step> && StepOfComposition<F>) {
    if constexpr (RandomStep<F>) f_ = Function(std::move(f));
    else if constexpr (StepOfVariable<F>)
      f_ = Function([f = std::move(f)](const Array& image, Generator&) mutable {
        return Array(Variable(f(autograd::as_variable(image))).data());
      });
    else f_ = Function([f = std::move(f)](const Array& image, Generator&) mutable { return Array(f(image)); });
  }
  Array operator()(const Array& image, Generator& g) const { return f_(image, g); }
  explicit operator bool() const noexcept { return bool(f_); }

 private:
  using Function = catena::Function<Array(const Array& image, Generator& g)>;
  Function f_;
};

// Transforms one after the other:
//   transforms::Compose augment{transforms::RandomCrop(32, {.padding = 4}), transforms::RandomFlip(),
//                               [](nd::Array image) { return image / 255; }};
class CATENA_EXPORT Compose : public Transform {
 public:
  template <class... F>
  explicit Compose(F... steps) requires(sizeof...(F) > 0 && (... && StepOfComposition<F>))
      : Compose(std::vector<Step>{Step(std::move(steps))...}) {}
  explicit Compose(std::initializer_list<Step> steps) : Compose(std::vector<Step>(steps)) {}
  explicit Compose(std::vector<Step> steps);  // TypeError for one that is not callable

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  std::vector<Step> steps_;
};
// One function as a transform: Lambda([](nd::Array image) { return image / 255; }).
struct Lambda : Compose {
  using Compose::Compose;
};

// The option of transforms that change an image with a probability.
struct ProbabilityOptions {
  double p = 0.5;
};

namespace internal {

// The base of transforms that change an image with a probability, and otherwise return it.
class CATENA_EXPORT RandomChange : public Transform {
 protected:
  RandomChange(const char* name, double p);  // ValueError unless p lies in 0..1
  Array apply(const Array& image, Generator& g) const final;
  virtual Array change(const Array& image, Generator& g) const = 0;

 private:
  double p_;
};

}  // namespace internal

// Applies all of some transforms with probability p, else none: RandomApply(0.3, GaussianNoise()). ValueError unless p
// lies in 0..1.
class CATENA_EXPORT RandomApply : public internal::RandomChange {
 public:
  template <class... F>
  explicit RandomApply(double p, F... steps) requires(sizeof...(F) > 0)
      : RandomApply(p, Compose(std::move(steps)...)) {}
  RandomApply(double p, Compose steps) : RandomChange("RandomApply", p), steps_(std::move(steps)) {}
  // PyTorch's order: RandomApply({GaussianBlur(3)}, 0.3), and with {.p = 0.3}.
  explicit RandomApply(std::initializer_list<Step> steps, double p = 0.5) : RandomApply(p, Compose(steps)) {}
  template <std::same_as<ProbabilityOptions> O = ProbabilityOptions>
  RandomApply(std::initializer_list<Step> steps, const O& o) : RandomApply(o.p, Compose(steps)) {}

 protected:
  Array change(const Array& image, Generator& g) const override { return steps_(image, g); }

 private:
  Compose steps_;
};

// Applies one of some transforms, each with the probability 1 / n or p[i] / sum(p). ValueError without transforms, for
// another number of p, and for p that are negative or all 0.
class CATENA_EXPORT RandomChoice : public Transform {
 public:
  explicit RandomChoice(std::vector<Step> steps, std::vector<double> p = {});
  explicit RandomChoice(std::initializer_list<Step> steps, std::vector<double> p = {})
      : RandomChoice(std::vector<Step>(steps), std::move(p)) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  std::vector<Step> steps_;
  std::vector<double> p_;
};

// Applies all of some transforms in a random order.
class CATENA_EXPORT RandomOrder : public Transform {
 public:
  explicit RandomOrder(std::vector<Step> steps);
  explicit RandomOrder(std::initializer_list<Step> steps) : RandomOrder(std::vector<Step>(steps)) {}

 protected:
  Array apply(const Array& image, Generator& g) const override;

 private:
  std::vector<Step> steps_;
};

}  // namespace training::transforms
