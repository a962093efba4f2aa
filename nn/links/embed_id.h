// Vectors for integers: word embeddings.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include <catena/nn/functions/connection.h>
#include <catena/nn/layer_place.h>
#include <catena/nn/link.h>
#include <catena/nn/parameter_handle.h>

namespace nn {

struct EmbedIDLinkOptions {
  std::optional<int> num_embeddings = {}, embedding_dim = {};  // in place of the arguments
  Initializer initialW = {};                                   // default: Normal(1)
  std::optional<std::int64_t> ignore_label = {};               // the result for this label is 0; it may be no row of W
  // This row of W gets no gradient, and is 0 at first unless initialW is given. Negative numbers count from the end;
  // ValueError for a number outside of [-in_size, in_size).
  std::optional<std::int64_t> padding_idx = {};
  // A call first divides the rows that it reads and whose norm is greater than max_norm, in place, so that they have it
  // (PyTorch's renorm, without a gradient). ValueError unless both are positive.
  std::optional<double> max_norm = {};
  double norm_type = 2;
  bool scale_grad_by_freq = false;  // true is a NotImplementedError
  bool sparse = false;              // without effect: gradients are dense
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// Returns the rows of W (in_size, out_size) for integers x (...): (..., out_size); see embed_id().
//   nn::EmbedID(1000, 50)  nn::EmbedID(1000, 50, nn::initializers::Uniform(0.1))
//   nn::EmbedID(1000, 50, {.ignore_label = -1})
class CATENA_EXPORT EmbedID : public internal::WeightAndBias {
 public:
  using Options = EmbedIDLinkOptions;
  EmbedID(int in_size, int out_size, const Options& options = {});
  template <std::same_as<Options> O = Options>  // Embedding({.num_embeddings = 1000, .embedding_dim = 50})
  explicit EmbedID(const O& o)
      : EmbedID(internal::required("Embedding", "num_embeddings", o.num_embeddings),
                internal::required("Embedding", "embedding_dim", o.embedding_dim), o) {}
  EmbedID(int in_size, int out_size, const Initializer& initialW, std::optional<std::int64_t> ignore_label_ = {})
      : EmbedID(in_size, out_size, Options{.initialW = initialW, .ignore_label = ignore_label_}) {}

  // PyTorch's embedding of given vectors, weights (in_size, out_size), as a copy, which is not trained unless freeze is
  // false: nn::Embedding::from_pretrained(weights, {.freeze = false}). ValueError for another rank.
  struct PretrainedOptions {
    bool freeze = true;
    std::optional<std::int64_t> padding_idx = {};
  };
  static EmbedID from_pretrained(const Variable& weights, const PretrainedOptions& options);
  static EmbedID from_pretrained(const Variable& weights, bool freeze = true) {
    return from_pretrained(weights, PretrainedOptions{.freeze = freeze, .padding_idx = {}});
  }

  NN_MEMBERS(W)
  Variable operator()(const Variable& x);

  std::optional<std::int64_t> ignore_label, padding_idx;
  std::optional<double> max_norm;
  double norm_type;
};

}  // namespace nn
