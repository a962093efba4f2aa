#include <catena/nn/links/per_example_grads.h>

#include <cmath>
#include <string_view>

#include <catena/autograd/derivatives.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/grad.h>
#include <catena/kernels/base/error_context.h>
#include <catena/nn/functions/connection.h>
#include <catena/nn/functions/normalization.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/convolution_2d.h>
#include <catena/nn/links/convolution_nd.h>
#include <catena/nn/links/embed_id.h>
#include <catena/nn/links/group_normalization.h>
#include <catena/nn/links/layer_normalization.h>
#include <catena/nn/links/linear.h>

namespace nn {
namespace {

// One call of a link: its input, its output, and the gradient of the output.
struct Call {
  const Link* link;
  Variable x, y, gy;
};

// The gradients of the examples (N, ...) of the parameters of one call.
using Gradients = std::vector<std::pair<const Parameter*, Variable>>;

Shape with_batch(std::int64_t n, const Shape& shape) {
  Shape all{n};
  for (const std::int64_t d : shape) all.push_back(d);
  return all;
}
// The sum over all axes of v but the first and the last `kept`.
Variable summed_to(const Variable& v, int kept) {
  const int last = v.ndim() - kept;
  std::int64_t inner = 1;
  for (int k = 1; k < last; ++k) inner *= v.shape(k);
  Shape shape{v.shape(0), inner};
  for (int k = last; k < v.ndim(); ++k) shape.push_back(v.shape(k));
  return autograd::sum(autograd::reshape(v, shape), {1});
}

// ---- links with products ------------------------------------------------------------------------
Gradients gradients_of(const Linear& l, const Call& c) {
  const std::int64_t n = c.x.shape(0), out = l.W.shape(0), in = l.W.shape(1);
  const std::int64_t rows = c.gy.size() / (n * out);
  const Variable x = autograd::reshape(c.x, {n, rows, in}), gy = autograd::reshape(c.gy, {n, rows, out});
  Gradients g{{&l.W, autograd::linalg_matmul(autograd::swapaxes(gy, 1, 2), x)}};
  if (l.b) g.emplace_back(&*l.b, autograd::sum(gy, {1}));
  return g;
}

// The examples become groups of one image with weights of their own: n copies of W along its first axis, or along
// `axis`, whose gradient is that of the examples. f(x, weights) is the convolution in these groups.
template <class F> Variable grouped_gradient(const Call& c, const Parameter& W, int axis, F f) {
  const std::int64_t n = c.x.shape(0);
  const auto as_one = [n](const Variable& v) {
    Shape shape = v.shape();
    shape[0] = 1;
    shape[1] *= n;
    return autograd::reshape(v, shape);
  };
  Variables copies;
  for (std::int64_t k = 0; k < n; ++k) copies.push_back(Variable(W.data()));
  const Variable weights(autograd::concat(copies, axis).data());
  const Variable y = f(as_one(c.x), weights);
  const Variable g = autograd::grad({y}, {weights}, {as_one(c.gy)})[0];
  Shape split;  // (..., n, length of the axis, ...)
  for (int k = 0; k < W.ndim(); ++k) {
    if (k == axis) split.push_back(n);
    split.push_back(W.shape(k));
  }
  return autograd::moveaxis(autograd::reshape(g, split), {axis}, {0});
}
template <class L> void add_channel_bias(Gradients& g, const L& l, const Call& c) {
  if (!l.b) return;
  const std::int64_t n = c.gy.shape(0), channels = c.gy.shape(1);
  g.emplace_back(&*l.b, autograd::sum(autograd::reshape(c.gy, {n, channels, c.gy.size() / (n * channels)}), {2}));
}
template <class L, class F> Gradients convolution_gradients(const L& l, const Call& c, F convolution) {
  auto geometry = l.geometry;
  geometry.groups *= int(c.x.shape(0));
  if constexpr (requires { geometry.outsize; }) {
    if (!geometry.outsize) {
      catena::Dims size;
      for (int k = 2; k < c.y.ndim(); ++k) size.push_back(c.y.shape(k));
      if constexpr (std::is_same_v<L, Deconvolution2D>) geometry.outsize = Pair(int(size[0]), int(size[1]));
      else geometry.outsize = Lengths(size);
    }
  }
  const auto f = [&](const Variable& x, const Variable& W) { return convolution(x, W, geometry); };
  Gradients g{{&l.W, grouped_gradient(c, l.W, 0, f)}};
  add_channel_bias(g, l, c);
  return g;
}
Gradients gradients_of(const Convolution2D& l, const Call& c) {
  return convolution_gradients(l, c, [](const Variable& x, const Variable& W, const ConvolutionOptions& o) {
    return convolution_2d(x, W, {}, o);
  });
}
Gradients gradients_of(const ConvolutionND& l, const Call& c) {
  return convolution_gradients(l, c, [](const Variable& x, const Variable& W, const ConvolutionNdOptions& o) {
    return convolution_nd(x, W, {}, o);
  });
}
Gradients gradients_of(const Deconvolution2D& l, const Call& c) {
  return convolution_gradients(l, c, [](const Variable& x, const Variable& W, const DeconvolutionOptions& o) {
    return deconvolution_2d(x, W, {}, o);
  });
}
Gradients gradients_of(const DeconvolutionND& l, const Call& c) {
  return convolution_gradients(l, c, [](const Variable& x, const Variable& W, const DeconvolutionNdOptions& o) {
    return deconvolution_nd(x, W, {}, o);
  });
}
Gradients gradients_of(const DepthwiseConvolution2D& l, const Call& c) {
  const auto f = [&](const Variable& x, const Variable& W) { return depthwise_convolution_2d(x, W, {}, l.geometry); };
  Gradients g{{&l.W, grouped_gradient(c, l.W, 1, f)}};
  add_channel_bias(g, l, c);
  return g;
}

// Rows of n copies of W: the number of a row is increased by V for each example.
Gradients gradients_of(const EmbedID& l, const Call& c) {
  const std::int64_t n = c.x.shape(0), V = l.W.shape(0), d = l.W.shape(1);
  std::vector<std::int64_t> rows = autograd::to_vector<std::int64_t>(c.x.data());
  const std::int64_t per_example = std::int64_t(rows.size()) / n;
  constexpr int kIgnored = -1;  // no row of the copies has this number
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = rows[i] == l.ignore_label ? kIgnored : rows[i] + std::int64_t(i) / per_example * V;
  const Variable weights(autograd::arrays::zeros({n * V, d}, l.W.dtype(), l.W.device()));
  EmbedIDOptions o;
  if (l.ignore_label) o.ignore_label = kIgnored;
  const Variable x(autograd::array(rows, c.x.shape(), c.x.device()));
  const Variable g = autograd::grad({embed_id(x, weights, o)}, {weights}, {c.gy})[0];
  return {{&l.W, autograd::reshape(g, {n, V, d})}};
}

// ---- normalization: the normalized x is the output with gamma 1 and beta 0 ----------------------
Variable ones_like(const Parameter& p) { return Variable(autograd::ones_like(p.data())); }
Variable zeros_like(const Parameter& p) { return Variable(autograd::zeros_like(p.data())); }

Gradients gradients_of(const LayerNormalization& l, const Call& c) {
  if (!l.elementwise_affine) return {};
  const Variable plain = layer_normalization(c.x, ones_like(l.gamma), zeros_like(l.gamma), l.eps, l.eps_added_to);
  Gradients gradients{{&l.gamma, summed_to(plain * c.gy, 1)}};
  if (l.use_beta) gradients.push_back({&l.beta, summed_to(c.gy, 1)});
  return gradients;
}
Gradients gradients_of(const RMSNorm& l, const Call& c) {
  return {{&l.gamma, summed_to(rms_normalization(c.x, ones_like(l.gamma), l.eps) * c.gy, 1)}};
}
Gradients channel_gradients(const Parameter& gamma, const Parameter& beta, const Variable& plain, const Variable& gy) {
  return {{&gamma, summed_to(autograd::moveaxis(plain * gy, {1}, {-1}), 1)},
          {&beta, summed_to(autograd::moveaxis(gy, {1}, {-1}), 1)}};
}
Gradients gradients_of(const GroupNormalization& l, const Call& c) {
  const Variable plain = group_normalization(c.x, l.groups, ones_like(l.gamma), zeros_like(l.beta), l.eps);
  return channel_gradients(l.gamma, l.beta, plain, c.gy);
}
Gradients gradients_of(const InstanceNormalization& l, const Call& c) {
  if (!l.gamma) return {};
  const Variable plain = instance_normalization(c.x, ones_like(*l.gamma), zeros_like(*l.beta), l.eps);
  return channel_gradients(*l.gamma, *l.beta, plain, c.gy);
}

// ---- the table of rules -------------------------------------------------------------------------
using Rule = Gradients (*)(const Call&);
template <class L> Rule rule_if(const Link& link) {
  if (dynamic_cast<const L*>(&link) == nullptr) return nullptr;
  return [](const Call& c) { return gradients_of(dynamic_cast<const L&>(*c.link), c); };
}
template <class... L> Rule first_rule(const Link& link) {
  Rule found = nullptr;
  static_cast<void>(((found = rule_if<L>(link)) || ...));
  return found;
}
Rule rule_of(const Link& link) {
  if (const auto* const e = dynamic_cast<const EmbedID*>(&link); e != nullptr && e->padding_idx) return nullptr;
  return first_rule<Linear, Convolution2D, ConvolutionND, Deconvolution2D, DeconvolutionND, DepthwiseConvolution2D,
                    EmbedID, LayerNormalization, RMSNorm, GroupNormalization, InstanceNormalization>(link);
}

bool has_own_parameters(Link& link) {
  struct Own final : MemberVisitor {
    bool any = false;
    void parameter(std::string_view, Parameter&) override { any = true; }
  } own;
  link.visit_members(own);
  return own.any;
}

// Notes the calls of links that have a rule.
class NoteCalls final : public LinkHook {
 public:
  std::string name() const override { return "per_example_grads"; }
  void forward_postprocess(Link& link, const Variables& args, const Variables& outputs) override {
    if (rule_of(link) != nullptr) calls.push_back({&link, args[0], outputs[0], {}});
  }
  std::vector<Call> calls;
};

// True if the sum of the examples' gradients is the gradient of the sum, up to rounding. The sums are products with a
// row of ones: the examples are read once, several at a time, also where they are a multiple of a page apart.
bool adds_up(const Variable& examples, const Variable& all) {
  const autograd::Array& each = examples.data();
  if (each.size() == 0) return true;
  const std::int64_t n = each.shape(0);
  const autograd::Array rows = autograd::reshape(each, {n, each.size() / n});
  const autograd::Array sum = autograd::matmul(autograd::arrays::ones({1, n}, each.dtype(), each.device()), rows);
  const auto largest = [](const autograd::Array& a) {
    return autograd::item(autograd::map_reduce(catena::kernels::amax, catena::kernels::absolute, {a})).to<double>();
  };
  // Comparisons are written so that NaN passes: the gradients of both ways have it.
  if (!all) return !(largest(sum) > 0);
  constexpr double kTolerance = 1e-3;
  const double error = largest(sum - autograd::reshape(all.data(), sum.shape())), of_all = largest(all.data());
  if (!(error > kTolerance * of_all)) return true;
  // The examples may cancel: then their own magnitude counts.
  return error <= kTolerance * (of_all + std::sqrt(largest(autograd::reduce(catena::kernels::sum_squares, rows, {0}))));
}

// Returns the gradients by the rules; nothing if some parameter has none, or if they do not add up.
std::optional<Variables> by_rules(Link& link, const Variable& losses, std::vector<Call>& calls) {
  for (Link* part : link.links())
    if (has_own_parameters(*part) && rule_of(*part) == nullptr) return {};
  const std::int64_t n = losses.shape(0);
  const Variables parameters = link.params();
  Variables wanted = parameters;
  for (const Call& c : calls) {
    if (c.x.ndim() < 1 || c.x.shape(0) != n || c.y.ndim() < 1 || c.y.shape(0) != n) return {};
    wanted.push_back(c.y);
  }
  const Variables g = autograd::grad({autograd::sum(losses)}, wanted);
  std::vector<Variable> sums(parameters.size());
  const auto force = autograd::force_backprop_mode();
  for (std::size_t k = 0; k < calls.size(); ++k) {
    calls[k].gy = g[parameters.size() + k];
    if (!calls[k].gy) continue;
    calls[k].x = Variable(calls[k].x.data());
    for (const auto& [parameter, gradient] : rule_of (*calls[k].link)(calls[k]))
      for (std::size_t i = 0; i < parameters.size(); ++i)
        if (parameters[i].is_same(*parameter)) sums[i] = sums[i] ? sums[i] + gradient : gradient;
  }
  Variables result;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Shape shape = with_batch(n, parameters[i].shape());
    const autograd::Array a =
        sums[i] ? sums[i].data() : autograd::arrays::zeros(shape, parameters[i].dtype(), parameters[i].device());
    result.push_back(Variable(a));
    if (!adds_up(result.back(), g[i])) return {};
  }
  return result;
}

}  // namespace

Variables per_example_grads(Link& link, const catena::Function<Variable(const Variables&)>& losses,
                            const Variables& batch, const PerExampleOptions& o) try {
  if (!o.vectorized) return per_example_grads(link, losses, batch);
  const std::int64_t n = batch.empty() || !batch[0] || batch[0].ndim() == 0 ? 0 : batch[0].shape(0);
  catena::check<catena::ValueError>(n > 0, "per_example_grads", "the batch has no example");
  NoteCalls note;
  Variable all;
  {
    const LinkHookScope scope(note);
    const auto graph = autograd::force_backprop_mode();
    all = losses(batch);
  }
  catena::check<catena::ValueError>(all.shape() == Shape({n}), "per_example_grads", "the losses have the shape ",
                                    all.shape(), "; with `vectorized`, there must be one for each example, ",
                                    Shape({n}), ": losses take {.reduce = \"no\"}");
  if (std::optional<Variables> result = by_rules(link, all, note.calls)) return *result;
  return per_example_grads(link, losses, batch);
} catch (...) {
  catena::rethrow_standard("per_example_grads");
}

}  // namespace nn
