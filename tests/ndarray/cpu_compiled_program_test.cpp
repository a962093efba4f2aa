// Fused functions whose programs the system's compiler has made into loops: the bits of the same steps one by one, and
// of the interpreter; compilers that fail, miscompile or take long.
#include <catena/ndarray/cpu/compiled_program.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catena/ndarray/ndarray.h>
#include <catena/tests/support/ndarray_values.h>

namespace {

namespace fs = std::filesystem;
using nd::Array;
using nd::Dtype;
using nd::cpu::compiled_program_statistics;
using nd::cpu::set_program_compilation;
using test::difference;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
constexpr bool kCompiles = false;
#else
constexpr bool kCompiles = true;
#endif

// A cache folder of this test alone; set before anything is compiled.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "compiled_program_test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw nd::IOError("no temporary folder can be made");
    path = name;
    owner = getpid();
    setenv("CATENA_CACHE_DIR", name.c_str(), 1);
    nd::set_current_device(nd::cpu_device);
  }
  ~Folder() {
    if (getpid() == owner) fs::remove_all(path);
  }
  static inline fs::path path;
  static inline pid_t owner;
};
BOOST_GLOBAL_FIXTURE(Folder);

// The program of the compiler, until the end of the scope.
class Compiler {
 public:
  explicit Compiler(const std::string& script) {
    const fs::path path = Folder::path / "compiler";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
    setenv("CATENA_HOST_COMPILER", path.c_str(), 1);
  }
  ~Compiler() { unsetenv("CATENA_HOST_COMPILER"); }
};

// Calls f() so that its program is compiled. Returns what has changed.
template <class F> nd::cpu::ProgramStatistics compile(F&& f) {
  const auto before = compiled_program_statistics();
  set_program_compilation(0);
  f();
  auto after = compiled_program_statistics();
  after.compiled -= before.compiled;
  after.refused -= before.refused;
  after.differing -= before.differing;
  return after;
}

// The value of a drawn expression: the same numbers give the same expression of arrays and of traced values.
template <class V> V drawn_of_floats(std::mt19937 random, const V& x, const V& y, const V& z) {
  std::vector<V> values{x, y, z};
  for (int step = 0; step < 9; ++step) {
    const V a = values[random() % values.size()], b = values[random() % values.size()];
    const double number = double(random() % 9) / 4;
    switch (random() % 16) {
      case 0: values.push_back(a + b); break;
      case 1: values.push_back(a - b); break;
      case 2: values.push_back(a * b); break;
      case 3: values.push_back(a / (nd::square(b) + 0.5)); break;
      case 4: values.push_back(nd::sqrt(nd::abs(a))); break;
      case 5: values.push_back(nd::exp(nd::minimum(a, b))); break;
      case 6: values.push_back(nd::tanh(a) * number); break;
      case 7: values.push_back(nd::where(a < b, a, b * number)); break;
      case 8: values.push_back(nd::maximum(a, b)); break;
      case 9: values.push_back(nd::floor(a) - b); break;
      case 10: values.push_back(nd::log1p(nd::abs(a))); break;
      case 11: values.push_back(nd::clip(a, -1, number)); break;
      case 12: values.push_back(-a); break;
      case 13: values.push_back(nd::sin(a) + number); break;
      case 14: values.push_back(nd::copysign(a, b)); break;
      default: values.push_back(nd::power(nd::abs(a), 1.5)); break;
    }
  }
  V all = values[3];
  for (std::size_t k = 4; k < values.size(); ++k) all = all + values[k];
  return all;
}
template <class V> V drawn_of_integers(std::mt19937 random, const V& x, const V& y, const V& z) {
  std::vector<V> values{x, y, z};
  for (int step = 0; step < 8; ++step) {
    const V a = values[random() % values.size()], b = values[random() % values.size()];
    switch (random() % 9) {
      case 0: values.push_back(a + b); break;
      case 1: values.push_back(a - b); break;
      case 2: values.push_back(a * b); break;
      case 3: values.push_back(nd::floor_divide(a, b)); break;
      case 4: values.push_back(nd::remainder(a, b)); break;
      case 5: values.push_back(nd::where(a >= b, a, b)); break;
      case 6: values.push_back(a & b); break;
      case 7: values.push_back(nd::minimum(a, b) ^ b); break;
      default: values.push_back(nd::square(a)); break;
    }
  }
  V all = values[3];
  for (std::size_t k = 4; k < values.size(); ++k) all = all + values[k];
  return all;
}

// more: also with an operand of one element, and in place, which are programs of their own.
template <class F> void check_layouts(const F& expression, Dtype dtype, unsigned seed, bool more) {
  std::mt19937 random(seed);
  const auto fused = nd::fuse([&](auto x, auto y, auto z) { return expression(x, y, z); });
  const Array scalar = test::random_array({}, dtype, random);
  for (const std::int64_t n : {4096, 4097, 4159, 70001}) {
    const Array x = test::random_array({n}, dtype, random), y = test::random_array({n}, dtype, random),
                z = test::random_array({n}, dtype, random);
    const Array expected = expression(x, y, z);
    set_program_compilation(-1);
    BOOST_TEST(difference(fused(x, y, z), expected, 0, 0, true) == "");
    const auto changed = compile([&] { fused(x, y, z); });
    BOOST_TEST(changed.refused == 0u, changed.last_failure);
    BOOST_TEST(difference(fused(x, y, z), expected, 0, 0, true) == "", n);
    const Array sx = test::scattered(x, random), sz = test::scattered(z, random);
    BOOST_TEST(difference(fused(sx, y, sz), expected, 0, 0, true) == "", "strided " << n);
    const nd::Slice inner(1, n - 1), reversed({}, {}, -1);
    if (n > 4098) BOOST_TEST(difference(fused(x(inner), y(inner), z(inner)), expected(inner), 0, 0, true) == "", n);
    BOOST_TEST(difference(fused(x(reversed), y(reversed), z(reversed)), expected(reversed), 0, 0, true) == "", n);
    if (!more) continue;
    BOOST_TEST(
        difference(fused(x, scalar, z), expression(x, nd::broadcast_to(scalar, {n}).copy(), z), 0, 0, true) == "",
        "scalar " << n);
    Array w = x.copy();
    nd::fuse([&](auto& a, auto b, auto c) { a = expression(a, b, c); })(w, y, z);
    BOOST_TEST(difference(w, expected, 0, 0, true) == "", "in place " << n);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu_compiled_program)

BOOST_AUTO_TEST_CASE(drawn_programs_have_the_bits_of_their_steps) {
  const auto before = compiled_program_statistics();
  for (unsigned seed = 0; seed < 4; ++seed)
    for (const Dtype dtype : {nd::float32, nd::float64})
      check_layouts(
          [seed](const auto& x, const auto& y, const auto& z) { return drawn_of_floats(std::mt19937(seed), x, y, z); },
          dtype, seed, seed == 0);
  for (const Dtype dtype : {nd::int32, nd::int64, nd::uint8})
    check_layouts(
        [](const auto& x, const auto& y, const auto& z) { return drawn_of_integers(std::mt19937(7), x, y, z); }, dtype,
        7, dtype == nd::uint8);
  const auto after = compiled_program_statistics();
  BOOST_TEST(after.differing == before.differing);
  if (kCompiles) BOOST_TEST(after.compiled >= before.compiled + 11);
}

BOOST_AUTO_TEST_CASE(several_threads_and_results) {
  std::mt19937 random(3);
  const auto fused = nd::fuse([](auto x, auto y) { return std::tuple(nd::exp(x) + y, (x < y) | (x > 1), x * y - 1); });
  const Array x = test::random_array({300001}, nd::float32, random),
              y = test::random_array({300001}, nd::float32, random);
  const auto changed = compile([&] { fused(x, y); });
  BOOST_TEST(changed.compiled == (kCompiles ? 1u : 0u), changed.last_failure);
  std::vector<std::thread> threads;
  std::vector<std::array<Array, 3>> results(4);
  for (auto& r : results) threads.emplace_back([&] { r = fused(x, y); });
  for (std::thread& t : threads) t.join();
  for (const auto& r : results) {
    BOOST_TEST(difference(r[0], nd::exp(x) + y) == "");
    BOOST_TEST(test::same_bits(r[1], (x < y) | (x > 1)));
    BOOST_TEST(difference(r[2], x * y - 1) == "");
  }
}

// Programs that have no text stay with the interpreter, in silence.
BOOST_AUTO_TEST_CASE(programs_without_a_text) {
  std::mt19937 random(4);
  const auto chain = [](const auto& x, const auto& y) { return nd::exp(x) * y + 1; };
  for (const Dtype dtype : {nd::float16, nd::bfloat16, nd::complex64}) {
    const Array x = test::random_array({5000}, nd::float32, random).astype(dtype), y = x + x;
    const auto changed = compile([&] { nd::fuse(chain)(x, y); });
    BOOST_TEST(changed.refused == (kCompiles ? 1u : 0u));
    BOOST_TEST(test::same_bits(nd::fuse(chain)(x, y), chain(x, y)), dtype);
  }
}

BOOST_AUTO_TEST_CASE(few_elements_and_calls_compile_nothing) {
  std::mt19937 random(5);
  const auto fused = nd::fuse([](auto x) { return nd::sqrt(nd::abs(x)) * 3 - x; });
  const auto before = compiled_program_statistics();
  set_program_compilation(0);
  fused(test::random_array({4095}, nd::float32, random));
  set_program_compilation(1'000'000);
  const Array x = test::random_array({10000}, nd::float32, random);
  fused(x);
  BOOST_TEST(compiled_program_statistics().compiled == before.compiled);
  for (int k = 0; k < 30; ++k) fused(x);
  BOOST_TEST(compiled_program_statistics().compiled == before.compiled + (kCompiles ? 1 : 0));
}

BOOST_AUTO_TEST_CASE(compilers_that_fail) {
  std::mt19937 random(6);
  const Array x = test::random_array({5000}, nd::float32, random);
  const auto check = [&](const auto& chain, const char* failure) {
    const auto changed = compile([&] { nd::fuse(chain)(x); });
    BOOST_TEST(changed.compiled == 0u);
    BOOST_TEST(changed.refused == (kCompiles ? 1u : 0u));
    if (kCompiles) BOOST_TEST(changed.last_failure.find(failure) != std::string::npos, changed.last_failure);
    BOOST_TEST(difference(nd::fuse(chain)(x), chain(x), 0, 0, true) == "");
  };
  {
    const Compiler failing("echo no; exit 3");
    check([](const auto& a) { return a * a + 2 - a; }, "failed (exit status 3)\nno");
  }
  setenv("CATENA_HOST_COMPILER", "/no/such/compiler", 1);
  check([](const auto& a) { return a * a + 3 - a + a; }, "there is none (tried: /no/such/compiler)");
  unsetenv("CATENA_HOST_COMPILER");
#ifdef __x86_64__
  if (!kCompiles || !__builtin_cpu_supports("fma")) return;
  const Compiler contracting("exec c++ \"$@\" -mfma -ffp-contract=fast");
  check([](const auto& a) { return a * a + a * 3 - a; }, "differs from the interpreter");
#endif
}

// While one thread waits for the compiler, others run their programs, and so does a child of fork().
BOOST_AUTO_TEST_CASE(other_threads_and_children_do_not_wait) {
  if (!kCompiles) return;
  const fs::path begun = Folder::path / "begun", end = Folder::path / "end";
  const Compiler slow(
      catena::concat("touch ", begun.string(), "; while [ ! -e ", end.string(), " ]; do sleep 0.1; done"));
  std::mt19937 random(8);
  const Array x = test::random_array({5000}, nd::float32, random);
  const auto chain = [](const auto& a) { return nd::sqrt(a * a + 1) - a; };
  const auto other = [](const auto& a) { return nd::sqrt(a * a + 2) - a; };
  const Array expected = chain(x), others = other(x);
  set_program_compilation(0);
  Array compiled;
  std::thread waiting([&] { compiled = nd::fuse(chain)(x); });
  while (!fs::exists(begun)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  BOOST_TEST(difference(nd::fuse(chain)(x), expected) == "");
  BOOST_TEST(difference(nd::fuse(other)(x), others) == "");
  const pid_t child = fork();
  if (child == 0)
    _exit(difference(nd::fuse(chain)(x), expected) + difference(nd::fuse(other)(x), others) == "" ? 0 : 1);
  int status = -1;
  BOOST_TEST(waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  std::ofstream(end) << "";
  waiting.join();
  BOOST_TEST(difference(compiled, expected) == "");
  for (const auto& entry : fs::directory_iterator(Folder::path / "host"))
    BOOST_TEST(!entry.path().filename().string().starts_with("compiling-"), entry.path());
}

BOOST_AUTO_TEST_SUITE_END()
