// The entries dtype and keep_graph_on_report of the configuration: parameters, initializers, statistics, reports.
#include <catena/autograd/config.h>

#include <catena/nn/links/decorrelated_batch_normalization.h>
#include <catena/nn/reporter.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using autograd::mixed16;
using autograd::using_config;

namespace {

struct Net : nn::Chain {
  nn::Linear l1{3, 4}, l2{nn::Linear(2)};
  nn::BatchNormalization bn{4};
  nn::Parameter free;
  NN_MEMBERS(l1, l2, bn, free)
};

std::vector<Dtype> dtypes_of(const nn::BatchNormalization& bn) {
  return {bn.gamma->dtype(), bn.beta->dtype(), bn.avg_mean.array().dtype(), bn.avg_var.array().dtype()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(config_entries)

BOOST_AUTO_TEST_CASE(parameters_have_the_dtype_of_the_configuration) {
  for (const Dtype dtype : {Dtype::float16, Dtype::float32, Dtype::float64, Dtype::bfloat16}) {
    std::optional<Net> net;
    {
      const auto scope = using_config({.dtype = dtype});
      net.emplace();
    }
    BOOST_TEST((net->l1.W.dtype() == dtype && net->l1.b->dtype() == dtype));
    BOOST_TEST((dtypes_of(net->bn) == std::vector<Dtype>(4, dtype)));
    // The first call determines only the shape.
    net->l2(Variable(autograd::arrays::ones({2, 3}, dtype)));
    BOOST_TEST((net->l2.W.dtype() == dtype && net->l2.b->dtype() == dtype));
    net->free.initialize({2, 3});
    BOOST_TEST((net->free.dtype() == dtype));
    // A copy has the dtypes of the original, whatever the configuration is.
    const auto scope = using_config({.dtype = Dtype::float64});
    const Net copy(*net);
    BOOST_TEST((copy.l1.W.dtype() == dtype && nn::Parameter(net->l1.W).dtype() == dtype));
    BOOST_TEST((nn::Linear(3, 2).W.dtype() == Dtype::float64));
  }
  BOOST_TEST((nn::Linear(3, 2).W.dtype() == Dtype::float32));
}

BOOST_AUTO_TEST_CASE(an_initializer_with_a_dtype_is_not_changed) {
  const auto scope = using_config({.dtype = Dtype::float64});
  BOOST_TEST((nn::Linear(3, 2, {.initialW = nn::initializers::Normal(1, {.dtype = Dtype::float16})}).W.dtype() ==
              Dtype::float16));
  BOOST_TEST((nn::generate_array(nn::initializers::One(), {2}).dtype() == Dtype::float64));
  BOOST_TEST((nn::generate_array(nn::initializers::One({.dtype = Dtype::float32}), {2}).dtype() == Dtype::float32));
  BOOST_TEST((nn::Parameter(autograd::arrays::ones({2}, Dtype::float32)).dtype() == Dtype::float32));
  BOOST_TEST(
      (dtypes_of(nn::BatchNormalization(2, {.dtype = Dtype::float32})) == std::vector<Dtype>(4, Dtype::float32)));
  const nn::Parameter constant(nn::Initializer(0.5), {2});
  BOOST_TEST((constant.dtype() == Dtype::float64 && values(constant.data())[1] == 0.5));
}

BOOST_AUTO_TEST_CASE(mixed_16_bits) {
  const auto scope = using_config("dtype", "mixed16");
  Net net;
  BOOST_TEST((net.l1.W.dtype() == Dtype::float16 && net.l1.b->dtype() == Dtype::float16));
  BOOST_TEST((dtypes_of(net.bn) == std::vector<Dtype>(4, Dtype::float32)));
  const nn::DecorrelatedBatchNormalization whitened(4, {.groups = 2});
  BOOST_TEST((whitened.avg_mean.array().dtype() == Dtype::float32));
  // The layers fit each other.
  const Variable y = net.bn(net.l1(Variable(autograd::arrays::ones({5, 3}, Dtype::float16))));
  BOOST_TEST((y.dtype() == Dtype::float16));
}

BOOST_AUTO_TEST_CASE(graphs_of_reports) {
  nn::Reporter reporter;
  const Variable x(floats({1, 2}, {2}));
  const auto reported = [&] {
    nn::Observation seen;
    const nn::Reporter::Scope scope = reporter.scope(seen);
    nn::report("loss", sum(x * x));
    nn::report("x", sum(x).data());
    return seen;
  };
  const nn::Observation plain = reported();
  BOOST_TEST(plain.at("loss").value() == 5);
  BOOST_TEST((plain.at("loss").variable().creator() == nullptr));
  const auto keep = using_config({.keep_graph_on_report = true});
  const nn::Observation kept = reported();
  BOOST_TEST(kept.at("loss").value() == 5);
  BOOST_REQUIRE((kept.at("loss").variable().creator() != nullptr));
  Variable loss = kept.at("loss").variable();
  loss.backward();
  BOOST_TEST(values(x.grad()) == (std::vector<double>{2, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
