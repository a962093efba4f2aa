#include <catena/kernels/reduction/statistics.h>

#include <catena/kernels/registry/define_reduction.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/statistics.h";

using Variances =
    loops<"?->d", "b->d", "B->d", "h->d", "H->d", "i->d", "I->d", "l->d", "L->d", "e->e", "E->E", "f->f", "d->d">;

}  // namespace

CATENA_DEFINE_KERNEL var = reduction<k::var, Variances, as_float64>("var", kHeader);

}  // namespace catena::kernels
