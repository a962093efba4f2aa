#include <catena/kernels/random_distributions.h>

#include <catena/kernels/registry/define_indexed.h>
#include <catena/kernels/registry/families/random_distributions.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/random_distributions.h";

}  // namespace

// Inputs: seed, offset, and the parameters of each element.
constexpr KernelDef random_gamma = indexed<k::random_gamma, loops<"LLd->d">>("random_gamma", kHeader);
constexpr KernelDef random_log_gamma = indexed<k::random_log_gamma, loops<"LLd->d">>("random_log_gamma", kHeader);
constexpr KernelDef random_poisson = indexed<k::random_poisson, loops<"LLd->l">>("random_poisson", kHeader);
constexpr KernelDef random_binomial = indexed<k::random_binomial, loops<"LLld->l">>("random_binomial", kHeader);
constexpr KernelDef random_hypergeometric =
    indexed<k::random_hypergeometric, loops<"LLlll->l">>("random_hypergeometric", kHeader);
constexpr KernelDef random_logseries = indexed<k::random_logseries, loops<"LLd->l">>("random_logseries", kHeader);

}  // namespace catena::kernels
