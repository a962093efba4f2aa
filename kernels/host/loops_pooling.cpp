#include "kernels/nn/pooling.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/nn/pooling.h";

constexpr KernelDef kTable[] = {
    elementwise<k::max_pool_first, loops<"e->ei", "E->Ei", "f->fi", "d->di">>("max_pool_first", kHeader),
    elementwise<k::max_pool_step, loops<"e&e&i->", "E&E&i->", "f&f&i->", "d&d&i->">>("max_pool_step", kHeader),
    elementwise<k::max_pool_step_bwd, loops<"e&i->e", "E&i->E", "f&i->f", "d&i->d">>("max_pool_step_bwd", kHeader),
    indexed<k::max_pool_2d, loops<"*ellllll->ei", "*Ellllll->Ei", "*fllllll->fi", "*dllllll->di">>("max_pool_2d", kHeader),
    indexed<k::max_pool_2d_bwd, loops<"*e*illllll->e", "*E*illllll->E", "*f*illllll->f", "*d*illllll->d">>("max_pool_2d_bwd", kHeader),
    indexed<k::max_pool_2d_by_index, loops<"*eilllll->e", "*Eilllll->E", "*filllll->f", "*dilllll->d">>("max_pool_2d_by_index", kHeader),
    indexed<k::average_pool_2d, loops<"*ellllll->e", "*Ellllll->E", "*fllllll->f", "*dllllll->d">>("average_pool_2d", kHeader),
    indexed<k::average_pool_2d_bwd, loops<"*ellllll->e", "*Ellllll->E", "*fllllll->f", "*dllllll->d">>("average_pool_2d_bwd", kHeader),
};

}  // namespace

std::span<const KernelDef> pooling_kernels() { return kTable; }

}  // namespace catena::define
