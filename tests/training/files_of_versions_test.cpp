// Files that this library has written load in every later version. tests/golden/serializers/versions has a folder for
// each version that changed what is written; a new one is made by
//
//   CATENA_TEST_WRITE_FILES=tests/golden/serializers/versions/0.2 test_training --run_test=files_of_versions/written
//
// and an old one stays as it is. What is in them follows from the code below, which therefore stays, too.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/training_run.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;

namespace {

struct Model : nn::Chain {
  nn::Convolution2D conv{2, 3, 3};
  nn::BatchNormalization bn{3};
  nn::ChainList list{nn::Linear(4, 3), nn::Linear(3, 2, {.nobias = true})};
  nn::Linear half{2, 2};
  bool flag = true;
  std::int64_t count = -7;
  double number = 0.1;
  Model() {
    for (Variable& p : half.params()) p.set_data(autograd::astype(p.data(), Dtype::float16));
  }
  NN_MEMBERS(conv, bn, list, half, flag, count, number)

  // The elements of all parameters together: first, first + 1/8, first + 2/8, ...
  void fill(double first) {
    for (Variable& p : params()) {
      std::vector<float> v(std::size_t(p.size()));
      for (float& x : v) {
        x = float(first);
        first += 0.125;
      }
      p.set_data(autograd::astype(autograd::array(v, p.shape()), p.dtype()));
    }
  }
};

// A run of 7 updates by constant gradients, without a step: its parameters are known exactly.
struct ConstantUpdater : StandardUpdater {
  using StandardUpdater::StandardUpdater;
  void update_core() override {
    get_iterator("main").next();
    Optimizer& optimizer = get_optimizer("main");
    for (Variable& p : optimizer.target().params()) p.set_grad(autograd::arrays::full(p.shape(), 0.5));
    optimizer.update();
    nn::report("loss", double(iteration_));
  }
};
struct Run {
  TinyMLP model;
  Adam optimizer{{.alpha = 0}};
  SerialIterator iterator{StatefulRun::make_data(), 4};
  ConstantUpdater updater{iterator, optimizer};
  TemporaryFolder folder{"versions"};
  std::optional<Trainer> trainer;
  LogReport* log = nullptr;
  int fired = 0;
  Run() {
    int k = 0;
    for (Variable& p : model.params()) autograd::fill(p.data(), ++k);
    optimizer.setup(model);
    trainer.emplace(updater, TriggerSpec(8, iteration), folder.path.string());
    log = &trainer->extend(LogReport({.trigger = {3, iteration}}));
    trainer->extend(PlotReport({"loss"}, {.trigger = {3, iteration}, .file_name = "loss.svg"}));
    trainer->extend(ExponentialShift("alpha", 1.0), {.trigger = TriggerSpec(2, iteration)});
    trainer->extend(MicroAverage("loss", "loss", "quotient", {4, iteration}));
    trainer->extend([this](Trainer&) { ++fired; },
                    {.name = "best", .trigger = MaxValueTrigger("loss", {2, iteration})});
  }
};

template <class T> void write_all(const std::filesystem::path& folder, const std::string& name, T& object) {
  nn::serializers::save_npz((folder / (name + ".npz")).string(), object);
  if (nn::serializers::hdf5_available()) nn::serializers::save_hdf5((folder / (name + ".h5")).string(), object);
}

void write_to(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  Model model;
  model.fill(1);
  autograd::fill(model.bn.avg_mean.array(), 0.25);
  autograd::fill(model.bn.avg_var.array(), 2);
  model.bn.N = 3;
  write_all(folder, "model", model);
  nn::serializers::save_safetensors((folder / "model.safetensors").string(), model);
  Run run;
  Trainer& trainer = *run.trainer;
  trainer.extend(Snapshot({.filename = "run",
                           .savefun =
                               [&](const std::string& path, Trainer& t) {
                                 nn::serializers::save_npz(path, t);
                                 write_all(folder, "trainer", t);
                               }}),
                 {.name = "snapshot", .trigger = TriggerSpec(7, iteration)});
  trainer.run();
}

void check_model(const std::string& path) {
  Model model, expected;
  expected.fill(1);
  const nn::LoadReport report =
      path.ends_with(".safetensors") ? nn::serializers::load_safetensors(path, model) : load_file(path, model);
  BOOST_TEST((report.missing.empty() && report.unexpected.empty()));
  const auto a = model.namedparams(), b = expected.namedparams();
  BOOST_REQUIRE(a.size() == 9u);
  for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(same_bits(a[i].param.data(), b[i].param.data()), a[i].path);
  BOOST_TEST(values(model.bn.avg_mean.array())[2] == 0.25);
  BOOST_TEST(values(model.bn.avg_var.array())[2] == 2);
  BOOST_TEST(model.bn.N == 3);
  BOOST_TEST((model.flag && model.count == -7 && model.number == 0.1));
}

void check_trainer(const std::string& path) {
  Run run;
  for (Variable& p : run.model.params()) autograd::fill(p.data(), 0);
  load_file(path, *run.trainer);
  int k = 0;
  for (const nn::NamedParam& p : run.model.namedparams()) {
    BOOST_TEST(values(p.param.data()) == std::vector<double>(std::size_t(p.param.size()), ++k), p.path);
    const std::vector<Array> states = run.optimizer.states(p.path);
    BOOST_TEST(close(values(states[0])[0], 0.5 * (1 - std::pow(0.9, 7)), 1e-6, 0), p.path);
    BOOST_TEST(close(values(states[1])[0], 0.25 * (1 - std::pow(0.999, 7)), 1e-6, 0), p.path);
  }
  BOOST_TEST(run.optimizer.t() == 7);
  BOOST_TEST(run.updater.iteration() == 7);
  BOOST_TEST(run.iterator.epoch() == 1);  // 28 of 22 examples
  BOOST_TEST(close(run.iterator.epoch_detail(), 28. / 22, 1e-12, 0));
  BOOST_REQUIRE(run.log->log().size() == 2u);
  BOOST_TEST(run.log->log()[1].number("loss") == 4.0);
  run.trainer->run();
  BOOST_TEST(run.updater.iteration() == 8);
  BOOST_TEST(run.fired == 1);  // 6.5 is the best mean of two
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files_of_versions)

BOOST_AUTO_TEST_CASE(written) {
  if (const char* folder = std::getenv("CATENA_TEST_WRITE_FILES")) write_to(folder);
  const TemporaryFolder folder("written");
  write_to(folder.path);
  check_model(folder / "model.npz");
  check_trainer(folder / "trainer.npz");
}

BOOST_AUTO_TEST_CASE(stored) {
  const auto versions = Golden::open("serializers/index").folder() / "versions";
  std::set<std::string> found;
  for (const auto& version : std::filesystem::directory_iterator(versions))
    for (const auto& file : std::filesystem::directory_iterator(version.path())) {
      const std::string path = file.path().string(), name = file.path().filename().string();
      BOOST_TEST_CONTEXT(path) {
        if (name.ends_with(".h5") && lacks(nn::serializers::hdf5_available(), "HDF5 for " + name)) continue;
        if (name.starts_with("model.")) check_model(path);
        else check_trainer(path);
        found.insert(name);
      }
    }
  BOOST_TEST(found.size() == (nn::serializers::hdf5_available() ? 5u : 3u));
}

BOOST_AUTO_TEST_SUITE_END()
