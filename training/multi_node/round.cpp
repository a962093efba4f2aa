#include <catena/training/multi_node/round.h>

#include <utility>

#include <catena/training/communicators/communicator_state.h>

namespace training::internal {

using autograd::Dtype;
using autograd::StreamExtension;
using autograd::Variable;

namespace {

StreamExtension* streams_of(const Array& a) { return a.backend().extension<StreamExtension>(a.device()); }

// The work on the array so far, for another thread to wait for.
catena::Owned<StreamExtension::Point> point_of(const Array& a) {
  StreamExtension* const streams = streams_of(a);
  return streams == nullptr ? catena::Owned<StreamExtension::Point>() : streams->point(a.device());
}

Array gradient_of(const BucketPlan::Member& m, autograd::Device device, bool is_zero) {
  const Array g = is_zero ? Array() : m.param.grad();
  if (!g) return autograd::zeros({m.param.size()}, m.param.dtype(), device);
  return autograd::to_device(autograd::reshape(g, {m.param.size()}), device);
}

std::vector<double> numbers(const Array& a) {
  std::vector<double> values(static_cast<std::size_t>(a.size()));
  autograd::to_host(autograd::astype(a, Dtype::float64), values.data());
  return values;
}

}  // namespace

void Round::pack(std::size_t b, const BucketPlan::Bucket& plan, int ranks, const Notes& notes) {
  const std::size_t n = plan.members.size();
  const autograd::Device device = plan.members[0].param.device();
  std::vector<double> tail(2 * n + 2, 0.0);
  std::vector<std::vector<Array>> pieces(is_sharded ? static_cast<std::size_t>(ranks) : 1);
  for (std::size_t i = 0; i < n; ++i) {
    const BucketPlan::Member& m = plan.members[i];
    tail[m.param.grad() && !notes.failed ? present(n, i) : missing(i)] = 1;
    pieces[is_sharded ? static_cast<std::size_t>(m.owner) : 0].push_back(gradient_of(m, device, notes.failed));
  }
  tail[failed(n)] = notes.failed;
  tail[changed(n)] = notes.changed;
  const Array numbers = autograd::astype(
      autograd::from_host(tail.data(), {std::int64_t(tail.size())}, Dtype::float64, device), plan.dtype);
  Bucket& bucket = buckets[b];
  for (std::vector<Array>& of : pieces) {
    of.push_back(numbers);
    bucket.sent.push_back(autograd::concatenate(of));
  }
  bucket.point = point_of(numbers);
}

void Round::communicate(std::size_t b, Dtype dtype, std::size_t members, const Communicator& comm) {
  Bucket& bucket = buckets[b];
  if (bucket.point) bucket.point->wait();
  const Dtype wire = comm.options().allreduce_grad_dtype.value_or(dtype);
  // In 16 bits they are divided before they are added, so that the sum does not overflow.
  const bool is_narrow = catena::itemsize(wire) <= 2;
  // The sums of "dummy" are this rank's own values; its alltoall is that of the others.
  const double n = comm.name() == "dummy" && !is_sharded ? 1 : comm.size();
  for (Array& a : bucket.sent) a = autograd::astype(is_narrow ? a / n : a, wire);
  const std::optional<double> divisor = is_narrow || n == 1 ? std::nullopt : std::optional<double>(n);
  Array sum;
  if (is_sharded) {
    const std::vector<Array> parts = comm.alltoall(bucket.sent);
    for (const Array& part : parts) sum = sum ? sum + part : part;
    if (divisor) sum /= *divisor;
  } else {
    sum = CommunicatorAccess::consume(comm, bucket.sent[0], divisor);
  }
  bucket.sent.clear();
  const Array mean = autograd::astype(sum, dtype);
  const std::int64_t end = mean.size(), begin = end - std::int64_t(2 * members + 2);
  bucket.notes = numbers(autograd::slice(mean, 0, begin, end));
  bucket.mean = autograd::slice(mean, 0, 0, begin);
  bucket.point = point_of(mean);
}

std::vector<Array> Round::means(std::size_t b, const BucketPlan::Bucket& plan, int rank) const {
  const Bucket& bucket = buckets[b];
  if (bucket.point) bucket.point->wait();
  const std::size_t n = plan.members.size();
  std::vector<Array> all(n);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Variable& p = plan.members[i].param;
    if (is_sharded && plan.members[i].owner != rank) continue;
    const std::int64_t begin = std::exchange(at, at + p.size());
    if (bucket.notes[present(n, i)] == 0) continue;
    all[i] = autograd::reshape(autograd::slice(bucket.mean, 0, begin, at), p.shape());
  }
  return all;
}

void Round::unpack(std::size_t b, const BucketPlan::Bucket& plan, int rank) const {
  const std::vector<Array> all = means(b, plan, rank);
  for (std::size_t i = 0; i < all.size(); ++i) set_mean(plan.members[i].param, all[i]);
}

void set_mean(Variable param, const Array& mean) {
  if (!mean) param.cleargrad();
  else if (param.requires_grad()) param.set_grad(autograd::to_device(mean, param.device()));
}

}  // namespace training::internal
