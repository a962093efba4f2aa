#include <catena/ndarray/chainer_cuda/kernels.h>

#include <vector>

namespace nd::cuda {

using Texts = std::vector<std::string>;

ElementwiseKernel elementwise(const std::string& in_params, const std::string& out_params, const std::string& operation,
                              const std::string& name, const ElementwiseKernelOptions& options) {
  static const auto& kernels = *new auto(memoize(
      [](const Texts& texts, bool reduce_dims, const Texts& compiler) {
        return ElementwiseKernel(texts[0], texts[1], texts[2], texts[3],
                                 {reduce_dims, texts[4], compiler, texts[5], texts[6]});
      },
      {.for_each_device = true}));
  return kernels({in_params, out_params, operation, name, options.preamble, options.loop_prep, options.after_loop},
                 options.reduce_dims, options.options);
}

ReductionKernel reduce(const std::string& in_params, const std::string& out_params, const std::string& map_expr,
                       const std::string& reduce_expr, const std::string& post_map_expr,
                       const std::optional<std::string>& identity, const std::string& name,
                       const ReductionKernelOptions& options) {
  static const auto& kernels = *new auto(memoize(
      [](const Texts& texts, bool has_identity, bool reduce_dims, const Texts& compiler) {
        const std::optional<std::string_view> start =
            has_identity ? std::optional<std::string_view>(texts[7]) : std::nullopt;
        return ReductionKernel(texts[0], texts[1], texts[2], texts[3], texts[4], start, texts[5],
                               {texts[6], reduce_dims, texts[8], compiler});
      },
      {.for_each_device = true}));
  return kernels({in_params, out_params, map_expr, reduce_expr, post_map_expr, name, options.reduce_type,
                  identity.value_or(""), options.preamble},
                 identity.has_value(), options.reduce_dims, options.options);
}

}  // namespace nd::cuda
