// Classifier: a predictor with its loss and accuracy.
#pragma once

#include <type_traits>
#include <utility>

#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/functions/evaluation.h>
#include <catena/nn/functions/loss.h>
#include <catena/nn/link.h>
#include <catena/nn/reporter.h>

namespace nn {

struct ClassifierOptions {
  catena::Function<Variable(const Variable& y, const Variable& t)> lossfun = [](const Variable& y, const Variable& t) {
    return softmax_cross_entropy(y, t);
  };
  catena::Function<Variable(const Variable& y, const Variable& t)> accfun = [](const Variable& y, const Variable& t) {
    return accuracy(y, t);
  };
  bool compute_accuracy = true;
};

// Calls the predictor with all arguments except the last one, the labels. Reports "loss" and "accuracy" and returns the
// loss.
//
//   nn::Classifier<MLP> a(MLP(1000, 10));      // moved in and owned
//   nn::Classifier<MLP> b(nn::copy(net));      // a model of its own
//   nn::Classifier<MLP> c(std::ref(net));      // net itself, which must outlive the classifier
//
// A copy of a classifier owns a copy of the predictor.
template <class Predictor> class Classifier : public Chain {
  catena::Shared<Predictor> held_;

 public:
  using Options = ClassifierOptions;
  explicit Classifier(Predictor&& owned, Options options_ = {}) try
      : Classifier(catena::Shared<Predictor>::make(std::move(owned)), std::move(options_), 0) {
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  // Deleted, because a copy would be trained instead of the passed object: write nn::copy(predictor) or
  // std::ref(predictor).
  explicit Classifier(const Predictor& write_copy_or_std_ref, Options options_ = {}) = delete;
  template <class R>
  requires std::is_same_v<Predictor&, decltype(std::declval<const R&>().get())>
  explicit Classifier(const R& reference, Options options_ = {})
      : Classifier(catena::Shared<Predictor>::borrowed(&reference.get()), std::move(options_), 0) {}
  Classifier(const Classifier& o) try
      : Chain(o),
        held_(catena::Shared<Predictor>::make(std::as_const(o.predictor))),
        predictor(*held_),
        options(o.options),
        y(o.y),
        loss(o.loss),
        accuracy(o.accuracy) {
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  Classifier(Classifier&& o) = default;  // o still refers to the predictor, which now belongs to this object
  Classifier& operator=(const Classifier& o) {
    Chain::operator=(o);
    predictor = std::as_const(o.predictor);
    options = o.options;
    y = o.y, loss = o.loss, accuracy = o.accuracy;
    return *this;
  }

  NN_MEMBERS(predictor)

  // ValueError for fewer than 2 arguments.
  Variable operator()(const Variables& args) try {
    catena::check<catena::ValueError>(args.size() >= 2, "Classifier", args.size(),
                                      " arguments were given; inputs and labels are needed");
    Variables inputs;
    for (std::size_t i = 0; i + 1 < args.size(); ++i) inputs.push_back(args[i]);
    const Variable& t = args.back();
    const internal::CallScope scope(*this);
    y = predictor.call(inputs);
    loss = options.lossfun(y, t);
    report("loss", loss, this);
    if (options.compute_accuracy) {
      accuracy = options.accfun(y, t);
      report("accuracy", accuracy, this);
    }
    return loss;
  } catch (...) {
    catena::rethrow_standard("Classifier");
  }
  Variable operator()(const Variable& x, const Variable& t) { return (*this)(Variables{x, t}); }

  Predictor& predictor;
  Options options;
  Variable y, loss, accuracy;  // results of the last call

 private:
  Classifier(catena::Shared<Predictor> held, Options options_, int)
      : held_(std::move(held)), predictor(*held_), options(std::move(options_)) {}
};
template <class R> Classifier(R) -> Classifier<std::remove_reference_t<decltype(std::declval<R&>().get())>>;
template <class R>
Classifier(R, ClassifierOptions) -> Classifier<std::remove_reference_t<decltype(std::declval<R&>().get())>>;

}  // namespace nn
