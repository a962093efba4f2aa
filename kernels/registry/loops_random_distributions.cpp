#include <catena/kernels/random_distributions.h>

#include <catena/kernels/registry/define_indexed.h>

namespace catena::kernels {
namespace {

using namespace define;

constexpr const char* kHeader = "catena/kernels/random_distributions.h";

}  // namespace

// Inputs: seed, offset, and the parameters of each element.
CATENA_DEFINE_KERNEL random_gamma = indexed<k::random_gamma, loops<"LLd->d">>("random_gamma", kHeader);
CATENA_DEFINE_KERNEL random_log_gamma = indexed<k::random_log_gamma, loops<"LLd->d">>("random_log_gamma", kHeader);
CATENA_DEFINE_KERNEL random_poisson = indexed<k::random_poisson, loops<"LLd->l">>("random_poisson", kHeader);
CATENA_DEFINE_KERNEL random_binomial = indexed<k::random_binomial, loops<"LLld->l">>("random_binomial", kHeader);
CATENA_DEFINE_KERNEL random_hypergeometric =
    indexed<k::random_hypergeometric, loops<"LLlll->l">>("random_hypergeometric", kHeader);
CATENA_DEFINE_KERNEL random_logseries = indexed<k::random_logseries, loops<"LLd->l">>("random_logseries", kHeader);

}  // namespace catena::kernels
