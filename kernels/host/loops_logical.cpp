#include "kernels/reduction/logical.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/reduction/logical.h";

using Counts = loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

constexpr KernelDef kTable[] = {
    reduction<k::all, Predicates1>("all", kHeader, true),
    reduction<k::any, Predicates1>("any", kHeader, true),
    reduction<k::count_nonzero, Counts>("count_nonzero", kHeader, true),
};

}  // namespace

std::span<const KernelDef> logical_kernels() { return kTable; }

}  // namespace catena::define
