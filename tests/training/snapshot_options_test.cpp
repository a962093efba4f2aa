// Options of snapshots: files that are kept, loaded at the start, written when a training fails, written by a thread;
// damaged files.
#include <catena/training/extensions/snapshot.h>

#include <algorithm>
#include <set>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_run.h>
#include <catena/training/extensions/interval_logs.h>
#include <catena/training/extensions/snapshot_files.h>
#include <catena/training/triggers.h>

using namespace test;
using namespace training;
using training::internal::files_of_pattern;
using training::internal::matches_pattern;

namespace {

const auto each = boost::test_tools::per_element();
using Names = std::set<std::string>;

Names names_in(const TemporaryFolder& folder) {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    names.insert(entry.path().filename().string());
  return names;
}

// Trains nothing for some iterations, with one snapshot extension of the trainer.
std::int64_t run_to(double end, const std::string& out, SnapshotOptions options, std::string* loaded = nullptr) {
  options.trigger = {1, iteration};
  FakeUpdater updater(5);
  Trainer trainer(updater, {end, iteration}, out);
  Snapshot& snapshot = trainer.extend(Snapshot(std::move(options)));
  std::int64_t first = -1;
  trainer.extend([&](Trainer& t) { first = first < 0 ? t.updater().iteration() : first; });
  trainer.run();
  if (loaded != nullptr) *loaded = snapshot.loaded_file();
  return first;  // the first iteration that has run
}

// Gives the file another time of its last change, in seconds from now.
void change_time(const std::string& path, int seconds) {
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(seconds));
}

// An object whose file cannot be written while `fails`.
struct Stubborn {
  std::int64_t value = 0;
  bool fails = false;
  void serialize(nn::Serializer& s) {
    catena::check<catena::ValueError>(!fails, "Stubborn", "as asked");
    s("value", value);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(snapshot_options)

BOOST_AUTO_TEST_CASE(names_that_a_pattern_may_have) {
  const std::string pattern = "snapshot_iter_{.updater.iteration}";
  BOOST_TEST(matches_pattern(pattern, "snapshot_iter_12", "out"));
  BOOST_TEST(!matches_pattern(pattern, "snapshot_iter_", "out"));
  BOOST_TEST(!matches_pattern(pattern, "snapshot_iter_12.npz", "out"));
  BOOST_TEST(!matches_pattern(pattern, "snapshot_iter_best", "out"));
  BOOST_TEST(!matches_pattern(pattern, ".snapshot_iter_12.tmp-1", "out"));
  BOOST_TEST(!matches_pattern(pattern, "my_snapshot_iter_12", "out"));
  BOOST_TEST(matches_pattern("a{.updater.epoch:03d}_{.elapsed_time:.2f}.npz", "a007_12.50.npz", "out"));
  BOOST_TEST(!matches_pattern("a{.updater.epoch:03d}_{.elapsed_time:.2f}.npz", "a007-12.50.npz", "out"));
  BOOST_TEST(matches_pattern("{.updater.epoch_detail}x", "1e-05x", "out"));
  BOOST_TEST(matches_pattern("{{{.updater.epoch}}}", "{3}", "out"));
  BOOST_TEST(!matches_pattern("{{{.updater.epoch}}}", "3", "out"));
  BOOST_TEST(matches_pattern("{.out}_{.updater.epoch}", "run_3", "run"));
  BOOST_TEST(!matches_pattern("{.out}_{.updater.epoch}", "other_3", "run"));
  BOOST_TEST(matches_pattern("fixed", "fixed", "out"));
  BOOST_TEST(!matches_pattern("fixed", "fixed2", "out"));
}

BOOST_AUTO_TEST_CASE(newest_first) {
  const TemporaryFolder folder("newest");
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const char* name : {"s_9", "s_10", "s_100", "other", "s_2"}) {
    write_file(folder / name, "");
    std::filesystem::last_write_time(folder / name, now);
  }
  std::filesystem::create_directory(folder.path / "s_5");
  change_time(folder / "s_2", 10);
  const std::vector<std::string> expected{folder / "s_2", folder / "s_100", folder / "s_10", folder / "s_9"};
  BOOST_TEST(files_of_pattern(folder.path.string(), "s_{.updater.iteration}") == expected, each);
  BOOST_TEST(files_of_pattern(folder / "nowhere", "s_{.updater.iteration}").empty());
}

BOOST_AUTO_TEST_CASE(older_files_are_removed) {
  const TemporaryFolder folder("retains");
  write_file(folder / "snapshot_iter_x", "of the user");
  write_file(folder / "snapshot_iter_77", "of an earlier run");
  change_time(folder / "snapshot_iter_77", -1000);
  write_file(folder / "snapshot_iter_78", "of a clock that is ahead");
  change_time(folder / "snapshot_iter_78", 1000);
  run_to(12, folder.path.string(), {.n_retains = 3});
  BOOST_TEST(names_in(folder) == (Names{"snapshot_iter_11", "snapshot_iter_12", "snapshot_iter_78", "snapshot_iter_x"}),
             each);
  run_to(2, folder.path.string(), {.n_retains = 1});  // never the file that was just written
  BOOST_TEST(names_in(folder) == (Names{"snapshot_iter_2", "snapshot_iter_x"}), each);
  std::filesystem::create_directory(folder / "sub");
  run_to(3, folder.path.string(), {.filename = "sub//s_{.updater.iteration}", .n_retains = 1});
  BOOST_TEST(std::filesystem::exists(folder / "sub/s_3"));
  BOOST_TEST(!std::filesystem::exists(folder / "sub/s_2"));
  const TemporaryFolder all("retains_all");
  run_to(4, all.path.string(), {});
  BOOST_TEST(names_in(all).size() == 4u);
}

BOOST_AUTO_TEST_CASE(objects_and_own_savers_too) {
  const TemporaryFolder folder("retains_objects");
  FakeUpdater updater(5);
  Trainer trainer(updater, {5, iteration}, folder.path.string());
  Stubborn object;
  trainer.extend(snapshot_object(object, "object_{.updater.iteration}", {.trigger = {1, iteration}, .n_retains = 2}));
  trainer.extend(snapshot_object(object, "own_{.updater.iteration}",
                                 [](const std::string& path, const Stubborn&) { write_file(path, "own"); },
                                 {.trigger = {1, iteration}, .n_retains = 1}));
  trainer.run();
  BOOST_TEST(names_in(folder) == (Names{"object_4", "object_5", "own_5"}), each);
}

BOOST_AUTO_TEST_CASE(the_newest_file_is_loaded_at_the_start) {
  const TemporaryFolder folder("autoload");
  std::string loaded = "?";
  BOOST_TEST(run_to(3, folder.path.string(), {.autoload = true}, &loaded) == 1);
  BOOST_TEST(loaded.empty());
  BOOST_TEST(run_to(5, folder.path.string(), {.autoload = true}, &loaded) == 4);
  BOOST_TEST(loaded == folder / "snapshot_iter_3");
  BOOST_TEST(run_to(5, folder.path.string(), {.autoload = true}) == -1);  // it was at its end
  BOOST_TEST(run_to(6, folder.path.string(), {}) == 1);                   // without the option
}

// Damaged files are passed over; a file that is whole but of another model is not.
BOOST_AUTO_TEST_CASE(damaged_files) {
  const TemporaryFolder folder("damaged");
  run_to(4, folder.path.string(), {});
  const std::string whole = file_content(folder / "snapshot_iter_4");
  int age = 4;
  const auto damage = [&](const std::string& name, const std::string& content) {
    write_file(folder / name, content);
    change_time(folder / name, age++);
  };
  damage("snapshot_iter_3", whole.substr(0, whole.size() / 2));
  damage("snapshot_iter_2", "");
  std::string changed = whole;
  changed[changed.find("NUMPY") + 130] ^= 1;  // an element, of which the archive has a checksum
  damage("snapshot_iter_1", changed);
  for (const char* name : {"snapshot_iter_1", "snapshot_iter_2", "snapshot_iter_3"})
    BOOST_TEST(!training::internal::is_whole_npz(folder / name), name);
  BOOST_TEST(training::internal::is_whole_npz(folder / "snapshot_iter_4"));
  {
    const Warnings warnings;
    std::string loaded;
    BOOST_TEST(run_to(5, folder.path.string(), {.autoload = true}, &loaded) == 5);
    BOOST_TEST(loaded == folder / "snapshot_iter_4");
    BOOST_REQUIRE(warnings.texts.size() == 3u);
    BOOST_TEST(has(warnings.texts[0], "snapshot: autoload passes over a damaged file: "), warnings.texts[0]);
    BOOST_TEST(has(warnings.texts[2], "snapshot_iter_3"), warnings.texts[2]);
  }
  TinyMLP small;
  nn::Linear other(4, 9);
  nn::serializers::save_npz(folder / "model", other);
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  trainer.extend(snapshot_object(small, "model", {.autoload = true}));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { trainer.run(); }), "l1/W"));
}

// A file of pickled Python objects (numpy.savez of a list of objects) is refused, and nothing of it is executed.
BOOST_AUTO_TEST_CASE(pickled_objects) {
  const TemporaryFolder folder("pickled");
  nn::Linear model(2, 2);
  nn::serializers::save_npz(folder / "model", model, false);
  std::string file = file_content(folder / "model");
  const std::size_t at = file.find("'<f4'");
  BOOST_REQUIRE(at != file.npos);
  file.replace(at, 5, "'|O' ");
  write_file(folder / "model", file);
  BOOST_TEST(has(message_of<catena::ValueError>([&] { nn::serializers::load_npz(folder / "model", model); }),
                 "holds pickled Python objects"));
}

// The state of a training that goes on by itself when it is started again, killed after any iteration.
BOOST_AUTO_TEST_CASE(started_again_until_it_is_done) {
  const TemporaryFolder folder("again"), whole_folder("again_whole");
  StatefulRun whole(1, 14, whole_folder.path.string());
  whole.trainer.run();
  std::vector<std::string> state;
  int starts = 0;
  for (bool done = false; !done; ++starts) {
    StatefulRun run(starts == 0 ? 1u : 77u, 14, folder.path.string());
    run.trainer.extend(JsonLinesLog("lines", {.trigger = {1, iteration}}), {.name = "lines"});
    run.trainer.extend(
        Snapshot({.filename = "last", .trigger = {1, iteration}, .autoload = true, .asynchronous = starts % 2 == 1}),
        {.name = "last"});
    std::int64_t begun = -1;
    run.trainer.extend(
        [&](Trainer& t) {
          if (begun < 0) begun = t.updater().iteration();
          catena::check<catena::RuntimeError>(t.updater().iteration() < begun + 5, "here", "killed");
        },
        {.name = "killer", .priority = PRIORITY_WRITER});
    try {
      run.trainer.run();
      done = true;
    } catch (const catena::RuntimeError& error) {
      BOOST_REQUIRE(has(error.what(), "killed"));
    }
    run.trainer.extend([](Trainer&) {});
    state = run.state();
    BOOST_REQUIRE(starts < 10);
  }
  BOOST_TEST(starts == 3);  // iterations 1 to 5, 6 to 10, 11 to 14
  // The extensions of the uninterrupted run have the same state; those of this one have more entries.
  for (const std::string& part : whole.state())
    if (!has(part, "_trigger") && !part.starts_with("extension_triggers/"))
      BOOST_TEST((std::find(state.begin(), state.end(), part) != state.end()), part.substr(0, 60));
  const std::string lines = file_content(folder / "lines");
  BOOST_TEST(std::count(lines.begin(), lines.end(), '\n') == 14);
}

BOOST_AUTO_TEST_CASE(a_snapshot_when_a_training_fails) {
  const TemporaryFolder folder("on_error");
  const auto fails = [&](bool on_error) {
    FakeUpdater updater(5, [](std::int64_t i) { catena::check<catena::KeyError>(i < 4, "updater", "the cause"); });
    Trainer trainer(updater, {9, iteration}, folder.path.string());
    trainer.extend(Snapshot({.trigger = TriggerSpec(), .snapshot_on_error = on_error, .asynchronous = true}));
    return message_of<catena::KeyError>([&] { trainer.run(); });
  };
  BOOST_TEST(fails(false) == "iteration 4: updater: the cause");
  BOOST_TEST(names_in(folder).empty());
  {
    const Warnings warnings;
    BOOST_TEST(fails(true) == "iteration 4: updater: the cause");
    BOOST_TEST(warnings.texts.empty());
  }
  BOOST_TEST(names_in(folder) == Names{"snapshot_iter_4"}, each);  // FakeUpdater counts before it fails
}

// A snapshot that cannot be written then is a warning, and the cause is thrown.
BOOST_AUTO_TEST_CASE(an_error_while_saving_after_an_error) {
  const TemporaryFolder folder("on_error_fails");
  FakeUpdater updater(5);
  Trainer trainer(updater, {9, iteration}, folder.path.string());
  Stubborn object;
  trainer.extend(snapshot_object(object, "object", {.trigger = TriggerSpec(), .snapshot_on_error = true}));
  trainer.extend([&](Trainer&) {
    object.fails = true;
    catena::fail<catena::KeyError>("extension", "the cause");
  });
  const Warnings warnings;
  BOOST_TEST(has(message_of<catena::KeyError>([&] { trainer.run(); }), "the cause"));
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(warnings.texts[0] ==
             "Trainer: on_error of the extension snapshot_object has failed itself: Stubborn: as asked");
}

// The file has the state of the call, not that of the time at which it is written.
BOOST_AUTO_TEST_CASE(a_thread_writes_the_state_of_the_call) {
  const TemporaryFolder folder("asynchronous");
  TinyMLP model;
  FakeUpdater updater(5, [&](std::int64_t i) {
    for (Variable& p : model.params()) autograd::fill(p.data(), double(i));
  });
  Trainer trainer(updater, {6, iteration}, folder.path.string());
  trainer.extend(
      snapshot_object(model, "model_{.updater.iteration}", {.trigger = {1, iteration}, .asynchronous = true}));
  trainer.run();
  for (int i = 1; i <= 6; ++i) {
    TinyMLP loaded;
    nn::serializers::load_npz(folder / ("model_" + std::to_string(i)), loaded);
    for (const Variable& p : loaded.params())
      for (const double v : values(p.data())) BOOST_REQUIRE(v == i);
  }
  BOOST_TEST(names_in(folder).size() == 6u);
}

BOOST_AUTO_TEST_CASE(errors_of_the_thread) {
  const TemporaryFolder folder("asynchronous_errors");
  Stubborn object;
  const auto run = [&](int removed_at, double end) {
    FakeUpdater updater(5);
    Trainer trainer(updater, {end, iteration}, folder / "out");
    // The folder is removed before the first file is written, so that no thread is writing meanwhile.
    const TriggerSpec from_then_on([removed_at](Trainer& t) { return t.updater().iteration() >= removed_at; });
    trainer.extend(snapshot_object(object, "object", {.trigger = from_then_on, .asynchronous = true}));
    trainer.extend([&](Trainer& t) {
      if (t.updater().iteration() == removed_at) std::filesystem::remove_all(folder / "out");
    });
    const std::string text = message_of<catena::IOError>([&] { trainer.run(); });
    BOOST_TEST(updater.finalized == 1);
    return text;
  };
  const std::string at_the_next = run(2, 5), at_the_end = run(3, 3);
  BOOST_TEST(at_the_next.starts_with("extension snapshot_object at iteration 3: save_npz: "), at_the_next);
  BOOST_TEST(at_the_end.starts_with("the end of the extension snapshot_object: save_npz: "), at_the_end);
}

// The file of the best model, and a resumed training that remembers which one that was.
BOOST_AUTO_TEST_CASE(the_best_model) {
  const TemporaryFolder folder("best");
  const std::vector<double> scores{0.1, 0.2, 0.9, 0.5, 0.6, 0.95, 0.3};
  const auto train = [&](double end) {
    Stubborn model;
    FakeUpdater updater(1, [&](std::int64_t i) { model.value = i; });
    Trainer trainer(updater, {end, iteration}, folder.path.string());
    trainer.extend(
        [&](Trainer& t) {
          t.observation().set("validation/main/accuracy", scores[std::size_t(t.updater().iteration() - 1)]);
        },
        {.name = "score", .priority = PRIORITY_WRITER});
    trainer.extend(Snapshot({.filename = "last", .trigger = {1, iteration}, .autoload = true}));
    trainer.extend(snapshot_object(model, "best.npz"), {.trigger = MaxValueTrigger("validation/main/accuracy")});
    trainer.run();
    Stubborn best;
    nn::serializers::load_npz(folder / "best.npz", best);
    return best.value;
  };
  BOOST_TEST(train(2) == 2);
  BOOST_TEST(train(5) == 3);
  BOOST_TEST(train(7) == 6);
}

BOOST_AUTO_TEST_CASE(errors_of_options) {
  const auto text = [](auto f) { return message_of<catena::ValueError>(f); };
  BOOST_TEST(text([] { Snapshot({.n_retains = 0}); }) == "snapshot: n_retains is 0 and must be -1 or positive");
  BOOST_TEST(text([] { Snapshot({.n_retains = -2}); }) == "snapshot: n_retains is -2 and must be -1 or positive");
  BOOST_TEST(has(text([] { Snapshot({.filename = "{.updater.epoch}/s", .autoload = true}); }), "has fields"));
  Stubborn object;
  const auto saver = [](const std::string&, Stubborn&) {};
  BOOST_TEST(
      has(text([&] { snapshot_object(object, "o", saver, {.asynchronous = true}); }), "snapshot_object: a savefun"));
  BOOST_TEST(has(text([&] { snapshot_object(object, "o", saver, {.autoload = true}); }), "loadfun"));
}

// loadfun takes the place of load_npz, also beside a saver.
BOOST_AUTO_TEST_CASE(loaders_of_ones_own) {
  const TemporaryFolder folder("loaders");
  Stubborn object;
  std::string seen;
  write_file(folder / "o", "any");
  FakeUpdater updater(5);
  Trainer trainer(updater, {1, iteration}, folder.path.string());
  trainer.extend(snapshot_object(object, "o", [](const std::string& path, Stubborn&) { write_file(path, "x"); },
                                 {.autoload = true, .loadfun = [&](const std::string& path) { seen = path; }}));
  trainer.extend(Snapshot({.filename = "o", .autoload = true, .loadfun = [&](const std::string& path, Trainer& t) {
                             seen += &t == &trainer ? "" : "?";
                             seen = path + "!";
                           }}));
  trainer.run();
  BOOST_TEST(seen == folder / "o");  // the trainer is loaded first
}

BOOST_AUTO_TEST_SUITE_END()
