#include "kernels/reduction/extremum.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/reduction/extremum.h";

using Positions = loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

constexpr KernelDef kTable[] = {
    reduction<k::amax, All1>("amax", kHeader, false),
    reduction<k::amin, All1>("amin", kHeader, false),
    reduction<k::argmax, Positions>("argmax", kHeader, false),
    reduction<k::argmin, Positions>("argmin", kHeader, false),
};

}  // namespace

std::span<const KernelDef> extremum_kernels() { return kTable; }

}  // namespace catena::define
