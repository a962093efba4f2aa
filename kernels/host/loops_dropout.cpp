#include "kernels/nn/dropout.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/nn/dropout.h";

constexpr KernelDef kTable[] = {
    indexed<k::dropout, loops<"eLLf->e", "ELLf->E", "fLLf->f", "dLLd->d">>("dropout", kHeader),
};

}  // namespace

std::span<const KernelDef> dropout_kernels() { return kTable; }

}  // namespace catena::define
