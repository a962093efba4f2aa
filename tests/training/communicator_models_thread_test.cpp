// Models over communicators: bcast_data and multi_node_mean_grad.
#include <cmath>
#include <map>

#include <catena/autograd/functions/array.h>
#include <catena/tests/support/ranks.h>
#include <catena/training/optimizers.h>

using namespace test;
using autograd::Array;
using catena::ValueError;
using training::Communicator;

namespace {

// Parameters of two dtypes, of no elements, frozen and pending ones, and persistents of every kind.
struct Mixed : nn::Chain {
  nn::Parameter w, d, empty, frozen, pending;
  nn::Persistent mean;
  std::int64_t count = 0;
  double decay = 0;
  bool flag = false;
  std::string note;
  explicit Mixed(int rank)
      : w(autograd::arrays::full({3, 2}, rank + 1)),
        d(autograd::arrays::full({2}, 10 * rank + 1, Dtype::float64)),
        empty(autograd::arrays::zeros({0, 4})),
        frozen(autograd::arrays::full({2}, rank)),
        mean(autograd::arrays::full({3}, rank + 0.5)),
        count(rank),
        decay(rank + 0.25),
        flag(rank == 0),
        note("rank " + std::to_string(rank)) {}
  NN_MEMBERS(w, d, empty, frozen, pending, mean, count, decay, flag, note)
};

void set_grad(nn::Parameter& p, double value) { p.set_grad(autograd::full_like(p.data(), value)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(communicators_and_models)

BOOST_AUTO_TEST_CASE(all_ranks_get_the_model_of_rank_0) {
  for (const int n : {1, 3}) {
    const auto all = on_ranks(n, [](Communicator& c) {
      Mixed model(c.rank());
      const autograd::Variable same = model.w;
      c.bcast_data(model);
      std::vector<double> seen = values(same.data());  // the variables keep their identity
      for (const double v : values(model.d.data())) seen.push_back(v);
      for (const double v : values(model.frozen.data())) seen.push_back(v);
      for (const double v : values(model.mean.array())) seen.push_back(v);
      for (const double v : {double(model.count), model.decay, double(model.flag), double(model.note == "rank 0"),
                             double(model.pending.is_initialized())})
        seen.push_back(v);
      return seen;
    });
    const std::vector<double> expected{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0.5, 0.5, 0.5, 0, 0.25, 1, 1, 0};
    for (const auto& seen : all) BOOST_TEST(seen == expected, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(pending_parameters_are_created) {
  const auto all = on_ranks(2, [](Communicator& c) {
    nn::Linear link(3);  // its number of inputs is open
    if (c.rank() == 0) link(autograd::Variable(autograd::arrays::ones({1, 4})));
    c.bcast_data(link);
    return values(link.W.data());
  });
  BOOST_TEST(all[0].size() == 12);
  BOOST_TEST((all[0] == all[1]));
  // The other way round the parameter of rank 1 stays as it is.
  const auto sizes = on_ranks(2, [](Communicator& c) {
    nn::Linear link(3);
    if (c.rank() == 1) link(autograd::Variable(autograd::arrays::ones({1, 4})));
    c.bcast_data(link);
    return link.W.is_initialized() ? link.W.size() : -1;
  });
  BOOST_TEST((sizes == std::vector<std::int64_t>{-1, 12}));
}

BOOST_AUTO_TEST_CASE(models_that_differ) {
  struct Case {
    std::string text;
    catena::Function<void(Communicator&)> run;
  };
  const std::vector<Case> cases{
      {"here is /W float32 (3, 5), on rank 0 /W float32 (3, 4) (rank 1)",
       [](Communicator& c) {
         nn::Linear link(c.rank() == 1 ? 5 : 4, 3);
         c.bcast_data(link);
       }},
      {"here is nothing more, on rank 0 /b float32 (3,) (rank 2)",
       [](Communicator& c) {
         nn::Linear link(4, 3, {.nobias = c.rank() == 2});
         c.bcast_data(link);
       }},
      {"/W of shape (3, -1) cannot become that of rank 0, /W float32 (2, 4)",
       [](Communicator& c) {
         nn::Linear no_bias(4, 2, {.nobias = true}), open(3, {.nobias = true});
         c.bcast_data(c.rank() == 0 ? no_bias : open);
       }},
      {"here is /mean float32 (2,), on rank 0 /mean float32 (3,) (rank 1)", [](Communicator& c) {
         nn::Link model;
         model.add_persistent("mean", autograd::arrays::zeros({c.rank() == 1 ? 2 : 3}));
         c.bcast_data(model);
       }}};
  for (const Case& one : cases) {
    const auto errors = errors_on_ranks<ValueError>(3, one.run);
    for (const std::string& error : errors) {
      BOOST_TEST(has(error, one.text), error << " does not have " << one.text);
      BOOST_TEST(error == errors[0]);
    }
  }
  const auto errors = errors_on_ranks<ValueError>(3, [](Communicator& c) {
    nn::Linear link(c.rank() == 2 ? 5 : 4, 3);
    set_grad(link.W, 0);
    c.multi_node_mean_grad(link);
  });
  for (const std::string& error : errors)
    BOOST_TEST(has(error, "rank 0 has /W float32 (3, 4), rank 2 has /W float32 (3, 5)"), error);
}

BOOST_AUTO_TEST_CASE(the_mean_of_gradients) {
  for (const std::string_view name : {"naive", "flat"}) {
    for (const int n : {1, 2, 3, 7}) {
      const auto all = on_ranks(n,
                                [](Communicator& c) {
                                  Mixed model(0);
                                  model.disable_update("/frozen");
                                  set_grad(model.w, 3 * c.rank());
                                  set_grad(model.d, c.rank() + 0.5);
                                  set_grad(model.empty, 0);
                                  c.multi_node_mean_grad(model);
                                  std::vector<double> seen = values(model.w.grad());
                                  for (const double v : values(model.d.grad())) seen.push_back(v);
                                  seen.push_back(model.frozen.grad() ? 1 : 0);
                                  seen.push_back(model.d.grad().dtype() == Dtype::float64 ? 1 : 0);
                                  return seen;
                                },
                                {.name = name});
      const double mean = 1.5 * (n - 1), of_d = 0.5 * (n - 1) + 0.5;
      for (const auto& seen : all)
        BOOST_TEST((seen == std::vector<double>{mean, mean, mean, mean, mean, mean, of_d, of_d, 0, 1}),
                   name << ", " << n << " ranks");
    }
  }
}

// Bit for bit the sum in the order of the ranks, divided by their number, in the dtype of the parameters.
BOOST_AUTO_TEST_CASE(the_bits_of_naive_means) {
  constexpr int n = 3;
  const auto gradient = [](int rank, int i) { return rank == 1 ? float(3 + i) : rank == 0 ? 1e8f : -1e8f; };
  const auto all = on_ranks(n, [&](Communicator& c) {
    nn::Parameter p(autograd::arrays::zeros({5}));
    nn::Link model;
    nn::Parameter& w = model.add_param("w", p);
    std::vector<float> own;
    for (int i = 0; i < 5; ++i) own.push_back(gradient(c.rank(), i));
    w.set_grad(autograd::array(own, {5}));
    c.multi_node_mean_grad(model);
    return autograd::to_vector<float>(w.grad());
  });
  for (const auto& means : all)
    for (int i = 0; i < 5; ++i)
      BOOST_TEST(means[std::size_t(i)] == ((gradient(0, i) + gradient(1, i)) + gradient(2, i)) / float(n));
}

BOOST_AUTO_TEST_CASE(gradients_that_are_missing) {
  const auto run = [](bool zero_fill) {
    return [zero_fill](Communicator& c) {
      Mixed model(0);
      model.disable_update("/frozen");
      set_grad(model.w, 4);
      if (c.rank() == 2) set_grad(model.d, 9);
      c.multi_node_mean_grad(model, zero_fill);
      std::vector<double> seen = values(model.w.grad());
      seen.resize(1);
      for (const double v : values(model.d.grad())) seen.push_back(v);
      seen.push_back(model.empty.grad() ? 1 : 0);  // no rank has one
      return seen;
    };
  };
  for (const auto& seen : on_ranks(3, run(true))) BOOST_TEST((seen == std::vector<double>{4, 3, 3, 0}));
  for (const std::string& error : errors_on_ranks<ValueError>(3, run(false)))
    BOOST_TEST(error == "multi_node_mean_grad: /d has no gradient on rank 0; zero_fill = true counts it as zero");
}

BOOST_AUTO_TEST_CASE(calls_that_differ) {
  const auto errors = errors_on_ranks<ValueError>(2, [](Communicator& c) {
    Mixed model(0);
    c.multi_node_mean_grad(model, c.rank() == 0);
  });
  for (const std::string& error : errors)
    BOOST_TEST(error.find("multi_node_mean_grad with zero_fill") != std::string::npos, error);
}

// The gradient travels in 16 bits: a third is rounded to them, the mean is that of the rounded numbers.
BOOST_AUTO_TEST_CASE(gradients_travel_in_16_bits) {
  for (const std::string_view name : {"naive", "flat"}) {
    for (const Dtype wire : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
      const auto all = on_ranks(2,
                                [&](Communicator& c) {
                                  nn::Link model;
                                  nn::Parameter& w =
                                      model.add_param("w", nn::Parameter(autograd::arrays::zeros({2}, Dtype::float64)));
                                  // The second sum, 2 * 60000, is beyond float16, the mean is not.
                                  w.set_grad(autograd::array(std::vector<double>{1. / 3, 60000}, {2}));
                                  c.multi_node_mean_grad(model);
                                  return std::pair(values(w.grad()), w.grad().dtype());
                                },
                                {.name = name, .comm = {.allreduce_grad_dtype = wire, .timeout = 60}});
      const std::map<Dtype, std::vector<double>> expected{{Dtype::float16, {0.333251953125, 60000}},
                                                          {Dtype::bfloat16, {0.333984375, 59904}},
                                                          {Dtype::float32, {double(1.f / 3.f), 60000}}};
      for (const auto& [means, dtype] : all) {
        BOOST_TEST(means == expected.at(wire), boost::test_tools::per_element());
        BOOST_TEST(dtype == Dtype::float64);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(dummy_leaves_gradients_alone) {
  const auto all = on_ranks(2,
                            [](Communicator& c) {
                              Mixed model(0);
                              set_grad(model.w, c.rank());
                              c.multi_node_mean_grad(model);
                              return values(model.w.grad())[0];
                            },
                            {.name = "dummy"});
  BOOST_TEST((all == std::vector<double>{0, 1}));
}

// Some steps on parts of a batch on each rank give the weights of the steps on the whole batch.
BOOST_AUTO_TEST_CASE(steps_on_parts_of_a_batch) {
  constexpr int n = 2;
  autograd::seed(3);
  nn::Classifier<TinyMLP> start{TinyMLP()};
  autograd::Generator fixed{7, 0};
  const Array x = autograd::random_normal({8, 4}, 0, 1, Dtype::float64, fixed), t = ints({0, 1, 2, 0, 1, 2, 1, 1});
  start.to_dtype(Dtype::float64);
  const auto train = [&](nn::Classifier<TinyMLP>& model, int first, int last, Communicator* comm) {
    training::MomentumSGD optimizer;
    optimizer.setup(model);
    for (int step = 0; step < 5; ++step) {
      model.cleargrads();
      model(autograd::Variable(autograd::slice(x, 0, first, last)),
            autograd::Variable(autograd::slice(t, 0, first, last)))
          .backward();
      if (comm != nullptr) comm->multi_node_mean_grad(model);
      optimizer.update();
    }
    std::vector<double> weights;
    for (const auto& p : model.params())
      for (const double v : values(p.data())) weights.push_back(v);
    return weights;
  };
  nn::Classifier<TinyMLP> whole = start;
  const std::vector<double> expected = train(whole, 0, 8, nullptr);
  std::vector<nn::Classifier<TinyMLP>> copies(n, start);
  const auto all = on_ranks(
      n, [&](Communicator& c) { return train(copies[std::size_t(c.rank())], 4 * c.rank(), 4 * c.rank() + 4, &c); });
  for (const auto& weights : all) {
    BOOST_TEST((weights == all[0]));
    BOOST_TEST(weights.size() == expected.size());
    for (std::size_t i = 0; i < weights.size(); ++i) BOOST_TEST(std::abs(weights[i] - expected[i]) <= 1e-12);
  }
}

BOOST_AUTO_TEST_SUITE_END()
