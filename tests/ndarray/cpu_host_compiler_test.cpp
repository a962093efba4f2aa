// The system's compiler at run time: cache, damaged and foreign records, several processes and threads, missing
// compilers.
#include <catena/ndarray/cpu/host_compiler.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catena/ndarray/device/device.h>
#include <catena/ndarray/user_kernel/elementwise_kernel.h>
#include <catena/tests/support/environment.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace fs = std::filesystem;
using nd::cpu::host_compiler_statistics;
using test::Environment;
using test::message_of;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A cache folder of this test alone; set before anything is compiled.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "host_compiler_test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw nd::IOError("no temporary folder can be made");
    path = name;
    setenv("CATENA_CACHE_DIR", name.c_str(), 1);
    fs::create_directory(path / "temporary");
    setenv("TMPDIR", (path / "temporary").c_str(), 1);
    nd::set_current_device(nd::cpu_device);
  }
  ~Folder() { fs::remove_all(path); }
  static inline fs::path path;
};
BOOST_GLOBAL_FIXTURE(Folder);

std::vector<fs::path> records() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(Folder::path / "host"))
    if (entry.is_regular_file()) found.push_back(entry.path());
  return found;
}

// A kernel that adds `k`; another number is another text.
double add(int k) {
  const nd::cpu::HostCompileRequest request{"test kernel",
                                            "add",
                                            catena::concat("extern \"C\" __attribute__((visibility(\"default\")))",
                                                           " double add(double x) { return x + ", k, "; }"),
                                            {},
                                            {}};
  const auto module = nd::cpu::compile_for_host(request);
  return reinterpret_cast<double (*)(double)>(module->symbol("add"))(0.5);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_host_compiler)

BOOST_AUTO_TEST_CASE(objects_are_kept_on_disk) {
  const auto before = host_compiler_statistics();
  BOOST_TEST(add(1) == 1.5);
  BOOST_TEST(add(1) == 1.5);
  const auto after = host_compiler_statistics();
  BOOST_TEST(after.compilations == before.compilations + 1);
  BOOST_TEST(after.disk_hits == before.disk_hits + 1);
  BOOST_TEST(records().size() == 1u);
  // Nothing else stays there.
  for (const auto& entry : fs::directory_iterator(Folder::path / "host"))
    BOOST_TEST(entry.is_regular_file(), entry.path());
}

BOOST_AUTO_TEST_CASE(damaged_records_are_compiled_again) {
  add(2);
  for (const fs::path& record : records()) {
    std::fstream file(record, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff(fs::file_size(record) / 2));
    file.put('\xee').put('\x11');
  }
  const auto before = host_compiler_statistics();
  BOOST_TEST(add(2) == 2.5);
  for (const fs::path& record : records()) fs::resize_file(record, fs::file_size(record) / 3);
  BOOST_TEST(add(2) == 2.5);
  const auto after = host_compiler_statistics();
  BOOST_TEST(after.compilations == before.compilations + 2);
  BOOST_TEST(after.bad_records >= before.bad_records + 2);
  BOOST_TEST(add(2) == 2.5);
  BOOST_TEST(host_compiler_statistics().compilations == after.compilations);
}

BOOST_AUTO_TEST_CASE(the_cache_may_vanish_at_any_time) {
  const nd::ElementwiseKernel first("T x", "T z", "z = x + 1", "before_vanishing"),
      second("T x", "T z", "z = x + 2", "after_vanishing");
  BOOST_TEST(first(nd::ones({1}, nd::float32)).item<float>() == 2);
  fs::remove_all(Folder::path / "host");
  BOOST_TEST(second(nd::ones({1}, nd::float32)).item<float>() == 3);
  BOOST_TEST(first(nd::ones({1}, nd::float64)).item<double>() == 2);
}

BOOST_AUTO_TEST_CASE(leftovers_of_killed_processes_are_removed) {
  const fs::path old = Folder::path / "host" / "compiling-killed", young = Folder::path / "host" / "compiling-running";
  for (const fs::path& folder : {old, young}) {
    fs::create_directories(folder);
    std::ofstream(folder / "add.cpp") << "half";
  }
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  add(50);
  BOOST_TEST(!fs::exists(old));
  BOOST_TEST(fs::exists(young));
  fs::remove_all(young);
}

// Neither during a compilation nor after one that was killed.
BOOST_AUTO_TEST_CASE(nothing_is_made_in_the_working_folder) {
  const fs::path work = Folder::path / "work";
  fs::create_directories(work);
  const pid_t child = fork();
  if (child == 0) {
    fs::current_path(work);
    // No cache, and a folder for temporary files that is not there.
    fs::remove_all(Folder::path / "host");
    std::ofstream(Folder::path / "host") << "in the way";
    setenv("TMPDIR", (work / "missing").c_str(), 1);
    bool right = false;
    try {
      const fs::path script = Folder::path / "listing_compiler";
      std::ofstream(script) << "#!/bin/sh\nls -A '" << work.string() << "' > '" << Folder::path.string()
                            << "/listed'\nexec c++ \"$@\"\n";
      fs::permissions(script, fs::perms::owner_all);
      setenv("CATENA_HOST_COMPILER", script.c_str(), 1);
      right = add(4711) == 4711.5;
    } catch (const std::exception& e) {
      std::cerr << e.what() << "\n";
    }
    fs::remove(Folder::path / "host");
    _exit(right ? 0 : 1);
  }
  int status = -1;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  BOOST_TEST(fs::is_empty(work));
  BOOST_TEST(fs::file_size(Folder::path / "listed") == 0u);
  fs::remove_all(work);
}

BOOST_AUTO_TEST_CASE(leftovers_in_the_folder_for_temporary_files_are_removed) {
  const fs::path temporary = Folder::path / "temporary";
  const fs::path own = temporary / ("catena-" + std::to_string(geteuid())) / "host";
  const fs::path old = own / "compiling-killed", young = own / "compiling-running",
                 other = temporary / "compiling-of-another-program";
  for (const fs::path& folder : {old, young, other}) fs::create_directories(folder / "include");
  for (const fs::path& folder : {own.parent_path(), own}) fs::permissions(folder, fs::perms::owner_all);
  for (const fs::path& folder : {old, other})
    fs::last_write_time(folder, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const pid_t child = fork();
  if (child == 0) {
    fs::remove_all(Folder::path / "host");
    std::ofstream(Folder::path / "host") << "in the way";
    setenv("TMPDIR", temporary.c_str(), 1);
    bool right = false;
    try {
      right = add(4712) == 4712.5;
    } catch (const std::exception& e) {
      std::cerr << e.what() << "\n";
    }
    fs::remove(Folder::path / "host");
    _exit(right ? 0 : 1);
  }
  int status = -1;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  BOOST_TEST(!fs::exists(old));
  BOOST_TEST(fs::exists(young));
  BOOST_TEST(fs::exists(other));
  fs::remove_all(temporary);
}

BOOST_AUTO_TEST_CASE(without_a_cache_it_works_the_same) {
  // A folder that cannot be made: its name is that of a file.
  const pid_t child = fork();
  if (child == 0) {
    fs::remove_all(Folder::path / "host");
    std::ofstream(Folder::path / "host") << "in the way";
    bool right = false;
    try {
      right = add(3) == 3.5 && add(3) == 3.5;
    } catch (const std::exception& e) {
      std::cerr << e.what() << "\n";
    }
    fs::remove(Folder::path / "host");
    _exit(right ? 0 : 1);
  }
  int status = -1;
  BOOST_REQUIRE(waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(several_processes_and_threads_share_a_folder) {
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    bool right = true;
    try {
      for (int k = 10; k < 13; ++k) right &= add(k) == k + 0.5;
    } catch (const std::exception& e) {
      std::cerr << e.what() << "\n";
      right = false;
    }
    _exit(right ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    BOOST_REQUIRE(waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
  }
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { right += add(20 + t % 2) == 20 + t % 2 + 0.5; });
  for (std::thread& t : threads) t.join();
  BOOST_TEST(right == 4);
}

BOOST_AUTO_TEST_CASE(which_compiler) {
  {
    const Environment none("CATENA_HOST_COMPILER", "/no/such/compiler");
    BOOST_TEST(contains(message_of<nd::RuntimeError>([] { add(30); }),
                        "test kernel: kernels given as text need a C++ compiler on the CPU, and there is none (tried: "
                        "/no/such/compiler)"));
  }
  {
    const Environment none("CATENA_HOST_COMPILER", "crosscc -m32");
    const nd::ElementwiseKernel kernel("T x", "T z", "z = x + 3", "without_compiler");
    BOOST_TEST(contains(message_of<nd::RuntimeError>([&] { kernel(nd::ones({1}, nd::float32)); }),
                        "ElementwiseKernel without_compiler: kernels given as text need a C++ compiler on the CPU, and "
                        "there is none (tried: crosscc -m32)"));
  }
  // A command with options of its own; what it adds is part of the key.
  const Environment options("CATENA_HOST_COMPILER", "c++ -DOFFSET=100");
  const nd::ElementwiseKernel kernel("T x", "T z", "z = x + OFFSET", "with_options");
  BOOST_TEST(kernel(nd::ones({1}, nd::float32)).item<float>() == 101);
}

BOOST_AUTO_TEST_CASE(a_compiler_that_is_killed_or_makes_nothing) {
  const auto failing = [](const std::string& script) {
    const fs::path path = Folder::path / "compiler";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
    const Environment own("CATENA_HOST_COMPILER", path.c_str());
    return message_of<nd::CompileError>([] { add(40); });
  };
  BOOST_TEST(contains(failing("echo some words; exit 3"), "failed (exit status 3)\nsome words"));
  BOOST_TEST(contains(failing("kill -9 $$"), "failed (signal 9)"));
  BOOST_TEST(contains(failing("exit 0"), "failed (no object)"));
}

BOOST_AUTO_TEST_CASE(sources_can_be_kept) {
  const fs::path folder = Folder::path / "dump";
  fs::create_directory(folder);
  const Environment dump("CATENA_DUMP_KERNELS", folder.c_str());
  const nd::ElementwiseKernel kernel("T x", "T z", "z = x + 4", "dumped");
  kernel(nd::ones({1}, nd::float32));
  const fs::path file = fs::directory_iterator(folder)->path();
  BOOST_TEST(file.filename().string().starts_with("dumped-"));
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  BOOST_TEST(contains(text, "z = x + 4"));
}

BOOST_AUTO_TEST_SUITE_END()
