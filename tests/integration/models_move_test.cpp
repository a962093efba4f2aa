// A model, its gradients and its optimizer's states go from the reference backend to ndarray and back in the middle of
// training, and the training goes on as if nothing had happened.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include <catena/catena.h>
#include <catena/tests/support/reference_backend.h>

using autograd::Array;
using autograd::Variable;

namespace {

struct Model : nn::Chain {
  nn::Linear l1{4, 8}, l2{8, 3};
  nn::BatchNormalization bn{8};
  NN_MEMBERS(l1, bn, l2)
  Variable operator()(const Variable& x) { return l2(nn::relu(bn(l1(x)))); }
};

enum class Side { reference, ndarray };

// Arrays that are made in the scope come from that backend.
class Use {
 public:
  explicit Use(Side side) {
    autograd::set_default_backend(side == Side::reference ? &test::reference_backend : &autograd::ndarray_backend);
  }
  ~Use() { autograd::set_default_backend(&autograd::ndarray_backend); }
};

Array batch(int step) {
  std::vector<double> v;
  for (int i = 0; i < 5 * 4; ++i) v.push_back(std::sin(1.7 * i + 0.3 * step));
  return autograd::astype(autograd::array(v, {5, 4}), autograd::Dtype::float32);
}

struct Run {
  nn::Classifier<Model> model{Model()};
  training::Adam optimizer;
  Run() { optimizer.setup(model); }

  double step(int i) {
    const Variable x(batch(i)), t(autograd::array<std::int32_t>({0, 1, 2, 1, 0}, {5}));
    optimizer.update(model, x, t);
    return autograd::item(model.loss.data()).to_double();
  }
};

void train(Run& run, Side side, int begin, int end, std::vector<double>& losses) {
  const Use use(side);
  for (int i = begin; i < end; ++i) losses.push_back(run.step(i));
}

// A new run on `to` with everything of `from`: parameters and gradients directly, persistents and optimizer states
// through a file.
std::unique_ptr<Run> moved(Run& from, Side to) {
  const Use use(to);
  auto run = std::make_unique<Run>();
  run->model.copyparams(from.model);
  for (const Variable& p : run->model.params()) BOOST_TEST((&p.data().backend() == &autograd::default_backend()));
  run->model.addgrads(from.model);
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("models_move_" + std::to_string(getpid()))).string();
  nn::serializers::save_npz(folder + ".model", from.model);
  nn::serializers::save_npz(folder + ".state", from.optimizer);
  nn::serializers::load_npz(folder + ".model", run->model);
  nn::serializers::load_npz(folder + ".state", run->optimizer);
  std::filesystem::remove(folder + ".model");
  std::filesystem::remove(folder + ".state");
  return run;
}

void check_equal(Run& a, Run& b) {
  const auto pa = a.model.namedparams(), pb = b.model.namedparams();
  BOOST_REQUIRE_EQUAL(pa.size(), pb.size());
  for (std::size_t k = 0; k < pa.size(); ++k) BOOST_TEST_CONTEXT(pa[k].path) {
      BOOST_TEST((autograd::to_vector<float>(pa[k].param.data()) == autograd::to_vector<float>(pb[k].param.data())));
      BOOST_TEST((autograd::to_vector<float>(pa[k].param.grad()) == autograd::to_vector<float>(pb[k].param.grad())));
      const auto sa = a.optimizer.states(pa[k].path), sb = b.optimizer.states(pb[k].path);
      BOOST_REQUIRE_EQUAL(sa.size(), 2u);
      BOOST_REQUIRE_EQUAL(sb.size(), 2u);
      for (std::size_t s = 0; s < 2; ++s)
        BOOST_TEST((autograd::to_vector<float>(sa[s]) == autograd::to_vector<float>(sb[s])));
    }
  BOOST_TEST(a.optimizer.t() == b.optimizer.t());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(models_move)

BOOST_AUTO_TEST_CASE(there_and_back) {
  autograd::seed(7);
  std::vector<double> expected, losses;
  std::unique_ptr<Run> stays, goes;
  {
    const Use use(Side::reference);
    stays = std::make_unique<Run>();
  }
  goes = moved(*stays, Side::reference);
  train(*stays, Side::reference, 0, 9, expected);

  train(*goes, Side::reference, 0, 3, losses);
  std::unique_ptr<Run> on_ndarray = moved(*goes, Side::ndarray);
  check_equal(*goes, *on_ndarray);
  train(*on_ndarray, Side::ndarray, 3, 6, losses);
  std::unique_ptr<Run> back = moved(*on_ndarray, Side::reference);
  check_equal(*on_ndarray, *back);
  train(*back, Side::reference, 6, 9, losses);

  // The backends differ in the order of their sums, hence in the last bits.
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(losses[i] == expected[i], boost::test_tools::tolerance(1e-4));
}

// Arrays on different backends do not mix silently.
BOOST_AUTO_TEST_CASE(operands_of_two_backends_are_refused) {
  const Variable here(batch(0));
  Variable there;
  {
    const Use use(Side::reference);
    there = Variable(batch(0));
  }
  BOOST_CHECK_EXCEPTION(here + there, catena::ValueError, [](const catena::Error& e) {
    return std::string(e.what()).find("ndarray") != std::string::npos &&
           std::string(e.what()).find("reference") != std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
