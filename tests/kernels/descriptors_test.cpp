// Descriptors 0, 1 and 2 are never those of a file of the library, and a pipe without reader is an error like others.
#include <catena/kernels/base/descriptors.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/kernels/formats/byte_stream.h>

namespace fs = std::filesystem;

namespace {

// The exit status of a child that runs f, which is free to change what belongs to the process.
template <class F> int status_of_child(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 99;
    try {
      result = f();
    } catch (...) {}
    ::_exit(result);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string scratch(const char* name) {
  return (fs::temp_directory_path() / (std::string(name) + std::to_string(::getpid()))).string();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(descriptors)

BOOST_AUTO_TEST_CASE(files_never_take_the_standard_streams) {
  const std::string path = scratch("descriptors-");
  for (unsigned closed = 0; closed < 8; ++closed) BOOST_TEST_CONTEXT("closed: " << closed) {
      const int status = status_of_child([&] {
        for (int fd = 0; fd < 3; ++fd)
          if (closed & (1u << fd)) ::close(fd);
        std::vector<int> opened;
        for (int k = 0; k < 4; ++k) opened.push_back(catena::open_descriptor(path.c_str(), O_RDWR | O_CREAT, 0600));
        for (const int fd : opened)
          if (fd < 3 || (::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) return 1;
        for (int fd = 0; fd < 3; ++fd) {
          if (!(closed & (1u << fd))) continue;
          // As on a closed one, and closed for programs that are started.
          char byte = 0;
          if (::write(fd, &byte, 1) != -1 || errno != EBADF || ::read(fd, &byte, 1) != -1 || errno != EBADF) return 2;
          const int flags = ::fcntl(fd, F_GETFD);
          if (flags < 0 || (flags & FD_CLOEXEC) == 0) return 3;
        }
        return 0;
      });
      BOOST_TEST(status == 0);
    }
  fs::remove(path);
}

// Another thread prints all the time.
BOOST_AUTO_TEST_CASE(what_is_printed_gets_into_no_file) {
  const std::string path = scratch("printed-");
  const int status = status_of_child([&] {
    ::close(1);
    ::close(2);
    std::atomic<bool> stop{false};
    std::thread printing([&] {
      while (!stop) {
        static_cast<void>(::write(1, "to the standard output\n", 23) == 23);
        static_cast<void>(::write(2, "to the standard error\n", 22) == 22);
      }
    });
    const std::string content(300000, 'x');
    int bad = 0;
    for (int k = 0; k < 60; ++k) {
      catena::write_file_atomically("save", path, content);
      catena::FileSource file("load", path);
      std::string read(content.size() + 1, '\0');
      read.resize(file.read(read.data(), read.size()));
      bad += read != content;
    }
    stop = true;
    printing.join();
    return bad;
  });
  BOOST_TEST(status == 0);
  fs::remove(path);
}

BOOST_AUTO_TEST_CASE(errors_of_opening_keep_their_reason) {
  BOOST_TEST(catena::open_descriptor("/there/is/no/such/folder/file", O_RDONLY) == -1);
  BOOST_TEST(errno == ENOENT);
}

BOOST_AUTO_TEST_CASE(a_pipe_without_reader) {
  const int status = status_of_child([] {
    ::signal(SIGPIPE, SIG_DFL);
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    ::close(ends[0]);
    {
      const catena::BrokenPipeScope outer;
      {
        const catena::BrokenPipeScope inner;
        if (::write(ends[1], "x", 1) != -1 || errno != EPIPE) return 2;
      }
      if (::write(ends[1], "x", 1) != -1 || errno != EPIPE) return 3;
    }
    sigset_t mask, pending;
    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    sigpending(&pending);
    if (sigismember(&mask, SIGPIPE) || sigismember(&pending, SIGPIPE)) return 4;
    struct sigaction action;
    ::sigaction(SIGPIPE, nullptr, &action);
    return action.sa_handler == SIG_DFL ? 0 : 5;
  });
  BOOST_TEST(status == 0);
  // Outside of a scope it ends the program, as the system has it.
  BOOST_TEST(status_of_child([] {
               ::signal(SIGPIPE, SIG_DFL);
               int ends[2];
               if (::pipe(ends) != 0) return 1;
               ::close(ends[0]);
               { const catena::BrokenPipeScope scope; }
               static_cast<void>(::write(ends[1], "x", 1) == 1);
               return 2;
             }) == -SIGPIPE);
}

// A signal that was blocked and pending before is left to the program.
BOOST_AUTO_TEST_CASE(a_signal_of_the_program_stays) {
  const int status = status_of_child([] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    ::raise(SIGPIPE);
    { const catena::BrokenPipeScope scope; }
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGPIPE) ? 0 : 1;
  });
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_a_pipe_without_reader) {
  const std::string path = scratch("pipe-");
  BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int status = status_of_child([&] {
    ::signal(SIGPIPE, SIG_DFL);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    catena::AtomicFile file("save", path);
    ::close(reader);
    const std::string much(1 << 20, 'x');
    try {
      file.write(much.data(), much.size());
    } catch (const catena::IOError&) {
      return 0;
    }
    return 1;
  });
  BOOST_TEST(status == 0);
  fs::remove(path);
}

// An error as on a full disk: the file that is there stays, nothing is left beside it.
BOOST_AUTO_TEST_CASE(a_file_beyond_the_limit_on_sizes) {
  const std::string folder = scratch("limit-"), path = folder + "/file";
  fs::create_directory(folder);
  catena::write_file_atomically("save", path, "before");
  const int status = status_of_child([&] {
    ::signal(SIGXFSZ, SIG_DFL);
    const struct rlimit limit { 1000, 1000 };
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    try {
      catena::write_file_atomically("save", path, std::string(5000, 'x'));
      return 2;
    } catch (const catena::IOError& e) {
      return std::string(e.what()).find("File too large") != std::string::npos ? 0 : 3;
    }
  });
  BOOST_TEST(status == 0);
  catena::FileSource file("load", path);
  std::string read(100, '\0');
  read.resize(file.read(read.data(), read.size()));
  BOOST_TEST(read == "before");
  BOOST_TEST(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 1);
  fs::remove_all(folder);
}

BOOST_AUTO_TEST_SUITE_END()
