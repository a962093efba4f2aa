#include <catena/kernels/reduction/logical.h>

#include <catena/kernels/rows/define.h>
#include <catena/kernels/rows/families/logical.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/logical.h";

using Counts =
    loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

}  // namespace

constexpr KernelDef all = reduction<k::all, Predicates1>("all", kHeader, true);
constexpr KernelDef any = reduction<k::any, Predicates1>("any", kHeader, true);
constexpr KernelDef count_nonzero = reduction<k::count_nonzero, Counts>("count_nonzero", kHeader, true);

}  // namespace catena::rows
