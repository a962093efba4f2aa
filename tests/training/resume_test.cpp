// Runs of every optimizer that are killed and go on in another process, with everything that has a state; the memory of
// a long run.
#include <catena/training/trainer.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <span>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;

namespace {

struct Kind {
  const char* name;
  std::shared_ptr<Optimizer> (*make)();
  const char* shifted;  // a hyperparameter
};
template <class O> std::shared_ptr<Optimizer> make() { return std::make_shared<O>(); }
const Kind kKinds[] = {{"SGD", make<SGD>, "lr"},
                       {"MomentumSGD", make<MomentumSGD>, "momentum"},
                       {"NesterovAG", make<NesterovAG>, "lr"},
                       {"AdaGrad", make<AdaGrad>, "lr"},
                       {"AdaDelta", make<AdaDelta>, "rho"},
                       {"Adam", make<Adam>, "alpha"},
                       {"RMSprop", make<RMSprop>, "alpha"},
                       {"RMSpropGraves", make<RMSpropGraves>, "lr"},
                       {"SMORMS3", make<SMORMS3>, "lr"}};

// Where kernels are interpreted, one of them: the states of all are handled by the same code.
std::span<const Kind> kinds() {
  const std::span<const Kind> all(kKinds);
  return default_device() == kCpu ? all : all.subspan(5, 1);
}

constexpr std::int64_t kEnd = 14, kStop = 5;

std::shared_ptr<const DatasetMixin> examples() {
  autograd::Generator fixed{99, 0};
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 22; ++i) labels.push_back(i % 3);
  return std::make_shared<TupleDataset>(
      std::vector<Array>{autograd::random_normal({22, 6}, 0, 1, Dtype::float32, fixed), ints(labels)});
}

// A run with a lazily sized model, dropout, batch normalization, a shuffled order, gradient noise, and every extension
// and trigger that has a state.
struct Run {
  nn::Classifier<StatefulMLP> model;
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<const DatasetMixin> data = examples();
  SerialIterator train, validation;
  Trainer trainer;
  LogReport& log;
  std::string fired;  // by the trigger for the best value

  Run(const Kind& kind, std::uint64_t seed, std::int64_t until, const std::string& out)
      : model((autograd::seed(seed), StatefulMLP(5))),
        optimizer(kind.make()),
        train(data, 4),
        validation(data, 5, {.repeat = false, .shuffle = false}),
        trainer((optimizer->setup(model), StandardUpdater(train, *optimizer)), {double(until), iteration}, out),
        log((trainer.extend(Evaluator(validation, model), {.trigger = TriggerSpec(2, iteration)}),
             trainer.extend(LogReport({.trigger = {3, iteration}})))) {
    optimizer->add_hook(WeightDecay(1e-3));
    optimizer->add_hook(GradientNoise(1e-4));
    trainer.extend(ExponentialShift(kind.shifted, 0.97), {.trigger = TriggerSpec(2, iteration)});
    trainer.extend(ParameterStatistics(model, {.result_trigger = {4, iteration}}));
    trainer.extend(MicroAverage("main/accuracy", "main/loss", "ratio", {3, iteration}));
    const auto note = [this](const char* letter) {
      return [this, letter](Trainer& t) { fired += letter + std::to_string(t.updater().iteration()) + " "; };
    };
    trainer.extend(note("max"), {.name = "max", .trigger = MaxValueTrigger("main/accuracy", {2, iteration})});
    trainer.extend(note("min"), {.name = "min", .trigger = MinValueTrigger("main/loss", {1, iteration})});
    trainer.extend(note("at"), {.name = "at", .trigger = ManualScheduleTrigger({0.5, 1, 2}, epoch)});
    trainer.extend(snapshot_object(model, "best"), {.trigger = MinValueTrigger("main/loss", {2, iteration})});
    trainer.extend(Snapshot({.trigger = {kStop, iteration}}));
  }

  // Parameters, states, hyperparameters, log, firings and the model that was best, as bytes.
  std::vector<std::string> state(const TemporaryFolder& folder) {
    std::vector<std::string> parts{fired};
    nn::serializers::DictionarySerializer s;
    trainer.serialize(s);
    for (const auto& e : s.entries()) {
      if (e.key == "_snapshot_elapsed_time" || e.key == "extensions/LogReport/_log") continue;
      parts.push_back(e.key + "=" + e.text +
                      std::string(reinterpret_cast<const char*>(e.bytes.data()), e.bytes.size()));
    }
    for (const std::string& name : optimizer->hyper_names())
      parts.push_back(name + "=" + repr(optimizer->get_hyper(name)));
    Log without_times = log.log();
    for (LogEntry& e : without_times) e.erase("elapsed_time");
    parts.push_back(to_json(without_times));
    nn::Classifier<StatefulMLP> best{StatefulMLP(5)};
    nn::serializers::load_npz(folder / "best", best);
    for (const nn::NamedParam& p : best.namedparams())
      for (const double v : values(p.param.data())) parts.push_back(p.path + repr(v));
    return parts;
  }
};

std::string folder_of(const std::string& root, const Kind& kind) { return root + "/" + kind.name; }

// The work of the other process: the first part of every run, and then it is killed.
void first_parts(const std::string& root) {
  for (const Kind& kind : kinds()) {
    Run run(kind, 1, kStop, folder_of(root, kind));
    run.trainer.run();
    std::ofstream(folder_of(root, kind) + "/fired") << run.fired;
  }
  ::raise(SIGKILL);
}

// This program again, for one case of this file.
int run_in_another_process(const char* name) {
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    const std::string test = std::string("--run_test=resumes/") + name;
    ::execl("/proc/self/exe", "/proc/self/exe", test.c_str(), "--source=training/resume_test.cpp", nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

constexpr const char* kRootVariable = "CATENA_TEST_RESUME_ROOT";

}  // namespace

BOOST_AUTO_TEST_SUITE(resumes)

BOOST_AUTO_TEST_CASE(killed_and_resumed_in_another_process) {
  if (const char* root = std::getenv(kRootVariable)) return first_parts(root);
  const TemporaryFolder root("killed_runs");
  ::setenv(kRootVariable, root.path.c_str(), 1);
  const int status = run_in_another_process("killed_and_resumed_in_another_process");
  ::unsetenv(kRootVariable);
  BOOST_REQUIRE(status == -SIGKILL);
  for (const Kind& kind : kinds()) {
    BOOST_TEST_CONTEXT(kind.name) {
      const TemporaryFolder folder("uninterrupted");
      Run whole(kind, 1, kEnd, folder.path.string());
      whole.trainer.run();
      BOOST_TEST(whole.log.log().size() == 4u);
      TemporaryFolder own("resumed");
      std::filesystem::remove(own.path);
      std::filesystem::rename(folder_of(root.path.string(), kind), own.path);
      Run resumed(kind, 77, kEnd, own.path.string());  // another seed: everything must come from the file
      nn::serializers::load_npz(own / ("snapshot_iter_" + std::to_string(kStop)), resumed.trainer);
      resumed.fired = file_content(own / "fired");
      resumed.trainer.run();
      BOOST_TEST(resumed.state(own) == whole.state(folder), boost::test_tools::per_element());
    }
  }
}

// The graph of an iteration is released, and nothing that extensions collect grows.
BOOST_AUTO_TEST_CASE(many_iterations_without_growth) {
  struct Tiny : nn::Chain {
    nn::Linear l{4, 4};
    NN_MEMBERS(l)
    Variable operator()(const Variable& x) {
      const Variable loss = nn::mean_squared_error(nn::tanh(l(x)), x);
      nn::report("loss", loss, this);
      return loss;
    }
  } model;
  const auto resident = [] {
    std::ifstream in("/proc/self/statm");
    std::int64_t size = 0, pages = 0;
    in >> size >> pages;
    return pages * ::sysconf(_SC_PAGESIZE);
  };
  const int n = default_device() == kCpu ? 10000 : 200;  // fewer where kernels are interpreted
  const TemporaryFolder folder("memory");
  Adam adam;
  adam.setup(model);
  SerialIterator it(autograd::arrays::zeros({64, 4}), 8);
  Trainer trainer(StandardUpdater(it, adam), {double(n), iteration}, folder.path.string());
  trainer.extend(LogReport({.trigger = {double(n) / 5, iteration}}));
  trainer.extend(MicroAverage("main/loss", "main/loss", "one", {100, iteration}));
  trainer.extend([](Trainer&) {}, {.name = "never", .trigger = MaxValueTrigger("main/loss", {50, iteration})});
  std::int64_t before = 0;
  trainer.extend([&](Trainer&) { before = resident(); },
                 {.name = "measure", .trigger = ManualScheduleTrigger(n / 5, iteration)});
  trainer.run();
  BOOST_TEST(before > 0);
  const std::int64_t growth = resident() - before;
#if defined(__SANITIZE_ADDRESS__)
  std::cout << "skipped: AddressSanitizer holds back freed memory, so the process grew by " << growth << " bytes\n";
#else
  BOOST_TEST(growth < 4 << 20, "the process grew by " << growth << " bytes in " << n - n / 5 << " iterations");
#endif
}

BOOST_AUTO_TEST_SUITE_END()
