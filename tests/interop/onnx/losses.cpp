// Losses, accuracies and embeddings.
#include <catena/tests/interop/onnx/networks.h>

#include <catena/nn/functions/probability_loss.h>

namespace onnx_networks {
namespace {

using namespace nn;
using autograd::sigmoid;

Array class_weight() { return autograd::array(std::vector<float>{0.5f, 2.0f, 1.0f, 1.5f, 0.25f}, {5}); }

Variables of_classes(const Variable& x, const Variable& t) {
  const Array w = class_weight();
  return {softmax_cross_entropy(x, t),
          softmax_cross_entropy(x, t, {.normalize = false}),
          softmax_cross_entropy(x, t, {.reduce = "sum"}),
          softmax_cross_entropy(x, t, {.reduce = "no"}),
          softmax_cross_entropy(x, t, {.class_weight = w}),
          softmax_cross_entropy(x, t, {.class_weight = w, .normalize_by_weight = true}),
          softmax_cross_entropy(x, t, {.class_weight = w, .reduce = "no"}),
          softmax_cross_entropy(x, t, {.label_smoothing = 0.1}),
          softmax_cross_entropy(x, t, {.class_weight = w, .reduce = "no", .label_smoothing = 0.2}),
          softmax_cross_entropy(x, t, {.class_weight = w, .label_smoothing = 0.2, .normalize_by_weight = true}),
          cross_entropy(x, t, {.weight = w, .ignore_index = -1}),
          nll_loss(log_softmax(x), t),
          nll_loss(log_softmax(x), t, {.class_weight = w}),
          nll_loss(log_softmax(x), t, {.class_weight = w, .reduce = "no"}),
          softmax_focal_loss(x, t),
          softmax_focal_loss(x, t, {.class_weight = w}),
          accuracy(x, t),
          accuracy(x, t, -1)};
}

Variables of_known_classes(const Variable& x, const Variable& t) {
  return {softmax_cross_entropy(x, t, {.ignore_label = 2}),
          hinge(x, t),
          hinge(x, t, {.norm = "L2", .reduce = "no"}),
          multi_margin_loss(x, t),
          multi_margin_loss(x, t, {.class_weight = class_weight()}),
          linear_cross_entropy(x, Variable(autograd::arrays::full({5, 5}, 0.1, Dtype::float32)), Variable(), t)};
}

Variables of_probabilities(const Variable& x, const Variable& y) {
  const Variable p = sigmoid(x), q = sigmoid(y * 2);
  return {binary_cross_entropy_with_logits(x, q),
          binary_cross_entropy_with_logits(x, q, {.pos_weight = class_weight(), .reduce = "no"}),
          binary_cross_entropy_with_logits(x, q, {.weight = class_weight(), .reduce = "sum"}),
          binary_cross_entropy(p, q),
          kl_div(log_softmax(x), softmax(y)),
          kl_div(log_softmax(x), softmax(y), {.reduce = "batchmean"}),
          kl_div(log_softmax(x), relu(y), {.reduce = "no"}),
          kl_div(log_softmax(x), log_softmax(y), {.log_target = true}),
          focal_loss(x, q),
          focal_loss(x, q, {.reduce = "no"}),
          poisson_nll(x, relu(y * 3)),
          poisson_nll(x, relu(y * 3), {.full = true, .reduce = "no"}),
          gaussian_nll_loss(x, y, p),
          bernoulli_nll(q, x),
          gaussian_nll(x, y, p, "no"),
          gaussian_kl_divergence(x, y, "mean"),
          softmax_cross_entropy(x, softmax(y)),
          softmax_cross_entropy(x, softmax(y), {.normalize = false, .label_smoothing = 0.1})};
}

Variables of_distances(const Variable& x, const Variable& y) {
  return {mean_squared_error(x, y),
          mean_squared_error(x, y, "sum"),
          mean_squared_error(x, y, "no"),
          mean_absolute_error(x, y),
          mean_absolute_error(x, y, "no"),
          squared_error(x, y),
          huber_loss(x, y, 0.5),
          huber_loss(x, y, 0.5, "mean"),
          huber_loss(x, y, 0.5, "no"),
          smooth_l1(x, y),
          smooth_l1(x, y, 0.3, "sum"),
          triplet(x, y, x * y),
          info_nce(x, y)};
}

Variables of_pairs(const Variable& x, const Variable& y, const Variable& t) {
  return {contrastive(x, y, t), contrastive(x, x, t, 2.0, "no")};
}

Variables of_bits(const Variable& x, const Variable& t) {
  return {sigmoid_cross_entropy(x, t), sigmoid_cross_entropy(x, t, {.normalize = false}),
          sigmoid_cross_entropy(x, t, {.reduce = "no"}), sigmoid_cross_entropy(x, t, {.reduce = "sum"}),
          binary_accuracy(x, t)};
}

// Integers from `low` on.
Variable from(std::int64_t low, const Shape& shape, std::int64_t below, Dtype dtype = Dtype::int32) {
  return Variable(autograd::astype(numbers(shape, below - low).data() + low, dtype));
}

struct Embedding : Chain {
  EmbedID known{6, 3, {.ignore_label = -1}};
  NN_MEMBERS(known)
  Variable operator()(const Variable& ids) { return autograd::sum(known(ids), 1); }
};

}  // namespace

void add_losses(Writer& w) {
  const auto scores = [](std::int64_t n) { return random({n, 5}, 2); };
  w.add("losses_of_classes", of_classes, {{scores(4), from(-1, {4}, 5)}, {scores(7), from(-1, {7}, 5)}},
        dynamic_batch());
  w.add("losses_of_classes_int64", of_classes, {{scores(4), from(-1, {4}, 5, Dtype::int64)}}, {.opset_version = 21});
  w.add("losses_of_pixels", of_classes,
        {{random({2, 5, 3, 2}), from(-1, {2, 3, 2}, 5)}, {random({4, 5, 3, 2}), from(-1, {4, 3, 2}, 5)}},
        dynamic_batch());
  w.add("losses_without_labels", [](const Variable& x, const Variable& t) { return softmax_cross_entropy(x, t); },
        {{scores(3), from(-1, {3}, 0)}});
  w.add("losses_of_known_classes", of_known_classes, {{scores(4), numbers({4}, 5)}, {scores(6), numbers({6}, 5)}},
        dynamic_batch());
  w.add("losses_of_probabilities", of_probabilities, {{scores(4), random({4, 5})}, {scores(6), random({6, 5})}},
        dynamic_batch());
  w.add("losses_of_distances", of_distances, {{random({4, 5}), random({4, 5}, 2)}});
  w.add("losses_of_pairs", of_pairs, {{random({4, 5}), random({4, 5}, 0.5), numbers({4}, 2)}});
  w.add("losses_of_bits", of_bits, {{scores(4), from(-1, {4, 5}, 2)}, {scores(3), from(-1, {3, 5}, 2)}},
        dynamic_batch());
  w.add("losses_in_float16",
        [](const Variable& x, const Variable& t) {
          return Variables{softmax_cross_entropy(x, t), mean_squared_error(x, x * 0.5)};
        },
        {{random({4, 5}, 1, Dtype::float16), numbers({4}, 5)}});
  w.add("embedding_with_padding", Embedding(), {{from(-1, {2, 4}, 6)}, {from(-1, {5, 4}, 6)}}, dynamic_batch());
}

}  // namespace onnx_networks
