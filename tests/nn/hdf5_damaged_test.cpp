// Damaged HDF5 files, for some of which the HDF5 library crashes: an exception, and the program goes on.
#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <random>
#include <thread>

#include <catena/kernels/formats/byte_stream.h>
#include <catena/tests/support/missing_parts.h>
#include <catena/tests/support/training_fixtures.h>

using namespace test;
using nn::serializers::HDF5File;
using nn::serializers::load_hdf5;
using nn::serializers::save_hdf5;

namespace {

bool has_hdf5() { return !test::lacks(nn::serializers::hdf5_available(), "HDF5"); }

struct Model : nn::Chain {
  nn::Linear l1{8, 5}, l2{5, 3};
  NN_MEMBERS(l1, l2)
};

// The file with one to four changes, most of them where the library's own data lie.
std::string damaged(const std::string& good, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes = good;
  const auto n = 1 + random() % 4;
  for (std::uint64_t k = 0; k < n; ++k) {
    const std::size_t at = random() % (random() % 3 != 0 ? std::min<std::size_t>(2048, bytes.size()) : bytes.size());
    switch (random() % 4) {
      case 0: bytes[at] = static_cast<char>(random()); break;
      case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8)); break;
      case 2: bytes[at] = static_cast<char>(0xff); break;
      default:
        if (random() % 4 == 0) bytes.resize(at + 1);
    }
    if (bytes.size() < 16) break;
  }
  return bytes;
}

std::size_t open_files() {
  std::size_t n = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) n += !entry.path().empty();
  return n;
}

// Sends a signal to the only child of this process.
void signal_child(int signal) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    for (const std::string& pid : {file_content(entry.path() / "children")})
      if (!pid.empty()) ::kill(static_cast<pid_t>(std::stol(pid)), signal);
}

class Timeout {
 public:
  explicit Timeout(const char* seconds) { ::setenv("CATENA_HDF5_TIMEOUT", seconds, 1); }
  ~Timeout() { ::unsetenv("CATENA_HDF5_TIMEOUT"); }
};

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(hdf5_damaged)

BOOST_AUTO_TEST_CASE(what_is_damaged_is_an_exception) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5_damaged");
  Model model;
  save_hdf5(folder / "good.h5", model);
  const std::string good = file_content(folder / "good.h5");
  const std::size_t files = open_files();
  int refused = 0, crashed = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    write_file(folder / "bad.h5", damaged(good, seed));
    Model read;
    try {
      load_hdf5(folder / "bad.h5", read);
    } catch (const catena::Error& e) {
      ++refused;
      crashed += has(e.what(), "the HDF5 library");
      BOOST_TEST(has(e.what(), "bad.h5"), e.what());
    }
    if (seed % 20 != 0) continue;
    // Undamaged parts are read, there and at another place.
    load_hdf5(folder / "good.h5", read);
    write_file(folder / "bad.h5", good);
    load_hdf5(folder / "bad.h5", read);
    BOOST_TEST(same_bits(read.l1.W.data(), model.l1.W.data()));
  }
  std::cout << refused << " of 400 damaged files were refused, " << crashed << " of them by the end of their process\n";
  BOOST_TEST(refused > 50);
  BOOST_TEST(open_files() == files);
  BOOST_TEST(!has_children());
}

// A library that crashes at whatever it is asked.
BOOST_AUTO_TEST_CASE(a_file_whose_process_is_gone_stays_refused) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5_killed");
  Model model;
  save_hdf5(folder / "m.h5", model);
  const HDF5File file(folder / "m.h5");
  BOOST_TEST(file.contains("l1/W"));
  signal_child(SIGSEGV);
  for (int i = 0; i < 2; ++i) {
    const std::string message = message_of<catena::ValueError>([&] { file.keys(); });
    BOOST_TEST(has(message, "the HDF5 library ended its process by signal 11"), message);
  }
  BOOST_TEST(!has_children());
}

// A child that waits without using processor time, as for a file server that is gone.
BOOST_AUTO_TEST_CASE(a_process_that_hangs_is_ended) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5_hangs");
  Model model;
  save_hdf5(folder / "m.h5", model);
  const Timeout timeout("0.2");  // beside the 4 seconds of processor time that a question has
  const HDF5File file(folder / "m.h5");
  BOOST_TEST(file.contains("l1/W"));
  signal_child(SIGSTOP);
  const auto start = std::chrono::steady_clock::now();
  const std::string message = message_of<catena::IOError>([&] { file.keys(); });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  BOOST_TEST(has(message, "m.h5\": the process that reads the file has not answered for 4 s and was ended"), message);
  BOOST_TEST(has(message, "CATENA_HDF5_TIMEOUT"), message);
  BOOST_TEST(seconds.count() > 4);
  BOOST_TEST(seconds.count() < 10);
  BOOST_TEST(!has_children());
  BOOST_TEST(file.keys().size() == 4u);  // of another child
  const Timeout wrong("soon");
  const std::string refused = message_of<catena::ValueError>([&] { HDF5File(folder / "m.h5"); });
  BOOST_TEST(has(refused, "CATENA_HDF5_TIMEOUT is \"soon\""), refused);
}

// Arrays of every size come through the shared memory, whose place each of them takes anew.
BOOST_AUTO_TEST_CASE(elements_of_one_array_after_the_other) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5_elements");
  struct Arrays {
    std::vector<Array> list;
    void serialize(nn::Serializer& s) {
      for (std::size_t k = 0; k < list.size(); ++k) s("a" + std::to_string(k), list[k]);
    }
  } saved, loaded;
  for (const std::int64_t n : {3, 1 << 20, 0, 1, 4097, 300'000})
    saved.list.push_back(autograd::arrays::arange(n, Dtype::float32));
  save_hdf5(folder / "m.h5", saved, std::nullopt);
  loaded.list.resize(saved.list.size());
  load_hdf5(folder / "m.h5", loaded);
  for (std::size_t k = 0; k < saved.list.size(); ++k) BOOST_TEST(same_bits(loaded.list[k], saved.list[k]), k);
}

BOOST_AUTO_TEST_CASE(files_for_writing_are_examined_before) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5_append");
  Model model;
  save_hdf5(folder / "good.h5", model);
  const std::string good = file_content(folder / "good.h5");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    write_file(folder / "bad.h5", damaged(good, seed));
    // In a child: what is written after the examination is up to the library.
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, SIG_DFL);
      try {
        const HDF5File file(folder / "bad.h5", "r+");
      } catch (const catena::Error&) {}
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(WIFEXITED(status), "seed " << seed);
  }
  {
    HDF5File file(folder / "good.h5", "r+");
    file.create_group("more");
    file.flush();
  }
  BOOST_TEST(HDF5File(folder / "good.h5").contains("more"));
  const std::string message =
      message_of<catena::IOError>([&] { HDF5File(folder / "good.h5").create_group("another"); });
  BOOST_TEST(has(message, "reading only"), message);
}

// A file may be read while this process has it open for writing; what has been flushed is seen.
BOOST_AUTO_TEST_CASE(files_are_read_while_they_are_written) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5_both");
  HDF5File written(folder / "m.h5", "w");
  written.create_group("a");
  written.flush();
  {
    const HDF5File read(folder / "m.h5");
    BOOST_TEST(read.contains("a"));
    written.create_group("b");
    BOOST_TEST(read.contains("b"));
    BOOST_TEST(HDF5File(folder / "m.h5", "r+").contains("b"));
  }
  written.create_group("c");
  written.flush();
  BOOST_TEST(HDF5File(folder / "m.h5").contains("c"));
}

// A worker process that has inherited an open file asks a child of its own.
BOOST_AUTO_TEST_CASE(files_may_be_inherited) {
  if (!has_hdf5()) return;
  const TemporaryFolder folder("hdf5_inherited");
  Model model;
  save_hdf5(folder / "m.h5", model);
  const HDF5File file(folder / "m.h5");
  BOOST_TEST(file.keys().size() == 4u);
  const pid_t child = ::fork();
  if (child == 0) {
    bool good = false;
    try {
      good = file.keys().size() == 4 && file.contains("l2/b");
    } catch (...) {}
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  BOOST_TEST(file.keys().size() == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
