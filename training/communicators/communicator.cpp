#include <catena/training/communicators/communicator.h>

#include <algorithm>
#include <array>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/capture.h>
#include <catena/kernels/base/error.h>
#include <catena/training/communicators/agreement.h>
#include <catena/training/communicators/array_messages.h>
#include <catena/training/communicators/communicator_state.h>
#include <catena/training/communicators/endpoint.h>
#include <catena/training/communicators/messages.h>
#include <catena/training/parallel/worker_process.h>

namespace training {

using autograd::Device;
using autograd::Dtype;
using catena::check;
using catena::concat;
using catena::Shared;
using catena::ValueError;
using communicators::Transport;
using communicators::internal::agree;
using communicators::internal::ArrayHead;
using communicators::internal::on_host;
using communicators::internal::Summation;

// ---- construction -------------------------------------------------------------------------------
namespace {

constexpr const char* kOp = "Communicator";
constexpr std::array<std::string_view, 4> kNames = {"naive", "flat", "pure_nccl", "dummy"};

std::size_t index_of_name(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  check<ValueError>(found != kNames.end(), kOp, "there is no communicator \"", name,
                    "\"; the names are naive, flat, pure_nccl and dummy");
  return static_cast<std::size_t>(found - kNames.begin());
}

}  // namespace

void internal::check_communicator(std::string_view name, const CommunicatorOptions& options) {
  index_of_name(name);
  const auto& dtype = options.allreduce_grad_dtype;
  check<ValueError>(!dtype || *dtype == Dtype::float16 || *dtype == Dtype::bfloat16 || *dtype == Dtype::float32, kOp,
                    "allreduce_grad_dtype is ", dtype.value_or(Dtype::float32),
                    "; gradients travel in float16, bfloat16 or float32");
  communicators::internal::check_timeout(kOp, options.timeout);
}

Communicator::Communicator(std::string_view name, Shared<Transport> transport, CommunicatorOptions options) {
  const std::size_t index = index_of_name(name);
  check<ValueError>(bool(transport), kOp, "the transport is null");
  internal::check_communicator(name, options);
  transport->set_timeout(options.timeout);
  impl_ = catena::Owned<Impl>(
      new Impl{static_cast<Impl::Kind>(index), std::string(name), std::move(transport), std::move(options)});
  const std::vector<std::string>& hosts = impl_->transport->hosts();
  const auto self = static_cast<std::size_t>(rank());
  std::vector<std::string> distinct;
  for (const std::string& host : hosts)
    if (std::find(distinct.begin(), distinct.end(), host) == distinct.end()) distinct.push_back(host);
  impl_->inter_size = static_cast<int>(distinct.size());
  impl_->inter_rank = static_cast<int>(std::find(distinct.begin(), distinct.end(), hosts[self]) - distinct.begin());
  impl_->intra_size = static_cast<int>(std::count(hosts.begin(), hosts.end(), hosts[self]));
  impl_->intra_rank =
      static_cast<int>(std::count(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(self), hosts[self]));
  if (impl_->kind == Impl::Kind::pure_nccl)
    impl_->gpus = catena::Owned<communicators::internal::GpuSums>(
        new communicators::internal::GpuSums(*impl_->transport, impl_->options.timeout));
}

Communicator::~Communicator() = default;

communicators::internal::GpuSums* internal::CommunicatorAccess::gpu_sums(const Communicator& c, autograd::Dtype dtype) {
  auto* const gpus = c.impl_->gpus.get();
  return gpus != nullptr && gpus->takes(dtype) ? gpus : nullptr;
}

std::string_view Communicator::name() const noexcept { return impl_->name; }
int Communicator::rank() const noexcept { return impl_->transport->rank(); }
int Communicator::size() const noexcept { return impl_->transport->size(); }
int Communicator::intra_rank() const noexcept { return impl_->intra_rank; }
int Communicator::intra_size() const noexcept { return impl_->intra_size; }
int Communicator::inter_rank() const noexcept { return impl_->inter_rank; }
int Communicator::inter_size() const noexcept { return impl_->inter_size; }
const CommunicatorOptions& Communicator::options() const noexcept { return impl_->options; }
Transport& Communicator::transport() const noexcept { return *impl_->transport; }

Shared<Communicator> Communicator::split(int color, int key) const {
  agree(transport(), "split");
  Shared<Transport> part = transport().split(color, key);
  if (!part) return {};
  return Shared<Communicator>::make(impl_->name, std::move(part), impl_->options);
}

Shared<Communicator> internal::CommunicatorAccess::split_on_hosts(const Communicator& c) {
  agree(c.transport(), "split");
  const std::string_view name = c.impl_->kind == Communicator::Impl::Kind::pure_nccl ? "naive" : c.name();
  return Shared<Communicator>::make(name, c.transport().split(0, c.rank()), c.impl_->options);
}

// ---- arrays -------------------------------------------------------------------------------------
namespace {

std::string null_problem(std::string_view op, const Array& a) { return a ? "" : concat(op, ": the array is null"); }
std::string dtype_text(const Array& a) { return a ? std::string(catena::name_of(a.dtype())) : "null"; }
std::string text_of(const Array& a) { return a ? concat(dtype_text(a), " ", catena::to_string(a.shape())) : "null"; }

std::string root_problem(std::string_view op, int root, int size) {
  return root >= 0 && root < size ? "" : concat(op, ": there is no rank ", root, " among ", size);
}

// The problem of a list that must have an array for each rank; with `same_dtype`, of one dtype. Empty: none.
std::string list_problem(std::string_view op, const std::vector<Array>& arrays, int size, bool same_dtype) {
  if (arrays.size() != static_cast<std::size_t>(size))
    return concat(op, ": there are ", arrays.size(), " arrays for ", size, " ranks");
  for (const Array& a : arrays) {
    if (!a) return null_problem(op, a);
    if (same_dtype && a.dtype() != arrays[0].dtype())
      return concat(op, ": an array of ", a.dtype(), " beside one of ", arrays[0].dtype());
  }
  return {};
}

Device current_device() { return autograd::default_backend().default_device(); }

}  // namespace

void Communicator::send(const Array& a, int dest) const {
  check<ValueError>(bool(a), "send", "the array is null");
  communicators::internal::send_array(transport(), a, dest);
}

Array Communicator::recv(int source) const {
  return autograd::to_device(communicators::internal::receive_array(transport(), source), current_device());
}

Array Communicator::bcast(const Array& a, int root) const {
  constexpr const char* op = "bcast";
  Transport& t = transport();
  const bool is_root = rank() == root;
  std::string problem = root_problem(op, root, size());
  if (problem.empty() && is_root) problem = null_problem(op, a);
  agree(t, concat(op, " from rank ", root), std::move(problem));

  ArrayHead head = is_root ? ArrayHead(a) : ArrayHead();
  communicators::internal::broadcast(t, std::as_writable_bytes(std::span(&head, 1)), root);
  const Array host = is_root ? on_host(a) : head.empty();
  const bool fits = !a || (a.dtype() == host.dtype() && a.shape() == host.shape());
  agree(t, op, fits ? "" : concat(op, ": the array is ", text_of(a), ", that of the root is ", text_of(host)));
  communicators::internal::broadcast(t, communicators::internal::bytes_of(host), root);
  return is_root ? a : autograd::to_device(host, a ? a.device() : current_device());
}

std::vector<Array> Communicator::gather(const Array& a, int root) const {
  constexpr const char* op = "gather";
  Transport& t = transport();
  std::string problem = root_problem(op, root, size());
  if (problem.empty()) problem = null_problem(op, a);
  agree(t, concat(op, " of ", dtype_text(a), " to rank ", root), std::move(problem));
  std::vector<Array> all;
  if (rank() != root) {
    communicators::internal::send_array(t, a, root);
    return all;
  }
  for (int r = 0; r < size(); ++r)
    all.push_back(r == root ? a : autograd::to_device(communicators::internal::receive_array(t, r), a.device()));
  return all;
}

std::vector<Array> Communicator::allgather(const Array& a) const {
  constexpr const char* op = "allgather";
  agree(transport(), concat(op, " of ", dtype_text(a)), null_problem(op, a));
  std::vector<Array> all =
      communicators::internal::exchange_arrays(transport(), std::vector<Array>(static_cast<std::size_t>(size()), a));
  for (Array& one : all) one = autograd::to_device(one, a.device());
  return all;
}

Array Communicator::scatter(const std::vector<Array>& a, int root) const {
  constexpr const char* op = "scatter";
  Transport& t = transport();
  std::string problem = root_problem(op, root, size());
  if (problem.empty() && rank() == root) problem = list_problem(op, a, size(), false);
  agree(t, concat(op, " from rank ", root), std::move(problem));
  if (rank() != root) return autograd::to_device(communicators::internal::receive_array(t, root), current_device());
  for (int r = 0; r < size(); ++r)
    if (r != root) communicators::internal::send_array(t, a[static_cast<std::size_t>(r)], r);
  return a[static_cast<std::size_t>(root)];
}

std::vector<Array> Communicator::alltoall(const std::vector<Array>& a) const {
  constexpr const char* op = "alltoall";
  std::string problem = list_problem(op, a, size(), true);
  const std::string dtype = problem.empty() ? dtype_text(a[0]) : "";
  agree(transport(), concat(op, " of ", dtype), std::move(problem));
  const Device device = a[0].device();
  std::vector<Array> all = communicators::internal::exchange_arrays(transport(), a);
  for (Array& one : all) one = autograd::to_device(one, device);
  return all;
}

// ---- sums ---------------------------------------------------------------------------------------
std::string Communicator::Impl::summand_problem(std::string_view op, const Array& a) const {
  if (!a) return null_problem(op, a);
  if (kind != Kind::pure_nccl) return {};
  if (a.device().kind != Device::Kind::cuda)
    return concat(op, ": pure_nccl sums arrays of GPUs; this one is on ", a.device(), " (naive and flat sum any)");
  if (gpus->takes(a.dtype()) && !(a.device() == gpus->device()))
    return concat(op, ": pure_nccl sums on the GPU of its rank, ", gpus->device(), "; this array is on ", a.device());
  return {};
}

Array Communicator::Impl::sum(const Array& a, bool may_overwrite, std::optional<double> divisor) const {
  if (kind == Kind::dummy) return may_overwrite ? a : autograd::copy(a);
  if (kind == Kind::pure_nccl && gpus->takes(a.dtype())) {
    const Array result = may_overwrite && a.is_c_contiguous() ? a : autograd::copy(a);
    if (a.size() == 0) return result;
    const bool is_wide = catena::itemsize(a.dtype()) > 2;
    if (divisor && !is_wide) result /= *divisor;  // so that the sum does not overflow
    gpus->enqueue(result);
    if (!autograd::is_capturing()) gpus->wait();
    if (divisor && is_wide) result /= *divisor;
    return result;
  }
  Array host = on_host(a);
  if (host.get()->data == a.get()->data && !may_overwrite) host = autograd::copy(host);
  communicators::internal::all_reduce(*transport, kind == Kind::flat ? Summation::ring : Summation::ordered, host,
                                      divisor);
  return autograd::to_device(host, a.device());
}

void Communicator::Impl::agree_on_sum(const Array& a) const {
  constexpr const char* op = "allreduce";
  if (kind == Kind::dummy) check<ValueError>(bool(a), op, "the array is null");
  else agree(*transport, concat(op, " of ", text_of(a)), summand_problem(op, a));
}

Array Communicator::allreduce(const Array& a) const {
  impl_->agree_on_sum(a);
  return impl_->sum(a, false);
}

void internal::CommunicatorAccess::announce(const Communicator& c, std::string problem, bool is_sum) noexcept try {
  if (is_sum && c.impl_->kind == Communicator::Impl::Kind::dummy) return;
  agree(c.transport(), "", std::move(problem));
} catch (...) {  // the error of the arguments, which the caller throws, is the first cause
}

Array internal::CommunicatorAccess::consume(const Communicator& comm, const Array& a, std::optional<double> divisor) {
  comm.impl_->agree_on_sum(a);
  return comm.impl_->sum(a, true, divisor);
}

void Communicator::allreduce_into(const Array& a) const {
  const Array sum = allreduce(a);
  if (impl_->kind != Impl::Kind::dummy) autograd::assign(a, sum);
}

// ---- objects ------------------------------------------------------------------------------------
void Communicator::send_obj(std::string_view object, int dest) const {
  communicators::internal::send_text(transport(), object, dest);
}
std::string Communicator::recv_obj(int source) const {
  return communicators::internal::receive_text(transport(), source);
}

std::string Communicator::bcast_obj(std::string_view object, int root) const {
  agree(transport(), concat("bcast_obj from rank ", root), root_problem("bcast_obj", root, size()));
  return communicators::internal::broadcast_text(transport(), object, root);
}

std::vector<std::string> Communicator::gather_obj(std::string_view object, int root) const {
  agree(transport(), concat("gather_obj to rank ", root), root_problem("gather_obj", root, size()));
  return communicators::internal::gather_texts(transport(), object, root);
}

std::vector<std::string> Communicator::allgather_obj(std::string_view object) const {
  agree(transport(), "allgather_obj");
  return communicators::internal::all_gather_texts(transport(), object);
}

std::string Communicator::scatter_obj(const std::vector<std::string>& objects, int root) const {
  std::string problem = root_problem("scatter_obj", root, size());
  if (problem.empty() && rank() == root && objects.size() != static_cast<std::size_t>(size()))
    problem = concat("scatter_obj: there are ", objects.size(), " objects for ", size(), " ranks");
  agree(transport(), concat("scatter_obj from rank ", root), std::move(problem));
  return communicators::internal::scatter_text(transport(), objects, root);
}

std::map<std::string, double> Communicator::allreduce_obj(const std::map<std::string, double>& numbers) const {
  agree(transport(), "allreduce_obj");
  internal::MessageWriter own;
  for (const auto& [name, number] : numbers) {
    own.put_text(name);
    own.put(number);
  }
  std::map<std::string, double> sums;
  for (const std::string& text : communicators::internal::all_gather_texts(transport(), own.take())) {
    internal::MessageReader of_rank(text);
    while (!of_rank.is_empty()) {
      const std::string name(of_rank.get_text());
      sums[name] += of_rank.get<double>();
    }
  }
  return sums;
}

void Communicator::barrier() const { agree(transport(), "barrier"); }

}  // namespace training
