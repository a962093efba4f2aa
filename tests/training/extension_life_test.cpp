// The life of an extension: calls before the loop, before updates, after errors; a training that an extension ends.
#include <catena/training/extension.h>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions/profile_report.h>
#include <catena/training/extensions/snapshot.h>
#include <catena/training/extensions/stop_on_signal.h>

using namespace test;
using namespace training;

namespace {

struct Life : Extension {
  std::string letter;
  std::string* log;
  Life(std::string l, std::string* to) : letter(std::move(l)), log(to) {}
  void initialize(Trainer& t) override { note("i", t); }
  void before_update(Trainer& t) override { note("b", t); }
  void operator()(Trainer& t) override { note("c", t); }
  void on_error(Trainer& t, const std::exception& error) override {
    note("e", t);
    *log += std::string("[") + error.what() + "]";
  }
  void finalize() override { *log += letter + "f "; }
  void note(const char* what, const Trainer& t) {
    *log += letter + what + std::to_string(t.updater().iteration()) + " ";
  }
};

struct NoException {};

}  // namespace

BOOST_AUTO_TEST_SUITE(extension_life)

BOOST_AUTO_TEST_CASE(order_of_calls) {
  const TemporaryFolder folder("life");
  std::string log;
  FakeUpdater updater(5, [&](std::int64_t) { log += "u "; });
  Trainer trainer(updater, {2, iteration}, folder.path.string());
  trainer.extend(Life("x", &log), {.trigger = TriggerSpec(2, iteration)});
  trainer.extend(Life("s", &log), {.priority = PRIORITY_SNAPSHOT});
  trainer.run();
  BOOST_TEST(log ==
             "si0 xi0 "
             "xb0 sb0 u sc1 "
             "xb1 sb1 u xc2 sc2 "
             "xf sf ");
}

BOOST_AUTO_TEST_CASE(a_resumed_training_is_initialized_too) {
  const TemporaryFolder folder("life_resumed");
  {
    FakeUpdater updater(5);
    Trainer trainer(updater, {3, iteration}, folder.path.string());
    trainer.run();
    nn::serializers::save_npz(folder / "t", trainer);
  }
  std::string log;
  FakeUpdater updater(5);
  Trainer trainer(updater, {4, iteration}, folder.path.string());
  trainer.extend(Life("x", &log));
  nn::serializers::load_npz(folder / "t", trainer);
  trainer.run();
  BOOST_TEST(log == "xi3 xb3 xc4 xf ");
}

BOOST_AUTO_TEST_CASE(errors_reach_every_extension) {
  const TemporaryFolder folder("life_error");
  std::string log;
  FakeUpdater updater(5);
  Trainer trainer(updater, {5, iteration}, folder.path.string());
  trainer.extend(Life("x", &log));
  trainer.extend(Life("y", &log));
  trainer.extend([](Trainer&) { catena::fail<catena::KeyError>("here", "the cause"); }, {.name = "thrower"});
  BOOST_TEST(message_of<catena::KeyError>([&] { trainer.run(); }) ==
             "extension thrower at iteration 1: here: the cause");
  BOOST_TEST(log ==
             "xi0 yi0 xb0 yb0 xc1 yc1 "
             "xe1 [extension thrower at iteration 1: here: the cause]ye1 [extension thrower at iteration 1: here: the "
             "cause]xf yf ");
}

// An exception of a class outside std::exception leaves run() unchanged; on_error gets a RuntimeError in its place.
BOOST_AUTO_TEST_CASE(an_error_of_another_class) {
  const TemporaryFolder folder("life_other");
  std::string log;
  FakeUpdater updater(5);
  Trainer trainer(updater, {5, iteration}, folder.path.string());
  trainer.extend(Life("x", &log));
  trainer.extend([](Trainer&) { throw NoException(); });
  BOOST_CHECK_THROW(trainer.run(), NoException);
  BOOST_TEST(has(log, "xe1 [an exception of a class that is not derived from std::exception]"));
}

BOOST_AUTO_TEST_CASE(an_error_in_on_error) {
  const TemporaryFolder folder("life_twice");
  std::string log;
  FakeUpdater updater(5);
  Trainer trainer(updater, {5, iteration}, folder.path.string());
  trainer.extend(make_extension(
      [](Trainer&) { throw catena::KeyError("the cause"); },
      {.default_name = "first", .on_error = [](Trainer&, const std::exception&) { throw catena::ValueError("own"); }}));
  trainer.extend(make_extension(
      [](Trainer&) {},
      {.default_name = "second", .on_error = [](Trainer&, const std::exception&) { throw NoException(); }}));
  trainer.extend(Life("x", &log));
  const Warnings warnings;
  BOOST_TEST(message_of<catena::KeyError>([&] { trainer.run(); }) == "extension first at iteration 1: the cause");
  BOOST_REQUIRE(warnings.texts.size() == 2u);
  BOOST_TEST(warnings.texts[0] == "Trainer: on_error of the extension first has failed itself: own");
  BOOST_TEST(warnings.texts[1] == "Trainer: on_error of the extension second has failed itself");
  BOOST_TEST(has(log, "xe1"));
}

// Nor does a handler that makes errors of warnings replace the cause.
BOOST_AUTO_TEST_CASE(warnings_that_throw) {
  const TemporaryFolder folder("life_warning");
  FakeUpdater updater(5);
  Trainer trainer(updater, {5, iteration}, folder.path.string());
  trainer.extend(make_extension(
      [](Trainer&) { throw catena::KeyError("the cause"); },
      {.default_name = "first", .on_error = [](Trainer&, const std::exception&) { throw catena::ValueError("own"); }}));
  const catena::WarningHandler before = catena::set_warning_handler(
      [](std::string_view, std::string_view text) { throw catena::RuntimeError(std::string(text)); });
  const std::string message = message_of<catena::KeyError>([&] { trainer.run(); });
  catena::set_warning_handler(before);
  BOOST_TEST(message == "extension first at iteration 1: the cause");
  BOOST_TEST(updater.finalized == 1);
}

BOOST_AUTO_TEST_CASE(an_error_before_an_update) {
  struct Thrower : Extension {
    void before_update(Trainer& t) override {
      catena::check<catena::ValueError>(t.updater().iteration() < 1, "Thrower", "as asked");
    }
  };
  const TemporaryFolder folder("life_before");
  FakeUpdater updater(5);
  Trainer trainer(updater, {5, iteration}, folder.path.string());
  trainer.extend(Thrower());
  BOOST_TEST(message_of<catena::ValueError>([&] { trainer.run(); }) ==
             "extension Thrower before iteration 2: Thrower: as asked");
}

// Extensions that were initialized are finalized if a later one cannot be, and the trainer can be run again.
BOOST_AUTO_TEST_CASE(an_error_before_the_training) {
  const TemporaryFolder folder("life_initialize");
  std::string log;
  bool fails = true;
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  trainer.extend(Life("x", &log));
  trainer.extend(make_extension(
      [](Trainer&) {},
      {.default_name = "fails", .finalizer = [] { throw catena::KeyError("own"); }, .initializer = [](Trainer&) {}}));
  trainer.extend(ProfileReport(), {.name = "profile", .priority = PRIORITY_READER});
  trainer.extend(make_extension([](Trainer&) {}, {.default_name = "second", .initializer = [&](Trainer&) {
                                                    catena::check<catena::ValueError>(!fails, "second", "as asked");
                                                  }}));
  trainer.extend(Life("y", &log));
  BOOST_TEST(message_of<catena::ValueError>([&] { trainer.run(); }) ==
             "extension second before training: second: as asked");
  BOOST_TEST(log == "xi0 xf ");
  fails = false;
  log.clear();
  BOOST_CHECK_THROW(trainer.run(), catena::KeyError);  // of the finalizer
  BOOST_TEST(log == "xi0 yi0 xb0 yb0 xc1 yc1 xf yf ");
}

BOOST_AUTO_TEST_CASE(functions_with_an_initializer) {
  const TemporaryFolder folder("life_function");
  std::string log;
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  trainer.extend(make_extension(
      [&](Trainer&) { log += "call "; },
      {.finalizer = [&] { log += "finalize "; }, .initializer = [&](Trainer&) { log += "initialize "; }}));
  trainer.run();
  BOOST_TEST(log == "initialize call finalize ");
}

// stop() ends a training after the iteration. Extensions that save the trainer do so then, the others as their triggers
// say.
BOOST_AUTO_TEST_CASE(a_training_that_is_stopped) {
  const TemporaryFolder folder("life_stop");
  std::string log;
  FakeUpdater updater(5);
  Trainer trainer(updater, {9, iteration}, folder.path.string());
  trainer.extend(
      [](Trainer& t) {
        if (t.updater().iteration() == 3) t.stop();
      },
      {.name = "stop", .priority = PRIORITY_WRITER});
  trainer.extend(Life("x", &log));
  trainer.extend(Snapshot({.trigger = {2, iteration}}));
  std::string model = "model";
  trainer.extend(snapshot_object(model, "model_{.updater.iteration}",
                                 [](const std::string& path, const std::string& text) { write_file(path, text); },
                                 {.trigger = {2, iteration}}));
  trainer.run();
  BOOST_TEST(updater.iteration() == 3);
  BOOST_TEST(has(log, "xc3 xf "));
  BOOST_TEST(std::filesystem::exists(folder / "snapshot_iter_2"));
  BOOST_TEST(std::filesystem::exists(folder / "snapshot_iter_3"));
  BOOST_TEST(std::filesystem::exists(folder / "model_2"));
  BOOST_TEST(!std::filesystem::exists(folder / "model_3"));
}

BOOST_AUTO_TEST_CASE(stopped_by_what_saves) {
  const TemporaryFolder folder("life_stop_late");
  FakeUpdater updater(5);
  Trainer trainer(updater, {9, iteration}, folder.path.string());
  trainer.extend([](Trainer& t) { t.stop(); }, {.priority = PRIORITY_SNAPSHOT});
  trainer.run();
  BOOST_TEST(updater.iteration() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
