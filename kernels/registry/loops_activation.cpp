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

}  // namespace catena::kernels
