// The parameters of attention (attention.h), with one layout for the device and the host.
#pragma once

#include <catena/kernels/prelude.h>

namespace catena::device {

enum : int { kAttentionAxes = 4 };  // axes before the group, at most

// An operand (axes..., groups, rows, columns) whose columns are neighbours in memory. Strides in bytes; 0 along the
// groups if these share it; that of rows is less than 2^24, so that offsets in a tile have 32 bits.
struct AttentionOperand {
  char* data;
  int64_t axis[kAttentionAxes];
  int64_t group, row;
};

struct AttentionParameters {
  int64_t length[kAttentionAxes];  // of the axes before the group; 1 where there is none
  int64_t heads;                   // their product
  int64_t groups, queries, keys;
  int64_t causal, window, offset;  // as in AttentionCall (autograd/attention_extension.h)
  float scale;
  float scale2;  // scale * log2(e)
  float unit;    // the magnitude of scale2, positive
  float unused;  // the size is a multiple of 8 bytes
  AttentionOperand q, k, v, y, gy, gq, gk, gv;
  AttentionOperand mask;
  int64_t mask_column;
  // (heads, groups, queries): the logarithm of the sum of exp(scores), infinite if the query sees no key.
  float* log_sums;
  // (heads, groups, queries, 2): the same logarithm in units of log 2, and delta, the sum of gy * y.
  float* row_numbers;
};

}  // namespace catena::device
