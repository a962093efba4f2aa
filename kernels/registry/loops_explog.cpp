#include <catena/kernels/elementwise/explog.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/explog.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/explog.h";

}  // namespace

constexpr KernelDef exp = transcendental<k::exp, and_complex<Floats1, Complex1>>("exp", kHeader);
constexpr KernelDef expm1 = transcendental<k::expm1, Floats1>("expm1", kHeader);
constexpr KernelDef exp2 = transcendental<k::exp2, Floats1>("exp2", kHeader);
constexpr KernelDef log = transcendental<k::log, Floats1>("log", kHeader);
constexpr KernelDef log2 = transcendental<k::log2, Floats1>("log2", kHeader);
constexpr KernelDef log10 = transcendental<k::log10, Floats1>("log10", kHeader);
constexpr KernelDef log1p = transcendental<k::log1p, Floats1>("log1p", kHeader);
constexpr KernelDef logaddexp = elementwise<k::logaddexp, Floats2>("logaddexp", kHeader);
constexpr KernelDef logaddexp2 = elementwise<k::logaddexp2, Floats2>("logaddexp2", kHeader);

}  // namespace catena::kernels
