// A program whose processes are ranks with a GPU each, for tests of NCCL between processes: test_nccl_ranks <what>. On
// the software CUDA device every process has a GPU 0 of its own.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <catena/catena.h>
#include <catena/ndarray/cuda/vendor/nccl.h>
#include <catena/tests/support/ranks_output.h>
#include <catena/training/communicators.h>
#include <catena/training/multi_node.h>

namespace {

using nd::cuda::NcclCommunicator;
using nd::cuda::NcclOp;
using test::say;
using test::say_if_weights_agree;
using training::Communicator;

NcclCommunicator connect(const Communicator& c) {
  nd::cuda::NcclUniqueId id{};
  if (c.rank() == 0) id = nd::cuda::nccl_unique_id();
  const std::string bytes = c.bcast_obj({reinterpret_cast<const char*>(&id), sizeof id});
  std::memcpy(&id, bytes.data(), sizeof id);
  return NcclCommunicator(c.size(), id, c.rank());
}

// Every call of NCCL against its definition, with arrays of the elements i + 10 rank for i < n.
void collectives(const Communicator& c) {
  const NcclCommunicator nccl = connect(c);
  const int n = c.size(), self = c.rank(), next = (self + 1) % n, before = (self + n - 1) % n;
  std::string wrong;
  const auto expect = [&](const char* what, const nd::Array& a, const std::vector<double>& expected) {
    if (a.to_vector<double>() != expected) wrong += std::string(" ") + what;
  };
  const auto make = [&](int rank) {
    std::vector<double> v;
    for (int i = 0; i < n; ++i) v.push_back(i + 10. * rank);
    return v;
  };
  std::vector<double> sums, largest, all;
  for (int i = 0; i < n; ++i) {
    sums.push_back(n * i + 10. * n * (n - 1) / 2);
    largest.push_back(i + 10. * (n - 1));
  }
  for (int r = 0; r < n; ++r)
    for (const double v : make(r)) all.push_back(v);

  const nd::Array own = nd::array(make(self)), out = nd::zeros({n}), table = nd::zeros({n, n}), part = nd::zeros({1});
  for (int round = 0; round < 3; ++round) {
    nccl.all_reduce(own, out);
    expect("all_reduce", out, sums);
    nccl.all_reduce(own, out, NcclOp::max);
    expect("max", out, largest);
    out.fill(-1);
    nccl.reduce(own, out, n - 1);
    expect("reduce", out, self == n - 1 ? sums : std::vector<double>(std::size_t(n), -1));
    nccl.all_gather(own, table);
    expect("all_gather", table, all);
    nccl.reduce_scatter(own, part);
    expect("reduce_scatter", part, {sums[std::size_t(self)]});
    const nd::Array copy = own.copy();
    nccl.broadcast(copy, round % n);
    expect("broadcast", copy, make(round % n));
    {  // around the ring
      nd::cuda::NcclGroup group;
      nccl.send(own, next);
      nccl.receive(out, before);
      group.end();
    }
    expect("send and receive", out, make(before));
    if (n > 1) {  // one after the other
      if (self == 0) nccl.send(own, 1);
      if (self == 1) nccl.receive(out, 0);
      if (self == 1) expect("receive", out, make(0));
    }
  }
  // Rank 0 does not wait for this work; the others get its part nevertheless.
  nccl.all_reduce(own, out);
  if (self == 0) c.barrier();
  else {
    expect("all_reduce of a rank that does not wait", out, sums);
    c.barrier();
  }
  nccl.check_async_error();
  say(catena::concat("rank ", self, " of ", n, wrong.empty() ? ": nccl is right" : ": wrong are" + wrong));
}

// Updates of a multi-node optimizer with a bucket for each parameter; `before` is called before each update.
template <class Before> void train(const catena::Shared<Communicator>& comm, Before before) {
  autograd::seed(static_cast<std::uint64_t>(comm->rank()));
  nn::Linear model(4, 2);
  training::SGD sgd(0.1);
  const auto optimizer = training::create_multi_node_optimizer(sgd, comm, {.bucket_bytes = 1});
  optimizer->setup(model);
  for (int step = 0; step < 6; ++step) {
    before(step);
    optimizer->update([&] {
      const autograd::Variable x(autograd::arrays::full({2, 4}, comm->rank() + step + 1));
      return autograd::sum(model(x));
    });
  }
  say_if_weights_agree(*comm, model);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  nd::set_current_device({nd::Device::Kind::cuda, 0});
  const auto comm = training::create_communicator("pure_nccl");
  const bool is_bad = comm->rank() == 1;
  if (what == "collectives") collectives(*comm);
  if (what == "sum") {
    const auto sum = autograd::to_vector<double>(comm->allreduce(autograd::array(std::vector<double>{1., 2.}, {2})));
    say(catena::concat("rank ", comm->rank(), " of ", comm->size(), ": sum ", sum[0], " ", sum[1]));
  }
  if (what == "train") train(comm, [](int) {});
  if (what == "killed")
    train(comm, [&](int step) {
      if (is_bad && step == 3) ::kill(::getpid(), SIGKILL);
    });
  if (what == "hangs")
    train(comm, [&](int step) {
      if (is_bad && step == 3)
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    });
  comm->barrier();
  return 0;
}
