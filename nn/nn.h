// Umbrella header of nn: functions, links, networks of Caffe and ONNX, networks for images, initializers, serializers,
// reports.
#pragma once

#include <catena/autograd/config.h>
#include <catena/autograd/functions/torch_names.h>
#include <catena/autograd/profile_hooks.h>
#include <catena/nn/caffe/caffe_function.h>
#include <catena/nn/checkpoint.h>
#include <catena/nn/clipping.h>
#include <catena/nn/distributions/continuous.h>
#include <catena/nn/distributions/discrete.h>
#include <catena/nn/distributions/distributions.h>
#include <catena/nn/distributions/gamma.h>
#include <catena/nn/distributions/matrices.h>
#include <catena/nn/distributions/multivariate_normal.h>
#include <catena/nn/distributions/transforms.h>
#include <catena/nn/functional_call.h>
#include <catena/nn/functions.h>
#include <catena/nn/init.h>
#include <catena/nn/initializer.h>
#include <catena/nn/link.h>
#include <catena/nn/link_hook.h>
#include <catena/nn/link_hooks.h>
#include <catena/nn/links.h>
#include <catena/nn/onnx/export.h>
#include <catena/nn/onnx/import.h>
#include <catena/nn/onnx/program.h>
#include <catena/nn/onnx/tensor.h>
#include <catena/nn/parameter.h>
#include <catena/nn/path_pattern.h>
#include <catena/nn/reporter.h>
#include <catena/nn/serializers/files.h>
#include <catena/nn/serializers/gguf.h>
#include <catena/nn/serializers/hdf5.h>
#include <catena/nn/serializers/npz.h>
#include <catena/nn/serializers/safetensors.h>
#include <catena/nn/serializers/serializer.h>
#include <catena/nn/serializers/state_dict.h>
#include <catena/nn/serializers/torch.h>
#include <catena/nn/summary.h>
#include <catena/nn/vision.h>
#include <catena/nn/walker_alias.h>

namespace nn {
namespace functional = functions;  // PyTorch's name of the module of functions
namespace function_hooks = autograd::function_hooks;
using autograd::cat, autograd::concat, autograd::separate, autograd::split_axis, autograd::stack;
using autograd::config, autograd::force_backprop_mode, autograd::no_backprop_mode, autograd::train_mode,
    autograd::using_config;
}  // namespace nn

// The functions that PyTorch also has beside those of tensors: torch.relu(x).
namespace autograd {
using nn::celu, nn::dropout, nn::gelu, nn::log_softmax, nn::prelu, nn::relu, nn::selu, nn::silu, nn::softmax;
using nn::softplus;
}  // namespace autograd
