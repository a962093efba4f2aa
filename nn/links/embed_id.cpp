#include <catena/nn/links/embed_id.h>

#include <set>
#include <vector>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/torch_products.h>
#include <catena/autograd/indexed_access.h>
#include <catena/nn/link_hook.h>

namespace nn {

EmbedID::EmbedID(int in_size, int out_size, const Options& o)
    : WeightAndBias(Parameter(o.initialW ? o.initialW : initializers::Normal(1.0), {in_size, out_size})),
      ignore_label(o.ignore_label),
      padding_idx(o.padding_idx),
      max_norm(o.max_norm),
      norm_type(o.norm_type) {
  catena::check<catena::ValueError>(!max_norm || *max_norm > 0, "EmbedID", "max_norm is ", max_norm.value_or(0),
                                    "; it must be positive");
  catena::check<catena::ValueError>(norm_type > 0, "EmbedID", "norm_type is ", norm_type, "; it must be positive");
  catena::check<catena::NotImplementedError>(!o.scale_grad_by_freq, "EmbedID", "scale_grad_by_freq is true");
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

namespace {

// Limits the norms of the rows of W that x reads.
void limit_rows(const Parameter& W, const Variable& x, double max_norm, double norm_type) {
  const auto no_graph = autograd::no_backprop_mode();
  std::set<std::int64_t> distinct;
  for (const std::int64_t i : autograd::to_vector<std::int64_t>(x.data()))
    if (i >= 0 && i < W.shape(0)) distinct.insert(i);  // not a label that is ignored, nor one that embed_id() rejects
  if (distinct.empty()) return;
  const auto n = std::int64_t(distinct.size());
  const std::vector<std::int64_t> numbers(distinct.begin(), distinct.end());
  const Array& array = W.data();
  const Array index = autograd::array(numbers, {n}, array.device()), column = autograd::reshape(index, {n, 1});
  const Variable rows = autograd::index_select(autograd::as_variable(array), 0, autograd::as_variable(index));
  const Array limited = autograd::astype(autograd::renorm(rows, norm_type, 0, max_norm).data(), array.dtype());
  autograd::internal::scatter(catena::ScatterMode::set,
                              {.base = array,
                               .indices = {&column, 1},
                               .axes = autograd::Dims{0},
                               .loop = {n, W.shape(1)},
                               .base_axis = autograd::Dims{-1, 1},
                               .name = "EmbedID"},
                              *limited.get());
}

}  // namespace

Variable EmbedID::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (max_norm) limit_rows(W, x, *max_norm, norm_type);
    return called(embed_id(x, W, {.ignore_label = ignore_label, .padding_idx = padding_idx}));
  } catch (...) {
    internal::rethrow_at(*this, "EmbedID");
  }
}

}  // namespace nn
