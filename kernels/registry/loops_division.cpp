#include <catena/kernels/elementwise/division.h>

#include <catena/kernels/registry/define_elementwise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/division.h";

using Pairs = loops<"bb->bb", "BB->BB", "hh->hh", "HH->HH", "ii->ii", "II->II", "ll->ll", "LL->LL", "ee->ee", "EE->EE",
                    "ff->ff", "dd->dd">;

}  // namespace

CATENA_DEFINE_KERNEL floor_divide = elementwise<k::floor_divide, Numbers2, widened>("floor_divide", kHeader);
CATENA_DEFINE_KERNEL remainder = elementwise<k::remainder, Numbers2, widened>("remainder", kHeader);
CATENA_DEFINE_KERNEL fmod = elementwise<k::fmod, Numbers2, widened>("fmod", kHeader);
CATENA_DEFINE_KERNEL divmod = elementwise<k::divmod, Pairs, widened>("divmod", kHeader);
CATENA_DEFINE_KERNEL gcd = elementwise<k::gcd, Ints2, widened>("gcd", kHeader);
CATENA_DEFINE_KERNEL lcm = elementwise<k::lcm, Ints2, widened>("lcm", kHeader);
CATENA_DEFINE_KERNEL power = transcendental<k::power, and_complex<Numbers2, Complex2>, widened>("power", kHeader);

}  // namespace catena::kernels
