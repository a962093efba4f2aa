// Sums, means and maxima of word embeddings.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include <catena/nn/links/embed_id.h>

namespace nn {

struct EmbeddingBagOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::optional<int> num_embeddings = {}, embedding_dim = {};  // in place of the arguments
  std::string mode = "mean";                     // or "sum", "max"; other texts are a ValueError of the call
  bool include_last_offset = false;              // the last offset is the number of indices
  std::optional<std::int64_t> padding_idx = {};  // no part of any bag; negative: from the end
  Initializer initialW = {};                     // default: Normal(1), with 0 for padding_idx
  LayerDevice device = {};
  LayerDtype dtype = {};
};

// PyTorch's layer: bags of integers x (B, L), a row each, or x (n) with the offsets (B) at which the bags begin, with
// the rows of W (in_size, out_size): (B, out_size); see functions::embedding_bag().
//   nn::EmbeddingBag bag(1000, 50, {.mode = "sum"});
//   bag(x), bag(x, offsets), bag(x, offsets, per_sample_weights)
class CATENA_EXPORT EmbeddingBag : public internal::WeightAndBias {
 public:
  using Options = EmbeddingBagOptions;
  EmbeddingBag(int in_size, int out_size, const Options& options = {});
  template <std::same_as<Options> O = Options>
  explicit EmbeddingBag(const O& o)
      : EmbeddingBag(internal::required("EmbeddingBag", "num_embeddings", o.num_embeddings),
                     internal::required("EmbeddingBag", "embedding_dim", o.embedding_dim), o) {}

  NN_MEMBERS(W)
  Variable operator()(const Variable& x, const Variable& offsets = {}, const Variable& per_sample_weights = {});

  std::string mode;
  bool include_last_offset;
  std::optional<std::int64_t> padding_idx;

 private:
  EmbeddingBag(EmbedID table, const Options& o);
};

}  // namespace nn
