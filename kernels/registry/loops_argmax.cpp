#include <catena/kernels/reduction/extremum.h>

#include <catena/kernels/registry/define_reduction.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/extremum.h";

using Positions =
    loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

}  // namespace

CATENA_DEFINE_KERNEL argmax = reduction<k::argmax, Positions, widened_but_int16, may_scan>("argmax", kHeader);
CATENA_DEFINE_KERNEL argmin = reduction<k::argmin, Positions, widened_but_int16, may_scan>("argmin", kHeader);

}  // namespace catena::kernels
