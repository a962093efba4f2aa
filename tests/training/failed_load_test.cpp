// A snapshot that cannot be loaded to its end leaves the trainer as it was: a training that begins anew after the error
// is the one without it.
#include <algorithm>
#include <sstream>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/zip.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/training_run.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;

namespace {

// Stops at the third value that is not better than the best one.
struct Patience : Trigger {
  std::int64_t bad = 0;
  double best = 1e9;
  bool operator()(Trainer& t) override {
    const nn::Observed* const reported = t.observation().find("main/loss");
    if (reported == nullptr) return false;  // before the first update
    const double loss = reported->value();
    bad += loss < best ? 0 : 1;
    best = std::min(best, loss);
    return bad >= 3 || t.updater().iteration() >= 12;
  }
  void serialize(nn::Serializer& s) override {
    s.on_rollback([this, before = *this] { *this = before; });
    s("bad", bad);
    s("best", best);
  }
};

struct Run {
  nn::Classifier<StatefulMLP> model;
  Adam optimizer;
  std::shared_ptr<const DatasetMixin> data = StatefulRun::make_data();
  SerialIterator train, validation;
  Trainer trainer;
  LogReport& log;
  std::string bests;

  Run(std::uint64_t seed, const std::string& out)
      : model((autograd::seed(seed), StatefulMLP())),
        train(data, 4),
        validation(data, 5, {.repeat = false}),
        trainer((optimizer.setup(model), StandardUpdater(train, optimizer)), Patience(), out),
        log(trainer.extend(LogReport({.trigger = {2, iteration}}))) {
    trainer.extend(Evaluator(validation, model), {.trigger = {2, iteration}});
    trainer.extend(ExponentialShift("alpha", 0.5), {.trigger = {1, iteration}});
    trainer.extend(observe_value("alpha", [this](Trainer&) { return nn::Observed(optimizer.get_hyper("alpha")); }),
                   {.trigger = {1, iteration}});
    trainer.extend(MicroAverage("main/accuracy", "main/loss", "ratio", {3, iteration}));
    trainer.extend(ParameterStatistics(model, {.result_trigger = {2, iteration}}));
    trainer.extend(PlotReport({"main/loss"}, {.trigger = {2, iteration}, .file_name = "loss.svg"}));
    trainer.extend([this](Trainer& t) { bests += std::to_string(t.updater().iteration()) + " "; },
                   {.name = "best", .trigger = MinValueTrigger("main/loss", {1, iteration})});
    trainer.extend(Snapshot({.trigger = {3, iteration}}));
  }

  // The state after the run, without times.
  std::string result() {
    trainer.run();
    Log entries = log.log();
    for (LogEntry& e : entries) e.erase("elapsed_time");
    std::ostringstream all;
    all << to_json(entries) << bests << trainer.updater().iteration() << file_content(trainer.out() + "/loss.svg");
    for (const Variable& p : model.params())
      for (const double v : values(p.data())) all << ' ' << v;
    return all.str();
  }
};

// A copy of a snapshot that lacks one entry.
void copy_without(const std::string& from, const std::string& to, const std::string& key) {
  const catena::NpzReader npz("test", from);
  catena::AtomicFile file("test", to);
  catena::NpzWriter out(file, false);
  for (const std::string& name : npz.keys()) {
    if (name == key) continue;
    const catena::NpyArray a = npz.read(name);
    if (a.dtype) out.add(name, *a.dtype, a.shape, a.data);
    else out.add_text(name, catena::npy_text(a));
  }
  out.finish();
  file.commit();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(failed_loads)

BOOST_AUTO_TEST_CASE(training_begins_anew_as_without_the_load) {
  const TemporaryFolder first("first"), plain("plain"), anew("anew");
  static_cast<void>(Run(1, first.path.string()).result());
  const std::string good = first / "snapshot_iter_3", bad = first / "bad";
  const std::string expected = Run(2, plain.path.string()).result();
  int failed = 0;
  // A load changes host memory only, so devices, where kernels are interpreted, try a part of the keys.
  const std::vector<std::string> keys = catena::NpzReader("test", good).keys();
  const std::size_t step = default_device() == kCpu ? 1 : 9;
  for (std::size_t k = 0; k < keys.size(); k += step) {
    const std::string& key = keys[k];
    copy_without(good, bad, key);
    Run run(2, anew.path.string());
    try {
      nn::serializers::load_npz(bad, run.trainer);
    } catch (const catena::KeyError&) {
      ++failed;
      BOOST_TEST(run.trainer.updater().iteration() == 0, key);
      BOOST_TEST((run.result() == expected), key);
    }
  }
  BOOST_TEST(failed > int(20 / step));
  // The last entry that is asked for.
  copy_without(good, bad, "_catena/random/offset");
  Run run(2, anew.path.string());
  BOOST_CHECK_THROW(nn::serializers::load_npz(bad, run.trainer), catena::KeyError);
}

BOOST_AUTO_TEST_SUITE_END()
