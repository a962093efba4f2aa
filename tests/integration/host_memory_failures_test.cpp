// The n-th allocation on the host fails, for n = 1, 2, ... until the operation succeeds; once alone, and once with all
// later ones. Every time: an OutOfMemoryError, which names the operation if there is memory for a message; what was
// there before is unchanged, and the next attempt gives the right result.
#include <boost/test/unit_test.hpp>

#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catena/catena.h>
#include <catena/tests/support/allocations.h>
#include <catena/tests/support/training_fixtures.h>

using autograd::Variable;
using test::TemporaryFolder;

namespace {

// Runs one attempt. Returns an empty text, or the fault of the exception that ended it.
template <class Run> std::string attempt(const std::vector<std::string_view>& names, bool all_later, Run&& run) {
  try {
    run();
    return {};
  } catch (const catena::OutOfMemoryError& e) {
    const std::string what = e.what();
    bool named = all_later || names.empty();
    for (const std::string_view name : names) named = named || what.find(name) != what.npos;
#if defined(__SANITIZE_ADDRESS__)
    // There are no free lists then, and the parts of an operation ask for memory in their own names.
    named = named || what.ends_with(": the host has no memory left");
#endif
    return named ? "" : "the message does not name the operation: " + what;
  } catch (const std::exception& e) {
    return std::string("an exception of class ") + typeid(e).name() + ": " + e.what();
  }
}

// `run` makes a result, of which `is_right` says whether it is right. `names`: a message has one of them. After a
// failure, `is_unchanged` says whether everything is as it was before. `prepare` runs before each attempt, with memory.
template <class Run, class Right, class Unchanged = bool (*)(), class Prepare = void (*)()>
void survives(
    const std::vector<std::string_view>& names, Run&& run, Right&& is_right,
    Unchanged&& is_unchanged = [] { return true; }, Prepare&& prepare = [] {}) {
  const std::string_view place = names.empty() ? "any name" : names[0];
  for (const bool all_later : {false, true}) {
    long n = 1;
    for (bool failed = true; failed; ++n) {
      BOOST_REQUIRE_MESSAGE(n < 30'000, place << " asks for memory without end");
      std::optional<std::decay_t<decltype(run())>> result;
      std::string wrong;
      prepare();
      {
        const test::FailingAllocation failing(n, all_later);
        try {
          result.emplace(run());
          failed = failing.has_failed();
        } catch (...) {
          failed = failing.has_failed();
          const test::FailingAllocation none(0);
          wrong = attempt(names, all_later, [] { throw; });
        }
      }
      BOOST_TEST(wrong == "", place << ", failure " << n << (all_later ? " and all later: " : ": ") << wrong);
      if (!result) BOOST_TEST(is_unchanged(), place << ": half-modified by failure " << n);
      if (result) BOOST_TEST(is_right(*result), place << ": a wrong result in spite of failure " << n);
      // The first round meets the libraries as they start: a second attempt would spare later failures the start.
      if (all_later && failed) prepare();
      if (all_later && failed) BOOST_TEST(is_right(run()), place << ": the attempt after failure " << n);
      if (!wrong.empty()) break;
    }
  }
}

nd::Array counted(const nd::Shape& shape, nd::Dtype dtype = nd::float64) {
  return nd::arange(double(catena::size_of(shape))).astype(dtype).reshape(shape);
}
double sum_of(const nd::Array& a) { return a.astype(nd::float64).sum().item<double>(); }
// For results of which the sum of the elements times 1, 2, 3... is known.
double weighed(const nd::Array& a) {
  const std::vector<double> v = a.to_vector<double>();
  double s = 0;
  for (std::size_t k = 0; k < v.size(); ++k) s += double(k + 1) * v[k];
  return s;
}
auto weighs(double expected) {
  return [expected](const nd::Array& a) { return std::abs(weighed(a) - expected) < 1e-6 * (1 + std::abs(expected)); };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_memory_failures)

BOOST_AUTO_TEST_CASE(computations) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const nd::Array a = counted({2, 3}), b = counted({3}), big = counted({300, 5}), m = counted({3, 3}) + nd::eye(3);
  survives(
      {"add"}, [&] { return a + b; }, weighs(1 * 0 + 2 * 2 + 3 * 4 + 4 * 3 + 5 * 5 + 6 * 7));
  survives(
      {"multiply"}, [&] { return a.T() * 2; }, weighs(2 * (2 * 3 + 3 * 1 + 4 * 4 + 5 * 2 + 6 * 5)));
  survives(
      {"exp"}, [&] { return nd::exp(a(nd::Slice(), 0)); }, weighs(1 + 2 * std::exp(3.0)));
  survives(
      {"sum"}, [&] { return nd::sum(big.T(), {.axis = 0}); },
      [](const nd::Array& s) { return s.size() == 300 && s.to_vector<double>()[299] == 5 * 1497; });
  survives(
      {"mean", "sum", "std", "var"}, [&] { return nd::std(a); }, weighs(std::sqrt(35. / 12)));
  survives(
      {"argmax"}, [&] { return nd::argmax(a, 1); }, weighs(2 + 4));
  survives(
      {"cumsum"}, [&] { return nd::cumsum(a, 0); }, weighs(2 * 1 + 3 * 2 + 4 * 3 + 5 * 5 + 6 * 7));
  survives(
      {"matmul"}, [&] { return nd::matmul(a, m); }, [&](const nd::Array& p) { return sum_of(p) == 231; });
  survives(
      {"dot", "matmul", "array"}, [&] { return nd::dot(a.T(), a); },
      [](const nd::Array& p) { return sum_of(p) == 153; });
  survives(
      {"tensordot", "matmul", "dot"}, [&] { return nd::tensordot(a, a, 2); }, weighs(55));
  survives(
      {"inv", "solve"}, [&] { return nd::matmul(nd::linalg::inv(m), m).round(6); }, weighs(1 + 5 + 9));
  survives(
      {"astype", "copy"}, [&] { return a.astype(nd::float16); }, weighs(70));
  survives(
      {"overlap", "add", "copy", "where"},
      [&] {
        nd::Array x = counted({6});
        x(nd::Slice(1, 6)) += x(nd::Slice(0, 5));
        return x;
      },
      weighs(2 * 1 + 3 * 3 + 4 * 5 + 5 * 7 + 6 * 9));
}

BOOST_AUTO_TEST_CASE(shapes_and_selections) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const nd::Array a = counted({2, 3}), row = counted({3}), rows = nd::array({1, 0, 1}), mask = a > 2;
  const std::vector<nd::Array> pieces{a, a, a, a, a, a, a, a, a, a};
  const std::vector<std::int64_t> repeats{2, 1};
  survives(
      {"concatenate"}, [&] { return nd::concatenate(pieces, 0); },
      [](const nd::Array& c) { return c.shape(0) == 20 && sum_of(c) == 150; });
  survives(
      {"stack", "concatenate", "array"}, [&] { return nd::stack(pieces, 1); },
      [](const nd::Array& c) { return c.ndim() == 3 && sum_of(c) == 150; });
  survives(
      {"split"}, [&] { return nd::split(a, 3, 1); },
      [](const std::vector<nd::Array>& s) { return s.size() == 3 && sum_of(s[2]) == 7; });
  survives(
      {"tile", "copy"},
      [&] {
        return nd::tile(a, {2, 2});
      },
      [](const nd::Array& c) { return sum_of(c) == 60; });
  survives(
      {"repeat", "take"}, [&] { return nd::repeat(a, repeats, 0); },
      [](const nd::Array& c) { return sum_of(c) == 18; });
  survives(
      {"transpose"}, [&] { return a.transpose(); }, weighs(2 * 3 + 3 * 1 + 4 * 4 + 5 * 2 + 6 * 5));
  survives(
      {"take"}, [&] { return nd::take(a, rows, {.axis = 0}); }, [](const nd::Array& c) { return sum_of(c) == 27; });
  survives(
      {"getitem", "take", "index"}, [&] { return nd::Array(a(rows)); },
      [](const nd::Array& c) { return sum_of(c) == 27; });
  survives(
      {"getitem", "nonzero", "index"}, [&] { return nd::Array(a(mask)); }, weighs(3 + 8 + 15));
  survives(
      {"setitem", "getitem", "assignment", "index", "fill", "copy", "scatter"},
      [&] {
        nd::Array x = counted({4});
        x(rows) = 7;
        return x;
      },
      weighs(7 + 14 + 6 + 12));
  survives(
      {"where"}, [&] { return nd::where(mask, a, -a); }, weighs(-2 - 6 + 12 + 20 + 30));
  survives(
      {"nonzero"}, [&] { return nd::nonzero(mask); },
      [](const std::vector<nd::Array>& at) { return at.size() == 2 && sum_of(at[1]) == 3; });
  survives(
      {"sort"}, [&] { return nd::sort(-a, 0); }, weighs(-3 - 8 - 15 - 0 - 5 - 12));
  survives(
      {"argsort"}, [&] { return nd::argsort(-a, 1); }, weighs(2 + 2 * 1 + 0 + 4 * 2 + 5 * 1 + 0));
  survives(
      {"bincount"}, [&] { return nd::bincount(rows); }, weighs(1 + 4));
  survives(
      {"arange"}, [&] { return nd::arange(4); }, weighs(2 + 6 + 12));
  survives(
      {"zeros"},
      [&] {
        return nd::zeros({3, 3});
      },
      weighs(0));
  survives(
      {"broadcast", "copy"},
      [&] {
        return nd::broadcast_to(row, {4, 3}).copy();
      },
      [](const nd::Array& c) { return sum_of(c) == 12; });
}

BOOST_AUTO_TEST_CASE(random_numbers_and_texts) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const nd::Array a = counted({2, 3});
  nd::random::seed(3);
  survives(
      {"random", "rand"}, [&] { return nd::random::rand({50}); },
      [](const nd::Array& r) { return r.size() == 50 && sum_of(r) > 10 && sum_of(r) < 40; });
  survives(
      {"permutation", "random"}, [&] { return nd::random::permutation(20); },
      [](const nd::Array& p) { return sum_of(p) == 190; });
  survives(
      {"normal", "random"}, [&] { return nd::random::normal(2.0, 1.0, {20}); },
      [](const nd::Array& p) { return p.size() == 20 && sum_of(p) > 5; });
  survives(
      {"to_vector"}, [&] { return a.to_vector<float>(); },
      [](const std::vector<float>& v) { return v == std::vector<float>{0, 1, 2, 3, 4, 5}; });
  survives(
      {"tolist", "to_vector"}, [&] { return a.tolist(); },
      [](const nd::List& l) { return l[1][2].number() == nd::Scalar(5.0); });
  survives(
      {"array_str", "to_vector"}, [&] { return nd::array_str(a); },
      [](const std::string& s) { return s == "[[0. 1. 2.]\n [3. 4. 5.]]"; });
  survives(
      {"array_repr", "to_vector"}, [&] { return nd::array_repr(a); },
      [](const std::string& s) { return s == "array([[0., 1., 2.],\n       [3., 4., 5.]])"; });
}

BOOST_AUTO_TEST_CASE(kernels_given_as_text) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const nd::Array a = counted({2, 3});
  const nd::ElementwiseKernel twice("T x", "T y", "y = 2 * x", "memory_twice");
  const nd::ReductionKernel norm("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "memory_norm");
  twice(a);  // compiled
  norm(a);
  survives(
      {"memory_twice"}, [&] { return twice(a); }, weighs(140));
  survives(
      {"memory_norm"}, [&] { return norm(a); }, weighs(std::sqrt(55.0)));
}

BOOST_AUTO_TEST_CASE(files_of_arrays) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const TemporaryFolder folder("memory_arrays");
  const nd::Array a = counted({2, 3});
  const std::string npy = folder / "a.npy", npz = folder / "a.npz";
  const nd::NamedArrays named{{"a", a}, {"b", a}};
  survives(
      {"save"}, [&] { return nd::save(npy, a), 0; }, [&](int) { return true; });
  survives(
      {"load", "reader", "at: "}, [&] { return nd::Array(nd::load(npy)); }, weighs(70));
  survives(
      {"savez"}, [&] { return nd::savez_compressed(npz, named), 0; }, [&](int) { return true; });
  survives(
      {"load", "reader", "at: "}, [&] { return nd::load(npz)["b"]; }, weighs(70));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct Net : nn::Chain {
  nn::Convolution2D conv{2, 3, 3};
  nn::Linear out{48, 4};
  NN_MEMBERS(conv, out)
  Variable operator()(const Variable& x) { return out(nn::relu(conv(x))); }
};

struct Training {
  nn::Classifier<Net> model{Net()};
  training::SGD optimizer{0.1};
  autograd::Array x =
      autograd::random_normal({5, 2, 6, 6}, 0, 1, autograd::Dtype::float32, autograd::default_generator());
  autograd::Array t = autograd::array<std::int32_t>({0, 1, 2, 3, 0}, {5});
  Training() { optimizer.setup(model); }
  double total() {
    double s = 0;
    for (const auto& p : model.namedparams()) s += sum_of(nd::Array(autograd::sum(p.param.data() * p.param.data())));
    return s;
  }
};

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-5 * (1 + std::abs(b)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(host_memory_failures)

BOOST_AUTO_TEST_CASE(networks) {
  const nd::DeviceScope cpu(nd::cpu_device);
  Training run;
  const Variable x(run.x);
  run.model.predictor.conv(x);  // loads oneDNN, whose own initialization ends the program where memory is missing
  survives(
      {"Linear", "graph", "Variable"}, [&] { return nn::Linear(3, 4); },
      [](const nn::Linear& l) { return l.W.data().size() == 12; });
  survives(
      {"Convolution2D", "convolution"}, [&] { return run.model.predictor.conv(x).data(); },
      [](const autograd::Array& y) { return y.size() == 5 * 3 * 16; });
}

BOOST_AUTO_TEST_CASE(files_of_models) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const TemporaryFolder folder("memory_models");
  Training saved, loaded;
  const double total = saved.total();
  const auto nothing = [](int) { return true; };
  const auto is_total = [&](double v) { return is_near(v, total); };
  const std::string npz = folder / "m.npz", safe = folder / "m.safetensors", h5 = folder / "m.h5";
  survives(
      {"save_npz"}, [&] { return nn::serializers::save_npz(npz, saved.model), 0; }, nothing);
  survives(
      {"load_npz", "Link"}, [&] { return nn::serializers::load_npz(npz, loaded.model), loaded.total(); }, is_total);
  survives(
      {"save_safetensors"}, [&] { return nn::serializers::save_safetensors(safe, saved.model), 0; }, nothing);
  survives(
      {"load_safetensors", "Link"},
      [&] { return nn::serializers::load_safetensors(safe, loaded.model), loaded.total(); }, is_total);
  if (!nn::serializers::hdf5_available()) return;
  survives(
      {"save_hdf5"}, [&] { return nn::serializers::save_hdf5(h5, saved.model), 0; }, nothing);
  survives(
      {"load_hdf5", "Link"}, [&] { return nn::serializers::load_hdf5(h5, loaded.model), loaded.total(); }, is_total);
}

BOOST_AUTO_TEST_CASE(calls_and_gradients) {
  const nd::DeviceScope cpu(nd::cpu_device);
  Training run;
  const Variable x(run.x), t(run.t);
  const auto loss_of = [&] { return run.model(x, t).data(); };
  const double loss = sum_of(nd::Array(loss_of()));
  survives({"Classifier", "Net", "Linear", "Convolution2D", "convolution", "relu", "cross_entropy", "CrossEntropy",
            "accuracy", "Accuracy", "graph", "array", "matmul", "linear"},
           loss_of, [&](const autograd::Array& y) { return is_near(sum_of(nd::Array(y)), loss); });
  const auto gradients = [&] {
    run.model.cleargrads();
    run.model(x, t).backward();
    const Net& net = run.model.predictor;
    return std::array<autograd::Array, 2>{net.conv.W.grad(), net.out.W.grad()};
  };
  const auto total = [](const std::array<autograd::Array, 2>& all) {
    double s = 0;
    for (const autograd::Array& g : all) s += sum_of(nd::Array(g * g));
    return s;
  };
  const double expected = total(gradients());
  survives({}, gradients, [&](const std::array<autograd::Array, 2>& g) { return is_near(total(g), expected); });
}

BOOST_AUTO_TEST_CASE(functions_of_networks) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const Variable x(autograd::Array(counted({4, 3}, nd::float32) / 12)), y(autograd::Array(nd::sqrt(x.data())));
  const Variable labels(autograd::array<std::int32_t>({0, 1, 2, 1}, {4}));
  const Variable signs(autograd::array<std::int32_t>({0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0}, {4, 3}));
  const Variable image(autograd::Array(counted({1, 2, 4, 4}, nd::float32)));
  nn::LSTM lstm(3, 2);
  nn::StatefulGRU gru(3, 2);
  nn::BatchNormalization bn(3);
  nn::LayerNormalization ln(3);
  nn::EmbedID embed(5, 2);
  nn::Maxout maxout(3, 2, 2);
  const std::vector<std::function<Variable()>> calls = {
      [&] { return nn::softmax_cross_entropy(x, labels); },
      [&] { return nn::sigmoid_cross_entropy(x, signs); },
      [&] { return nn::mean_squared_error(x, y); },
      [&] { return nn::mean_absolute_error(x, y); },
      [&] { return nn::huber_loss(x, y, 0.1, "no"); },
      [&] { return nn::hinge(x, labels); },
      [&] { return nn::accuracy(x, labels); },
      [&] { return nn::softmax(x); },
      [&] { return nn::log_softmax(x); },
      [&] { return nn::normalize(x); },
      [&] { return nn::leaky_relu(x) + nn::sigmoid(y) * nn::tanh(x); },
      [&] { return nn::max_pooling_2d(image, 2); },
      [&] { return nn::average_pooling_2d(image, 2); },
      [&] {
        return autograd::concat({x, y}, 1);
      },
      [&] {
        return autograd::reshape(autograd::transpose(x), {2, 6});
      },
      [&] { return autograd::matmul(x, y, false, true); },
      [&] { return autograd::sum(x, 1) + autograd::max(y, 1); },
      [&] {
        lstm.reset_state();
        return lstm(x);
      },
      [&] {
        gru.reset_state();
        return gru(x);
      },
      [&] { return bn(x); },
      [&] { return ln(x); },
      [&] { return embed(labels); },
      [&] { return maxout(x); },
  };
  for (std::size_t k = 0; k < calls.size(); ++k) {
    BOOST_TEST_CONTEXT("call " << k) {
      const double expected = sum_of(nd::Array(calls[k]().data()));
      survives({}, calls[k], [&](const Variable& v) { return is_near(sum_of(nd::Array(v.data())), expected); });
    }
  }
}

namespace {

// `Make` makes an optimizer; its updates are compared with those of an undisturbed one.
template <class Make> void updates_survive(Make&& make) {
  Training run, undisturbed;
  auto optimizer = make(), other = make();
  undisturbed.model.copyparams(run.model);
  const Variable x(run.x), t(run.t);
  nn::Linear former(2, 3);
  optimizer->setup(former);
  const nn::Link* target = &former;
  survives(
      {}, [&] { return optimizer->setup(run.model), &optimizer->target(); },
      [&](const nn::Link* set) { return (target = set) == &run.model; },
      [&] { return &optimizer->target() == target; });
  other->setup(undisturbed.model);
  optimizer->add_hook(training::WeightDecay(1e-3));
  other->add_hook(training::WeightDecay(1e-3));
  optimizer->add_hook(training::GradientClipping(0.5));
  other->add_hook(training::GradientClipping(0.5));
  std::int64_t done = 0;
  double total = run.total();
  survives(
      {}, [&] { return optimizer->update(run.model, x, t), optimizer->t(); },
      [&](std::int64_t n) {
        other->update(undisturbed.model, x, t);
        done = n;
        total = run.total();
        return n == other->t() && is_near(total, undisturbed.total());
      },
      [&] { return optimizer->t() == done && run.total() == total; });
}

}  // namespace

BOOST_AUTO_TEST_CASE(updates_of_optimizers) {
  const nd::DeviceScope cpu(nd::cpu_device);
  updates_survive([] { return std::make_unique<training::SGD>(0.1); });
  updates_survive([] { return std::make_unique<training::Adam>(); });
}

BOOST_AUTO_TEST_CASE(reports) {
  const nd::DeviceScope cpu(nd::cpu_device);
  nn::Linear link(2, 3);
  const std::string name = "a name that is too long to lie within the string itself", key = name + " as a key";
  const Variable value(autograd::array<double>({2}, {}));
  survives(
      {},
      [&] {
        nn::Reporter reporter;
        reporter.add_link(name, link);
        const nn::Reporter::Scope scope = reporter.scope();
        nn::report(key, value, &link);
        return reporter.observation().begin()->second.value();
      },
      [](double v) { return v == 2; });
  nn::DictSummary summary;
  nn::Observation observation;
  observation.set("the first key, too long to lie within the string itself", 1.0);
  observation.set("the second key, too long to lie within the string itself", value);
  double sums = 0;
  std::int64_t count = 0;
  survives(
      {}, [&] { return summary.add(observation), 0; },
      [&](int) {
        for (const auto& [key, s] : summary.summaries()) {
          if (s.count() != count + 1) return false;
          sums += s.sum();
        }
        return ++count, true;
      });
  survives(
      {}, [&] { return summary.make_statistics(); },
      [](const std::vector<std::pair<std::string, double>>& s) {
        return s.size() == 4 && s[0].second == 1 && s[1].second == 0 && s[2].second == 2 && s[3].second == 0;
      });
}

namespace {

struct Small : nn::Chain {
  nn::Linear out{4, 3};
  NN_MEMBERS(out)
  Variable operator()(const Variable& x) { return out(x); }
};

// A training that writes no files: each would be written to the disk thousands of times.
struct Run {
  nn::Classifier<Small> model;
  training::MomentumSGD optimizer{0.1};
  std::optional<training::Trainer> trainer;

  Run(const nn::Classifier<Small>& start, const training::TupleDataset& data) : model(start) {
    const training::TriggerSpec each{1, training::iteration}, second{2, training::iteration};
    optimizer.setup(model);
    trainer.emplace(training::StandardUpdater(training::SerialIterator(data, 2, {.seed = 1}), optimizer),
                    training::TriggerSpec{3, training::iteration}, "out");
    trainer->extend(training::Evaluator(training::SerialIterator(data, 2, {.repeat = false, .shuffle = false}), model),
                    {.trigger = second});
    trainer->extend(training::LogReport({.trigger = each, .log_name = std::nullopt}));
    trainer->extend(training::ExponentialShift("lr", 0.5), {.trigger = second});
  }
  // Returns the sum of the squares of the filter.
  double operator()() {
    trainer->run();
    const autograd::Array& w = model.predictor.out.W.data();
    return autograd::item(autograd::sum(w * w)).to_double();
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(trainers) {
  const nd::DeviceScope cpu(nd::cpu_device);
  const TemporaryFolder folder("memory_trainers");
  const autograd::Array x(counted({6, 4}, nd::float32) / 24), t(nd::array({0, 1, 2, 0, 1, 2}).astype(nd::int32));
  const training::TupleDataset data({x, t});
  const nn::Classifier<Small> model{Small()};
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  std::optional<Run> run;
  const auto prepare = [&] { run.emplace(model, data); };
  prepare();
  const double total = (*run)();
  survives(
      {}, [&] { return (*run)(); }, [&](double v) { return is_near(v, total); }, [] { return true; }, prepare);
  std::filesystem::current_path(before);
}

BOOST_AUTO_TEST_CASE(training_loops) {
  const nd::DeviceScope cpu(nd::cpu_device);
  Training run;
  const training::TupleDataset data({run.x, run.t});
  survives(
      {"SerialIterator", "example"},
      [&] { return training::SerialIterator(data, 2, {.shuffle = false}).next()->indices.size(); },
      [](std::size_t n) { return n == 2; });
}

BOOST_AUTO_TEST_SUITE_END()
