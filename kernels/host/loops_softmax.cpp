#include "kernels/nn/softmax.h"

#include "kernels/host/define_row.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/nn/softmax.h";

constexpr KernelDef kTable[] = {
    row<k::softmax, Floats1>("softmax", kHeader),
    row<k::log_softmax, Floats1>("log_softmax", kHeader),
    row<k::softmax_bwd, Floats2>("softmax_bwd", kHeader),
    row<k::log_softmax_bwd, Floats2>("log_softmax_bwd", kHeader),
};

}  // namespace

std::span<const KernelDef> softmax_kernels() { return kTable; }

}  // namespace catena::define
