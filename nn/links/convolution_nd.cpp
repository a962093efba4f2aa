#include <catena/nn/links/convolution_nd.h>

#include <catena/nn/functions/connection/geometry.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/links/filters.h>
#include <catena/nn/links/quantized_weight.h>

namespace nn {

using autograd::Dims;
using internal::filter_detail;
using internal::grouped;
using internal::handle_of;
using internal::kFirstCall;

namespace {

// Returns the lengths of a kernel, after checking the options.
template <class Options> Dims kernel_of(const char* link, int ndim, const Lengths& kernel, const Options& o) {
  catena::check<catena::ValueError>(ndim >= 1, link, "ndim is ", ndim, "; there must be one spatial axis at least");
  internal::check_geometry(link, o, ndim);
  if constexpr (requires { o.outsize; })
    if (o.outsize) o.outsize->of(link, "outsize", ndim);
  return kernel.of(link, "ksize", ndim);
}

Shape filter_shape(std::int64_t first, std::int64_t second, const Dims& kernel) {
  Shape shape{first, second};
  for (const std::int64_t k : kernel) shape.push_back(k);
  return shape;
}

}  // namespace

// ---- convolution --------------------------------------------------------------------------------
ConvolutionND::ConvolutionND(int axes, std::optional<int> in, int out, const Lengths& kernel, const Options& o)
    : WeightAndBias(Parameter(scaled_initializer(o.initialW, 1.0),
                              filter_shape(out, -1, kernel_of("ConvolutionND", axes, kernel, o)))),
      ndim(axes),
      out_channels(out),
      ksize(kernel.of("ConvolutionND", "ksize", axes)),
      geometry{.stride = o.stride,
               .pad = o.pad,
               .dilate = o.dilate,
               .cover_all = o.cover_all,
               .groups = o.groups,
               .deterministic = o.deterministic,
               .use_cudnn = o.use_cudnn} {
  grouped("ConvolutionND", "out_channels", out, o.groups);
  if (o.initial_bias) b.emplace(o.initial_bias, Shape{out});
  if (in) W.initialize(filter_shape(out, grouped("ConvolutionND", "in_channels", *in, o.groups), ksize));
  name_params();
  refer_handles();
}

Variable ConvolutionND::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized()) {
      internal::check_ndim(x, 2 + ndim);
      W.initialize(filter_shape(out_channels, grouped(kFirstCall, "in_channels", x.shape(1), geometry.groups), ksize));
    }
    return called(convolution_nd(x, internal::weight_of(*this, W), handle_of(b), geometry));
  } catch (...) {
    internal::rethrow_at(*this, "ConvolutionND", filter_detail(x, W, 1, geometry.groups));
  }
}

// ---- transposed convolution ---------------------------------------------------------------------
DeconvolutionND::DeconvolutionND(int axes, std::optional<int> in, int out, const Lengths& kernel, const Options& o)
    : WeightAndBias(Parameter(scaled_initializer(o.initialW, 1.0),
                              filter_shape(-1, grouped("DeconvolutionND", "out_channels", out, o.groups),
                                           kernel_of("DeconvolutionND", axes, kernel, o)))),
      ndim(axes),
      out_channels(out),
      ksize(kernel.of("DeconvolutionND", "ksize", axes)),
      geometry{.stride = o.stride,
               .pad = o.pad,
               .outsize = o.outsize,
               .dilate = o.dilate,
               .groups = o.groups,
               .deterministic = o.deterministic,
               .use_cudnn = o.use_cudnn} {
  if (o.initial_bias && !o.nobias) b.emplace(o.initial_bias, Shape{out});
  if (in) {
    grouped("DeconvolutionND", "in_channels", *in, o.groups);
    W.initialize(filter_shape(*in, out / o.groups, ksize));
  }
  name_params();
  refer_handles();
}

Variable DeconvolutionND::operator()(const Variable& x) {
  update_handles();
  LinkCall called(*this, x);
  try {
    if (!W.is_initialized()) {
      internal::check_ndim(x, 2 + ndim);
      grouped(kFirstCall, "in_channels", x.shape(1), geometry.groups);
      W.initialize(filter_shape(x.shape(1), out_channels / geometry.groups, ksize));
    }
    return called(deconvolution_nd(x, W, handle_of(b), geometry));
  } catch (...) {
    internal::rethrow_at(*this, "DeconvolutionND", filter_detail(x, W, 0, 1));
  }
}

ConvolutionNDLinkOptions internal::any_rank(const SpatialConvolutionOptions& o) {
  return {.stride = o.stride,
          .pad = o.pad,
          .dilate = o.dilate,
          .groups = o.groups,
          .initialW = o.initialW,
          .initial_bias = o.nobias ? Initializer() : o.initial_bias,
          .deterministic = o.deterministic,
          .use_cudnn = o.use_cudnn};
}

}  // namespace nn
