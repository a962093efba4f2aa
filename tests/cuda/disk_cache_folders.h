// For tests of the disk cache: folders, damaged records, and checks in other processes.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/compile/disk_cache.h>

namespace disk_cache_folders {

namespace fs = std::filesystem;
using nd::cuda::DiskCache;

constexpr std::uint64_t kPlenty = 1'000'000'000;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "catena-disk-cache-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string records() const { return (path / "kernels").string(); }
};

inline std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
inline void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}
inline std::size_t files_in(const std::string& folder) {
  std::error_code error;
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder, error), fs::directory_iterator()));
}
inline std::string random_bytes(std::size_t n, unsigned seed) {
  std::mt19937 rng(seed);
  std::string s(n, '\0');
  for (char& c : s) c = static_cast<char>(rng());
  return s;
}
// The hash of everything stands at the end.
inline std::string resealed(std::string record) {
  const std::uint64_t hash = catena::fnv1a(std::string_view(record).substr(0, record.size() - 8));
  std::memcpy(record.data() + record.size() - 8, &hash, 8);
  return record;
}

// The outcome of a child process: its exit status (0: all its checks held) and its output on stderr. Problems of the
// folders are reported once per process, so each expected report has a process of its own.
struct Child {
  int status = -1;
  std::string errors;
};
inline Child in_child(const std::function<bool()>& body) {
  int pipes[2];
  BOOST_REQUIRE_EQUAL(::pipe(pipes), 0);
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  BOOST_REQUIRE_GE(pid, 0);
  if (pid == 0) {
    ::close(pipes[0]);
    ::dup2(pipes[1], STDERR_FILENO);
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
    std::fflush(nullptr);
    ::_exit(good ? 0 : 1);
  }
  ::close(pipes[1]);
  Child child;
  char part[4096];
  for (ssize_t n; (n = ::read(pipes[0], part, sizeof part)) > 0;)
    child.errors.append(part, static_cast<std::size_t>(n));
  ::close(pipes[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
  return child;
}
inline std::size_t notices(const Child& child) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = child.errors.find("compiled kernels cannot be kept", at)) != std::string::npos; ++at)
    ++count;
  return count;
}
// Checks in a child: the first that fails is told.
inline bool holds(bool condition, const char* what) {
  if (!condition) std::fprintf(stderr, "does not hold: %s\n", what);
  return condition;
}
#define HOLDS(condition) \
  if (!holds(condition, #condition)) return false

// From root to a user to whom no folder of these tests belongs. Other users are not changed: their rights are already
// limited.
inline bool drop_root() {
  return ::getuid() != 0 || (::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0);
}

}  // namespace disk_cache_folders
