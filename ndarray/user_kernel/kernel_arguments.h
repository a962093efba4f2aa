// Arguments of a kernel given as text, checked against its parameters. Internal to ndarray/user_kernel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/user_kernel/user_kernel.h>

namespace nd {

struct ElementwiseCallOptions;
struct ReductionCallOptions;

}  // namespace nd

namespace nd::internal {

// ValueError unless the name is an identifier, and the names of the parameters differ from each other and from other
// names in the text: its placeholders, and the reduced value.
void check_kernel(const KernelText& text);

// Execute calls of an ElementwiseKernel or a ReductionKernel with an interned text.
std::vector<Array> call_kernel(const KernelText& text, std::span<const Operand> args,
                               const ElementwiseCallOptions& options);
std::vector<Array> call_kernel(const KernelText& text, std::span<const Operand> args,
                               const ReductionCallOptions& options);

// The rules that elementwise and reduction kernels share. Messages start with the kernel's name.
class KernelArguments {
 public:
  // `args`: the inputs, or inputs and all outputs (TypeError otherwise); they must outlive this object. A given stream
  // becomes the current one until the end of the call; ValueError if it belongs to another device than the arrays.
  KernelArguments(const KernelText& text, std::span<const Operand> args, const std::optional<Stream>& stream);

  std::size_t size() const noexcept { return text_.parameters.size(); }
  const KernelParameter& parameter(std::size_t k) const noexcept { return text_.parameters[k]; }
  Dtype dtype(std::size_t k) const noexcept { return dtypes_[k]; }
  Device device() const noexcept { return device_; }
  // Null for scalars and for outputs that have not been allocated yet.
  const catena::ArrayHeader* array(std::size_t k) const noexcept { return arrays_[k].get(); }
  bool is_moving(std::size_t k) const noexcept { return array(k) != nullptr && !parameter(k).raw; }

  // Checks that no two elements of an output share memory, and that no two outputs overlap.
  void check_outputs() const;
  // Allocates output `k`.
  void allocate(std::size_t k, const Shape& shape);
  // Copies inputs that writing an output would change. With `positions_differ`, an input identical to an output is
  // copied too.
  void separate(bool positions_differ);

  // Appends a scalar or raw operand to the parameters of the call. Returns false for an operand that advances with the
  // loop.
  bool add_fixed(std::size_t k, KernelVariant& variant, std::vector<std::int64_t>& words) const;
  // Executes a bound call.
  void launch(const UserKernelCall& call) const;
  std::vector<Array> outputs() const;

 private:
  void check_count(std::size_t given) const;
  void resolve_types();

  const KernelText& text_;
  std::span<const Operand> args_;
  std::vector<Array> arrays_;  // one per parameter
  std::vector<Dtype> dtypes_;
  Device device_;
  std::optional<StreamScope> scope_;
};

}  // namespace nd::internal
