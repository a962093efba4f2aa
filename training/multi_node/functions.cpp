#include <catena/training/multi_node/functions.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/function_node.h>
#include <catena/autograd/missing_gradients.h>
#include <catena/autograd/variable_node.h>
#include <catena/kernels/base/error.h>
#include <catena/training/communicators/communicator_state.h>
#include <catena/training/parallel/worker_process.h>

namespace training::functions {

using autograd::Arrays;
using autograd::Device;
using autograd::Dtype;
using autograd::FunctionNode;
using autograd::Targets;
using autograd::internal::ArrayKind;
using autograd::internal::constant_variable;
using autograd::internal::kinds_of;
using autograd::internal::with_zeros;
using catena::check;
using internal::checked;
using internal::MessageReader;
using internal::MessageWriter;

namespace {

Array delegate_on(const Device& device) { return autograd::arrays::zeros({}, Dtype::float32, device); }

// The gradients of the targets: g for input 0, none for others.
Variables of_input(const Targets& targets, const Variable& g) {
  Variables gradients;
  for (const int target : targets) gradients.push_back(target == 0 ? g : Variable());
  return gradients;
}

// A call in which other ranks take part. Its last input is an anchor, to which this object has a handle: without a
// variable that gets a gradient, backward() would not be called, and the other ranks would wait for it.
class Communication : public FunctionNode {
 public:
  explicit Communication(const AnyCommunicator& comm) : comm_(comm) {}
  Variables connect(Variables inputs, const Device& device) {
    anchor_ = Variable(delegate_on(device));
    inputs.push_back(anchor_);
    return apply(inputs);
  }
  using FunctionNode::apply;

 protected:
  const Communicator& comm() const noexcept { return *comm_; }
  const AnyCommunicator& any_comm() const noexcept { return comm_; }
  // For delegates.
  Variables zeros_of(const Targets& targets, const Device& device) const {
    Variables gradients;
    for (const int target : targets)
      gradients.push_back(constant_variable(autograd::arrays::zeros(input_shape(target), input_dtype(target), device)));
    return gradients;
  }
  void check_first_derivative() const {
    check<catena::NotImplementedError>(!needs_double_backprop(), label(),
                                       "the gradient of a function with a root or a receiver cannot be differentiated "
                                       "again; allreduce, allgather and alltoall can");
  }

 private:
  AnyCommunicator comm_;
  Variable anchor_;
};

// ---- point to point ----

// Precedes an array: the receiver sends the number back with the gradient, so that the sender can check that it is the
// one of this call.
struct Header {
  std::uint64_t call;
  bool has_gradient;
};
std::string packed(const Header& h) {
  MessageWriter w;
  w.put(h.call);
  w.put(h.has_gradient);
  return w.take();
}
Header header_of(const std::string& message) {
  MessageReader r(message);
  const auto call = r.get<std::uint64_t>();
  return {call, r.get<bool>()};
}
std::uint64_t new_call() {
  static std::atomic<std::uint64_t> calls{0};
  return calls.fetch_add(1, std::memory_order_relaxed);
}

void send_array(const Communicator& comm, const Header& header, const Array& a, int rank) {
  comm.send_obj(packed(header), rank);
  comm.send(a, rank);
}

class Send final : public Communication {
 public:
  Send(const AnyCommunicator& comm, int rank) : Communication(comm), rank_(rank), call_(new_call()) {}
  std::string label() const override { return "Send"; }
  Arrays forward(const Arrays& in) override {
    device_ = in[0].device();
    send_array(comm(), {call_, true}, in[0], rank_);
    return {delegate_on(device_)};
  }
  Variables backward(const Targets& targets, const Variables&) override {
    check_first_derivative();
    const Header header = header_of(comm().recv_obj(rank_));
    check<catena::RuntimeError>(header.call == call_, "send", "rank ", rank_,
                                " runs its backward pass in another order, so that the gradient of another call came; "
                                "pseudo_connect() determines the order");
    return of_input(targets, constant_variable(autograd::to_device(comm().recv(rank_), device_)));
  }

 private:
  int rank_;
  std::uint64_t call_;
  Device device_;
};

class Recv final : public Communication {
 public:
  Recv(const AnyCommunicator& comm, int rank, std::uint64_t call) : Communication(comm), rank_(rank), call_(call) {}
  std::string label() const override { return "Recv"; }
  Arrays forward(const Arrays& in) override {
    device_ = in[0].device();
    return {autograd::to_device(comm().recv(rank_), device_)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    check_first_derivative();
    send_array(comm(), {call_, false}, gy[0].data(), rank_);
    return zeros_of(targets, device_);
  }

 private:
  int rank_;
  std::uint64_t call_;
  Device device_;
};

class PseudoConnect final : public FunctionNode {
 public:
  std::string label() const override { return "PseudoConnect"; }
  Arrays forward(const Arrays& in) override {
    device_ = in[0].device();
    Arrays actual;
    for (std::size_t k = 1; k < in.size(); ++k) actual.push_back(in[k]);
    return actual;
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    Variables gradients;
    for (const int target : targets) {
      if (target > 0) gradients.push_back(gy[std::size_t(target - 1)]);
      else gradients.push_back(constant_variable(autograd::arrays::zeros(input_shape(0), input_dtype(0), device_)));
    }
    return gradients;
  }

 protected:
  bool allows_mixed_devices() const noexcept override { return true; }

 private:
  Device device_;
};

// ---- collective functions ----

Arrays on_device(const std::vector<Array>& received, const Device& device) {
  Arrays arrays;
  for (const Array& a : received) arrays.push_back(autograd::to_device(a, device));
  return arrays;
}
Variable sum_of(const Variables& terms) {
  Variable sum = terms[0];
  for (std::size_t k = 1; k < terms.size(); ++k) sum = sum + terms[k];
  return sum;
}

class Bcast final : public Communication {
 public:
  Bcast(const AnyCommunicator& comm, int root) : Communication(comm), root_(root) {}
  std::string label() const override { return "Bcast"; }
  Arrays forward(const Arrays& in) override {
    device_ = in[0].device();
    const bool is_root = comm().rank() == root_;
    return {autograd::to_device(comm().bcast(is_root ? in[0] : Array(), root_), device_)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    check_first_derivative();
    const Array& own = gy[0].data();
    const std::vector<Array> all = comm().gather(own, root_);
    if (comm().rank() != root_) return zeros_of(targets, device_);
    Array sum = autograd::copy(autograd::to_device(all[0], own.device()));
    for (std::size_t r = 1; r < all.size(); ++r) sum += autograd::to_device(all[r], own.device());
    return of_input(targets, constant_variable(sum));
  }

 private:
  int root_;
  Device device_;
};

class Gather final : public Communication {
 public:
  Gather(const AnyCommunicator& comm, int root) : Communication(comm), root_(root) {}
  std::string label() const override { return "Gather"; }
  Arrays forward(const Arrays& in) override {
    device_ = in[0].device();
    const std::vector<Array> all = comm().gather(in[0], root_);
    if (comm().rank() != root_) return {delegate_on(device_)};
    const Arrays results = on_device(all, device_);
    kinds_ = kinds_of(results);
    return results;
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    check_first_derivative();
    if (comm().rank() != root_)
      return of_input(targets, constant_variable(autograd::to_device(comm().recv(root_), device_)));
    const Variables all = with_zeros(gy, kinds_);
    for (int r = 0; r < comm().size(); ++r)
      if (r != root_) comm().send(all[std::size_t(r)].data(), r);
    return of_input(targets, all[std::size_t(root_)]);
  }

 private:
  int root_;
  Device device_;
  std::vector<ArrayKind> kinds_;  // of the results on the root
};

class Scatter final : public Communication {
 public:
  Scatter(const AnyCommunicator& comm, int root) : Communication(comm), root_(root) {}
  std::string label() const override { return "Scatter"; }
  Arrays forward(const Arrays& in) override {
    device_ = in[0].device();
    std::vector<Array> sent;
    if (comm().rank() == root_) {
      sent.assign(in.begin(), in.end() - 1);  // without the anchor
      for (const Array& a : sent) kinds_.emplace_back(a);
    }
    return {autograd::to_device(comm().scatter(sent, root_), device_)};
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    check_first_derivative();
    if (comm().rank() != root_) {
      comm().send(gy[0].data(), root_);
      return zeros_of(targets, device_);
    }
    Variables all;
    for (int r = 0; r < comm().size(); ++r) {
      if (r == root_) all.push_back(gy[0]);
      else if (catena::is_floating(kinds_[std::size_t(r)].dtype))
        all.push_back(constant_variable(autograd::to_device(comm().recv(r), device_)));
      else all.emplace_back();
    }
    all.emplace_back();  // of the anchor
    Variables gradients;
    for (const int target : targets) gradients.push_back(all[std::size_t(target)]);
    return gradients;
  }

 private:
  int root_;
  Device device_;
  std::vector<ArrayKind> kinds_;  // of the root's list
};

class Alltoall final : public Communication {
 public:
  using Communication::Communication;
  std::string label() const override { return "AllToAll"; }
  Arrays forward(const Arrays& in) override {
    const Arrays results = on_device(comm().alltoall(std::vector<Array>(in.begin(), in.end() - 1)), in[0].device());
    kinds_ = kinds_of(results);
    return results;
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    const Variables all = alltoall(any_comm(), with_zeros(gy, kinds_));
    Variables gradients;
    for (const int target : targets)
      gradients.push_back(std::size_t(target) < all.size() ? all[std::size_t(target)] : Variable());
    return gradients;
  }

 private:
  std::vector<ArrayKind> kinds_;
};

class Allgather final : public Communication {
 public:
  using Communication::Communication;
  std::string label() const override { return "AllGather"; }
  Arrays forward(const Arrays& in) override {
    const Arrays results = on_device(comm().allgather(in[0]), in[0].device());
    kinds_ = kinds_of(results);
    return results;
  }
  Variables backward(const Targets& targets, const Variables& gy) override {
    return of_input(targets, sum_of(alltoall(any_comm(), with_zeros(gy, kinds_))));
  }

 private:
  std::vector<ArrayKind> kinds_;
};

class Allreduce final : public Communication {
 public:
  using Communication::Communication;
  std::string label() const override { return "AllReduce"; }
  Arrays forward(const Arrays& in) override { return {autograd::to_device(comm().allreduce(in[0]), in[0].device())}; }
  Variables backward(const Targets& targets, const Variables& gy) override {
    return of_input(targets, allreduce(any_comm(), gy[0]));
  }
};

const Variable& present(const char* op, const Variable& x) {
  check<catena::TypeError>(x && x.data(), op, "the variable is null");
  return x;
}
void check_list(const char* op, const Variables& xs) {
  for (const Variable& x : xs) present(op, x);
  for (const Variable& x : xs)
    check<catena::ValueError>(x.device() == xs[0].device(), op, "an array is on ", x.device(), ", the first one is on ",
                              xs[0].device(), "; the list must be on one device");
}
// Checks the inputs of a collective call. If they are wrong on this rank, the other ranks get the same text.
void check_inputs(const char* op, const AnyCommunicator& comm, const Variables& xs, bool is_sum = false) {
  internal::CommunicatorAccess::check_arguments(
      *comm, [&] { check_list(op, xs); }, is_sum);
}
Device device_of(const Variable& x) { return x ? x.device() : autograd::default_backend().default_device(); }

template <class Node, class... A> Variables call(const Variables& inputs, const Device& device, A&&... a) {
  return autograd::make_node<Node>(std::forward<A>(a)...)->connect(inputs, device);
}

}  // namespace

Variable send(const Variable& x, AnyCommunicator comm, int rank) {
  internal::check_rank("send", *checked("send", comm), rank, "the receiver");
  if (catena::is_floating(present("send", x).dtype())) return call<Send>({x}, x.device(), comm, rank)[0];
  send_array(*comm, {new_call(), false}, x.data(), rank);
  return Variable(delegate_on(x.device()));
}

Variable recv(AnyCommunicator comm, int rank, const Variable& delegate) {
  internal::check_rank("recv", *checked("recv", comm), rank, "the sender");
  const Header header = header_of(comm->recv_obj(rank));
  if (!header.has_gradient) return Variable(comm->recv(rank), {.requires_grad = false});
  const Variables inputs = delegate ? Variables{delegate} : Variables{};
  return call<Recv>(inputs, device_of(delegate), comm, rank, header.call)[0];
}

Variables pseudo_connect(const Variable& delegate, const Variables& actual) {
  Variables inputs{present("pseudo_connect", delegate)};
  for (const Variable& x : actual) inputs.push_back(present("pseudo_connect", x));
  return autograd::apply_node<PseudoConnect>(inputs);
}
Variable pseudo_connect(const Variable& delegate, const Variable& actual) {
  return pseudo_connect(delegate, Variables{actual})[0];
}

Variable bcast(AnyCommunicator comm, const Variable& x, int root) {
  internal::check_rank("bcast", *checked("bcast", comm), root, "the root");
  const Variables inputs = comm->rank() == root || x ? Variables{x} : Variables{};
  check_inputs("bcast", comm, inputs);
  return call<Bcast>(inputs, device_of(x), comm, root)[0];
}

Variables gather(AnyCommunicator comm, const Variable& x, int root) {
  internal::check_rank("gather", *checked("gather", comm), root, "the root");
  check_inputs("gather", comm, {x});
  if (catena::is_floating(x.dtype()) || comm->rank() == root) return call<Gather>({x}, x.device(), comm, root);
  comm->gather(x.data(), root);
  return {Variable(delegate_on(x.device()))};
}

Variable scatter(AnyCommunicator comm, const Variables& xs, int root) {
  internal::check_rank("scatter", *checked("scatter", comm), root, "the root");
  check_inputs("scatter", comm, xs);
  return call<Scatter>(xs, device_of(xs.empty() ? Variable() : xs[0]), comm, root)[0];
}

Variables alltoall(AnyCommunicator comm, const Variables& xs) {
  checked("alltoall", comm);
  internal::CommunicatorAccess::check_arguments(*comm, [&] {
    check<catena::ValueError>(int(xs.size()) == comm->size(), "alltoall", "the list has ", xs.size(), " entries for ",
                              comm->size(), " ranks");
    check_list("alltoall", xs);
  });
  return call<Alltoall>(xs, xs[0].device(), comm);
}

Variables allgather(AnyCommunicator comm, const Variable& x) {
  checked("allgather", comm);
  check_inputs("allgather", comm, {x});
  return call<Allgather>({x}, x.device(), comm);
}

Variable allreduce(AnyCommunicator comm, const Variable& x) {
  checked("allreduce", comm);
  check_inputs("allreduce", comm, {x}, true);
  return call<Allreduce>({x}, x.device(), comm)[0];
}

}  // namespace training::functions
