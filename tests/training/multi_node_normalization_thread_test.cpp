// Batch normalization over all ranks, against one process with the joined batch and against finite differences; running
// averages; models that are converted.
#include <catena/training/multi_node/batch_normalization.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/rank_threads.h>
#include <catena/tests/support/replicas.h>
#include <catena/training/multi_node/persistent.h>

using namespace test;
using namespace training;

namespace {

using Numbers = std::vector<double>;

Array part(const Array& x, const std::vector<std::int64_t>& sizes, int rank) {
  const std::int64_t begin = std::accumulate(sizes.begin(), sizes.begin() + rank, std::int64_t(0));
  return autograd::copy(autograd::slice(x, 0, begin, begin + sizes[std::size_t(rank)]));
}

struct Result {
  Numbers y, gx, ggamma, gbeta, mean, var;
  Numbers all() const {
    Numbers n;
    for (const Numbers* part : {&y, &gx, &ggamma, &gbeta, &mean, &var}) n.insert(n.end(), part->begin(), part->end());
    return n;
  }
};
// sum(w y^3) and its gradients.
using Function =
    std::function<Variable(const Variable&, const Variable&, const Variable&, const nn::BatchNormalizationOptions&)>;
Result run(const Function& f, const Array& x0, const Array& w, const autograd::Shape& size, catena::Axes axis,
           Dtype of_params) {
  const Variable x(x0), gamma(autograd::astype(spread(size, 0.5, 2, 3), of_params)),
      beta(autograd::astype(spread(size, -1, 1, 4), of_params));
  const Array mean = autograd::astype(spread(size, -1, 1, 5), of_params),
              var = autograd::astype(spread(size, 0.5, 2, 6), of_params);
  const Variable y = f(x, gamma, beta, {.eps = 1e-3, .running_mean = mean, .running_var = var, .axis = axis});
  autograd::sum(y * y * y * Variable(w)).backward();
  return {values(y.data()), values(x.grad()), values(gamma.grad()), values(beta.grad()), values(mean), values(var)};
}

void check_near(const Numbers& actual, const Numbers& expected, double bound, const char* what) {
  BOOST_REQUIRE_MESSAGE(actual.size() == expected.size(), what);
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_TEST(std::abs(actual[i] - expected[i]) <= bound * (1 + std::abs(expected[i])),
               what << " " << i << " is " << actual[i] << ", not " << expected[i]);
}

void add_to(Numbers& sum, const Numbers& v) {
  if (sum.empty()) sum.assign(v.size(), 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) sum[i] += v[i];
}

// The ranks' parts of the batch, against nn::batch_normalization of the whole of it.
void compare(const Array& x, const std::vector<std::int64_t>& sizes, const autograd::Shape& size, catena::Axes axis,
             double bound, Dtype of_params) {
  const Array w = autograd::astype(spread(x.shape(), 0.5, 1.5, 9), x.dtype());
  const Result whole = run(
      [](const Variable& v, const Variable& gamma, const Variable& beta, const nn::BatchNormalizationOptions& o) {
        return nn::internal::moving_batch_normalization(v, gamma, beta, o);
      },
      x, w, size, axis, of_params);
  const auto ranks = by_rank(int(sizes.size()), [&](const Comm& comm) {
    return run(
        [&](const Variable& v, const Variable& gamma, const Variable& beta, const nn::BatchNormalizationOptions& o) {
          return multi_node_batch_normalization(v, gamma, beta, comm, o);
        },
        part(x, sizes, comm->rank()), part(w, sizes, comm->rank()), size, axis, of_params);
  });
  Result joined;
  for (const Result& r : ranks) {
    joined.y.insert(joined.y.end(), r.y.begin(), r.y.end());
    joined.gx.insert(joined.gx.end(), r.gx.begin(), r.gx.end());
    add_to(joined.ggamma, r.ggamma);
    add_to(joined.gbeta, r.gbeta);
    BOOST_TEST((r.mean == ranks[0].mean && r.var == ranks[0].var), "running averages differ between ranks");
  }
  check_near(joined.y, whole.y, bound, "y");
  check_near(joined.gx, whole.gx, bound, "the gradient of x");
  check_near(joined.ggamma, whole.ggamma, bound, "the gradient of gamma");
  check_near(joined.gbeta, whole.gbeta, bound, "the gradient of beta");
  check_near(ranks[0].mean, whole.mean, bound, "the running mean");
  check_near(ranks[0].var, whole.var, bound, "the running variance");
}

Array examples(const autograd::Shape& shape, Dtype dtype, double offset = 0) {
  autograd::Generator fixed{5, 0};
  return autograd::astype(autograd::random_normal(shape, offset, 2, Dtype::float64, fixed, kCpu), dtype);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_normalization, *boost::unit_test::fixture<OnHost>())

BOOST_AUTO_TEST_CASE(the_joined_batch_of_one_process) {
  const std::vector<std::vector<std::int64_t>> all_sizes = {{6}, {3, 3}, {5, 1}, {2, 0, 4}, {2, 1, 2, 1}};
  for (const auto& sizes : all_sizes) BOOST_TEST_CONTEXT(sizes.size() << " ranks, the first with " << sizes[0]) {
      compare(examples({6, 3}, Dtype::float64), sizes, {3}, {}, 1e-11, Dtype::float64);
      compare(examples({6, 3, 2, 2}, Dtype::float64), sizes, {3}, {}, 1e-11, Dtype::float64);
      compare(examples({6, 3, 2}, Dtype::float64), sizes, {3, 2}, {}, 1e-11, Dtype::float64);
      compare(examples({6, 2, 3}, Dtype::float64), sizes, {3}, {0, 1}, 1e-11, Dtype::float64);
      compare(examples({6, 3, 5}, Dtype::float32), sizes, {3}, {}, 2e-5, Dtype::float32);
      compare(examples({6, 3, 5}, Dtype::float16), sizes, {3}, {}, 2e-2, Dtype::float16);
      compare(examples({6, 3, 5}, Dtype::bfloat16), sizes, {3}, {}, 1e-1, Dtype::float32);
    }
}

// The variance of numbers that are 10^4 times as large as their deviation, in float64 from the same float32 numbers.
BOOST_AUTO_TEST_CASE(a_mean_that_is_large) {
  const Array x = examples({64, 1}, Dtype::float32, 2e4);
  const Numbers v = values(x);
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / 64;
  double var = 0;
  for (const double one : v) var += (one - mean) * (one - mean) / 64;
  const auto ranks = by_rank(3, [&](const Comm& comm) {
    const Array m = floats({0}, {1}), s = floats({0}, {1});
    multi_node_batch_normalization(part(x, {30, 20, 14}, comm->rank()), floats({1}, {1}), floats({0}, {1}), comm,
                                   {.running_mean = m, .running_var = s, .decay = 0});
    return Numbers{values(m)[0], values(s)[0]};
  });
  for (const Numbers& r : ranks) {
    BOOST_TEST(std::abs(r[0] - mean) <= 1e-7 * mean);
    BOOST_TEST(std::abs(r[1] - var * 64 / 63) <= 1e-5 * var);
  }
}

// The sum of the losses of all ranks as a function of the x, gamma and beta of each, and its gradient's.
BOOST_AUTO_TEST_CASE(derivatives_over_all_ranks) {
  constexpr double kStep = 1e-5;
  for (const int size : {1, 2, 3}) {
    const auto results = by_rank(size, [&](const Comm& comm) {
      const int rank = comm->rank();
      std::vector<Array> in = {spread({rank + 2, 2}, -1, 1, rank + 1), spread({2}, 0.5, 1.5, rank + 2),
                               spread({2}, -1, 1, rank + 3)};
      const auto loss_of = [&](const Variables& v) {
        const Variable y = multi_node_batch_normalization(v[0], v[1], v[2], comm, {.eps = 1e-2});
        return autograd::sum(y * y * y * Variable(spread(y.shape(), 0.5, 2, rank + 4)));
      };
      std::vector<Array> weights;
      for (const Array& a : in) weights.push_back(spread(a.shape(), -1, 1, rank + 21));
      const auto product_of = [&](const Variables& v) {  // of the gradients and the weights
        Array sum = autograd::array<double>({0}, {});
        for (std::size_t k = 0; k < 3; ++k) sum = sum + autograd::sum(v[k].grad() * weights[k]);
        return autograd::item(sum).to_double();
      };
      const auto total = [&](double own) { return comm->allreduce_obj({{"sum", own}}).at("sum"); };
      const auto variables = [&] { return Variables{Variable(in[0]), Variable(in[1]), Variable(in[2])}; };

      Variables v = variables();
      loss_of(v).backward({.enable_double_backprop = true});
      Numbers actual, expected, actual_twice, expected_twice;
      Variable product(autograd::array<double>({0}, {}));
      for (std::size_t k = 0; k < 3; ++k) {
        for (const double g : values(v[k].grad())) actual.push_back(g);
        product = product + autograd::sum(v[k].grad_variable() * Variable(weights[k]));
      }
      for (Variable& one : v) one.cleargrad();
      product.backward();
      for (const Variable& one : v)
        for (const double g : values(one.grad())) actual_twice.push_back(g);

      for (int moved = 0; moved < size; ++moved)
        for (std::size_t k = 0; k < 3; ++k) {
          const std::int64_t n = k == 0 ? 2 * (moved + 2) : 2;
          for (std::int64_t i = 0; i < n; ++i) {
            double first[2], second[2];
            for (const int side : {0, 1}) {
              const Array before = in[k];
              if (moved == rank) {
                Numbers shifted = values(before);
                shifted[std::size_t(i)] += side == 0 ? -kStep : kStep;
                in[k] = autograd::array(shifted, before.shape());
              }
              const Variables at = variables();
              const Variable loss = loss_of(at);
              loss.backward();
              first[side] = total(loss.item());
              second[side] = total(product_of(at));
              in[k] = before;
            }
            if (moved != rank) continue;
            expected.push_back((first[1] - first[0]) / (2 * kStep));
            expected_twice.push_back((second[1] - second[0]) / (2 * kStep));
          }
        }
      return std::vector<Numbers>{actual, expected, actual_twice, expected_twice};
    });
    for (const auto& r : results) BOOST_TEST_CONTEXT(size << " ranks") {
        check_near(r[0], r[1], 1e-7, "the gradient");
        check_near(r[2], r[3], 1e-6, "the second derivative");
      }
  }
}

namespace {

// A transport that counts what is sent through it.
struct Counting : communicators::Transport {
  catena::Shared<communicators::Transport> of;
  int sends = 0;
  explicit Counting(catena::Shared<communicators::Transport> of_) : of(std::move(of_)) {}
  int rank() const noexcept override { return of->rank(); }
  int size() const noexcept override { return of->size(); }
  const std::vector<std::string>& hosts() const noexcept override { return of->hosts(); }
  void set_timeout(std::optional<double> seconds) override { of->set_timeout(seconds); }
  catena::Owned<Request> start_send(int to, std::span<const std::byte> bytes) override {
    ++sends;
    return of->start_send(to, bytes);
  }
  catena::Owned<Request> start_receive(int from, std::span<std::byte> bytes) override {
    return of->start_receive(from, bytes);
  }
  catena::Shared<communicators::Transport> split(int color, int key) override { return of->split(color, key); }
  void announce_abort(const std::string& message) noexcept override { of->announce_abort(message); }
  [[noreturn]] void abort(const std::string& message) override {
    of->abort(message);
    std::abort();  // not reached
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(one_all_reduce_each_way) {
  std::vector<std::array<int, 3>> counts(3);
  communicators::run_thread_ranks(3, [&](catena::Shared<communicators::Transport> transport) {
    const auto counting = catena::Shared<Counting>::make(transport);
    const Comm comm = Comm::make("naive", catena::Shared<communicators::Transport>(counting));
    const auto sends_of = [&](auto&& f) {
      const int before = counting->sends;
      f();
      return counting->sends - before;
    };
    auto& own = counts[std::size_t(comm->rank())];
    own[0] = sends_of([&] { comm->allreduce(spread({9})); });
    const Variable x(spread({5, 4, 3})), gamma(spread({4}, 0.5, 1, 1)), beta(spread({4}, 0, 1, 2));
    Variable y;
    own[1] = sends_of([&] { y = multi_node_batch_normalization(x, gamma, beta, comm); });
    own[2] = sends_of([&] { autograd::sum(y * y).backward(); });
  });
  for (const auto& [sum, forward, backward] : counts) {
    BOOST_TEST(sum > 0);
    BOOST_TEST(forward == sum);
    BOOST_TEST(backward == sum);
  }
}

BOOST_AUTO_TEST_CASE(the_link) {
  const Array x = examples({8, 4}, Dtype::float32);
  nn::BatchNormalization alone(4, {.decay = 0.8, .initial_avg_var = 1.0});
  for (int k = 0; k < 3; ++k) alone(Variable(x * double(k + 1)));
  const Array tested = alone(Variable(x), {.test = true}).data();
  alone.start_finetuning();
  for (int k = 0; k < 2; ++k) alone(Variable(x * double(k + 1)), {.finetune = true});
  const auto ranks = by_rank(2, [&](const Comm& comm) {
    MultiNodeBatchNormalization link(4, comm, {.decay = 0.8, .initial_avg_var = 1.0});
    const Array own = part(x, {5, 3}, comm->rank());
    for (int k = 0; k < 3; ++k) link(Variable(own * double(k + 1)));
    // Test mode needs no other rank.
    Numbers test;
    if (comm->rank() == 0) test = values(link(Variable(x), {.test = true}).data());
    MultiNodeBatchNormalization copied = link;
    copied.start_finetuning();
    for (int k = 0; k < 2; ++k) copied(Variable(own * double(k + 1)), {.finetune = true});
    // Without the hook, the link has the statistics of its own batch.
    copied.delete_hook("MultiNodeBatchNormalization");
    const Variable normalized = copied(Variable(own));
    return std::vector<Numbers>{test,
                                values(copied.avg_mean.array()),
                                values(copied.avg_var.array()),
                                {double(copied.N)},
                                values(autograd::mean(normalized.data(), 0))};
  });
  check_near(ranks[0][0], values(tested), 1e-5, "test mode");
  BOOST_TEST(ranks[0][3][0] == 2);
  for (const auto& r : ranks) check_near(r[4], Numbers(4, 0.0), 1e-5, "the mean of the rank's own batch");
}

namespace {

struct Net : nn::Chain {
  nn::Linear l1{4, 6}, l2{6, 2};
  nn::BatchNormalization bn{6};
  nn::BatchRenormalization renorm{2};
  NN_MEMBERS(l1, bn, l2, renorm)
  Net() {
    autograd::Generator fixed{3, 0};
    for (const Variable& p : params()) {
      Variable v = p;
      v.set_data(autograd::random_normal(p.shape(), 0.5, 0.5, Dtype::float64, fixed, kCpu));
    }
    to_dtype(Dtype::float64);
  }
  Variable operator()(const Variable& x, const Variable& t) {
    return nn::mean_squared_error(l2(nn::tanh(bn(l1(x)))), t);
  }
};

Numbers parameters_of(nn::Link& model) {
  Numbers all;
  for (const Variable& p : model.params())
    for (const double v : values(p.data())) all.push_back(v);
  return all;
}

}  // namespace

// Three steps of training, whose gradients are averaged over the ranks, are those of one process with the whole batch.
BOOST_AUTO_TEST_CASE(training_of_a_converted_model) {
  const Array x = examples({12, 4}, Dtype::float64), t = examples({12, 2}, Dtype::float64);
  const auto train = [](Net& model, const Array& own_x, const Array& own_t, const std::function<void(Net&)>& average) {
    SGD optimizer(0.3);
    optimizer.setup(model);
    for (int k = 0; k < 3; ++k) {
      Variable loss = model(Variable(own_x), Variable(own_t));
      model.cleargrads();
      loss.backward();
      average(model);
      optimizer.update();
    }
  };
  Net alone;
  train(alone, x, t, [](Net&) {});
  for (const int size : {1, 2, 3, 4}) {
    const std::vector<std::int64_t> sizes(std::size_t(size), 12 / size);
    const auto ranks = by_rank(size, [&](const Comm& comm) {
      const Net original;
      Net model = create_mnbn_model(original, comm);
      model.renorm.disable_update();
      train(model, part(x, sizes, comm->rank()), part(t, sizes, comm->rank()),
            [&](Net& m) { comm->multi_node_mean_grad(m, true); });
      const bool same_members = state_of(model).size() == state_of(alone).size();
      const bool others_are_local = nn::internal::batch_function_of(model.renorm) == nullptr &&
                                    nn::internal::batch_function_of(original.bn) == nullptr;
      return std::vector<Numbers>{parameters_of(model),
                                  values(model.bn.avg_mean.array()),
                                  values(model.bn.avg_var.array()),
                                  {double(same_members && others_are_local)}};
    });
    for (const auto& r : ranks) {
      check_near(r[0], parameters_of(alone), 1e-11, "a weight");
      check_near(r[1], values(alone.bn.avg_mean.array()), 1e-11, "the running mean");
      check_near(r[2], values(alone.bn.avg_var.array()), 1e-11, "the running variance");
      BOOST_TEST(r[3][0] == 1);
      BOOST_TEST((r[1] == ranks[0][1] && r[2] == ranks[0][2]));
    }
  }
}

BOOST_AUTO_TEST_CASE(errors) {
  const auto sizes = messages_by_rank<catena::ValueError>(2, [](const Comm& comm) {
    const std::int64_t n = comm->rank() + 2;
    multi_node_batch_normalization(spread({3, n}), spread({n}), spread({n}), comm);
  });
  for (const std::string& m : sizes) BOOST_TEST(has(m, "allreduce"), m);
  by_rank(1, [](const Comm& comm) {
    message_if_thrown<catena::InvalidType>([&] {
      multi_node_batch_normalization(spread({3, 2}), spread({4}), spread({4}), comm);
    });
    return 0;
  });
  const auto types = messages_by_rank<catena::InvalidType>(2, [](const Comm& comm) {
    multi_node_batch_normalization(spread({3, 2}), spread({4}), spread({4}), comm);
  });
  for (const std::string& m : types) BOOST_TEST(has(m, "MultiNodeBatchNormalizationFunction"), m);
  nn::BatchNormalization link(3);
  BOOST_TEST(has(message_of<catena::TypeError>([&] { create_mnbn_model(link, Comm()); }), "the communicator is null"));
  BOOST_TEST(
      has(message_of<catena::TypeError>([&] { MultiNodeBatchNormalization(3, Comm()); }), "the communicator is null"));
}

BOOST_AUTO_TEST_CASE(a_single_element) {
  const Warnings warnings;
  by_rank(2, [](const Comm& comm) {  // one element in all, on rank 0
    multi_node_batch_normalization(spread({comm->rank() == 0 ? 1 : 0, 2}), spread({2}), spread({2}), comm);
    return 0;
  });
  BOOST_REQUIRE(warnings.texts.size() == 1u);
  BOOST_TEST(has(warnings.texts[0], "each mean and variance is of one element"));
  by_rank(2, [](const Comm& comm) {  // two elements in all
    multi_node_batch_normalization(spread({1, 2}), spread({2}), spread({2}), comm);
    return 0;
  });
  BOOST_TEST(warnings.texts.size() == 1u);
}

// Means of running statistics, once for what two members share; other persistents stay.
BOOST_AUTO_TEST_CASE(means_of_persistents) {
  struct Model : nn::Chain {
    nn::BatchNormalization bn{2};
    std::shared_ptr<nn::BatchNormalization> a = std::make_shared<nn::BatchNormalization>(2), b = a;
    nn::Persistent half, counts, none;
    std::string text = "kept";
    NN_MEMBERS(bn, a, b, half, counts, none, text)
  };
  for (const int size : {1, 2, 4}) {
    const auto ranks = by_rank(size, [&](const Comm& comm) {
      const float r = float(comm->rank());
      Model model;
      autograd::assign(model.bn.avg_mean.array(), floats({r, 10 * r}, {2}));
      autograd::assign(model.a->avg_var.array(), floats({2 * r, 1}, {2}));
      model.bn.N = comm->rank();
      model.half = nn::Persistent(autograd::astype(floats({r * 20000}, {1}), Dtype::float16));
      model.counts = nn::Persistent(ints({comm->rank()}));
      const void* const memory = model.bn.avg_mean.array().get();
      AllreducePersistent extension(model, comm);
      extension();
      Numbers all;
      for (const Array& a :
           {model.bn.avg_mean.array(), model.b->avg_var.array(), model.half.array(), model.counts.array()})
        for (const double v : values(a)) all.push_back(v);
      all.push_back(double(model.bn.N));
      all.push_back(double(memory == model.bn.avg_mean.array().get() && model.text == "kept"));
      return all;
    });
    const double mean = (size - 1) / 2.0;
    for (int r = 0; r < size; ++r)
      check_near(ranks[std::size_t(r)], {mean, 10 * mean, 2 * mean, 1, mean * 20000, double(r), double(r), 1}, 1e-6,
                 "a persistent");
  }
  const AllreducePersistent extension(nn::BatchNormalization(2), single_rank());
  BOOST_TEST(extension.priority > PRIORITY_WRITER);
}

BOOST_AUTO_TEST_SUITE_END()
