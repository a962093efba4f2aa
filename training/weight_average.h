// Averages of the weights of a model in the course of its training, which often predict better than the last weights.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>

#include <catena/training/extension.h>
#include <catena/training/optimizer.h>

namespace training {

struct WeightAverageOptions {
  // average <- decay average + (1 - decay) p at each update.
  double decay = 0.999;
  // In the first updates, decay is (1 + n) / (10 + n) if that is less, n being the number of updates before.
  bool warm_up = false;
  // All updates count equally, and decay is not used: stochastic weight averaging (Izmailov et al.: arXiv:1803.05407).
  bool equal = false;
};

// The average of each parameter of a model. In a loop of one's own:
//
//   training::WeightAverage average(model, {.decay = 0.99});
//   for (...) { optimizer.update(...); average.update(); }
//   {
//     const auto scope = average.swap_in();  // the model has the averages until the end of the scope
//     evaluate(model);
//   }
//
// or as an extension: auto& average = trainer.extend(training::WeightAverage(model)), which updates after each
// iteration, or when its trigger says, and is part of snapshots ("<path>", "n"). A snapshot that is taken while the
// model has the averages stores the weights as well ("_catena/weights/<path>"), and loading it puts them into the
// model; a load in a scope is a RuntimeError. The first update copies the weights. Parameters without data are left out
// until they have some; frozen ones are averaged, too. Other arrays of the model, such as the statistics of
// BatchNormalization, stay those of the training. The model must outlive the object. ValueError for a decay outside [0,
// 1].
class CATENA_EXPORT WeightAverage : public Extension {
 public:
  using Options = WeightAverageOptions;
  explicit WeightAverage(Link& model, Options options = {});
  // With this decay: WeightAverage(model, 0.99).
  template <std::floating_point D>
  WeightAverage(Link& model, D decay) : WeightAverage(model, Options{.decay = decay}) {}

  void update();
  std::int64_t n() const noexcept { return n_; }  // number of updates
  double part() const;                            // of the weights in the averages after the next update
  // Returns the average of the parameter at `path` ("/l1/W"). KeyError if there is none.
  const Array& average(const std::string& path) const;
  // Copies the averages to the parameters of this model or of another one with the same paths, on any device. KeyError
  // for a path that it does not have, ValueError for another shape; nothing is copied then.
  void copy_to(Link& model) const;

  // Exchanges the arrays of parameters and averages, and exchanges them again at the end. RuntimeError before the first
  // update, and while another scope exists. update() in a scope is a RuntimeError as well.
  class CATENA_EXPORT Scope {
   public:
    explicit Scope(WeightAverage& owner);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    WeightAverage& owner_;
  };
  [[nodiscard]] Scope swap_in() { return Scope(*this); }

  void operator()(Trainer& trainer) override;
  void serialize(nn::Serializer& s) override;
  std::string default_name() const override { return "WeightAverage"; }

 private:
  struct Entry {
    Variable param;
    Array average;
  };
  void find_params();
  void exchange();

  Link* model_;
  Options options_;
  std::map<std::string, Entry> entries_;  // by path
  std::int64_t n_ = 0;
  bool swapped_ = false;
};

// Other names of it.
using ExponentialMovingAverage = WeightAverage;
using EMA = WeightAverage;

}  // namespace training
