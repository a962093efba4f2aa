#include <boost/test/unit_test.hpp>

#include <catena/kernels/formats/atomic_file.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catena/kernels/base/error.h>

namespace fs = std::filesystem;
using catena::AtomicFile;
using catena::write_file_atomically;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("catena_atomic_" + std::to_string(::getpid()));
  Folder() { fs::create_directory(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
  int entries() const { return static_cast<int>(std::distance(fs::directory_iterator(path), {})); }
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class F> std::string io_message(F&& f) {
  try {
    f();
  } catch (const catena::IOError& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

// A child that has opened an AtomicFile, written some of it, and waits.
pid_t writer_in_a_process(const std::string& path) {
  int ready[2];
  BOOST_REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file("save", path);
    const std::string big(1 << 20, 'x');
    file.write(big.data(), big.size());
    static_cast<void>(::write(ready[1], "!", 1) == 1);
    for (;;) ::pause();
  }
  char one;
  BOOST_REQUIRE(::read(ready[0], &one, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  return child;
}
void end_process(pid_t child, int signal) {
  int status = 0;
  ::kill(child, signal);
  ::waitpid(child, &status, 0);
  BOOST_TEST(WIFSIGNALED(status));
}

// The temporary file of `name` that is none of `others`.
std::string temporary_of(const Folder& folder, const std::string& name, const std::vector<std::string>& others) {
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    const std::string path = entry.path().string();
    if (entry.path().filename().string().starts_with("." + name + ".tmp-") &&
        std::find(others.begin(), others.end(), path) == others.end())
      return path;
  }
  return {};
}

int names_that_begin_with(const Folder& folder, const std::string& prefix) {
  int n = 0;
  for (const auto& entry : fs::directory_iterator(folder.path))
    n += entry.path().filename().string().starts_with(prefix);
  return n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(atomic_file)

BOOST_AUTO_TEST_CASE(a_file_appears_with_its_commit) {
  const Folder folder;
  const std::string path = folder / "a.txt";
  {
    AtomicFile file("save", path);
    file.write("hello", 5);
    BOOST_TEST(!fs::exists(path));
    file.commit();
    BOOST_TEST(content(path) == "hello");
    BOOST_CHECK_THROW(file.write("x", 1), catena::RuntimeError);
    BOOST_CHECK_THROW(file.commit(), catena::RuntimeError);
  }
  BOOST_TEST(content(path) == "hello");
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_CASE(without_a_commit_nothing_changes) {
  const Folder folder;
  const std::string path = folder / "a.txt";
  write_file_atomically("save", path, "old");
  {
    AtomicFile file("save", path);
    file.write("new", 3);
  }
  BOOST_TEST(content(path) == "old");
  BOOST_TEST(folder.entries() == 1);
}

// Large and small writes and patches before and behind what is buffered, against a plain string.
BOOST_AUTO_TEST_CASE(writes_and_patches_arrive_in_order) {
  const Folder folder;
  const std::string path = folder / "a.bin";
  AtomicFile file("save", path);
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 5 == 0 ? 70000 + i : 900 + i),
                            static_cast<char>('a' + i % 26));
    file.write(piece.data(), piece.size());
    expected += piece;
    for (const std::size_t at : {expected.size() - 3, expected.size() / 2, std::size_t(0)}) {
      file.patch(at, "XY", 2);
      expected.replace(at, 2, "XY");
    }
  }
  BOOST_CHECK_THROW(file.patch(expected.size() - 1, "XY", 2), catena::IndexError);
  file.commit();
  BOOST_TEST((content(path) == expected));
}

// The system refuses to let the file grow: as a full disk does.
BOOST_AUTO_TEST_CASE(a_failed_write_leaves_the_old_file) {
  const Folder folder;
  const std::string path = folder / "a.bin";
  write_file_atomically("save_npz", path, "old");
  struct rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string big(3 << 20, 'x');
  const std::string message = io_message([&] { write_file_atomically("save_npz", path, big); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  BOOST_TEST(message == "save_npz: \"" + path + "\": cannot write: File too large");
  BOOST_TEST(content(path) == "old");
  BOOST_TEST(folder.entries() == 1);
  write_file_atomically("save_npz", path, big);
  BOOST_TEST((content(path) == big));
}

// A process that dies in the middle leaves its temporary file, hidden, and the old file whole; the next save into the
// folder removes what is left of dead processes and nothing else.
BOOST_AUTO_TEST_CASE(a_killed_process_leaves_the_old_file) {
  const Folder folder;
  const std::string path = folder / "snapshot_iter_1";
  write_file_atomically("save", path, "old");
  std::vector<std::string> left;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = writer_in_a_process(folder / "snapshot_iter_2");
    left.push_back(temporary_of(folder, "snapshot_iter_2", left));
    BOOST_REQUIRE(!left.back().empty());
    if (i == 1) write_file_atomically("save", path, "the writer lives");
    BOOST_TEST(fs::exists(left.back()));
    end_process(child, SIGKILL);
  }
  BOOST_TEST(content(path) == "the writer lives");
  for (int i : {0, 1}) BOOST_TEST(!fs::exists(left[std::size_t(i)]));  // removed by the save that followed
  BOOST_TEST(fs::exists(left[2]));
  BOOST_TEST(names_that_begin_with(folder, "snapshot") == 1);
  write_file_atomically("save", path, "new");
  BOOST_TEST(content(path) == "new");
  BOOST_TEST(folder.entries() == 1);
}

namespace {

// A temporary file's name, with other parts: machine, namespace, process, number.
std::string renamed(const std::string& temporary, int part, const std::string& text) {
  const std::size_t mark = temporary.rfind(".tmp-") + 5;
  std::vector<std::string> parts;
  std::istringstream in(temporary.substr(mark));
  for (std::string one; std::getline(in, one, '-');) parts.push_back(one);
  BOOST_REQUIRE(parts.size() == 4u);
  parts[std::size_t(part)] = text;
  return temporary.substr(0, mark) + parts[0] + "-" + parts[1] + "-" + parts[2] + "-" + parts[3];
}

pid_t process_that_has_ended() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_file_goes_only_when_its_writer_is_certainly_gone) {
  enum { machine, pid_namespace, process, number };
  const Folder folder;
  const std::string path = folder / "model", ours = catena::temporary_path(path);
  BOOST_TEST(ours != catena::temporary_path(path));
  const std::string gone = renamed(ours, process, std::to_string(process_that_has_ended()));
  const std::string elsewhere = renamed(gone, pid_namespace, "12345"),
                    elsewhere_unlocked = renamed(elsewhere, number, "l7"),
                    elsewhere_locked = renamed(elsewhere, number, "l8");
  const std::vector<std::string> stay = {ours, elsewhere, elsewhere_locked, renamed(gone, machine, "0123456789abcdef"),
                                         renamed(renamed(gone, machine, "0123456789abcdef"), number, "l3"),
                                         // names of the user's own
                                         gone + "-copy", gone + "x", gone + "-", renamed(gone, number, "l"),
                                         renamed(gone, number, "notes"), renamed(gone, process, "0"),
                                         renamed(gone, process, "-7"), folder / ".model.tmp-999999999",
                                         folder / ".model.tmp-notes", folder / ".tmp-1-2-3-4",
                                         folder / gone.substr(gone.rfind('/') + 2).c_str()},
                                 go = {gone, elsewhere_unlocked};
  for (const auto* list : {&stay, &go})
    for (const std::string& name : *list) std::ofstream(name) << "a file";
  const int fd = ::open(elsewhere_locked.c_str(), O_RDONLY);
  BOOST_REQUIRE(::flock(fd, LOCK_EX) == 0);
  write_file_atomically("save", path, "new");
  for (const std::string& name : stay) BOOST_TEST(fs::exists(name), name);
  for (const std::string& name : go) BOOST_TEST(!fs::exists(name), name);
  BOOST_TEST(folder.entries() == int(stay.size()) + 1);
  ::close(fd);
  write_file_atomically("save", folder / "another", "new");
  BOOST_TEST(!fs::exists(elsewhere_locked));
}

// A writer in a container on the same folder, whose process id means nothing outside.
BOOST_AUTO_TEST_CASE(writers_of_other_pid_namespaces) {
  const Folder folder;
  const std::string path = folder / "model", foreign = folder / "other";
  int ready[2];
  BOOST_REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(1);
    const pid_t inner = ::fork();
    if (inner != 0) {
      ::waitpid(inner, nullptr, 0);
      ::_exit(0);
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    AtomicFile locked("save", foreign);
    const std::string by_itself = catena::temporary_path(foreign);
    std::ofstream(by_itself) << "written by somebody else's library";
    static_cast<void>(::write(ready[1], by_itself.data(), by_itself.size()));
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char text[4096];
  const ssize_t n = ::read(ready[0], text, sizeof text);
  ::close(ready[0]);
  if (n <= 0) {
    std::cout << "not tested: this process may make no PID namespace\n";
    ::waitpid(child, nullptr, 0);
    return;
  }
  const std::string by_itself(text, std::size_t(n)), locked = temporary_of(folder, "other", {by_itself});
  BOOST_TEST(by_itself.rfind(catena::temporary_path(foreign).substr(0, by_itself.rfind(".tmp-") + 21), 0) == 0);
  BOOST_REQUIRE(!locked.empty());
  write_file_atomically("save", path, "new");
  BOOST_TEST(fs::exists(locked));
  BOOST_TEST(fs::exists(by_itself));
  end_process(child, SIGKILL);
  for (int k = 0; k < 1000 && fs::exists(locked); ++k) {  // the system ends the inner process with the outer one
    write_file_atomically("save", path, "newer");
    ::usleep(5000);
  }
  BOOST_TEST(!fs::exists(locked));
  BOOST_TEST(fs::exists(by_itself));  // nobody knows
}

BOOST_AUTO_TEST_CASE(names_of_any_length) {
  const Folder folder;
  for (const std::size_t length : {1u, 100u, 200u, 255u}) {
    const std::string path = folder / std::string(length, 'n').c_str();
    write_file_atomically("save", path, "new");
    BOOST_TEST(content(path) == "new");
  }
  std::string umlauts = "x";
  for (int k = 0; k < 120; ++k) umlauts += "\xc3\xa4";
  const std::string name = fs::path(catena::temporary_path(umlauts)).filename().string();
  BOOST_TEST(name.substr(1, name.find(".tmp-") - 1) == umlauts.substr(0, 159));
}

BOOST_AUTO_TEST_CASE(permissions_links_and_devices) {
  const Folder folder;
  const std::string path = folder / "a.txt", link = folder / "link";
  write_file_atomically("save", path, "1");
  ::chmod(path.c_str(), 0640);
  write_file_atomically("save", path, "2");
  struct stat status;
  ::stat(path.c_str(), &status);
  BOOST_TEST((status.st_mode & 07777) == 0640u);
  fs::create_symlink("a.txt", link);
  write_file_atomically("save", link, "3");
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(content(path) == "3");
  write_file_atomically("save", "/dev/null", "4");
  BOOST_TEST(fs::is_character_file("/dev/null"));
}

BOOST_AUTO_TEST_CASE(errors_name_the_file) {
  const Folder folder;
  const std::string missing = folder / "no/such/a.txt";
  BOOST_TEST(io_message([&] { AtomicFile("save", missing); }) ==
             "save: \"" + missing + "\": cannot create a file beside it: No such file or directory");
  BOOST_TEST(io_message([&] { AtomicFile("save", folder.path.string()); }) ==
             "save: \"" + folder.path.string() + "\": cannot open: Is a directory");
}

BOOST_AUTO_TEST_CASE(concurrent_writers_each_leave_a_whole_file) {
  const Folder folder;
  const std::string path = folder / "a.bin";
  std::vector<std::thread> writers;
  for (int w = 0; w < 8; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < 5; ++i) write_file_atomically("save", path, std::string(200000, static_cast<char>('a' + w)));
    });
  }
  for (auto& t : writers) t.join();
  const std::string whole = content(path);
  BOOST_TEST(whole.size() == 200000u);
  BOOST_TEST((whole == std::string(200000, whole[0])));
  BOOST_TEST(folder.entries() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
