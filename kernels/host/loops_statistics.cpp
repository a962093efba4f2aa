#include "kernels/reduction/statistics.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/reduction/statistics.h";

using Variances = loops<"?->d", "b->d", "B->d", "h->d", "H->d", "i->d", "I->d", "l->d", "L->d", "e->e", "E->E", "f->f", "d->d">;

constexpr KernelDef kTable[] = {
    reduction<k::var, Variances>("var", kHeader, false),
};

}  // namespace

std::span<const KernelDef> statistics_kernels() { return kTable; }

}  // namespace catena::define
