#include <catena/training/multi_node/round.h>

#include <utility>

#include <catena/training/communicators/communicator_state.h>

namespace training::internal {

using autograd::Dtype;
using autograd::StreamExtension;
using autograd::Variable;

namespace {

StreamExtension* streams_of(const Array& a) { return a.backend().extension<StreamExtension>(a.device()); }

Array gradient_of(const BucketPlan::Member& m, autograd::Device device, bool is_zero) {
  const Array g = is_zero ? Array() : m.param.grad();
  if (!g) return autograd::zeros({m.param.size()}, m.param.dtype(), device);
  return autograd::to_device(autograd::reshape(g, {m.param.size()}), device);
}

// Of a sum: in 16 bits the summands are divided before they are added, so that the sum does not overflow.
bool is_narrow(Dtype wire) { return catena::itemsize(wire) <= 2; }
// The sums of "dummy" are this rank's own values; its alltoall is that of the others.
double divisor_of(const Communicator& comm, bool is_sharded) {
  return comm.name() == "dummy" && !is_sharded ? 1 : comm.size();
}

}  // namespace

Dtype wire_dtype(const Communicator& comm, Dtype dtype) { return comm.options().allreduce_grad_dtype.value_or(dtype); }

catena::Owned<StreamExtension::Point> point_of(const Array& a) {
  StreamExtension* const streams = streams_of(a);
  return streams == nullptr ? catena::Owned<StreamExtension::Point>() : streams->point(a.device());
}

std::vector<double> Round::own_numbers(const std::vector<bool>& has_gradient, const Notes& notes) {
  const std::size_t n = has_gradient.size();
  std::vector<double> numbers(2 * n + 2, 0.0);
  for (std::size_t i = 0; i < n; ++i) numbers[has_gradient[i] && !notes.failed ? present(n, i) : missing(i)] = 1;
  numbers[failed(n)] = notes.failed;
  numbers[changed(n)] = notes.changed;
  return numbers;
}

void Round::pack(std::size_t b, const BucketPlan::Bucket& plan, int ranks, const Notes& notes) {
  std::vector<bool> has_gradient;
  for (const BucketPlan::Member& m : plan.members) has_gradient.push_back(bool(m.param.grad()));
  Bucket& bucket = buckets[b];
  bucket.own = own_numbers(has_gradient, notes);
  const autograd::Device device = plan.members[0].param.device();
  const Array numbers =
      autograd::from_host(bucket.own.data(), {std::int64_t(bucket.own.size())}, Dtype::float64, device);
  pack(b, plan, ranks, notes.failed, autograd::astype(numbers, plan.dtype));
}

void Round::pack(std::size_t b, const BucketPlan::Bucket& plan, int ranks, bool failed, const Array& numbers) {
  const autograd::Device device = plan.members[0].param.device();
  std::vector<std::vector<Array>> pieces(is_sharded ? static_cast<std::size_t>(ranks) : 1);
  for (const BucketPlan::Member& m : plan.members)
    pieces[is_sharded ? static_cast<std::size_t>(m.owner) : 0].push_back(gradient_of(m, device, failed));
  Bucket& bucket = buckets[b];
  for (std::vector<Array>& of : pieces) {
    of.push_back(numbers);
    bucket.sent.push_back(autograd::concatenate(of));
  }
  bucket.point = point_of(numbers);
}

void Round::to_wire(std::size_t b, Dtype dtype, const Communicator& comm) {
  const Dtype wire = wire_dtype(comm, dtype);
  const double n = divisor_of(comm, is_sharded);
  for (Array& a : buckets[b].sent) a = autograd::astype(is_narrow(wire) ? a / n : a, wire);
}

void Round::from_sum(std::size_t b, const Array& sum, Dtype dtype, std::size_t members, const Communicator& comm) {
  Bucket& bucket = buckets[b];
  const bool is_divided = is_narrow(wire_dtype(comm, dtype));
  const Array mean = autograd::astype(is_divided ? sum : sum / divisor_of(comm, is_sharded), dtype);
  const std::int64_t end = mean.size(), begin = end - std::int64_t(2 * members + 2);
  bucket.numbers = autograd::slice(mean, 0, begin, end);
  bucket.mean = autograd::slice(mean, 0, 0, begin);
}

void Round::read_notes(std::size_t b) {
  Bucket& bucket = buckets[b];
  bucket.notes.resize(static_cast<std::size_t>(bucket.numbers.size()));
  autograd::to_host(autograd::astype(bucket.numbers, Dtype::float64), bucket.notes.data());
}

void Round::join_numbers() {
  std::vector<Array> of_buckets;
  for (const Bucket& bucket : buckets) of_buckets.push_back(autograd::astype(bucket.numbers, Dtype::float64));
  numbers = autograd::concatenate(of_buckets);
}

void Round::read_all_notes() {
  std::vector<double> all(static_cast<std::size_t>(numbers.size()));
  autograd::to_host(numbers, all.data());
  auto next = all.begin();
  for (Bucket& bucket : buckets) {
    const auto end = next + static_cast<std::ptrdiff_t>(bucket.numbers.size());
    bucket.notes.assign(next, end);
    next = end;
  }
}

void Round::communicate(std::size_t b, Dtype dtype, std::size_t members, const Communicator& comm) {
  Bucket& bucket = buckets[b];
  if (bucket.point) bucket.point->wait();
  to_wire(b, dtype, comm);
  Array sum;
  if (is_sharded) {
    const std::vector<Array> parts = comm.alltoall(bucket.sent);
    for (const Array& part : parts) sum = sum ? sum + part : part;
  } else if (auto* const gpus = CommunicatorAccess::gpu_sums(comm, bucket.sent[0].dtype())) {
    sum = bucket.sent[0];  // the plan says what all ranks send, so they need not agree on it again
    gpus->enqueue(sum);
    gpus->wait();
  } else {
    sum = comm.allreduce(bucket.sent[0]);
  }
  bucket.sent.clear();
  from_sum(b, sum, dtype, members, comm);
  read_notes(b);
  bucket.point = point_of(bucket.mean);
}

void Round::unpack(std::size_t b, const BucketPlan::Bucket& plan, int rank) const {
  const Bucket& bucket = buckets[b];
  if (bucket.point) bucket.point->wait();
  const std::size_t n = plan.members.size();
  std::int64_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Variable p = plan.members[i].param;
    const bool is_here = !is_sharded || plan.members[i].owner == rank;
    if (!is_here || bucket.notes[present(n, i)] == 0) p.cleargrad();
    if (!is_here) continue;
    const Array g = autograd::reshape(autograd::slice(bucket.mean, 0, at, at + p.size()), p.shape());
    at += p.size();
    if (bucket.notes[present(n, i)] != 0 && p.requires_grad()) p.set_grad(autograd::to_device(g, p.device()));
  }
}

}  // namespace training::internal
