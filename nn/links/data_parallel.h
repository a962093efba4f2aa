// PyTorch's wrapper of a model for several devices of one process.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/named.h>
#include <catena/nn/link.h>

namespace nn {

struct DataParallelOptions {
  [[no_unique_address]] catena::Named named = catena::Named();
  std::vector<int> device_ids = {};
  int output_device = 0, dim = 0;
};

// Calls its module, on the device of the module; the options have no effect. Training on several devices:
// training::ParallelUpdater. A named model is referred to and must outlive the wrapper, a temporary one is owned. Keys
// are those of the module below "module".
//   nn::DataParallel parallel(model);   parallel(x);   parallel.module.state_dict()
template <class M> class DataParallel : public Chain {
 public:
  template <class N>
  requires(std::is_same_v<std::remove_cvref_t<N>, std::remove_cvref_t<M>>) explicit DataParallel(
      N&& model, const DataParallelOptions& = {})
      : module(std::forward<N>(model)) {}

  NN_MEMBERS(module)
  template <class... X> auto operator()(const X&... xs) -> decltype(std::declval<M&>()(xs...)) { return module(xs...); }

  M module;
};
template <class M> DataParallel(M&&) -> DataParallel<M>;
template <class M> DataParallel(M&&, DataParallelOptions) -> DataParallel<M>;

}  // namespace nn
