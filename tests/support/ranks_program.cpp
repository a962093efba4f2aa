// A program whose processes are ranks, for tests of what starts them: test_ranks <what>.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <catena/catena.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/tests/support/ranks_output.h>
#include <catena/tests/support/ranks_training.h>
#include <catena/training/communicators.h>

namespace {

using autograd::Array;
using test::say;
using test::say_if_weights_agree;
using training::Communicator;

void sleep_a_second() { std::this_thread::sleep_for(std::chrono::seconds(1)); }

// All collectives once, and their results in a line.
void sum(Communicator& c) {
  const Array own = autograd::arrays::full({1000}, c.rank() + 1);
  const auto part = c.split(c.rank() % 2, c.rank());
  const std::string gathered = [&] {
    std::string all;
    for (const std::string& text : c.allgather_obj(std::to_string(c.rank()))) all += text;
    return all;
  }();
  // Longer than a piece of a message.
  const std::string object = c.bcast_obj(c.rank() == 0 ? std::string((std::size_t(16) << 20) + 3, 'x') : "");
  say(catena::concat("rank ", c.rank(), " of ", c.size(), ": sum ", autograd::to_vector<float>(c.allreduce(own))[999],
                     ", ranks ", gathered, ", part ", part->rank(), " of ", part->size(), ", host ", c.intra_rank(),
                     " of ", c.intra_size(), ", object ", object.size()));
}

// Some steps of a model on this rank's part of a batch; the sum of all weights.
void train(Communicator& c) {
  autograd::seed(static_cast<std::uint64_t>(c.rank()));
  nn::Linear model(4, 2);
  c.bcast_data(model);
  training::SGD optimizer;
  optimizer.setup(model);
  for (int step = 0; step < 3; ++step) {
    model.cleargrads();
    const Array x = autograd::arrays::full({2, 4}, c.rank() + step);
    autograd::sum(model(autograd::Variable(x))).backward();
    c.multi_node_mean_grad(model);
    optimizer.update();
  }
  say_if_weights_agree(c, model);
}

// Sums until a rank fails.
[[noreturn]] void sum_for_ever(Communicator& c) {
  for (std::int64_t i = 0;; ++i) {
    c.allreduce(autograd::arrays::full({1000}, c.rank()));
    if (i == 10) say("summing");
  }
}

// Writes the number of this process to a file, where a script finds it.
void write_process(const std::string& folder) {
  const char* const rank = std::getenv("CATENA_RANK");
  catena::write_file_atomically("test_ranks", folder + "/process." + (rank == nullptr ? "0" : rank),
                                std::to_string(::getpid()) + "\n");
}

volatile std::sig_atomic_t stopped = 0;

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "checkpointed") write_process(argv[2]);
  if (what == "status") return argc > 2 ? std::stoi(argv[2]) : 0;
  const auto comm = training::create_communicator(what == "flat" ? "flat" : "naive");
  Communicator& c = *comm;
  const bool is_bad = c.rank() == 1;
  if (what == "sum" || what == "flat") sum(c);
  if (what == "train") train(c);
  if (what == "checkpointed" || what == "one_process") {
    const std::string text = what == "one_process"
                                 ? test::train_as_one_process(comm)
                                 : test::train_with_checkpoints(comm, argv[2], std::stod(argv[3]), argc > 4);
    if (c.rank() == 0) say(text);
  }
  if (what == "sums") sum_for_ever(c);
  if (what == "throw" && is_bad) throw catena::ValueError("the file is damaged");
  if (what == "killed" && is_bad) ::kill(::getpid(), SIGKILL);
  if (what == "returns" && is_bad) return 3;
  if (what == "hangs" && is_bad)
    for (;;) sleep_a_second();
  if (what == "disagrees") c.allreduce(autograd::arrays::zeros({is_bad ? 2 : 3}));
  if (what == "aborts" && is_bad) c.transport().abort("out of patience");
  if (what == "waits") {
    std::signal(SIGTERM, [](int) { stopped = 1; });
    say("waiting");
    while (stopped == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    say("stopped");
  }
  c.barrier();
  return 0;
}
