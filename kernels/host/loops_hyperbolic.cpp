#include "kernels/elementwise/hyperbolic.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/hyperbolic.h";

constexpr KernelDef kTable[] = {
    transcendental<k::sinh, Floats1>("sinh", kHeader),
    transcendental<k::cosh, Floats1>("cosh", kHeader),
    transcendental<k::tanh, Floats1>("tanh", kHeader),
    transcendental<k::arcsinh, Floats1>("arcsinh", kHeader),
    transcendental<k::arccosh, Floats1>("arccosh", kHeader),
    transcendental<k::arctanh, Floats1>("arctanh", kHeader),
};

}  // namespace

std::span<const KernelDef> hyperbolic_kernels() { return kTable; }

}  // namespace catena::define
