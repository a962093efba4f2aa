// Umbrella header of all libraries: arrays, automatic differentiation, neural networks, training. A program that
// includes it uses ndarray as the framework's array library.
#pragma once

#include <catena/autograd/array.h>
#include <catena/autograd/autocast.h>
#include <catena/autograd/backward.h>
#include <catena/autograd/backward_arguments.h>
#include <catena/autograd/capture.h>
#include <catena/autograd/checkpoint.h>
#include <catena/autograd/computational_graph.h>
#include <catena/autograd/config.h>
#include <catena/autograd/control_flow.h>
#include <catena/autograd/custom_function.h>
#include <catena/autograd/debug.h>
#include <catena/autograd/derivatives.h>
#include <catena/autograd/external_function.h>
#include <catena/autograd/flag.h>
#include <catena/autograd/forget.h>
#include <catena/autograd/func.h>
#include <catena/autograd/function.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/basic_math.h>
#include <catena/autograd/functions/einsum.h>
#include <catena/autograd/functions/extrema.h>
#include <catena/autograd/functions/fft.h>
#include <catena/autograd/functions/linalg.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/functions/special.h>
#include <catena/autograd/functions/torch_arithmetic.h>
#include <catena/autograd/functions/torch_copies.h>
#include <catena/autograd/functions/torch_in_place.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/functions/torch_products.h>
#include <catena/autograd/functions/torch_special.h>
#include <catena/autograd/functions/torch_statistics.h>
#include <catena/autograd/grad.h>
#include <catena/autograd/gradient_check.h>
#include <catena/autograd/hooks.h>
#include <catena/autograd/memory_format.h>
#include <catena/autograd/ndarray_backend/convert.h>
#include <catena/autograd/ndarray_backend/cuda.h>
#include <catena/autograd/ndarray_backend/in_place.h>
#include <catena/autograd/ndarray_backend/list_config.h>
#include <catena/autograd/ndarray_backend/ndarray_backend.h>
#include <catena/autograd/ndarray_backend/tensor.h>
#include <catena/autograd/ndarray_backend/torch_creation.h>
#include <catena/autograd/ndarray_backend/torch_cuda.h>
#include <catena/autograd/ndarray_backend/torch_fft.h>
#include <catena/autograd/ndarray_backend/torch_functions.h>
#include <catena/autograd/ndarray_backend/torch_linalg.h>
#include <catena/autograd/ndarray_backend/torch_options.h>
#include <catena/autograd/ndarray_backend/torch_signal.h>
#include <catena/autograd/ndarray_backend/torch_types.h>
#include <catena/autograd/no_grad.h>
#include <catena/autograd/operators.h>
#include <catena/autograd/profile_hooks.h>
#include <catena/autograd/random_state.h>
#include <catena/autograd/testing.h>
#include <catena/autograd/trace.h>
#include <catena/autograd/unbatched.h>
#include <catena/autograd/variable.h>
#include <catena/autograd/vmap.h>
#include <catena/kernels/base/parallel.h>
#include <catena/kernels/base/version.h>
#include <catena/ndarray/ndarray.h>
#include <catena/nn/nn.h>
#include <catena/training/multi_node.h>
#include <catena/training/training.h>

// Names that PyTorch has in torch and below it.
namespace autograd {
namespace distributions = nn::distributions;
namespace onnx = nn::onnx;
namespace amp {
using autograd::autocast;
using training::GradScaler;
}  // namespace amp
namespace cuda::amp {
using training::GradScaler;
}  // namespace cuda::amp
namespace indexing {
using autograd::Ellipsis;
// The slice of libtorch, of which a single number is the start: Slice(2) is 2:, and autograd::Slice(2) is :2.
struct Slice : autograd::Slice {
  constexpr Slice(std::optional<std::int64_t> start_ = {}, std::optional<std::int64_t> stop_ = {},
                  std::optional<std::int64_t> step_ = {})
      : autograd::Slice(start_, stop_, step_) {}
};
#ifndef None  // a macro of X11
using autograd::None;
#endif
}  // namespace indexing
namespace func {
using nn::functional_call, nn::stack_module_state;
}  // namespace func
using nn::checkpoint_sequential;
using nn::load, nn::save;
// Functions of torch.nn.functional that PyTorch also has in torch.
using nn::alpha_dropout, nn::bilinear, nn::binary_cross_entropy_with_logits, nn::channel_shuffle,
    nn::cosine_embedding_loss, nn::cosine_similarity, nn::ctc_loss, nn::feature_alpha_dropout, nn::hardshrink,
    nn::hinge_embedding_loss, nn::kl_div, nn::margin_ranking_loss, nn::pairwise_distance, nn::pdist, nn::pixel_shuffle,
    nn::pixel_unshuffle, nn::poisson_nll_loss, nn::rrelu, nn::threshold, nn::triplet_margin_loss;
using nn::functions::adaptive_avg_pool1d, nn::functions::adaptive_max_pool1d, nn::functions::avg_pool1d,
    nn::functions::batch_norm, nn::functions::conv1d, nn::functions::conv2d, nn::functions::conv3d,
    nn::functions::conv_transpose1d, nn::functions::conv_transpose2d, nn::functions::conv_transpose3d,
    nn::functions::embedding, nn::functions::embedding_bag, nn::functions::group_norm, nn::functions::instance_norm,
    nn::functions::layer_norm, nn::functions::max_pool1d, nn::functions::max_pool1d_with_indices,
    nn::functions::max_pool2d, nn::functions::max_pool3d, nn::functions::rms_norm;
using training::GradScaler;
namespace utils::checkpoint {
using autograd::checkpoint;
using nn::checkpoint_sequential;
}  // namespace utils::checkpoint
}  // namespace autograd

namespace autograd::internal {

// In the user's own translation unit, so that the framework's libraries need no array library.
inline const bool arrays_are_ndarrays = (set_default_backend(&ndarray_backend), true);

}  // namespace autograd::internal
