// Every registered (kernel, loop) pair, every form of generated kernels and every kernel of the structural calls is
// compiled by the real compiler for sm_90. For sm_80 and the newest architecture that it knows, one loop of each body
// and one dtype of each form is compiled, which changes from day to day (see for_architecture). With CATENA_TEST_SAMPLE
// fewer are compiled. Needs no GPU and no driver.
//
// Compilations are remembered between runs (compile_records.h). With CATENA_TEST_SHARD=<k>/<n> the suite all_kernels is
// about every nth batch of kernels only: the ctest entries cuda/nvrtc_<k> run side by side, and cuda/nvrtc behind them
// finds the records of all, so what it asserts is about all kernels.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/tests/cuda/compile_records.h>
#include <catena/tests/cuda/nvrtc_jobs.h>

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define CATENA_HAS_TOOLKIT_HEADER 1
#endif

namespace {

using namespace nvrtc_jobs;

#ifdef CATENA_HAS_TOOLKIT_HEADER
// Our declarations against the toolkit's: same arguments; results and the program type by what they are.
template <class T> struct plain { using type = T; };
template <> struct plain<nvrtcResult> { using type = int; };
template <class F> struct plain_function;
template <class R, class... A> struct plain_function<R(A...)> {
  using type = typename plain<R>::type(typename plain<A>::type...);
};
#define CATENA_COMPARE(symbol, field, ...)                                        \
  static_assert(std::is_same_v<typename plain_function<decltype(::symbol)>::type, \
                               std::remove_pointer_t<decltype(Nvrtc::field)>>);
CATENA_NVRTC_FUNCTIONS(CATENA_COMPARE)
#undef CATENA_COMPARE
static_assert(sizeof(nvrtcResult) == sizeof(api::nvrtc_result));
static_assert(NVRTC_SUCCESS == api::nvrtc_success && NVRTC_ERROR_COMPILATION == api::nvrtc_error_compilation &&
              NVRTC_ERROR_OUT_OF_MEMORY == api::nvrtc_error_out_of_memory);
#endif

// A machine with the toolkit must have the compiler as well: there the test may not be skipped.
std::string toolkit() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* path = std::getenv(variable); path != nullptr && *path != '\0')
      return std::string(variable) + "=" + path;
  std::error_code ignored;
  if (std::filesystem::exists("/usr/local/cuda", ignored)) return "/usr/local/cuda";
  std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string nvcc = path.substr(at, end - at) + "/nvcc";
    if (std::filesystem::exists(nvcc, ignored)) return nvcc;
    at = end + 1;
  }
  return "";
}

bool have_compiler() {
  try {
    nvrtc();
    return true;
  } catch (const catena::RuntimeError& e) {
    const std::string found = toolkit();
    if (!found.empty())
      BOOST_ERROR("a CUDA toolkit is here (" << found << ") but its run-time compiler is not: " << e.what());
    else std::cout << "skipped: no CUDA toolkit on this machine: " << e.what() << "\n";
    return false;
  }
}

// The assembler's report about all kernels of a form.
struct Usage {
  int kernels = 0, spilling = 0, max_registers = 0, max_shared = 0;
  void add(const KernelResources& r) {
    ++kernels;
    spilling += spills({&r, 1});
    max_registers = std::max(max_registers, r.registers);
    max_shared = std::max(max_shared, r.shared);
  }
};

struct Totals {
  std::mutex mutex;
  std::map<std::string_view, Usage> usage;  // by form
  int kernels = 0, failures = 0;
  std::string problems;
  std::vector<std::string> spills;

  void add(const Job& job, const KernelResources& found) {
    ++kernels;
    usage[job.form].add(found);
    if (nd::cuda::spills({&found, 1}))
      spills.push_back(catena::concat(job.pair, " ", job.form, " ", job.kernel.name, ": ", found.spill_stores,
                                      " bytes stored, ", found.spill_loads, " loaded"));
  }
};

test::CompileRecords& records() {
  static test::CompileRecords all(test::CompileRecords::file_of_environment());
  return all;
}

const KernelResources* report_of(const Module& module, const std::string& name) {
  const auto found = std::find_if(module.resources.begin(), module.resources.end(),
                                  [&](const KernelResources& r) { return r.name == name; });
  return found != module.resources.end() ? &*found : nullptr;
}

void add_result(const Job& job, const Module& module, int arch, Totals& totals) {
  const KernelResources* found = report_of(module, job.kernel.name);
  if (found == nullptr) {
    ++totals.failures;
    totals.problems += "\n" + job.pair + ": the assembler does not report " + job.kernel.name;
    return;
  }
  totals.add(job, *found);
  records().add(test::compilation_hash(job.kernel.source(), arch), *found);
}

void compile_alone(const Job& job, int arch, Totals& totals) {
  try {
    const Module module =
        compile({.source = job.kernel.source(), .name = job.pair, .arch = arch, .avoid_spills = true});
    const std::lock_guard lock(totals.mutex);
    add_result(job, module, arch, totals);
  } catch (const catena::Error& e) {
    const std::lock_guard lock(totals.mutex);
    if (++totals.failures <= 20)
      totals.problems += "\n" + job.pair + ", " + job.kernel.name + ":\n" + std::string(e.what()).substr(0, 3000);
  }
}

// As warm_up() does: kernels that spill in the code of a batch are compiled alone.
void compile_batch(std::span<const Job* const> jobs, int arch, Totals& totals) {
  std::vector<GeneratedKernel> kernels;
  std::vector<const Job*> alone;
  for (const Job* job : jobs) kernels.push_back(job->kernel);
  try {
    const Module module = compile({batch_source(kernels), jobs.front()->pair + " and others", {}, arch, {}});
    const std::lock_guard lock(totals.mutex);
    if (module.ptx) totals.problems += "\n" + jobs.front()->pair + ": compiled to PTX only";
    for (const Job* job : jobs) {
      const KernelResources* found = report_of(module, job->kernel.name);
      if (found != nullptr && spills({found, 1})) alone.push_back(job);
      else add_result(*job, module, arch, totals);
    }
  } catch (const catena::CompileError&) {
    alone.assign(jobs.begin(), jobs.end());  // finds the guilty one
  }
  for (const Job* job : alone) compile_alone(*job, arch, totals);
}

void print_usage(const Totals& totals) {
  for (const auto& [form, u] : totals.usage)
    std::cout << "  " << std::left << std::setw(18) << form << std::right << std::setw(5) << u.kernels
              << " kernels, at most " << std::setw(3) << u.max_registers << " registers and " << std::setw(5)
              << u.max_shared << " bytes shared, " << u.spilling << " spill\n";
}

constexpr std::size_t kBatch = 8;  // few, so that kernels which take long come to several entries

// "2/8": every eighth batch from the third on, counted over all lists. Without shards all are one.
struct Shard {
  std::size_t number = 0, count = 1;
};
Shard this_shard() {
  Shard shard;
  const char* text = std::getenv("CATENA_TEST_SHARD");
  if (text == nullptr) return shard;
  char slash = 0;
  std::istringstream in(text);
  in >> shard.number >> slash >> shard.count;
  catena::check<catena::ValueError>(in && slash == '/' && shard.number < shard.count, "CATENA_TEST_SHARD", "'", text,
                                    "' is no <k>/<n> with k < n");
  return shard;
}

// The jobs of this shard for one architecture: those without a record in batches, on two threads. No kernel may spill
// registers.
void compile_all(const std::vector<Job>& jobs, int arch, const char* what) {
  static std::size_t batches = 0;  // of the lists before this one
  const Shard shard = this_shard();
  Totals totals;
  std::vector<const Job*> missing;
  std::size_t wanted = 0;
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    if ((batches + k / kBatch) % shard.count != shard.number) continue;
    ++wanted;
    const KernelResources* known = records().find(test::compilation_hash(jobs[k].kernel.source(), arch));
    if (known != nullptr && known->name == jobs[k].kernel.name) totals.add(jobs[k], *known);
    else missing.push_back(&jobs[k]);
  }
  batches += (jobs.size() + kBatch - 1) / kBatch;
  std::atomic<std::size_t> next{0};
  const auto start = std::chrono::steady_clock::now();
  const auto work = [&] {
    for (std::size_t first; (first = next.fetch_add(kBatch)) < missing.size();)
      compile_batch(std::span(missing).subspan(first, std::min(kBatch, missing.size() - first)), arch, totals);
  };
  std::thread other(work);
  work();
  other.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << what << ": " << totals.kernels << " of " << jobs.size() << " kernels for sm_" << arch << ", "
            << missing.size() << " of them compiled now in " << seconds << " s\n";
  print_usage(totals);
  BOOST_CHECK_MESSAGE(totals.problems.empty(), totals.failures << " kernels failed for sm_" << arch << totals.problems);
  BOOST_CHECK_EQUAL(totals.kernels, wanted);
  BOOST_TEST(totals.spills == std::vector<std::string>(), boost::test_tools::per_element());
}

// sm_90 and, where other architectures are sampled, sm_80 and the newest one.
constexpr int kArchitecture = 90;
std::vector<int> architectures() {
  std::vector<int> all = {80, kArchitecture};
  if (nvrtc().architectures.back() > kArchitecture) all.push_back(nvrtc().architectures.back());
  return all;
}

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

// CATENA_TEST_NVRTC_SEED, CATENA_TEST_SAMPLE, or the number of the day.
std::uint64_t sample_seed() {
  static const std::uint64_t seed = [] {
    std::uint64_t chosen = std::uint64_t(std::time(nullptr)) / 86400;
    for (const char* name : {"CATENA_TEST_SAMPLE", "CATENA_TEST_NVRTC_SEED"})
      if (const std::string_view text = variable(name); !text.empty()) chosen = std::stoull(std::string(text));
    std::cout << "sample of the architectures: CATENA_TEST_NVRTC_SEED=" << chosen << "\n";
    return chosen;
  }();
  return seed;
}

// Whether each job of a list is compiled by another test, too: cuda/ptx_loops executes the PTX of every registered
// pair, for sm_90. The code of the architecture, and with it what a kernel spills, is made here alone.
enum class Elsewhere { no, executed };

// One job of each group with the same body (the first word of `pair`) and the same form; of strided elementwise loops
// one of all bodies, because these are also compiled in the contiguous form. The seed chooses other members every day.
std::vector<Job> one_of_each(const std::vector<Job>& jobs, int arch) {
  std::map<std::string, std::vector<const Job*>> groups;
  for (const Job& job : jobs) {
    const std::string body = job.form == name_of(Form::strided) ? "" : job.pair.substr(0, job.pair.find(' '));
    groups[catena::concat(body, " ", job.form)].push_back(&job);
  }
  std::vector<Job> chosen;
  for (const auto& [group, members] : groups)
    chosen.push_back(*members[catena::fnv1a(catena::concat(group, " ", arch, " ", sample_seed())) % members.size()]);
  return chosen;
}

// Every third job of each form, and at least one. The seed chooses the first.
std::vector<Job> third_of_each_form(const std::vector<Job>& jobs) {
  std::map<std::string_view, std::size_t> count, seen;
  for (const Job& job : jobs) ++count[job.form];
  std::vector<Job> chosen;
  for (const Job& job : jobs)
    if (seen[job.form]++ % 3 == sample_seed() % std::min<std::size_t>(3, count[job.form])) chosen.push_back(job);
  return chosen;
}

// The jobs to compile for an architecture: all for sm_90, and for the others one of each group. The texts have no code
// for single architectures but a few instructions in kernels/device, which every member of a group shares; members
// differ in dtypes and layouts. The use of registers depends on these and on the architecture: other members every day
// find a kernel that spills on one architecture only after some runs. With CATENA_TEST_SAMPLE, jobs that are executed
// elsewhere are sampled for sm_90, too, and of the others' groups a third is compiled.
// CATENA_TEST_ALL_ARCHITECTURES=1 compiles all jobs for all of them.
std::vector<Job> for_architecture(const std::vector<Job>& jobs, int arch, Elsewhere elsewhere) {
  if (variable("CATENA_TEST_ALL_ARCHITECTURES") == "1") return jobs;
  const bool fewer = !variable("CATENA_TEST_SAMPLE").empty();
  if (arch == kArchitecture) return fewer && elsewhere == Elsewhere::executed ? one_of_each(jobs, arch) : jobs;
  const std::vector<Job> chosen = one_of_each(jobs, arch);
  return fewer ? third_of_each_form(chosen) : chosen;
}

void compile_for_all(const std::vector<Job>& jobs, const char* what, Elsewhere elsewhere = Elsewhere::no) {
  for (const int arch : architectures()) compile_all(for_architecture(jobs, arch, elsewhere), arch, what);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(all_kernels)

BOOST_AUTO_TEST_CASE(every_registered_pair_compiles) {
  if (!have_compiler()) return;
  std::vector<Job> jobs, more;
  const std::size_t registered = add_registered_pairs(jobs, more);
  std::cout << "registered (kernel, loop) pairs: " << registered << "\n";
  BOOST_CHECK_GT(registered, 0u);
  BOOST_CHECK_EQUAL(jobs.size(), registered);
  compile_for_all(jobs, "registered pairs", Elsewhere::executed);
  compile_for_all(more, "other forms, float32");
}

BOOST_AUTO_TEST_CASE(every_structural_kernel_compiles) {
  if (!have_compiler()) return;
  compile_for_all(structural_jobs(), "structural kernels");
}

// Layouts that no pair above has: every rank, 64-bit positions, repeated elements, all shapes of reductions, and six
// steps in one kernel.
BOOST_AUTO_TEST_CASE(every_generated_form_compiles) {
  if (!have_compiler()) return;
  std::vector<Job> jobs;
  const auto row = [](const char* name, const char* signature) {
    const KernelDef& def = catena::find_kernel(name);
    return std::pair<const KernelDef&, int>(def, cuda_device::loop_number(def, signature));
  };
  const auto [add, add_f] = row("add", "ff->f");
  const catena::EagerProgram sum_of_two(add, add_f);
  for (int rank : {0, 1, 2, 3, 4}) {
    for (unsigned scalars : {0u, 2u}) {
      for (bool index32 : {true, false}) {
        KernelKey key = key_of(add, add.loop_table[add_f], Form::strided, rank);
        key.scalars = std::uint16_t(scalars);
        key.index32 = index32;
        jobs.push_back({"add", name_of(Form::strided), generate(sum_of_two, key)});
      }
    }
  }
  for (const auto& [def, number] :
       {row("sum", "f->f"), row("sum", "b->l"), row("argmax", "e->l"), row("var", "d->d")}) {
    const Loop& loop = def.loop_table[number];
    for (Form form : {Form::reduce_block, Form::reduce_warp, Form::reduce_columns, Form::reduce_second})
      for (int rank : {0, 1, 4})
        jobs.push_back({def.name, name_of(form), generate(def, loop, key_of(def, loop, form, rank, rank))});
  }
  // ((a * b + a) * b - a) / b, and its square root
  const catena::Step steps[] = {step_of("multiply", "ee->e", {0, 1, 3}),    step_of("add", "ee->e", {3, 0, 4}),
                                step_of("multiply", "ee->e", {4, 1, 5}),    step_of("subtract", "ee->e", {5, 0, 6}),
                                step_of("true_divide", "ee->e", {6, 1, 7}), step_of("sqrt", "e->e", {7, 2})};
  const std::vector<Dtype> slots(8, Dtype::float16);
  const catena::Program fused{steps, slots, 2, 0, 1};
  for (auto [form, rank] : {std::pair{Form::contiguous, 1}, std::pair{Form::strided, 2}, std::pair{Form::strided, 0}}) {
    KernelKey key;
    key.program = program_hash(fused);
    key.dtypes = {Dtype::float16, Dtype::float32, Dtype::float16};
    key.form = form;
    key.rank = std::uint8_t(rank);
    jobs.push_back({"six steps", name_of(form), generate(fused, key)});
  }
  add_fused_reductions(jobs);
  compile_for_all(jobs, "generated forms");
}

// The texts that tests execute on the CPU compile for the GPU: fused programs, casts, scalars and 64-bit positions
// among them. Of those that are no registered pair or structural kernel, which are compiled above, every twentieth; the
// seed chooses the first.
BOOST_AUTO_TEST_CASE(the_executed_kernels_compile) {
  if (!have_compiler()) return;
  std::vector<Job> above = structural_jobs(), more;
  add_registered_pairs(above, more);
  std::set<std::string> known;
  for (const std::vector<Job>* list : {&above, &more})
    for (const Job& job : *list) known.insert(job.kernel.name);
  std::vector<Job> others;
  for (const GeneratedKernel& kernel : cuda_device::manifest())
    if (!known.contains(kernel.name)) others.push_back({"manifest", "of the manifest", kernel});
  constexpr std::size_t apart = 20;
  std::vector<Job> jobs;
  for (std::size_t k = sample_seed() % apart; k < others.size(); k += apart) jobs.push_back(others[k]);
  BOOST_CHECK_GT(jobs.size(), 0u);
  compile_all(jobs, kArchitecture, "kernels that tests execute on the CPU");
}

BOOST_AUTO_TEST_SUITE_END()

// A line that is damaged, or of another compiler or another text, is no record.
BOOST_AUTO_TEST_CASE(records_of_compilations) {
  if (!have_compiler()) return;
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / catena::concat("catena_compile_records_", getpid()) / "records.txt";
  const std::string source =
      "#include <catena/kernels/elementwise/arithmetic.h>\nextern \"C\" __global__ void f() {}\n";
  const std::uint64_t hash = test::compilation_hash(source, 80);
  BOOST_TEST(hash != test::compilation_hash(source, 90));
  BOOST_TEST(hash != test::compilation_hash(source + " ", 80));
  test::CompileRecords(file).add(hash, {"f", 17, 8, 4, 12, 256});
  test::CompileRecords(file).add(hash + 1, {"g", 1, 2, 3, 4, 5});
  const test::CompileRecords both(file);
  BOOST_TEST(both.size() == 2u);
  const KernelResources* f = both.find(hash);
  BOOST_REQUIRE(f != nullptr);
  BOOST_TEST(f->name == "f");
  BOOST_TEST((f->registers == 17 && f->stack == 8 && f->spill_stores == 4 && f->spill_loads == 12 && f->shared == 256));
  BOOST_TEST(both.find(hash + 2) == nullptr);

  std::ifstream in(file);
  std::string first, second;
  std::getline(in, first);
  std::getline(in, second);
  for (std::size_t k = 0; k < first.size(); ++k) {
    std::string damaged = first;
    damaged[k] = damaged[k] == '7' ? '1' : '7';
    std::ofstream(file) << damaged << "\n" << second << "\n";
    const test::CompileRecords rest(file);
    BOOST_TEST((rest.size() == 1u && rest.find(hash + 1) != nullptr), damaged);
  }
  std::ofstream(file) << first << "\n" << second.substr(0, second.size() - 3);  // cut off
  BOOST_TEST(test::CompileRecords(file).size() == 1u);
  std::filesystem::remove_all(file.parent_path());
}

BOOST_AUTO_TEST_CASE(errors_show_the_source_and_the_log) {
  if (!have_compiler()) return;
  try {
    compile({"extern \"C\" __global__ void broken(int* p) {\n  *p = undeclared;\n}\n", "broken.cu", {}, 90, {}});
    BOOST_ERROR("compiled");
  } catch (const catena::CompileError& e) {
    const std::string what = e.what();
    BOOST_CHECK_NE(what.find("broken.cu: NVRTC cannot compile it for sm_90"), std::string::npos);
    BOOST_CHECK_NE(what.find("undeclared"), std::string::npos);
    BOOST_CHECK_NE(what.find("   2 |   *p = undeclared;"), std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_newer_architecture_gets_ptx) {
  if (!have_compiler()) return;
  const Module module =
      compile({"template <int N> __global__ void fill(int* p) { *p = N; }", "fill.cu", {"fill<3>"}, 9990, {}});
  BOOST_CHECK(module.ptx);
  BOOST_CHECK_NE(module.code.find(".target sm_" + std::to_string(nvrtc().architectures.back())), std::string::npos);
  BOOST_REQUIRE_EQUAL(module.names.size(), 1u);
  BOOST_CHECK_NE(module.code.find(module.names[0]), std::string::npos);
  BOOST_CHECK_THROW(compile({"", "empty.cu", {}, 10, {}}), catena::RuntimeError);
}

// 64 values of a thread live across the barrier, and eight blocks leave 32 registers to a thread.
BOOST_AUTO_TEST_CASE(texts_that_spill_are_compiled_for_fewer_blocks) {
  if (!have_compiler()) return;
  const auto text = [](const char* bounds) {
    return catena::concat("extern \"C\" __global__ void __launch_bounds__(", bounds, ") f(float* p) {\n",
                          "  float v[64];\n"
                          "#pragma unroll\n"
                          "  for (int k = 0; k < 64; ++k) v[k] = p[k * 256 + threadIdx.x];\n"
                          "  __syncthreads();\n"
                          "#pragma unroll\n"
                          "  for (int k = 0; k < 64; ++k) p[k * 256 + threadIdx.x] = v[k] + 2 * v[63 - k];\n"
                          "}\n");
  };
  const CompileRequest request{text("256, 8"), "f.cu", {}, kArchitecture, {}};
  const Module first = compile(request);
  BOOST_TEST(spills(first.resources));
  CompileRequest avoiding = request;
  avoiding.avoid_spills = true;
  const Module fewer = compile(avoiding);
  BOOST_TEST(!spills(fewer.resources));
  BOOST_REQUIRE_EQUAL(fewer.resources.size(), 1u);
  BOOST_TEST(fewer.resources[0].registers > 64);
  BOOST_TEST(fewer.resources[0].registers <= 96);  // two blocks, not one
  avoiding.options = {"--maxrregcount=32"};
  BOOST_TEST(spills(compile(avoiding).resources));

  CompileRequest fitting = avoiding;  // without a need, the text is compiled as it is
  fitting.source = text("256");
  fitting.options = {};
  BOOST_TEST(compile(fitting).resources[0].registers ==
             compile({fitting.source, "f.cu", {}, kArchitecture, {}}).resources[0].registers);
  fitting.arch = 9990;  // PTX, about which the assembler says nothing
  BOOST_TEST(compile(fitting).ptx);
}

// The bodies see the same numbers as on the host: no fused multiply-add, 16-byte accesses.
BOOST_AUTO_TEST_CASE(code_properties) {
  if (!have_compiler()) return;
  const KernelDef& add = catena::find_kernel("add");
  const int number = cuda_device::loop_number(add, "ff->f");
  const catena::EagerProgram program(add, number);
  const GeneratedKernel kernel = generate(program, key_of(add, add.loop_table[number], Form::contiguous, 1));
  const Module module = compile({kernel.source(), kernel.name, {}, 9990, {}});
  BOOST_CHECK_NE(module.code.find("ld.global.v4"), std::string::npos);
  BOOST_CHECK_NE(module.code.find("st.global.v4"), std::string::npos);
  const Module contracted =
      compile({"extern \"C\" __global__ void f(float* p) { p[0] = p[0] * p[1] + p[2]; }", "f.cu", {}, 9990, {}});
  BOOST_CHECK_EQUAL(contracted.code.find("fma"), std::string::npos);
}
