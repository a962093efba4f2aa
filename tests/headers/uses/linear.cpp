#include <catena/nn/links/linear.h>
#include <catena/tests/headers/uses/uses.h>

namespace {
struct Model : nn::Chain {
  nn::Linear l1, l2;
  Model() : l1(4), l2(2) {}
  NN_MEMBERS(l1, l2)
  nn::Variable operator()(const nn::Variable& x) { return l2(l1(x)); }
};
}  // namespace

void use_linear() {
  Model model;
  const nn::Variable y = model(nn::Variable(autograd::arrays::ones({5, 3})));
  REQUIRE(y.shape() == nn::Shape{5, 2});
  REQUIRE(model.count_params() == 3 * 4 + 4 + 4 * 2 + 2);
  REQUIRE(nn::copy(model).namedparams()[0].path == "/l1/W");
}
