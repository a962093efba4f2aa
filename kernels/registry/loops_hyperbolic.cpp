#include <catena/kernels/elementwise/hyperbolic.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/hyperbolic.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/hyperbolic.h";

}  // namespace

constexpr KernelDef sinh = transcendental<k::sinh, Floats1>("sinh", kHeader);
constexpr KernelDef cosh = transcendental<k::cosh, Floats1>("cosh", kHeader);
constexpr KernelDef tanh = transcendental<k::tanh, Floats1>("tanh", kHeader);
constexpr KernelDef arcsinh = transcendental<k::arcsinh, Floats1>("arcsinh", kHeader);
constexpr KernelDef arccosh = transcendental<k::arccosh, Floats1>("arccosh", kHeader);
constexpr KernelDef arctanh = transcendental<k::arctanh, Floats1>("arctanh", kHeader);

}  // namespace catena::kernels
