#include <catena/nn/links/embedding_bag.h>

#include <utility>

#include <catena/nn/functions/torch_convolution.h>
#include <catena/nn/link_hook.h>

namespace nn {

EmbeddingBag::EmbeddingBag(int in_size, int out_size, const Options& o)
    : EmbeddingBag(EmbedID(in_size, out_size, EmbedID::Options{.initialW = o.initialW, .padding_idx = o.padding_idx}),
                   o) {}

EmbeddingBag::EmbeddingBag(EmbedID table, const Options& o)
    : WeightAndBias(std::move(table.W)),
      mode(o.mode),
      include_last_offset(o.include_last_offset),
      padding_idx(table.padding_idx) {
  name_params();
  refer_handles();
  internal::place(*this, o.device, o.dtype);
}

Variable EmbeddingBag::operator()(const Variable& x, const Variable& offsets, const Variable& per_sample_weights) {
  update_handles();
  LinkCall called(*this, x);
  try {
    return called(
        functions::embedding_bag(x, W,
                                 functions::EmbeddingBagFuncOptions{.offsets = offsets ? offsets.data() : Array(),
                                                                    .mode = mode,
                                                                    .per_sample_weights = per_sample_weights,
                                                                    .padding_idx = padding_idx,
                                                                    .include_last_offset = include_last_offset}));
  } catch (...) {
    internal::rethrow_at(*this, "EmbeddingBag");
  }
}

}  // namespace nn
