// The primitives of oneDNN for convolutions, and the layouts they read and write. Internal to this folder.
#pragma once

#include <catena/autograd/ndarray_backend/onednn/modules/problem.h>

namespace autograd::internal::onednn {

// Layouts of activations in arrays, and whether a primitive accepts them without a reorder.
struct Activations {
  memory::desc plain, last;
  bool takes_plain = false, takes_last = false;
};
struct Plan {
  dnnl::primitive primitive;
  memory::desc src, weights, dst, scratchpad;
  Activations src_arrays, dst_arrays;
  memory::desc plain_filter;             // the layout of arrays
  const memory::desc* filter = nullptr;  // interned weights
};

const dnnl::engine& engine();
// Returns the stream of this thread.
dnnl::stream& stream();
// OutOfMemoryError if the addresses that are left to this process do not suffice for a call of oneDNN. To be called
// right before oneDNN is.
void check_space();
// Returns the plan for a convolution on this thread; null if oneDNN has no implementation.
const Plan* find_plan(const Problem& p);

// The parts of a convolution with their problems; empty if oneDNN cannot compute all of them, or has not the space.
struct Cut {
  std::vector<Part> parts;
  std::vector<Problem> problems;
};
Cut cut(const Problem& whole);

}  // namespace autograd::internal::onednn
