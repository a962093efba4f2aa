// The names of torch.distributed: the ranks of the run that catena-run or mpirun has started, and what they exchange.
//
//   training::distributed::init_process_group("gloo");
//   training::distributed::all_reduce(loss, training::distributed::ReduceOp::AVG);
//   training::distributed::destroy_process_group();
//
// A group belongs to the thread that has made it: the other functions are a RuntimeError on a thread without one.
// Functions of several ranks are called by all of them, in the same order; errors as in communicator.h. A tensor is
// written in place. (Gradients of a model: create_multi_node_optimizer.)
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <vector>

#include <catena/autograd/variable.h>
#include <catena/kernels/base/pointers.h>

namespace training {
class Communicator;
}
namespace training::distributed {

using autograd::Variable;

enum class ReduceOp { SUM, AVG, PRODUCT, MIN, MAX };

struct ProcessGroupOptions {
  // "gloo" or "mpi": "naive" of create_communicator(); "nccl": "pure_nccl"; or a name of that function.
  std::string backend = "gloo";
  std::string init_method = {};  // has no effect: the launcher has connected the ranks
  std::optional<int> rank = {};  // where given, those of the run (ValueError)
  std::optional<int> world_size = {};
  std::optional<double> timeout = 600;  // in seconds, of each call
};
// RuntimeError if the thread has a group.
CATENA_EXPORT void init_process_group(const ProcessGroupOptions& options = {});
template <std::convertible_to<std::string> B>
void init_process_group(const B& backend, ProcessGroupOptions options = {}) {
  options.backend = backend;
  init_process_group(options);
}
// A group of the ranks of a communicator.
CATENA_EXPORT void init_process_group(catena::Shared<Communicator> communicator);
CATENA_EXPORT void destroy_process_group();
constexpr bool is_available() noexcept { return true; }
CATENA_EXPORT bool is_initialized() noexcept;
CATENA_EXPORT int get_rank();
CATENA_EXPORT int get_world_size();
CATENA_EXPORT std::string get_backend();  // the name of the communicator
CATENA_EXPORT void barrier();

struct ReduceOptions {
  ReduceOp op = ReduceOp::SUM;
};
// The sum, mean, product, least or largest of the elements of all ranks: on all of them, or on the rank dst, where the
// others keep their values.
CATENA_EXPORT void all_reduce(const Variable& tensor, ReduceOp op = ReduceOp::SUM);
template <std::same_as<ReduceOptions> O = ReduceOptions> void all_reduce(const Variable& tensor, const O& options) {
  all_reduce(tensor, options.op);
}
CATENA_EXPORT void reduce(const Variable& tensor, int dst, ReduceOp op = ReduceOp::SUM);

struct SourceOptions {
  int src = 0;
};
// The values of the rank src.
CATENA_EXPORT void broadcast(const Variable& tensor, int src);
template <std::same_as<SourceOptions> O = SourceOptions> void broadcast(const Variable& tensor, const O& options) {
  broadcast(tensor, options.src);
}
// The tensors of all ranks, which have one shape, by rank. ValueError unless the list has as many.
CATENA_EXPORT void all_gather(const std::vector<Variable>& tensor_list, const Variable& tensor);
// To a rank and from one.
CATENA_EXPORT void send(const Variable& tensor, int dst);
CATENA_EXPORT void recv(const Variable& tensor, int src);

}  // namespace training::distributed
