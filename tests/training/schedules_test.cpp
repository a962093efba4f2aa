// Schedules as plain objects and as extensions: PyTorch's values, lengths that do not fit, resumed trainings.
#include <catena/training/schedules.h>

#include <cmath>

#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/fake_updater.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/extensions.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;
using json = test::Json;
using Doubles = std::vector<double>;
namespace sch = training::schedules;

namespace {

struct Weight : nn::Link {
  nn::Parameter w{floats({1}, {1})};
  NN_MEMBERS(w)
};
struct WithRate {
  Weight weight;
  SGD sgd;
  explicit WithRate(double lr) : sgd(lr) { sgd.setup(weight); }
};

const std::map<std::string, Schedule>& all() {
  static const std::map<std::string, Schedule> schedules = {
      {"step", sch::step(7, 0.3)},
      {"multi_step", sch::multi_step({5, 5, 20}, 0.3)},
      {"exponential", sch::exponential(0.9)},
      {"polynomial", sch::polynomial(30, 2)},
      {"linear", sch::linear(0.1, 0.7, 25)},
      {"cosine", sch::cosine(40, 0.05)},
      {"cosine_restarts", sch::cosine_restarts(5, 2, 0.05)},
      {"cosine_restarts_equal", sch::cosine_restarts(6)},
      {"one_cycle", sch::one_cycle(41)},
      {"one_cycle_lines",
       sch::one_cycle(41, {.warmup = 0.25, .start_factor = 0.1, .end_factor = 0.1 / 50, .lines = true})},
      {"warmup", sch::warmup(10, sch::cosine(30), 0.01)},
  };
  return schedules;
}
const std::map<std::string, PlateauOptions>& plateaus() {
  static const std::map<std::string, PlateauOptions> options = {
      {"plateau", {.patience = 2}},
      {"plateau_cooldown",
       {.factor = 0.5, .patience = 1, .threshold = 0.5, .relative = false, .cooldown = 3, .least = 0.1}},
      {"plateau_max", {.maximize = true, .factor = 0.7, .patience = 3}},
  };
  return options;
}

void check_near(double actual, double expected, const std::string& what) {
  BOOST_TEST(close(actual, expected, 1e-15, 1e-12), what << ": " << actual << ", not " << expected);
}

// An updater with one optimizer, four iterations to an epoch.
struct SgdUpdater : FakeUpdater {
  Optimizer& optimizer;
  explicit SgdUpdater(Optimizer& o) : FakeUpdater(4), optimizer(o) {}
  Optimizer& get_optimizer(const std::string&) override { return optimizer; }
  std::vector<std::pair<std::string, Optimizer*>> get_all_optimizers() override { return {{"main", &optimizer}}; }
  void serialize(nn::Serializer& s) override {
    FakeUpdater::serialize(s);
    optimizer.serialize_hyper(*s["hyper"]);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(schedules)

BOOST_AUTO_TEST_CASE(values_of_pytorch) {
  int checked = 0;
  const auto golden = Golden::open("torch_schedules");
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    const auto expected = c["values"].get<Doubles>();
    WithRate o(c["base"].get<double>());
    if (c.contains("measures")) {
      PlateauScheduler scheduler(o.sgd, plateaus().at(name));
      for (std::size_t k = 0; k + 1 < expected.size(); ++k) {
        const json& m = c["measures"][k];
        scheduler.step(m.is_null() ? NAN : m.get<double>());
        check_near(o.sgd.lr(), expected[k + 1], name + " after measure " + std::to_string(k));
      }
    } else {
      Scheduler scheduler(o.sgd, all().at(name));
      for (std::size_t k = 0; k < expected.size(); ++k) {
        if (k > 0) scheduler.step();
        check_near(o.sgd.lr(), expected[k], name + " after " + std::to_string(k));
      }
      BOOST_TEST(scheduler.t() == std::int64_t(expected.size()) - 1);
    }
    ++checked;
  }
  BOOST_TEST(checked == 14);
}

BOOST_AUTO_TEST_CASE(values_by_formula) {
  BOOST_TEST(sch::constant()(0.3, 1000) == 0.3);
  check_near(sch::inverse(0.5, 2)(8, 6), 8.0 / 16, "inverse");
  BOOST_TEST(sch::polynomial(10, 1, 0.2)(1, 25) == 0.2);
  BOOST_TEST(sch::cosine(10, 0.2)(1, 25) == 0.2);
  const Schedule parts = sch::sequence({{sch::exponential(0.5), 2}, {sch::linear(1, 2, 4), 4}, {sch::constant(), 0}});
  const Doubles expected = {8, 4, 8, 10, 12, 14, 8, 8};
  for (std::size_t t = 0; t < expected.size(); ++t) check_near(parts(8, double(t)), expected[t], "sequence");
  // A phase of one_cycle may have no length.
  BOOST_TEST(sch::one_cycle(10, {.warmup = 0.1})(8, 0) == 8);
  BOOST_TEST(sch::one_cycle(1, {.warmup = 1})(8, 0) == 8);
  check_near(sch::one_cycle(10, {.warmup = 1})(8, 25), 8e-4 / 25, "one_cycle after its end");
  const Schedule warm = sch::warmup(4);
  BOOST_TEST(warm(8, 0) == 0);
  BOOST_TEST(warm(8, 3) == 6);
  BOOST_TEST(warm(8, 100) == 8);
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto text = [](auto f) { return message_of<catena::ValueError>(f); };
  BOOST_TEST(text([] { sch::step(0); }) == "schedules::step: period is 0 and must be positive");
  BOOST_TEST(text([] {
               sch::multi_step({5, 3});
             }) == "schedules::multi_step: the milestone 3 follows 5; they must increase");
  BOOST_TEST(text([] { sch::cosine_restarts(5, 0.5); }) ==
             "schedules::cosine_restarts: factor is 0.5 and must be at least 1");
  BOOST_TEST(text([] { sch::one_cycle(10, {.warmup = 2}); }) ==
             "schedules::one_cycle: warmup is 2 and must be a part of the length, between 0 and 1");
  BOOST_TEST(text([] { sch::sequence({}); }) == "schedules::sequence: there must be at least one schedule");
  BOOST_TEST(text([] { sch::warmup(1, Schedule()); }) == "schedules::warmup: the schedule after it is empty");
  for (const auto& make : {sch::polynomial, +[](double n, double, double) { return sch::cosine(n); },
                           +[](double n, double, double) { return sch::warmup(n); },
                           +[](double n, double, double) { return sch::one_cycle(n); },
                           +[](double n, double, double) { return sch::linear(0, 1, n); }})
    BOOST_CHECK_THROW(make(NAN, 1, 1), catena::ValueError);
  WithRate o(1);
  BOOST_TEST(text([&] { Scheduler(o.sgd, Schedule()); }) == "Scheduler: the schedule is empty");
  BOOST_TEST(text([&] { PlateauScheduler(o.sgd, {.factor = 1}); }) ==
             "PlateauOptions: factor is 1 and must be between 0 and 1");
  BOOST_TEST(message_of<catena::KeyError>([&] { Scheduler(o.sgd, sch::constant(), "beta"); }) ==
             "Scheduler: the optimizer SGD has no hyperparameter beta to be set (it has: lr, weight_decay)");
  AdaDelta without_rate;
  BOOST_TEST(message_of<catena::KeyError>([&] { Scheduler(without_rate, sch::constant()); }) ==
             "Scheduler: the optimizer AdaDelta has no hyperparameter lr or alpha to be set (it has: rho, eps)");
  BOOST_CHECK_THROW(ScheduleShift(Schedule{}), catena::ValueError);
}

BOOST_AUTO_TEST_CASE(alpha_is_the_rate_of_adam) {
  Adam adam(0.5);
  Scheduler scheduler(adam, sch::exponential(0.5));
  scheduler.step();
  BOOST_TEST(adam.get_hyper("alpha") == 0.25);
  BOOST_TEST(scheduler.value() == 0.25);
  Scheduler betas(adam, sch::linear(1, 0, 2), "beta1");
  betas.step();
  BOOST_TEST(adam.get_hyper("beta1") == 0.45);
}

BOOST_AUTO_TEST_CASE(schedulers_resume_where_they_were) {
  const TemporaryFolder folder("schedules");
  const std::string file = (folder.path / "s.npz").string(), measures = (folder.path / "p.npz").string();
  WithRate first(1), second(1);
  Scheduler a(first.sgd, sch::exponential(0.5));
  PlateauScheduler p(first.sgd, {.factor = 0.5, .patience = 1});
  for (int i = 0; i < 3; ++i) a.step();
  p.step(1);
  p.step(2);
  nn::serializers::save_npz(file, a);
  nn::serializers::save_npz(measures, p);
  Scheduler b(second.sgd, sch::exponential(0.5));
  PlateauScheduler q(second.sgd, {.factor = 0.5, .patience = 1});
  nn::serializers::load_npz(file, b);
  BOOST_TEST(second.sgd.lr() == 0.125);
  nn::serializers::load_npz(measures, q);
  BOOST_TEST(q.best() == 1);
  p.step(2);
  q.step(2);
  BOOST_TEST(first.sgd.lr() == 0.0625);
  BOOST_TEST(second.sgd.lr() == 0.0625);
}

BOOST_AUTO_TEST_CASE(as_extensions) {
  WithRate o(8);
  const TemporaryFolder folder("schedules");
  SgdUpdater updater(o.sgd);
  Trainer trainer(updater, {12, iteration}, folder.path.string());
  Doubles rates;
  trainer.extend(ScheduleShift(sch::exponential(0.5)), {.trigger = {1, epoch}});
  trainer.extend([&](Trainer&) { rates.push_back(o.sgd.lr()); }, {.priority = 1, .invoke_before_training = true});
  trainer.run();
  BOOST_TEST(rates == (Doubles{8, 8, 8, 8, 4, 4, 4, 4, 2, 2, 2, 2, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_measure_of_the_training) {
  WithRate o(8);
  const TemporaryFolder folder("schedules");
  SgdUpdater updater(o.sgd);
  Trainer trainer(updater, {20, iteration}, folder.path.string());
  Doubles rates, measures = {3, 2, 2, 2, 2};
  trainer.extend(
      [&](Trainer& t) { t.observation().set("validation/loss", measures[std::size_t(updater.epoch()) - 1]); },
      {.trigger = {1, epoch}, .priority = PRIORITY_WRITER});
  trainer.extend(PlateauShift("validation/loss", {.plateau = {.factor = 0.5, .patience = 1}}));
  trainer.extend([&](Trainer&) { rates.push_back(o.sgd.lr()); }, {.trigger = {1, epoch}, .priority = 1});
  trainer.run();
  BOOST_TEST(rates == (Doubles{8, 8, 8, 4, 4}), boost::test_tools::per_element());

  SgdUpdater again(o.sgd);
  Trainer silent(again, {4, iteration}, folder.path.string());
  silent.extend(PlateauShift("validation/loss"));
  BOOST_TEST(has(message_of<catena::KeyError>([&] { silent.run(); }), "validation/loss"));
}

BOOST_AUTO_TEST_CASE(extensions_resume) {
  const TemporaryFolder folder("schedules");
  const auto run = [&](std::int64_t until, bool resume, bool save) {
    WithRate o(8);
    SgdUpdater updater(o.sgd);
    Trainer trainer(updater, {double(until), iteration}, folder.path.string());
    trainer.extend(ScheduleShift(sch::linear(1, 0, 10)));
    trainer.extend([&](Trainer& t) { t.observation().set("m", 1.0); }, {.priority = PRIORITY_WRITER});
    trainer.extend(PlateauShift("m", {.plateau = {.factor = 0.5, .patience = 2, .hyper = "lr"}}),
                   {.trigger = {1, iteration}});
    if (resume) nn::serializers::load_npz((folder.path / "t.npz").string(), trainer);
    trainer.run();
    if (save) nn::serializers::save_npz((folder.path / "t.npz").string(), trainer);
    return o.sgd.lr();
  };
  const double whole = run(7, false, false);
  run(5, false, true);
  BOOST_TEST(run(7, true, false) == whole);
}

BOOST_AUTO_TEST_SUITE_END()
