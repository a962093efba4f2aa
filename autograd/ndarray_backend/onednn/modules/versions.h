// The differences between oneDNN 2 and 3. oneDNN 3 has no operation descriptors: their contents are arguments of the
// primitive descriptor. Internal to this folder.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

namespace autograd::internal::onednn {

using dnnl::algorithm;
using dnnl::memory;

struct Geometry {
  memory::dims stride, dilate, pad, pad_end;
};

inline dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(
      dnnl::scratchpad_mode::user);  // scratch memory is taken from the pool, not kept by primitives
  return attr;
}

#if DNNL_VERSION_MAJOR >= 3
inline dnnl::convolution_forward::primitive_desc describe_forward(const dnnl::engine& e, algorithm how,
                                                                  const memory::desc& src, const memory::desc& w,
                                                                  const memory::desc* b, const memory::desc& dst,
                                                                  const Geometry& g) {
  constexpr auto kind = dnnl::prop_kind::forward_training;
  if (b) return {e, kind, how, src, w, *b, dst, g.stride, g.dilate, g.pad, g.pad_end, attributes()};
  return {e, kind, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end, attributes()};
}
inline dnnl::convolution_backward_data::primitive_desc describe_data(
    const dnnl::engine& e, algorithm how, const memory::desc& src, const memory::desc& w, const memory::desc& dst,
    const Geometry& g, const dnnl::convolution_forward::primitive_desc& hint) {
  return {e, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end, hint, attributes()};
}
inline dnnl::convolution_backward_weights::primitive_desc describe_weights(
    const dnnl::engine& e, algorithm how, const memory::desc& src, const memory::desc& w, const memory::desc& dst,
    const Geometry& g, const dnnl::convolution_forward::primitive_desc& hint) {
  return {e, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end, hint, attributes()};
}

// The layout of a blocked description.
struct Blocking {
  memory::dims dims, padded_dims, strides, inner_blocks, inner_axes;
  explicit Blocking(const memory::desc& d)
      : dims(d.get_dims()),
        padded_dims(d.get_padded_dims()),
        strides(d.get_strides()),
        inner_blocks(d.get_inner_blks()),
        inner_axes(d.get_inner_idxs()) {}
};
inline bool is_blocked(const memory::desc& d) { return d.get_format_kind() == memory::format_kind::blocked; }
#else
inline dnnl::convolution_forward::primitive_desc describe_forward(const dnnl::engine& e, algorithm how,
                                                                  const memory::desc& src, const memory::desc& w,
                                                                  const memory::desc* b, const memory::desc& dst,
                                                                  const Geometry& g) {
  using Desc = dnnl::convolution_forward::desc;
  constexpr auto kind = dnnl::prop_kind::forward_training;
  const Desc desc = b ? Desc(kind, how, src, w, *b, dst, g.stride, g.dilate, g.pad, g.pad_end)
                      : Desc(kind, how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end);
  return {desc, attributes(), e};
}
inline dnnl::convolution_backward_data::primitive_desc describe_data(
    const dnnl::engine& e, algorithm how, const memory::desc& src, const memory::desc& w, const memory::desc& dst,
    const Geometry& g, const dnnl::convolution_forward::primitive_desc& hint) {
  return {{how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end}, attributes(), e, hint};
}
inline dnnl::convolution_backward_weights::primitive_desc describe_weights(
    const dnnl::engine& e, algorithm how, const memory::desc& src, const memory::desc& w, const memory::desc& dst,
    const Geometry& g, const dnnl::convolution_forward::primitive_desc& hint) {
  return {{how, src, w, dst, g.stride, g.dilate, g.pad, g.pad_end}, attributes(), e, hint};
}

struct Blocking {
  memory::dims dims, padded_dims, strides, inner_blocks, inner_axes;
  explicit Blocking(const memory::desc& d) {
    const auto& b = d.data.format_desc.blocking;
    dims.assign(d.data.dims, d.data.dims + d.data.ndims);
    padded_dims.assign(d.data.padded_dims, d.data.padded_dims + d.data.ndims);
    strides.assign(b.strides, b.strides + d.data.ndims);
    inner_blocks.assign(b.inner_blks, b.inner_blks + b.inner_nblks);
    inner_axes.assign(b.inner_idxs, b.inner_idxs + b.inner_nblks);
  }
};
inline bool is_blocked(const memory::desc& d) { return d.data.format_kind == dnnl_blocked; }
#endif

}  // namespace autograd::internal::onednn
