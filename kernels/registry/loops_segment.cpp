#include <catena/kernels/segment.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/segment.h";

}  // namespace

CATENA_DEFINE_KERNEL segment_starts = indexed<k::segment_starts, loops<"*l->l">>("segment_starts", kHeader);
CATENA_DEFINE_KERNEL segment_sum =
    indexed<k::segment_sum, loops<"*e*l*l->e", "*E*l*l->E", "*f*l*l->f", "*d*l*l->d">>("segment_sum", kHeader);

}  // namespace catena::kernels
