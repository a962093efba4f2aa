#include <catena/kernels/reduction/sum.h>

#include <catena/kernels/rows/define.h>
#include <catena/kernels/rows/families/sum.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/sum.h";

// Small integers widen to 64 bits; float16 accumulates in float32.
using Sums =
    loops<"?->l", "b->l", "B->L", "h->l", "H->L", "i->l", "I->L", "l->l", "L->L", "e->e", "E->E", "f->f", "d->d">;
using Means =
    loops<"?->d", "b->d", "B->d", "h->d", "H->d", "i->d", "I->d", "l->d", "L->d", "e->e", "E->E", "f->f", "d->d">;

}  // namespace

constexpr KernelDef sum = reduction<k::sum, Sums>("sum", kHeader, true).with(may_scan);
constexpr KernelDef prod = reduction<k::prod, Sums>("prod", kHeader, true).with(may_scan);
constexpr KernelDef mean = reduction<k::mean, Means>("mean", kHeader, false);
constexpr KernelDef sum_squares = reduction<k::sum_squares, Sums>("sum_squares", kHeader, true);

}  // namespace catena::rows
