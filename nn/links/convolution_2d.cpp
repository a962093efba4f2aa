#include <catena/nn/links/convolution_2d.h>

#include <cmath>

#include <catena/nn/functions/connection/geometry.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>
#include <catena/nn/links/quantized_weight.h>

namespace nn {

using internal::filter_detail;
using internal::grouped;
using internal::handle_of;
using internal::kFirstCall;

// ---- convolution --------------------------------------------------------------------------------
Convolution2D::Convolution2D(std::optional<int> in_channels, int out, Pair k, const Options& o)
    : WeightAndBias(Parameter(scaled_initializer(o.initialW, std::sqrt(o.wscale)), {out, -1, k.y, k.x})),
      out_channels(out),
      ksize(k),
      geometry{.stride = o.stride,
               .pad = o.pad,
               .dilate = o.dilate,
               .groups = o.groups,
               .deterministic = o.deterministic,
               .use_cudnn = o.use_cudnn} {
  internal::check_geometry("Convolution2D", o, 2);
  grouped("Convolution2D", "out_channels", out, o.groups);
  if (!o.nobias) b.emplace(internal::bias_initializer(o), Shape{out});
  if (in_channels) W.initialize({out, grouped("Convolution2D", "in_channels", *in_channels, o.groups), k.y, k.x});
  name_params();
  refer_handles();
}

Variable Convolution2D::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized()) {
      internal::check_ndim(x, 4);
      W.initialize({out_channels, grouped(kFirstCall, "in_channels", x.shape(1), geometry.groups), ksize.y, ksize.x});
    }
    return called(convolution_2d(x, internal::weight_of(*this, W), handle_of(b), geometry));
  } catch (...) {
    internal::rethrow_at(*this, "Convolution2D", filter_detail(x, W, 1, geometry.groups));
  }
}

// ---- transposed convolution ---------------------------------------------------------------------
Deconvolution2D::Deconvolution2D(std::optional<int> in_channels, int out, Pair k, const Options& o)
    : WeightAndBias(Parameter(scaled_initializer(o.initialW, std::sqrt(o.wscale)),
                              {-1, grouped("Deconvolution2D", "out_channels", out, o.groups), k.y, k.x})),
      out_channels(out),
      ksize(k),
      geometry{.stride = o.stride,
               .pad = o.pad,
               .outsize = o.outsize,
               .dilate = o.dilate,
               .groups = o.groups,
               .deterministic = o.deterministic,
               .use_cudnn = o.use_cudnn} {
  internal::check_geometry("Deconvolution2D", o, 2);
  if (!o.nobias) b.emplace(internal::bias_initializer(o), Shape{out});
  if (in_channels) {
    grouped("Deconvolution2D", "in_channels", *in_channels, o.groups);
    W.initialize({*in_channels, out / o.groups, k.y, k.x});
  }
  name_params();
  refer_handles();
}

Variable Deconvolution2D::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized()) {
      internal::check_ndim(x, 4);
      grouped(kFirstCall, "in_channels", x.shape(1), geometry.groups);
      W.initialize({x.shape(1), out_channels / geometry.groups, ksize.y, ksize.x});
    }
    return called(deconvolution_2d(x, W, handle_of(b), geometry));
  } catch (...) {
    internal::rethrow_at(*this, "Deconvolution2D", filter_detail(x, W, 0, 1));
  }
}

// ---- filters for each channel -------------------------------------------------------------------
DepthwiseConvolution2D::DepthwiseConvolution2D(std::optional<int> in, int multiplier, Pair k, const Options& o)
    : W(scaled_initializer(o.initialW, 1.0), {multiplier, -1, k.y, k.x}),
      channel_multiplier(multiplier),
      ksize(k),
      geometry{.stride = o.stride, .pad = o.pad, .dilate = o.dilate} {
  internal::check_geometry("DepthwiseConvolution2D", o, 2);
  if (!o.nobias) b.emplace(o.initial_bias, Shape{-1});
  if (in) initialize(*in);
  name_params();
}

void DepthwiseConvolution2D::initialize(std::int64_t in) {
  if (!W.is_initialized()) W.initialize({channel_multiplier, in, ksize.y, ksize.x});
  if (b && !b->is_initialized()) b->initialize({in * channel_multiplier});
}

Variable DepthwiseConvolution2D::operator()(const Variable& x) {
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized() || (b && !b->is_initialized())) {
      internal::check_ndim(x, 4);
      initialize(x.shape(1));
    }
    return called(depthwise_convolution_2d(x, W, handle_of(b), geometry));
  } catch (...) {
    internal::rethrow_at(*this, "DepthwiseConvolution2D", filter_detail(x, W, 1, 1));
  }
}

}  // namespace nn
