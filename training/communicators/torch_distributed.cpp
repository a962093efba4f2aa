#include <catena/training/communicators/torch_distributed.h>

#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/training/communicators/communicator.h>

namespace training::distributed {

using catena::check;
using catena::ValueError;

namespace {

CommunicatorPtr& group() {
  thread_local CommunicatorPtr group;
  return group;
}
const CommunicatorPtr& group(const char* op) {
  check<catena::RuntimeError>(bool(group()), op, "this thread has no process group: init_process_group() makes it");
  return group();
}
// Writes the result of a call to the tensor. ValueError unless both have one shape and dtype, which the tensors of
// other ranks need not have.
void write(const char* op, const Variable& tensor, const Array& values) {
  const Array& to = tensor.data();
  check<ValueError>(bool(to) && to.shape() == values.shape() && to.dtype() == values.dtype(), op, "the values are ",
                    values.dtype(), " ", values.shape(), ", and the tensor ",
                    bool(to) ? catena::concat("is ", to.dtype(), " ", to.shape()) : "is empty");
  autograd::assign(to, values);
}

Array reduced(const char* op, const Array& a, ReduceOp how) {
  namespace kernels = catena::kernels;
  const CommunicatorPtr& ranks = group(op);
  if (how == ReduceOp::SUM) return ranks.allreduce(a);
  if (how == ReduceOp::AVG) return autograd::astype(ranks.allreduce(a) / ranks.size(), a.dtype());
  const std::vector<Array> all = ranks.allgather(a);
  Array result = all[0];
  for (std::size_t i = 1; i < all.size(); ++i)
    result = how == ReduceOp::PRODUCT
                 ? result * all[i]
                 : autograd::apply(how == ReduceOp::MIN ? kernels::minimum : kernels::maximum, {result, all[i]});
  return result;
}

std::string communicator_of(const std::string& backend) {
  return backend == "gloo" || backend == "mpi" ? "naive" : backend == "nccl" ? "pure_nccl" : backend;
}
void check_given(const char* what, const std::optional<int>& given, int actual) {
  check<ValueError>(!given || *given == actual, "init_process_group", "the ", what, " of the run is ", actual, ", not ",
                    given.value_or(0));
}

}  // namespace

void init_process_group(catena::Shared<Communicator> communicator) {
  check<catena::RuntimeError>(!group(), "init_process_group", "this thread has a process group");
  group() = std::move(communicator);
}
void init_process_group(const ProcessGroupOptions& o) {
  check<catena::RuntimeError>(!group(), "init_process_group", "this thread has a process group");
  CommunicatorPtr made = create_communicator(communicator_of(o.backend), {.timeout = o.timeout});
  check_given("rank", o.rank, made.rank());
  check_given("number of ranks", o.world_size, made.size());
  init_process_group(std::move(made));
}
void destroy_process_group() {
  group("destroy_process_group");
  group() = {};
}

bool is_initialized() noexcept { return bool(group()); }
int get_rank() { return group("get_rank").rank(); }
int get_world_size() { return group("get_world_size").size(); }
std::string get_backend() { return std::string(group("get_backend")->name()); }
void barrier() { group("barrier").barrier(); }

void all_reduce(const Variable& tensor, ReduceOp op) {
  write("all_reduce", tensor, reduced("all_reduce", tensor.data(), op));
}
void reduce(const Variable& tensor, int dst, ReduceOp op) {
  const Array result = reduced("reduce", tensor.data(), op);
  if (get_rank() == dst) write("reduce", tensor, result);
}
void broadcast(const Variable& tensor, int src) {
  write("broadcast", tensor, group("broadcast").bcast(tensor.data(), src));
}
void all_gather(const std::vector<Variable>& tensor_list, const Variable& tensor) {
  const std::vector<Array> all = group("all_gather").allgather(tensor.data());
  check<ValueError>(tensor_list.size() == all.size(), "all_gather", "the list has ", tensor_list.size(),
                    " tensors; there are ", all.size(), " ranks");
  for (std::size_t i = 0; i < all.size(); ++i) write("all_gather", tensor_list[i], all[i]);
}
void send(const Variable& tensor, int dst) { group("send").send(tensor.data(), dst); }
void recv(const Variable& tensor, int src) { write("recv", tensor, group("recv").recv(src)); }

}  // namespace training::distributed
