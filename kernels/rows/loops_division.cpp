#include <catena/kernels/elementwise/division.h>

#include <catena/kernels/rows/define.h>
#include <catena/kernels/rows/families/division.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/elementwise/division.h";

using Pairs = loops<"bb->bb", "BB->BB", "hh->hh", "HH->HH", "ii->ii", "II->II", "ll->ll", "LL->LL", "ee->ee", "EE->EE",
                    "ff->ff", "dd->dd">;

}  // namespace

constexpr KernelDef floor_divide = elementwise<k::floor_divide, Numbers2>("floor_divide", kHeader);
constexpr KernelDef remainder = elementwise<k::remainder, Numbers2>("remainder", kHeader);
constexpr KernelDef fmod = elementwise<k::fmod, Numbers2>("fmod", kHeader);
constexpr KernelDef divmod = elementwise<k::divmod, Pairs>("divmod", kHeader);
constexpr KernelDef power = transcendental<k::power, Numbers2>("power", kHeader);

}  // namespace catena::rows
