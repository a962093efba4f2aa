// Arguments of a kernel given as text, checked against its parameters. Internal to ndarray/kernel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/user_kernel/user_kernel.h>

namespace nd::internal {

// ValueError unless the name is an identifier and all parameters have different names.
void check_kernel(const KernelText& text);

// The rules that elementwise and reduction kernels share. Messages begin with the kernel's name.
class KernelArguments {
 public:
  // `args`: the inputs, or inputs and all outputs (TypeError otherwise); they must live as long as this. A stream
  // becomes the current one until the end of the call; ValueError when it belongs to another device than the arrays.
  KernelArguments(const KernelText& text, std::span<const Operand> args, const std::optional<Stream>& stream);

  std::size_t size() const noexcept { return text_.parameters.size(); }
  const KernelParameter& parameter(std::size_t k) const noexcept { return text_.parameters[k]; }
  Dtype dtype(std::size_t k) const noexcept { return dtypes_[k]; }
  Device device() const noexcept { return device_; }
  // Null for scalars, and for outputs that are still to be made.
  const catena::ArrayHeader* array(std::size_t k) const noexcept { return arrays_[k].get(); }
  bool is_moving(std::size_t k) const noexcept { return array(k) != nullptr && !parameter(k).raw; }

  // An output must not have elements that share memory, neither with each other nor with another output.
  void check_outputs() const;
  // Makes the output `k`.
  void allocate(std::size_t k, const Shape& shape);
  // Replaces inputs that an output would change while they are read. With `positions_differ` no input may be an output.
  void separate(bool positions_differ);

  // Appends a scalar or raw operand to the parameters of the call; false for one that moves with the loop.
  bool add_fixed(std::size_t k, KernelVariant& variant, std::vector<std::int64_t>& words) const;
  // Executes the call, which has been bound.
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
