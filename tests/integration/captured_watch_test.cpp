// A replay refuses to run when something that was captured has changed since: arrays, persistents, modes, frozen
// parameters, the seed. The message names it.
#include <catena/tests/integration/captured_training.h>

#include <boost/test/unit_test.hpp>

#include <catena/tests/support/pattern.h>

namespace {

using namespace captured;
using test::matches;
// Of an array: 0x7f12 (16, 6) float32 on cuda:0
inline std::string array_pattern(const std::string& shape) {
  return "0x[0-9a-f]+ \\(" + shape + "\\) float32 on cuda:0";
}

BOOST_AUTO_TEST_SUITE(captured_watch)

BOOST_AUTO_TEST_CASE(a_replaced_array_is_named) {
  if (!has_graphs("errors of replays")) return;
  Run<training::Adam> run;
  autograd::CapturedWork work([&] { run.step(); });
  const std::string before = run.state();
  const auto message = [&] { return test::message_if_thrown<catena::RuntimeError>([&] { work.replay(); }); };
  const auto replaced = [](const std::string& what, const std::string& shape) {
    const std::string array = array_pattern(shape);
    return "replay: the array of " + what + " was replaced since the capture \\(" + array + ", captured " + array +
           "\\); capture again";
  };
  Variable W = run.model.predictor.l2.W;

  const Array original = W.data();
  W.set_data(autograd::copy(original));
  BOOST_TEST(matches(message(), replaced("parameter /predictor/l2/W", "16, 16")), message());
  W.set_data(autograd::reshape(original, {8, 32}));
  BOOST_TEST(test::has(message(), "(8, 32) float32 on cuda:0, captured 0x"), message());
  BOOST_TEST(!work.try_replay());
  W.set_data(autograd::reshape(original, {16, 16}));  // the same memory
  BOOST_TEST(message() == "(nothing was thrown)");

  const Array grad = W.grad();
  W.set_grad(autograd::copy(grad));
  BOOST_TEST(matches(message(), replaced("the gradient of parameter /predictor/l2/W", "16, 16")), message());
  W.cleargrad();
  BOOST_TEST(
      test::has(message(), "gradient of parameter /predictor/l2/W was replaced since the capture (none, captured 0x"),
      message());
  W.set_grad(grad);

  {
    const auto testing = autograd::train_mode(false);
    BOOST_TEST(message() == "replay: the mode train is off, at the capture it was on; capture again");
  }
  autograd::default_generator().seed = 4;
  BOOST_TEST(message() == "replay: the seed of the random generator is 4, at the capture it was 3; capture again");
  autograd::default_generator().seed = 3;

  // One replay has run between all these errors: what failed has changed nothing.
  Run<training::Adam> plain;
  plain.step();
  BOOST_TEST((before == plain.state()));
  plain.step();
  BOOST_TEST((run.state() == plain.state()));

  run.optimizer.add_hook(training::WeightDecay(0.1));
  BOOST_TEST(
      message() ==
      "replay: the target, the list of hooks or the parameter groups of Adam changed since the capture; capture again");
  run.optimizer.setup(run.model);
  BOOST_TEST(matches(message(), replaced("state m of parameter /predictor/l1/W", "16, 6")), message());
}

BOOST_AUTO_TEST_CASE(persistents_are_watched) {
  if (!has_graphs("errors of replays")) return;
  Run<training::Adam, Net> run;
  run.step();
  autograd::CapturedWork work([&] { run.step(); });
  run.model.predictor.bn.N = 7;
  BOOST_TEST(message_of([&] { work.replay(); }) ==
             "replay: persistent /predictor/bn/N changed since the capture; capture again");
  run.model.predictor.bn.N = 0;
  work.replay();
  run.model.predictor.bn.avg_mean.array() = autograd::arrays::zeros({16});
  BOOST_TEST(matches(message_of([&] { work.replay(); }),
                     "replay: the array of persistent /predictor/bn/avg_mean was replaced .*"));
}

BOOST_AUTO_TEST_CASE(freezing_is_watched) {
  if (!has_graphs("errors of replays")) return;
  Run<training::Adam> run;
  run.model.predictor.l1.disable_update();
  const std::vector<double> before = autograd::to_vector<double>(run.model.predictor.l1.W.data());
  run.step();
  autograd::CapturedWork work([&] { run.step(); });
  work.replay();
  BOOST_TEST(autograd::to_vector<double>(run.model.predictor.l1.W.data()) == before);
  run.model.enable_update();
  BOOST_TEST(message_of([&] { work.replay(); }) ==
             "replay: which parameters are frozen changed since the capture; capture again");
}

BOOST_AUTO_TEST_CASE(modes_of_links_are_watched) {
  if (!has_graphs("errors of replays")) return;
  Run<training::Adam, Net> run;
  run.step();
  autograd::CapturedWork work([&] { run.step(); });
  run.model.train();
  work.replay();
  run.model.predictor.bn.eval();
  BOOST_TEST(message_of([&] { work.replay(); }) ==
             "replay: the mode of the link bn changed since the capture; capture again");
  run.model.predictor.bn.train();
  work.replay();
}

BOOST_AUTO_TEST_CASE(arrays_of_ones_own_are_watched) {
  Array table = autograd::arrays::full({3}, 2.0), y;
  BOOST_TEST(!autograd::is_capturing());
  autograd::watch_array("nothing", [] { return Array(); });  // no capture is under way
  autograd::CapturedWork work([&] {
    BOOST_TEST(autograd::is_capturing() == on_cuda());
    y = table * 3.0;
    autograd::watch_array("the table", [&] { return table; });
  });
  table = autograd::arrays::full({3}, 5.0);
  if (on_cuda()) {
    BOOST_TEST(test::has(message_of([&] { work.replay(); }),
                         "replay: the array of the table was replaced since the capture (0x"));
    BOOST_TEST(autograd::to_vector<double>(y)[0] == 6);
  } else {  // the function is called again and sees the new one
    work.replay();
    BOOST_TEST(autograd::to_vector<double>(y)[0] == 15);
    BOOST_TEST(work.try_replay());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
