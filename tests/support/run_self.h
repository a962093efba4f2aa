// Runs the test program itself again, with other arguments and another environment.
#pragma once

#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>

namespace test {

struct Run {
  int status;          // the exit status; -1 if a signal ended it
  std::string output;  // standard output and standard error
  bool says(const std::string& text) const { return output.find(text) != output.npos; }
};

// run_self("--source=autograd/a_test.cpp", "CHAINER_DEBUG=1")
inline Run run_self(const std::string& arguments, const std::string& environment = "") {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  BOOST_REQUIRE(n > 0 && n < PATH_MAX);
  const std::string command = environment + " '" + std::string(path, std::size_t(n)) + "' " + arguments + " 2>&1";
  std::FILE* const out = popen(command.c_str(), "r");
  BOOST_REQUIRE(out != nullptr);
  Run run{};
  char buffer[512];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, out)) > 0;) run.output.append(buffer, got);
  const int status = pclose(out);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

}  // namespace test
