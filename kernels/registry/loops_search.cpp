#include <catena/kernels/search.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

using Places = loops<"*???->l", "*bb?->l", "*BB?->l", "*hh?->l", "*HH?->l", "*ii?->l", "*II?->l", "*ll?->l", "*LL?->l",
                     "*ee?->l", "*EE?->l", "*ff?->l", "*dd?->l", "*FF?->l", "*DD?->l">;

}  // namespace

CATENA_DEFINE_KERNEL searchsorted = indexed<k::searchsorted, Places>("searchsorted", "catena/kernels/search.h");

}  // namespace catena::kernels
