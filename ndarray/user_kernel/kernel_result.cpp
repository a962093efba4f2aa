#include <catena/ndarray/user_kernel/kernel_result.h>

#include <catena/kernels/base/error_context.h>
#include <catena/ndarray/user_kernel/kernel_arguments.h>
#include <catena/ndarray/user_kernel/reduction_kernel.h>

namespace nd {
namespace {

std::string_view plural(std::size_t n) { return n == 1 ? "" : "s"; }

}  // namespace

namespace internal {
void check_output_count(const KernelText& text, std::size_t n) {
  catena::check<TypeError>(text.nout() == n, text.label, "has ", text.nout(), " output", plural(text.nout()), ", not ",
                           n);
}

template <class CallOptions>
std::vector<Array> TextKernel<CallOptions>::call(std::span<const Operand> args, const CallOptions& options) const try {
  return call_kernel(*text_, args, options);
} catch (...) {
  catena::rethrow_standard(name());
}

template <class CallOptions>
KernelResult TextKernel<CallOptions>::operator()(std::initializer_list<Operand> args, const CallOptions& options) const
    try {
  catena::check<TypeError>(nout() <= 2, text_->label, "has ", nout(),
                           " outputs; write auto [u, v, w] = kernel.call<3>(...)");
  return KernelResult(*text_, call({args.begin(), args.size()}, options));
} catch (...) {
  catena::rethrow_standard(name());
}

template <class CallOptions> const std::vector<KernelParameter>& TextKernel<CallOptions>::params() const noexcept {
  return text_->parameters;
}
template <class CallOptions> int TextKernel<CallOptions>::nin() const noexcept { return static_cast<int>(text_->nin); }
template <class CallOptions> int TextKernel<CallOptions>::nout() const noexcept {
  return static_cast<int>(text_->nout());
}
template <class CallOptions> const std::string& TextKernel<CallOptions>::name() const noexcept { return text_->name; }

template class TextKernel<ElementwiseCallOptions>;
template class TextKernel<ReductionCallOptions>;
}  // namespace internal

KernelResult::KernelResult(const KernelText& text, std::vector<Array> outputs)
    : Array(outputs.size() == 1 ? std::move(outputs[0]) : Array()), text_(&text) {
  if (outputs.size() == 2) pair_ = {std::move(outputs[0]), std::move(outputs[1])};
}

Array KernelResult::single_output() const {
  catena::check<TypeError>(text_->nout() <= 1, text_->label, "has ", text_->nout(),
                           " outputs, and its result is taken for one array; write auto [u, v] = kernel(...)");
  return *static_cast<const Array*>(this);
}

Array KernelResult::of_pair(std::size_t k) const {
  catena::check<TypeError>(text_->nout() == 2, text_->label, "has ", text_->nout(), " output", plural(text_->nout()),
                           ", and its result is taken for a pair");
  return pair_[k];
}

}  // namespace nd
