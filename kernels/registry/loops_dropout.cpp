#include <catena/kernels/nn/dropout.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/nn/dropout.h";

}  // namespace

CATENA_DEFINE_KERNEL dropout =
    indexed<k::dropout, loops<"eLLf->e", "ELLf->E", "fLLf->f", "dLLd->d">>("dropout", kHeader);

}  // namespace catena::kernels
