#include <catena/nn/links/composed_convolution_2d.h>

#include <cmath>

#include <catena/nn/functions/connection/geometry.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>

namespace nn {

using internal::handle_of;

// ---- filters for each position ------------------------------------------------------------------
namespace {

// N(0, 1 / (in kh kw)) for W (out, oh, ow, in, kh, kw), whose fan-in does not include the positions.
Initializer local_filters(const Initializer& given) {
  if (given) return given;
  return {[](const Array& a) { initializers::Normal(1 / std::sqrt(double(a.shape(3) * a.shape(4) * a.shape(5))))(a); }};
}

}  // namespace

LocalConvolution2D::LocalConvolution2D(std::optional<int> in, int out, std::optional<Pair> in_size, Pair k,
                                       const Options& o)
    : W(local_filters(o.initialW), {out, -1, -1, -1, k.y, k.x}), out_channels(out), ksize(k), stride(o.stride) {
  catena::check<catena::ValueError>(stride.y >= 1 && stride.x >= 1, "LocalConvolution2D", "the stride is (", stride.y,
                                    ", ", stride.x, "); it must be at least 1");
  if (!o.nobias) b.emplace(o.initial_bias, Shape{out, -1, -1});
  if (in && in_size) initialize(*in, in_size->y, in_size->x);
  name_params();
}

void LocalConvolution2D::initialize(std::int64_t in, std::int64_t height, std::int64_t width) {
  catena::check<catena::ValueError>(height >= ksize.y && width >= ksize.x, "LocalConvolution2D", "images of (", height,
                                    ", ", width, ") pixels are smaller than the kernel (", ksize.y, ", ", ksize.x, ")");
  const std::int64_t oh = (height - ksize.y) / stride.y + 1, ow = (width - ksize.x) / stride.x + 1;
  if (!W.is_initialized()) W.initialize({out_channels, oh, ow, in, ksize.y, ksize.x});
  if (b && !b->is_initialized()) b->initialize({out_channels, oh, ow});
}

Variable LocalConvolution2D::operator()(const Variable& x) {
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized() || (b && !b->is_initialized())) {
      internal::check_ndim(x, 4);
      initialize(x.shape(1), x.shape(2), x.shape(3));
    }
    return called(local_convolution_2d(x, W, handle_of(b), {.stride = stride}));
  } catch (...) {
    internal::rethrow_at(*this, "LocalConvolution2D", internal::dtype_detail(x, W));
  }
}

// ---- moved taps ---------------------------------------------------------------------------------
DeformableConvolution2D::DeformableConvolution2D(std::optional<int> in, int out, Pair k, const Options& o)
    : offset_conv(in, 2 * k.y * k.x, k,
                  {.stride = o.stride,
                   .pad = o.pad,
                   .nobias = o.offset_nobias,
                   .initialW = o.offset_initialW,
                   .initial_bias = o.offset_initial_bias}),
      deform_conv(in, out, k, o) {
  name_params();
}

Variable DeformableConvolution2D::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  return called(deform_conv(x, offset_conv(x)));
}

DeformableConvolution2D::Sampler::Sampler(std::optional<int> in, int out, Pair k, const Options& o)
    : W(scaled_initializer(o.deform_initialW, 1.0), {out, -1, k.y, k.x}),
      out_channels(out),
      ksize(k),
      geometry{.stride = o.stride, .pad = o.pad} {
  if (!o.deform_nobias) b.emplace(o.deform_initial_bias, Shape{out});
  if (in) W.initialize({out, *in, k.y, k.x});
  name_params();
}

Variable DeformableConvolution2D::Sampler::operator()(const Variable& x, const Variable& offset) {
  LinkCall called(*this, x, offset);
  try {
    if (!W.is_initialized()) {
      internal::check_ndim(x, 4);
      W.initialize({out_channels, x.shape(1), ksize.y, ksize.x});
    }
    return called(deformable_convolution_2d_sampler(x, offset, W, handle_of(b), geometry));
  } catch (...) {
    internal::rethrow_at(*this, "DeformableConvolution2D", internal::filter_detail(x, W, 1, 1));
  }
}

// ---- channels, then positions -------------------------------------------------------------------
DepthwiseSeparableConvolution2D::DepthwiseSeparableConvolution2D(std::optional<int> in, int out, Pair k,
                                                                 const Options& o)
    : depthwise(in, o.channel_multiplier, k,
                {.stride = o.stride,
                 .pad = o.pad,
                 .dilate = o.dilate,
                 .nobias = o.nobias,
                 .initialW = o.initialW,
                 .initial_bias = o.initial_bias}),
      pointwise(in ? std::optional<int>(*in * o.channel_multiplier) : std::nullopt, out, 1,
                {.nobias = o.nobias, .initialW = o.initialW, .initial_bias = o.initial_bias}) {
  name_params();
}

Variable DepthwiseSeparableConvolution2D::operator()(const Variable& x) {
  LinkCall called(*this, x);
  const internal::CallScope scope(*this);
  return called(pointwise(depthwise(x)));
}

}  // namespace nn
