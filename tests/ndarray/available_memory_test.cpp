// Memory that the machine cannot have: what the system says about it, and what a request for it does.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catena/ndarray/cpu/available_memory.h>
#include <catena/ndarray/cpu/gemm.h>
#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/message_of.h>
#include <catena/tests/support/run_self.h>

using nd::Array;

namespace {

constexpr std::size_t kGigabyte = std::size_t(1) << 30;

// A folder with the files of a system, removed at the end.
class System {
 public:
  System() {
    char name[] = "/tmp/catena-system-XXXXXX";
    BOOST_REQUIRE(mkdtemp(name) != nullptr);
    root_ = std::string(name) + "/";
  }
  ~System() { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + file).parent_path());
    std::ofstream(root_ + file) << text;
  }
  // 16 GB, of which 9 are available; 2 GB of swap space, of which 1 is free.
  void write_table() {
    write("proc/meminfo",
          "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    9437184 kB\n"
          "SwapTotal:       2097152 kB\nSwapFree:        1048576 kB\n");
  }
  nd::cpu::MachineMemory memory() const { return nd::cpu::machine_memory(root_); }

 private:
  std::string root_;
};

// The request is refused by OutOfMemoryError that starts with the name of the function and names the shape and what is
// free; the pool is as it was.
template <class F> void check_refused(const std::string& op, const std::string& shape, F&& request) {
  const auto before = nd::memory_pool().total_bytes();
  const std::string what = test::message_of<nd::OutOfMemoryError>([&] { static_cast<void>(request()); });
  BOOST_TEST_CONTEXT(op << " gave: " << what) {
    BOOST_TEST(what.starts_with(op + ": "));
    BOOST_TEST(what.find(shape) != what.npos);
    BOOST_TEST(what.find("free on the device ") != what.npos);
    BOOST_TEST(nd::memory_pool().total_bytes() <= before);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(available_memory)

BOOST_AUTO_TEST_CASE(without_groups) {
  System system;
  BOOST_TEST(system.memory().total == 0u);
  BOOST_TEST(system.memory().available == 0u);
  system.write_table();
  BOOST_TEST(system.memory().total == 18 * kGigabyte);
  BOOST_TEST(system.memory().available == 10 * kGigabyte);
}

BOOST_AUTO_TEST_CASE(limits_of_groups) {
  System system;
  system.write_table();
  system.write("proc/self/cgroup", "0::/user/job\n");
  const std::string mount = "sys/fs/cgroup";
  system.write(mount + "/user/job/memory.max", "max\n");
  system.write(mount + "/user/job/memory.current", "1073741824\n");
  BOOST_TEST(system.memory().available == 10 * kGigabyte);
  // The group around it has 8 GB; 3 are used, one of which is a cache of files.
  system.write(mount + "/user/memory.max", "8589934592\n");
  system.write(mount + "/user/memory.current", "3221225472\n");
  system.write(mount + "/user/memory.stat", "anon 5\ninactive_file 1073741824\n");
  BOOST_TEST(system.memory().total == 8 * kGigabyte);
  BOOST_TEST(system.memory().available == 6 * kGigabyte);
  // More in use than allowed, as just after a limit was lowered.
  system.write(mount + "/user/job/memory.max", "536870912\n");
  BOOST_TEST(system.memory().available == 0u);
}

// In a container the path is that of the host, and the files are those of the root.
BOOST_AUTO_TEST_CASE(group_of_a_container) {
  System system;
  system.write_table();
  system.write("proc/self/cgroup", "0::/docker/0123\n");
  system.write("sys/fs/cgroup/memory.max", "2147483648\n");
  system.write("sys/fs/cgroup/memory.current", "1073741824\n");
  BOOST_TEST(system.memory().total == 2 * kGigabyte);
  BOOST_TEST(system.memory().available == kGigabyte);
}

BOOST_AUTO_TEST_CASE(groups_of_version_1) {
  System system;
  system.write_table();
  system.write("proc/self/cgroup", "12:pids:/a\n4:cpu,memory:/a\n");
  system.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3221225472\n");
  system.write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "2147483648\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  system.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "2147483648\n");
  BOOST_TEST(system.memory().total == 3 * kGigabyte);
  BOOST_TEST(system.memory().available == kGigabyte);
}

BOOST_AUTO_TEST_CASE(of_this_machine) {
  const nd::cpu::MachineMemory memory = nd::cpu::machine_memory();
  BOOST_TEST(memory.available > 0u);
  BOOST_TEST(memory.available <= memory.total);
  const nd::MemoryInfo info = nd::memory_info(nd::cpu_device);
  BOOST_TEST(info.total_bytes == std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGE_SIZE)));
  BOOST_TEST(info.free_bytes > 0u);
}

BOOST_AUTO_TEST_CASE(requests_that_cannot_be_met) {
  const nd::DeviceScope scope(nd::cpu_device);
  const std::int64_t n = std::int64_t(1) << 20;
  check_refused("zeros", "(1048576, 1048576)", [&] { return nd::zeros({n, n}); });
  check_refused("ones", "(1048576, 1048576)", [&] { return nd::ones({n, n}, nd::int8); });
  check_refused("full", "(1048576, 1048576)", [&] { return nd::full({n, n}, 7); });
  check_refused("empty", "(1099511627776,)", [&] { return nd::empty(n * n); });
  check_refused("arange", "(1099511627776,)", [&] { return nd::arange(n * n); });
  const Array column = nd::zeros({n, 1}, nd::float32), all = nd::broadcast_to(column, {n, n});
  check_refused("add", "(1048576, 1048576)", [&] { return column + column.T(); });
  check_refused("exp", "(1048576, 1048576)", [&] { return nd::exp(all); });
  check_refused("concatenate", "(2097152, 1048576)", [&] { return nd::concatenate({all, all}); });
  check_refused("cumsum", "(1048576, 1048576)", [&] { return nd::cumsum(all, 0); });
  check_refused("sum", "(1048576, 1048576)", [&] { return nd::broadcast_to(column, {2, n, n}).sum(0); });
  check_refused("matmul", "(1048576, 1048576)", [&] { return nd::matmul(column, column.T()); });
  check_refused("random", "(1048576, 1048576)", [&] { return nd::random::rand({n, n}); });
  // The library is usable afterwards.
  BOOST_TEST(double(nd::ones({1000}).sum()) == 1000);
}

// Blocks that are not used yet count: each of these alone would be there.
BOOST_AUTO_TEST_CASE(blocks_add_up) {
  const nd::DeviceScope scope(nd::cpu_device);
  const nd::cpu::MachineMemory memory = nd::cpu::machine_memory();
  const auto part = std::int64_t(memory.available / 4);
  std::vector<Array> parts;
  BOOST_CHECK_THROW(
      {
        for (std::size_t held = 0; held <= memory.total; held += std::size_t(part))
          parts.push_back(nd::empty(part, nd::int8));
      },
      nd::OutOfMemoryError);
  BOOST_TEST(parts.size() >= 2u);
}

// OpenBLAS would try for ever to map its work space.
BOOST_AUTO_TEST_CASE(products_without_addresses) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  std::puts("skipped: sanitizers need more addresses than the limit of this test");
#else
  const nd::DeviceScope scope(nd::cpu_device);
  if (std::getenv("CATENA_TEST_FEW_ADDRESSES") == nullptr && nd::cpu::openblas_description().empty()) {
    std::puts("skipped: OpenBLAS is not built in");
    return;
  }
  if (std::getenv("CATENA_TEST_FEW_ADDRESSES") == nullptr) {
    const test::Run run =
        test::run_self("--catch_system_errors=no --run_test=available_memory/products_without_addresses",
                       "ulimit -v 300000; CATENA_TEST_FEW_ADDRESSES=1 timeout 60");
    BOOST_TEST(run.status == 0, run.output);
    return;
  }
  const Array a = nd::ones({200, 200});
  const std::string what = test::message_of<nd::OutOfMemoryError>([&] { nd::matmul(a, a); });
  BOOST_TEST(what.find("OpenBLAS: it needs") != what.npos, what);
  BOOST_TEST(double((a + a).sum()) == 80000);
#endif
}

BOOST_AUTO_TEST_SUITE_END()
