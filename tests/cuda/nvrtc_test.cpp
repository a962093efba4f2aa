// Every registered (kernel, loop) pair, every form of generated kernels and every kernel of the structural calls is
// compiled by the real compiler for sm_90. For sm_80 and the newest architecture that it knows, one loop of each body
// and one dtype of each form is compiled, which changes from day to day (see for_architecture). Needs no GPU and no
// driver.
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
#include <catena/ndarray/cuda/compiler/compiler.h>
#include <catena/ndarray/cuda/plans/codegen.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/ndarray/cuda/runtime/library.h>
#include <catena/tests/cuda/compile_records.h>
#include <catena/tests/support/cuda_device/manifest.h>
#include <catena/tests/support/spills.h>

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define CATENA_HAS_TOOLKIT_HEADER 1
#endif

namespace {

using namespace nd::cuda;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;
using cuda_device::key_of;

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

struct Job {
  std::string pair;  // "add ff->f"
  std::string_view form;
  GeneratedKernel kernel;
};

// The inputs of a row kernel that have one element per row, and those that are one number, where functions call it.
struct UsualRow {
  std::string_view kernel;
  std::vector<int> per_row, numbers;
};
const std::vector<UsualRow>& usual_rows() {
  static const std::vector<UsualRow> all = {{"batch_norm_fwd", {1, 2}, {3}},
                                            {"batch_norm_bwd", {2, 3, 4}, {}},
                                            {"layer_norm_fwd", {1}, {4, 5}},
                                            {"layer_norm_bwd", {2, 4, 5}, {6}}};
  return all;
}

// Rows of fewer inputs stay in registers where those of more do not.
void add_usual_rows(const KernelDef& def, const Loop& loop, const std::string& pair, std::vector<Job>& jobs) {
  if (loop.type[0] == catena::Dtype::bfloat16) return;  // as float16
  const auto add = [&](Form form, int axes, unsigned scalars, int elements = catena::device::kRowElements,
                       int word = 16) {
    KernelKey key = key_of(def, loop, form, axes, axes);
    key.scalars = std::uint16_t(scalars);
    key.per_thread = std::uint8_t(elements);
    key.word_bytes = std::uint8_t(word);
    jobs.push_back({catena::concat(pair, " usual"), name_of(form), generate(def, loop, key)});
  };
  unsigned scalars = 0;
  for (const UsualRow& usual : usual_rows()) {
    if (usual.kernel != def.name) continue;
    for (const int k : usual.per_row) scalars |= 1u << (k + kPerRowBit);
    for (const int k : usual.numbers) scalars |= 1u << k;
  }
  add(Form::row_warp, 1, scalars);
  const int item = int(catena::itemsize(loop.type[0]));
  add(Form::row_part, 1, scalars, 8);
  add(Form::row_part, 1, scalars, 8, item);
  add(Form::row_warp, 1, scalars, 8);
  add(Form::row_warp, 1, scalars, 16);
  add(Form::row_warp, 1, scalars, 32, item);
  add(Form::row_block, 1, scalars, 8);
  add(Form::row_block, 1, scalars, 64);
  if (item <= 4 && def.nin == 1) add(Form::row_block, 1, scalars, 128);
  if (scalars == 0) return;  // the others are among those of add_jobs
  add(Form::row_block, 1, scalars);
  add(Form::row_warp, 2, scalars);
}

void add_jobs(const KernelDef& def, int loop_number, std::vector<Job>& jobs, std::vector<Job>& more) {
  const Loop& loop = def.loop_table[loop_number];
  const std::string pair = std::string(def.name) + " " + catena::signature(def, loop);
  const bool sample = loop.type[0] == catena::Dtype::float32;  // the other forms do not depend on the dtype
  const auto simple = [&](Form form, int rank, int reduced_rank = 1) {
    return Job{pair, name_of(form), generate(def, loop, key_of(def, loop, form, rank, reduced_rank))};
  };
  const catena::EagerProgram program(def, loop_number);
  const auto looping = [&](Form form, int rank, int per_thread = 1) {
    KernelKey key = key_of(def, loop, form, rank);
    key.per_thread = std::uint8_t(per_thread);
    return Job{pair, name_of(form), generate(program, key)};
  };
  switch (def.kind) {
    case KernelKind::elementwise:
      jobs.push_back(looping(Form::contiguous, 1));
      if (sample) {
        more.push_back(looping(Form::strided, 2));
        more.push_back(looping(Form::strided, 0));
      }
      break;
    case KernelKind::indexed:
      jobs.push_back(looping(Form::indexed, 8));
      if (sample) {
        more.push_back(looping(Form::indexed, 0));
        more.push_back(looping(Form::indexed, 2, 4));
      }
      break;
    case KernelKind::reduction:
      jobs.push_back(simple(Form::reduce_block, 1));
      if (sample) {
        more.push_back(simple(Form::reduce_warp, 2, 2));
        more.push_back(simple(Form::reduce_columns, 1));
        more.push_back(simple(Form::reduce_second, 0, 0));
      }
      break;
    case KernelKind::row_wise:
      jobs.push_back(simple(Form::row_block, 1));
      add_usual_rows(def, loop, pair, more);
      if (sample) {
        more.push_back(simple(Form::row_warp, 2, 2));
        more.push_back(simple(Form::row_long, 1, 2));
        more.push_back(simple(Form::row_long, 0, 0));
        more.push_back(simple(Form::row_columns, 1));
      }
      break;
    case KernelKind::multi_tensor: jobs.push_back(simple(Form::multi_tensor, 1)); break;
  }
}

// Returns the number of pairs.
std::size_t add_registered_pairs(std::vector<Job>& jobs, std::vector<Job>& more) {
  std::size_t registered = 0;
  for (const catena::KernelDef& def : catena::all_kernels()) {
    registered += def.num_loops;
    for (int loop = 0; loop < def.num_loops; ++loop) add_jobs(def, loop, jobs, more);
  }
  return registered;
}

// The assembler's report about all kernels of a form.
struct Usage {
  int kernels = 0, spilling = 0, max_registers = 0, max_shared = 0;
  void add(const KernelResources& r) {
    ++kernels;
    spilling += r.spill_stores > 0;
    max_registers = std::max(max_registers, r.registers);
    max_shared = std::max(max_shared, r.shared);
  }
};

struct Totals {
  std::mutex mutex;
  std::map<std::string_view, Usage> usage;  // by form
  int kernels = 0, failures = 0;
  std::string problems;
  std::vector<std::string> spills, bad_spills;

  void add(const Job& job, const KernelResources& found) {
    ++kernels;
    usage[job.form].add(found);
    if (found.spill_stores == 0) return;
    const std::string kernel = catena::concat(job.pair, " ", job.form);
    spills.push_back(catena::concat(kernel, ": ", found.spill_stores, " bytes"));
    if (found.spill_stores > test::kFewSpilledBytes) bad_spills.push_back(spills.back());
  }
};

test::CompileRecords& records() {
  static test::CompileRecords all(test::CompileRecords::file_of_environment());
  return all;
}

void compile_alone(const Job& job, int arch, Totals& totals) {
  try {
    compile({job.kernel.source(), job.pair, {}, arch, {}});
    const std::lock_guard lock(totals.mutex);
    ++totals.kernels;
  } catch (const catena::Error& e) {
    const std::lock_guard lock(totals.mutex);
    if (++totals.failures <= 20)
      totals.problems += "\n" + job.pair + ", " + job.kernel.name + ":\n" + std::string(e.what()).substr(0, 3000);
  }
}

void compile_batch(std::span<const Job* const> jobs, int arch, Totals& totals) {
  std::vector<GeneratedKernel> kernels;
  for (const Job* job : jobs) kernels.push_back(job->kernel);
  try {
    const Module module = compile({batch_source(kernels), jobs.front()->pair + " and others", {}, arch, {}});
    const std::lock_guard lock(totals.mutex);
    if (module.ptx) totals.problems += "\n" + jobs.front()->pair + ": compiled to PTX only";
    for (const Job* job : jobs) {
      const auto found = std::find_if(module.resources.begin(), module.resources.end(),
                                      [&](const KernelResources& r) { return r.name == job->kernel.name; });
      if (found == module.resources.end()) {
        ++totals.failures;
        totals.problems += "\n" + job->pair + ": the assembler does not report " + job->kernel.name;
        continue;
      }
      totals.add(*job, *found);
      records().add(test::compilation_hash(job->kernel.source(), arch), *found);
    }
  } catch (const catena::CompileError&) {
    for (const Job* job : jobs) compile_alone(*job, arch, totals);  // finds the guilty one
  }
}

void print_usage(const Totals& totals) {
  for (const auto& [form, u] : totals.usage)
    std::cout << "  " << std::left << std::setw(18) << form << std::right << std::setw(5) << u.kernels
              << " kernels, at most " << std::setw(3) << u.max_registers << " registers and " << std::setw(5)
              << u.max_shared << " bytes shared, " << u.spilling << " spill\n";
  for (const std::string& spill : totals.spills) std::cout << "  spills: " << spill << "\n";
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
// more than kFewSpilledBytes.
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
  BOOST_TEST(totals.bad_spills == std::vector<std::string>(), boost::test_tools::per_element());
}

// sm_90 and, where other architectures are sampled, sm_80 and the newest one.
constexpr int kArchitecture = 90;
std::vector<int> architectures() {
  std::vector<int> all = {80, kArchitecture};
  if (nvrtc().architectures.back() > kArchitecture) all.push_back(nvrtc().architectures.back());
  return all;
}

// CATENA_TEST_NVRTC_SEED, or the number of the day.
std::uint64_t sample_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("CATENA_TEST_NVRTC_SEED");
    const std::uint64_t chosen =
        text != nullptr && *text != '\0' ? std::stoull(text) : std::uint64_t(std::time(nullptr)) / 86400;
    std::cout << "sample of the other architectures: CATENA_TEST_NVRTC_SEED=" << chosen << "\n";
    return chosen;
  }();
  return seed;
}

// The jobs to compile for an architecture: all for sm_90, and for the others one job of each group with the same body
// (the first word of `pair`) and the same form; of strided elementwise loops one of all bodies, because these are also
// compiled in the contiguous form. The texts have no code for single architectures but a few instructions in
// kernels/device, which every member of a group shares; members differ in the dtype. What depends on both the dtype and
// the architecture is the use of registers: the seed chooses other members every day, so that a kernel that spills on
// one architecture only is found after some runs. CATENA_TEST_ALL_ARCHITECTURES=1 compiles all jobs for all of them.
std::vector<Job> for_architecture(const std::vector<Job>& jobs, int arch) {
  const char* all = std::getenv("CATENA_TEST_ALL_ARCHITECTURES");
  if (arch == kArchitecture || (all != nullptr && std::string_view(all) == "1")) return jobs;
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

void compile_for_all(const std::vector<Job>& jobs, const char* what) {
  for (const int arch : architectures()) compile_all(for_architecture(jobs, arch), arch, what);
}

// ---- kernels of the structural calls ------------------------------------------------------------
void add_scans(std::vector<Job>& jobs) {
  constexpr Form forms[] = {Form::scan_rows, Form::scan_columns, Form::scan_chain, Form::scan_column_sums,
                            Form::scan_carries};
  for (const catena::KernelDef& def : catena::all_kernels()) {
    if (def.kind != KernelKind::reduction) continue;
    for (const Loop& loop : def.loops()) {
      // All forms of one dtype; the longest of the others for one kernel: nothing else depends on the dtype.
      const bool sample = loop.type[0] == Dtype::float32, other = std::string_view(def.name) == "sum";
      for (Form form : std::span(forms).first(sample ? 5 : (other ? 1 : 0)))
        jobs.push_back({std::string(def.name) + " " + catena::signature(def, loop), name_of(form),
                        generate(def, loop, key_of(def, loop, form, sample ? 0 : 1))});
    }
  }
}

void add_random(std::vector<Job>& jobs) {
  for (const char* name : {"random_bits", "random_uniform", "random_normal", "random_integers"}) {
    const KernelDef& def = catena::find_kernel(name);
    for (const Loop& loop : def.loops()) {
      const Dtype out = loop.type[std::size_t(def.first_output())];
      for (Dtype stored : {out, Dtype::float16, Dtype::bfloat16}) {
        if (stored != out && out != Dtype::float32) continue;  // 16-bit floats are rounded from float32
        KernelKey key = key_of(def, loop, Form::random, 1);
        key.dtypes = {stored};
        jobs.push_back(
            {std::string(name) + " " + catena::signature(def, loop), name_of(Form::random), generate(def, loop, key)});
      }
    }
  }
}

std::vector<Job> structural_jobs() {
  std::vector<Job> jobs;
  for (const KernelKey& key : cuda_device::structural_keys())
    jobs.push_back({catena::concat(name_of(key.form), " ", key.dtypes[0]), name_of(key.form), generate(key)});
  add_scans(jobs);
  add_random(jobs);
  return jobs;
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
  compile_for_all(jobs, "registered pairs");
  compile_for_all(more, "other forms, float32");
}

BOOST_AUTO_TEST_CASE(every_structural_kernel_compiles) {
  if (!have_compiler()) return;
  compile_for_all(structural_jobs(), "structural kernels");
}

namespace {

catena::Step step_of(const char* name, const char* signature, std::initializer_list<std::uint8_t> slots) {
  catena::Step step;
  step.kernel = &catena::find_kernel(name);
  step.loop = std::uint16_t(cuda_device::loop_number(*step.kernel, signature));
  std::copy(slots.begin(), slots.end(), step.slot.begin());
  return step;
}

// Every form of a reduction with programs around it; where rank 1 is asked for, some inputs are the same for a whole
// output or for all of them. `stored`: the dtypes of the operands.
void add_fused_reduction(std::vector<Job>& jobs, const char* name, const char* signature, const Surroundings& around,
                         std::initializer_list<Dtype> stored, std::initializer_list<int> ranks) {
  const KernelDef& def = catena::find_kernel(name);
  const Loop& loop = def.loop_table[cuda_device::loop_number(def, signature)];
  KernelKey key;
  key.program = reduction_hash(def, loop, around);
  std::copy(stored.begin(), stored.end(), key.dtypes.begin());
  for (Form form : {Form::reduce_block, Form::reduce_warp, Form::reduce_columns, Form::reduce_second}) {
    for (int rank : ranks) {
      key.form = form;
      key.rank = key.reduced_rank = std::uint8_t(rank);
      key.index32 = rank != 4;
      key.scalars = stored.size() <= 8 && rank == 1 ? 1u << 9 | 1u << 2 : 0;
      jobs.push_back({name, name_of(form), generate(def, loop, key, around)});
    }
  }
}

void add_fused_reductions(std::vector<Job>& jobs) {
  using D = Dtype;
  // tanh(a * b) + a of float16, and the root of the reduced value times a number
  const catena::Step chain[] = {step_of("multiply", "ee->e", {0, 1, 3}), step_of("tanh", "e->e", {3, 4}),
                                step_of("add", "ee->e", {4, 0, 2})};
  const catena::Step root[] = {step_of("multiply", "ff->f", {0, 1, 3}), step_of("sqrt", "f->f", {3, 2})};
  const std::vector<Dtype> half(5, D::float16), single(4, D::float32);
  const catena::Program pre{chain, half, 2, 0, 1}, post{root, single, 2, 0, 1};
  add_fused_reduction(jobs, "sum", "e->e", {&pre, &post, D::float16}, {D::float16, D::float32, D::float32, D::float64},
                      {0, 1, 4});
  add_fused_reduction(jobs, "amax", "f->f", {&pre, nullptr, D::float32}, {D::float16, D::int32, D::float32}, {2});
  add_fused_reduction(jobs, "mean", "d->d", {nullptr, &post, D::float64}, {D::float64, D::float32, D::float16}, {1});
  // Comparisons: sixteen elements of a bool array would be read at once.
  const catena::Step comparison[] = {step_of("greater", "dd->?", {0, 1, 2})};
  const Dtype slots[] = {D::float64, D::float64, D::bool_};
  const catena::Program compare{comparison, slots, 2, 0, 1};
  add_fused_reduction(jobs, "all", "?->?", {&compare, nullptr, D::bool_}, {D::float64, D::float64, D::bool_}, {1});
  // As many inputs as there may be.
  std::vector<catena::Step> sums;
  for (std::uint8_t k = 0; k < 14; ++k)
    sums.push_back(
        step_of("add", "dd->d", {std::uint8_t(k == 0 ? 0 : 16), std::uint8_t(k + 1), std::uint8_t(k < 13 ? 16 : 15)}));
  const std::vector<Dtype> doubles(17, D::float64);
  const catena::Program wide{sums, doubles, 15, 0, 1};
  add_fused_reduction(jobs, "sum", "d->d", {&wide, nullptr, D::float64},
                      {D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64,
                       D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64},
                      {1});
}

}  // namespace

// Layouts that no pair above has: every rank, 64-bit positions, repeated elements, all shapes of reductions, and six
// steps in one kernel.
BOOST_AUTO_TEST_CASE(every_generated_form_compiles) {
  if (!have_compiler()) return;
  std::vector<Job> jobs;
  const auto row = [](const char* name, const char* signature) {
    const KernelDef& def = catena::find_kernel(name);
    int number = 0;
    while (catena::signature(def, def.loop_table[number]) != signature) ++number;
    return std::pair<const KernelDef&, int>(def, number);
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
  std::vector<catena::Step> steps;
  const auto step = [&](const char* name, const char* signature, std::initializer_list<std::uint8_t> slots) {
    const auto [def, number] = row(name, signature);
    steps.push_back({&def, std::uint16_t(number), {}});
    std::copy(slots.begin(), slots.end(), steps.back().slot.begin());
  };
  step("multiply", "ee->e", {0, 1, 3});
  step("add", "ee->e", {3, 0, 4});
  step("multiply", "ee->e", {4, 1, 5});
  step("subtract", "ee->e", {5, 0, 6});
  step("true_divide", "ee->e", {6, 1, 7});
  step("sqrt", "e->e", {7, 2});
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
// among it. Of those that are no registered pair or structural kernel, which are compiled above, every twentieth; the
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

// The bodies see the same numbers as on the host: no fused multiply-add, 16-byte accesses.
BOOST_AUTO_TEST_CASE(code_properties) {
  if (!have_compiler()) return;
  const KernelDef& add = catena::find_kernel("add");
  int number = 0;
  while (catena::signature(add, add.loop_table[number]) != "ff->f") ++number;
  const catena::EagerProgram program(add, number);
  const GeneratedKernel kernel = generate(program, key_of(add, add.loop_table[number], Form::contiguous, 1));
  const Module module = compile({kernel.source(), kernel.name, {}, 9990, {}});
  BOOST_CHECK_NE(module.code.find("ld.global.v4"), std::string::npos);
  BOOST_CHECK_NE(module.code.find("st.global.v4"), std::string::npos);
  const Module contracted =
      compile({"extern \"C\" __global__ void f(float* p) { p[0] = p[0] * p[1] + p[2]; }", "f.cu", {}, 9990, {}});
  BOOST_CHECK_EQUAL(contracted.code.find("fma"), std::string::npos);
}
