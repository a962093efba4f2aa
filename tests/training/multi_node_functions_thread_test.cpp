// Functions between ranks: values, gradients by formula and by finite differences over all ranks, their order, errors.
#include <catena/training/multi_node/functions.h>

#include <cmath>

#include <catena/autograd/functions/math.h>
#include <catena/autograd/functions/reduction.h>
#include <catena/tests/support/framework_derivatives.h>
#include <catena/tests/support/rank_threads.h>

using namespace test;
namespace F = training::functions;

namespace {

const auto each = boost::test_tools::per_element();
using Numbers = std::vector<double>;

Array vec(const Numbers& v) { return autograd::array(v, {std::int64_t(v.size())}); }
Variable weighted(const Variable& y, const Numbers& w) { return autograd::sum(y * y * Variable(vec(w))); }
Numbers grad_of(const Variable& x) { return x.grad() ? values(x.grad()) : Numbers{}; }

// The x of a rank.
Numbers own_values(int rank) { return {0.5 + rank, 1.5 - rank}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_functions)

// sum(w y^2) with y = 3 x on the other rank: the gradient of x is 18 w x.
BOOST_AUTO_TEST_CASE(send_and_recv) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16}) {
    const auto results = by_rank(2, [&](const Comm& comm) -> Numbers {
      if (comm->rank() == 0) {
        const Variable x(autograd::astype(vec({1, -2, 4}), dtype));
        const Variable sent = F::send(x * 3, comm, 1);
        sent.backward();
        return grad_of(x);
      }
      const Variable y = F::recv(comm, 0);
      const Variable loss = autograd::sum(y * y * Variable(autograd::astype(vec({1, 2, 3}), y.dtype())));
      loss.backward();
      Numbers all = values(y.data());
      all.push_back(double(y.dtype() == dtype));
      return all;
    });
    BOOST_TEST(results[0] == (Numbers{18, -72, 216}), each);
    BOOST_TEST(results[1] == (Numbers{3, -6, 12, 1}), each);
  }
}

// A ring of three: each rank sends x to the next, and adds what it gets to its own. Delegates put all in one graph.
BOOST_AUTO_TEST_CASE(rings_with_delegates) {
  for (const int size : {2, 3, 4}) {
    const auto gradients = by_rank(size, [&](const Comm& comm) {
      const int rank = comm->rank(), next = (rank + 1) % size, before = (rank + size - 1) % size;
      const Variable x(vec(own_values(rank)));
      const Variable sent = F::send(x, comm, next);
      const Variable y = F::recv(comm, before, sent);
      weighted(x * y, {1, 2}).backward();
      return grad_of(x);
    });
    for (int r = 0; r < size; ++r) {
      const Numbers x = own_values(r), before = own_values((r + size - 1) % size), next = own_values((r + 1) % size);
      for (std::size_t k = 0; k < 2; ++k) {
        const double expected = 2 * double(k + 1) * x[k] * (before[k] * before[k] + next[k] * next[k]);
        BOOST_TEST(gradients[std::size_t(r)][k] == expected, boost::test_tools::tolerance(1e-12));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(pseudo_connections) {
  const auto results = by_rank(2, [](const Comm& comm) -> Numbers {
    const Variable x(vec({2, 3}));
    if (comm->rank() == 1) {
      const Variable y = F::recv(comm, 0);
      autograd::sum(y).backward();
      return values(y.data());
    }
    const Variable sent = F::send(x * 2, comm, 1);
    const Variable a(vec({1, 1})), b(vec({5}));
    const Variables joined = F::pseudo_connect(sent, {a, b});
    const Variable one = F::pseudo_connect(sent, a);
    Numbers all = values(one.data());
    all.push_back(joined[1].item());
    autograd::sum(joined[0] * 7).backward();  // joined[1] has no gradient
    for (const double g : grad_of(x)) all.push_back(g);
    for (const double g : grad_of(a)) all.push_back(g);
    all.push_back(double(grad_of(b).size()));
    return all;
  });
  BOOST_TEST(results[0] == (Numbers{1, 1, 5, 2, 2, 7, 7, 0}), each);
  BOOST_TEST(results[1] == (Numbers{4, 6}), each);
}

// Inputs without gradients, whose ranks take part in the backward pass all the same, and integers, which have none.
BOOST_AUTO_TEST_CASE(inputs_without_gradients) {
  const auto results = by_rank(2, [](const Comm& comm) -> Numbers {
    if (comm->rank() == 0) {
      const Variable sent = F::send(vec({1, 2}), comm, 1);  // a temporary
      const Variable more = F::send(Variable(vec({3}), {.requires_grad = false}), comm, 1);
      F::send(ints({7, 8}), comm, 1);
      const Variable x(vec({4}));
      const Variable last = F::send(x, comm, 1);
      more.backward();
      sent.backward();
      last.backward();
      return grad_of(x);
    }
    const Variable y = F::recv(comm, 0), z = F::recv(comm, 0), labels = F::recv(comm, 0), last = F::recv(comm, 0);
    autograd::sum(z).backward();
    autograd::sum(y).backward();
    autograd::sum(last * 6).backward();
    Numbers all = values(labels.data());
    all.push_back(double(labels.dtype() == Dtype::int32));
    all.push_back(double(labels.creator() == nullptr));
    return all;
  });
  BOOST_TEST(results[0] == (Numbers{6}), each);
  BOOST_TEST(results[1] == (Numbers{7, 8, 1, 1}), each);
}

// Of each collective function: values and gradients by formula, for every root.
BOOST_AUTO_TEST_CASE(broadcasts) {
  for (const int size : {1, 2, 3, 4})
    for (int root = 0; root < size; ++root) {
      const auto results = by_rank(size, [&](const Comm& comm) {
        const Variable x(vec(own_values(comm->rank())));
        const Variable y = F::bcast(comm, comm->rank() == root ? x : Variable(), root);
        weighted(y, {1.0 + comm->rank(), 2}).backward();
        return std::pair(values(y.data()), grad_of(x));
      });
      const Numbers x = own_values(root);
      for (int r = 0; r < size; ++r) {
        BOOST_TEST(results[std::size_t(r)].first == x, each);
        if (r != root) BOOST_TEST(results[std::size_t(r)].second.empty());
      }
      // sum of 2 w x over the ranks
      const Numbers expected = {x[0] * size * (size + 1), 4 * x[1] * size};
      BOOST_TEST(results[std::size_t(root)].second == expected, boost::test_tools::tolerance(1e-9) << each);
    }
}

BOOST_AUTO_TEST_CASE(gathers) {
  for (const int size : {1, 2, 3, 4})
    for (const int root : {0, size - 1}) {
      const auto results = by_rank(size, [&](const Comm& comm) {
        // Rank r has r + 1 elements.
        const Variable x(vec(Numbers(std::size_t(comm->rank() + 1), 2.0 + comm->rank())));
        const Variables all = F::gather(comm, x, root);
        Numbers shapes;
        for (const Variable& y : all) shapes.push_back(double(y.size()));
        if (comm->rank() != root) {
          all[0].backward();
        } else {
          Variable loss = autograd::sum(all[0] * all[0]);
          for (int r = 1; r + 1 < size; ++r) loss = loss + autograd::sum(all[std::size_t(r)] * (10.0 * r));
          loss.backward();  // of three and more, nothing depends on the last one
        }
        return std::pair(shapes, grad_of(x));
      });
      for (int r = 0; r < size; ++r) {
        const auto n = std::size_t(r + 1);
        if (r == root) {
          Numbers lengths;
          for (int k = 0; k < size; ++k) lengths.push_back(k + 1);
          BOOST_TEST(results[std::size_t(r)].first == lengths, each);
        } else {
          BOOST_TEST(results[std::size_t(r)].first == Numbers{1}, each);
        }
        const double expected = r == 0 ? 4.0 : r + 1 < size ? 10.0 * r : 0.0;
        BOOST_TEST(results[std::size_t(r)].second == Numbers(n, expected), each);
      }
    }
}

BOOST_AUTO_TEST_CASE(scatters) {
  for (const int size : {1, 2, 3, 4})
    for (const int root : {0, size - 1}) {
      const auto results = by_rank(size, [&](const Comm& comm) {
        Variables xs;
        if (comm->rank() == root)
          for (int r = 0; r < size; ++r) xs.push_back(Variable(vec(own_values(r))));
        const Variable y = F::scatter(comm, xs, root);
        weighted(y, {1, 3}).backward();
        Numbers all = values(y.data());
        for (const Variable& x : xs)
          for (const double g : grad_of(x)) all.push_back(g);
        return all;
      });
      for (int r = 0; r < size; ++r) {
        Numbers expected = own_values(r);
        if (r == root)
          for (int k = 0; k < size; ++k) {
            expected.push_back(2 * own_values(k)[0]);
            expected.push_back(6 * own_values(k)[1]);
          }
        BOOST_TEST(results[std::size_t(r)] == expected, boost::test_tools::tolerance(1e-9) << each);
      }
    }
}

// A function of the variables of all ranks, whose loss is the sum of those of the ranks: central differences move one
// element of one rank after the other.
namespace {

using Program = std::function<Variable(const Comm&, const Variable& x)>;

double total(const Comm& comm, const Program& f, const Array& x) {
  const auto no_graph = autograd::no_backprop_mode();
  return comm->allreduce_obj({{"loss", f(comm, Variable(x)).item()}}).at("loss");
}
// The gradient of a function of arrays that returns a number, which all ranks call together.
Numbers differences(const Comm& comm, const Array& x, const std::function<double(const Array&)>& f) {
  constexpr double kStep = 1e-5;
  Numbers own;
  for (int rank = 0; rank < comm->size(); ++rank)
    for (std::int64_t k = 0; k < x.size(); ++k) {
      const auto at = [&](double by) {
        Numbers moved = values(x);
        if (rank == comm->rank()) moved[std::size_t(k)] += by;
        return f(autograd::array(moved, x.shape()));
      };
      const double derivative = (at(kStep) - at(-kStep)) / (2 * kStep);
      if (rank == comm->rank()) own.push_back(derivative);
    }
  return own;
}
struct Check {
  Numbers actual, expected;
};
void check_gradients(const char* what, int size, const Program& f, bool twice) {
  const auto results = by_rank(size, [&](const Comm& comm) {
    const Array x0 = spread({2, 2}, -1, 1, comm->rank() + 1);
    const Variable x(x0);
    const Variable loss = f(comm, x);
    loss.backward({.enable_double_backprop = twice});
    const Check first{grad_of(x), differences(comm, x0, [&](const Array& a) { return total(comm, f, a); })};
    if (!twice) return std::pair(first, Check());
    // The sum over the ranks of v g, and its gradient.
    const Array v = spread({2, 2}, -1, 1, comm->rank() + 11);
    const Variable g = x.grad_variable();
    x.cleargrad();
    const Variable product = autograd::sum(g * Variable(v));
    product.backward();
    const auto of = [&](const Array& a) {
      const Variable moved(a);
      f(comm, moved).backward();
      return comm->allreduce_obj({{"product", autograd::item(autograd::sum(moved.grad() * v)).to_double()}})
          .at("product");
    };
    return std::pair(first, Check{grad_of(x), differences(comm, x0, of)});
  });
  for (const auto& [first, second] : results) BOOST_TEST_CONTEXT(what << " of " << size << " ranks") {
      for (const Check& c : {first, second}) {
        BOOST_REQUIRE(c.actual.size() == c.expected.size());
        for (std::size_t k = 0; k < c.actual.size(); ++k)
          BOOST_TEST(std::abs(c.actual[k] - c.expected[k]) <= 1e-7 * (1 + std::abs(c.expected[k])),
                     c.actual[k] << " instead of " << c.expected[k]);
      }
    }
}
Variable cubes(const Variable& y, int seed) {
  return autograd::sum(y * y * y * Variable(spread(y.shape(), 0.5, 2, seed)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(derivatives_over_all_ranks) {
  for (const int size : {1, 2, 3}) {
    check_gradients(
        "allreduce", size,
        [](const Comm& comm, const Variable& x) { return cubes(F::allreduce(comm, x * x), comm->rank() + 3); }, true);
    check_gradients(
        "allgather", size,
        [](const Comm& comm, const Variable& x) {
          const Variables all = F::allgather(comm, autograd::exp(x));
          Variable loss = cubes(all[0], comm->rank() + 5);  // of three ranks, nothing depends on the last one
          if (all.size() > 1) loss = loss + cubes(all[1] * x, comm->rank() + 6);
          return loss;
        },
        true);
    check_gradients(
        "alltoall", size,
        [](const Comm& comm, const Variable& x) {
          Variables xs;
          for (int r = 0; r < comm->size(); ++r) xs.push_back(autograd::exp(x * (1.0 + r + comm->rank())));
          const Variables ys = F::alltoall(comm, xs);
          Variable loss = cubes(ys[0], comm->rank() + 2);
          if (ys.size() > 1) loss = loss + cubes(ys[1], comm->rank() + 4);
          return loss;
        },
        true);
    check_gradients(
        "bcast, gather and scatter", size,
        [](const Comm& comm, const Variable& x) {
          const Variable y = F::bcast(comm, comm->rank() == 0 ? autograd::exp(x) : Variable(), 0) * x;
          const Variables all = F::gather(comm, y, 0);
          Variables squares;
          if (comm->rank() == 0)
            for (const Variable& one : all) squares.push_back(one * one);
          else squares = all;  // the delegate
          return cubes(F::scatter(comm, squares, 0), comm->rank() + 8);
        },
        false);
  }
}

BOOST_AUTO_TEST_CASE(without_a_graph) {
  const auto results = by_rank(2, [](const Comm& comm) {
    const auto no_graph = autograd::no_backprop_mode();
    const Variable x(vec(own_values(comm->rank())));
    const Variable y = F::allreduce(comm, x);
    if (comm->rank() == 0) F::send(x, comm, 1);
    else F::recv(comm, 0);
    return double(y.creator() == nullptr) + y.data().size();
  });
  BOOST_TEST(results[0] == 3);
  BOOST_TEST(results[1] == 3);
}

BOOST_AUTO_TEST_CASE(errors) {
  // The receiver's backward passes run in the other order.
  const auto order = messages_by_rank<catena::RuntimeError>(2, [](const Comm& comm) {
    if (comm->rank() == 0) {
      const Variable x(vec({1})), a = F::send(x, comm, 1), b = F::send(x, comm, 1);
      a.backward();
      b.backward();
    } else {
      const Variable a = F::recv(comm, 0), b = F::recv(comm, 0);
      b.backward();
      a.backward();
    }
  });
  BOOST_TEST(has(order[0], "rank 1 runs its backward pass in another order"), order[0]);
  const auto twice = messages_by_rank<catena::NotImplementedError>(2, [](const Comm& comm) {
    const Variable x(vec({1}));
    const Variable y = F::bcast(comm, x, 0);
    autograd::sum(y * y).backward({.enable_double_backprop = true});
  });
  for (const std::string& m : twice) BOOST_TEST(has(m, "cannot be differentiated again"), m);
  const auto ranks = by_rank(2, [](const Comm& comm) {
    const Variable x(vec({1}));
    return std::vector<std::string>{message_if_thrown<catena::ValueError>([&] { F::send(x, comm, 2); }),
                                    message_if_thrown<catena::ValueError>([&] { F::recv(comm, -1); }),
                                    message_if_thrown<catena::ValueError>([&] { F::bcast(comm, x, 2); }),
                                    message_if_thrown<catena::ValueError>([&] { F::gather(comm, x, 2); }),
                                    message_if_thrown<catena::ValueError>([&] {
                                      F::scatter(comm, {x, x}, 2);
                                    }),
                                    message_if_thrown<catena::ValueError>([&] { F::alltoall(comm, {x}); }),
                                    message_if_thrown<catena::TypeError>([&] { F::send(Variable(), comm, 0); }),
                                    message_if_thrown<catena::TypeError>([&] { F::allreduce(comm, Variable()); }),
                                    message_if_thrown<catena::TypeError>([&] { F::allgather(Comm(), x); }),
                                    message_if_thrown<catena::ValueError>([&] { F::scatter(comm, {x}, 0); })};
  });
  const std::vector<std::string> expected = {"send: the receiver is 2, but there are 2 ranks",
                                             "recv: the sender is -1, but there are 2 ranks",
                                             "bcast: the root is 2, but there are 2 ranks",
                                             "gather: the root is 2, but there are 2 ranks",
                                             "scatter: the root is 2, but there are 2 ranks",
                                             "alltoall: the list has 1 entries for 2 ranks",
                                             "send: the variable is null",
                                             "allreduce: the variable is null",
                                             "allgather: the communicator is null",
                                             "scatter: there are 1 arrays for 2 ranks"};
  for (const auto& of_rank : ranks)
    for (std::size_t k = 0; k < expected.size(); ++k) BOOST_TEST(has(of_rank[k], expected[k]), of_rank[k]);
}

BOOST_AUTO_TEST_SUITE_END()
