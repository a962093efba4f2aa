#include <catena/ndarray/cuda/vendor/nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <thread>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/graph.h>
#include <catena/ndarray/cuda/runtime/launch.h>
#include <catena/ndarray/cuda/vendor/vendor.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/device/stream.h>
#include <catena/ndarray/engine/execute.h>

namespace nd::cuda {
namespace {

using catena::check;
using catena::TypeError;
using catena::ValueError;

const char* name_of(api::nccl_result result) {
  switch (result) {
    case api::nccl_unhandled_cuda_error: return "ncclUnhandledCudaError";
    case api::nccl_system_error: return "ncclSystemError";
    case api::nccl_internal_error: return "ncclInternalError";
    case api::nccl_invalid_argument: return "ncclInvalidArgument";
    case api::nccl_invalid_usage: return "ncclInvalidUsage";
    case api::nccl_remote_error: return "ncclRemoteError";
    case api::nccl_in_progress: return "ncclInProgress";
    default: return "unknown result";
  }
}

void load_nccl(Nccl& table) {
  const Library library({"NCCL", {"libnccl.so.2", "libnccl.so"}});
  CATENA_NCCL_FUNCTIONS(CATENA_RESOLVE)
  CATENA_NCCL_LATER_FUNCTIONS(CATENA_RESOLVE_OPTIONAL)
  table.path = library.path();
  const api::nccl_result status = table.get_version(&table.version);
  if (status != api::nccl_success) library.fail_answer(api::NcclNames::get_version, status, name_of(status));
  constexpr int kWithThisConfig = 21700;  // earlier releases have another ncclConfig_t
  if (table.version < kWithThisConfig) table.comm_init_rank_config = nullptr;
}

// NCCL keeps a text about its last failure.
void check_nccl(api::nccl_result result, const char* call) {
  if (result == api::nccl_success) [[likely]]
    return;
  const char* words = nccl().get_last_error(nullptr);
  fail_vendor({"NCCL", result, name_of(result)},
              words != nullptr && *words != '\0' ? catena::concat(call, ": ", words) : std::string(call));
}
#define CATENA_NCCL(field, ...) check_nccl(nccl().field(__VA_ARGS__), api::NcclNames::field)

// The pause before the next look at something that has not ended: yields at first, then sleeps, a millisecond at most.
class Pause {
 public:
  void operator()() {
    constexpr int kYields = 200;
    constexpr std::chrono::microseconds kFirst{20}, kLongest{1000};
    if (++count_ <= kYields) return std::this_thread::yield();
    length_ = std::min(std::max(length_ * 2, kFirst), kLongest);
    std::this_thread::sleep_for(length_);
  }

 private:
  int count_ = 0;
  std::chrono::microseconds length_{0};
};

// A call for a nonblocking communicator may return before it has ended; this waits for its end, as the next call must.
api::nccl_result settled(api::nccl_comm comm, api::nccl_result result) {
  for (Pause pause; result == api::nccl_in_progress; pause()) {
    const api::nccl_result asked = nccl().comm_get_async_error(comm, &result);
    if (asked != api::nccl_success) return asked;
  }
  return result;
}

// The work of a group is enqueued when the outermost group of the thread ends; before that, waiting for a stream is
// impossible, and the memory of its arrays must not be reused.
struct Groups {
  int open = 0;
  struct Held {
    const char* name;
    StreamRef stream;
    api::nccl_comm comm;
    std::shared_ptr<const void> communicator;
    std::vector<Array> arrays;
  };
  std::vector<Held> held;
};
thread_local Groups groups;

template <class Call>
void communicate(const char* name, StreamRef stream, api::nccl_comm comm,
                 const std::shared_ptr<const void>& communicator, std::vector<Array> arrays, std::size_t count,
                 Call&& call) {
  record_call(name, stream, {static_cast<std::int64_t>(count)});
  if (groups.open == 0) {
    check_nccl(settled(comm, call()), name);
    return after_call(name, stream);
  }
  groups.held.push_back(
      {name, stream, comm, communicator, std::move(arrays)});  // before the call, so that no work exists without arrays
  check_nccl(call(), name);
}
// `count` is the number of elements; the stream is the last argument of the call.
#define CATENA_NCCL_WORK(field, stream, arrays, count, ...)                  \
  communicate(api::NcclNames::field, stream, comm(), handle_, arrays, count, \
              [&] { return nccl().field(__VA_ARGS__, stream_of(stream)); })
// Returns the arrays that an open group must keep until its end; none outside of a group.
template <class... A> std::vector<Array> arrays(const A&... a) {
  if (groups.open == 0) return {};
  return {a...};
}

int type_of(const char* op, const Array& a) {
  switch (a.dtype()) {
    case Dtype::int8: return api::nccl_int8;
    case Dtype::uint8: return api::nccl_uint8;
    case Dtype::int32: return api::nccl_int32;
    case Dtype::uint32: return api::nccl_uint32;
    case Dtype::int64: return api::nccl_int64;
    case Dtype::uint64: return api::nccl_uint64;
    case Dtype::float16: return api::nccl_float16;
    case Dtype::float32: return api::nccl_float32;
    case Dtype::float64: return api::nccl_float64;
    case Dtype::bfloat16: return api::nccl_bfloat16;
    default: catena::fail<TypeError>(op, "NCCL has no dtype for arrays of ", a.dtype());
  }
}

void check_like(const char* op, const Array& in, const Array& out, std::int64_t factor_in, std::int64_t factor_out) {
  check<TypeError>(in.dtype() == out.dtype(), op, "in is ", in.dtype(), ", out is ", out.dtype(), "; they must agree");
  check<ValueError>(in.size() * factor_in == out.size() * factor_out, op, "in ", in.shape(), " does not fit out ",
                    out.shape());
}

void* written(const Array& a) {
  if (a->storage != nullptr) a->storage->version.fetch_add(1, catena::MemoryOrder::relaxed);
  return a->data;
}
std::size_t count_of(const Array& a) { return static_cast<std::size_t>(a.size()); }

}  // namespace

const Nccl& nccl() {
  static const auto& loaded = *new Loaded<Nccl>(load_nccl);
  return loaded.get();
}

NcclUniqueId nccl_unique_id() {
  NcclUniqueId id{};
  CATENA_NCCL(get_unique_id, &id);
  return id;
}

// ---- construction -------------------------------------------------------------------------------
struct NcclCommunicator::Handle {
  api::nccl_comm comm;
  int device;

  Handle(api::nccl_comm made, int on_device) : comm(made), device(on_device) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (comm == nullptr || !is_healthy(device)) return;
    driver().context_set_current(primary_context(device));
    nccl().comm_destroy(comm);
  }
};

NcclCommunicator::NcclCommunicator(api::nccl_comm comm, int size, int rank, int device)
    : handle_(std::make_shared<Handle>(comm, device)), size_(size), rank_(rank), device_(device) {}

api::nccl_comm NcclCommunicator::comm() const noexcept { return handle_ != nullptr ? handle_->comm : nullptr; }

NcclCommunicator::NcclCommunicator(int size, const NcclUniqueId& id, int rank, const NcclOptions& options)
    : NcclCommunicator(nullptr, size, rank, current_device().id) {
  constexpr const char* op = "NcclCommunicator";
  check<ValueError>(size >= 1 && rank >= 0 && rank < size, op, "rank ", rank, " is none of ", size);
  check<ValueError>(current_device().kind == Device::Kind::cuda, op, "the current device is ", current_device(),
                    ", not a cuda device");
  check<ValueError>(options.nonblocking || !options.while_waiting, op,
                    "while_waiting is called by nonblocking communicators only");
  use_device(device_);
  if (options.nonblocking && nccl().comm_init_rank_config != nullptr) {
    join(id, options);
  } else {
    api::nccl_comm comm = nullptr;
    CATENA_NCCL(comm_init_rank, &comm, size, id, rank);
    handle_->comm = comm;
  }
}

void NcclCommunicator::join(const NcclUniqueId& id, const NcclOptions& options) {
  constexpr const char* name = api::NcclNames::comm_init_rank_config;
  api::nccl_config config{.blocking = 0};
  api::nccl_comm comm = nullptr;
  api::nccl_result result = nccl().comm_init_rank_config(&comm, size_, id, rank_, &config);
  try {
    for (Pause pause; result == api::nccl_in_progress; pause()) {
      if (options.while_waiting) options.while_waiting();
      CATENA_NCCL(comm_get_async_error, comm, &result);
    }
    check_nccl(result, name);
  } catch (...) {
    if (comm != nullptr) nccl().comm_abort(comm);
    throw;
  }
  handle_->comm = comm;
}

std::vector<NcclCommunicator> NcclCommunicator::all(std::span<const int> devices) {
  constexpr const char* op = "NcclCommunicator::all";
  check<ValueError>(!devices.empty(), op, "no devices are given");
  for (const int device : devices) {
    properties(device);  // throws for a device number that does not exist
    check<ValueError>(std::count(devices.begin(), devices.end(), device) == 1, op, "device ", device,
                      " is given twice");
  }
  const int size = static_cast<int>(devices.size());
  std::vector<api::nccl_comm> comms(devices.size());
  CATENA_NCCL(comm_init_all, comms.data(), size, devices.data());
  std::vector<NcclCommunicator> result;
  for (int rank = 0; rank < size; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    result.push_back(NcclCommunicator(comms[i], size, rank, devices[i]));
  }
  return result;
}

// ---- communication ------------------------------------------------------------------------------
void NcclCommunicator::check_peer(const char* op, int peer) const {
  check<ValueError>(peer >= 0 && peer < size_, op, "rank ", peer, " is none of ", size_);
}

// Checks the arrays and returns the stream to use.
StreamRef NcclCommunicator::prepare(const char* op, std::initializer_list<Array> arrays) const {
  check<ValueError>(comm() != nullptr, op, "the communicator was aborted");
  const Device device{Device::Kind::cuda, static_cast<std::int16_t>(device_)};
  for (const Array& a : arrays) {
    check<ValueError>(!a.is_null() && a.device() == device, op, "the communicator is on ", device, ", an array is ",
                      a.is_null() ? "null" : "on " + catena::to_string(a.device()));
    check<ValueError>(a.is_c_contiguous(), op, "an array of shape ", a.shape(), " and strides ", a.strides(),
                      " is not C-contiguous");
  }
  const StreamRef stream = current_stream(device);
  for (const Array& a : arrays) {
    const catena::ArrayHeader* const used[] = {a.get()};
    internal::record_operands(stream, used);
  }
  use_device(device_);
  keep_in_graph(handle_);
  return stream;
}

void NcclCommunicator::all_reduce(const Array& in, const Array& out, NcclOp op) const {
  constexpr const char* name = "NcclCommunicator::all_reduce";
  const StreamRef stream = prepare(name, {in, out});
  check_like(name, in, out, 1, 1);
  const int type = type_of(name, in);
  CATENA_NCCL_WORK(all_reduce, stream, arrays(in, out), count_of(in), in->data, written(out), count_of(in), type,
                   static_cast<int>(op), comm());
}

void NcclCommunicator::reduce(const Array& in, const Array& out, int root, NcclOp op) const {
  constexpr const char* name = "NcclCommunicator::reduce";
  check_peer(name, root);
  const StreamRef stream = rank_ == root ? prepare(name, {in, out}) : prepare(name, {in});
  if (rank_ == root) check_like(name, in, out, 1, 1);
  const int type = type_of(name, in);
  void* const to = rank_ == root ? written(out) : nullptr;
  CATENA_NCCL_WORK(reduce, stream, arrays(in, out), count_of(in), in->data, to, count_of(in), type,
                   static_cast<int>(op), root, comm());
}

void NcclCommunicator::broadcast(const Array& a, int root) const {
  constexpr const char* name = "NcclCommunicator::broadcast";
  check_peer(name, root);
  const StreamRef stream = prepare(name, {a});
  const int type = type_of(name, a);
  CATENA_NCCL_WORK(broadcast, stream, arrays(a), count_of(a), a->data, rank_ == root ? a->data : written(a),
                   count_of(a), type, root, comm());
}

void NcclCommunicator::all_gather(const Array& in, const Array& out) const {
  constexpr const char* name = "NcclCommunicator::all_gather";
  const StreamRef stream = prepare(name, {in, out});
  check_like(name, in, out, size_, 1);
  const int type = type_of(name, in);
  CATENA_NCCL_WORK(all_gather, stream, arrays(in, out), count_of(in), in->data, written(out), count_of(in), type,
                   comm());
}

void NcclCommunicator::reduce_scatter(const Array& in, const Array& out, NcclOp op) const {
  constexpr const char* name = "NcclCommunicator::reduce_scatter";
  const StreamRef stream = prepare(name, {in, out});
  check_like(name, in, out, 1, size_);
  const int type = type_of(name, in);
  CATENA_NCCL_WORK(reduce_scatter, stream, arrays(in, out), count_of(out), in->data, written(out), count_of(out), type,
                   static_cast<int>(op), comm());
}

void NcclCommunicator::send(const Array& a, int peer) const {
  constexpr const char* name = "NcclCommunicator::send";
  check_peer(name, peer);
  const StreamRef stream = prepare(name, {a});
  const int type = type_of(name, a);
  CATENA_NCCL_WORK(send, stream, arrays(a), count_of(a), a->data, count_of(a), type, peer, comm());
}

void NcclCommunicator::receive(const Array& a, int peer) const {
  constexpr const char* name = "NcclCommunicator::receive";
  check_peer(name, peer);
  const StreamRef stream = prepare(name, {a});
  const int type = type_of(name, a);
  CATENA_NCCL_WORK(receive, stream, arrays(a), count_of(a), written(a), count_of(a), type, peer, comm());
}

void NcclCommunicator::check_async_error() const {
  check<ValueError>(comm() != nullptr, "NcclCommunicator", "the communicator was aborted");
  api::nccl_result error = api::nccl_success;
  CATENA_NCCL(comm_get_async_error, comm(), &error);
  if (error != api::nccl_in_progress) check_nccl(error, api::NcclNames::comm_get_async_error);
}

void NcclCommunicator::wait(const std::function<void()>& while_waiting) {
  forbid_recording("NcclCommunicator::wait", "because it waits for the device");
  catena::check<catena::RuntimeError>(comm() != nullptr, "NcclCommunicator::wait", "the communicator was aborted");
  try {
    const Device device{Device::Kind::cuda, static_cast<std::int16_t>(device_)};
    const DeviceScope on(device);
    const Event end({.disable_timing = true});
    runtime(Device::Kind::cuda).record_event(end.ptr(), current_stream(device));
    for (Pause pause; !end.done(); pause()) {
      check_async_error();
      if (while_waiting) while_waiting();
    }
    check_async_error();
  } catch (...) {
    if (is_healthy(device_)) nccl().comm_abort(std::exchange(handle_->comm, nullptr));
    throw;
  }
}

void NcclCommunicator::abort() {
  if (comm() == nullptr) return;
  use_device(device_);
  CATENA_NCCL(comm_abort, std::exchange(handle_->comm, nullptr));
}

NcclGroup::NcclGroup() {
  CATENA_NCCL(group_start);
  ++groups.open;
}

// The destructor runs without end() because of an exception, which is more informative than an error of the library.
NcclGroup::~NcclGroup() {
  if (!open_) return;
  const bool outermost = --groups.open == 0;
  nccl().group_end();
  if (outermost) groups.held.clear();
}

void NcclGroup::end() {
  open_ = false;
  const bool outermost = --groups.open == 0;
  const std::vector<Groups::Held> held = outermost ? std::exchange(groups.held, {}) : std::vector<Groups::Held>();
  api::nccl_result result = nccl().group_end();
  if (result == api::nccl_in_progress) {  // of some communicator
    result = api::nccl_success;
    for (const Groups::Held& h : held)
      if (result == api::nccl_success) result = settled(h.comm, api::nccl_in_progress);
  }
  check_nccl(result, api::NcclNames::group_end);
  for (const Groups::Held& h : held) {
    use_device(h.stream.device.id);
    after_call(h.name, h.stream);
  }
}

}  // namespace nd::cuda
