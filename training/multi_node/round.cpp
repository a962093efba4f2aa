#include <catena/training/multi_node/round.h>

#include <optional>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/kernels/base/error.h>
#include <catena/training/communicators/array_messages.h>
#include <catena/training/communicators/communicator_state.h>

namespace training::internal {

using autograd::Dtype;
using autograd::StreamExtension;
using autograd::Variable;
using communicators::internal::is_narrow;

namespace {

StreamExtension* streams_of(const Array& a) { return a.backend().extension<StreamExtension>(a.device()); }

Array gradient_of(const BucketPlan::Member& m, Dtype dtype, autograd::Device device, bool is_zero) {
  const Array g = is_zero ? Array() : m.param.grad();
  if (!g) return autograd::arrays::zeros({m.size()}, dtype, device);
  catena::check<catena::ValueError>(g.dtype() == dtype && g.shape() == m.shape, kMultiNode, "the gradient of ", m.path,
                                    " is ", g.dtype(), " ", g.shape(), ", the parameter is ", dtype, " ", m.shape);
  return autograd::to_device(autograd::reshape(g, {m.size()}), device);
}

// The sums of "dummy" are this rank's own values, but its alltoall is the same as in the other communicators.
double divisor_of(const Communicator& comm, bool is_sharded) {
  return comm.name() == "dummy" && !is_sharded ? 1 : comm.size();
}
// The number by which a sum is still to be divided; nothing for 1.
std::optional<double> divisor_of_sums(const Communicator& comm, Dtype dtype, bool is_sharded) {
  const double n = divisor_of(comm, is_sharded);
  if (is_narrow(wire_dtype(comm, dtype)) || n == 1) return {};
  return n;
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

void Round::pack(std::size_t b, const BucketPlan::Bucket& plan, int ranks, autograd::Device device,
                 const Notes& notes) {
  std::vector<bool> has_gradient;
  for (const BucketPlan::Member& m : plan.members) has_gradient.push_back(bool(m.param.grad()));
  Bucket& bucket = buckets[b];
  bucket.own = own_numbers(has_gradient, notes);
  const Array numbers =
      autograd::from_host(bucket.own.data(), {std::int64_t(bucket.own.size())}, Dtype::float64, device);
  pack(b, plan, ranks, notes.failed || notes.changed, autograd::astype(numbers, plan.dtype));
}

void Round::pack(std::size_t b, const BucketPlan::Bucket& plan, int ranks, bool is_zero, const Array& numbers) {
  const autograd::Device device = numbers.device();
  std::vector<std::vector<Array>> pieces(is_sharded ? static_cast<std::size_t>(ranks) : 1);
  for (const BucketPlan::Member& m : plan.members)
    pieces[is_sharded ? static_cast<std::size_t>(m.owner) : 0].push_back(gradient_of(m, plan.dtype, device, is_zero));
  Bucket& bucket = buckets[b];
  bucket.sent.clear();  // packed again after an error
  for (std::vector<Array>& of : pieces) {
    of.push_back(numbers);
    bucket.sent.push_back(autograd::concatenate(of));
  }
  bucket.point = point_of(numbers);
}

void Round::to_wire(std::size_t b, Dtype dtype, const Communicator& comm) {
  const Dtype wire = wire_dtype(comm, dtype);
  const double n = divisor_of(comm, is_sharded);
  // In 16 bits the summands are divided before they are added, so that the sum does not overflow.
  for (Array& a : buckets[b].sent) a = autograd::astype(is_narrow(wire) ? a / n : a, wire);
}

void Round::from_sum(std::size_t b, const Array& sum, Dtype dtype, std::size_t members, const Communicator& comm) {
  const std::optional<double> divisor = divisor_of_sums(comm, dtype, is_sharded);
  from_mean(b, divisor ? sum / *divisor : sum, dtype, members);
}

void Round::from_mean(std::size_t b, const Array& wire, Dtype dtype, std::size_t members) {
  Bucket& bucket = buckets[b];
  const Array mean = autograd::astype(wire, dtype);
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
  if (is_sharded) {
    const std::vector<Array> parts = comm.alltoall(bucket.sent);
    Array sum;
    for (const Array& part : parts) sum = sum ? sum + part : part;
    from_sum(b, sum, dtype, members, comm);
  } else if (auto* const gpus = CommunicatorAccess::gpu_sums(comm, bucket.sent[0].dtype())) {
    // All ranks have the same plan of the buckets, so they need not agree on the array.
    gpus->enqueue(bucket.sent[0]);
    gpus->wait();
    from_sum(b, bucket.sent[0], dtype, members, comm);
  } else {
    from_mean(b, CommunicatorAccess::consume(comm, bucket.sent[0], divisor_of_sums(comm, dtype, is_sharded)), dtype,
              members);
  }
  bucket.sent.clear();
  read_notes(b);
  bucket.point = point_of(bucket.mean);
}

std::vector<Array> Round::means(std::size_t b, const BucketPlan::Bucket& plan, int rank) const {
  const Bucket& bucket = buckets[b];
  if (bucket.point) bucket.point->wait();
  const std::size_t n = plan.members.size();
  std::vector<Array> all(n);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const BucketPlan::Member& m = plan.members[i];
    if (is_sharded && m.owner != rank) continue;
    const std::int64_t begin = std::exchange(at, at + m.size());
    if (bucket.notes[present(n, i)] == 0) continue;
    all[i] = autograd::reshape(autograd::slice(bucket.mean, 0, begin, at), m.shape);
  }
  return all;
}

void Round::unpack(std::size_t b, const BucketPlan::Bucket& plan, int rank) const {
  const std::vector<Array> all = means(b, plan, rank);
  for (std::size_t i = 0; i < all.size(); ++i) set_mean(plan.members[i].param, all[i]);
}

void set_mean(Variable param, const Array& mean) {
  const bool fits = mean && mean.dtype() == param.dtype() && mean.shape() == param.shape();
  if (!fits) param.cleargrad();
  else if (param.requires_grad()) param.set_grad(autograd::to_device(mean, param.device()));
}

}  // namespace training::internal
