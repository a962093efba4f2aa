#include <catena/tests/support/cuda_device/nccl_ranks.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <system_error>
#include <utility>

#include <catena/tests/support/cuda_device/exports.h>
#include <catena/tests/support/cuda_device/library_work.h>

namespace cuda_device::nccl {

using namespace nd::cuda::api;
using Bytes = std::vector<std::byte>;

namespace {

// The beginning of a file, before the elements.
struct Head {
  int kind, type, op, other;
  std::uint64_t count;
};

constexpr const char* kPrefix = "software_nccl.";

std::string all_folders() {
  const char* const temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}
std::string folder_of(const std::string& id) { return all_folders() + "/" + kPrefix + id; }

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

struct Rank::State {
  State(const std::string& id, int size_, int rank_) : folder(folder_of(id)), size(size_), rank(rank_) {}
  ~State() { leave(); }

  nccl_result join();
  nccl_result status();
  bool has_ended(int other);  // after has_come(other)
  bool has_come(int other);
  void leave();
  void abort();
  bool is_ready(const std::vector<std::pair<int, std::string>>& files);

  std::string path(const std::string& name) const { return folder + "/" + name; }
  std::string path_of_rank(int r) const { return path("rank." + std::to_string(r)); }
  std::string contribution(std::uint64_t number, int of) const {
    return path("c" + std::to_string(number) + "." + std::to_string(of));
  }
  std::string message(std::uint64_t number, int from, int to) const {
    return path("m" + std::to_string(from) + "." + std::to_string(to) + "." + std::to_string(number));
  }
  bool write(const std::string& to, const Request& r, std::size_t elements);
  bool read(const std::string& from, const Request& r, Bytes& elements);
  void fail(nccl_result why);

  const std::string folder;
  const int size, rank;

  std::mutex mutex;
  int lock = -1;            // the file of this rank, which it holds; -1: it has left
  std::vector<int> others;  // their files, by rank; -1: not seen yet
  std::vector<bool> ended;
  bool is_complete = false, is_aborted = false;
  nccl_result failure = nccl_success;
  CUstream_st* last_stream = nullptr;  // of the last call
  bool was_called = false;

  // Numbers of begun collectives and messages. Calls of a communicator are executed one after the other.
  std::uint64_t collectives = 0;
  std::vector<std::uint64_t> sent, received;  // by rank
};

// ---- members ------------------------------------------------------------------------------------
nccl_result Rank::State::join() {
  const auto n = static_cast<std::size_t>(size);
  others.assign(n, -1);
  ended.assign(n, false);
  sent.assign(n, 0);
  received.assign(n, 0);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return nccl_system_error;
  // The file gets its name when the lock is held.
  const std::string fresh = path("new." + std::to_string(::getpid()) + "." + std::to_string(rank));
  lock = ::open(fresh.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock < 0 || ::flock(lock, LOCK_EX | LOCK_NB) != 0) return nccl_system_error;
  if (::write(lock, &size, sizeof size) != sizeof size) return nccl_system_error;
  const bool is_first = ::link(fresh.c_str(), path_of_rank(rank).c_str()) == 0;
  ::unlink(fresh.c_str());
  if (is_first) return nccl_success;
  ::close(std::exchange(lock, -1));
  return nccl_invalid_usage;
}

bool Rank::State::has_come(int other) {
  int& file = others[static_cast<std::size_t>(other)];
  if (file < 0) file = ::open(path_of_rank(other).c_str(), O_RDONLY | O_CLOEXEC);
  return file >= 0;
}

bool Rank::State::has_ended(int other) {
  const auto r = static_cast<std::size_t>(other);
  if (other == rank || ended[r]) return ended[r];
  if (::flock(others[r], LOCK_SH | LOCK_NB) != 0) return false;
  ::flock(others[r], LOCK_UN);
  return ended[r] = true;
}

nccl_result Rank::State::status() {
  const std::lock_guard guard(mutex);
  if (failure != nccl_success || is_complete) return failure;
  for (int r = 0; r < size; ++r) {
    if (!has_come(r)) return nccl_in_progress;
    int its_size = 0;
    if (::pread(others[static_cast<std::size_t>(r)], &its_size, sizeof its_size, 0) != sizeof its_size ||
        its_size != size)
      return failure = nccl_invalid_usage;
  }
  is_complete = true;
  return nccl_success;
}

void Rank::State::fail(nccl_result why) {
  if (failure == nccl_success) failure = why;
}

// The last rank removes the folder.
void Rank::State::leave() {
  const std::lock_guard guard(mutex);
  if (lock < 0) return;
  ::close(std::exchange(lock, -1));
  bool is_last = true;
  for (int r = 0; r < size; ++r) is_last = is_last && (r == rank || !has_come(r) || has_ended(r));
  for (int& file : others)
    if (file >= 0) ::close(std::exchange(file, -1));
  std::error_code ignored;
  if (is_last) std::filesystem::remove_all(folder, ignored);
}

void Rank::State::abort() {
  {
    const std::lock_guard guard(mutex);
    is_aborted = true;
  }
  leave();
}

// ---- files --------------------------------------------------------------------------------------
// The file gets its name when it is complete.
bool Rank::State::write(const std::string& to, const Request& r, std::size_t elements) {
  const std::string fresh = to + ".new";
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    const Head head{static_cast<int>(r.kind), r.type, r.op, r.other, r.count};
    file.write(reinterpret_cast<const char*>(&head), sizeof head);
    file.write(static_cast<const char*>(r.from), static_cast<std::streamsize>(elements * bytes_of(r.type)));
    if (!file.flush()) return false;
  }
  return ::rename(fresh.c_str(), to.c_str()) == 0;
}

// False if the other rank has made another call.
bool Rank::State::read(const std::string& from, const Request& r, Bytes& elements) {
  std::ifstream file(from, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Head head{};
  if (all.size() < sizeof head) return false;
  std::memcpy(&head, all.data(), sizeof head);
  const auto* const bytes = reinterpret_cast<const std::byte*>(all.data());
  elements.assign(bytes + sizeof head, bytes + all.size());
  if (r.kind == Kind::receive)
    return head.kind == static_cast<int>(Kind::send) && head.type == r.type && head.count == r.count;
  return head.kind == static_cast<int>(r.kind) && head.type == r.type && head.op == r.op && head.other == r.other &&
         head.count == r.count;
}

// A file that is not there yet may have been written by a rank that has ended since.
bool Rank::State::is_ready(const std::vector<std::pair<int, std::string>>& files) {
  const std::lock_guard guard(mutex);
  if (is_aborted) return true;
  for (const auto& [from, file] : files) {
    if (exists(file)) continue;
    if (has_ended(from) && !exists(file)) fail(nccl_remote_error);
    return false;
  }
  return true;
}

// ---- calls --------------------------------------------------------------------------------------
namespace {

// A collective, or messages that are under way together. It changes only those members of State that belong to the work
// in execution, which is in one thread.
class Exchange {
 public:
  Exchange(std::shared_ptr<Rank::State> state, std::vector<Request> calls)
      : state_(std::move(state)), calls_(std::move(calls)) {}

  void begin() {
    files_.clear();
    if (!calls_[0].is_message()) return begin_collective();
    for (const Request& r : calls_) {
      const auto peer = static_cast<std::size_t>(r.other);
      if (r.kind == Kind::send) put(state_->message(++state_->sent[peer], state_->rank, r.other), r, r.count);
      else files_.emplace_back(r.other, state_->message(++state_->received[peer], r.other, state_->rank));
    }
  }
  bool ready() { return state_->is_ready(files_); }
  void end() {
    const std::lock_guard guard(state_->mutex);
    if (state_->is_aborted) return;
    if (calls_[0].is_message()) end_messages();
    else end_collective();
  }

 private:
  void put(const std::string& file, const Request& r, std::size_t elements) {
    const std::lock_guard guard(state_->mutex);
    if (!state_->is_aborted && !state_->write(file, r, elements)) state_->fail(nccl_system_error);
  }
  void begin_collective() {
    const Request& r = calls_[0];
    number_ = ++state_->collectives;
    const auto size = static_cast<std::size_t>(state_->size);
    const std::size_t elements = r.kind == Kind::reduce_scatter                         ? r.count * size
                                 : r.kind == Kind::broadcast && r.other != state_->rank ? 0
                                                                                        : r.count;
    put(state_->contribution(number_, state_->rank), r, elements);
    for (int of = 0; of < state_->size; ++of) files_.emplace_back(of, state_->contribution(number_, of));
  }
  void end_collective() {
    std::vector<Bytes> all(files_.size());
    for (std::size_t r = 0; r < files_.size(); ++r)
      if (!state_->read(files_[r].second, calls_[0], all[r])) return state_->fail(nccl_invalid_usage);
    std::vector<const void*> from;
    for (const Bytes& of_rank : all) from.push_back(of_rank.data());
    const Bytes result = result_of(calls_[0], from, static_cast<std::size_t>(state_->rank));
    if (!result.empty()) std::memcpy(calls_[0].to, result.data(), result.size());
    // All ranks have begun this call, and so have ended the one before.
    ::unlink(state_->contribution(number_ - 1, state_->rank).c_str());
  }
  void end_messages() {
    std::size_t next = 0;
    for (const Request& r : calls_) {
      if (r.kind == Kind::send) continue;
      Bytes elements;
      const std::string& file = files_[next++].second;
      if (!state_->read(file, r, elements)) return state_->fail(nccl_invalid_usage);
      if (!elements.empty()) std::memcpy(r.to, elements.data(), elements.size());
      ::unlink(file.c_str());
    }
  }

  std::shared_ptr<Rank::State> state_;
  std::vector<Request> calls_;
  std::uint64_t number_ = 0;
  std::vector<std::pair<int, std::string>> files_;  // of which rank, and where
};

bool is_capturing(CUstream_st* stream) {
  int status = 0;
  return cuStreamIsCapturing(stream, &status) == cu_success && status != 0;
}

// Work of one communicator on several streams is in the order of the calls.
bool order(CUstream_st* before, CUstream_st* after) {
  cu_event event = nullptr;
  const bool good = cuEventCreate(&event, cu_event_disable_timing) == cu_success &&
                    cuEventRecord(event, before) == cu_success && cuStreamWaitEvent(after, event, 0) == cu_success;
  if (event != nullptr) cuEventDestroy_v2(event);
  return good;
}

}  // namespace

void remove_ended() {
  // A folder without a file of a rank is that of a rank that is joining, or, later, of one that was killed before.
  const auto recent = std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1);
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator(all_folders(), ignored)) {
    if (!folder.path().filename().string().starts_with(kPrefix)) continue;
    int ranks = 0, ended = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path(), ignored)) {
      if (!file.path().filename().string().starts_with("rank.")) continue;
      const int opened = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
      ++ranks;
      ended += opened >= 0 && ::flock(opened, LOCK_SH | LOCK_NB) == 0;
      if (opened >= 0) ::close(opened);
    }
    const bool is_left = ranks > 0 ? ended == ranks : folder.last_write_time(ignored) < recent;
    if (is_left) std::filesystem::remove_all(folder.path(), ignored);
  }
}

Rank::Rank(const std::string& id, int size, int rank, nccl_result& status)
    : state_(std::make_shared<State>(id, size, rank)) {
  status = state_->join();
}

nccl_result Rank::status() const { return state_->status(); }
void Rank::abort() const { state_->abort(); }

nccl_result Rank::submit(const std::vector<Request>& calls) const {
  for (std::size_t first = 0; first < calls.size();) {
    std::size_t last = first + 1;
    CUstream_st* const stream = calls[first].stream;
    if (calls[first].is_message())
      while (last < calls.size() && calls[last].is_message() && calls[last].stream == stream) ++last;
    if (!is_capturing(stream)) {
      const bool changes = state_->was_called && state_->last_stream != stream;
      if (changes && !order(state_->last_stream, stream)) return nccl_unhandled_cuda_error;
      state_->last_stream = stream;
      state_->was_called = true;
    }
    const auto exchange =
        std::make_shared<Exchange>(state_, std::vector<Request>(calls.begin() + static_cast<std::ptrdiff_t>(first),
                                                                calls.begin() + static_cast<std::ptrdiff_t>(last)));
    if (!submit_rank_work(name_of(calls[first].kind), stream,
                          {[=] { exchange->begin(); }, [=] { return exchange->ready(); }, [=] { exchange->end(); }}))
      return nccl_unhandled_cuda_error;
    first = last;
  }
  return nccl_success;
}

}  // namespace cuda_device::nccl
