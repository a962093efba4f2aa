#include <catena/kernels/nn/im2col.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/im2col.h";

using Patches = loops<"*ellllll->e", "*Ellllll->E", "*fllllll->f", "*dllllll->d">;

}  // namespace

CATENA_DEFINE_KERNEL im2col_2d = indexed<k::im2col_2d, Patches>("im2col_2d", kHeader);
CATENA_DEFINE_KERNEL col2im_2d = indexed<k::col2im_2d, Patches>("col2im_2d", kHeader);

}  // namespace catena::kernels
