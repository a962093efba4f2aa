// The links against the reference: those of this file, and those that other files register. And what the reference does
// not cover of Linear, Convolution2D, the normalizations and Classifier.
#include <cmath>
#include <memory>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_link_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using json = test::Json;

namespace {

nn::Pair pair_of(const json& args, const char* name, int otherwise) {
  if (!args.contains(name)) return otherwise;
  const json& v = args[name];
  return v.is_array() ? nn::Pair(v[0].get<int>(), v[1].get<int>()) : nn::Pair(v.get<int>());
}
std::optional<int> optional_int(const json& v) { return v.is_null() ? std::nullopt : std::optional<int>(v.get<int>()); }

using Case = test::LinkCase;
using Runner = test::LinkRunner;

void run_linear(Case& c, const json& a, Dtype) {
  nn::Linear link(optional_int(a["in_size"]), a["out_size"].get<int>(),
                  {.nobias = a.value("nobias", false), .n_batch_axes = 1});
  c.run(link, [&](const Variables& x, const json&) { return Variables{link(x[0])}; });
}

void run_convolution(Case& c, const json& a, Dtype) {
  nn::Convolution2D link(optional_int(a["in_channels"]), a["out_channels"].get<int>(), pair_of(a, "ksize", 1),
                         {.stride = pair_of(a, "stride", 1),
                          .pad = pair_of(a, "pad", 0),
                          .dilate = pair_of(a, "dilate", 1),
                          .nobias = a.value("nobias", false)});
  c.run(link, [&](const Variables& x, const json&) { return Variables{link(x[0])}; });
}

void run_batch_normalization(Case& c, const json& a, Dtype dtype) {
  const json& size = a["size"];
  const Shape shape = size.is_array() ? Shape(size.get<std::vector<std::int64_t>>()) : Shape{size.get<std::int64_t>()};
  nn::BatchNormalization link(shape, {.decay = a["decay"],
                                      .eps = a["eps"],
                                      .dtype = dtype,
                                      .use_gamma = a["use_gamma"].get<bool>(),
                                      .use_beta = a["use_beta"].get<bool>()});
  c.run(link, [&](const Variables& x, const json& o) {
    return Variables{link(x[0], {.test = o.value("test", false), .finetune = o.value("finetune", false)})};
  });
}

void run_layer_normalization(Case& c, const json& a, Dtype dtype) {
  nn::LayerNormalization link(optional_int(a["size"]), {.eps = a["eps"],
                                                        .initial_gamma = nn::initializers::One({.dtype = dtype}),
                                                        .initial_beta = nn::initializers::Zero({.dtype = dtype}),
                                                        .eps_added_to = nn::EpsAddedTo::deviation});
  c.run(link, [&](const Variables& x, const json&) { return Variables{link(x[0])}; });
}

void run_classifier(Case& c, const json& a, Dtype) {
  int in = 0, out = 0;
  std::sscanf(a["predictor"].get<std::string>().c_str(), "Linear(%d, %d)", &in, &out);
  nn::Classifier<nn::Linear> link(nn::Linear(in, out));
  c.run(link, [&](const Variables& x, const json&) {
    const Variable loss = link(x);
    return Variables{loss, link.y, link.loss, link.accuracy};
  });
}

const std::map<std::string, Runner>& runners() {
  static const std::map<std::string, Runner> all = {{"Linear", run_linear},
                                                    {"Convolution2D", run_convolution},
                                                    {"DilatedConvolution2D", run_convolution},
                                                    {"BatchNormalization", run_batch_normalization},
                                                    {"LayerNormalization", run_layer_normalization},
                                                    {"Classifier", run_classifier}};
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_links)

BOOST_AUTO_TEST_CASE(values_of_the_reference) {
  const auto golden = Golden::open("links");
  golden.for_each([&](const json& c) -> std::string {
    const std::string link = c["link"];
    const std::map<std::string, Runner>& all = runners().contains(link) ? runners() : link_runners();
    const auto runner = all.find(link);
    if (runner == all.end()) return link;
    BOOST_TEST_CONTEXT(c["name"].get<std::string>()) {
      Case one(golden, c);
      BOOST_CHECK_NO_THROW(runner->second(one, c["args"], catena::dtype_from_name(c["dtype"].get<std::string>())));
    }
    return {};
  });
}

BOOST_AUTO_TEST_CASE(lazy_sizes) {
  nn::Linear linear(4, {.n_batch_axes = 1});
  BOOST_TEST(linear.has_uninitialized_params());
  BOOST_TEST(linear(Variable(autograd::arrays::zeros({2, 3, 5}))).shape() == Shape({2, 4}));
  BOOST_TEST(linear.W.shape() == Shape({4, 15}));
  nn::Linear empty(4);
  BOOST_TEST(empty(Variable(autograd::arrays::zeros({0, 6}))).shape() == Shape({0, 4}));  // a batch may be empty
  BOOST_TEST(empty.W.shape() == Shape({4, 6}));
  nn::Convolution2D conv(4, 3, {.pad = 1});
  BOOST_TEST(conv(Variable(autograd::arrays::zeros({2, 3, 5, 5}))).shape() == Shape({2, 4, 5, 5}));
  BOOST_TEST(conv.W.shape() == Shape({4, 3, 3, 3}));
  nn::Convolution2D wrong(4, 3);
  BOOST_CHECK_THROW(wrong(Variable(autograd::arrays::zeros({2, 3}))), catena::InvalidType);
  BOOST_TEST(!wrong.W.is_initialized());
}

BOOST_AUTO_TEST_CASE(initial_values) {
  autograd::seed(1);
  nn::Linear plain(400, 300), doubled(400, 300, {.wscale = 4.0, .initial_bias = 0.5});
  auto deviation = [](const Array& a) {
    double sum = 0;
    for (const double x : values(a)) sum += x * x;
    return std::sqrt(sum / double(a.size()));
  };
  BOOST_TEST(std::fabs(deviation(plain.W.data()) - 0.05) < 0.001);
  BOOST_TEST(std::fabs(deviation(doubled.W.data()) - 0.1) < 0.002);
  BOOST_TEST(values(doubled.b->data())[0] == 0.5);
  BOOST_TEST(values(plain.b->data())[0] == 0.0);
  nn::Linear half(3, 2, {.nobias = true, .initialW = nn::initializers::Normal(1.0, {.dtype = Dtype::float16})});
  BOOST_TEST((half.W.dtype() == Dtype::float16));
}

BOOST_AUTO_TEST_CASE(batch_normalization_follows_the_train_mode) {
  nn::BatchNormalization bn(2);
  const Variable x(floats({1, 10, 3, 30}, {2, 2}));
  bn(x);
  // The running mean moved a tenth of the way: 0.1 * {2, 20}.
  check_close(bn.avg_mean.array(), floats({0.2f, 2.0f}, {2}), 1e-6, 1e-6, "avg_mean");
  const auto testing = autograd::train_mode(false);
  bn(x);
  check_close(bn.avg_mean.array(), floats({0.2f, 2.0f}, {2}), 1e-6, 1e-6, "avg_mean after a test call");
}

BOOST_AUTO_TEST_CASE(finetuning_starts_anew) {
  nn::BatchNormalization bn(2, {.eps = 0.0});
  const auto batch = [](float shift) { return Variable(floats({1 + shift, 2, 3 + shift, 6, 5 + shift, 7}, {3, 2})); };
  const auto mean = [&] { return values(bn.avg_mean.array()); };
  bn(batch(0), {.finetune = true});
  BOOST_TEST(bn.N == 1);
  BOOST_TEST(mean()[0] == 3.0, boost::test_tools::tolerance(1e-6));
  check_close(bn.avg_var.array(), floats({4, 7}, {2}), 1e-5, 1e-5, "the unbiased variance");
  bn(batch(6), {.finetune = true});
  BOOST_TEST(bn.N == 2);
  BOOST_TEST(mean()[0] == 6.0, boost::test_tools::tolerance(1e-6));  // of 3 and 9
  bn.start_finetuning();
  BOOST_TEST(bn.N == 0);
  BOOST_TEST(mean()[0] == 6.0, boost::test_tools::tolerance(1e-6));  // nothing else changes
  bn(batch(30), {.finetune = true});                                 // the earlier averages no longer count
  BOOST_TEST(bn.N == 1);
  BOOST_TEST(mean()[0] == 33.0, boost::test_tools::tolerance(1e-6));
}

// link(x, test, finetune)
BOOST_AUTO_TEST_CASE(batch_normalization_takes_its_flags_by_position) {
  nn::BatchNormalization bn(2, {.decay = 0.5, .eps = 0.0});
  const Variable x(floats({1, 2, 3, 6, 5, 7}, {3, 2}));
  const auto mean = [&] { return values(bn.avg_mean.array())[0]; };
  bn(x, false);
  BOOST_TEST(mean() == 1.5, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(bn.N == 0);
  bn(x, false, true);
  BOOST_TEST(mean() == 3.0, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(bn.N == 1);
  check_close(bn(x, true).data(), bn(x, {.test = true}).data(), 0, 0, "with the running statistics");
  BOOST_TEST(mean() == 3.0, boost::test_tools::tolerance(1e-6));
  const auto testing = autograd::train_mode(false);
  check_close(bn(x, true).data(), bn(x).data(), 0, 0, "with the running statistics");
  bn(Variable(floats({7, 8, 9, 12, 11, 13}, {3, 2})), false);
  BOOST_TEST(mean() == 6.0, boost::test_tools::tolerance(1e-6));  // of 3 and 9
}

BOOST_AUTO_TEST_CASE(running_statistics_start_as_asked) {
  const auto testing = autograd::train_mode(false);
  const Variable x(floats({1, 10, 3, 30}, {2, 2}));
  nn::BatchNormalization later(2, {.eps = 0.0, .initial_avg_mean = 1.0, .initial_avg_var = 4.0});
  check_close(later(x).data(), floats({0, 4.5f, 1, 14.5f}, {2, 2}), 1e-6, 1e-6, "(x - 1) / 2");
  BOOST_TEST(values(nn::BatchNormalization(2).avg_var.array())[0] == 0);  // as v1.24 starts
}

BOOST_AUTO_TEST_CASE(layer_normalization) {
  // The reference's own example: (x - 7/3) / (sqrt(14/9) + 1e-6).
  const nn::LayerNormalization::Options chainer{.eps = 1e-6, .eps_added_to = nn::EpsAddedTo::deviation};
  nn::LayerNormalization lazy(chainer);
  BOOST_TEST(lazy.has_uninitialized_params());
  const Variable y = lazy(Variable(floats({1, 2, 4}, {1, 3})));
  check_close(y.data(), floats({-1.069044f, -0.267261f, 1.336305f}, {1, 3}), 1e-6, 1e-6, "y");
  std::vector<std::string> names;
  for (const nn::NamedParam& p : lazy.namedparams()) names.push_back(p.path);
  BOOST_TEST(names == (std::vector<std::string>{"/gamma", "/beta"}), boost::test_tools::per_element());
  nn::LayerNormalization filled(
      3, {.eps = 1e-6, .initial_gamma = 2.0, .initial_beta = 0.5, .eps_added_to = nn::EpsAddedTo::deviation});
  check_close(filled(Variable(floats({1, 2, 4}, {1, 3}))).data(), floats({-1.638088f, -0.034522f, 3.172610f}, {1, 3}),
              2e-6, 1e-6, "y");
  nn::LayerNormalization empty;
  BOOST_TEST(empty(Variable(autograd::arrays::zeros({0, 6}))).shape() == Shape({0, 6}));  // a batch may be empty
  BOOST_TEST(empty.gamma.shape() == Shape({6}));
  nn::LayerNormalization wrong;
  BOOST_CHECK_THROW(wrong(Variable(autograd::arrays::zeros({}))), catena::InvalidType);
  BOOST_TEST(!wrong.gamma.is_initialized());
  BOOST_CHECK_THROW(filled(Variable(autograd::arrays::zeros({2, 4}))), catena::InvalidType);
}

BOOST_AUTO_TEST_CASE(layer_normalization_files) {
  const TemporaryFolder folder("layer_normalization");
  const std::string path = folder / "model.npz";
  nn::LayerNormalization saved(2, {.initial_gamma = 1.5, .initial_beta = -0.5}), loaded;
  nn::serializers::save_npz(path, saved);
  nn::serializers::load_npz(path, loaded);
  check_close(loaded.gamma.data(), floats({1.5f, 1.5f}, {2}), 0, 0, "gamma");
  check_close(loaded.beta.data(), floats({-0.5f, -0.5f}, {2}), 0, 0, "beta");
}

BOOST_AUTO_TEST_CASE(classifier) {
  nn::Classifier<nn::Linear> model(nn::Linear(2, 3), {.compute_accuracy = false});
  const Variable x(floats({1, 2}, {1, 2})), t(ints({1}));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { model(Variables{x}); }), "1 arguments"));
  nn::Reporter r;
  r.add_link("main", model);
  nn::Observation seen;
  {
    const nn::Reporter::Scope scope = r.scope(seen);
    model(x, t);
  }
  BOOST_TEST(seen.contains("main/loss"));
  BOOST_TEST(!seen.contains("main/accuracy"));
  BOOST_TEST(!bool(model.accuracy));
}

// The class of the predictor is known only at run time.
BOOST_AUTO_TEST_CASE(classifier_of_a_chosen_network) {
  std::unique_ptr<nn::Link> chosen = std::make_unique<nn::Linear>(2, 3, nn::LinearOptions{.initialW = 0.0});
  const auto shared = std::make_shared<nn::Linear>(2, 3, nn::LinearOptions{.initialW = 0.0});
  nn::Classifier model(std::move(chosen));
  nn::Classifier same(shared, {.compute_accuracy = false});
  static_assert(std::is_same_v<decltype(model), nn::Classifier<nn::Link>>);
  static_assert(std::is_same_v<decltype(same), nn::Classifier<nn::Linear>>);
  const Variable x(floats({1, 2}, {1, 2})), t(ints({1}));
  BOOST_TEST(model(x, t).item<double>() == std::log(3.0), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(same(x, t).item<double>() == std::log(3.0), boost::test_tools::tolerance(1e-6));
  BOOST_TEST(model.namedparams()[0].path == "/predictor/W");
  BOOST_TEST(&same.predictor == shared.get());
  BOOST_TEST(has(message_of<catena::ValueError>([] { nn::Classifier(std::unique_ptr<nn::Link>()); }), "is null"));
}

// A copy as an object of the base class would have no parameters.
BOOST_AUTO_TEST_CASE(classifier_does_not_copy_a_part) {
  nn::Linear linear(2, 3), other(2, 3);
  nn::Chain chain;
  chain.add_link("l1", nn::Linear(2, 3));
  nn::Classifier<nn::Link> of_base(std::ref(static_cast<nn::Link&>(linear)));
  BOOST_TEST(has(message_of<catena::TypeError>([&] { nn::Classifier<nn::Link> copied(of_base); }),
                 "the predictor is a Linear, but held as a Link"));
  nn::Classifier<nn::Link> to(std::ref(static_cast<nn::Link&>(other)));
  BOOST_CHECK_THROW(to = of_base, catena::TypeError);
  const nn::Classifier<nn::Linear> whole(std::ref(linear));
  nn::Classifier<nn::Linear> copied(whole);
  BOOST_TEST(copied.count_params() == 9);
  BOOST_TEST(&copied.predictor != &linear);
  const nn::Classifier<nn::Chain> of_chain(std::ref(chain));
  BOOST_TEST(nn::Classifier<nn::Chain>(of_chain).count_params() == 9);
}

BOOST_AUTO_TEST_SUITE_END()
