#include <catena/kernels/nn/pooling.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/pooling.h";

}  // namespace

CATENA_DEFINE_KERNEL max_pool_first =
    elementwise<k::max_pool_first, loops<"e->ei", "E->Ei", "f->fi", "d->di">>("max_pool_first", kHeader);
CATENA_DEFINE_KERNEL max_pool_step =
    elementwise<k::max_pool_step, loops<"e&e&i->", "E&E&i->", "f&f&i->", "d&d&i->">>("max_pool_step", kHeader);
CATENA_DEFINE_KERNEL max_pool_step_bwd =
    elementwise<k::max_pool_step_bwd, loops<"e&i->e", "E&i->E", "f&i->f", "d&i->d">>("max_pool_step_bwd", kHeader);
CATENA_DEFINE_KERNEL max_pool_2d =
    indexed<k::max_pool_2d, loops<"*ellllll->ei", "*Ellllll->Ei", "*fllllll->fi", "*dllllll->di">>("max_pool_2d",
                                                                                                   kHeader);
CATENA_DEFINE_KERNEL max_pool_2d_bwd =
    indexed<k::max_pool_2d_bwd, loops<"*e*illllll->e", "*E*illllll->E", "*f*illllll->f", "*d*illllll->d">>(
        "max_pool_2d_bwd", kHeader);
CATENA_DEFINE_KERNEL max_pool_2d_by_index =
    indexed<k::max_pool_2d_by_index, loops<"*eilllll->e", "*Eilllll->E", "*filllll->f", "*dilllll->d">>(
        "max_pool_2d_by_index", kHeader);
CATENA_DEFINE_KERNEL average_pool_2d =
    indexed<k::average_pool_2d, loops<"*ellllll->e", "*Ellllll->E", "*fllllll->f", "*dllllll->d">>("average_pool_2d",
                                                                                                   kHeader);
CATENA_DEFINE_KERNEL average_pool_2d_bwd =
    indexed<k::average_pool_2d_bwd, loops<"*ellllll->e", "*Ellllll->E", "*fllllll->f", "*dllllll->d">>(
        "average_pool_2d_bwd", kHeader);
CATENA_DEFINE_KERNEL roi_max_pool_2d =
    indexed<k::roi_max_pool_2d, loops<"*e*ffll->el", "*E*ffll->El", "*f*ffll->fl", "*d*ffll->dl">>("roi_max_pool_2d",
                                                                                                   kHeader);

}  // namespace catena::kernels
