#include <catena/kernels/nn/softmax.h>

#include <catena/kernels/registry/define_row_wise.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/softmax.h";

}  // namespace

CATENA_DEFINE_KERNEL softmax = row_wise<k::softmax, Floats1>("softmax", kHeader);
CATENA_DEFINE_KERNEL log_softmax = row_wise<k::log_softmax, Floats1>("log_softmax", kHeader);
// Statistics of 16-bit data are float32.
CATENA_DEFINE_KERNEL log_softmax_statistics =
    row_wise<k::log_softmax_statistics, loops<"e->;ff", "E->;ff", "f->;ff", "d->;dd">>("log_softmax_statistics",
                                                                                       kHeader);
CATENA_DEFINE_KERNEL softmax_bwd = row_wise<k::softmax_bwd, Floats2>("softmax_bwd", kHeader);
CATENA_DEFINE_KERNEL log_softmax_bwd = row_wise<k::log_softmax_bwd, Floats2>("log_softmax_bwd", kHeader);

}  // namespace catena::kernels
