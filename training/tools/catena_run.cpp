// Folder training/tools/: the command line programs that are installed with the training library.
//
// catena-run --nproc 4 ./train ...: starts the ranks of a distributed run on this machine, or this machine's part of
// one. Each line that a rank prints gets its number; the exit status is that of the rank that failed first, after which
// the others are ended.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>

namespace {

using catena::concat;
using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "usage: catena-run --nproc <n> [--timeout <s>] [--nodes <n> --node <i> --rendezvous <host:port>] program "
    "[arguments]\n"
    "  --nproc <n>       ranks on this machine, which become CATENA_RANK 0 to n - 1 of CATENA_SIZE\n"
    "  --timeout <s>     seconds that a rank waits for another one (otherwise as the program says, or 600)\n"
    "  --nodes <n>       machines of the run, each of which runs catena-run with the same --nproc\n"
    "  --node <i>        which of them this is, from 0\n"
    "  --rendezvous <a>  host and port of machine 0, where its first rank listens\n"
    "Each line that a rank prints begins with its number. A rank that fails ends all others.\n";
constexpr int kUsageError = 2, kNotStarted = 127, kSignalled = 128;
constexpr auto kSettling = std::chrono::milliseconds(300);  // between the first failure and SIGTERM to the others
constexpr auto kGrace = std::chrono::seconds(5);            // between SIGTERM and SIGKILL

void say(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(to, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      pollfd p{to, POLLOUT, 0};
      ::poll(&p, 1, -1);
      continue;
    }
    if (n <= 0) return;  // nobody reads: the ranks go on
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}
std::string system_reason(int error) { return std::error_code(error, std::generic_category()).message(); }

// ---- arguments ----------------------------------------------------------------------------------
struct Arguments {
  int nproc = 0, nodes = 1, node = 0;
  std::string timeout, rendezvous;
  char** program = nullptr;  // ends with null, as argv
  bool help = false;
};

std::optional<int> count_in(std::string_view text) {
  const auto value = catena::parse_integer(text);
  return value && *value >= 0 && *value <= 1'000'000 ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

// Nothing if the arguments are invalid.
std::optional<Arguments> parse(int argc, char** argv) {
  Arguments a;
  int k = 1;
  for (; k < argc && argv[k][0] == '-'; ++k) {
    const std::string_view name = argv[k];
    if (name == "--help" || name == "-h") {
      a.help = true;
      return a;
    }
    if (name == "--") {
      ++k;
      break;
    }
    if (k + 1 >= argc) return {};
    const char* const value = argv[++k];
    std::optional<int> number = 0;
    if (name == "--nproc" || name == "-n") a.nproc = (number = count_in(value)).value_or(0);
    else if (name == "--nodes") a.nodes = (number = count_in(value)).value_or(0);
    else if (name == "--node") a.node = (number = count_in(value)).value_or(0);
    else if (name == "--timeout") a.timeout = value;
    else if (name == "--rendezvous") a.rendezvous = value;
    else return {};
    if (!number) return {};
  }
  a.program = argv + k;
  const bool is_complete = k < argc && a.nproc >= 1 && a.nodes >= 1 && a.node < a.nodes &&
                           a.nproc <= 1'000'000 / a.nodes;  // CATENA_SIZE has this limit
  const auto seconds = a.timeout.empty() ? 1 : catena::parse_real(a.timeout).value_or(0);
  if (!is_complete || !(seconds > 0) || (a.nodes > 1 && a.rendezvous.empty())) return {};
  return a;
}

// ---- ranks --------------------------------------------------------------------------------------
// One of the streams of a rank, line by line.
class Output {
 public:
  Output(int from, int to, std::string prefix) : from_(from), to_(to), prefix_(std::move(prefix)) {
    ::fcntl(from_, F_SETFL, O_NONBLOCK);
  }
  int descriptor() const noexcept { return from_; }  // negative after the end
  // At most 1 MiB: an endless output must not keep the launcher from signals and from other ranks.
  void read() {
    constexpr int kParts = 16;
    std::array<char, 65536> bytes;
    for (int k = 0; k < kParts; ++k) {
      const ssize_t n = ::read(from_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return close();
      add({bytes.data(), static_cast<std::size_t>(n)});
    }
  }
  void close() {
    if (from_ < 0) return;
    if (!rest_.empty()) add("\n");
    ::close(from_);
    from_ = -1;
  }

 private:
  // Whole lines are written at once, so that lines of different ranks do not mix; an endless one is cut.
  void add(std::string_view bytes) {
    constexpr std::size_t kLongest = std::size_t(1) << 20;
    rest_.append(bytes);
    std::string lines;
    std::size_t begin = 0;
    for (auto end = rest_.find('\n'); end != rest_.npos; end = rest_.find('\n', begin)) {
      lines.append(prefix_).append(rest_, begin, end + 1 - begin);
      begin = end + 1;
    }
    if (rest_.size() - begin > kLongest) {
      lines.append(prefix_).append(rest_, begin).append("\n");
      begin = rest_.size();
    }
    say(to_, lines);
    rest_.erase(0, begin);
  }

  int from_, to_;
  std::string prefix_, rest_;
};

struct Rank {
  int number;
  pid_t process;
  std::vector<Output> outputs;
  bool ended = false;
};

// The process of a rank, after fork(). Does not return.
[[noreturn]] void become_program(const Arguments& a, int rank, const std::string& rendezvous, int out, int err) {
  ::setpgid(0, 0);  // with what it starts itself
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::setenv("CATENA_RANK", concat(rank).c_str(), 1);
  ::setenv("CATENA_SIZE", concat(a.nproc * a.nodes).c_str(), 1);
  ::setenv("CATENA_RENDEZVOUS", rendezvous.c_str(), 1);
  if (!a.timeout.empty()) ::setenv("CATENA_COMM_TIMEOUT", a.timeout.c_str(), 1);
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  ::setenv("OMP_NUM_THREADS", concat(std::max(1, cores / a.nproc)).c_str(), 0);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execvp(a.program[0], a.program);
  say(STDERR_FILENO, concat("catena-run: cannot start ", a.program[0], ": ", system_reason(errno), "\n"));
  ::_exit(kNotStarted);
}

// Returns false, with a message, if the system has no process or pipe for it.
bool start(const Arguments& a, int number, const std::string& rendezvous, std::vector<Rank>& ranks) {
  int out[2], err[2];
  const bool has_pipes = ::pipe2(out, O_CLOEXEC) == 0 && ::pipe2(err, O_CLOEXEC) == 0;
  const pid_t process = has_pipes ? ::fork() : -1;
  if (process < 0) {
    say(STDERR_FILENO, concat("catena-run: cannot start rank ", number, ": ", system_reason(errno), "\n"));
    return false;
  }
  if (process == 0) become_program(a, number, rendezvous, out[1], err[1]);
  ::setpgid(process, process);  // also here: a signal may come before the process has done it
  ::close(out[1]);
  ::close(err[1]);
  const std::string prefix = concat("[", number, "] ");
  ranks.push_back({number, process, {}});
  ranks.back().outputs.emplace_back(out[0], STDOUT_FILENO, prefix);
  ranks.back().outputs.emplace_back(err[0], STDERR_FILENO, prefix);
  return true;
}

// ---- the run ------------------------------------------------------------------------------------
// Signals are written into this pipe, so that one poll() waits for them and for output.
int signal_pipe[2];
void on_signal(int signal) {
  const int error = errno;
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t n = ::write(signal_pipe[1], &byte, 1);
  errno = error;
}

class Run {
 public:
  explicit Run(std::vector<Rank> ranks) : ranks_(std::move(ranks)) {}

  int wait() {
    while (std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return !r.ended; })) {
      constexpr int kMilliseconds = 200;
      poll_once(kMilliseconds);
      reap();
      if (end_at_ && Clock::now() >= *end_at_) end_all();
      if (kill_at_ && Clock::now() >= *kill_at_) signal_all(SIGKILL);
    }
    // Processes that a rank has left behind may keep its output open.
    constexpr int kMilliseconds = 100;
    poll_once(kMilliseconds);
    for (Rank& rank : ranks_)
      for (Output& output : rank.outputs) output.close();
    return status_;
  }
  // A rank that has ended by itself is the cause rather than one that was aborted, perhaps because of that one: they
  // may end at nearly the same time, and in any order. So the others get some time to end by themselves.
  void fail(int status) {
    if (status_ == 0 || (status_ == kSignalled + SIGABRT && !kill_at_)) status_ = status;
    if (!end_at_) end_at_ = Clock::now() + kSettling;
  }

 private:
  void poll_once(int milliseconds) {
    std::vector<pollfd> polled{{signal_pipe[0], POLLIN, 0}};
    std::vector<Output*> outputs{nullptr};
    for (Rank& rank : ranks_) {
      for (Output& output : rank.outputs) {
        if (output.descriptor() < 0) continue;
        polled.push_back({output.descriptor(), POLLIN, 0});
        outputs.push_back(&output);
      }
    }
    if (::poll(polled.data(), polled.size(), milliseconds) <= 0) return;
    for (std::size_t i = 1; i < polled.size(); ++i)
      if (polled[i].revents != 0) outputs[i]->read();
    unsigned char signal = 0;
    while (::read(signal_pipe[0], &signal, 1) == 1)
      if (signal != SIGCHLD) forward(signal);
  }

  // The second time the ranks do not get a choice.
  void forward(int signal) {
    signal_all(forwarded_ ? SIGKILL : signal);
    forwarded_ = true;
  }
  void signal_all(int signal) const {
    for (const Rank& rank : ranks_)
      if (!rank.ended) ::kill(-rank.process, signal);
  }
  void end_all() {
    if (kill_at_) return;  // it has been done
    kill_at_ = Clock::now() + kGrace;
    signal_all(SIGTERM);
  }

  void reap() {
    for (Rank& rank : ranks_) {
      int status = 0;
      if (rank.ended || ::waitpid(rank.process, &status, WNOHANG) != rank.process) continue;
      rank.ended = true;
      for (Output& output : rank.outputs)
        if (output.descriptor() >= 0) output.read();
      ::kill(-rank.process, SIGKILL);  // what the rank has started and left behind
      if (status == 0) continue;
      if (!kill_at_) say(STDERR_FILENO, concat("catena-run: rank ", rank.number, " ", how(status), "\n"));
      fail(WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status));
    }
  }
  static std::string how(int status) {
    if (!WIFSIGNALED(status)) return concat("ended with exit status ", WEXITSTATUS(status));
    const int signal = WTERMSIG(status);
    return concat("was killed by signal ", signal, " (", ::strsignal(signal), ")");
  }

  std::vector<Rank> ranks_;
  int status_ = 0;
  bool forwarded_ = false;
  std::optional<Clock::time_point> end_at_, kill_at_;
};

bool catch_signals() {
  if (::pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) ::sigaction(signal, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return true;
}

// A folder of this user alone, in which the ranks of one machine meet. Empty, with a message, if there is none.
std::string new_folder() {
  constexpr std::size_t kLongest = 64;  // the path of a socket has at most 107 characters
  const char* const given = std::getenv("TMPDIR");
  std::string folder = given != nullptr && *given != '\0' && std::strlen(given) <= kLongest ? given : "/tmp";
  folder += "/catena-run.XXXXXX";
  if (::mkdtemp(folder.data()) != nullptr) return folder;
  say(STDERR_FILENO, concat("catena-run: cannot make the folder ", folder, ": ", system_reason(errno), "\n"));
  return {};
}

int run(const Arguments& a) {
  catena::reserve_standard_descriptors();
  if (!catch_signals()) return kNotStarted;
  const std::string folder = a.rendezvous.empty() ? new_folder() : "";
  if (a.rendezvous.empty() && folder.empty()) return kNotStarted;
  const std::string rendezvous = a.rendezvous.empty() ? folder + "/rank" : a.rendezvous;
  std::vector<Rank> ranks;
  bool started = true;
  for (int k = 0; k < a.nproc && started; ++k) started = start(a, a.node * a.nproc + k, rendezvous, ranks);
  Run all(std::move(ranks));
  if (!started) all.fail(kNotStarted);
  const int status = all.wait();
  if (!folder.empty()) {
    for (int k = 0; k < a.nproc; ++k) ::unlink(concat(rendezvous, k == 0 ? "" : concat(".", k)).c_str());
    ::rmdir(folder.c_str());
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = parse(argc, argv);
  if (!arguments || arguments->help) {
    say(arguments ? STDOUT_FILENO : STDERR_FILENO, kUsage);
    return arguments ? EXIT_SUCCESS : kUsageError;
  }
  return run(*arguments);
}
