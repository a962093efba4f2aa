// The error output of a program that ends abnormally.
#pragma once

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace test {

// Returns the stderr of a child process that runs `f` and ends by a signal or with an error.
template <class F> std::string last_words(const F& f) {
  int pipe_ends[2];
  BOOST_REQUIRE_EQUAL(::pipe(pipe_ends), 0);
  ::setenv("CATENA_SOFTWARE_CUDA_FORK", "survives", 1);  // the software CUDA device stays usable
  const pid_t child = ::fork();
  if (child != 0) ::unsetenv("CATENA_SOFTWARE_CUDA_FORK");
  if (child == 0) {
    ::dup2(pipe_ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    f();
    _exit(0);
  }
  ::close(pipe_ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, std::size_t(n));
  ::close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  BOOST_CHECK_MESSAGE(WIFSIGNALED(status) || WEXITSTATUS(status) != 0, "the child ended normally");
  return text;
}

}  // namespace test
