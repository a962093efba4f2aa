#include <catena/kernels/reduction/logical.h>

#include <catena/kernels/rows/define_reduction.h>
#include <catena/kernels/rows/families/logical.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/reduction/logical.h";

using Counts =
    loops<"?->l", "b->l", "B->l", "h->l", "H->l", "i->l", "I->l", "l->l", "L->l", "e->l", "E->l", "f->l", "d->l">;

// Whether an element is 0 is what its conversion to bool says.
constexpr char as_bool(char type, bool output) { return output ? type : '?'; }

}  // namespace

constexpr KernelDef all = reduction<k::all, Predicates1, as_bool>("all", kHeader, true);
constexpr KernelDef any = reduction<k::any, Predicates1, as_bool>("any", kHeader, true);
constexpr KernelDef count_nonzero = reduction<k::count_nonzero, Counts, as_bool>("count_nonzero", kHeader, true);

}  // namespace catena::rows
