#include "kernels/nn/im2col.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/nn/im2col.h";

using Patches = loops<"*ellllll->e", "*Ellllll->E", "*fllllll->f", "*dllllll->d">;

constexpr KernelDef kTable[] = {
    indexed<k::im2col_2d, Patches>("im2col_2d", kHeader),
    indexed<k::col2im_2d, Patches>("col2im_2d", kHeader),
};

}  // namespace

std::span<const KernelDef> im2col_kernels() { return kTable; }

}  // namespace catena::define
