// A result folder that cannot be made, and files that extensions will not be able to write, are errors before the first
// iteration, and leave the trainer as it was.
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>

using namespace test;
using namespace training;

namespace {

struct Empty : nn::Link {
  nn::Parameter p{1.0, {1}};
  NN_MEMBERS(p)
};

struct Writer {
  const char* op;    // begins the message
  const char* file;  // in the folder
  std::function<void(Trainer&)> add;
};

// Everything in the library that writes files, at an iteration that comes late.
const Writer kWriters[] = {
    {"LogReport", "sub/log",
     [](Trainer& t) {
       t.extend(LogReport({.trigger = {50, iteration}, .log_name = "sub/log"}));
     }},
    {"LogReport", "sub/{iteration}.json",
     [](Trainer& t) {
       t.extend(LogReport({.trigger = {50, iteration}, .log_name = "sub/{iteration}.json"}));
     }},
    {"LogReport", "sub/own",
     [](Trainer& t) {
       t.extend(PrintReport({"x"}, {.own_log_report = catena::Shared<LogReport>::make(
                                        LogReport({.trigger = {50, iteration}, .log_name = "sub/own"}))}));
     }},
    {"PlotReport", "sub/x.png",
     [](Trainer& t) {
       t.extend(PlotReport("x", {.trigger = {50, iteration}, .file_name = "sub/x.png"}));
     }},
    {"snapshot", "sub/iter_{.updater.iteration}",
     [](Trainer& t) {
       t.extend(Snapshot({.filename = "sub/iter_{.updater.iteration}", .trigger = {50, iteration}}));
     }},
    {"snapshot_object", "sub/model",
     [](Trainer& t) {
       t.extend(snapshot_object(Empty(), "sub/model", {.trigger = {50, iteration}}));
     }},
    {"dump_graph", "sub/cg.dot",
     [](Trainer& t) {
       t.extend(dump_graph("main/loss", {.out_name = "sub/cg.dot"}), {.trigger = TriggerSpec(50, iteration)});
     }},
};

struct Attempt {
  int updates = 0;
  std::string message;
};
Attempt run(const std::string& out, const std::function<void(Trainer&)>& add,
            const std::function<void(Trainer&)>& mend = {}) {
  Attempt attempt;
  Trainer trainer(FakeUpdater(5, [&](std::int64_t) { ++attempt.updates; }), {3, iteration}, out);
  bool finalized = false;
  trainer.extend([](Trainer&) {},
                 {.name = "other", .invoke_before_training = true, .finalizer = [&] { finalized = true; }});
  if (add) add(trainer);
  attempt.message = message_of<catena::IOError>([&] { trainer.run(); });
  BOOST_TEST(attempt.updates == 0);
  BOOST_TEST(!finalized);
  BOOST_TEST(!trainer.is_running());
  if (mend) {
    mend(trainer);
    trainer.run();
    BOOST_TEST(attempt.updates == 3);
    BOOST_TEST(finalized);
  }
  return attempt;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(output_files)

BOOST_AUTO_TEST_CASE(a_result_folder_that_cannot_be_made) {
  const TemporaryFolder folder("out");
  write_file(folder / "file", "");
  BOOST_REQUIRE(::symlink("nowhere/at/all", (folder / "link").c_str()) == 0);
  for (const std::string& out :
       {std::string("/dev/null/result"), folder / "file", folder / "file/deeper", folder / "link"})
    for (const bool writes : {true, false}) {
      const auto add = [&](Trainer& t) {
        if (writes) t.extend(LogReport());
      };
      const Attempt attempt = run(out, add);
      BOOST_TEST(has(attempt.message, "Trainer.run: cannot create the result folder \"" + out + "\": "),
                 attempt.message);
    }
  // Once the obstacle is gone, the same trainer runs.
  run(folder / "file", {}, [&](Trainer&) { std::filesystem::remove(folder / "file"); });
  BOOST_TEST(std::filesystem::is_directory(folder / "file"));
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_written) {
  for (const Writer& w : kWriters) BOOST_TEST_CONTEXT(w.op << " " << w.file) {
      const TemporaryFolder folder("writers");
      // Its folder is not there.
      std::string message = run(folder.path.string(), w.add, [&](Trainer&) {
                              std::filesystem::create_directory(folder / "sub");
                            }).message;
      BOOST_TEST(has(message, std::string(w.op) + ": \""), message);
      BOOST_TEST(has(message, "before training"), message);
      BOOST_TEST(has(message, "No such file or directory"), message);
      // A folder has its name.
      std::filesystem::create_directory(folder / w.file);
      message = run(folder.path.string(), w.add).message;
      BOOST_TEST(has(message, "Is a directory"), message);
      std::filesystem::remove(folder / w.file);
      // Its folder may not be written. Root may write everywhere.
      if (::geteuid() == 0) {
        std::cout << "skipped: root may write to folders without permissions\n";
      } else {
        ::chmod((folder / "sub").c_str(), 0500);
        BOOST_TEST(has(run(folder.path.string(), w.add).message, "Permission denied"));
        ::chmod((folder / "sub").c_str(), 0700);
      }
      // Nothing is left of the attempts.
      BOOST_TEST(std::filesystem::is_empty(folder / "sub"));
    }
}

// Files that are examined only where that is possible, and an extension that finds out by itself.
BOOST_AUTO_TEST_CASE(what_is_no_error) {
  const TemporaryFolder folder("no_error");
  int updates = 0;
  Trainer trainer(FakeUpdater(5, [&](std::int64_t) { ++updates; }), {3, iteration}, folder.path.string());
  BOOST_REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  trainer.extend(LogReport({.trigger = {50, iteration}, .log_name = "pipe"}));
  trainer.extend(LogReport({.trigger = {50, iteration}, .log_name = {}}));
  trainer.extend(LogReport({.trigger = {50, iteration}, .log_name = "{iteration}/log"}));
  trainer.extend(PlotReport(std::vector<std::string>{}, {.file_name = "nowhere/x.png"}));
  struct Own : Extension {
    std::string* order;
    explicit Own(std::string* o) : order(o) { invoke_before_training = true; }
    void initialize(Trainer& t) override {
      *order += "initialize ";
      BOOST_TEST(t.elapsed_time() >= 0);
    }
    void operator()(Trainer& t) override { *order += std::to_string(t.updater().iteration()) + " "; }
  };
  std::string order;
  trainer.extend(Own(&order));
  trainer.run();
  BOOST_TEST(updates == 3);
  BOOST_TEST(order == "initialize 0 1 2 3 ");
  Trainer here(FakeUpdater(5), {1, iteration}, "");  // the working folder
  here.run();
}

BOOST_AUTO_TEST_SUITE_END()
