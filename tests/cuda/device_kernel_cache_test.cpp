// The kernel cache with a device: kernels are loaded from memory, from disk and from the compiler, and what is wrong on
// disk never shows. What the next program finds is seen by this program running itself again.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/embedded.h>
#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/runtime/context.h>
#include <catena/ndarray/cuda/runtime/launch.h>

namespace {

namespace fs = std::filesystem;
using namespace nd::cuda;

// A cache of this program and its children; the settings are read once.
struct CacheFolder {
  static inline fs::path path;
  static inline bool child = false;
  CacheFolder() {
    if (const char* parents = std::getenv("CATENA_TEST_CACHE_OF_PARENT")) {
      path = parents;
      child = true;
    } else {
      std::string name = (fs::temp_directory_path() / "catena-kernels-XXXXXX").string();
      path = ::mkdtemp(name.data());
      ::setenv("CATENA_TEST_CACHE_OF_PARENT", path.c_str(), 1);
    }
    ::setenv("CATENA_CACHE_DIR", (path / "cache").c_str(), 1);
    ::setenv("CATENA_KERNEL_STATISTICS", "1", 1);
  }
  ~CacheFolder() {
    std::error_code ignored;
    if (!child) fs::remove_all(path, ignored);
  }
};
BOOST_TEST_GLOBAL_FIXTURE(CacheFolder);

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
void write(const fs::path& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

std::set<fs::path> records() {
  std::set<fs::path> files;
  std::error_code ignored;
  for (fs::directory_iterator at(CacheFolder::path / "cache" / "kernels", ignored), end; at != end; ++at)
    files.insert(at->path());
  return files;
}
// The counts that `work` adds.
template <class Work> std::vector<fs::path> added_records(Work work) {
  const std::set<fs::path> before = records();
  work();
  const std::set<fs::path> after = records();
  std::vector<fs::path> added;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(added));
  return added;
}

// This program again, with one of its cases that are disabled otherwise. What it wrote on stderr.
std::string run_again(const std::string& name) {
  const fs::path errors = CacheFolder::path / "errors";
  const std::string command = "'" + fs::read_symlink("/proc/self/exe").string() + "' --run_test=in_another_program/" +
                              name + " --log_level=message >'" + errors.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  BOOST_CHECK_MESSAGE(status == 0, name << ": status " << status << "\n" << read(errors));
  return read(errors);
}

// Kernels that no other program has: *p = number.
KernelKey key_of(std::uint64_t number) {
  KernelKey key;
  key.program = 0x5eed0000 + number;
  return key;
}
GeneratedKernel generated(std::uint64_t number) {
  GeneratedKernel k;
  const std::string digits = std::to_string(number);
  k.name = "write_" + digits;
  k.parameters = k.name + "_parameters";
  k.body = "struct " + k.parameters + " { int* p; };\nextern \"C\" __global__ void " + k.name + "(const " +
           k.parameters + " p) { *p.p = " + digits + "; }\n";
  k.parameter_bytes = 8;
  return k;
}
const LoadedKernel& find(std::uint64_t number) {
  return loaded_kernel(0, key_of(number), [number] { return generated(number); });
}

nd::StreamRef null_stream() { return {{nd::Device::Kind::cuda, 0}, nullptr}; }
// The value that a kernel of one pointer writes there.
int result_of(const LoadedKernel& kernel) {
  use_device(0);
  api::cu_deviceptr memory = 0;
  CATENA_CU(memory_allocate, &memory, sizeof(int));
  void* parameters[] = {&memory};
  launch(kernel, {}, {}, 0, parameters, null_stream());
  int value = -1;
  CATENA_CU(copy_to_host, &value, memory, sizeof value);
  CATENA_CU(memory_free, memory);
  return value;
}

// While it lives, programs find the driver and no compiler.
struct DriverOnly {
  std::string all;
  explicit DriverOnly(const char* libraries) : all(libraries) {
    const fs::path folder = CacheFolder::path / "driver";
    if (fs::create_directory(folder)) fs::create_symlink(fs::path(all) / "libcuda.so.1", folder / "libcuda.so.1");
    ::setenv("CATENA_CUDA_LIBRARIES", folder.c_str(), 1);
  }
  ~DriverOnly() { ::setenv("CATENA_CUDA_LIBRARIES", all.c_str(), 1); }
};

fs::path shared_folder() { return CacheFolder::path / "shared"; }
CompileRequest shared_text() {
  return {"template <int N> __global__ void shared_text(int* p) { *p = N; }\n", "shared.cu", {"shared_text<7>"}, 0, {}};
}

struct Change {  // of the statistics, since the object was made
  KernelCacheStatistics start = kernel_cache_statistics();
  std::uint64_t compilations() const { return kernel_cache_statistics().compilations - start.compilations; }
  std::uint64_t disk_hits() const { return kernel_cache_statistics().disk_hits - start.disk_hits; }
  std::uint64_t memory_hits() const { return kernel_cache_statistics().memory_hits - start.memory_hits; }
  std::uint64_t bad_records() const { return kernel_cache_statistics().bad_records - start.bad_records; }
};

// The code of a record, made useless although the record itself is in order.
void spoil_code(const fs::path& record, const std::string& kernel_name) {
  std::string content = read(record);
  const std::size_t name = content.find(kernel_name);
  BOOST_REQUIRE_NE(name, std::string::npos);
  const std::size_t code =
      name + kernel_name.size() + 5 * 8 + 8 + 4 * 8 + 8;  // numbers, size of parameters, batch, length
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, content.data() + code - 8, 8);
  BOOST_REQUIRE_LT(code + bytes, content.size());
  std::fill_n(content.begin() + static_cast<std::ptrdiff_t>(code), bytes, 'x');
  const std::uint64_t hash = catena::fnv1a(std::string_view(content).substr(0, content.size() - 8));
  std::memcpy(content.data() + content.size() - 8, &hash, 8);
  write(record, content);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_kernel_is_compiled_once_and_found) {
  const Change change;
  const LoadedKernel& kernel = find(1);
  BOOST_CHECK_EQUAL(kernel.name, "write_1");
  BOOST_CHECK_EQUAL(kernel.parameter_bytes, 8u);
  BOOST_CHECK_GT(kernel.max_threads, 0);
  BOOST_CHECK_EQUAL(result_of(kernel), 1);
  for (int k = 0; k < 10; ++k) BOOST_CHECK_EQUAL(&find(1), &kernel);
  BOOST_CHECK_EQUAL(change.compilations(), 1u);
  BOOST_CHECK_EQUAL(change.memory_hits(), 10u);
  BOOST_CHECK_EQUAL(change.disk_hits(), 0u);
  KernelKey other = key_of(1);
  other.scalars = 1;
  BOOST_CHECK_EQUAL(result_of(loaded_kernel(0, other, [] { return generated(100); })), 100);
  BOOST_CHECK_THROW(loaded_kernel(99, key_of(1), [] { return generated(1); }), catena::ValueError);
  BOOST_CHECK_THROW(loaded_kernel(-1, key_of(1), [] { return generated(1); }), catena::ValueError);
}

// Not a requirement of correctness, but the reason for the table: a hit costs a few nanoseconds, and takes no lock. The
// bound leaves room for slow machines.
BOOST_AUTO_TEST_CASE(a_hit_is_cheap) {
  for (std::uint64_t k = 2; k < 6; ++k) find(k);
  constexpr int rounds = 100'000;
  const KernelKey key = key_of(4);
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < rounds; ++k) loaded_kernel(0, key, [] { return generated(4); });
    best = std::min(
        best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / rounds);
  }
  BOOST_TEST_MESSAGE("a hit takes " << best << " ns");
  BOOST_CHECK_LT(best, 1000.0);
}

BOOST_AUTO_TEST_CASE(errors_come_every_time_and_leave_nothing_behind) {
  GeneratedKernel broken = generated(7);
  broken.body += "nonsense;\n";
  for (int k = 0; k < 2; ++k) {
    BOOST_CHECK_EXCEPTION(
        loaded_kernel(0, key_of(7), [&] { return broken; }), catena::CompileError, [](const catena::CompileError& e) {
          const std::string what = e.what();
          return what.find("write_7") != std::string::npos && what.find(" | nonsense;") != std::string::npos;
        });
  }
  BOOST_CHECK_THROW(loaded_kernel(0, key_of(7), []() -> GeneratedKernel { throw catena::TypeError("no such text"); }),
                    catena::TypeError);
  BOOST_CHECK_EQUAL(result_of(find(7)), 7);
}

BOOST_AUTO_TEST_CASE(threads_that_want_one_kernel_compile_it_once) {
  for (const int threads : {8, 24}) {
    const Change change;
    const std::uint64_t first = 1000u * static_cast<std::uint64_t>(threads);
    std::atomic<int> wrong{0};
    {
      std::vector<std::jthread> all;
      for (int t = 0; t < threads; ++t) {
        all.emplace_back([&, t] {
          for (std::uint64_t k = 0; k < 3; ++k) {
            const std::uint64_t number = first + (k + static_cast<std::uint64_t>(t % 3)) % 3;
            if (find(number).name != "write_" + std::to_string(number)) ++wrong;
          }
        });
      }
    }
    BOOST_CHECK_EQUAL(wrong.load(), 0);
    BOOST_CHECK_EQUAL(change.compilations(), 3u);
    for (std::uint64_t k = first; k < first + 3; ++k) BOOST_CHECK_EQUAL(result_of(find(k)), static_cast<int>(k));
  }
}

BOOST_AUTO_TEST_CASE(the_next_program_finds_them_on_disk) {
  for (std::uint64_t k = 20; k < 25; ++k) find(k);
  run_again("finds_20_to_24_on_disk");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_on_disk_is_compiled_again) {
  const std::vector<fs::path> one = added_records([] { find(30); }), two = added_records([] { find(31); });
  const std::vector<fs::path> three = added_records([] { find(32); });
  BOOST_REQUIRE_EQUAL(one.size() + two.size() + three.size(), 3u);
  write(one[0], read(one[0]).substr(0, 200));
  spoil_code(two[0], "write_31");
  fs::copy_file(three[0], two[0].string() + "-copy");
  run_again("compiles_30_and_31_again");
  run_again("finds_30_to_32_on_disk");
}

BOOST_AUTO_TEST_CASE(kernels_of_a_batch_are_found_alone) {
  std::vector<WarmUpRequest> requests;
  for (std::uint64_t k = 40; k < 44; ++k) requests.push_back({key_of(k), generated(k)});
  const std::vector<fs::path> files =
      added_records([&] { BOOST_CHECK_EQUAL(warm_up(properties(0).arch, requests), 4u); });
  BOOST_REQUIRE_EQUAL(files.size(), 6u);  // the batch, the kernels, and which compiler made them
  const Change change;
  BOOST_CHECK_EQUAL(result_of(find(40)), 40);
  BOOST_CHECK_EQUAL(result_of(find(42)), 42);
  BOOST_CHECK_EQUAL(change.disk_hits(), 2u);
  BOOST_CHECK_EQUAL(change.compilations(), 0u);
  run_again("finds_40_to_43_on_disk");
  const auto smaller = [](const fs::path& a, const fs::path& b) { return fs::file_size(a) < fs::file_size(b); };
  fs::remove(*std::max_element(files.begin(), files.end(), smaller));
  BOOST_CHECK_EQUAL(result_of(find(43)), 43);  // the batch is loaded: its file is not needed
  run_again("compiles_40_to_43_again");
  run_again("finds_40_to_43_on_disk");
}

// A machine with a driver only: what another one has compiled is all there is.
BOOST_AUTO_TEST_CASE(without_a_compiler_warmed_up_kernels_are_found) {
  const char* libraries = std::getenv("CATENA_CUDA_LIBRARIES");
  if (libraries == nullptr) {
    std::cout << "skipped: the compiler of this machine cannot be hidden\n";
    return;
  }
  std::vector<WarmUpRequest> requests;
  for (std::uint64_t k = 50; k < 53; ++k) requests.push_back({key_of(k), generated(k)});
  BOOST_CHECK_EQUAL(warm_up(properties(0).arch, requests), 3u);
  const DriverOnly no_compiler(libraries);
  run_again("finds_50_to_52_without_a_compiler");
}

// Kernels that a package has compiled, and a user whose cache is empty. The shared folder has kernels of warm_up(), and
// a kernel and a text that a program has compiled.
BOOST_AUTO_TEST_CASE(shared_kernels_are_found_by_programs_with_an_empty_cache) {
  const fs::path shared = shared_folder();
  std::vector<WarmUpRequest> requests;
  for (std::uint64_t k = 60; k < 63; ++k) requests.push_back({key_of(k), generated(k)});
  BOOST_CHECK_EQUAL(warm_up(properties(0).arch, requests, {}, shared), 3u);
  ::setenv("CATENA_CACHE_DIR", (CacheFolder::path / "of_the_packager").c_str(), 1);
  find(63);
  LoadedModule(0, shared_text());
  ::setenv("CATENA_CACHE_DIR", (CacheFolder::path / "cache").c_str(), 1);
  const fs::path from = CacheFolder::path / "of_the_packager" / "kernels";
  std::size_t copied = 0;
  const auto count = [&](const WarmUpProgress& p) { copied += p.found ? p.kernels.size() : 0; };
  BOOST_CHECK_EQUAL(recompile(from, properties(0).arch, shared, count), 0u);
  BOOST_CHECK_EQUAL(copied, 2u);
  BOOST_CHECK_EQUAL(std::distance(fs::directory_iterator(shared), fs::directory_iterator()), 7);
  for (const auto& file : fs::directory_iterator(shared)) BOOST_CHECK(file.status().permissions() == fs::perms(0644));

  run_again("compiles_nothing_with_shared_kernels");
  run_again("compiles_nothing_with_shared_kernels_and_no_cache");
  run_again("prefers_the_kernels_of_the_user");
  if (const char* libraries = std::getenv("CATENA_CUDA_LIBRARIES")) {
    const DriverOnly no_compiler(libraries);
    run_again("finds_shared_kernels_without_a_compiler");
  }
  for (const auto& file : fs::directory_iterator(shared))
    if (read(file.path()).find("write_63") != std::string::npos) write(file.path(), "damaged");
  run_again("compiles_a_damaged_shared_kernel_once");
  fs::permissions(shared, fs::perms(0777));
  run_again("does_not_use_a_shared_folder_of_everybody");
}

BOOST_AUTO_TEST_CASE(texts_with_templates_and_variables) {
  const CompileRequest request{
      "__constant__ int table[3] = {5, 6, 7};\n"
      "extern \"C\" __global__ void plain(int* p) { *p = table[1]; }\n"
      "template <int N> __global__ void shifted(int* p) { *p = table[0] + N + FACTOR; }\n",
      "texts.cu",
      {"shifted<3>", "shifted<4>"},
      0,
      {"-DFACTOR=10"}};
  const Change change;
  for (int round = 0; round < 2; ++round) {  // the second one comes from disk
    LoadedModule module(0, request);
    BOOST_CHECK_EQUAL(result_of(module.function("plain")), 6);
    BOOST_CHECK_EQUAL(result_of(module.function("shifted<3>")), 18);
    BOOST_CHECK_EQUAL(result_of(module.function("shifted<4>")), 19);
    BOOST_CHECK_EQUAL(&module.function("plain"), &module.function("plain"));
    std::size_t bytes = 0;
    const api::cu_deviceptr table = module.global("table", &bytes);
    BOOST_CHECK_EQUAL(bytes, 3 * sizeof(int));
    const int changed[] = {1, 2, 3};
    CATENA_CU(copy_to_device, table, changed, sizeof changed);
    BOOST_CHECK_EQUAL(result_of(module.function("plain")), 2);
    BOOST_CHECK_EXCEPTION(module.function("missing"), catena::KeyError, [](const catena::KeyError& e) {
      return e.what() == std::string("module: there is no kernel named \"missing\"");
    });
    BOOST_CHECK_THROW(module.global("missing", &bytes), catena::KeyError);
  }
  BOOST_CHECK_EQUAL(change.compilations(), 1u);
  CompileRequest other = request;
  other.options = {"-DFACTOR=20"};
  BOOST_CHECK_EQUAL(result_of(LoadedModule(0, other).function("shifted<3>")), 28);
  BOOST_CHECK_EQUAL(change.compilations(), 2u);
  other.arch = 75;
  BOOST_CHECK_THROW(LoadedModule(0, other), catena::ValueError);
  other.arch = properties(0).arch;
  BOOST_CHECK_EQUAL(result_of(LoadedModule(0, other).function("shifted<4>")), 29);
  other.source += "nonsense;\n";
  BOOST_CHECK_THROW(LoadedModule(0, other), catena::CompileError);
  BOOST_CHECK_THROW(LoadedModule(0, std::string("neither a cubin nor PTX")), catena::CudaError);
}

// The text of a header that is not ours may change while the text that includes it does not.
BOOST_AUTO_TEST_CASE(texts_with_headers_of_the_file_system_are_always_compiled) {
  const fs::path folder = CacheFolder::path / "headers";
  fs::create_directory(folder);
  const CompileRequest request{"#include \"value.h\"\nextern \"C\" __global__ void f(int* p) { *p = VALUE; }\n",
                               "headers.cu",
                               {},
                               0,
                               {"-I" + folder.string()}};
  write(folder / "value.h", "#define VALUE 5\n");
  const Change change;
  const std::vector<fs::path> files = added_records([&] {
    for (int k = 0; k < 2; ++k) BOOST_CHECK_EQUAL(result_of(LoadedModule(0, request).function("f")), 5);
  });
  BOOST_CHECK_EQUAL(files.size(), 0u);
  BOOST_CHECK_EQUAL(change.compilations(), 2u);
  // Headers of ours are part of the key.
  const CompileRequest ours{
      "# include <catena/kernels/float16.h>\nextern \"C\" __global__ void f(int* p) { *p = 3; }\n",
      "ours.cu",
      {},
      0,
      {}};
  BOOST_CHECK_EQUAL(added_records([&] { BOOST_CHECK_EQUAL(result_of(LoadedModule(0, ours).function("f")), 3); }).size(),
                    1u);
}

BOOST_AUTO_TEST_CASE(a_long_compilation_is_told) {
  const std::string errors = run_again("compiles_for_a_long_time");
  const std::string kept = "; the result is kept in " + (CacheFolder::path / "cache" / "kernels").string();
  const std::size_t at =
      errors.find("catena: compiling slow.cu for sm_" + std::to_string(properties(0).arch) + " took ");
  BOOST_CHECK_MESSAGE(at != std::string::npos && errors.find(kept, at) != std::string::npos, errors);
}

// The cache as other programs find it. Run by the cases above only.
BOOST_AUTO_TEST_SUITE(in_another_program, *boost::unit_test::disabled())

namespace {
void check_range(std::uint64_t first, std::uint64_t last, std::uint64_t compilations, std::uint64_t bad_records) {
  for (std::uint64_t k = first; k <= last; ++k) BOOST_CHECK_EQUAL(result_of(find(k)), static_cast<int>(k));
  const KernelCacheStatistics s = kernel_cache_statistics();
  BOOST_CHECK_EQUAL(s.compilations, compilations);
  BOOST_CHECK_EQUAL(s.disk_hits, last - first + 1 - compilations);
  BOOST_CHECK_EQUAL(s.bad_records, bad_records);
  BOOST_CHECK_EQUAL(s.write_failures, 0u);
}
}  // namespace

BOOST_AUTO_TEST_CASE(finds_20_to_24_on_disk) { check_range(20, 24, 0, 0); }
BOOST_AUTO_TEST_CASE(compiles_30_and_31_again) { check_range(30, 32, 2, 2); }
BOOST_AUTO_TEST_CASE(finds_30_to_32_on_disk) { check_range(30, 32, 0, 0); }
BOOST_AUTO_TEST_CASE(finds_40_to_43_on_disk) { check_range(40, 43, 0, 0); }
BOOST_AUTO_TEST_CASE(finds_50_to_52_without_a_compiler) {
  check_range(50, 52, 0, 0);
  BOOST_CHECK_EXCEPTION(find(99), catena::RuntimeError, [](const catena::RuntimeError& e) {
    return std::string(e.what()).starts_with("NVRTC is unavailable");
  });
}
namespace {
// This program as one of a user with a cache of the given name, or without one.
void use_shared_kernels(const char* cache) {
  ::setenv("CATENA_SHARED_KERNELS", shared_folder().c_str(), 1);
  ::setenv("CATENA_CACHE_DIR", cache != nullptr ? (CacheFolder::path / cache).c_str() : "off", 1);
}
void check_shared_text() {
  LoadedModule module(0, shared_text());
  BOOST_CHECK_EQUAL(result_of(module.function("shared_text<7>")), 7);
}
}  // namespace

BOOST_AUTO_TEST_CASE(compiles_nothing_with_shared_kernels) {
  use_shared_kernels("empty");
  check_shared_text();
  check_range(60, 63, 0, 0);
  BOOST_CHECK(!fs::exists(CacheFolder::path / "empty"));
}
BOOST_AUTO_TEST_CASE(compiles_nothing_with_shared_kernels_and_no_cache) {
  use_shared_kernels(nullptr);
  check_shared_text();
  check_range(60, 63, 0, 0);
}
BOOST_AUTO_TEST_CASE(prefers_the_kernels_of_the_user) {
  use_shared_kernels("own");
  ::setenv("CATENA_SHARED_KERNELS", "off", 1);
  std::vector<WarmUpRequest> of_the_user{{key_of(63), generated(163)}};
  BOOST_CHECK_EQUAL(warm_up(properties(0).arch, of_the_user), 1u);
  use_shared_kernels("own");
  BOOST_CHECK_EQUAL(result_of(find(63)), 163);
  BOOST_CHECK_EQUAL(result_of(find(62)), 62);
}
BOOST_AUTO_TEST_CASE(finds_shared_kernels_without_a_compiler) {
  use_shared_kernels("empty");
  check_shared_text();
  check_range(60, 63, 0, 0);
}
BOOST_AUTO_TEST_CASE(compiles_a_damaged_shared_kernel_once) {
  use_shared_kernels("user");
  check_range(60, 63, 1, 1);
  const auto files_in = [](const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  BOOST_CHECK_EQUAL(files_in(CacheFolder::path / "user" / "kernels"), 1);
  BOOST_CHECK_EQUAL(files_in(shared_folder()), 7);
}
BOOST_AUTO_TEST_CASE(does_not_use_a_shared_folder_of_everybody) {
  use_shared_kernels("another_user");
  check_range(60, 63, 4, 0);
}
BOOST_AUTO_TEST_CASE(compiles_40_to_43_again) { check_range(40, 43, 4, 4); }
BOOST_AUTO_TEST_CASE(compiles_for_a_long_time) {
  // Longer texts until one takes well over a second. No compiler has seen them before; the software device keeps what
  // it has compiled, too.
  double seconds = 0;
  for (int kernels = 400; seconds < 1.5; kernels *= 2) {
    std::string source = "// " + CacheFolder::path.string() + "\n";
    for (int k = 0; k < kernels; ++k) {
      const std::string n = std::to_string(k);
      source += "extern \"C\" __global__ void slow" + n +
                "(float* p, int n) {\n  for (int i = 0; i < n; ++i) p[i] = sinf(p[i] * " + n + ") + expf(p[i]);\n}\n";
    }
    const auto start = std::chrono::steady_clock::now();
    LoadedModule module(0, CompileRequest{source, "slow.cu", {}, 0, {}});
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    BOOST_CHECK_EQUAL(module.function("slow7").name, "slow7");
  }
}

BOOST_AUTO_TEST_SUITE_END()
