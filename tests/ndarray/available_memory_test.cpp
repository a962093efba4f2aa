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

// Functions that are made of others, and whose arguments are views of few bytes: the message names the one that was
// called.
BOOST_AUTO_TEST_CASE(requests_of_every_function) {
  const nd::DeviceScope scope(nd::cpu_device);
  const std::int64_t n = std::int64_t(1) << 20, all = n * n;
  const std::string line = "(1099511627776,)", square = "(1048576, 1048576)";
  const Array one = nd::ones({1}), row = nd::ones({n}), x = nd::broadcast_to(one, {all}),
              matrix = nd::broadcast_to(one, {n, n}), zeros = nd::broadcast_to(nd::array({0}), {all}),
              stack = nd::broadcast_to(nd::eye(2), {all, 2, 2});
  check_refused("empty_like", line, [&] { return nd::empty_like(x); });
  check_refused("full_like", line, [&] { return nd::full_like(x, 3); });
  check_refused("zeros_like", line, [&] { return nd::zeros_like(x); });
  check_refused("ones_like", line, [&] { return nd::ones_like(x); });
  check_refused("zeros_like", line, [&] { return nd::zeros_like(one, {.shape = nd::Shape{all}}); });
  check_refused("logspace", line, [&] { return nd::logspace(0, 1, all); });
  check_refused("identity", square, [&] { return nd::identity(n); });
  check_refused("diag", square, [&] { return nd::diag(row); });
  check_refused("diagflat", square, [&] { return nd::diagflat(row); });
  check_refused("meshgrid", square, [&] { return nd::meshgrid({row, row}); });
  check_refused("array", line, [&] { return nd::array(x); });
  check_refused("copy", line, [&] { return x.copy(); });
  check_refused("copy", square, [&] { return matrix.copy(nd::Order::F); });
  check_refused("astype", line, [&] { return x.astype(nd::int8); });
  check_refused("asarray", line, [&] { return nd::asarray(x, nd::int8); });
  check_refused("ascontiguousarray", line, [&] { return nd::ascontiguousarray(x); });
  check_refused("flatten", line, [&] { return matrix.flatten(); });
  check_refused("reshape", "(2, 1048576, 1048576)", [&] {
    return nd::broadcast_to(nd::ones({2, 1, 1}), {2, n, n}).reshape({-1});
  });
  check_refused("tile", line, [&] { return nd::tile(one, {all}); });
  check_refused("repeat", line, [&] { return nd::repeat(one, all); });
  check_refused("repeat", line, [&] { return nd::repeat(one, std::vector<std::int64_t>{all}, 0); });
  check_refused("roll", line, [&] { return nd::roll(x, 1); });
  check_refused("pad", "(1099511627778,)", [&] { return nd::pad(x, 1); });
  check_refused("around", line, [&] { return nd::around(x, 1); });
  check_refused("packbits", "(137438953472,)",
                [&] { return nd::packbits(nd::broadcast_to(nd::array({true}), {all})); });
  check_refused("imag", line, [&] { return nd::imag(x); });
  check_refused("outer", square, [&] { return nd::outer(row, row); });
  check_refused("dot", line, [&] { return nd::dot(x, nd::array(2.)); });
  check_refused("std", line, [&] { return nd::std(x.reshape({-1, 1}), 1); });
  check_refused("norm", "(1099511627776, 1)", [&] { return nd::linalg::norm(x.reshape({-1, 1}), {.axis = 1}); });
  check_refused("trace", line, [&] { return nd::trace(nd::broadcast_to(nd::ones({2, 2, 1}), {2, 2, all})); });
  check_refused("nancumsum", line, [&] { return nd::nancumsum(x); });
  check_refused("sort", line, [&] { return nd::sort(x); });
  check_refused("msort", square, [&] { return nd::msort(matrix); });
  check_refused("argsort", line, [&] { return nd::argsort(x); });
  check_refused("lexsort", line, [&] { return nd::lexsort({x, x}); });
  check_refused("partition", line, [&] { return nd::partition(x, 3); });
  check_refused("argpartition", line, [&] { return nd::argpartition(x, 3); });
  check_refused("searchsorted", line, [&] { return nd::searchsorted(one, x); });
  check_refused("digitize", line, [&] { return nd::digitize(x, one); });
  check_refused("choose", line, [&] { return nd::choose(zeros, {one, one}, {.mode = "clip"}); });
  check_refused("permutation", line, [&] { return nd::random::permutation(all); });
  check_refused("choice", line, [&] { return nd::random::choice(all, {3}, {.replace = false}); });
  check_refused("choice", line, [&] { return nd::random::choice(5, {all}); });
  check_refused("randint", line, [&] { return nd::random::randint(5, {all}); });
  check_refused("normal", line, [&] { return nd::random::normal(0., 1., {all}); });
  check_refused("inv", "(1099511627776, 2, 2)", [&] { return nd::linalg::inv(stack); });
  check_refused("solve", "(1099511627776, 2, 2)", [&] { return nd::linalg::solve(stack, nd::ones({2})); });
  check_refused("qr", "(1099511627776, 2, 2)", [&] { return nd::linalg::qr(stack); });
  check_refused("svd", square, [&] { return nd::linalg::svd(matrix(nd::_, nd::Slice(0, 1))); });
  check_refused("eigh", "(1099511627776, 2, 2)", [&] { return nd::linalg::eigh(stack); });
}

// Functions that fill containers of the host.
BOOST_AUTO_TEST_CASE(lists_and_texts) {
  const nd::DeviceScope scope(nd::cpu_device);
  const std::int64_t all = std::int64_t(1) << 40;
  const auto message = [](auto request) {
    return test::message_of<nd::OutOfMemoryError>([&] { static_cast<void>(request()); });
  };
  BOOST_TEST(message([&] { return nd::broadcast_to(nd::ones({1}), {all}).tolist(); }).starts_with("tolist: no memory"));
  BOOST_TEST(message([&] { return nd::random::bytes(all); }).starts_with("bytes: no memory for"));
  BOOST_TEST(message([&] { return nd::random::bytes(INT64_MAX); }).starts_with("bytes: no memory for"));
  const std::vector<std::int64_t> most{INT64_MAX, INT64_MAX};
  BOOST_CHECK_THROW(nd::repeat(nd::ones({2}), most, 0), nd::ValueError);
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
