// Losses with the gradient with respect to the scores.
#include <algorithm>

#include <catena/benchmarks/cases.h>

namespace bench {
namespace {

using autograd::Variable;

// A call computes f(x) and its gradient; the compared result is the loss and the gradient for the first scores.
template <class Make, class F> Ready with_gradient(const Parameters& p, Make make, F f) {
  const auto pass = [f](Variable x) {
    x.cleargrad();
    Variable loss = f(x);
    loss.backward();
    return loss;
  };
  Ready timed = rotating(p, make, [pass](const Variable& x) { return nd::Array(pass(x).data()); });
  timed.result = [pass, first = Variable(make(0))] {
    const Variable loss = pass(first);
    return joined({loss.data(), first.grad()});
  };
  return timed;
}

// One class per row.
Ready softmax_cross_entropy(const Parameters& p) {
  const auto scores = [p](std::int64_t seed) {
    return Variable(autograd::Array(input(p, {p.at("rows"), p.at("columns")}, seed, -3, 3)));
  };
  return with_gradient(p, scores, [t = labels(p.at("rows"), 2000, p.at("columns"))](const Variable& x) {
    return nn::softmax_cross_entropy(x, t);
  });
}

// Returns lengths between half of `full` and `full`.
nd::Array lengths(const Parameters& p, std::int64_t full, std::int64_t seed) {
  return full - labels(p.at("batch"), seed, full / 2 + 1);
}

// Class 0 is the blank. Sequences and their labels have full length, or all kinds of lengths if p["varied"].
Ready ctc(const Parameters& p) {
  const std::int64_t times = p.at("times"), batch = p.at("batch"), classes = p.at("classes"), length = p.at("labels");
  const auto scores = [=](std::int64_t seed) {
    return Variable(autograd::Array(uniform({times, batch, classes}, seed, -3, 3)));
  };
  nn::CTCOptions options;
  if (p.at("varied")) {
    options.input_length = lengths(p, times, 2001);
    options.label_length = lengths(p, length, 2002);
  }
  const nd::Array t = (labels(batch * length, 2000, classes - 1) + 1).reshape({batch, length});
  return with_gradient(p, scores,
                       [=](const Variable& x) { return nn::connectionist_temporal_classification(x, t, 0, options); });
}

Parameters scores(Draw& draw) { return draw.matrix("fd"); }
// Labels that fit into half of the times, including equal neighbours.
Parameters utterances(Draw& draw) {
  const std::int64_t times = draw.length(8, 500), batch = draw.log_uniform(1, 64);
  const std::int64_t most = std::max<std::int64_t>(2, draw.at_most(20000000) / (times * batch));
  return {{"times", times},
          {"batch", batch},
          {"classes", draw.length(2, std::min<std::int64_t>(most, 5000))},
          {"labels", draw.length(1, times / 4)},
          {"varied", draw.one_of({0, 1})},
          {"sets", 1}};
}

const Cases cases{
    {"loss/softmax_cross_entropy",
     {{"rows", 4096}, {"columns", 32000}, {"sets", 1}},
     {{"rows", 6}, {"columns", 10}, {"sets", 2}},
     softmax_cross_entropy,
     scores},
    {"loss/ctc",
     {{"times", 200}, {"batch", 32}, {"classes", 80}, {"labels", 40}, {"varied", 0}, {"sets", 4}},
     {{"times", 9}, {"batch", 2}, {"classes", 5}, {"labels", 2}, {"varied", 1}, {"sets", 2}},
     ctc,
     utterances},
};

}  // namespace
}  // namespace bench
