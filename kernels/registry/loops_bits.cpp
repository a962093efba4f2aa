#include <catena/kernels/bits.h>

#include <catena/kernels/registry/define_indexed.h>
#include <catena/kernels/registry/families/bits.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/bits.h";

}  // namespace

constexpr KernelDef packbits = indexed<k::packbits, loops<"*?->B">>("packbits", kHeader);
constexpr KernelDef unpackbits = indexed<k::unpackbits, loops<"*B->B">>("unpackbits", kHeader);

}  // namespace catena::kernels
