// The results of products that a function computed, for its second call. Internal to forget().
#pragma once

#include <vector>

#include <catena/autograd/checkpoint.h>
#include <catena/autograd/hooks.h>

namespace autograd::internal {

// A hook that keeps the products that the policy chooses, while a function is called the first time. A later call gets
// them where it computes the same: at the same function of the same label, for a product of the same kind, shape and
// dtype. Other products are computed.
class SavedProducts final : public FunctionHook {
 public:
  explicit SavedProducts(const CheckpointPolicy& policy);
  ~SavedProducts() override;

  // To be called before each call of the function.
  void begin(bool first);
  bool is_filled() const noexcept { return !functions_.empty(); }

  std::string name() const override;
  void forward_preprocess(const FunctionNode& function, const Arrays& in_data) override;
  void forward_postprocess(const FunctionNode& function, const Arrays& in_data) override;
  void failed(const FunctionNode& function) noexcept override;

 private:
  class Memory;
  struct Product {
    bool convolution;
    Array value;
  };
  struct OfFunction {
    std::string label;
    std::vector<Product> products;
  };

  const CheckpointPolicy policy_;
  const std::uint64_t number_;
  bool first_ = true;
  std::size_t next_ = 0;
  std::vector<OfFunction> functions_;
  std::vector<catena::Owned<Memory>> open_;  // of the functions that run; null: not chosen
};

}  // namespace autograd::internal
