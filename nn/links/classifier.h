// Classifier: a predictor with its loss and accuracy.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/functions/evaluation.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/link.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/reporter.h>

namespace nn {

// Which argument has the labels: a position (negative: from the end), or the name of a Variable, which for batches of
// maps is the key.
class LabelKey {
 public:
  template <std::integral I> constexpr LabelKey(I position) : position_(static_cast<std::int64_t>(position)) {}
  template <class T> LabelKey(const T& name) requires(std::is_convertible_v<const T&, std::string>) : name_(name) {}
  // Returns the index of the labels. IndexError for a position that does not exist, KeyError listing the names.
  CATENA_EXPORT std::size_t in(const Variables& args) const;

 private:
  std::int64_t position_ = -1;
  std::string name_;
};

namespace internal {
template <class O> auto with_default(Variable (*f)(const Variable&, const Variable&, O)) {
  return [f](const Variable& y, const Variable& t) { return f(y, t, std::remove_cvref_t<O>{}); };
}
}  // namespace internal

// A function of predictions and labels. The functions of nn that take options, such as softmax_cross_entropy, hinge,
// accuracy and r2_score, are called with their defaults.
class ClassifierFunction : public catena::Function<Variable(const Variable& y, const Variable& t)> {
 public:
  ClassifierFunction() noexcept = default;
  ClassifierFunction(std::nullopt_t) noexcept {}  // Chainer's None: an accfun that is not called
  template <class F>
  requires(!std::is_base_of_v<ClassifierFunction, std::decay_t<F>> && std::is_constructible_v<Function, F>)
      ClassifierFunction(F&& f)
      : Function(std::forward<F>(f)) {}
  // One type of options for each name of several functions, of which a template cannot choose one.
  ClassifierFunction(Variable (*f)(const Variable&, const Variable&, const SoftmaxCrossEntropyOptions&))
      : Function(internal::with_default(f)) {}
  ClassifierFunction(Variable (*f)(const Variable&, const Variable&, const SigmoidCrossEntropyOptions&))
      : Function(internal::with_default(f)) {}
  ClassifierFunction(Variable (*f)(const Variable&, const Variable&, const HingeOptions&))
      : Function(internal::with_default(f)) {}
  ClassifierFunction(Variable (*f)(const Variable&, const Variable&, const R2Options&))
      : Function(internal::with_default(f)) {}
  ClassifierFunction(Variable (*f)(const Variable&, const Variable&, std::optional<int>))
      : Function(internal::with_default(f)) {}
};

struct ClassifierOptions {
  ClassifierFunction lossfun = [](const Variable& y, const Variable& t) { return softmax_cross_entropy(y, t); };
  ClassifierFunction accfun = [](const Variable& y, const Variable& t) { return accuracy(y, t); };
  bool compute_accuracy = true;
  LabelKey label_key = -1;
};

// A result of the last call: a Variable that can also be called like a function, classifier.accuracy().
struct ClassifierResult : Variable {
  using Variable::operator();
  ClassifierResult() noexcept = default;
  ClassifierResult& operator=(Variable v) noexcept {
    Variable::operator=(std::move(v));
    return *this;
  }
  const Variable& operator()() const noexcept { return *this; }
};

// Calls the predictor with all arguments except the labels, which are the last argument unless label_key says
// otherwise, in their order. Reports "loss" and "accuracy" and returns the loss.
//
//   nn::Classifier a(MLP(1000, 10));      // moved in and owned
//   nn::Classifier b(nn::copy(net));      // a model of its own
//   nn::Classifier c(std::ref(net));      // net itself, which must outlive the classifier
//   std::unique_ptr<nn::Chain> chosen = std::make_unique<MLP>(1000, 10);
//   nn::Classifier d(std::move(chosen));  // a class that is known only at run time; also a std::shared_ptr
//
// A copy of a classifier owns a copy of the predictor. TypeError if the predictor is of a class derived from Predictor,
// such as that of d, because a copy as a Predictor would lack members; ValueError for a null pointer.
template <class Predictor> class Classifier : public Chain {
  catena::Shared<Predictor> held_;

 public:
  using Options = ClassifierOptions;
  // With a predictor made without arguments: nn::Classifier<MLP> net.
  Classifier() requires std::default_initializable<Predictor>
  try : Classifier(Predictor(), Options{}) {
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  explicit Classifier(Options options_) requires std::default_initializable<Predictor>
      : Classifier(Predictor(), std::move(options_)) {}
  explicit Classifier(Predictor&& owned, Options options_ = {}) try
      : Classifier(catena::Shared<Predictor>::make(std::move(owned)), std::move(options_), 0) {
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  // The functions by position, as in Chainer: Classifier(MLP(10), mean_squared_error).
  template <class Loss = ClassifierFunction>
  requires(std::is_convertible_v<Loss, ClassifierFunction>) Classifier(Predictor&& owned, Loss of_loss)
      : Classifier(std::move(owned), Options{.lossfun = std::move(of_loss)}) {}
  template <class Loss = ClassifierFunction, class Accuracy = ClassifierFunction>
  requires(std::is_convertible_v<Loss, ClassifierFunction>&& std::is_convertible_v<Accuracy, ClassifierFunction>)
      Classifier(Predictor&& owned, Loss of_loss, Accuracy of_accuracy)
      : Classifier(std::move(owned), Options{.lossfun = std::move(of_loss), .accfun = std::move(of_accuracy)}) {}
  // Deleted, because a copy would be trained instead of the passed object: write nn::copy(predictor) or
  // std::ref(predictor).
  explicit Classifier(const Predictor& write_copy_or_std_ref, Options options_ = {}) = delete;
  template <class R>
  requires std::is_same_v<Predictor&, decltype(std::declval<const R&>().get())>
  explicit Classifier(const R& reference, Options options_ = {})
      : Classifier(catena::Shared<Predictor>::borrowed(&reference.get()), std::move(options_), 0) {}
  template <class P>
  requires std::is_convertible_v<decltype(std::declval<P&>().get()), Predictor*>
  explicit Classifier(P owner, Options options_ = {}) : Classifier(held_by(std::move(owner)), std::move(options_), 0) {}
  Classifier(const Classifier& o) try
      : Chain(o),
        held_(catena::Shared<Predictor>::make(copyable(o.predictor))),
        predictor(*held_),
        options(o.options),
        y(o.y),
        loss(o.loss),
        accuracy(o.accuracy) {
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  // o still refers to the predictor, which now belongs to this object.
  Classifier(Classifier&& o)
      : Chain(std::move(o)),
        held_(std::move(o.held_)),
        predictor(o.predictor),
        options(std::move(o.options)),
        y(std::move(o.y)),
        loss(std::move(o.loss)),
        accuracy(std::move(o.accuracy)) {}
  Classifier& operator=(const Classifier& o) {
    copyable(predictor);
    const Predictor& from = copyable(o.predictor);
    Chain::operator=(o);
    predictor = from;
    options = o.options;
    y = o.y, loss = o.loss, accuracy = o.accuracy;
    return *this;
  }

  NN_MEMBERS(predictor)

  // ValueError for fewer than 2 arguments.
  Variable operator()(const Variables& args) try {
    catena::check<catena::ValueError>(args.size() >= 2, "Classifier", args.size(),
                                      " arguments were given; inputs and labels are needed");
    const std::size_t label = options.label_key.in(args);
    Variables inputs;
    for (std::size_t i = 0; i < args.size(); ++i)
      if (i != label) inputs.push_back(args[i]);
    const Variable& t = args[label];
    const internal::CallScope scope(*this);
    LinkCall called(*this, args);
    y = predictor.call(inputs);
    loss = options.lossfun(y, t);
    report("loss", loss, this);
    if (options.compute_accuracy && options.accfun) {
      accuracy = options.accfun(y, t);
      report("accuracy", accuracy, this);
    }
    return called(loss);
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  Variable operator()(const Variable& x, const Variable& t) { return (*this)(Variables{x, t}); }

  Predictor& predictor;
  Options options;
  Variable y;
  ClassifierResult loss, accuracy;  // results of the last call
  bool& compute_accuracy = options.compute_accuracy;
  ClassifierFunction &lossfun = options.lossfun, &accfun = options.accfun;

 private:
  Classifier(catena::Shared<Predictor> held, Options options_, int)
      : held_(std::move(held)), predictor(*held_), options(std::move(options_)) {}
  template <class P> static catena::Shared<Predictor> held_by(P owner) try {
    Predictor* const p = owner.get();
    catena::check<catena::ValueError>(p != nullptr, "Classifier", "the pointer to the predictor is null");
    return catena::Shared<Predictor>::kept_by(p, std::move(owner));
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  static const Predictor& copyable(const Predictor& p) {
    using autograd::internal::class_name;
    catena::check<catena::TypeError>(typeid(p) == typeid(Predictor), "Classifier", "the predictor is a ",
                                     class_name(typeid(p)), ", but held as a ", class_name(typeid(Predictor)),
                                     ", of which a copy would lack members; hold it under its own class, as in ",
                                     "Classifier<", class_name(typeid(p)), ">");
    return p;
  }
};
// For std::ref and for pointers.
template <class R>
Classifier(R, ClassifierOptions = {})
    -> Classifier<std::remove_pointer_t<std::remove_reference_t<decltype(std::declval<R&>().get())>>>;

}  // namespace nn
