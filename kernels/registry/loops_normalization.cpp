#include <catena/kernels/nn/normalization.h>

#include <catena/kernels/registry/define_elementwise.h>
#include <catena/kernels/registry/define_row_wise.h>
#include <catena/kernels/registry/families/normalization.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/normalization.h";

// Statistics of 16-bit data are float32, and so is eps, which float16 would round to a subnormal.

}  // namespace

constexpr KernelDef batch_norm_fwd =
    row_wise<k::batch_norm_fwd, loops<"eeef->e;fff", "EEEf->E;fff", "ffff->f;fff", "dddd->d;ddd">>("batch_norm_fwd",
                                                                                                   kHeader);
constexpr KernelDef batch_norm_bwd =
    row_wise<k::batch_norm_bwd, loops<"eeeff->e;ff", "EEEff->E;ff", "fffff->f;ff", "ddddd->d;dd">>("batch_norm_bwd",
                                                                                                   kHeader);
constexpr KernelDef fixed_batch_norm =
    elementwise<k::fixed_batch_norm, loops<"eeeeef->e", "EEEEEf->E", "ffffff->f", "dddddd->d">>("fixed_batch_norm",
                                                                                                kHeader);
constexpr KernelDef layer_norm_fwd =
    row_wise<k::layer_norm_fwd, loops<"eeeeff->e;ff", "EEEEff->E;ff", "ffffff->f;ff", "dddddd->d;dd">>("layer_norm_fwd",
                                                                                                       kHeader);
constexpr KernelDef layer_norm_ggamma =
    elementwise<k::layer_norm_ggamma, loops<"eeeff->f", "EEEff->f", "fffff->f", "ddddd->d">>("layer_norm_ggamma",
                                                                                             kHeader);
namespace {
constexpr RowSum kLayerNormSums[] = {{&layer_norm_ggamma, {0, 1, 2, 4, 5}}, {nullptr, {1}}};
}
constexpr KernelDef layer_norm_bwd =
    row_wise<k::layer_norm_bwd, loops<"eeeefff->e", "EEEEfff->E", "fffffff->f", "ddddddd->d">>("layer_norm_bwd",
                                                                                               kHeader)
        .with_sums(kLayerNormSums);
constexpr KernelDef squared_difference = elementwise<k::squared_difference, Floats2>("squared_difference", kHeader);
constexpr KernelDef batch_norm_write =
    elementwise<k::batch_norm_write, loops<"fffff->f", "ddddd->d">>("batch_norm_write", kHeader);
constexpr KernelDef batch_norm_ggamma =
    elementwise<k::batch_norm_ggamma, loops<"ffff->f", "dddd->d">>("batch_norm_ggamma", kHeader);
constexpr KernelDef batch_norm_gx =
    elementwise<k::batch_norm_gx, loops<"fffffff->f", "ddddddd->d">>("batch_norm_gx", kHeader);

}  // namespace catena::kernels
