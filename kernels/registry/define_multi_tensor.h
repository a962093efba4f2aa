// Multi-tensor kernels.
#pragma once

#include <catena/kernels/registry/define.h>

namespace catena::define {

template <class Body, class... L> ND_FN void run_update(const double* hyper, std::int64_t n, L... lane) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) Body::run(hyper, lane[i]...);
}

template <class Body, fixed_string S, class Seq> struct MultiTensor;
template <class Body, fixed_string S, std::size_t... K> struct MultiTensor<Body, S, std::index_sequence<K...>> {
  CATENA_MULTIARCH static void run(const double* hyper, std::byte* const* p, std::int64_t n) {
    double h[8];  // a local copy, so that stores to tensors cannot change it
    for (int k = 0; k < 8; ++k) h[k] = hyper[k];
    run_update<Body>(h, n, Operand<computed_t<S, int(K)>, ((signature_of<S>.shared >> K) & 1) != 0>(p[K])...);
  }
};

template <class Body, class L> struct MultiTensorLoops;
template <class Body, fixed_string... S> struct MultiTensorLoops<Body, loops<S...>> {
  static constexpr Loop table[] = {
      {.type = signature_of<S>.type,
       .multi_tensor = &MultiTensor<Body, compute_signature<S>, operand_sequence<S>>::run}...};
};
template <class Body, class L> constexpr KernelDef multi_tensor(const char* name, const char* header) {
  return make_row(name, header, KernelKind::multi_tensor, MultiTensorLoops<Body, L>::table, L{});
}

}  // namespace catena::define
