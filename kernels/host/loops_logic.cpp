#include "kernels/elementwise/logic.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/logic.h";

using Selections = loops<"???->?", "?bb->b", "?BB->B", "?hh->h", "?HH->H", "?ii->i", "?II->I", "?ll->l", "?LL->L", "?ee->e", "?EE->E", "?ff->f",
                         "?dd->d">;

constexpr KernelDef kTable[] = {
    elementwise<k::logical_and, Predicates2>("logical_and", kHeader),
    elementwise<k::logical_or, Predicates2>("logical_or", kHeader),
    elementwise<k::logical_xor, Predicates2>("logical_xor", kHeader),
    elementwise<k::logical_not, Predicates1>("logical_not", kHeader),
    elementwise<k::where, Selections>("where", kHeader),
};

}  // namespace

std::span<const KernelDef> logic_kernels() { return kTable; }

}  // namespace catena::define
