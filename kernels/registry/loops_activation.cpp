#include <catena/kernels/nn/activation.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/activation.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/activation.h";

}  // namespace

constexpr KernelDef relu = elementwise<k::relu, Floats1>("relu", kHeader);
constexpr KernelDef relu_bwd = elementwise<k::relu_bwd, Floats2>("relu_bwd", kHeader);
constexpr KernelDef clipped_relu = elementwise<k::clipped_relu, Floats2>("clipped_relu", kHeader);
constexpr KernelDef clipped_relu_bwd = elementwise<k::clipped_relu_bwd, Floats3>("clipped_relu_bwd", kHeader);
constexpr KernelDef sigmoid = transcendental<k::sigmoid, Floats1>("sigmoid", kHeader);
constexpr KernelDef sigmoid_bwd = elementwise<k::sigmoid_bwd, Floats2>("sigmoid_bwd", kHeader);
constexpr KernelDef tanh_bwd = elementwise<k::tanh_bwd, Floats2>("tanh_bwd", kHeader);
constexpr KernelDef leaky_relu = elementwise<k::leaky_relu, Floats2>("leaky_relu", kHeader);
constexpr KernelDef leaky_relu_bwd = elementwise<k::leaky_relu_bwd, Floats3>("leaky_relu_bwd", kHeader);
constexpr KernelDef elu = transcendental<k::elu, Floats2>("elu", kHeader);
constexpr KernelDef elu_bwd = transcendental<k::elu_bwd, Floats3>("elu_bwd", kHeader);
constexpr KernelDef softplus = transcendental<k::softplus, Floats2>("softplus", kHeader);
constexpr KernelDef softplus_bwd = transcendental<k::softplus_bwd, Floats3>("softplus_bwd", kHeader);
constexpr KernelDef hard_sigmoid = elementwise<k::hard_sigmoid, Floats1>("hard_sigmoid", kHeader);
constexpr KernelDef hard_sigmoid_bwd = elementwise<k::hard_sigmoid_bwd, Floats2>("hard_sigmoid_bwd", kHeader);

}  // namespace catena::kernels
