#include <catena/nn/links.h>
#include <catena/tests/headers/uses/uses.h>

void use_classifier() {
  nn::Sequential body(nn::Linear(3, 2), [](const nn::Variable& x) { return x; });
  nn::Classifier<nn::Sequential> model(std::move(body));
  const nn::Variable x(autograd::arrays::ones({4, 3})), t(autograd::arrays::zeros({4}, autograd::Dtype::int32));
  nn::Reporter reporter;
  nn::Observation seen;
  reporter.add_observer("main", &model);
  const auto scope = reporter.scope(seen);
  REQUIRE(model(x, t).shape() == nn::Shape{});
  REQUIRE(seen.contains("main/loss") && seen.contains("main/accuracy"));
}
