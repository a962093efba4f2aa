#include <catena/kernels/nn/activation.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/activation.h";

}  // namespace

CATENA_DEFINE_KERNEL relu = elementwise<k::relu, Floats1>("relu", kHeader);
CATENA_DEFINE_KERNEL relu_bwd = elementwise<k::relu_bwd, Floats2>("relu_bwd", kHeader);
CATENA_DEFINE_KERNEL clipped_relu = elementwise<k::clipped_relu, Floats2>("clipped_relu", kHeader);
CATENA_DEFINE_KERNEL clipped_relu_bwd = elementwise<k::clipped_relu_bwd, Floats3>("clipped_relu_bwd", kHeader);
CATENA_DEFINE_KERNEL sigmoid = transcendental<k::sigmoid, Floats1>("sigmoid", kHeader);
CATENA_DEFINE_KERNEL sigmoid_bwd = elementwise<k::sigmoid_bwd, Floats2>("sigmoid_bwd", kHeader);
CATENA_DEFINE_KERNEL tanh_bwd = elementwise<k::tanh_bwd, Floats2>("tanh_bwd", kHeader);
CATENA_DEFINE_KERNEL leaky_relu = elementwise<k::leaky_relu, Floats2>("leaky_relu", kHeader);
CATENA_DEFINE_KERNEL leaky_relu_bwd = elementwise<k::leaky_relu_bwd, Floats3>("leaky_relu_bwd", kHeader);
CATENA_DEFINE_KERNEL elu = transcendental<k::elu, Floats2>("elu", kHeader);
CATENA_DEFINE_KERNEL elu_bwd = transcendental<k::elu_bwd, Floats3>("elu_bwd", kHeader);
CATENA_DEFINE_KERNEL softplus = transcendental<k::softplus, Floats2>("softplus", kHeader);
CATENA_DEFINE_KERNEL softplus_bwd = transcendental<k::softplus_bwd, Floats3>("softplus_bwd", kHeader);
CATENA_DEFINE_KERNEL hard_sigmoid = elementwise<k::hard_sigmoid, Floats1>("hard_sigmoid", kHeader);
CATENA_DEFINE_KERNEL hard_sigmoid_bwd = elementwise<k::hard_sigmoid_bwd, Floats2>("hard_sigmoid_bwd", kHeader);
CATENA_DEFINE_KERNEL silu = transcendental<k::silu, Floats1>("silu", kHeader);
CATENA_DEFINE_KERNEL silu_bwd = transcendental<k::silu_bwd, Floats2>("silu_bwd", kHeader);
CATENA_DEFINE_KERNEL gelu = transcendental<k::gelu, Floats1>("gelu", kHeader);
CATENA_DEFINE_KERNEL gelu_bwd = transcendental<k::gelu_bwd, Floats2>("gelu_bwd", kHeader);
CATENA_DEFINE_KERNEL gelu_tanh = transcendental<k::gelu_tanh, Floats1>("gelu_tanh", kHeader);
CATENA_DEFINE_KERNEL gelu_tanh_bwd = transcendental<k::gelu_tanh_bwd, Floats2>("gelu_tanh_bwd", kHeader);
CATENA_DEFINE_KERNEL mish = transcendental<k::mish, Floats1>("mish", kHeader);
CATENA_DEFINE_KERNEL mish_bwd = transcendental<k::mish_bwd, Floats2>("mish_bwd", kHeader);
CATENA_DEFINE_KERNEL hard_swish = elementwise<k::hard_swish, Floats1>("hard_swish", kHeader);
CATENA_DEFINE_KERNEL hard_swish_bwd = elementwise<k::hard_swish_bwd, Floats2>("hard_swish_bwd", kHeader);
CATENA_DEFINE_KERNEL scaled_elu = transcendental<k::scaled_elu, Floats3>("scaled_elu", kHeader);
CATENA_DEFINE_KERNEL scaled_elu_bwd = transcendental<k::scaled_elu_bwd, Floats4>("scaled_elu_bwd", kHeader);

}  // namespace catena::kernels
