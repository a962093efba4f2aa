#include <catena/kernels/creation.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/creation.h";

using Ranges = loops<"??->?", "bb->b", "BB->B", "hh->h", "HH->H", "ii->i", "II->I", "ll->l", "LL->L", "ee->e", "EE->E",
                     "ff->f", "dd->d">;
using Spaces = loops<"dddddl->?", "dddddl->b", "dddddl->B", "dddddl->h", "dddddl->H", "dddddl->i", "dddddl->I",
                     "dddddl->l", "dddddl->L", "dddddl->f", "dddddl->d">;

}  // namespace

CATENA_DEFINE_KERNEL arange = indexed<k::arange, Ranges>("arange", kHeader);
CATENA_DEFINE_KERNEL linspace = indexed<k::linspace, Spaces>("linspace", kHeader);

}  // namespace catena::kernels
