#include "kernels/search.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

using Places = loops<"*???->l", "*bb?->l", "*BB?->l", "*hh?->l", "*HH?->l", "*ii?->l", "*II?->l", "*ll?->l", "*LL?->l", "*ee?->l",
                     "*EE?->l", "*ff?->l", "*dd?->l">;

constexpr KernelDef kTable[] = {
    indexed<k::searchsorted, Places>("searchsorted", "kernels/search.h"),
};

}  // namespace

std::span<const KernelDef> search_kernels() { return kTable; }

}  // namespace catena::define
