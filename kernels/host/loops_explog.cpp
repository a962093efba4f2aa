#include "kernels/elementwise/explog.h"

#include "kernels/host/define.h"
#include "kernels/host/families.h"

namespace catena::define {
namespace {

constexpr const char* kHeader = "kernels/elementwise/explog.h";

constexpr KernelDef kTable[] = {
    transcendental<k::exp, Floats1>("exp", kHeader),
    transcendental<k::expm1, Floats1>("expm1", kHeader),
    transcendental<k::exp2, Floats1>("exp2", kHeader),
    transcendental<k::log, Floats1>("log", kHeader),
    transcendental<k::log2, Floats1>("log2", kHeader),
    transcendental<k::log10, Floats1>("log10", kHeader),
    transcendental<k::log1p, Floats1>("log1p", kHeader),
    transcendental<k::logaddexp, Floats2>("logaddexp", kHeader),
    transcendental<k::logaddexp2, Floats2>("logaddexp2", kHeader),
};

}  // namespace

std::span<const KernelDef> explog_kernels() { return kTable; }

}  // namespace catena::define
