// Parameters of a model as one array per dtype, for communication. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include <catena/nn/link.h>

namespace training::internal {

using autograd::Array;
using autograd::Variable;

// The parameters with elements, in the order of params(). Pending parameters are excluded.
class FlatParams {
 public:
  explicit FlatParams(const nn::Link& model);

  struct Part {
    autograd::Dtype dtype;
    std::int64_t size = 0;  // elements of all
    std::vector<Variable> params = {};

    std::int64_t bytes() const { return size * std::int64_t(catena::itemsize(dtype)); }
    Array data() const;   // a copy, on the device of the parameters
    Array grads() const;  // zeros for a parameter without gradient
    void set_data(const Array& flat) const;
    void set_grads(const Array& flat) const;  // views of `flat`; frozen parameters get none
  };
  const std::vector<Part>& parts() const noexcept { return parts_; }
  std::int64_t bytes() const;
  std::size_t count() const;  // parameters

 private:
  std::vector<Part> parts_;
};

}  // namespace training::internal
