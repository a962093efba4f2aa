// Hooks of links: when they run, spectral normalization against PyTorch, standardization of weights, times.
#include <catena/nn/link_hooks.h>

#include <cmath>
#include <sstream>

#include <catena/autograd/forget.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/nn/functional_call.h>
#include <catena/tests/support/framework_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
namespace hooks = nn::link_hooks;

namespace {

using Strings = std::vector<std::string>;
#define CHECK_LIST(a, ...) BOOST_TEST(a == (__VA_ARGS__), boost::test_tools::per_element())

// Notes its calls in a list.
struct Recorder : nn::LinkHook {
  std::string own_name;
  Strings& log;
  Recorder(std::string n, Strings& to) : own_name(std::move(n)), log(to) {}
  std::string name() const override { return own_name; }
  void note(const char* what, const nn::Link& l) { log.push_back(own_name + " " + what + " " + l.name()); }
  void added(nn::Link& l) override { note("added", l); }
  void deleted(nn::Link& l) override { note("deleted", l); }
  void forward_preprocess(nn::Link& l, const Variables&) override { note("pre", l); }
  void forward_postprocess(nn::Link& l, const Variables&, const Variables& y) override {
    note("post", l);
    BOOST_TEST(bool(y[0]));
  }
  void failed(nn::Link& l) noexcept override { note("failed", l); }
};

Variable input() { return Variable(floats({1, -2, 0.5f, 3, 0, 1, -1, 2}, {2, 4})); }

nn::Persistent& persistent(nn::Link& link, const std::string& name) {
  struct Find : nn::MemberVisitor {
    std::string name;
    nn::Persistent* found = nullptr;
    void persistent(std::string_view n, nn::Persistent& p) override {
      if (n == name) found = &p;
    }
  } find;
  find.name = name;
  link.visit_members(find);
  BOOST_REQUIRE(find.found != nullptr);
  return *find.found;
}

// A layer of a golden case, whose parameters are the inputs of the case: f(layer) is called with them.
template <class F> Variable with_layer(const GoldenCall& c, F f) {
  const auto run = [&](auto layer) {
    layer.to_dtype(c.x("x").dtype());
    const std::vector<nn::NamedParam> given{{"/W", c.x("W")}, {"/b", c.x("b")}};
    return nn::functional_call(layer, given, [&] { return f(layer); });
  };
  const std::string layer = c.text("layer", "");
  if (layer == "linear") return run(nn::Linear(4, 5));
  if (layer == "convolution") return run(nn::Convolution2D(3, 4, {2, 3}));
  return run(nn::Deconvolution2D(3, 4, 2));
}

Variables spectral_normalization(const GoldenCall& c) {
  hooks::SpectralNormalizationOptions o;
  o.n_power_iteration = int(c.integer("n_power_iteration", 1));
  o.eps = c.number("eps", 0);
  Array u, v;
  const auto mode = autograd::train_mode(c.flag("train", true));
  const Variable y = with_layer(c, [&](auto& layer) {
    layer.add_hook(hooks::SpectralNormalization(o));
    u = persistent(layer, "W_u").array(), v = persistent(layer, "W_v").array();
    autograd::assign(u, autograd::reshape(c.array("u"), u.shape()));
    autograd::assign(v, autograd::reshape(c.array("v"), v.shape()));
    return layer(c.x("x"));
  });
  return {y, Variable(autograd::reshape(u, {u.size()})), Variable(autograd::reshape(v, {v.size()}))};
}

Variables weight_standardization(const GoldenCall& c) {
  return {with_layer(c, [&](auto& layer) {
    layer.add_hook(hooks::WeightStandardization({.eps = c.number("eps", 0)}));
    return layer(c.x("x"));
  })};
}

Variables weight_norm(const GoldenCall& c) {
  const auto run = [&](auto layer) {
    layer.to_dtype(c.x("x").dtype());
    nn::utils::weight_norm(layer, {.dim = int(c.integer("dim", 0))});
    const std::vector<nn::NamedParam> given{{"/W", c.x("W")}, {"/b", c.x("b")}, {"/W_g", c.x("g")}};
    return Variables{nn::functional_call(layer, given, [&] { return layer(c.x("x")); })};
  };
  const std::string layer = c.text("layer", "");
  if (layer == "linear") return run(nn::Linear(4, 5));
  if (layer == "convolution") return run(nn::Convolution2D(3, 4, {2, 3}));
  return run(nn::Deconvolution2D(3, 4, 2));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(link_hooks)

BOOST_AUTO_TEST_CASE(golden_values) {
  run_golden("torch_link_hooks",
             {{"spectral_normalization", spectral_normalization},
              {"weight_standardization", weight_standardization},
              {"weight_norm", weight_norm}},
             {.once_only = {"spectral_normalization"}});
}

BOOST_AUTO_TEST_CASE(order_of_calls) {
  Strings log;
  TinyMLP model;
  model.namedparams();  // names the links
  model.l1.add_hook(Recorder("A", log)).add_hook(std::make_shared<Recorder>("B", log), "second");
  model.l2.add_hook(Recorder("A", log));
  CHECK_LIST(log, Strings{"A added l1", "B added l1", "A added l2"});
  log.clear();
  Recorder of_thread("T", log);
  {
    const nn::LinkHookScope scope(of_thread);
    model.call({input()});
    CHECK_LIST(log, Strings{"T pre ", "T pre l1", "A pre l1", "B pre l1", "B post l1", "A post l1", "T post l1",
                            "T pre l2", "A pre l2", "A post l2", "T post l2", "T post "});
    BOOST_CHECK_THROW(nn::LinkHookScope{of_thread}, catena::KeyError);
    log.clear();
    Recorder same_name("A", log);
    const nn::LinkHookScope other(same_name);
    model.l2(Variable(floats({1, 2, 3, 4, 5, 6}, {1, 6})));  // the link's own A in place of the thread's
    CHECK_LIST(log, Strings{"T pre l2", "A pre l2", "A post l2", "T post l2"});
    log.clear();
    BOOST_CHECK_THROW(model.l2(input()), catena::InvalidType);  // too few columns
    CHECK_LIST(log, Strings{"T pre l2", "A pre l2", "A failed l2", "T failed l2"});
  }
  log.clear();
  model.l1.delete_hook("A");
  BOOST_TEST(has(message_of<catena::KeyError>([&] { model.l1.delete_hook("A"); }), "A (there are: second)"));
  BOOST_CHECK_THROW(model.l2.add_hook(Recorder("A", log)), catena::KeyError);
  BOOST_CHECK_THROW(model.l2.add_hook(std::shared_ptr<Recorder>()), catena::ValueError);
  CHECK_LIST(log, Strings{"A deleted l1"});
  log.clear();
  model(input());
  CHECK_LIST(log, Strings{"B pre l1", "B post l1", "A pre l2", "A post l2"});
}

// A call through the base class and the operator() that it calls are one call.
BOOST_AUTO_TEST_CASE(once_for_a_call) {
  Strings log;
  nn::Sequential s(nn::Linear(4, 3), nn::tanh, nn::ChainList(nn::Linear(3, 2)));
  Recorder hook("T", log);
  const nn::LinkHookScope scope(hook);
  s(input());
  CHECK_LIST(log, Strings{"T pre ", "T pre 0", "T post 0", "T pre 2", "T pre 0", "T post 0", "T post 2", "T post "});
  log.clear();
  nn::BatchRenormalization renormalization(4);
  const auto test_mode = autograd::train_mode(false);
  renormalization.call({input()});  // calls the operator() of its base class
  CHECK_LIST(log, Strings{"T pre ", "T post "});
}

BOOST_AUTO_TEST_CASE(copies_have_the_same_hooks) {
  Strings log;
  TinyMLP model;
  model.l1.add_hook(Recorder("A", log));
  TinyMLP twin = model;
  TinyMLP assigned;
  assigned = model;
  log.clear();
  twin(input());
  assigned(input());
  BOOST_TEST(log.size() == 4u);
  twin.l1.delete_hook("A");
  log.clear();
  twin(input());
  BOOST_TEST(log.empty());
  model(input());
  BOOST_TEST(log.size() == 2u);
}

// A hook that throws before the call leaves no hook running.
BOOST_AUTO_TEST_CASE(a_hook_that_throws) {
  Strings log;
  nn::Linear l(4, 2);
  l.add_hook(Recorder("A", log));
  l.add_hook(nn::CallbackLinkHook(
      "thrower", {.forward_preprocess = [](nn::Link&, const Variables&) { throw catena::ValueError("not today"); }}));
  BOOST_CHECK_THROW(l(input()), catena::ValueError);
  l.delete_hook("thrower");
  Shape seen;
  l.add_hook(nn::CallbackLinkHook("shape",
                                  {.forward_postprocess = [&](nn::Link& link, const Variables& x, const Variables& y) {
                                    BOOST_TEST(&link == &l);
                                    BOOST_TEST(x[0].shape() == Shape({2, 4}));
                                    seen = y[0].shape();
                                  }}));
  log.clear();
  l(input());
  BOOST_TEST(seen == Shape({2, 2}));
  CHECK_LIST(log, Strings{"A pre ", "A post "});
}

// The hook exists until the call has ended.
BOOST_AUTO_TEST_CASE(a_hook_that_removes_itself) {
  struct Once : nn::LinkHook {
    bool& exists;
    explicit Once(bool& flag) : exists(flag) { exists = true; }
    ~Once() override { exists = false; }
    std::string name() const override { return "once"; }
    void forward_postprocess(nn::Link& l, const Variables&, const Variables&) override {
      bool& flag = exists;
      l.delete_hook("once");
      BOOST_TEST(flag);
    }
  };
  bool exists = false;
  Strings log;
  nn::Linear l(4, 2);
  l.add_hook(Recorder("A", log)).add_hook(std::make_shared<Once>(exists));
  log.clear();
  l(input());
  BOOST_TEST(!exists);
  l(input());
  CHECK_LIST(log, Strings{"A pre ", "A post ", "A pre ", "A post "});
}

// A weight that gets its shape outside of a call, as from a file.
BOOST_AUTO_TEST_CASE(a_weight_initialized_after_the_hook) {
  nn::Linear l(3);
  l.add_hook(hooks::SpectralNormalization({.use_gamma = true}));
  l.W.initialize({3, 4});
  BOOST_TEST(l(input()).shape() == Shape({2, 3}));
  BOOST_TEST(persistent(l, "W_u").array().shape() == Shape({3, 1}));
  BOOST_TEST(l.param("W_gamma").is_initialized());
}

// The first call, in which the weight gets its shape, and what delete_hook leaves.
BOOST_AUTO_TEST_CASE(a_weight_without_a_shape) {
  nn::Linear l(3);
  l.add_hook(hooks::SpectralNormalization());
  const Variable y = l(input());
  BOOST_TEST(l.W.shape() == Shape({3, 4}));
  BOOST_TEST(persistent(l, "W_u").array().shape() == Shape({3, 1}));
  y.sum().backward();
  BOOST_TEST(bool(l.W.grad()));
  l.delete_hook("SpectralNormalization");
  BOOST_TEST(!same_bits(l(input()).data(), y.data()));
  BOOST_TEST(has(message_of<catena::KeyError>([&] {
                   nn::Linear plain(4, 2);
                   plain.add_hook(hooks::SpectralNormalization({.weight_name = "V"}));
                 }),
                 "V (there are: W, b)"));
  BOOST_CHECK_THROW(hooks::SpectralNormalization({.n_power_iteration = 0}), catena::ValueError);
  BOOST_CHECK_THROW(hooks::SpectralNormalization({.eps = -1}), catena::ValueError);
  nn::Linear two(4, 2);
  BOOST_CHECK_THROW(two.add_hook(hooks::WeightStandardization({.axis = 2})), catena::ValueError);
}

namespace {
// The largest singular value of a matrix, by many steps of the power method in float64.
double largest_singular_value(const std::vector<double>& M, std::size_t rows) {
  const std::size_t columns = M.size() / rows;
  std::vector<double> v(columns, 1.0);
  double sigma = 0;
  for (int step = 0; step < 2000; ++step) {
    std::vector<double> u(rows), w(columns);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) u[i] += M[i * columns + j] * v[j];
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) w[j] += M[i * columns + j] * u[i];
    double norm = 0;
    for (const double x : w) norm += x * x;
    norm = std::sqrt(norm);
    for (std::size_t j = 0; j < columns; ++j) v[j] = w[j] / norm;
    sigma = std::sqrt(norm);
  }
  return sigma;
}
}  // namespace

BOOST_AUTO_TEST_CASE(the_norm_of_the_weight) {
  for (const bool gamma : {false, true}) {
    nn::Linear l(4, 3, {.nobias = true});
    // Power iterations do not separate singular values that are close, as those of random weights may be.
    l.W.set_data(floats({3, 0, 1, 0, 0, 1, 0, 0.5, 0.2, 0, 0.3, 1}, {3, 4}));
    l.add_hook(hooks::SpectralNormalization({.n_power_iteration = 200, .factor = 2.5, .use_gamma = gamma}));
    const Variable identity(floats({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {4, 4}));
    const Variable y = l(identity);  // the transposed weight
    BOOST_TEST(std::abs(largest_singular_value(values(y.data()), 4) - 2.5) < 1e-4);
    BOOST_TEST(l.params().size() == (gamma ? 2u : 1u));
    if (!gamma) continue;
    y.sum().backward();
    BOOST_TEST(bool(l.param("W_gamma").grad()));
    autograd::fill(l.param("W_gamma").data(), 1);
    BOOST_TEST(std::abs(largest_singular_value(values(l(identity).data()), 4) - 1) < 1e-4);
  }
}

// A call in test mode changes no vector, a call that forget repeats neither.
BOOST_AUTO_TEST_CASE(vectors_change_in_training_only) {
  nn::Linear l(4, 3);
  l.add_hook(hooks::SpectralNormalization());
  const auto u = [&] { return autograd::copy(persistent(l, "W_u").array()); };
  autograd::assign(persistent(l, "W_u").array(), floats({1, 0, 0}, {3, 1}));
  Array before = u();
  {
    const auto test_mode = autograd::train_mode(false);
    l(input());
  }
  BOOST_TEST(same_bits(u(), before));
  nn::Linear plain = l;
  const Variable y = autograd::forget(l, input()), y2 = plain(input());
  const Array once = u();
  BOOST_TEST(!same_bits(once, before));
  y.sum().backward();
  y2.sum().backward();
  BOOST_TEST(same_bits(u(), once));
  BOOST_TEST(same_bits(l.W.grad(), plain.W.grad()));
}

namespace {
std::vector<double> result_of(nn::Link& l) {
  const auto test_mode = autograd::train_mode(false);
  return values(l(input()).data());
}
bool are_close(const std::vector<double>& a, const std::vector<double>& b) {
  bool close = a.size() == b.size();
  for (std::size_t i = 0; close && i < a.size(); ++i) close = std::abs(a[i] - b[i]) < 1e-5;
  return close;
}
Strings paths(const nn::Link& l) {
  Strings result;
  for (const auto& [path, param] : l.namedparams()) result.push_back(path);
  return result;
}
}  // namespace

// The layer computes as before until W or W_g changes, and keeps its results when the normalization is removed.
BOOST_AUTO_TEST_CASE(weight_norm_of_layers) {
  nn::Linear plain(4, 3);
  const std::vector<double> before = result_of(plain);
  nn::Linear l = plain;
  nn::Linear& same = nn::utils::weight_norm(l);
  BOOST_TEST(&same == &l);
  CHECK_LIST(paths(l), Strings{"/W", "/b", "/W_g"});
  BOOST_TEST(l.param("W_g").shape() == Shape({3, 1}));
  BOOST_TEST(are_close(result_of(l), before));
  BOOST_CHECK_THROW(nn::utils::weight_norm(l), catena::KeyError);
  autograd::fill(l.W.data(), 3);
  autograd::fill(l.param("W_g").data(), 4);  // rows of 4 / sqrt(4)
  autograd::fill(l.b.data(), 0);
  const std::vector<double> doubled = result_of(l);
  BOOST_TEST(doubled == (std::vector<double>{5, 5, 5, 4, 4, 4}), boost::test_tools::tolerance(1e-5)
                                                                     << boost::test_tools::per_element());
  nn::utils::remove_weight_norm(l);
  CHECK_LIST(paths(l), Strings{"/W", "/b"});
  BOOST_TEST(std::abs(values(l.W.data())[0] - 2) < 1e-6);
  BOOST_TEST(are_close(result_of(l), doubled));
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::utils::remove_weight_norm(l); }), "of \"weight\""));
  nn::utils::weight_norm(l, "bias", 0);  // a vector: each element has a norm
  nn::utils::parametrizations::weight_norm(l, {.name = "weight", .dim = std::nullopt});
  BOOST_TEST(l.param("b_g").shape() == Shape({3}));
  BOOST_TEST(l.param("W_g").shape() == Shape());
  nn::utils::remove_weight_norm(l, "bias");
  CHECK_LIST(paths(l), Strings{"/W", "/b", "/W_g"});
  BOOST_TEST(has(message_of<catena::KeyError>([&] { nn::utils::weight_norm(l, {.name = "v"}); }), "v (there are"));
  BOOST_CHECK_THROW(nn::utils::weight_norm(plain, {.dim = 2}), catena::ValueError);
  CHECK_LIST(paths(plain), Strings{"/W", "/b"});
}

// A layer by value, in a sequence, without its input size, and copies, whose W_g are their own.
BOOST_AUTO_TEST_CASE(weight_norm_of_temporaries) {
  nn::Sequential net(nn::utils::weight_norm(nn::Linear(4, 3)), nn::utils::weight_norm(nn::Linear(2)));
  BOOST_TEST(net.params().size() == 5u);
  const Variable y = net(input());
  CHECK_LIST(paths(net), (Strings{"/0/W", "/0/b", "/0/W_g", "/1/W", "/1/b", "/1/W_g"}));
  y.sum().backward();
  for (const Variable& p : net.params()) BOOST_TEST(bool(p.grad()));
  auto l = nn::utils::weight_norm(nn::Linear(4, 3));
  nn::Linear twin = l;
  autograd::fill(twin.param("W_g").data(), 0);
  BOOST_TEST(values(l.param("W_g").data())[0] > 0);
  nn::Linear late = nn::utils::weight_norm(nn::Linear(3));
  late.W.initialize({3, 4});
  BOOST_TEST(late(input()).shape() == Shape({2, 3}));
  nn::Linear wrong = nn::utils::weight_norm(nn::Linear(3), {.dim = 2});
  BOOST_CHECK_THROW(wrong(input()), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(spectral_norm_of_layers) {
  const Variable identity(floats({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {4, 4}));
  nn::Linear l(4, 3, {.nobias = true});
  nn::utils::spectral_norm(l, {.n_power_iterations = 200, .eps = 1e-12});
  BOOST_TEST(std::abs(largest_singular_value(values(l(identity).data()), 4) - 1) < 1e-4);
  const std::vector<double> before = result_of(l);
  nn::utils::remove_spectral_norm(l);
  BOOST_TEST(std::abs(largest_singular_value(values(l.W.data()), 3) - 1) < 1e-4);
  BOOST_TEST(are_close(result_of(l), before));
  BOOST_CHECK_THROW(nn::utils::remove_spectral_norm(l), catena::ValueError);
  nn::utils::spectral_norm(l, "weight", 1, 1e-12, 1);  // the vectors were removed: those of another axis
  BOOST_TEST(persistent(l, "W_u").array().shape() == Shape({4, 1}));
  BOOST_CHECK_THROW(nn::utils::spectral_norm(nn::Linear(4, 3), {.n_power_iterations = 0}), catena::ValueError);
  BOOST_CHECK_THROW(nn::utils::spectral_norm(nn::Linear(4, 3), {.dim = 2}), catena::ValueError);
  auto back = nn::utils::parametrizations::spectral_norm(nn::ConvTranspose2d(3, 8, 3));
  BOOST_TEST(persistent(back, "W_u").array().shape() == Shape({8, 1}));
  BOOST_TEST(nn::utils::spectral_norm(nn::Linear(4, 3), {.name = "W"})(input()).shape() == Shape({2, 3}));
}

BOOST_AUTO_TEST_CASE(times) {
  hooks::TimerHook timer;
  TinyMLP model;
  {
    const auto scope = timer.scope();
    model.call({input()});
    model.l1(input());
    BOOST_CHECK_THROW(model.l2(input()), catena::InvalidType);
  }
  Strings called;
  double inner = 0;
  for (const auto& [link, seconds] : timer.call_history()) {
    called.push_back(link);
    if (link == "Linear") inner += seconds;
    BOOST_TEST(seconds >= 0);
  }
  CHECK_LIST(called, Strings{"Linear", "Linear", "TinyMLP", "Linear"});
  const double of_model = timer.call_history()[2].second;
  BOOST_TEST(std::abs(timer.total_time() - of_model - timer.call_history()[3].second) < 1e-12);
  const auto entries = timer.summary();
  BOOST_REQUIRE(entries.size() == 2u);
  const bool linear_first = entries[0].link == "Linear";
  BOOST_TEST(entries[0].elapsed_time >= entries[1].elapsed_time);
  BOOST_TEST(entries[linear_first ? 0 : 1].occurrence == 3);
  BOOST_TEST(std::abs(entries[linear_first ? 0 : 1].elapsed_time - inner) < 1e-12);
  std::ostringstream text;
  timer.print_report(text, "ms");
  const std::string first_line = text.str().substr(0, text.str().find('\n'));
  BOOST_TEST(first_line == "LinkName   ElapsedTime  Occurrence");
  BOOST_TEST(has(text.str(), "ms           3\n"));
  BOOST_CHECK_THROW(timer.report("hours"), catena::ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
