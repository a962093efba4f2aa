// The contents of snapshots and their keys: extensions, triggers, several optimizers, entries that later Chainers
// write and read, the same as HDF5, and files that earlier versions of this library have written.
#include <cmath>
#include <set>
#include <sstream>

#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/training_run.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;
using nn::serializers::DictionarySerializer;
using nn::serializers::load_npz;
using nn::serializers::save_npz;
using Entries = std::vector<DictionarySerializer::Entry>;

namespace {

// The keys of an object's entries with their dtypes and shapes: "_t int64 ()".
template <class T> std::set<std::string> layout_of(T& object) {
  DictionarySerializer s;
  s.save(object);
  std::set<std::string> all;
  for (const auto& e : s.entries())
    all.insert(e.key + (e.is_text ? " text" : catena::concat(" ", e.dtype, " ", e.shape)));
  return all;
}

// The entries that Chainer has; the others are stored in addition by its later versions or by this library.
std::set<std::string> without_additions(const std::set<std::string>& keys) {
  std::set<std::string> rest;
  for (const std::string& key : keys)
    if (!has(key, "_catena/") && !has(key, "_trigger/") && !has(key, "_summary/") && !has(key, "/previous_"))
      rest.insert(key);
  return rest;
}

Entries entries_of(Trainer& trainer) {
  DictionarySerializer s;
  s.save(trainer);
  return s.entries();
}

void write_entries(const std::string& path, const Entries& entries) {
  catena::AtomicFile file("test", path);
  catena::NpzWriter npz(file, true);
  for (const auto& e : entries) {
    if (e.is_text) npz.add_text(e.key, e.text);
    else npz.add(e.key, e.dtype, e.shape, e.bytes);
  }
  npz.finish();
  file.commit();
}

template <class T> DictionarySerializer::Entry entry(std::string key, T value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  return {std::move(key), catena::dtype_of<T>, {}, {bytes, bytes + sizeof(T)}, {}, false};
}

// A generator and a discriminator, each with an optimizer of its own.
struct TwoUpdater : StandardUpdater {
  using StandardUpdater::StandardUpdater;
  void update_core() override {
    get_iterator("main").next();
    for (const char* name : {"gen", "dis"}) {
      Optimizer& optimizer = get_optimizer(name);
      nn::Link& model = optimizer.target();
      model.cleargrads();
      for (Variable& p : model.params()) p.set_grad(autograd::arrays::full(p.shape(), name[0] == 'g' ? 0.5 : 0.25));
      optimizer.update();
    }
  }
};
struct Two {
  TinyMLP gen, dis;
  Adam gen_optimizer, dis_optimizer;
  SerialIterator iterator{StatefulRun::make_data(), 4};
  TwoUpdater updater{
      HeldMap<Iterator>{{"main", iterator}}, HeldMap<Optimizer>{{"gen", gen_optimizer}, {"dis", dis_optimizer}}, {}};
  Two() {
    gen_optimizer.setup(gen);
    dis_optimizer.setup(dis);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(file_layout)

BOOST_AUTO_TEST_CASE(extensions) {
  const TemporaryFolder folder("layout");
  StatefulRun run(1, 6, folder.path.string());
  Trainer& t = run.trainer;
  std::ostringstream out;
  t.extend(PlotReport({"main/loss"}, {.trigger = {2, iteration}, .file_name = "loss.png"}));
  t.extend(PlotReport({"main/accuracy"}, {.trigger = {2, iteration}, .file_name = "accuracy.svg"}));
  t.extend(PrintReport({"epoch"}, {.own_log_report = std::make_shared<LogReport>(), .out = &out}));
  t.extend(ExponentialShift("alpha", 0.9), {.trigger = TriggerSpec(2, iteration)});
  t.extend(LinearShift("alpha", {0.1, 0.2}, {1, 4}), {.trigger = TriggerSpec(2, iteration)});
  t.extend(MicroAverage("main/loss", "main/accuracy", "quotient"));
  t.extend(dump_graph("main/loss"));
  t.extend(observe_value("x", [](Trainer&) { return 1.0; }));
  t.run();
  std::set<std::string> found;
  for (const std::string& key : without_additions(layout_of(t)))
    if (key.starts_with("extensions/")) found.insert(key.substr(11));
  const std::set<std::string> expected{"ExponentialShift/_t int64 ()",
                                       "LinearShift/_t int64 ()",
                                       "LogReport/_log text",
                                       "MicroAverage/_denominator float64 ()",
                                       "MicroAverage/_numerator float64 ()",
                                       "PlotReport/_plot_loss.png text",
                                       "PlotReport_1/_plot_accuracy.svg text",
                                       "PrintReport/_log_report/_log text"};
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  // The texts, as Python's json writes them.
  for (const auto& e : entries_of(t)) {
    if (e.key == "extensions/LogReport/_log") {
      BOOST_TEST(e.text.starts_with("[{\""), e.text);
      BOOST_TEST((has(e.text, "\", \"") || has(e.text, ", \"")), e.text);
      BOOST_TEST(has(e.text, "\"epoch\": 1"), e.text);
    }
    if (e.key == "extensions/PlotReport/_plot_loss.png")
      BOOST_TEST(e.text.starts_with("{\"main/loss\": [[2, "), e.text);
  }
}

// The entries that Chainer's optimizers and triggers of versions 2 to 7 read.
BOOST_AUTO_TEST_CASE(keys_of_later_versions_written) {
  const TemporaryFolder folder("later");
  StatefulRun run(1, 7, folder.path.string());
  run.trainer.extend([](Trainer&) {}, {.name = "mine", .trigger = TriggerSpec(2, iteration)});
  run.trainer.extend([](Trainer&) {}, {.name = "best", .trigger = MaxValueTrigger("main/loss", {3, iteration})});
  run.trainer.run();
  save_npz(folder / "t", run.trainer);
  const catena::NpzReader file("test", folder / "t");
  for (const char* key :
       {"extension_triggers/mine/previous_iteration", "extensions/LogReport/_trigger/previous_iteration",
        "extension_triggers/best/interval_trigger/previous_iteration"})
    BOOST_TEST(file.read(key).as<std::int64_t>()[0] == 7, key);
  BOOST_TEST(file.read("extension_triggers/mine/previous_epoch_detail").as<double>()[0] == run.train.epoch_detail());
  for (const char* key :
       {"extension_triggers/best/best_value", "extension_triggers/best/summary/_names",
        "extensions/LogReport/_summary/_names", "extensions/LogReport/_summary/_summaries/0/_x",
        "extensions/LogReport/_summary/_summaries/0/_x2", "extensions/LogReport/_summary/_summaries/0/_n"})
    BOOST_TEST(file.contains(key), key);
  for (const nn::NamedParam& p : run.model.namedparams())
    BOOST_TEST(file.read("updater/optimizer:main" + p.path + "/t").as<std::int64_t>()[0] == 7, p.path);
}

// Later versions store more for a parameter, and less of what is ours.
BOOST_AUTO_TEST_CASE(keys_of_later_versions_read) {
  const TemporaryFolder folder("read");
  StatefulRun saved(1, 7, folder.path.string());
  int fired = 0;
  saved.trainer.extend([&](Trainer&) { ++fired; }, {.name = "mine", .trigger = TriggerSpec(4, iteration)});
  saved.trainer.run();
  Entries entries;
  for (DictionarySerializer::Entry e : entries_of(saved.trainer)) {
    if (has(e.key, "_catena/") || has(e.key, "iterator:main/previous_epoch_detail")) continue;
    if (e.key.ends_with("iterator:main/order")) e.key.replace(e.key.size() - 5, 5, "_order");
    entries.push_back(e);
    if (e.key.ends_with("/W/v")) {
      e.key.replace(e.key.size() - 1, 1, "vhat");
      entries.push_back(e);
    }
  }
  write_entries(folder / "later", entries);
  StatefulRun loaded(2, 8, folder.path.string());
  int again = 0;
  loaded.trainer.extend([&](Trainer&) { ++again; }, {.name = "mine", .trigger = TriggerSpec(4, iteration)});
  load_npz(folder / "later", loaded.trainer);
  BOOST_TEST(loaded.optimizer.t() == 7);
  BOOST_TEST(loaded.train.epoch() == saved.train.epoch());
  BOOST_TEST(loaded.train.epoch_detail() == saved.train.epoch_detail());
  BOOST_TEST(std::fabs(*loaded.train.previous_epoch_detail() - *saved.train.previous_epoch_detail()) < 1e-12);
  const auto a = saved.model.params(), b = loaded.model.params();
  for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(same_bits(a[i].data(), b[i].data()));
  for (const nn::NamedParam& p : loaded.model.namedparams())
    for (std::size_t k = 0; k < 2; ++k)
      BOOST_TEST(same_bits(loaded.optimizer.states(p.path)[k], saved.optimizer.states(p.path)[k]), p.path);
  loaded.trainer.run();
  BOOST_TEST(fired == 1);
  BOOST_TEST(again == 1);  // at 8, not once more for 4
}

// A trigger that was called at iteration 5 the last time, whichever way the file says so.
BOOST_AUTO_TEST_CASE(states_of_interval_triggers) {
  const TemporaryFolder folder("interval");
  const auto fires_at_6 = [&](const Entries& entries, double period) {
    write_entries(folder / "t", entries);
    FakeUpdater updater(5);
    Trainer trainer(updater, {6, iteration}, folder.path.string());
    IntervalTrigger trigger(period, iteration);
    for (int i = 0; i < 5; ++i) updater.update();
    load_npz(folder / "t", trigger);
    bool fired = false;
    trainer.extend([&](Trainer& t) { fired = trigger(t); });
    trainer.run();
    BOOST_TEST(updater.iteration() == 6);
    return fired;
  };
  const Entries called_at_5{entry("previous_iteration", std::int64_t(5)), entry("previous_epoch_detail", 1.0)};
  BOOST_TEST(fires_at_6(called_at_5, 3));
  BOOST_TEST(!fires_at_6(called_at_5, 4));
  // It had not been called since iteration 2: 4 has passed without firing.
  BOOST_TEST(fires_at_6({entry("previous_iteration", std::int64_t(2)), entry("previous_epoch_detail", 0.4)}, 4));
  // Later versions' mark of what they do not know, then files without anything (1.24), then our first form.
  BOOST_TEST(!fires_at_6({entry("previous_iteration", std::int64_t(-1)), entry("previous_epoch_detail", -1.0)}, 4));
  BOOST_TEST(!fires_at_6({entry("other", 0.0)}, 4));
  BOOST_TEST(!fires_at_6({entry("_catena/fired", std::int64_t(1))}, 4));
  BOOST_TEST(fires_at_6({entry("_catena/fired", std::int64_t(0))}, 4));
}

BOOST_AUTO_TEST_CASE(several_optimizers) {
  const TemporaryFolder folder("dcgan");
  Two saved, loaded;
  Trainer trainer(saved.updater, {3, iteration}, folder.path.string());
  trainer.run();
  save_npz(folder / "t", trainer);
  const catena::NpzReader file("test", folder / "t");
  std::set<std::string> found, expected{"updater/iteration", "_snapshot_elapsed_time"};
  for (const std::string& key : file.keys())
    if (!has(key, "_catena/") && !has(key, "iterator:main/") && !key.starts_with("stop_trigger/")) found.insert(key);
  for (const std::string name : {"gen", "dis"}) {
    for (const char* key : {"t", "epoch"}) expected.insert("updater/optimizer:" + name + "/" + key);
    for (const char* param : {"l1/W", "l1/b", "l2/W", "l2/b"}) {
      expected.insert("updater/model:" + name + "/" + param);
      for (const char* state : {"m", "v", "t"})
        expected.insert("updater/optimizer:" + name + "/" + param + "/" + state);
    }
  }
  BOOST_TEST(found == expected, boost::test_tools::per_element());
  Trainer other(loaded.updater, {3, iteration}, folder.path.string());
  load_npz(folder / "t", other);
  for (const auto& [a, b] : {std::pair(&saved.gen, &loaded.gen), std::pair(&saved.dis, &loaded.dis)})
    BOOST_TEST(same_bits(a->l1.W.data(), b->l1.W.data()));
  BOOST_TEST(!same_bits(loaded.gen.l1.W.data(), loaded.dis.l1.W.data()));
  for (std::size_t k = 0; k < 2; ++k) {
    BOOST_TEST(same_bits(saved.gen_optimizer.states("/l2/b")[k], loaded.gen_optimizer.states("/l2/b")[k]));
    BOOST_TEST(same_bits(saved.dis_optimizer.states("/l2/b")[k], loaded.dis_optimizer.states("/l2/b")[k]));
  }
  BOOST_TEST(values(loaded.gen_optimizer.states("/l2/b")[0])[0] != values(loaded.dis_optimizer.states("/l2/b")[0])[0]);
}

// The same paths, empty groups for what stores nothing, and text.
BOOST_AUTO_TEST_CASE(snapshots_as_hdf5) {
  if (lacks(nn::serializers::hdf5_available(), "HDF5")) return;
  const TemporaryFolder folder("hdf5_trainer");
  StatefulRun saved(1, 7, folder.path.string()), loaded(2, 7, folder.path.string());
  saved.trainer.extend(
      Snapshot({.filename = "run.h5",
                .savefun = [](const std::string& path, Trainer& t) { nn::serializers::save_hdf5(path, t); }}),
      {.name = "hdf5", .trigger = TriggerSpec(7, iteration)});
  loaded.trainer.extend([](Trainer&) {}, {.name = "hdf5", .trigger = TriggerSpec(7, iteration)});
  saved.trainer.run();
  nn::serializers::save_hdf5(folder / "t.h5", saved.trainer);
  const nn::serializers::HDF5File file(folder / "t.h5");
  std::set<std::string> keys, expected;
  for (const std::string& key : file.keys()) keys.insert(key);
  for (const auto& e : entries_of(saved.trainer)) expected.insert(e.key);
  BOOST_TEST(keys == expected, boost::test_tools::per_element());
  for (const char* group : {"extensions", "extension_triggers", "extensions/validation", "extensions/snapshot",
                            "updater/model:main/predictor/l1", "updater/optimizer:main/predictor/l1/W"})
    BOOST_TEST((file.contains(group) && file[group].name() == std::string("/") + group), group);
  BOOST_TEST(nn::serializers::load_hdf5(folder / "t.h5", loaded.trainer).missing.empty());
  loaded.trainer.run();  // has nothing left to do
  BOOST_TEST(saved.state() == loaded.state(), boost::test_tools::per_element());
  BOOST_TEST(std::filesystem::exists(folder / "run.h5"));  // written before its own trigger had been called
}

BOOST_AUTO_TEST_SUITE_END()
