// The communicator pure_nccl on two GPUs: waits for a rank that has ended or does not come, updates as CUDA graphs
// against updates without, and the order of kernels and sums.
#include <catena/training/multi_node/multi_node_optimizer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include <catena/autograd/backend/backend.h>
#include <catena/autograd/capture.h>
#include <catena/tests/support/cuda_device/control.h>
#include <catena/tests/support/multi_node.h>
#include <catena/training/communicators/gpu_sums.h>
#include <catena/training/iterator.h>
#include <catena/training/updater.h>

using namespace test;
using namespace training;
using cuda_device::Control;
using EventKind = MultiNodeEvent::Kind;

namespace {

constexpr int kRanks = 2;

bool has_gpus() {
  return autograd::default_backend().name() == "ndarray" && default_device() != kCpu && has_two_gpus();
}
Device gpu_of(int rank) { return {Device::Kind::cuda, static_cast<std::int16_t>(rank)}; }

// The ranks as threads, each on a GPU of its own.
using Transport = catena::Shared<communicators::Transport>;
void on_gpus(const std::function<void(Transport)>& program) {
  communicators::run_thread_ranks(kRanks, [&](Transport transport) {
    autograd::default_backend().exchange_default_device(gpu_of(transport->rank()));
    program(std::move(transport));
  });
}
void with_communicator(const std::function<void(Communicator&)>& program, CommunicatorOptions options = {.timeout = 60},
                       std::string_view name = "pure_nccl") {
  on_gpus([&](Transport transport) {
    Communicator comm(name, std::move(transport), options);
    program(comm);
  });
}

// A training of one rank, up to its updater.
struct Training {
  Perceptron model;
  Adam adam{0.01};
  catena::Shared<Adam> optimizer;
  SerialIterator batches;
  std::optional<StandardUpdater> updater;

  Training(const Communicator& comm, const RankBatches& data, bool capture, MultiNodeOptimizerOptions options,
           std::function<void(std::int64_t)> before_forward = {}, Dtype dtype = Dtype::float32)
      : model(dtype, std::uint64_t(100 + comm.rank())),
        optimizer(create_multi_node_optimizer(adam, comm, options)),
        batches(data.of_rank(comm.rank()), RankBatches::kBatch, {.shuffle = false}) {
    model.to_device(gpu_of(comm.rank()));
    optimizer->setup(model);
    updater.emplace(batches, adam,
                    StandardUpdater::Options{.device = gpu_of(comm.rank()),
                                             .loss_func =
                                                 [this, before_forward](const Variables& x) {
                                                   if (before_forward) before_forward(updater->iteration());
                                                   return model(x[0], x[1]);
                                                 },
                                             .capture = capture});
  }
  void run(std::int64_t updates) {
    for (std::int64_t i = 0; i < updates; ++i) updater->update();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pure_nccl)

// ---- waiting ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_sum) {
  if (!has_gpus()) return;
  std::string late, later;
  std::atomic<bool> done{false};
  on_gpus([&](Transport transport) {
    communicators::internal::GpuSums sums(*transport, 1.0);
    if (transport->rank() == 1) {
      while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    late = message_if_thrown<communicators::TimeoutError>([&] {
      sums.enqueue(autograd::arrays::zeros({3}));
      sums.wait();
    });
    later = message_if_thrown<catena::RuntimeError>([&] { sums.enqueue(autograd::arrays::zeros({3})); });
    done = true;
  });
  BOOST_TEST(has(late, "rank 0 waits for the other ranks in a sum of NCCL for more than 1 s"), late);
  BOOST_TEST(has(later, "an earlier sum has failed: rank 0 waits"), later);
}

BOOST_AUTO_TEST_CASE(a_rank_that_ends) {
  if (!has_gpus()) return;
  std::string ended;
  on_gpus([&](Transport transport) {
    communicators::internal::GpuSums sums(*transport, 60);
    if (transport->rank() == 1) return;
    ended = message_if_thrown<catena::RuntimeError>([&] {
      sums.enqueue(autograd::arrays::zeros({3}));
      sums.wait();
    });
  });
  BOOST_TEST(has(ended, "rank 0 waits for rank 1, which has ended"), ended);
}

// The part that a rank has sent before it ended arrives.
BOOST_AUTO_TEST_CASE(a_rank_that_ends_after_its_part) {
  if (!has_gpus()) return;
  std::vector<double> sum;
  std::atomic<bool> has_sent{false};
  on_gpus([&](Transport transport) {
    communicators::internal::GpuSums sums(*transport, 60);
    const Array a = autograd::arrays::full({3}, transport->rank() + 1);
    sums.enqueue(a);
    if (transport->rank() == 0)
      while (!has_sent) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    else std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the sum has begun
    has_sent = true;
    sums.wait();
    if (transport->rank() == 0) sum = values(a);
  });
  BOOST_TEST(sum == (std::vector<double>{3, 3, 3}), each);
}

// ---- captured updates ---------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(captured_updates_give_the_same_bits) {
  if (!has_gpus()) return;
  const RankBatches data(8, kRanks, Dtype::float32);
  struct Way {
    std::size_t bucket_bytes;
    bool overlap;
    std::optional<Dtype> wire;
  };
  for (const Way& way : {Way{1, true, {}}, Way{40, true, Dtype::float16}, Way{std::size_t(1) << 20, false, {}}}) {
    // Without capture, with it, and with it on one rank.
    std::vector<std::vector<std::string>> weights;
    for (const std::vector<bool>& captures : {std::vector<bool>{false, false}, {true, true}, {true, false}}) {
      weights.resize(weights.size() + kRanks);
      with_communicator(
          [&](Communicator& comm) {
            Training t(comm, data, captures[std::size_t(comm.rank())],
                       {.bucket_bytes = way.bucket_bytes, .overlap = way.overlap});
            t.run(8);
            weights[weights.size() - std::size_t(comm.rank()) - 1] = everything_of(t.model, *t.optimizer);
          },
          {.allreduce_grad_dtype = way.wire, .timeout = 60});
    }
    for (const auto& of_rank : weights) BOOST_TEST((of_rank == weights[0]), "bucket_bytes " << way.bucket_bytes);
  }
}

// The work of this rank's device in the order of submission: "k" for a kernel, "m" for a product of matrices, "s" for a
// sum over the ranks, "u" for the update.
std::string order_of(const std::vector<Control::Launch>& launches, int rank) {
  std::string order;
  for (const Control::Launch& l : launches)
    if (l.device == rank)
      order += l.kernel == "ncclAllReduce"                    ? 's'
               : l.kernel.find("adam") != std::string::npos   ? 'u'
               : l.kernel.find("cublas") != std::string::npos ? 'm'
                                                              : 'k';
  return order;
}

BOOST_AUTO_TEST_CASE(a_captured_update_is_one_graph) {
  if (!has_gpus() || !Control::available()) return;
  const RankBatches data(8, kRanks, Dtype::float32);
  std::vector<Control::Launch> launches;
  std::uint64_t graphs = 0, kernels = 0;
  with_communicator([&](Communicator& comm) {
    Training t(comm, data, true, {.bucket_bytes = 1});
    t.run(4);
    comm.barrier();
    if (comm.rank() == 0) Control().reset_records();
    comm.barrier();
    t.run(1);
    comm.barrier();
    if (comm.rank() == 0) {
      launches = Control().launches();
      graphs = Control().calls("cuGraphLaunch");
      kernels = Control().calls("cuLaunchKernel");
    }
    comm.barrier();
  });
  BOOST_TEST(graphs == std::uint64_t(kRanks));
  BOOST_TEST(kernels == 2u * kRanks);  // the two arrays of the batch are copied
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string order = order_of(launches, rank);
    BOOST_TEST_CONTEXT("rank " << rank << ": " << order) {
      BOOST_TEST(std::count(order.begin(), order.end(), 's') == 4);  // a bucket for each parameter
      BOOST_TEST(order.find('s') < order.rfind('m'));                // the last product is l1's gradient
      BOOST_TEST(order.rfind('s') < order.find('u'));
      BOOST_TEST(order.find('u') != std::string::npos);
    }
    // The sums have a stream of their own, on which there are no kernels.
    std::vector<const void*> of_sums, of_kernels;
    for (const Control::Launch& l : launches)
      if (l.device == rank) (l.kernel == "ncclAllReduce" ? of_sums : of_kernels).push_back(l.stream);
    for (const void* s : of_sums) BOOST_TEST(std::count(of_kernels.begin(), of_kernels.end(), s) == 0);
  }
}

// ---- overlap ------------------------------------------------------------------------------------

// The sum of l2's gradients is on the device before the last kernel of the backward pass.
BOOST_AUTO_TEST_CASE(sums_begin_during_the_backward_pass) {
  if (!has_gpus() || !Control::available()) return;
  const RankBatches data(4, kRanks, Dtype::float32);
  std::vector<Control::Launch> launches;
  with_communicator([&](Communicator& comm) {
    std::mutex mutex;
    std::condition_variable changed;
    bool ended = false;
    Perceptron model(Dtype::float32, 100);
    model.to_device(gpu_of(comm.rank()));
    SGD sgd;
    const auto optimizer =
        create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 1, .observer = [&](const MultiNodeEvent& e) {
                                                  const std::lock_guard lock(mutex);
                                                  ended = ended || e == MultiNodeEvent{EventKind::bucket_ended, 0};
                                                  changed.notify_all();
                                                }});
    optimizer->setup(model);
    const auto update = [&](std::int64_t step, bool hold) {
      ended = false;
      optimizer->update([&] {
        Variable h = model.l1(autograd::to_device(data.x(step, comm.rank()).data(), gpu_of(comm.rank())));
        if (hold)
          h = on_backward(h, [&] {
            std::unique_lock lock(mutex);
            changed.wait_for(lock, std::chrono::seconds(30), [&] { return ended; });
          });
        return nn::mean_squared_error(model.l2(nn::tanh(h)),
                                      autograd::to_device(data.t(step, comm.rank()).data(), gpu_of(comm.rank())));
      });
    };
    update(0, false);
    update(1, false);
    comm.barrier();
    if (comm.rank() == 0) Control().reset_records();
    comm.barrier();
    update(2, true);
    comm.barrier();
    if (comm.rank() == 0) launches = Control().launches();
    comm.barrier();
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string order = order_of(launches, rank);
    BOOST_TEST_CONTEXT("rank " << rank << ": " << order) {
      BOOST_TEST(std::count(order.begin(), order.end(), 's') == 4);
      BOOST_TEST(order.find('s') < order.rfind('m'));
    }
  }
}

// ---- errors of captured updates -----------------------------------------------------------------

// An exception of rank 1 in the update that is captured. The updates after it fail, too.
BOOST_AUTO_TEST_CASE(an_error_in_the_capture_reaches_all_ranks) {
  if (!has_gpus()) return;
  const RankBatches data(8, kRanks, Dtype::float32);
  std::vector<std::string> messages(kRanks), later(kRanks);
  with_communicator([&](Communicator& comm) {
    Training t(comm, data, true, {.bucket_bytes = 1}, [&](std::int64_t update) {
      if (comm.rank() == 1 && update == 2) throw catena::ValueError("the dog ate it");
    });
    messages[std::size_t(comm.rank())] = message_of_error([&] { t.run(8); });
    later[std::size_t(comm.rank())] = message_of_error([&] { t.run(1); });
  });
  BOOST_TEST(has(messages[1], "the dog ate it"), messages[1]);
  BOOST_TEST(has(messages[0], "rank 1"), messages[0]);
  for (const std::string& text : later) BOOST_TEST(has(text, "an earlier update has failed"), text);
}

// The rank whose graph cannot be launched has the error at once, the other one in its next update.
BOOST_AUTO_TEST_CASE(an_error_in_a_replay_reaches_all_ranks) {
  if (!has_gpus() || !Control::available()) return;
  const RankBatches data(8, kRanks, Dtype::float32);
  std::vector<std::string> messages(kRanks), later(kRanks);
  with_communicator([&](Communicator& comm) {
    Training t(comm, data, true, {.bucket_bytes = 1});
    t.run(5);
    comm.barrier();
    if (comm.rank() == 0) Control().fail("cuGraphLaunch", 1, 1);
    comm.barrier();
    messages[std::size_t(comm.rank())] = message_of_error([&] { t.run(2); });
    later[std::size_t(comm.rank())] = message_of_error([&] { t.run(1); });
  });
  const int failed = has(messages[0], "rank 1") ? 1 : 0;
  const std::string cause = messages[std::size_t(failed)], other = messages[std::size_t(1 - failed)];
  BOOST_TEST((has(cause, "cuGraphLaunch") && !has(cause, "rank")), cause);
  BOOST_TEST(has(other, "rank " + std::to_string(failed)), other);
  BOOST_TEST(has(other, "cuGraphLaunch"), other);
  for (const std::string& text : later) BOOST_TEST(has(text, "an earlier update has failed"), text);
}

BOOST_AUTO_TEST_CASE(a_rank_that_ends_during_replays) {
  if (!has_gpus()) return;
  const RankBatches data(8, kRanks, Dtype::float32);
  std::string message;
  with_communicator([&](Communicator& comm) {
    Training t(comm, data, true, {.bucket_bytes = 1});
    if (comm.rank() == 1) return t.run(5);
    message = message_of_error([&] { t.run(8); });
  });
  BOOST_TEST(has(message, "rank 0 waits for rank 1, which has ended"), message);
}

// ---- arrays on another GPU ----------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(an_array_on_another_gpu_reaches_all_ranks) {
  if (!has_gpus()) return;
  std::vector<std::string> sums(kRanks), means(kRanks);
  std::vector<double> later(kRanks);
  with_communicator([&](Communicator& comm) {
    const auto r = std::size_t(comm.rank());
    const Array own = autograd::arrays::ones({3}), other = autograd::to_device(own, gpu_of(0));
    sums[r] = message_of_error([&] { comm.allreduce(other); });
    nn::Link model;
    nn::Parameter& w = model.add_param("w", nn::Parameter(other));
    w.set_grad(other);
    means[r] = message_of_error([&] { comm.multi_node_mean_grad(model); });
    later[r] = values(comm.allreduce(own))[0];
  });
  for (std::size_t r = 0; r < kRanks; ++r) {
    BOOST_TEST(
        has(sums[r], "allreduce: pure_nccl sums on the GPU of its rank, cuda:1; this array is on cuda:0 (rank 1)"),
        sums[r]);
    BOOST_TEST(has(means[r], "this array is on cuda:0 (the parameter /w) (rank 1)"), means[r]);
    BOOST_TEST(later[r] == kRanks);
  }
}

// The model of rank 1 is on the GPU of rank 0: from the start, or from some update on, in loops that communicate during
// the backward pass and in those that do not. Where it is moved back, the training goes on.
BOOST_AUTO_TEST_CASE(a_model_on_another_gpu_reaches_all_ranks) {
  if (!has_gpus()) return;
  const RankBatches data(8, kRanks, Dtype::float32);
  for (const std::int64_t moved_at : {0, 3})
    for (const bool in_backward : {false, true}) {
      std::vector<std::string> messages(kRanks);
      std::vector<std::vector<double>> weights(kRanks);
      with_communicator([&](Communicator& comm) {
        const int rank = comm.rank();
        Training t(comm, data, false, {.bucket_bytes = 1});
        const auto update = [&](std::int64_t step) {
          const Device device = t.model.l1.W.device();
          const Variable x = autograd::to_device(data.x(step, rank).data(), device),
                         y = autograd::to_device(data.t(step, rank).data(), device);
          if (in_backward) return t.optimizer->update(t.model, x, y);
          t.model.cleargrads();
          t.model(x, y).backward();
          t.optimizer->update();
        };
        for (std::int64_t step = 0; step < moved_at; ++step) update(step);
        if (rank == 1) t.model.to_device(gpu_of(0));
        messages[std::size_t(rank)] = message_of_error([&] { update(moved_at); });
        if (rank == 1) t.model.to_device(gpu_of(1));
        for (std::int64_t step = moved_at + 1; step < 6; ++step) update(step);
        weights[std::size_t(rank)] = weights_of(t.model);
      });
      BOOST_TEST_CONTEXT("moved at " << moved_at << ", in the backward pass " << in_backward) {
        for (const std::string& m : messages) {
          BOOST_TEST(has(m, "rank 1: multi-node optimizer: the parameter /l"), m);
          BOOST_TEST(has(m, "is on cuda:0; pure_nccl sums gradients on the GPU of the rank, cuda:1"), m);
        }
        BOOST_TEST((weights[0] == weights[1]));
      }
    }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_captured) {
  if (!has_gpus()) return;
  const RankBatches data(8, kRanks, Dtype::float32);
  const auto message = [&](std::string_view name, const MultiNodeOptimizerOptions& options) {
    std::vector<std::string> messages(kRanks);
    with_communicator(
        [&](Communicator& comm) {
          Training t(comm, data, true, options);
          messages[std::size_t(comm.rank())] = message_of_error([&] { t.run(8); });
        },
        {.timeout = 60}, name);
    BOOST_TEST(messages[0] == messages[1]);
    return messages[0];
  };
  const std::string naive = message("naive", {});
  BOOST_TEST(has(naive, "the communicator naive sums float32 through the host"), naive);
  const std::string late = message("pure_nccl", {.double_buffering = true});
  BOOST_TEST(has(late, "an update with double_buffering cannot be captured"), late);
  const std::string sharded = message("pure_nccl", {.shard_states = true});
  BOOST_TEST(has(sharded, "an update with shard_states cannot be captured"), sharded);

  std::vector<std::string> own(kRanks);
  with_communicator([&](Communicator& comm) {
    Training t(comm, data, false, {});
    t.run(3);
    const Variable x = autograd::to_device(data.x(0, comm.rank()).data(), gpu_of(comm.rank())),
                   y = autograd::to_device(data.t(0, comm.rank()).data(), gpu_of(comm.rank()));
    own[std::size_t(comm.rank())] = message_of_error([&] {
      autograd::CapturedWork work([&] { t.optimizer->update([&] { return t.model(x, y); }); }, gpu_of(comm.rank()));
    });
  });
  for (const std::string& text : own) BOOST_TEST(has(text, "only StandardUpdater can capture an update"), text);
}

BOOST_AUTO_TEST_SUITE_END()
