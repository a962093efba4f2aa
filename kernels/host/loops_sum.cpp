#include "kernels/reduction/sum.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/reduction/sum.h";

// Small integers widen to 64 bits; float16 accumulates in float32.
using Sums = loops<"?->l", "b->l", "B->L", "h->l", "H->L", "i->l", "I->L", "l->l", "L->L", "e->e", "E->E", "f->f", "d->d">;
using Means = loops<"?->d", "b->d", "B->d", "h->d", "H->d", "i->d", "I->d", "l->d", "L->d", "e->e", "E->E", "f->f", "d->d">;

constexpr KernelDef kTable[] = {
    reduction<k::sum, Sums>("sum", kHeader, true),
    reduction<k::prod, Sums>("prod", kHeader, true),
    reduction<k::mean, Means>("mean", kHeader, false),
    reduction<k::sum_squares, Sums>("sum_squares", kHeader, true),
};

}  // namespace

std::span<const KernelDef> sum_kernels() { return kTable; }

}  // namespace catena::define
