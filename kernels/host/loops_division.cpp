#include "kernels/elementwise/division.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/division.h";

using Pairs = loops<"bb->bb", "BB->BB", "hh->hh", "HH->HH", "ii->ii", "II->II", "ll->ll", "LL->LL", "ee->ee", "EE->EE", "ff->ff", "dd->dd">;

constexpr KernelDef kTable[] = {
    elementwise<k::floor_divide, Numbers2>("floor_divide", kHeader),
    elementwise<k::remainder, Numbers2>("remainder", kHeader),
    elementwise<k::fmod, Numbers2>("fmod", kHeader),
    elementwise<k::divmod, Pairs>("divmod", kHeader),
    transcendental<k::power, Numbers2>("power", kHeader),
};

}  // namespace

std::span<const KernelDef> division_kernels() { return kTable; }

}  // namespace catena::define
