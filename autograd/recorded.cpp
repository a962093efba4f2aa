#include <catena/autograd/recorded.h>

#include <utility>

#include <catena/autograd/function_node.h>
#include <catena/autograd/variable_node.h>

namespace autograd::internal {

namespace {

class Recorded final : public FunctionNode, public HasOptions {
 public:
  Recorded(FunctionOptions options, const Array& value) : options_(std::move(options)), value_(value) {}
  std::string label() const override { return options_.function(); }
  void options(FunctionOptions& o) const override {
    o = options_;
    o.array("value", value_);
  }
  Arrays forward(const Arrays&) override { return {value_}; }

 private:
  FunctionOptions options_;
  Array value_;
};

}  // namespace

void record(const Array& value, std::string_view function, const Arrays& inputs, FunctionOptions options) {
  Variables variables;
  for (const Array& a : inputs) variables.push_back(constant_variable(a));
  options.function(function);
  apply_node<Recorded>(variables, std::move(options), value);
}

Variable recorded(const Variable& value, std::string_view function, const Variables& inputs, FunctionOptions options) {
  // A function of variables without gradients, such as labels, would have no node.
  Variables variables;
  for (const Variable& v : inputs) variables.push_back(v.requires_grad() ? v : constant_variable(v.data()));
  options.function(function);
  return apply_node<Recorded>(variables, std::move(options), value.data())[0];
}

}  // namespace autograd::internal
