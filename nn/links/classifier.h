// Classifier: a predictor with its loss and accuracy.
#pragma once

#include <utility>

#include <catena/kernels/base/function.h>
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

// Calls the predictor with all arguments except the last, the labels. Reports "loss" and "accuracy" and returns the
// loss. The predictor is moved or copied in and owned.
template <class Predictor> class Classifier : public Chain {
 public:
  using Options = ClassifierOptions;
  explicit Classifier(Predictor predictor_, Options options_ = {})
      : predictor(std::move(predictor_)), options(std::move(options_)) {}

  NN_MEMBERS(predictor)

  // ValueError for fewer than 2 arguments.
  Variable operator()(const Variables& args) {
    catena::check<catena::ValueError>(args.size() >= 2, "Classifier", args.size(),
                                      " arguments were given; inputs and labels are needed");
    Variables inputs;
    for (std::size_t i = 0; i + 1 < args.size(); ++i) inputs.push_back(args[i]);
    const Variable& t = args.back();
    y = predictor.call(inputs);
    loss = options.lossfun(y, t);
    report("loss", loss, this);
    if (options.compute_accuracy) {
      accuracy = options.accfun(y, t);
      report("accuracy", accuracy, this);
    }
    return loss;
  }
  Variable operator()(const Variable& x, const Variable& t) { return (*this)(Variables{x, t}); }

  Predictor predictor;
  Options options;
  Variable y, loss, accuracy;  // of the last call
};

}  // namespace nn
