// The parameters of depthwise convolutions (depthwise.h), with one layout for the device and the host.
#pragma once

#include <catena/kernels/prelude.h>

namespace catena::device {

// Images (images, channels, height, width), the larger ones `x` of a convolution and the results `y` of it, both dense
// with the channels in the second or in the last place in memory; filters (channels, K, K).
struct DepthwiseParameters {
  int64_t images, channels;
  int64_t height, width;          // of x
  int64_t out_height, out_width;  // of y
  int64_t pad_y, pad_x;           // elements before the first one that the first window covers; may be negative
  int64_t flip;                   // 1: the filters are read backwards
  int64_t pieces, piece;          // of the gradient of the filters: groups of rows of all images, divided into pieces
  const void* x;
  const void* w;
  const void* bias;  // null: none
  void* y;
  void* partial;  // gradients of the filters by pieces, (pieces, channels, K, K), in the compute type
};

}  // namespace catena::device
