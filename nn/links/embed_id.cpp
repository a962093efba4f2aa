#include <catena/nn/links/embed_id.h>

#include <catena/nn/link_hook.h>

namespace nn {

EmbedID::EmbedID(int in_size, int out_size, const Options& o)
    : WeightAndBias(Parameter(o.initialW ? o.initialW : initializers::Normal(1.0), {in_size, out_size})),
      ignore_label(o.ignore_label),
      padding_idx(o.padding_idx) {
  name_params();
  refer_handles();
  internal::place(*this, o.device, o.dtype);
  if (!padding_idx) return;
  catena::check<catena::ValueError>(*padding_idx >= -in_size && *padding_idx < in_size, "EmbedID", "padding_idx is ",
                                    *padding_idx, ", which is no row of W, (", in_size, ", ", out_size, ")");
  if (*padding_idx < 0) *padding_idx += in_size;
  if (!o.initialW) autograd::fill(autograd::slice(W.data(), 0, *padding_idx, *padding_idx + 1), 0);
}

EmbedID EmbedID::from_pretrained(const Variable& weights, const PretrainedOptions& o) {
  catena::check<catena::ValueError>(weights.ndim() == 2, "EmbedID.from_pretrained", "the weights have the shape ",
                                    weights.shape(), "; they must be (in_size, out_size)");
  EmbedID link(static_cast<int>(weights.shape(0)), static_cast<int>(weights.shape(1)),
               Options{.initialW = 0.0, .padding_idx = o.padding_idx});
  link.W.set_data(autograd::copy(weights.data()));
  if (o.freeze) link.W.set_requires_grad(false);
  return link;
}

Variable EmbedID::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    return called(embed_id(x, W, {.ignore_label = ignore_label, .padding_idx = padding_idx}));
  } catch (...) {
    internal::rethrow_at(*this, "EmbedID");
  }
}

}  // namespace nn
