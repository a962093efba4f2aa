#include <catena/ndarray/user_kernel/kernel_result.h>

#include <catena/ndarray/user_kernel/user_kernel.h>

namespace nd {
namespace {

std::string_view plural(std::size_t n) { return n == 1 ? "" : "s"; }

}  // namespace

namespace internal {
void check_output_count(const KernelText& text, std::size_t n) {
  catena::check<TypeError>(text.nout() == n, text.label, "has ", text.nout(), " output", plural(text.nout()), ", not ",
                           n);
}
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
