// Training on several devices or in several processes does what one device does with all their examples: with every
// optimizer, every hook, schedules and batches of different sizes. The optimizer stays as it was.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/optimizer_kinds.h>
#include <catena/tests/support/replicas.h>
#include <catena/training/extensions.h>
#include <catena/training/parallel/multiprocess_parallel_updater.h>
#include <catena/training/parallel/parallel_updater.h>

using namespace test;
using namespace training;
using training::updaters::MultiprocessParallelUpdater;

namespace {

constexpr std::int64_t kSteps = 4;

// In float64, so that the order of additions does not matter.
struct Model : nn::Chain {
  nn::Linear l1{3, 4}, l2{4, 2};
  NN_MEMBERS(l1, l2)
  Model() {
    autograd::Generator fixed{17, 0};
    for (const Variable& p : params()) {
      Variable v = p;
      v.set_data(autograd::random_normal(p.shape(), 0, 0.5, Dtype::float64, fixed, kCpu));
    }
  }
  Variable operator()(const Variable& x, const Variable& t) {
    const Variable loss = nn::mean_squared_error(l2(nn::tanh(l1(x))), t);
    nn::report("loss", loss, this);
    return loss;
  }
};

// `n` pairs of inputs and targets.
struct Pairs {
  Array x, t;
  explicit Pairs(std::int64_t n) {
    autograd::Generator fixed{5, 0};
    x = autograd::random_normal({n, 3}, 0, 1, Dtype::float64, fixed, kCpu);
    t = autograd::random_normal({n, 2}, 1, 2, Dtype::float64, fixed, kCpu);
  }
  DatasetPtr part(std::int64_t begin, std::int64_t end) const {
    return std::make_shared<TupleDataset>(std::vector<Array>{autograd::copy(autograd::slice(x, 0, begin, end)),
                                                             autograd::copy(autograd::slice(t, 0, begin, end))});
  }
};

// Of later optimizers only those hooks that depend on the whole batch.
bool is_tested(const OptimizerKind& kind, const std::string& hook) {
  return !kind.is_later || hook == "no hook" || hook == "GradientClipping";
}
using AddHook = std::function<void(Optimizer&)>;
const std::pair<const char*, AddHook> kHooks[] = {
    {"no hook", [](Optimizer&) {}},
    {"WeightDecay", [](Optimizer& o) { o.add_hook(WeightDecay(0.5)); }},
    {"Lasso", [](Optimizer& o) { o.add_hook(Lasso(0.5)); }},
    {"GradientClipping", [](Optimizer& o) { o.add_hook(GradientClipping(0.7)); }},
    {"GradientHardClipping", [](Optimizer& o) { o.add_hook(GradientHardClipping(-0.2, 0.1)); }},
    {"GradientNoise",
     [](Optimizer& o) {
       o.add_hook(GradientNoise(0.3, [](const autograd::Shape& shape, Dtype dtype, Device device,
                                        const GradientNoise& hook, const Optimizer& optimizer) {
         return autograd::arrays::full(shape, hook.eta / (1 + double(optimizer.t())), dtype, device);
       }));
     }},
};

std::vector<double> hypers_of(const Optimizer& o) {
  std::vector<double> all;
  for (const std::string& name : o.hyper_names()) all.push_back(o.get_hyper(name));
  return all;
}

// Trains, and returns parameters, gradients and states.
using MakeUpdater = std::function<Held<Updater>(Optimizer& optimizer, Model& model)>;
std::vector<double> trained(const OptimizerKind& kind, const AddHook& add_hook, const MakeUpdater& make) {
  Model model;
  const std::shared_ptr<Optimizer> optimizer = kind.make();
  optimizer->setup(model);
  add_hook(*optimizer);
  const std::vector<double> hypers = hypers_of(*optimizer);
  const TemporaryFolder folder("mean_of_replicas");
  const Warnings warnings;
  {
    Trainer trainer(make(*optimizer, model), {kSteps, iteration}, folder.path.string());
    BOOST_TEST(hypers_of(*optimizer) == hypers, each);
    trainer.extend(ExponentialShift(kind.shifted, 0.8), {.trigger = TriggerSpec(1, iteration)});
    trainer.run();
  }
  BOOST_TEST(warnings.texts.empty());
  std::vector<double> expected = hypers;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (optimizer->hyper_names()[i] == kind.shifted) expected[i] = hypers[i] * std::pow(0.8, kSteps);
  BOOST_TEST(hypers_of(*optimizer) == expected, boost::test_tools::tolerance(1e-12) << each);
  std::vector<double> all;
  const auto add = [&](const Array& a) {
    for (const double v : values(autograd::to_device(a, kCpu))) all.push_back(v);
  };
  for (const nn::NamedParam& p : model.namedparams()) {
    add(p.param.data());
    add(p.param.grad());
    for (const Array& state : optimizer->states(p.path)) add(state);
  }
  return all;
}

void check_same(const std::vector<double>& actual, const std::vector<double>& expected) {
  BOOST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_TEST(std::abs(actual[i] - expected[i]) <= 1e-9 * (1 + std::abs(expected[i])),
               "number " << i << " is " << actual[i] << ", not " << expected[i]);
}

// Where one device is meant: that of the first replica.
Held<Updater> one_device(const DatasetPtr& data, std::int64_t batch_size, Optimizer& o, Device device) {
  return StandardUpdater(SerialIterator(data, batch_size, {.shuffle = false}), o, {.device = device});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(means_of_replicas)

// Batches of 7 on 3 models are 3, 2 and 2 examples; batches of 2 leave one idle.
BOOST_AUTO_TEST_CASE(models_of_a_parallel_updater) {
  for (const std::vector<Device>& devices : replica_devices())
    for (const std::int64_t batch_size : {7, 2}) {
      const DatasetPtr data = Pairs(20).part(0, 20);
      for (const OptimizerKind& kind : kOptimizers)
        for (const auto& [hook, add_hook] : kHooks) {
          if (default_device() != kCpu && batch_size == 2) continue;
          if (!is_tested(kind, hook)) continue;
          BOOST_TEST_CONTEXT(kind.name << ", " << hook << ", " << devices.size() << " models on " << devices[0]
                                       << ", batches of " << batch_size) {
            const auto expected = trained(
                kind, add_hook, [&](Optimizer& o, Model&) { return one_device(data, batch_size, o, devices[0]); });
            const auto actual = trained(kind, add_hook, [&](Optimizer& o, Model& m) -> Held<Updater> {
              return ParallelUpdater(SerialIterator(data, batch_size, {.shuffle = false}), o, m,
                                     {.devices = named(devices)});
            });
            check_same(actual, expected);
          }
        }
    }
}

// Workers whose batches have different sizes, against one device that gets all their examples.
BOOST_AUTO_TEST_CASE(workers_of_a_multiprocess_updater) {
  for (const std::vector<Device>& devices : replica_devices())
    for (const bool is_even : {true, false}) {
      const auto n = std::int64_t(devices.size());
      std::vector<std::int64_t> sizes;
      for (std::int64_t k = 0; k < n; ++k) sizes.push_back(is_even ? 3 : 1 + 2 * k);
      const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t(0));
      // Worker k has rows of its own, as many of each batch as its size; all datasets are of one length.
      const std::int64_t longest = kSteps * *std::max_element(sizes.begin(), sizes.end());
      const Pairs pairs(n * longest);
      std::vector<Array> xs, ts;
      for (std::int64_t step = 0; step < kSteps; ++step)
        for (std::int64_t k = 0; k < n; ++k) {
          const std::int64_t begin = k * longest + step * sizes[std::size_t(k)], end = begin + sizes[std::size_t(k)];
          xs.push_back(autograd::slice(pairs.x, 0, begin, end));
          ts.push_back(autograd::slice(pairs.t, 0, begin, end));
        }
      const DatasetPtr all =
          std::make_shared<TupleDataset>(std::vector<Array>{autograd::concatenate(xs), autograd::concatenate(ts)});
      for (const OptimizerKind& kind : kOptimizers)
        for (const auto& [hook, add_hook] : kHooks) {
          if (!is_tested(kind, hook)) continue;
          BOOST_TEST_CONTEXT(kind.name << ", " << hook << ", " << n << " workers on " << devices[0] << ", even "
                                       << is_even) {
            const auto expected =
                trained(kind, add_hook, [&](Optimizer& o, Model&) { return one_device(all, total, o, devices[0]); });
            const auto actual = trained(kind, add_hook, [&](Optimizer& o, Model& m) -> Held<Updater> {
              std::vector<Held<Iterator>> iterators;
              for (std::int64_t k = 0; k < n; ++k)
                iterators.emplace_back(SerialIterator(pairs.part(k * longest, (k + 1) * longest), sizes[std::size_t(k)],
                                                      {.shuffle = false}));
              return MultiprocessParallelUpdater(iterators, o, m, {.devices = named(devices)});
            });
            check_same(actual, expected);
          }
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
