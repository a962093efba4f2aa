// Launch skeleton of multi-tensor kernels: one launch over a table of tensors, one block per chunk of a tensor.
#pragma once

#include <catena/kernels/device/elementwise.h>

namespace catena::device {

// Calls the body with the hyperparameters of the tensor. `hyper` is a local copy, so that stores to a
// tensor cannot change it.
template <class Body> struct Update {
  template <int W, class... L> static ND_FN void chunk(const double* hyper, L&... lane) {
    (lane.template fetch<W>(), ...);
    ND_UNROLL
    for (int j = 0; j < W; ++j) Body::run(hyper, lane(j)...);
    (lane.template flush<W>(), ...);
  }
};

template <class Body, int V, class... L>
ND_FN void run_update(const double* hyper, int64_t begin, int64_t end, L... lane) {
  if constexpr (V > 1) {
    if ((lane.template aligned<V>() && ...)) {
      for (int64_t i = begin + int64_t(threadIdx.x) * V; i + V <= end; i += int64_t(blockDim.x) * V) {
        (lane.move(i * L::size), ...);
        Update<Body>::template chunk<V>(hyper, lane...);
      }
      begin += (end - begin) / V * V;
    }
  }
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    (lane.move(i * L::size), ...);
    Update<Body>::template chunk<1>(hyper, lane...);
  }
}

template <class Body, int V, class... Tag, int... K>
ND_FN void multi_tensor_over(const MultiTensorParameters& p, Indices<K...>) {
  const TensorChunk at = p.chunks[blockIdx.x];
  const TensorEntry<int(sizeof...(Tag))>& tensor =
      static_cast<const TensorEntry<int(sizeof...(Tag))>*>(p.tensors)[at.tensor];
  const double* from = p.hyper != nullptr ? p.hyper + tensor.hyper * kHyper : p.common;
  double hyper[kHyper];
  ND_UNROLL
  for (int k = 0; k < kHyper; ++k) hyper[k] = from[k];
  const int64_t begin = int64_t(at.chunk) * kChunk, last = begin + kChunk, end = last < tensor.n ? last : tensor.n;
  run_update<Body, V>(hyper, begin, end, typename Tag::template lane<V>(tensor, K)...);
}
template <class Body, int V, class... Tag> ND_FN void multi_tensor(const MultiTensorParameters& p) {
  multi_tensor_over<Body, V, Tag...>(p, make_indices<int(sizeof...(Tag))>{});
}

}  // namespace catena::device
