#include "kernels/nn/activation.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/nn/activation.h";

constexpr KernelDef kTable[] = {
    elementwise<k::relu, Floats1>("relu", kHeader),
    elementwise<k::relu_bwd, Floats2>("relu_bwd", kHeader),
    elementwise<k::clipped_relu, Floats2>("clipped_relu", kHeader),
    elementwise<k::clipped_relu_bwd, Floats3>("clipped_relu_bwd", kHeader),
    transcendental<k::sigmoid, Floats1>("sigmoid", kHeader),
    elementwise<k::sigmoid_bwd, Floats2>("sigmoid_bwd", kHeader),
    elementwise<k::tanh_bwd, Floats2>("tanh_bwd", kHeader),
    elementwise<k::leaky_relu, Floats2>("leaky_relu", kHeader),
    elementwise<k::leaky_relu_bwd, Floats3>("leaky_relu_bwd", kHeader),
    transcendental<k::elu, Floats2>("elu", kHeader),
    transcendental<k::elu_bwd, Floats3>("elu_bwd", kHeader),
    transcendental<k::softplus, Floats2>("softplus", kHeader),
    transcendental<k::softplus_bwd, Floats3>("softplus_bwd", kHeader),
    elementwise<k::hard_sigmoid, Floats1>("hard_sigmoid", kHeader),
    elementwise<k::hard_sigmoid_bwd, Floats2>("hard_sigmoid_bwd", kHeader),
};

}  // namespace

std::span<const KernelDef> activation_kernels() { return kTable; }

}  // namespace catena::define
