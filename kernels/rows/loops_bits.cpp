#include <catena/kernels/bits.h>

#include <catena/kernels/rows/define_indexed.h>
#include <catena/kernels/rows/families/bits.h>

namespace catena::rows {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/bits.h";

}  // namespace

constexpr KernelDef packbits = indexed<k::packbits, loops<"*?->B">>("packbits", kHeader);
constexpr KernelDef unpackbits = indexed<k::unpackbits, loops<"*B->B">>("unpackbits", kHeader);

}  // namespace catena::rows
