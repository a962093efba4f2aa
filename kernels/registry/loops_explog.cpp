#include <catena/kernels/elementwise/explog.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/explog.h";

}  // namespace

CATENA_DEFINE_KERNEL cbrt = transcendental<k::cbrt, Floats1>("cbrt", kHeader);
CATENA_DEFINE_KERNEL exp = transcendental<k::exp, and_complex<Floats1, Complex1>>("exp", kHeader);
CATENA_DEFINE_KERNEL expm1 = transcendental<k::expm1, and_complex<Floats1, Complex1>>("expm1", kHeader);
CATENA_DEFINE_KERNEL exp2 = transcendental<k::exp2, and_complex<Floats1, Complex1>>("exp2", kHeader);
CATENA_DEFINE_KERNEL log = transcendental<k::log, and_complex<Floats1, Complex1>>("log", kHeader);
CATENA_DEFINE_KERNEL log2 = transcendental<k::log2, and_complex<Floats1, Complex1>>("log2", kHeader);
CATENA_DEFINE_KERNEL log10 = transcendental<k::log10, and_complex<Floats1, Complex1>>("log10", kHeader);
CATENA_DEFINE_KERNEL log1p = transcendental<k::log1p, and_complex<Floats1, Complex1>>("log1p", kHeader);
CATENA_DEFINE_KERNEL logaddexp = elementwise<k::logaddexp, Floats2>("logaddexp", kHeader);
CATENA_DEFINE_KERNEL logaddexp2 = elementwise<k::logaddexp2, Floats2>("logaddexp2", kHeader);

}  // namespace catena::kernels
