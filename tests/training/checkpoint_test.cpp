// Checkpoints of a loop of one's own: a training that is resumed from one continues as if it had not been interrupted.
#include <catena/training/checkpoint.h>

#include <catena/nn/links.h>
#include <catena/tests/support/training_fixtures.h>
#include <catena/training/optimizers.h>

using namespace test;
using namespace training;

namespace {

const auto each = boost::test_tools::per_element();

struct Run {
  nn::Linear model{2, 1};
  Adam optimizer{model, {.alpha = 0.1}};
  Run() {
    autograd::assign(model.W.data(), floats({1, -2}, {1, 2}));
    autograd::assign(model.b->data(), floats({0.5f}, {1}));
  }
  void steps(int n) {
    for (int k = 0; k < n; ++k) {
      model.cleargrads();
      autograd::sum(autograd::square(model(Variable(floats({1, 2, -1, 0.5f}, {2, 2}))))).backward();
      optimizer.update();
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint)

BOOST_AUTO_TEST_CASE(a_resumed_training_continues) {
  const TemporaryFolder folder("checkpoint");
  Run whole;
  whole.steps(6);
  for (const char* name : {"c.pt", "c.npz", "c.pth.tar"}) BOOST_TEST_CONTEXT(name) {
      const std::string file = folder / name;
      Run first, second;
      first.steps(2);
      save_checkpoint(file, first.model, first.optimizer, 2);
      nn::StateDict parts = load_checkpoint(file, second.model, second.optimizer);
      BOOST_TEST(double(parts["epoch"]) == 2);
      BOOST_TEST(second.optimizer.t() == 2);
      second.steps(4);
      BOOST_TEST(values(second.model.W.data()) == values(whole.model.W.data()), each);
      BOOST_TEST(values(second.model.b->data()) == values(whole.model.b->data()), each);
    }
}

BOOST_AUTO_TEST_CASE(parts_of_the_program) {
  const TemporaryFolder folder("checkpoint_parts");
  Run run;
  const std::string file = folder / "c.pt", other = folder / "d.pt";
  save_checkpoint(file, {{"model", run.model.state_dict()}, {"best", 0.75}, {"arch", "linear"}});
  save_checkpoint({{"model", run.model.state_dict()}, {"best", 0.75}, {"arch", "linear"}}, other);
  for (const std::string& f : {file, other}) {
    nn::StateDict parts = load_checkpoint(f);
    BOOST_TEST(double(parts["best"]) == 0.75);
    BOOST_TEST(std::string(parts["arch"]) == "linear");
    Run again;
    autograd::fill(again.model.W.data(), 0);
    again.model.load_state_dict(parts["model"]);
    BOOST_TEST(values(again.model.W.data()) == values(run.model.W.data()), each);
    // Without the part "optimizer".
    BOOST_CHECK_THROW(load_checkpoint(f, again.model, again.optimizer), catena::KeyError);
  }
  BOOST_CHECK_THROW(load_checkpoint(folder / "none.pt"), catena::IOError);
}

BOOST_AUTO_TEST_SUITE_END()
