// Connectionist temporal classification and linear-chain CRFs, against sums over all alignments and label sequences.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include <catena/autograd/testing.h>
#include <catena/nn/functions/loss.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/framework_devices.h>

using namespace autograd;
using test::spread;

namespace {

using Doubles = std::vector<double>;
using Labels = std::vector<std::int32_t>;

Array labels(const Labels& t, const Shape& shape) { return array(t, shape); }

// Calls f(sequence) for all sequences of `length` numbers below `classes`.
template <class F> void for_each_sequence(int length, int classes, F&& f) {
  Labels s(std::size_t(length), 0);
  for (;;) {
    f(s);
    std::size_t k = 0;
    while (k < s.size() && ++s[k] == classes) s[k++] = 0;
    if (k == s.size()) return;
  }
}

// ---- CTC ----
struct Batch {
  int times, batch, classes, blank;
  std::vector<Labels> labels;  // of each sequence, without padding
  Labels lengths;              // of the scores
};

// -log of the sum over all alignments that collapse to the labels.
Doubles by_enumeration(const std::vector<Array>& xs, const Batch& b) {
  std::vector<Doubles> y;
  for (const Array& x : xs) {
    Doubles v = to_vector<double>(x);
    for (int n = 0; n < b.batch; ++n) {
      double total = 0;
      for (int k = 0; k < b.classes; ++k) total += std::exp(v[std::size_t(n * b.classes + k)]);
      for (int k = 0; k < b.classes; ++k) v[std::size_t(n * b.classes + k)] -= std::log(total);
    }
    y.push_back(v);
  }
  Doubles losses;
  for (int n = 0; n < b.batch; ++n) {
    double probability = 0;
    for_each_sequence(b.lengths[std::size_t(n)], b.classes, [&](const Labels& path) {
      Labels collapsed;
      double log_p = 0;
      for (std::size_t t = 0; t < path.size(); ++t) {
        log_p += y[t][std::size_t(n * b.classes + path[t])];
        if (path[t] != b.blank && (t == 0 || path[t] != path[t - 1])) collapsed.push_back(path[t]);
      }
      if (collapsed == b.labels[std::size_t(n)]) probability += std::exp(log_p);
    });
    losses.push_back(-std::log(probability));
  }
  return losses;
}

Array padded(const Batch& b, std::int32_t filler) {
  std::size_t longest = 0;
  for (const Labels& l : b.labels) longest = std::max(longest, l.size());
  Labels all;
  for (const Labels& l : b.labels) {
    all.insert(all.end(), l.begin(), l.end());
    all.insert(all.end(), longest - l.size(), filler);
  }
  return labels(all, {b.batch, std::int64_t(longest)});
}

// ---- CRF ----
struct Chains {
  Array cost;
  std::vector<Array> xs;
  std::vector<Labels> ys;
};

Chains chains(const Labels& batches, int classes) {
  Chains c{spread({classes, classes}, -1, 1, 2), {}, {}};
  int seed = 4;
  for (const std::int32_t n : batches) {
    c.xs.push_back(spread({n, classes}, -1, 1, seed));
    Labels y;
    for (int k = 0; k < n; ++k) y.push_back((seed * 7 + k * 5) % classes);
    c.ys.push_back(y);
    ++seed;
  }
  return c;
}

std::size_t length_of(const Chains& c, std::int64_t n) {
  std::size_t length = 0;
  while (length < c.xs.size() && c.xs[length].shape(0) > n) ++length;
  return length;
}

double score_of(const Chains& c, std::int64_t n, const Labels& path) {
  const std::int64_t k = c.cost.shape(0);
  const Doubles cost = to_vector<double>(c.cost);
  double score = 0;
  for (std::size_t t = 0; t < path.size(); ++t) {
    score += to_vector<double>(c.xs[t])[std::size_t(n * k + path[t])];
    if (t > 0) score += cost[std::size_t(path[t - 1] * k + path[t])];
  }
  return score;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sequence_losses)

BOOST_AUTO_TEST_CASE(ctc_sums_over_all_alignments) {
  const Batch batches[] = {
      {4, 2, 3, 2, {{0, 1}, {1, 0}}, {4, 4}},      // full lengths
      {4, 3, 3, 0, {{1, 2}, {2}, {}}, {4, 3, 2}},  // padding of both, blank 0, no labels at all
      {5, 2, 3, 1, {{0, 0}, {2, 2, 0}}, {4, 5}},   // repeated labels
      {1, 1, 2, 1, {{0}}, {1}},                    // one time
      {3, 2, 3, 2, {{0}, {1}}, {1, 3}},
  };
  for (const Batch& b : batches) {
    std::vector<Array> xs;
    for (int t = 0; t < b.times; ++t) xs.push_back(spread({b.batch, b.classes}, -1.5, 1.5, t + 1));
    const Doubles expected = by_enumeration(xs, b);
    Labels sizes;
    for (const Labels& l : b.labels) sizes.push_back(std::int32_t(l.size()));
    double total = 0;
    for (const double l : expected) total += l;
    // Whatever stands behind a sequence's labels is not read: not even as an index.
    for (const std::int32_t filler : {b.blank, -7})
      for (const char* reduce : {"no", "mean", "sum"}) BOOST_TEST_CONTEXT(b.times << " times, " << reduce) {
          const std::string text = reduce;
          const auto f = [&](const Variables& v) {
            Variables scores;
            for (int t = 0; t < b.times; ++t) scores.push_back(v[std::size_t(t)]);
            return Variables{nn::connectionist_temporal_classification(scores, v.back(), b.blank,
                                                                       {.input_length = labels(b.lengths, {b.batch}),
                                                                        .label_length = labels(sizes, {b.batch}),
                                                                        .reduce = text})};
          };
          Arrays inputs;
          Variables variables;
          for (const Array& x : xs) inputs.push_back(x);
          inputs.push_back(padded(b, filler));
          for (const Array& a : inputs) variables.push_back(Variable(a));
          const Array wanted = text == "no"    ? array(expected, {b.batch})
                               : text == "sum" ? array(Doubles{total}, {})
                                               : array(Doubles{total / b.batch}, {});
          BOOST_CHECK_NO_THROW(testing::assert_allclose(f(variables)[0].data(), wanted, 1e-9, 1e-9));
          test::check_derivatives("ctc", f, inputs, {.atol32 = 1e-4, .atol16 = 2e-3, .rtol16 = 2e-2});
        }
  }
}

// The scores of all times may be one variable (T, B, V).
BOOST_AUTO_TEST_CASE(ctc_of_one_array) {
  const Array scores = spread({4, 2, 3}, -1, 1);
  const Variable t(labels({0, 1, 1, 0}, {2, 2}));
  Variable whole(scores), parts(scores);
  Variables xs;
  for (int k = 0; k < 4; ++k) xs.push_back(get_item(parts, {k}));
  for (const bool varied : {false, true}) {
    nn::CTCOptions o;
    if (varied) o.input_length = labels({3, 4}, {2});
    Variable a = nn::connectionist_temporal_classification(whole, t, 2, o),
             b = nn::connectionist_temporal_classification(xs, t, 2, o);
    BOOST_TEST((to_vector<double>(a.data()) == to_vector<double>(b.data())));
    whole.cleargrad(), parts.cleargrad();
    a.backward(), b.backward();
    BOOST_TEST((to_vector<double>(whole.grad()) == to_vector<double>(parts.grad())));
  }
  BOOST_CHECK_THROW(nn::connectionist_temporal_classification(whole, Variable(labels({0, 1}, {1, 2})), 2),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::connectionist_temporal_classification(Variable(spread({0, 2, 3})), t, 2), catena::ValueError);
  // In the second sequence, and behind the end of one.
  const Variable wrong(labels({0, 1, 1, 3}, {2, 2}));
  if (test::default_device().kind == Device::Kind::cpu)
    BOOST_CHECK_THROW(nn::connectionist_temporal_classification(whole, wrong, 2), catena::IndexError);
  else std::cout << "not run: labels are checked on the CPU only\n";
  const nn::CTCOptions one_of_it{.label_length = labels({2, 1}, {2})};
  BOOST_CHECK_NO_THROW(nn::connectionist_temporal_classification(whole, wrong, 2, one_of_it));
}

// The lengths are of any integer dtype and each has its own default.
BOOST_AUTO_TEST_CASE(ctc_lengths) {
  Variables xs;
  for (int t = 0; t < 4; ++t) xs.push_back(Variable(spread({2, 3}, -1, 1, t)));
  const Variable t(labels({0, 1, 1, 0}, {2, 2}));
  const auto loss = [&](const nn::CTCOptions& o) {
    return to_vector<double>(
        nn::connectionist_temporal_classification(xs, t, 2, {o.input_length, o.label_length, "no"}).data());
  };
  const Array full = labels({4, 4}, {2}), whole = labels({2, 2}, {2});
  BOOST_TEST((loss({}) == loss({.input_length = full, .label_length = whole})));
  BOOST_TEST((loss({.input_length = full}) == loss({.label_length = astype(whole, Dtype::int64)})));
  BOOST_TEST((loss({.input_length = labels({3, 4}, {2})}) != loss({})));
  BOOST_TEST(
      (to_vector<double>(nn::connectionist_temporal_classification(xs, t, 2, full, whole, "no").data()) == loss({})));
}

BOOST_AUTO_TEST_CASE(ctc_without_an_alignment) {
  Variables xs{Variable(spread({2, 3})), Variable(spread({2, 3}, -1, 1, 1))};
  const Variable t(labels({0, 0, 0, 1}, {2, 2}));  // 0, 0 takes three times
  Variable loss = nn::connectionist_temporal_classification(xs, t, 2, {.reduce = "no"});
  const Doubles losses = to_vector<double>(loss.data());
  BOOST_TEST(losses[0] > 9e9);
  BOOST_TEST(losses[0] < 1.1e10);
  BOOST_TEST(losses[1] < 10);
  loss.set_grad(arrays::ones({2}, Dtype::float64));
  loss.backward();
  for (const Variable& x : xs) {  // the first sequence is in no state at any time
    const Doubles y = to_vector<double>(nn::softmax(x).data()), g = to_vector<double>(x.grad());
    for (std::size_t k = 0; k < 3; ++k) BOOST_TEST(std::abs(g[k] - y[k]) <= 1e-12);
  }
  xs = {Variable(spread({2, 3})), Variable(spread({2, 3}, -1, 1, 1))};
  loss = nn::connectionist_temporal_classification(xs, t, 2, {.reduce = "no", .zero_infinity = true});
  BOOST_TEST(to_vector<double>(loss.data())[0] == 0);
  BOOST_TEST(to_vector<double>(loss.data())[1] == losses[1]);
  loss.set_grad(arrays::ones({2}, Dtype::float64));
  loss.backward();
  const Doubles g = to_vector<double>(xs[1].grad());
  BOOST_TEST((g[0] == 0 && g[1] == 0 && g[2] == 0));
  BOOST_TEST((g[3] != 0 && g[4] != 0));
}

BOOST_AUTO_TEST_CASE(ctc_errors) {
  const Variables xs{Variable(arrays::ones({2, 3})), Variable(arrays::ones({2, 3}))};
  const Variable t(labels({0, 1}, {2, 1}));
  const auto run = [&](const Variables& x, const Variable& given, int blank, const nn::CTCOptions& o = {}) {
    nn::connectionist_temporal_classification(x, given, blank, o);
  };
  BOOST_CHECK_THROW(run({}, t, 2), catena::ValueError);
  BOOST_CHECK_THROW(run(xs, Variable(arrays::ones({2, 1})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(run(xs, Variable(labels({0, 1, 1}, {3, 1})), 2), catena::InvalidType);
  BOOST_CHECK_THROW(run({xs[0], Variable(arrays::ones({2, 4}))}, t, 2), catena::InvalidType);
  BOOST_CHECK_THROW(run({Variable(arrays::ones({3}))}, t, 2), catena::InvalidType);
  BOOST_CHECK_THROW(run(xs, t, 2, {.input_length = labels({2}, {1})}), catena::InvalidType);
  BOOST_CHECK_THROW(run(xs, t, 2, {.label_length = arrays::ones({2})}), catena::InvalidType);
  BOOST_CHECK_THROW(run(xs, t, 2, {.reduce = "average"}), catena::ValueError);
  for (const int blank : {-1, 3})
    BOOST_CHECK_EXCEPTION(run(xs, t, blank), catena::AssertionError, [&](const catena::Error& e) {
      return e.what() == catena::concat("connectionist_temporal_classification: blank_symbol is ", blank,
                                        ", which is none of 3 classes");
    });
  const DebugMode debug(true);
  BOOST_CHECK_THROW(run(xs, t, 2, {.input_length = labels({2, 3}, {2})}), catena::AssertionError);
  BOOST_CHECK_THROW(run(xs, t, 2, {.label_length = labels({2, 1}, {2})}), catena::AssertionError);
}

BOOST_AUTO_TEST_CASE(crf_sums_over_all_label_sequences) {
  for (const Labels& batches : {Labels{3, 2, 1}, Labels{3, 1, 1}, Labels{1, 1}, Labels{2}, Labels{2, 2, 2}}) {
    const Chains c = chains(batches, 3);
    Doubles expected, best;
    std::vector<Labels> best_path;
    for (std::int64_t n = 0; n < batches[0]; ++n) {
      const std::size_t length = length_of(c, n);
      Labels own;
      for (std::size_t t = 0; t < length; ++t) own.push_back(c.ys[t][std::size_t(n)]);
      double total = 0;
      best.push_back(-INFINITY);
      best_path.emplace_back();
      for_each_sequence(int(length), 3, [&](const Labels& path) {
        const double score = score_of(c, n, path);
        total += std::exp(score);
        if (score > best.back()) best.back() = score, best_path.back() = path;
      });
      expected.push_back(std::log(total) - score_of(c, n, own));
    }
    double mean = 0;
    for (const double l : expected) mean += l / double(batches[0]);
    for (const bool averaged : {false, true}) {
      const auto f = [&](const Variables& v) {
        Variables xs, ys;
        for (std::size_t t = 0; t < batches.size(); ++t)
          xs.push_back(v[1 + t]), ys.push_back(v[1 + batches.size() + t]);
        return Variables{nn::crf1d(v[0], xs, ys, averaged ? "mean" : "no")};
      };
      Arrays inputs{c.cost};
      for (const Array& x : c.xs) inputs.push_back(x);
      for (const Labels& y : c.ys) inputs.push_back(labels(y, {std::int64_t(y.size())}));
      Variables variables;
      for (const Array& a : inputs) variables.push_back(Variable(a));
      BOOST_CHECK_NO_THROW(testing::assert_allclose(
          f(variables)[0].data(), averaged ? array(Doubles{mean}, {}) : array(expected, {batches[0]}), 1e-12, 1e-12));
      // Of one time only, cost takes no part and has no gradient.
      if (batches.size() > 1) test::check_derivatives("crf1d", f, inputs, {.atol16 = 2e-3, .rtol16 = 2e-2});
    }
    Variables xs;
    for (const Array& x : c.xs) xs.push_back(Variable(x));
    const auto [score, path] = nn::argmax_crf1d(Variable(c.cost), xs);
    BOOST_CHECK_NO_THROW(testing::assert_allclose(score.data(), array(best, {batches[0]}), 1e-12, 1e-12));
    BOOST_REQUIRE_EQUAL(path.size(), batches.size());
    for (std::size_t t = 0; t < path.size(); ++t) {
      BOOST_CHECK(path[t].dtype() == Dtype::int32);
      const std::vector<std::int32_t> found = to_vector<std::int32_t>(path[t]);
      BOOST_REQUIRE_EQUAL(std::int64_t(found.size()), batches[t]);
      for (std::size_t n = 0; n < found.size(); ++n) BOOST_TEST(found[n] == best_path[n][t]);
    }
  }
}

BOOST_AUTO_TEST_CASE(crf_of_one_time_leaves_the_transitions_alone) {
  Variable cost(spread({3, 3})), x(spread({2, 3}));
  Variable loss = nn::crf1d(cost, {x}, {Variable(labels({0, 2}, {2}))});
  loss.backward();
  BOOST_TEST(!cost.grad());
  BOOST_TEST(bool(x.grad()));
}

BOOST_AUTO_TEST_CASE(viterbi_takes_the_lowest_of_equal_labels) {
  const auto [score, path] = nn::argmax_crf1d(Variable(arrays::zeros({3, 3})),
                                              {Variable(arrays::zeros({2, 3})), Variable(arrays::zeros({1, 3}))});
  BOOST_TEST((to_vector<int>(path[0]) == std::vector<int>{0, 0}));
  BOOST_TEST((to_vector<int>(path[1]) == std::vector<int>{0}));
  BOOST_TEST((to_vector<double>(score.data()) == Doubles{0, 0}));
}

BOOST_AUTO_TEST_CASE(crf_errors) {
  const Variable cost(arrays::ones({3, 3})), x(arrays::ones({2, 3})), y(labels({0, 1}, {2}));
  BOOST_CHECK_THROW(nn::crf1d(cost, {}, {}), catena::ValueError);
  BOOST_CHECK_THROW(nn::crf1d(cost, {x}, {}), catena::ValueError);
  BOOST_CHECK_THROW(nn::crf1d(cost, {x}, {y}, "average"), catena::ValueError);
  BOOST_CHECK_THROW(nn::crf1d(cost, {x}, {Variable(arrays::ones({2}))}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::crf1d(cost, {x}, {Variable(labels({0}, {1}))}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::crf1d(cost, {Variable(arrays::ones({1, 3})), x}, {Variable(labels({0}, {1})), y}),
                    catena::InvalidType);
  BOOST_CHECK_THROW(nn::crf1d(Variable(arrays::ones({3, 2})), {x}, {y}), catena::InvalidType);
  BOOST_CHECK_THROW(nn::crf1d(Variable(arrays::ones({4, 4})), {x}, {y}), catena::AssertionError);
  BOOST_CHECK_EXCEPTION(
      nn::argmax_crf1d(Variable(arrays::ones({4, 4})), {x}), catena::AssertionError, [](const catena::Error& e) {
        return e.what() == std::string("argmax_crf1d: the scores are those of 3 labels, cost is that of 4");
      });
  if (test::default_device().kind == Device::Kind::cpu)
    BOOST_CHECK_THROW(nn::crf1d(cost, {x}, {Variable(labels({0, 3}, {2}))}), catena::IndexError);
}

BOOST_AUTO_TEST_SUITE_END()
