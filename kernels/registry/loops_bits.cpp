#include <catena/kernels/bits.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/bits.h";

}  // namespace

CATENA_DEFINE_KERNEL packbits = indexed<k::packbits, loops<"*?->B">>("packbits", kHeader);
CATENA_DEFINE_KERNEL unpackbits = indexed<k::unpackbits, loops<"*B->B">>("unpackbits", kHeader);

}  // namespace catena::kernels
