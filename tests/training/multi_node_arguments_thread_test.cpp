// Arguments that are wrong on one rank only, such as an array on another device: all ranks throw and are in step
// afterwards. None of them waits for the others until its time limit.
#include <catena/tests/support/multi_node.h>
#include <catena/tests/support/rank_threads.h>
#include <catena/training/multi_node/batch_normalization.h>
#include <catena/training/multi_node/functions.h>
#include <catena/training/multi_node/multi_node_optimizer.h>

using namespace test;
using namespace training;
namespace F = training::functions;

namespace {

constexpr int kRanks = 3, kWrong = 1;

// The messages by rank. The call is wrong on rank kWrong.
std::vector<std::string> messages_of(const std::function<void(const Comm&, bool is_wrong)>& call) {
  return by_rank(kRanks, [&](const Comm& comm) {
    std::string message = message_of_error([&] { call(comm, comm->rank() == kWrong); });
    comm->barrier();
    return message;
  });
}

// The rank throws its own error, the others the same text with its number.
void check_messages(const std::vector<std::string>& messages, const std::string& text) {
  for (int r = 0; r < kRanks; ++r) {
    const std::string& m = messages[std::size_t(r)];
    BOOST_TEST(has(m, text), m << " does not have " << text);
    BOOST_TEST(has(m, "(rank 1)") == (r != kWrong), m);
  }
}

Variable on(Device device, std::int64_t n = 2) { return Variable(autograd::arrays::ones({n}, Dtype::float32, device)); }

struct TwoParams : nn::Link {
  nn::Parameter w, v;
  NN_MEMBERS(w, v)
  explicit TwoParams(Device of_v)
      : w(autograd::arrays::zeros({2}, Dtype::float32, kCpu)), v(autograd::arrays::zeros({3}, Dtype::float32, of_v)) {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(multi_node_arguments)

BOOST_AUTO_TEST_CASE(lists_on_two_devices) {
  if (!has_cuda()) return;
  const auto list = [](bool is_wrong) { return Variables{on(kCpu), on(kCpu), on(is_wrong ? kCuda : kCpu)}; };
  const char* const text = "an array is on cuda:0, the first one is on cpu:0; the list must be on one device";
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) { F::alltoall(comm, list(is_wrong)); }),
                 catena::concat("alltoall: ", text));
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) {
                   F::scatter(comm, comm->rank() == kWrong ? list(is_wrong) : Variables(), kWrong);
                 }),
                 catena::concat("scatter: ", text));
}

BOOST_AUTO_TEST_CASE(lists_and_variables_that_are_missing) {
  const Variable x = on(kCpu);
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) {
                   F::alltoall(comm, is_wrong ? Variables{x, x} : Variables{x, x, x});
                 }),
                 "alltoall: the list has 2 entries for 3 ranks");
  const auto given = [&](bool is_wrong) { return is_wrong ? Variable() : x; };
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) { F::allgather(comm, given(is_wrong)); }),
                 "allgather: the variable is null");
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) { F::allreduce(comm, given(is_wrong)); }),
                 "allreduce: the variable is null");
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) { F::gather(comm, given(is_wrong), 0); }),
                 "gather: the variable is null");
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) { F::bcast(comm, given(is_wrong), kWrong); }),
                 "bcast: the variable is null");
}

// The sums of "dummy" are not collective: the other ranks do not hear of the error.
BOOST_AUTO_TEST_CASE(sums_of_dummy) {
  const auto messages = on_ranks(2,
                                 [](Communicator& comm) {
                                   const Comm shared = Comm::borrowed(&comm);
                                   std::string m = message_of_error([&] {
                                     F::allreduce(shared, comm.rank() == 1 ? Variable() : Variable(on(kCpu)));
                                   });
                                   comm.barrier();
                                   return m;
                                 },
                                 {.name = "dummy"});
  BOOST_TEST(messages[0] == "no error");
  BOOST_TEST(has(messages[1], "allreduce: the variable is null"), messages[1]);
}

BOOST_AUTO_TEST_CASE(normalization) {
  const auto x = [] { return Variable(autograd::arrays::ones({3, 2}, Dtype::float32, kCpu)); };
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) {
                   multi_node_batch_normalization(x(), on(kCpu, is_wrong ? 4 : 2), on(kCpu), comm);
                 }),
                 "Actual: 4 != 2");
  const auto given = [](bool is_wrong) { return is_wrong ? Variable() : on(kCpu); };
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) {
                   multi_node_batch_normalization(x(), given(is_wrong), on(kCpu), comm);
                 }),
                 "MultiNodeBatchNormalization: gamma is null");
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) {
                   multi_node_batch_normalization(is_wrong ? Variable() : x(), on(kCpu), on(kCpu), comm);
                 }),
                 "MultiNodeBatchNormalization: x is null");
  if (!has_cuda()) return;
  check_messages(messages_of([&](const Comm& comm, bool is_wrong) {
                   multi_node_batch_normalization(x(), on(kCpu), on(is_wrong ? kCuda : kCpu), comm);
                 }),
                 "MultiNodeBatchNormalization: x is on cpu:0, beta on cuda:0");
}

// ---- gradients ----------------------------------------------------------------------------------

// The ranks have the same arrays to sum wherever their parameters are, and the means are where the parameters are.
BOOST_AUTO_TEST_CASE(means_of_parameters_on_other_devices) {
  if (!has_cuda()) return;
  for (const std::string_view name : {"naive", "flat"}) {
    const auto means = on_ranks(kRanks,
                                [](Communicator& comm) {
                                  const OnHost host;
                                  TwoParams model(comm.rank() == kWrong ? kCuda : kCpu);
                                  for (nn::Parameter* p : {&model.w, &model.v})
                                    p->set_grad(autograd::full_like(p->data(), double(3 * comm.rank())));
                                  comm.multi_node_mean_grad(model);
                                  std::vector<double> all = gradients_of(model);
                                  all.push_back(model.v.grad().device() == model.v.device());
                                  return all;
                                },
                                {.name = name});
    for (const auto& of_rank : means) BOOST_TEST((of_rank == std::vector<double>{3, 3, 3, 3, 3, 1}));
  }
}

// A gradient stays what it was when its parameter gets another array.
BOOST_AUTO_TEST_CASE(gradients_that_are_not_as_their_parameters) {
  const auto messages = [](bool on_all, const std::function<Array(const Array&)>& changed) {
    return messages_of([&](const Comm& comm, bool is_wrong) {
      TwoParams model(kCpu);
      for (nn::Parameter* p : {&model.w, &model.v}) p->set_grad(autograd::ones_like(p->data()));
      if (is_wrong || on_all) model.v.set_data(changed(model.v.data()));
      comm->multi_node_mean_grad(model);
    });
  };
  const std::string gradient = "multi_node_mean_grad: the gradient of /v is float32 (3,) on cpu:0, the parameter is ";
  for (const std::string& m : messages(true, [](const Array& a) { return autograd::astype(a, Dtype::float64); }))
    BOOST_TEST(m == gradient + "float64 (3,) on cpu:0 (rank 0)");
  if (!has_cuda()) return;
  for (const std::string& m : messages(false, [](const Array& a) { return autograd::to_device(a, kCuda); }))
    BOOST_TEST(m == gradient + "float32 (3,) on cuda:0 (rank 1)");
}

// ---- optimizers ---------------------------------------------------------------------------------

// A parameter that becomes another array on one rank, between the backward pass and the update. After the error of all
// ranks the training goes on where the parameter is again what it was.
BOOST_AUTO_TEST_CASE(a_parameter_that_changes) {
  const RankBatches data(6, kRanks, Dtype::float32);
  const std::function<Array(const Array&)> changes[] = {
      [](const Array& a) { return autograd::astype(a, Dtype::float64); },
      [](const Array& a) {
        return autograd::concatenate(std::vector<Array>{a, a});
      }};
  for (const auto& change : changes) {
    std::vector<std::vector<double>> weights(kRanks), expected(kRanks);
    std::vector<std::int64_t> updates(kRanks);
    const auto train = [&](const Comm& comm, bool is_changed) {
      Perceptron model(Dtype::float32, 100);
      Adam adam(0.01);
      const auto optimizer = create_multi_node_optimizer(adam, *comm, {.bucket_bytes = 40});
      optimizer->setup(model);
      std::string message;
      for (std::int64_t step = 0; step < 6; ++step) {
        model.cleargrads();
        const Variable loss = model(data.x(step, comm->rank()), data.t(step, comm->rank()));
        loss.backward();
        if (step == 3 && is_changed) {
          const Array before = model.l2.W.data();
          if (comm->rank() == kWrong) model.l2.W.set_data(change(before));
          message = message_of_error([&] { optimizer->update(); });
          model.l2.W.set_data(before);
        }
        optimizer->update();
      }
      (is_changed ? weights : expected)[std::size_t(comm->rank())] = weights_of(model);
      updates[std::size_t(comm->rank())] = adam.t();
      return message;
    };
    const auto messages = by_rank(kRanks, [&](const Comm& comm) { return train(comm, true); });
    by_rank(kRanks, [&](const Comm& comm) { return train(comm, false); });
    for (std::size_t r = 0; r < kRanks; ++r) {
      BOOST_TEST(has(messages[r], "the models differ: here is /l2/W"), messages[r]);
      BOOST_TEST(has(messages[r], "on rank 0 /l2/W float32 (2, 4) (rank 1)"), messages[r]);
      BOOST_TEST((weights[r] == expected[r]));
      BOOST_TEST(updates[r] == 5);
    }
  }
}

// Gradients that do not fit, on one rank or on all, outside of the backward pass.
BOOST_AUTO_TEST_CASE(gradients_that_an_optimizer_cannot_pack) {
  const RankBatches data(3, kRanks, Dtype::float32);
  const auto messages = by_rank(kRanks, [&](const Comm& comm) {
    Perceptron model(Dtype::float32, 100);
    SGD sgd(0.01);
    const auto optimizer = create_multi_node_optimizer(sgd, *comm, {});
    optimizer->setup(model);
    for (std::int64_t step = 0; step < 2; ++step)
      optimizer->update(model, data.x(step, comm->rank()), data.t(step, comm->rank()));
    model.l2.W.set_data(autograd::astype(model.l2.W.data(), Dtype::float64));
    return message_of_error([&] { optimizer->update(); });
  });
  for (const std::string& m : messages)
    BOOST_TEST(has(m, "the gradient of /l2/W is float32 (2, 4), the parameter is float64 (2, 4)"), m);
}

BOOST_AUTO_TEST_SUITE_END()
