// Losses over large vocabularies that compare each label with a few samples: negative sampling and BlackOut.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/nn/functions/loss.h>
#include <catena/nn/link.h>
#include <catena/nn/walker_alias.h>

namespace nn {

namespace internal {

// The number of occurrences of each label, as numbers of any type.
class Counts {
 public:
  template <class T>
  Counts(const std::vector<T>& of_labels) requires std::is_arithmetic_v<T>
      : values_(of_labels.begin(), of_labels.end()) {}
  Counts(std::initializer_list<double> of_labels) : values_(of_labels) {}
  const std::vector<double>& values() const noexcept { return values_; }

 private:
  std::vector<double> values_;
};

// Holds the weights of all labels and the sampler.
class CATENA_EXPORT SampledLoss : public Link {
 public:
  Parameter W;
  WalkerAlias alias;
  Sampler sampler;  // if set, replaces `alias`
  int sample_size;

 protected:
  // Throws a ValueError for weights that WalkerAlias rejects, and for a negative sample_size.
  SampledLoss(const char* link, Initializer initializer, int in_size, const std::vector<double>& weights, int samples);
  // Returns the loss of (x, t); errors name the link.
  Variable located(const char* link, const Variable& x, const catena::Function<Variable()>& loss) const;
  void on_device_changed() override { alias.to_device(device()); }
};

}  // namespace internal

// softplus(-W[t] x) + the sum of softplus(W[s] x) over sample_size samples s, which are drawn with probabilities
// proportional to counts^power; see negative_sampling(). W (len(counts), in_size) is initially 0.
//
//   nn::NegativeSampling loss(100, counts, 5);    // counts of the labels: a vector of numbers
//   loss(x, t)  loss(x, t, "no")                  // x (N, in_size), t (N); -1 is no label and has the loss 0
//
// (Mikolov et al.: Distributed Representations of Words and Phrases and their Compositionality, 2013.)
struct NegativeSamplingOptions {
  int sample_size = 5;
  double power = 0.75;
};
class CATENA_EXPORT NegativeSampling : public internal::SampledLoss {
 public:
  // Throws a ValueError for counts that WalkerAlias rejects, and for a negative sample_size.
  NegativeSampling(int in_size, const internal::Counts& counts, int samples, double power = 0.75);
  template <std::same_as<NegativeSamplingOptions> O = NegativeSamplingOptions>
  NegativeSampling(int in, const internal::Counts& counts, const O& o)
      : NegativeSampling(in, counts, o.sample_size, o.power) {}

  NN_MEMBERS(W)
  Variable operator()(const Variable& x, const Variable& t, const Summed& options = {});
  template <Text T> Variable operator()(const Variable& x, const Variable& t, const T& reduce) {
    return (*this)(x, t, Summed{std::string(reduce)});
  }
};

// -log of the softmax of the label and -log of 1 - the softmax of each sample, where softmax(W x) is taken only over
// the label and sample_size samples; these are drawn with probabilities proportional to counts; see black_out(). W
// (len(counts), in_size) is initially HeNormal(1 / sqrt 2).
//
//   nn::BlackOut loss(100, counts, 5);
//   loss(x, t)  loss(x, t, "no")
//
// (Ji et al.: BlackOut, 2016.)
class CATENA_EXPORT BlackOut : public internal::SampledLoss {
 public:
  // Throws a ValueError like NegativeSampling.
  BlackOut(int in_size, const internal::Counts& counts, int samples);

  NN_MEMBERS(W)
  Variable operator()(const Variable& x, const Variable& t, const Averaged& options = {});
  template <Text T> Variable operator()(const Variable& x, const Variable& t, const T& reduce) {
    return (*this)(x, t, Averaged{std::string(reduce)});
  }
};

}  // namespace nn
