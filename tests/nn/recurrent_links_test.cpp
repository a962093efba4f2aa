// LSTM, GRU and NStepLSTM with their relatives: the cases of the reference, states, initial values, copies and files.
#include <array>
#include <cmath>
#include <iostream>

#include <catena/autograd/current_device.h>
#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/autograd/testing.h>
#include <catena/nn/serializers/npz.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>
#include <catena/tests/support/framework_link_golden.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using autograd::Slice;
using autograd::testing::assert_allclose;

namespace {

// ---- the reference ------------------------------------------------------------------------------
// The calls are set_state, reset_state and __call__; what stands behind the first output are the attributes c and h.
template <class L> Variables one_call(L& link, const Variables& in, const Json& call) {
  const std::string method = call["method"];
  if (method == "reset_state") {
    link.reset_state();
    return {};
  }
  if (method == "set_state") {
    if constexpr (requires { link.set_state(in[0], in[1]); }) link.set_state(in[0], in[1]);
    else if constexpr (requires { link.set_state(in[0]); }) link.set_state(in[0]);
    else BOOST_ERROR("there is no set_state");
    return {};
  }
  Variables out{link(in[0])};
  if constexpr (requires { link.c; })
    if (call["outputs"].size() == 3) out = {out[0], link.c, link.h};
  return out;
}
template <class L> void run_stateful(const LinkCase& c, L&& link) {
  c.run_calls(link, [&link](const Variables& in, const Json& call) { return one_call(link, in, call); });
}

std::optional<int> optional_int(const Json& v) { return v.is_null() ? std::nullopt : std::optional<int>(v.get<int>()); }

template <class L> void run_n_step(const LinkCase& c, const Json& a, Dtype) {
  L link(a["n_layers"].get<int>(), a["in_size"].get<int>(), a["out_size"].get<int>(), a["dropout"].get<double>());
  c.run(link, [&link](const Variables& in, const Json&) {
    constexpr bool cells = requires { link(in[0], in[1], in); };
    Variables xs, out;
    for (std::size_t i = cells ? 2 : 1; i < in.size(); ++i) xs.push_back(in[i]);
    if constexpr (cells) {
      const auto [hy, cy, ys] = link(in[0], in[1], xs);
      out = {hy, cy};
      for (const Variable& y : ys) out.push_back(y);
    } else {
      const auto [hy, ys] = link(in[0], xs);
      out = {hy};
      for (const Variable& y : ys) out.push_back(y);
    }
    return out;
  });
}

const LinkRunners registered({
    {"LSTM", [](LinkCase& c, const Json& a,
                Dtype) { run_stateful(c, nn::LSTM(optional_int(a["in_size"]), a["out_size"].get<int>())); }},
    {"StatelessLSTM",
     [](LinkCase& c, const Json& a, Dtype) {
       nn::StatelessLSTM link(optional_int(a["in_size"]), a["out_size"].get<int>());
       c.run(link, [&](const Variables& in, const Json&) {
         const auto [state, h] = link(in[0], in[1], in[2]);
         return Variables{state, h};
       });
     }},
    {"StatefulPeepholeLSTM",
     [](LinkCase& c, const Json& a, Dtype) {
       run_stateful(c, nn::StatefulPeepholeLSTM(a["in_size"].get<int>(), a["out_size"].get<int>()));
     }},
    {"StatefulZoneoutLSTM",
     [](LinkCase& c, const Json& a, Dtype) {
       run_stateful(c, nn::StatefulZoneoutLSTM(a["in_size"].get<int>(), a["out_size"].get<int>(),
                                               {.c_ratio = a["c_ratio"].get<double>(),
                                                .h_ratio = a["h_ratio"].get<double>(),
                                                .train = a["train"].get<bool>()}));
     }},
    {"GRU",
     [](LinkCase& c, const Json& a, Dtype) {
       nn::GRU link(a["n_units"].get<int>(), optional_int(a["n_inputs"]));
       c.run(link, [&](const Variables& in, const Json&) { return Variables{link(in[0], in[1])}; });
     }},
    {"StatefulGRU", [](LinkCase& c, const Json& a,
                       Dtype) { run_stateful(c, nn::StatefulGRU(a["in_size"].get<int>(), a["out_size"].get<int>())); }},
    {"NStepLSTM", run_n_step<nn::NStepLSTM>},
    {"NStepBiLSTM", run_n_step<nn::NStepBiLSTM>},
    {"NStepGRU", run_n_step<nn::NStepGRU>},
    {"NStepBiGRU", run_n_step<nn::NStepBiGRU>},
    {"NStepRNNTanh", run_n_step<nn::NStepRNNTanh>},
    {"NStepBiRNNTanh", run_n_step<nn::NStepBiRNNTanh>},
    {"NStepRNNReLU", run_n_step<nn::NStepRNNReLU>},
    {"NStepBiRNNReLU", run_n_step<nn::NStepBiRNNReLU>},
});

// ---- helpers ------------------------------------------------------------------------------------
Array numbers(const Shape& shape, int seed = 0) { return autograd::astype(spread(shape, -1, 1, seed), Dtype::float32); }
Variable rows(const Variable& x, std::int64_t begin, std::int64_t end) { return get_item(x, {Slice(begin, end)}); }

std::vector<std::string> paths(const nn::Link& link) {
  std::vector<std::string> all;
  for (const nn::NamedParam& p : link.namedparams()) all.push_back(p.path);
  return all;
}
using Paths = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent_links)

// ---- LSTM ---------------------------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(initial_values_of_lstm) {
  autograd::seed(1);
  const nn::LSTM lstm(3, 2, {.bias_init = 1.0, .forget_bias_init = 5.0});
  BOOST_TEST(values(lstm.upward.b->data()) == (std::vector<double>{1, 1, 5, 1, 1, 1, 5, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(paths(lstm) == (Paths{"/upward/W", "/upward/b", "/lateral/W"}), boost::test_tools::per_element());
  // The quarters of the rows are orthogonal by themselves: (4 S, S) as a whole could not be.
  const nn::StatelessLSTM orthogonal(5, 3, {.lateral_init = nn::initializers::Orthogonal(1.0)});
  const std::vector<double> W = values(orthogonal.lateral.W.data());
  for (std::size_t quarter = 0; quarter < 4; ++quarter)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        double dot = 0;
        for (std::size_t k = 0; k < 3; ++k) dot += W[(quarter * 3 + i) * 3 + k] * W[(quarter * 3 + j) * 3 + k];
        BOOST_TEST(std::fabs(dot - (i == j)) < 1e-5);
      }
  // The default deviation is that of one quarter, 1 / sqrt(in).
  const nn::LSTM wide(400, 100);
  double squares = 0;
  for (const double w : values(wide.upward.W.data())) squares += w * w;
  BOOST_TEST(std::fabs(std::sqrt(squares / 160000) - 0.05) < 0.001);
  BOOST_TEST(values(wide.upward.b->data())[2] == 0);
}

BOOST_AUTO_TEST_CASE(sizes_that_the_first_call_finds) {
  nn::LSTM lstm(4);
  BOOST_TEST(lstm.upward.has_uninitialized_params());
  BOOST_TEST(lstm(Variable(numbers({2, 3}))).shape() == Shape({2, 4}));
  BOOST_TEST(lstm.upward.W.shape() == Shape({16, 3}));
  nn::StatelessLSTM stateless(std::nullopt, 2, {.forget_bias_init = 1.0});
  const auto [c, h] = stateless({}, {}, Variable(numbers({3, 5})));
  BOOST_TEST(c.shape() == Shape({3, 2}));
  BOOST_TEST(h.shape() == Shape({3, 2}));
  BOOST_TEST(values(stateless.upward.b->data())[6] == 1);
  nn::StatefulPeepholeLSTM peephole(std::nullopt, 2);
  BOOST_TEST(peephole(Variable(numbers({1, 3}))).shape() == Shape({1, 2}));
  nn::StatefulZoneoutLSTM zoneout(std::nullopt, 2);
  BOOST_TEST(zoneout(Variable(numbers({1, 3}))).shape() == Shape({1, 2}));
  // An empty batch.
  nn::LSTM empty(3, 2);
  BOOST_TEST(empty(Variable(numbers({0, 3}))).shape() == Shape({0, 2}));
}

// Each sequence of a batch that becomes smaller is what it is alone, and so are its gradients.
BOOST_AUTO_TEST_CASE(batches_that_become_smaller) {
  autograd::seed(2);
  nn::LSTM lstm(3, 2);
  const Variable x(numbers({3, 3})), y(numbers({2, 3}, 1)), z(numbers({1, 3}, 2));
  lstm(x);
  lstm(y);
  const Variable last = lstm(z);
  BOOST_TEST(last.shape() == Shape({1, 2}));
  BOOST_TEST(lstm.c.shape() == Shape({3, 2}));
  const Variable c = lstm.c, h = lstm.h;
  for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
    nn::LSTM alone(lstm);
    alone.reset_state();
    for (const Variable& batch : {x, y, z})
      if (sequence < batch.shape(0)) alone(rows(batch, sequence, sequence + 1));
    BOOST_CHECK_NO_THROW(assert_allclose(rows(c, sequence, sequence + 1), alone.c, 1e-6, 1e-6));
    BOOST_CHECK_NO_THROW(assert_allclose(rows(h, sequence, sequence + 1), alone.h, 1e-6, 1e-6));
  }
  // A batch of none keeps the states, a larger one is refused.
  BOOST_TEST(lstm(Variable(numbers({0, 3}))).shape() == Shape({0, 2}));
  BOOST_TEST(values(lstm.h.data()) == values(h.data()), boost::test_tools::per_element());
  BOOST_TEST(values(lstm.c.data()) == values(c.data()), boost::test_tools::per_element());
  const Variable before = lstm.h;
  BOOST_TEST(message_of<catena::TypeError>([&] {
               lstm(Variable(numbers({4, 3})));
             }) ==
             "LSTM: x has 4 examples, the states have 3: a batch may only become smaller (sort sequences by decreasing "
             "length; reset_state() begins anew)");
  BOOST_TEST(lstm.h.is_same(before));
  // Nor does the first call leave parameters behind.
  nn::LSTM lazy(std::nullopt, 2);
  lazy.set_state(lstm.c, lstm.h);
  BOOST_CHECK_THROW(lazy(Variable(numbers({4, 3}))), catena::TypeError);
  BOOST_TEST(!lazy.upward.W.is_initialized());
  lstm.reset_state();
  BOOST_TEST((!lstm.c && !lstm.h));
  BOOST_TEST(lstm(Variable(numbers({4, 3}))).shape() == Shape({4, 2}));
  sum(lstm.c).backward();
  BOOST_TEST(bool(lstm.upward.W.grad()));
}

BOOST_AUTO_TEST_CASE(derivatives_over_several_calls) {
  autograd::seed(3);
  const Array W = spread({8, 3}), b = spread({8}, -1, 1, 1), L = spread({8, 2}, -1, 1, 2);
  // The parameters of links are float32: here the variables take their place.
  const auto f = [&](const Variables& v) {
    nn::LSTM lstm(3, 2);
    lstm.upward.W.set_data(W);
    lstm.upward.b->set_data(b);
    lstm.lateral.W.set_data(L);
    lstm.set_state(v[0], v[1]);
    lstm(v[2]);
    const Variable y = lstm(v[3]);
    return autograd::identity(Variables{y, lstm.c, lstm.h});
  };
  check_derivatives("LSTM", f, {spread({3, 2}), spread({3, 2}, -1, 1, 3), spread({3, 3}), spread({1, 3}, -1, 1, 4)},
                    {.narrow = false});
}

BOOST_AUTO_TEST_CASE(states_move_with_the_link) {
  nn::LSTM lstm(3, 2);
  nn::StatefulGRU gru(3, 2);
  nn::StatefulPeepholeLSTM peephole(3, 2);
  nn::StatefulZoneoutLSTM zoneout(3, 2);
  const Variable x(numbers({2, 3}));
  lstm(x);
  gru(x);
  peephole(x);
  zoneout(x);
  const std::vector<double> h = values(lstm.h.data());
  const std::optional<autograd::Device> other = other_device();
  if (!other) return;
  for (nn::Link* link : std::initializer_list<nn::Link*>{&lstm, &gru, &peephole, &zoneout}) link->to_device(*other);
  for (const Variable& v : {lstm.c, lstm.h, gru.h, peephole.c, peephole.h, zoneout.c, zoneout.h})
    BOOST_TEST((v.device() == *other));
  BOOST_TEST(values(lstm.h.data()) == h, boost::test_tools::per_element());
  lstm(Variable(autograd::to_device(x.data(), *other)));
  // States that are set come to the link; the caller's variable stays where it is and gets its gradient there.
  Variable c(numbers({2, 2})), own(numbers({2, 2}, 1));
  lstm.set_state(c, own);
  BOOST_TEST((lstm.c.device() == *other && c.device() == default_device()));
  sum(lstm(Variable(autograd::to_device(x.data(), *other)))).backward();
  BOOST_TEST((c.grad() && c.grad().device() == default_device()));
  gru.set_state(own);
  BOOST_TEST((gru.h.device() == *other));
}

// The current device at the time of the call says nothing about where a link is.
BOOST_AUTO_TEST_CASE(states_of_links_that_were_never_moved) {
  const std::optional<autograd::Device> other = other_device();
  if (!other) {
    std::cout << "not run: there is one device only\n";
    return;
  }
  nn::LSTM lstm(3, 2);
  nn::StatefulGRU gru(3, 2);
  nn::StatefulZoneoutLSTM zoneout(3, 2);
  nn::StatefulPeepholeLSTM peephole(3, 2);
  const Variable c(autograd::to_device(numbers({2, 2}), *other)), h(numbers({2, 2}, 1));
  const autograd::Device home = default_device();
  BOOST_TEST((c.device() == *other && h.device() == home));
  {
    const autograd::internal::DefaultDeviceScope elsewhere(autograd::default_backend(), *other);
    for (nn::Link* link : std::initializer_list<nn::Link*>{&lstm, &gru, &zoneout, &peephole})
      BOOST_TEST((link->device() == home));
    BOOST_TEST((nn::Chain().device() == *other));  // without parameters
    lstm.set_state(c, h);
    zoneout.set_state(c, h);
    gru.set_state(c);
  }
  for (const Variable& v : {lstm.c, lstm.h, zoneout.c, zoneout.h, gru.h}) BOOST_TEST((v.device() == home));
  BOOST_TEST(lstm.h.is_same(h));
  BOOST_TEST(values(lstm.c.data()) == values(c.data()), boost::test_tools::per_element());
  // A link that was moved keeps its device whatever is current.
  lstm.to_device(*other);
  BOOST_TEST((lstm.device() == *other));
  lstm.set_state(c, h);
  BOOST_TEST((lstm.c.device() == *other && lstm.h.device() == *other));
  // Parameters that were moved one by one take their link along.
  nn::LSTM by_parameters(3, 2);
  for (nn::Link* child : by_parameters.links(true)) child->param("W").to_device(*other);
  by_parameters.upward.b->to_device(*other);
  by_parameters.set_state(c, h);
  BOOST_TEST((by_parameters.c.device() == *other && by_parameters.h.device() == *other));
  BOOST_CHECK_NO_THROW(by_parameters(Variable(autograd::to_device(numbers({2, 3}), *other))));
}

BOOST_AUTO_TEST_CASE(copies_and_files) {
  autograd::seed(4);
  nn::LSTM lstm(3, 2);
  const Variable x(numbers({2, 3}));
  lstm(x);
  // A copy has its own parameters and goes on from the same states.
  nn::LSTM copied(lstm);
  const Array h = copied(x).data();
  BOOST_CHECK_NO_THROW(assert_allclose(h, lstm(x).data(), 0, 0));
  copied.reset_state();
  BOOST_TEST(bool(lstm.h));
  autograd::fill(copied.upward.W.data(), 0);
  BOOST_TEST(values(lstm.upward.W.data())[0] != 0);
  nn::LSTM shared = nn::copy(lstm);
  autograd::fill(shared.upward.W.data(), 0);
  BOOST_TEST(values(lstm.upward.W.data())[0] == 0);

  // Files have the parameters only.
  const TemporaryFolder folder("recurrent_links");
  const auto keys_of = [](nn::Link& link) {
    nn::serializers::DictionarySerializer s;
    link.serialize(s);
    Paths keys;
    for (const auto& e : s.entries()) keys.push_back(e.key);
    return keys;
  };
  BOOST_TEST(keys_of(lstm) == (Paths{"upward/W", "upward/b", "lateral/W"}), boost::test_tools::per_element());
  nn::StatefulGRU gru(2, 2);
  gru(Variable(numbers({1, 2})));
  BOOST_TEST(keys_of(gru).size() == 12u);
  nn::serializers::save_npz(folder / "gru.npz", gru);
  nn::StatefulGRU loaded(2, 2);
  nn::serializers::load_npz(folder / "gru.npz", loaded);
  BOOST_TEST(!loaded.h);
  loaded.set_state(gru.h);
  BOOST_CHECK_NO_THROW(
      assert_allclose(loaded(Variable(numbers({1, 2}))).data(), gru(Variable(numbers({1, 2}))).data(), 0, 0));
  nn::NStepBiGRU stacked(2, 3, 2, 0.5);
  const Paths keys = keys_of(stacked);
  BOOST_TEST(keys.size() == 48u);
  BOOST_TEST(keys[0] == "0/w0");
  BOOST_TEST(keys[1] == "0/b0");
  BOOST_TEST(keys[47] == "3/b5");
  // A link without an input size takes it from the file.
  nn::LSTM lazy(2);
  nn::serializers::save_npz(folder / "lstm.npz", copied);
  nn::serializers::load_npz(folder / "lstm.npz", lazy);
  BOOST_TEST(lazy.upward.W.shape() == Shape({8, 3}));
}

BOOST_AUTO_TEST_CASE(calls_through_the_base) {
  nn::LSTM lstm(3, 2);
  const Variable x(numbers({2, 3}));
  nn::Link& link = lstm;
  BOOST_TEST(link.call({x}).shape() == Shape({2, 2}));
  nn::GRU gru(2, 3);
  nn::Link& two = gru;
  BOOST_TEST(two.call({Variable(numbers({2, 2})), x}).shape() == Shape({2, 2}));
  nn::NStepLSTM several(1, 3, 2, 0.0);
  BOOST_CHECK_THROW(static_cast<nn::Link&>(several).call({x}), catena::TypeError);
  BOOST_CHECK_THROW(lstm(Variable(numbers({2, 4}))), catena::InvalidType);
}

// ---- peephole, zoneout, GRU ---------------------------------------------------------------------
BOOST_AUTO_TEST_CASE(a_peephole_without_weights_is_an_lstm) {
  autograd::seed(5);
  nn::StatefulPeepholeLSTM peephole(3, 2);
  nn::LSTM lstm(3, 2);
  for (nn::Linear* l : {&peephole.peep_i, &peephole.peep_f, &peephole.peep_o}) autograd::fill(l->W.data(), 0);
  lstm.upward.copyparams(peephole.upward);
  lstm.lateral.copyparams(peephole.lateral);
  for (int k = 0; k < 3; ++k) {
    const Variable x(numbers({2, 3}, k));
    BOOST_CHECK_NO_THROW(assert_allclose(peephole(x), lstm(x), 1e-6, 1e-6));
  }
  BOOST_CHECK_NO_THROW(assert_allclose(peephole.c, lstm.c, 1e-6, 1e-6));
  peephole.reset_state();
  BOOST_TEST((!peephole.c && !peephole.h));
}

BOOST_AUTO_TEST_CASE(zoneout_keeps_elements_of_the_states) {
  autograd::seed(6);
  nn::LSTM lstm(3, 50);
  const auto like = [&](double c_ratio, double h_ratio, std::optional<bool> train = {}) {
    nn::StatefulZoneoutLSTM link(3, 50, c_ratio, h_ratio, train);
    link.upward.copyparams(lstm.upward);
    link.lateral.copyparams(lstm.lateral);
    return link;
  };
  const Variable x(numbers({20, 3})), y(numbers({20, 3}, 1));
  nn::StatefulZoneoutLSTM none = like(0, 0), all = like(1, 1), half = like(0.25, 0.75), testing = like(0.9, 0.9, false);
  lstm(x);
  none(x);
  all(x);
  half(x);
  testing(x);
  BOOST_CHECK_NO_THROW(assert_allclose(none.c, lstm.c, 1e-6, 1e-6));
  BOOST_CHECK_NO_THROW(assert_allclose(none(y), lstm(y), 1e-6, 1e-6));
  BOOST_CHECK_NO_THROW(assert_allclose(testing(y), lstm.h, 1e-6, 1e-6));
  BOOST_CHECK_NO_THROW(assert_allclose(all(y).data(), autograd::arrays::zeros({20, 50}), 0, 0));
  // Every element of the states is the old one or the new one, in the proportions asked for.
  const std::vector<double> c = values(half.c.data()), h = values(half.h.data());
  nn::StatefulZoneoutLSTM follower = like(0, 0);
  follower.set_state(half.c, half.h);
  follower(y);
  half(y);
  const auto kept = [](const std::vector<double>& before, const Variable& next, const Variable& now) {
    const std::vector<double> moved = values(next.data()), is = values(now.data());
    double n = 0;
    for (std::size_t i = 0; i < is.size(); ++i) {
      BOOST_REQUIRE((is[i] == before[i] || std::fabs(is[i] - moved[i]) < 1e-6));
      n += is[i] == before[i];
    }
    return n / double(is.size());
  };
  BOOST_TEST(std::fabs(kept(c, follower.c, half.c) - 0.25) < 0.07);  // 5 deviations
  BOOST_TEST(std::fabs(kept(h, follower.h, half.h) - 0.75) < 0.07);
  const auto mode = autograd::train_mode(false);
  nn::StatefulZoneoutLSTM by_mode = like(0.9, 0.9);
  lstm.reset_state();
  BOOST_CHECK_NO_THROW(assert_allclose(by_mode(x), lstm(x), 1e-6, 1e-6));
}

// The reference's numbers for weights of 1 and one unit.
BOOST_AUTO_TEST_CASE(stateful_gru_of_ones) {
  nn::StatefulGRU gru(1, 1, {.init = 1.0, .inner_init = 1.0});
  const Variable one(autograd::arrays::ones({1, 1}));
  BOOST_TEST(std::fabs(double(gru(one)) - 0.556770) < 1e-6);
  BOOST_TEST(std::fabs(double(gru(one)) - 0.838274) < 1e-6);
  gru.reset_state();
  BOOST_TEST(std::fabs(double(gru(one)) - 0.556770) < 1e-6);
  // From a state of zeros it is the stateless one, whose biases count there.
  nn::StatefulGRU biased(2, 3, {.bias_init = 0.5});
  nn::GRU stateless(3, 2, {.bias_init = 0.5});
  stateless.copyparams(biased);
  const Variable x(numbers({4, 2})), zero(autograd::arrays::zeros({4, 3}));
  biased.set_state(zero);
  BOOST_CHECK_NO_THROW(assert_allclose(biased(x), stateless(zero, x), 1e-6, 1e-6));
  BOOST_TEST(paths(stateless) == (Paths{"/W_r/W", "/W_r/b", "/U_r/W", "/U_r/b", "/W_z/W", "/W_z/b", "/U_z/W", "/U_z/b",
                                        "/W/W", "/W/b", "/U/W", "/U/b"}),
             boost::test_tools::per_element());
  BOOST_TEST(nn::GRU(4).W.W.shape() == Shape({4, 4}));  // as many inputs as units
}

// ---- NStep --------------------------------------------------------------------------------------
namespace {

template <class L> struct Outputs {
  static constexpr bool cells = requires(L l, Variables v) { l(v[0], v[1], v); };
  // hy, cy if there is one, ys.
  static Variables of(L& link, const Variable& hx, const Variable& cx, const Variables& xs) {
    Variables out;
    if constexpr (cells) {
      const auto [hy, cy, ys] = link(hx, cx, xs);
      out = {hy, cy};
      for (const Variable& y : ys) out.push_back(y);
    } else {
      const auto [hy, ys] = link(hx, xs);
      out = {hy};
      for (const Variable& y : ys) out.push_back(y);
    }
    return out;
  }
};

// Sequences in any order are what each is alone.
template <class L> void check_alone(int directions) {
  BOOST_TEST_CONTEXT(typeid(L).name()) {
    L link(2, 3, 2, 0.0);
    constexpr std::size_t first = Outputs<L>::cells ? 2 : 1;
    const Variables xs{Variable(numbers({2, 3})), Variable(numbers({4, 3}, 1)), Variable(numbers({1, 3}, 2)),
                       Variable(numbers({4, 3}, 3))};
    const std::int64_t states = 2 * directions;
    const Variable hx(numbers({states, 4, 2}, 4)), cx(numbers({states, 4, 2}, 5));
    for (const bool given : {true, false}) {
      const Variables all = Outputs<L>::of(link, given ? hx : Variable(), given ? cx : Variable(), xs);
      BOOST_TEST(all[0].shape() == Shape({states, 4, 2}));
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto own = [&](const Variable& v) { return get_item(v, {Slice(), Slice(i, i + 1)}); };
        const Variables one =
            Outputs<L>::of(link, given ? own(hx) : Variable(), given ? own(cx) : Variable(), {xs[std::size_t(i)]});
        BOOST_TEST(all[first + std::size_t(i)].shape() == Shape({xs[std::size_t(i)].shape(0), 2 * directions}));
        BOOST_CHECK_NO_THROW(assert_allclose(all[first + std::size_t(i)], one[first], 1e-6, 1e-5));
        for (std::size_t k = 0; k < first; ++k) BOOST_CHECK_NO_THROW(assert_allclose(own(all[k]), one[k], 1e-6, 1e-5));
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(sequences_of_any_order_and_length) {
  autograd::seed(7);
  check_alone<nn::NStepLSTM>(1);
  check_alone<nn::NStepBiLSTM>(2);
  check_alone<nn::NStepGRU>(1);
  check_alone<nn::NStepBiGRU>(2);
  check_alone<nn::NStepRNNTanh>(1);
  check_alone<nn::NStepBiRNNTanh>(2);
  check_alone<nn::NStepRNNReLU>(1);
  check_alone<nn::NStepBiRNNReLU>(2);
}

// Absent states are zeros, also if they are written as Chainer's None.
BOOST_AUTO_TEST_CASE(states_that_are_none) {
  nn::NStepLSTM lstm(1, 2, 3, 0.0);
  nn::NStepGRU gru(1, 2, 3, 0.0);
  const Variables xs{Variable(autograd::arrays::ones({2, 2})), Variable(autograd::arrays::ones({4, 2}))};
  const auto [hy, cy, ys] = lstm(std::nullopt, std::nullopt, xs);
  BOOST_TEST(values(hy.data()) == values(lstm({}, {}, xs).hy.data()), boost::test_tools::per_element());
  BOOST_TEST(values(cy.data()) == values(lstm({}, Variable(autograd::arrays::zeros({1, 2, 3})), xs).cy.data()),
             boost::test_tools::per_element());
  BOOST_TEST(values(gru(std::nullopt, xs).hy.data()) == values(gru({}, xs).hy.data()),
             boost::test_tools::per_element());
}

// 0/4 input gate, 1/5 forget gate, 2/6 candidate, 3/7 output gate: biases alone decide.
BOOST_AUTO_TEST_CASE(gates_by_number) {
  const auto with_biases = [](double input, double forget, double candidate, double output) {
    nn::NStepLSTM link(1, 1, 1, 0.0);
    for (const nn::NamedParam& p : link.namedparams()) autograd::fill(p.param.data(), 0);
    const double values[] = {input, forget, candidate, output};
    for (int side = 0; side < 2; ++side)
      for (int g = 0; g < 4; ++g)
        autograd::fill(link[0].param("b" + std::to_string(4 * side + g)).data(), values[g] / 2);
    const Variable state(autograd::arrays::full({1, 1, 1}, 0.5));
    const auto [hy, cy, ys] = link(state, state, {Variable(autograd::arrays::ones({1, 1}))});
    return std::pair(double(cy), double(hy));
  };
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (const auto& [i, f, a, o] : std::initializer_list<std::array<double, 4>>{
           {1, 0, 0.5, 0}, {0, 2, 0, 0}, {0.3, -1, 1, 0}, {0.1, 0.2, 0.3, 1.4}}) {
    const auto [c, h] = with_biases(i, f, a, o);
    const double expected = 0.5 * logistic(f) + logistic(i) * std::tanh(a);
    BOOST_TEST(std::fabs(c - expected) < 1e-6);
    BOOST_TEST(std::fabs(h - logistic(o) * std::tanh(expected)) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(parameters_and_errors_of_n_step_links) {
  autograd::seed(8);
  nn::NStepBiLSTM link(2, 300, 100, 0.5);
  BOOST_TEST(link.size() == 4u);
  BOOST_TEST(link[0].param("w0").shape() == Shape({100, 300}));
  BOOST_TEST(link[1].param("w4").shape() == Shape({100, 100}));
  BOOST_TEST(link[2].param("w3").shape() == Shape({100, 200}));
  BOOST_TEST(link[3].param("b7").shape() == Shape({100}));
  const auto deviation = [&](std::int64_t child, const char* name) {
    double squares = 0;
    const std::vector<double> v = values(link[child].param(name).data());
    for (const double w : v) squares += w * w;
    return std::sqrt(squares / double(v.size()));
  };
  BOOST_TEST(std::fabs(deviation(0, "w1") * std::sqrt(300.) - 1) < 0.03);
  BOOST_TEST(std::fabs(deviation(1, "w5") * std::sqrt(100.) - 1) < 0.04);
  BOOST_TEST(std::fabs(deviation(3, "w2") * std::sqrt(200.) - 1) < 0.03);
  BOOST_TEST(deviation(0, "b1") == 0);
  BOOST_TEST(!link[0].param("w0").grad());

  nn::NStepGRU gru(2, 3, 2, 0.5);
  const Variables xs{Variable(numbers({2, 3})), Variable(numbers({1, 3}, 1))};
  // Dropout by the argument, else by the mode.
  const auto ys = [&](std::optional<bool> train) { return values(gru({}, xs, train).ys[0].data()); };
  BOOST_TEST(ys(false) == ys(false), boost::test_tools::per_element());
  bool differs = false;
  for (int k = 0; k < 5; ++k) differs |= ys({}) != ys(false);
  BOOST_TEST(differs);
  {
    const auto mode = autograd::train_mode(false);
    BOOST_TEST(ys({}) == ys(false), boost::test_tools::per_element());
  }
  BOOST_TEST(message_of<catena::ValueError>([&] { gru({}, {}); }) == "NStep: there are no sequences");
  BOOST_TEST(message_of<catena::ValueError>([&] {
               gru({}, {xs[0], Variable(numbers({0, 3}))});
             }) == "NStep: sequence 1 of 2 has no elements");
  BOOST_CHECK_THROW(gru({}, {Variable(numbers({2, 4}))}), catena::InvalidType);
  BOOST_CHECK_THROW(gru(Variable(numbers({2, 3, 2})), xs), catena::InvalidType);
  // A copy has weights of its own.
  nn::NStepGRU copied(gru);
  autograd::fill(copied[0].param("w0").data(), 0);
  BOOST_TEST(values(gru[0].param("w0").data())[0] != 0);
}

BOOST_AUTO_TEST_SUITE_END()
