#include <catena/kernels/registry/multiarch.h>
// Inlined into every loop, beta and log_beta would be most of the code of the special functions.
#define ND_SHARED CATENA_MULTIARCH __attribute__((noinline)) static
#include <catena/kernels/elementwise/special.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/special.h";

// Every dtype is computed by the loop for float64.
constexpr char in_float64(char, bool) { return 'd'; }

template <class Body, class L> constexpr KernelDef wide(const char* name) {
  KernelDef d = elementwise<Body, L, in_float64>(name, kHeader);
  d.transcendental = true;  // as costly as those
  return d;
}

}  // namespace

CATENA_DEFINE_KERNEL erf = transcendental<k::erf, Floats1>("erf", kHeader);
CATENA_DEFINE_KERNEL erfc = transcendental<k::erfc, Floats1>("erfc", kHeader);
CATENA_DEFINE_KERNEL ndtr = transcendental<k::ndtr, Floats1>("ndtr", kHeader);
CATENA_DEFINE_KERNEL j0 = transcendental<k::j0, Floats1>("j0", kHeader);
CATENA_DEFINE_KERNEL j1 = transcendental<k::j1, Floats1>("j1", kHeader);
CATENA_DEFINE_KERNEL y0 = transcendental<k::y0, Floats1>("y0", kHeader);
CATENA_DEFINE_KERNEL y1 = transcendental<k::y1, Floats1>("y1", kHeader);
CATENA_DEFINE_KERNEL logit = transcendental<k::logit, Floats1>("logit", kHeader);
CATENA_DEFINE_KERNEL log_expit = transcendental<k::log_expit, Floats1>("log_expit", kHeader);
CATENA_DEFINE_KERNEL entr = transcendental<k::entr, Floats1>("entr", kHeader);
CATENA_DEFINE_KERNEL xlogy = transcendental<k::xlogy, Floats2>("xlogy", kHeader);
CATENA_DEFINE_KERNEL xlog1py = transcendental<k::xlog1py, Floats2>("xlog1py", kHeader);
CATENA_DEFINE_KERNEL rel_entr = transcendental<k::rel_entr, Floats2>("rel_entr", kHeader);
CATENA_DEFINE_KERNEL sinc = wide<k::sinc, Floats1>("sinc");
CATENA_DEFINE_KERNEL erfinv = wide<k::erfinv, Floats1>("erfinv");
CATENA_DEFINE_KERNEL erfcinv = wide<k::erfcinv, Floats1>("erfcinv");
CATENA_DEFINE_KERNEL ndtri = wide<k::ndtri, Floats1>("ndtri");
CATENA_DEFINE_KERNEL log_ndtr = wide<k::log_ndtr, Floats1>("log_ndtr");
CATENA_DEFINE_KERNEL gamma = wide<k::gamma, Floats1>("gamma");
CATENA_DEFINE_KERNEL gammaln = wide<k::gammaln, Floats1>("gammaln");
CATENA_DEFINE_KERNEL digamma = wide<k::digamma, Floats1>("digamma");
CATENA_DEFINE_KERNEL beta = wide<k::beta, Floats2>("beta");
CATENA_DEFINE_KERNEL betaln = wide<k::betaln, Floats2>("betaln");
CATENA_DEFINE_KERNEL zeta = wide<k::zeta, Floats2>("zeta");
CATENA_DEFINE_KERNEL riemann_zeta = wide<k::riemann_zeta, Floats1>("riemann_zeta");
CATENA_DEFINE_KERNEL i0 = wide<k::i0, Floats1>("i0");
CATENA_DEFINE_KERNEL i0e = wide<k::i0e, Floats1>("i0e");
CATENA_DEFINE_KERNEL i1 = wide<k::i1, Floats1>("i1");
CATENA_DEFINE_KERNEL i1e = wide<k::i1e, Floats1>("i1e");

}  // namespace catena::kernels
