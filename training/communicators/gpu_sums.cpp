#include <catena/training/communicators/gpu_sums.h>

#include <thread>
#include <utility>

#include <catena/autograd/array.h>
#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/cuda_error.h>
#include <catena/kernels/base/error.h>
#include <catena/training/communicators/agreement.h>
#include <catena/training/communicators/messages.h>

namespace training::communicators::internal {

using autograd::CommExtension;
using catena::concat;
using catena::RuntimeError;

namespace {

// The part of a rank that has ended may still arrive within this time. If NCCL's own error comes first, the error of
// the transport, which names the rank, may still arrive within the same time.
constexpr std::chrono::milliseconds kGrace{1000};

}  // namespace

GpuSums::GpuSums(Transport& transport, std::optional<double> timeout)
    : timeout_(timeout), self_(transport.rank()), device_(autograd::default_backend().default_device()) {
  auto* const extension = autograd::default_backend().extension<CommExtension>(device_);
  std::string problem;
  if (extension == nullptr)
    problem = concat("pure_nccl: the current device is ", device_, "; make a GPU of its own current on each rank");
  else problem = extension->why_unavailable();
  agree(transport, "a communicator pure_nccl", std::move(problem));

  watched_ = transport.split(0, transport.rank());
  watched_->set_timeout(std::nullopt);
  nothing_.resize(static_cast<std::size_t>(transport.size()));
  for (int r = 0; r < transport.size(); ++r)
    if (r != self_)
      never_.push_back(watched_->start_receive(r, std::span(nothing_).subspan(static_cast<std::size_t>(r), 1)));

  std::string id;
  if (transport.rank() == 0) id = extension->new_group_id();
  id = broadcast_text(transport, id, 0);
  Wait waiting{Deadline(timeout_)};
  rank_ = extension->join(id, transport.size(), transport.rank(), device_, [&] { look(waiting); });
}

void GpuSums::look_for_ended(Wait& wait) {
  if (wait.ended) return;
  try {
    for (const auto& request : never_) request->is_done();
  } catch (const RuntimeError&) {
    wait.ended = std::current_exception();
    wait.since = Deadline::Clock::now();
  }
}

void GpuSums::look(Wait& wait) {
  look_for_ended(wait);
  if (wait.ended && Deadline::Clock::now() - wait.since > kGrace) std::rethrow_exception(wait.ended);
  if (wait.deadline.has_passed())
    throw TimeoutError(concat("rank ", self_, " waits for the other ranks in a sum of NCCL for more than ",
                              wait.deadline.seconds(), " s (CommunicatorOptions::timeout)"));
}

void GpuSums::check_works() const {
  catena::check<RuntimeError>(failure_.empty(), "pure_nccl", "an earlier sum has failed: ", failure_);
}

void GpuSums::fail(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& e) {
    failure_ = e.what();
    throw;
  }
}

void GpuSums::enqueue(const autograd::Array& a) {
  check_works();
  rank_->all_reduce(a);
}

void GpuSums::wait() {
  check_works();
  Wait waiting{Deadline(timeout_)};
  std::exception_ptr error;
  try {
    return rank_->wait([&] { look(waiting); });
  } catch (const catena::CudaError&) {
    error = std::current_exception();
  } catch (...) {
    fail(std::current_exception());
  }
  for (const auto end = Deadline::Clock::now() + kGrace; Deadline::Clock::now() < end && !waiting.ended;) {
    look_for_ended(waiting);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  fail(waiting.ended ? waiting.ended : error);
}

}  // namespace training::communicators::internal
