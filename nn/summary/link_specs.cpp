#include <catena/nn/summary/link_specs.h>

#include <tuple>

#include <catena/kernels/base/text.h>
#include <catena/nn/links.h>

namespace nn::internal {
namespace {

std::string text(std::int64_t v) { return std::to_string(v); }
std::string text(int v) { return std::to_string(v); }
std::string text(double v) { return catena::shortest_text(v); }
std::string text(bool v) { return v ? "True" : "False"; }
std::string text(const std::string& v) { return v; }
std::string text(Pair p) { return p.y == p.x ? text(p.y) : catena::concat("(", p.y, ", ", p.x, ")"); }
std::string text(const autograd::Dims& d) {
  for (const std::int64_t v : d)
    if (v != d[0]) return catena::to_string(d);
  return d.size() > 0 ? text(d[0]) : "()";
}
std::string text(const Lengths& l, int ndim) { return text(l.of("Link", "lengths", ndim)); }

// A list "name=value, name=value".
class Specs {
 public:
  template <class T> Specs& add(std::string_view name, const T& value) {
    if (!list_.empty()) list_ += ", ";
    list_.append(name).append("=").append(text(value));
    return *this;
  }
  // Unless the value is the default.
  template <class T, class U> Specs& unless(const U& otherwise, std::string_view name, const T& value) {
    return text(value) == text(static_cast<T>(otherwise)) ? *this : add(name, value);
  }
  // An axis of a parameter: None if the first call determines it.
  Specs& axis(std::string_view name, const Parameter& p, int axis, std::int64_t factor = 1) {
    const Shape shape = p.known_shape();
    const bool known = axis < shape.size() && shape[axis] >= 0;
    return add(name, known ? text(shape[axis] * factor) : std::string("None"));
  }
  std::string str() const { return list_; }

 private:
  std::string list_;
};

// ---- layers -------------------------------------------------------------------------------------
void describe(Specs& s, const Linear& l) {
  s.axis("in_size", l.W, 1).add("out_size", l.out_size).unless(false, "nobias", !l.b.has_value());
  if (l.n_batch_axes) s.add("n_batch_axes", *l.n_batch_axes);
}
template <class Geometry> void describe_window(Specs& s, const Geometry& g) {
  s.unless(1, "stride", g.stride).unless(0, "pad", g.pad);
  if constexpr (requires { g.dilate; }) s.unless(1, "dilate", g.dilate);
  if constexpr (requires { g.groups; }) s.unless(1, "groups", g.groups);
}
void describe(Specs& s, const Convolution2D& l) {
  s.axis("in_channels", l.W, 1, l.geometry.groups).add("out_channels", l.out_channels).add("ksize", l.ksize);
  describe_window(s, l.geometry);
  s.unless(false, "nobias", !l.b.has_value());
}
void describe(Specs& s, const Deconvolution2D& l) {
  s.axis("in_channels", l.W, 0).add("out_channels", l.out_channels).add("ksize", l.ksize);
  describe_window(s, l.geometry);
  if (l.geometry.outsize) s.add("outsize", *l.geometry.outsize);
  s.unless(false, "nobias", !l.b.has_value());
}
void describe(Specs& s, const DepthwiseConvolution2D& l) {
  s.axis("in_channels", l.W, 1).add("channel_multiplier", l.channel_multiplier).add("ksize", l.ksize);
  describe_window(s, l.geometry);
  s.unless(false, "nobias", !l.b.has_value());
}
template <class L> void describe_nd(Specs& s, const L& l, int in_axis, int in_factor) {
  s.add("ndim", l.ndim).axis("in_channels", l.W, in_axis, in_factor).add("out_channels", l.out_channels);
  s.add("ksize", l.ksize);
  const auto& g = l.geometry;
  for (const auto& [name, lengths, otherwise] :
       {std::tuple("stride", &g.stride, "1"), std::tuple("pad", &g.pad, "0"), std::tuple("dilate", &g.dilate, "1")}) {
    const std::string value = text(*lengths, l.ndim);
    if (value != otherwise) s.add(name, value);
  }
  s.unless(1, "groups", g.groups).unless(false, "nobias", !l.b.has_value());
}
void describe(Specs& s, const ConvolutionND& l) { describe_nd(s, l, 1, l.geometry.groups); }
void describe(Specs& s, const DeconvolutionND& l) { describe_nd(s, l, 0, 1); }
void describe(Specs& s, const LocalConvolution2D& l) {
  s.axis("in_channels", l.W, 3).add("out_channels", l.out_channels).add("ksize", l.ksize);
  s.unless(1, "stride", l.stride).unless(false, "nobias", !l.b.has_value());
}
void describe(Specs& s, const DeformableConvolution2D::Sampler& l) {
  s.axis("in_channels", l.W, 1).add("out_channels", l.out_channels).add("ksize", l.ksize);
  describe_window(s, l.geometry);
  s.unless(false, "nobias", !l.b.has_value());
}

// ---- normalization ------------------------------------------------------------------------------
void describe(Specs& s, const BatchNormalization& l) {
  s.add("size", l.avg_mean.array().shape()).unless(0.9, "decay", l.decay).unless(2e-5, "eps", l.eps);
  if (l.axis.given()) s.add("axis", catena::to_string(l.axis.values()));
  s.unless(true, "use_gamma", l.gamma.has_value()).unless(true, "use_beta", l.beta.has_value());
}
void describe(Specs& s, const LayerNormalization& l) {
  s.axis("size", l.gamma, 0).unless(LayerNormalization::Options().eps, "eps", l.eps);
}
void describe(Specs& s, const RMSNorm& l) { s.axis("size", l.gamma, 0).unless(RMSNorm::Options().eps, "eps", l.eps); }
void describe(Specs& s, const GroupNormalization& l) {
  s.add("groups", l.groups).axis("size", l.gamma, 0).unless(GroupNormalization::Options().eps, "eps", l.eps);
}
void describe(Specs& s, const InstanceNormalization& l) {
  if (l.gamma) s.axis("size", *l.gamma, 0);
  s.unless(InstanceNormalization::Options().eps, "eps", l.eps).unless(true, "affine", l.gamma.has_value());
}

// ---- others -------------------------------------------------------------------------------------
void describe(Specs& s, const EmbedID& l) {
  s.axis("in_size", l.W, 0).axis("out_size", l.W, 1);
  if (l.ignore_label) s.add("ignore_label", *l.ignore_label);
  if (l.padding_idx) s.add("padding_idx", *l.padding_idx);
}
template <class L> void describe_lstm(Specs& s, const L& l) {
  s.axis("in_size", l.upward.W, 1).add("out_size", l.state_size);
}
void describe(Specs& s, const LSTM& l) {
  if (!l.layers) describe_lstm(s, l);
}
void describe(Specs& s, const StatelessLSTM& l) { describe_lstm(s, l); }
void describe(Specs& s, const StatefulPeepholeLSTM& l) { describe_lstm(s, l); }
void describe(Specs& s, const StatefulZoneoutLSTM& l) {
  describe_lstm(s, l);
  s.add("c_ratio", l.c_ratio).add("h_ratio", l.h_ratio);
}
void describe(Specs& s, const NStepBase& l) {
  s.add("n_layers", l.n_layers).add("in_size", l.in_size).add("out_size", l.out_size).add("dropout", l.dropout);
}
void describe(Specs& s, const MultiHeadAttention& l) {
  s.add("embed_dim", l.embed_dim).add("num_heads", l.num_heads).unless(l.num_heads, "num_kv_heads", l.num_kv_heads);
  s.unless(0.0, "dropout", l.dropout);
}
void describe(Specs& s, const Maxout& l) { s.add("pool_size", l.pool_size); }
void describe(Specs& s, const SimplifiedDropconnect& l) {
  s.axis("in_size", l.W, 1).axis("out_size", l.W, 0).add("ratio", l.ratio);
}

template <class L> bool described(Specs& s, const Link& link) {
  const auto* const l = dynamic_cast<const L*>(&link);
  if (l == nullptr) return false;
  describe(s, *l);
  return true;
}
template <class... L> bool any_described(Specs& s, const Link& link) { return (described<L>(s, link) || ...); }

void describe_parameters(Specs& s, const Link& link) {
  struct Own final : MemberVisitor {
    Specs& specs;
    explicit Own(Specs& to) : specs(to) {}
    void parameter(std::string_view name, Parameter& p) override {
      const Shape known = p.known_shape();
      specs.add(name, known.size() == 0 && !p.is_initialized() ? "None" : catena::to_string(known));
    }
  } own(s);
  const_cast<Link&>(link).visit_members(own);  // visiting does not change the link
}

}  // namespace

std::string specs_of(const Link& link) {
  Specs s;
  if (!any_described<Linear, Convolution2D, Deconvolution2D, DepthwiseConvolution2D, ConvolutionND, DeconvolutionND,
                     LocalConvolution2D, DeformableConvolution2D::Sampler, BatchNormalization, LayerNormalization,
                     RMSNorm, GroupNormalization, InstanceNormalization, EmbedID, LSTM, StatelessLSTM,
                     StatefulPeepholeLSTM, StatefulZoneoutLSTM, NStepBase, MultiHeadAttention, Maxout,
                     SimplifiedDropconnect>(s, link))
    describe_parameters(s, link);
  return s.str();
}

}  // namespace nn::internal
