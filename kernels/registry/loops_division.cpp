#include <catena/kernels/elementwise/division.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/families/division.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/division.h";

using Pairs = loops<"bb->bb", "BB->BB", "hh->hh", "HH->HH", "ii->ii", "II->II", "ll->ll", "LL->LL", "ee->ee", "EE->EE",
                    "ff->ff", "dd->dd">;

}  // namespace

constexpr KernelDef floor_divide = elementwise<k::floor_divide, Numbers2, widened>("floor_divide", kHeader);
constexpr KernelDef remainder = elementwise<k::remainder, Numbers2, widened>("remainder", kHeader);
constexpr KernelDef fmod = elementwise<k::fmod, Numbers2, widened>("fmod", kHeader);
constexpr KernelDef divmod = elementwise<k::divmod, Pairs, widened>("divmod", kHeader);
constexpr KernelDef power = transcendental<k::power, Numbers2, widened>("power", kHeader);

}  // namespace catena::kernels
