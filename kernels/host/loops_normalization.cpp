#include "kernels/nn/normalization.h"

#include "kernels/host/define_row.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/nn/normalization.h";

// Statistics of 16-bit data are float32, and so is eps, which float16 would round to a subnormal.

constexpr KernelDef kTable[] = {
    row<k::batch_norm_fwd, loops<"eeef->e;fff", "EEEf->E;fff", "ffff->f;fff", "dddd->d;ddd">>("batch_norm_fwd", kHeader),
    row<k::batch_norm_bwd, loops<"eeeff->e;ff", "EEEff->E;ff", "fffff->f;ff", "ddddd->d;dd">>("batch_norm_bwd", kHeader),
    elementwise<k::fixed_batch_norm, loops<"eeeeef->e", "EEEEEf->E", "ffffff->f", "dddddd->d">>("fixed_batch_norm", kHeader),
    row<k::layer_norm_fwd, loops<"eeeeff->e;ff", "EEEEff->E;ff", "ffffff->f;ff", "dddddd->d;dd">>("layer_norm_fwd", kHeader),
    row<k::layer_norm_bwd, loops<"eeeefff->e", "EEEEfff->E", "fffffff->f", "ddddddd->d">>("layer_norm_bwd", kHeader),
    elementwise<k::layer_norm_ggamma, loops<"eeeff->f", "EEEff->f", "fffff->f", "ddddd->d">>("layer_norm_ggamma", kHeader),
    elementwise<k::squared_difference, Floats2>("squared_difference", kHeader),
    elementwise<k::batch_norm_write, loops<"fffff->f", "ddddd->d">>("batch_norm_write", kHeader),
    elementwise<k::batch_norm_ggamma, loops<"ffff->f", "dddd->d">>("batch_norm_ggamma", kHeader),
    elementwise<k::batch_norm_gx, loops<"fffffff->f", "ddddddd->d">>("batch_norm_gx", kHeader),
};

}  // namespace

std::span<const KernelDef> normalization_kernels() { return kTable; }

}  // namespace catena::define
