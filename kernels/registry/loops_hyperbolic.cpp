#include <catena/kernels/elementwise/hyperbolic.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/hyperbolic.h";

}  // namespace

CATENA_DEFINE_KERNEL sinh = transcendental<k::sinh, and_complex<Floats1, Complex1>>("sinh", kHeader);
CATENA_DEFINE_KERNEL cosh = transcendental<k::cosh, and_complex<Floats1, Complex1>>("cosh", kHeader);
CATENA_DEFINE_KERNEL tanh = transcendental<k::tanh, and_complex<Floats1, Complex1>>("tanh", kHeader);
CATENA_DEFINE_KERNEL arcsinh = transcendental<k::arcsinh, and_complex<Floats1, Complex1>>("arcsinh", kHeader);
CATENA_DEFINE_KERNEL arccosh = transcendental<k::arccosh, and_complex<Floats1, Complex1>>("arccosh", kHeader);
CATENA_DEFINE_KERNEL arctanh = transcendental<k::arctanh, and_complex<Floats1, Complex1>>("arctanh", kHeader);

}  // namespace catena::kernels
