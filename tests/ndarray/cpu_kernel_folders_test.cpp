// Where kernels given as text are compiled and kept on the CPU: many processes and threads with an empty cache, folders
// that are full, forbidden, damaged or open to other users, and an environment without a PATH.
#include <catena/ndarray/cpu/host_compiler.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include <catena/kernels/base/error.h>
#include <catena/tests/support/environment.h>
#include <catena/tests/support/message_of.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace fs = std::filesystem;
using nd::cpu::host_compiler_statistics;
using test::Environment;
using test::message_of;

// A cache folder that no other test uses, in a folder for everything that a test leaves.
class Cache {
 public:
  Cache()
      : root_(make()), directory_("CATENA_CACHE_DIR", cache().string()), temporary_("TMPDIR", temporary().string()) {
    fs::create_directory(temporary());
  }
  ~Cache() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  fs::path root() const { return root_; }
  fs::path cache() const { return root_ / "cache"; }
  fs::path host() const { return cache() / "host"; }
  fs::path temporary() const { return root_ / "temporary"; }
  fs::path fallback() const { return temporary() / ("catena-" + std::to_string(geteuid())) / "host"; }

 private:
  static fs::path make() {
    std::string name = "/tmp/kernel_folders_test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw nd::IOError("no temporary folder can be made");
    return name;
  }
  fs::path root_;
  Environment directory_, temporary_;
};

std::vector<fs::path> records_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; ++at)
    if (at->path().extension() == ".kernel") found.push_back(at->path());
  return found;
}

nd::cpu::HostCompileRequest request_to_add(int k) {
  return {"test kernel",
          "add",
          catena::concat("#include <catena/kernels/numeric.h>\nextern \"C\" __attribute__((visibility(\"default\"))) "
                         "double add(double x) { return catena::convert<float>(x) + ",
                         std::to_string(k), "; }"),
          {},
          {}};
}
// 0.5 + k, by a kernel of its own.
double add(int k) {
  const auto module = nd::cpu::compile_for_host(request_to_add(k));
  return reinterpret_cast<double (*)(double)>(module->required("test", "add"))(0.5);
}

// Whether the body, in a process of its own, returns true. `skipped`: it says so with an exit status of its own.
bool in_child(const std::function<bool()>& body, bool* skipped = nullptr) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& e) {
      std::cerr << e.what() << "\n";
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child) return false;
  if (skipped != nullptr) *skipped = WIFEXITED(status) && WEXITSTATUS(status) == 99;
  return status == 0;
}

// A small file system in `folder`, in a name space of this (child) process.
void mount_small(const fs::path& folder, const char* size, unsigned long flags = 0) {
  fs::create_directories(folder);
  const std::string options = std::string("mode=700,size=") + size;
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", folder.c_str(), "tmpfs", flags, options.c_str()) != 0)
    _exit(99);
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return 0;
  return status.st_mode & 07777u;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_kernel_folders)

BOOST_AUTO_TEST_CASE(threads_and_processes_with_an_empty_cache) {
  for (int round = 0; round < 2; ++round) {
    const Cache cache;
    std::vector<pid_t> children;
    for (int p = 0; p < 4; ++p) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      std::atomic<int> right{0};
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&right, t] {
          try {
            right += add(t) == t + 0.5;
          } catch (const std::exception& e) {
            std::cerr << e.what() << "\n";
          }
        });
      for (std::thread& t : threads) t.join();
      _exit(right == 4 ? 0 : 1);
    }
    for (const pid_t child : children) {
      int status = -1;
      BOOST_REQUIRE(waitpid(child, &status, 0) == child);
      BOOST_TEST(status == 0);
    }
    BOOST_TEST(records_in(cache.host()).size() == 4u);
    BOOST_TEST(std::distance(fs::directory_iterator(cache.host()), fs::directory_iterator()) == 4);
  }
}

// No byte of the cache decides what is compiled or run unless its hash is right.
BOOST_AUTO_TEST_CASE(every_file_of_the_cache_may_be_damaged) {
  const Cache cache;
  BOOST_TEST(add(1) == 1.5);
  for (int round = 0; round < 8; ++round) {
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(cache.cache())) {
      if (!entry.is_regular_file()) continue;
      ++files;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      const auto at = static_cast<std::streamoff>(entry.file_size() * (2 * std::size_t(round) + 1) / 16);
      file.seekg(at);
      const char byte = static_cast<char>(file.get());
      file.seekp(at);
      file.put(static_cast<char>(byte ^ 1));
    }
    BOOST_TEST(files != 0u);
    BOOST_TEST(add(1) == 1.5);
    BOOST_TEST(add(2 + round) == 2.5 + round);
  }
}

BOOST_AUTO_TEST_CASE(folders_and_files_are_private_whatever_the_umask) {
  for (const mode_t mask : {0u, 002u, 022u, 077u, 0777u}) {
    const Cache cache;
    BOOST_TEST(in_child([&] {
      umask(mask);
      return add(1) == 1.5;
    }));
    BOOST_TEST(mode_of(cache.cache()) == 0700u);
    BOOST_TEST(mode_of(cache.host()) == 0700u);
    BOOST_REQUIRE(records_in(cache.host()).size() == 1u);
    BOOST_TEST(mode_of(records_in(cache.host())[0]) == 0600u);
  }
}

// The record of add(1) in place of that of add(2), as another user could write it.
BOOST_AUTO_TEST_CASE(what_other_users_may_have_written_is_not_run) {
  const Cache cache;
  add(1);
  const fs::path record = records_in(cache.host())[0];
  const auto compiled_again = [] {
    const auto before = host_compiler_statistics();
    BOOST_TEST(add(1) == 1.5);
    return host_compiler_statistics().compilations - before.compilations;
  };
  BOOST_TEST(compiled_again() == 0u);
  fs::permissions(record, fs::perms(0666));
  BOOST_TEST(compiled_again() == 1u);
  BOOST_TEST(mode_of(record) == 0600u);  // replaced
  BOOST_TEST(compiled_again() == 0u);
  for (const unsigned mode : {0777u, 01777u, 0770u, 0720u}) {
    fs::permissions(cache.host(), fs::perms(mode));
    fs::remove_all(cache.fallback());
    BOOST_TEST(compiled_again() == 1u, mode);
    BOOST_TEST(records_in(cache.fallback()).size() == 1u);
    BOOST_TEST(compiled_again() == 0u);  // kept there
  }
  fs::permissions(cache.host(), fs::perms(0700));
  fs::remove_all(cache.fallback());
  if (geteuid() != 0) {
    std::cout << "skipped in part: only root can make files of another owner\n";
    return;
  }
  BOOST_REQUIRE(chown(record.c_str(), 65534, 65534) == 0);
  BOOST_TEST(compiled_again() == 1u);
  BOOST_REQUIRE(chown(cache.host().c_str(), 65534, 65534) == 0);
  BOOST_TEST(compiled_again() == 1u);
  BOOST_TEST(records_in(cache.fallback()).size() == 1u);
  // The fallback of another user is none.
  fs::remove_all(cache.fallback());
  BOOST_REQUIRE(chown(cache.fallback().parent_path().c_str(), 65534, 65534) == 0);
  fs::create_directories(cache.fallback());
  BOOST_REQUIRE(chown(cache.fallback().c_str(), 65534, 65534) == 0);
  BOOST_TEST(in_child([&] { return compiled_again() == 1u && compiled_again() == 1u; }));
}

BOOST_AUTO_TEST_CASE(a_full_cache_and_one_from_which_nothing_may_be_executed) {
  for (const char* size : {"4k", "64k", "300k", "50m"}) {
    const Cache cache;
    bool skipped = false;
    const bool right = in_child(
        [&] {
          mount_small(cache.host(), size, MS_NOEXEC);
          if (add(1) != 1.5) return false;
          const auto compilations = host_compiler_statistics().compilations;
          return add(1) == 1.5 && host_compiler_statistics().compilations == compilations;  // kept in one of the two
        },
        &skipped);
    if (skipped) {
      std::cout << "skipped: a small file system cannot be mounted here\n";
      return;
    }
    BOOST_TEST(right, size);
  }
}

BOOST_AUTO_TEST_CASE(a_kept_kernel_needs_no_space) {
  const Cache cache;
  bool skipped = false;
  const bool right = in_child(
      [&] {
        mount_small(cache.host(), "300k");
        if (add(1) != 1.5 || records_in(cache.host()).size() != 1) return false;
        std::ofstream(cache.host() / "filler") << std::string(1 << 20, 'x');  // as much as there is space for
        const Environment none("CATENA_HOST_COMPILER", nullptr), nowhere("TMPDIR", "/proc/no/such/folder");
        const auto compilations = host_compiler_statistics().compilations;
        return add(1) == 1.5 && host_compiler_statistics().compilations == compilations;
      },
      &skipped);
  if (skipped) std::cout << "skipped: a small file system cannot be mounted here\n";
  else BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(modules_that_are_loaded_at_once_and_one_after_the_other_are_different) {
  const Cache cache;
  std::vector<std::shared_ptr<const nd::cpu::HostModule>> modules;
  for (int k = 0; k < 6; ++k) {
    modules.push_back(nd::cpu::compile_for_host(request_to_add(k)));
    BOOST_TEST(add(10 + k % 3) == 10.5 + k % 3);
  }
  for (int k = 0; k < 6; ++k)
    BOOST_TEST(reinterpret_cast<double (*)(double)>(modules[std::size_t(k)]->symbol("add"))(0.5) == k + 0.5);
}

BOOST_AUTO_TEST_CASE(names_of_folders) {
  const Cache cache;
  for (const char* name : {"two words", "-dash", "quote'\"s", "a\\b", "comma,s", "$HOME;x"}) {
    const Environment directory("CATENA_CACHE_DIR", (cache.root() / name).string());
    BOOST_TEST(add(1) == 1.5, name);
    BOOST_TEST(records_in(cache.root() / name / "host").size() == 1u);
  }
}

// A relative name means one folder although the process goes elsewhere, and nothing is left in the working folder.
BOOST_AUTO_TEST_CASE(the_working_folder) {
  const Cache cache;
  BOOST_TEST(in_child([&] {
    fs::create_directory(cache.root() / "start");
    fs::create_directory(cache.root() / "other");
    fs::current_path(cache.root() / "start");
    const Environment relative("CATENA_CACHE_DIR", "-relative");
    if (add(1) != 1.5) return false;
    fs::current_path(cache.root() / "other");
    const auto compilations = host_compiler_statistics().compilations;
    if (add(1) != 1.5 || host_compiler_statistics().compilations != compilations) return false;
    for (const char* value : {"off", "/proc/no/such/folder"}) {
      const Environment no_cache("CATENA_CACHE_DIR", value), nowhere("TMPDIR", "not/a/folder");
      if (add(2) != 2.5) return false;
    }
    return fs::is_empty(cache.root() / "other");
  }));
}

// The compiler needs a PATH for the assembler and the linker. What is on it does not matter.
BOOST_AUTO_TEST_CASE(without_a_path) {
  const Cache cache;
  const Environment own("CATENA_HOST_COMPILER", nullptr), cxx("CXX", nullptr);
  int k = 0;
  for (const char* path : {static_cast<const char*>(nullptr), "", "/no/such/folder", ".", ":"}) {
    const Environment set("PATH", path);
    ++k;
    BOOST_TEST(add(k) == k + 0.5);
  }
  BOOST_TEST(in_child([&] {
    clearenv();
    setenv("TMPDIR", cache.temporary().c_str(), 1);
    return add(20) == 20.5 && !records_in(cache.fallback()).empty();
  }));
}

BOOST_AUTO_TEST_CASE(a_compiler_whose_path_has_spaces) {
  const Cache cache;
  const fs::path folder = cache.root() / "my tools";
  fs::create_directory(folder);
  const std::string program = folder / "the compiler";
  fs::create_symlink("/usr/bin/c++", program);
  for (const std::string& command : {program, program + " -DOFFSET=100", program + "   -O1  -g0 "}) {
    const Environment own("CATENA_HOST_COMPILER", command);
    BOOST_TEST(add(1) == 1.5);
  }
  const Environment own("CATENA_HOST_COMPILER", program + "s");
  BOOST_TEST(message_of<nd::RuntimeError>([] { add(1); }).find("there is none (tried: " + program + "s)") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_object_without_its_symbol_is_an_error) {
  const Cache cache;
  const fs::path program = cache.root() / "compiler";
  // It compiles another text. The object is the word behind -o.
  std::ofstream(program) << "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\n"
                            "echo 'int unrelated;' | /usr/bin/c++ -x c++ -shared -fPIC -o \"$2\" -\n";
  fs::permissions(program, fs::perms::owner_all);
  nd::cpu::HostCompileRequest request = request_to_add(1);
  request.symbols = {"add"};
  const std::string missing = "the compiled object has no symbol add";
  const Environment own("CATENA_HOST_COMPILER", program.string());
  for (int k = 0; k < 2; ++k)
    BOOST_TEST(message_of<nd::RuntimeError>([&] { nd::cpu::compile_for_host(request); }).find(missing) !=
               std::string::npos);
  BOOST_TEST(records_in(cache.host()).empty());
}

BOOST_AUTO_TEST_CASE(long_outputs_are_cut) {
  const Cache cache;
  const fs::path program = cache.root() / "compiler";
  std::ofstream(program) << "#!/bin/sh\nhead -c 10000000 /dev/zero | tr '\\0' x\nexit 1\n";
  fs::permissions(program, fs::perms::owner_all);
  const Environment own("CATENA_HOST_COMPILER", program.string());
  const std::string message = message_of<nd::CompileError>([] { add(1); });
  BOOST_TEST(message.find("failed (exit status 1)\nxxx") != std::string::npos);
  BOOST_TEST(message.find("... (10000000 bytes)") != std::string::npos);
  BOOST_TEST(message.size() < 200000u);
}

BOOST_AUTO_TEST_SUITE_END()
