// Warming up the disk cache with the real compiler; needs neither a GPU nor a driver.
#include <boost/test/unit_test.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>
#include <sstream>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/compiler/kernel_cache.h>
#include <catena/ndarray/cuda/plans/plan.h>

namespace {

namespace fs = std::filesystem;
using namespace nd::cuda;
using catena::BoundOperand;
using catena::Shape;
using catena::Strides;

// The cache of this program: the settings are read once.
struct CacheFolder {
  static inline fs::path path;
  CacheFolder() {
    std::string name = (fs::temp_directory_path() / "catena-warm-up-XXXXXX").string();
    path = ::mkdtemp(name.data());
    ::setenv("CATENA_CACHE_DIR", path.c_str(), 1);
  }
  ~CacheFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};
BOOST_TEST_GLOBAL_FIXTURE(CacheFolder);

bool have_compiler() {
  try {
    nvrtc();
    return true;
  } catch (const catena::RuntimeError& e) {
    std::cout << "skipped: " << e.what() << "\n";
    return false;
  }
}

std::vector<fs::path> records() {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(CacheFolder::path / "kernels")) files.push_back(file.path());
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return fs::file_size(a) > fs::file_size(b); });
  return files;
}
std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

const std::vector<WarmUpRequest>& registered() {
  static const std::vector<WarmUpRequest> all = registered_kernels();
  return all;
}
bool is_registered(const KernelKey& key) {
  return std::any_of(registered().begin(), registered().end(), [&](const WarmUpRequest& r) { return r.key == key; });
}

int loop_of(const catena::KernelDef& def, const char* signature) {
  for (int k = 0; k < def.num_loops; ++k)
    if (catena::signature(def, def.loop_table[k]) == signature) return k;
  throw catena::KeyError(signature);
}

}  // namespace

// First, while this process has not looked at its settings.
BOOST_AUTO_TEST_CASE(without_a_cache_there_is_nothing_to_warm_up) {
  if (!have_compiler()) return;
  for (const char* folder : {"off", "/proc/no/such/folder"}) {
    const pid_t pid = ::fork();
    BOOST_REQUIRE_GE(pid, 0);
    if (pid == 0) {
      ::setenv("CATENA_CACHE_DIR", folder, 1);
      int status = 1;
      try {
        warm_up(90, std::span(registered()).first(1));
      } catch (const catena::RuntimeError& e) {
        const std::string what = e.what();
        const char* expected = std::string(folder) == "off" ? "warm_up: the disk cache is off" : "could not be written";
        status = what.find(expected) != std::string::npos ? 0 : 2;
      }
      ::_exit(status);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    BOOST_CHECK_MESSAGE(status == 0, folder << ": " << status);
  }
}

BOOST_AUTO_TEST_CASE(one_hundred_kernels_are_compiled_once) {
  if (!have_compiler()) return;
  const auto requests = std::span(registered()).first(100);
  std::set<std::string> names;
  std::size_t last = 0, found = 0, without_registers = 0;
  const auto progress = [&](const WarmUpProgress& p) {
    BOOST_CHECK_EQUAL(p.total, 100u);
    BOOST_CHECK_EQUAL(p.done, last + p.kernels.size());
    last = p.done;
    found += p.found ? p.kernels.size() : 0;
    for (const KernelResources& r : p.kernels) {
      names.insert(r.name);
      without_registers += r.registers == 0;
    }
  };
  BOOST_CHECK_EQUAL(warm_up(90, requests, progress), 100u);
  BOOST_CHECK_EQUAL(last, 100u);
  BOOST_CHECK_EQUAL(found, 0u);
  BOOST_CHECK_EQUAL(without_registers, 0u);
  BOOST_CHECK_EQUAL(names.size(), 100u);
  BOOST_CHECK_EQUAL(records().size(), 103u);  // two batches, and which compiler made them
  BOOST_CHECK_EQUAL(kernel_cache_statistics().compilations, 100u);
  const std::set<std::string> compiled = names;

  last = 0;
  names.clear();
  BOOST_CHECK_EQUAL(warm_up(90, requests, progress), 0u);
  BOOST_CHECK_EQUAL(found, 100u);
  BOOST_CHECK(names == compiled);
  BOOST_CHECK_EQUAL(kernel_cache_statistics().compilations, 100u);
  BOOST_CHECK_EQUAL(kernel_cache_statistics().bad_records, 0u);

  // The same kernels asked for twice, and another architecture.
  std::vector<WarmUpRequest> twice(requests.begin(), requests.begin() + 2);
  twice.insert(twice.end(), requests.begin(), requests.begin() + 2);
  BOOST_CHECK_EQUAL(warm_up(80, twice), 2u);
}

BOOST_AUTO_TEST_CASE(a_damaged_batch_is_compiled_again) {
  if (!have_compiler()) return;
  const auto requests = std::span(registered()).first(100);
  warm_up(90, requests);
  const fs::path batch = records().front();
  BOOST_REQUIRE_GT(fs::file_size(batch), 50'000u);
  std::string content = read(batch);
  content[content.size() / 2] ^= 0x10;
  std::ofstream(batch, std::ios::binary) << content;
  BOOST_CHECK_EQUAL(warm_up(90, requests), 50u);
  BOOST_CHECK_EQUAL(warm_up(90, requests), 0u);

  // Records that name a batch which is gone are as good as none.
  fs::remove(records().front());
  BOOST_CHECK_EQUAL(warm_up(90, requests), 50u);
  BOOST_CHECK_EQUAL(warm_up(90, requests), 0u);
}

BOOST_AUTO_TEST_CASE(a_kernel_that_does_not_compile_is_missed_alone) {
  if (!have_compiler()) return;
  std::vector<WarmUpRequest> requests(registered().begin() + 200, registered().begin() + 210);
  requests[4].kernel.body += "static_assert(false, \"planted\");\n";
  const auto planted = [](const catena::CompileError& e) {
    const std::string what = e.what();
    return what.find("planted") != std::string::npos && what.find(" | static_assert(false") != std::string::npos;
  };
  const std::uint64_t before = kernel_cache_statistics().compilations;
  BOOST_CHECK_EXCEPTION(warm_up(90, requests), catena::CompileError, planted);
  BOOST_CHECK_EQUAL(kernel_cache_statistics().compilations, before + 9);
  BOOST_CHECK_EXCEPTION(warm_up(90, requests), catena::CompileError, planted);
  BOOST_CHECK_EQUAL(kernel_cache_statistics().compilations, before + 9);
  requests[4] = registered()[204];
  BOOST_CHECK_EQUAL(warm_up(90, requests), 1u);
}

// As a package does it: kernels for all users, and those that a program has compiled for one architecture.
BOOST_AUTO_TEST_CASE(kernels_go_to_a_folder_for_other_architectures) {
  if (!have_compiler()) return;
  const fs::path output = CacheFolder::path / "prefix" / "share";
  const auto requests = std::span(registered()).subspan(300, 4);
  warm_up(90, requests.first(1));  // a kernel in the user's cache is compiled for the folder, too
  const auto before = records();
  for (const int arch : {80, 90}) BOOST_CHECK_EQUAL(warm_up(arch, requests.first(3), {}, output), 3u);
  for (const int arch : {80, 90}) BOOST_CHECK_EQUAL(warm_up(arch, requests.first(3), {}, output), 0u);
  BOOST_CHECK(records() == before);
  BOOST_CHECK_EQUAL(std::distance(fs::directory_iterator(output), fs::directory_iterator()), 2 * 4 + 1);
  BOOST_CHECK(fs::status(output).permissions() == fs::perms(0755));

  const fs::path from = CacheFolder::path / "from" / "kernels", made = CacheFolder::path / "made";
  for (std::size_t k = 0; k < 3; ++k) BOOST_CHECK_EQUAL(warm_up(90, requests.subspan(k, 1), {}, from), 1u);
  std::size_t found = 0, last = 0;
  const auto progress = [&](const WarmUpProgress& p) {
    BOOST_CHECK_EQUAL(p.total, 3u);
    BOOST_CHECK_EQUAL(p.done, last + p.kernels.size());
    last = p.done;
    found += p.found ? p.kernels.size() : 0;
  };
  BOOST_CHECK_EQUAL(recompile(from, 80, made, progress), 3u);
  last = 0;
  BOOST_CHECK_EQUAL(recompile(from, 90, made, progress), 0u);
  last = 0;
  BOOST_CHECK_EQUAL(recompile(from, 80, made, progress), 0u);
  BOOST_CHECK_EQUAL(found, 6u);
  // They are what warm_up() looks for; the fourth one is missing.
  for (const int arch : {80, 90}) BOOST_CHECK_EQUAL(warm_up(arch, requests, {}, made), 1u);
  BOOST_CHECK_EQUAL(warm_up(86, requests, {}, made), 4u);
  BOOST_CHECK_THROW(recompile(from, 80, ""), catena::ValueError);
  const fs::path batches_alone = output, none = CacheFolder::path / "none";
  for (const fs::path& folder : {batches_alone, none})
    BOOST_CHECK_EXCEPTION(recompile(folder, 80, made), catena::RuntimeError, [&](const catena::RuntimeError& e) {
      return std::string(e.what()).find("\"" + folder.string() + "\"") != std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(every_pair_is_registered_once) {
  std::set<std::string> names;
  std::set<std::uint64_t> programs;
  for (const WarmUpRequest& r : registered()) {
    BOOST_CHECK_MESSAGE(names.insert(r.kernel.name).second, r.kernel.name << " comes twice");
    programs.insert(r.key.program);
    BOOST_CHECK_EQUAL(r.key.arch, 0u);
    BOOST_CHECK_EQUAL(r.key.toolchain, 0u);
  }
  std::size_t pairs = 0;
  for (const catena::KernelDef& def : catena::all_kernels()) {
    for (int loop = 0; loop < def.num_loops; ++loop, ++pairs) {
      const bool as_program = def.kind == catena::KernelKind::elementwise || def.kind == catena::KernelKind::indexed;
      const std::uint64_t program = program_hash(catena::EagerProgram(def, loop)),
                          row = kernel_hash(def, def.loop_table[loop]);
      BOOST_CHECK_MESSAGE(programs.contains(row) || (as_program && programs.contains(program)),
                          def.name << " loop " << loop);
    }
  }
  std::cout << registered().size() << " kernels for " << pairs << " registered pairs\n";
}

// Calls as arrays make them are among what is warmed up.
BOOST_AUTO_TEST_CASE(usual_calls_are_registered) {
  std::byte memory[16]{};
  const catena::KernelDef& add = catena::find_kernel("add");
  const catena::EagerProgram program(add, loop_of(add, "ff->f"));
  const Shape shape{7, 9};
  const Strides rows{36, 4}, columns{4, 28}, none{0, 0};
  const auto operand = [&](const Strides& s) {
    return BoundOperand{memory, catena::Dtype::float32, false, &shape, &s};
  };
  const BoundOperand number{memory, catena::Dtype::float32, true, &shape, &none};
  const auto registered_call = [&](const BoundOperand& a, const BoundOperand& b) {
    const BoundOperand operands[] = {a, b, operand(rows)};
    return is_registered(plan_elementwise(program, operands, shape, 132).key);
  };
  BOOST_CHECK(registered_call(operand(rows), operand(rows)));
  BOOST_CHECK(registered_call(operand(columns), operand(rows)));
  const Shape large{70, 90};
  const Strides large_rows{360, 4}, large_columns{4, 280};
  const BoundOperand a{memory, catena::Dtype::float32, false, &large, &large_columns},
      b{memory, catena::Dtype::float32, false, &large, &large_rows};
  BOOST_CHECK(is_registered(plan_elementwise(program, std::vector<BoundOperand>{a, b, b}, large, 132).key));
  BOOST_CHECK(registered_call(operand(rows), number));
  BOOST_CHECK(registered_call(number, operand(rows)));
  KernelKey unusual = plan_elementwise(program, std::vector<BoundOperand>(3, operand(rows)), shape, 132).key;
  unusual.index32 = false;
  BOOST_CHECK(!is_registered(unusual));

  for (const catena::RandomKind kind :
       {catena::RandomKind::bits, catena::RandomKind::uniform, catena::RandomKind::normal}) {
    catena::bound::Random call;
    call.kind = kind;
    call.out = operand(rows);
    if (kind == catena::RandomKind::bits) call.out.dtype = catena::Dtype::uint32;
    BOOST_CHECK(is_registered(plan_random(call, nullptr, 132).key));
  }

  // Layer normalization of a matrix: an origin per row, gamma and beta for all rows, two numbers.
  const catena::KernelDef& layer_norm = catena::find_kernel("layer_norm_fwd");
  const Shape matrix{8, 1024};
  const Strides elements{4096, 4}, per_row{4096, 0}, per_column{0, 4}, results{4, 0};
  const auto of_matrix = [&](const Strides& s) {
    return BoundOperand{memory, catena::Dtype::float32, false, &matrix, &s};
  };
  const BoundOperand constant{memory, catena::Dtype::float32, true, &matrix, &none};
  const std::vector<BoundOperand> operands = {of_matrix(elements),   of_matrix(per_row), of_matrix(per_column),
                                              of_matrix(per_column), constant,           constant,
                                              of_matrix(elements),   of_matrix(results), of_matrix(results)};
  catena::bound::RowWise call{&layer_norm, loop_of(layer_norm, "ffffff->f;ff"), matrix, {1}, operands};
  BOOST_CHECK(is_registered(plan_row_wise(call, 132).key));
}

BOOST_AUTO_TEST_CASE(sources_are_kept_for_those_who_ask) {
  if (!have_compiler()) return;
  const fs::path folder = CacheFolder::path / "sources" / "of today";
  ::setenv("CATENA_DUMP_KERNELS", folder.c_str(), 1);
  const GeneratedKernel& kernel = registered().front().kernel;
  compile({kernel.source(), kernel.name, {}, 90, {}});
  const std::string texts[] = {"extern \"C\" __global__ void one() {}\n", "extern \"C\" __global__ void two() {}\n"};
  for (const std::string& text : texts) compile({text, "my/kernel.cu", {}, 90, {}});
  BOOST_CHECK_THROW(compile({"broken", "broken", {}, 90, {}}), catena::CompileError);
  ::unsetenv("CATENA_DUMP_KERNELS");
  compile({"\n", "unseen", {}, 90, {}});

  BOOST_CHECK_EQUAL(read(folder / (kernel.name + ".cu")), kernel.source());
  BOOST_CHECK_EQUAL(read(folder / "broken.cu"), "broken");
  std::set<std::string> mine;
  std::size_t files = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    ++files;
    if (file.path().filename().string().starts_with("my_kernel-")) mine.insert(read(file.path()));
  }
  BOOST_CHECK_EQUAL(files, 4u);
  BOOST_CHECK(mine == std::set<std::string>(std::begin(texts), std::end(texts)));
}
