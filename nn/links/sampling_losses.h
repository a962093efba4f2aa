// Losses over large vocabularies that compare each label with a few samples: negative sampling and BlackOut.
#pragma once

#include <type_traits>
#include <vector>

#include <catena/nn/functions/loss.h>
#include <catena/nn/link.h>
#include <catena/nn/walker_alias.h>

namespace nn {

// softplus(-W[t] x) + the sum of softplus(W[s] x) over sample_size samples s, which are drawn with probabilities
// proportional to counts^power; see negative_sampling(). W (len(counts), in_size), at first 0.
//
//   nn::NegativeSampling loss(100, counts, 5);    // counts of the labels: a vector of numbers
//   loss(x, t)  loss(x, t, "no")                  // x (N, in_size), t (N); -1 is no label and has the loss 0
//
// (Mikolov et al.: Distributed Representations of Words and Phrases and their Compositionality, 2013.)
class CATENA_EXPORT NegativeSampling : public Link {
 public:
  // ValueError for counts that WalkerAlias does not take, and for a negative sample_size.
  NegativeSampling(int in_size, const std::vector<double>& counts, int sample_size, double power = 0.75);
  template <class T>
  requires std::is_arithmetic_v<T> NegativeSampling(int in_size, const std::vector<T>& counts, int sample_size_,
                                                    double power = 0.75)
      : NegativeSampling(in_size, std::vector<double>(counts.begin(), counts.end()), sample_size_, power) {}

  NN_MEMBERS(W)
  Variable operator()(const Variable& x, const Variable& t, const Summed& options = {});
  template <Text T> Variable operator()(const Variable& x, const Variable& t, const T& reduce) {
    return (*this)(x, t, Summed{std::string(reduce)});
  }

  Parameter W;
  WalkerAlias alias;
  Sampler sampler;  // draws in place of `alias` if it is set
  int sample_size;

 protected:
  void on_device_changed() override { alias.to_device(device()); }
};

// -log of softmax(W x)[t] over the label and sample_size samples, and of 1 - softmax for the samples, which are drawn
// with probabilities proportional to counts; see black_out(). W (len(counts), in_size), at first HeNormal(1 / sqrt 2).
//
//   nn::BlackOut loss(100, counts, 5);
//   loss(x, t)  loss(x, t, "no")
//
// (Ji et al.: BlackOut, 2016.)
class CATENA_EXPORT BlackOut : public Link {
 public:
  BlackOut(int in_size, const std::vector<double>& counts, int sample_size);
  template <class T>
  requires std::is_arithmetic_v<T> BlackOut(int in_size, const std::vector<T>& counts, int sample_size_)
      : BlackOut(in_size, std::vector<double>(counts.begin(), counts.end()), sample_size_) {}

  NN_MEMBERS(W)
  Variable operator()(const Variable& x, const Variable& t, const Averaged& options = {});
  template <Text T> Variable operator()(const Variable& x, const Variable& t, const T& reduce) {
    return (*this)(x, t, Averaged{std::string(reduce)});
  }

  Parameter W;
  WalkerAlias alias;
  Sampler sampler;  // draws in place of `alias` if it is set
  int sample_size;

 protected:
  void on_device_changed() override { alias.to_device(device()); }
};

}  // namespace nn
