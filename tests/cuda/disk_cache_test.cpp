// The disk cache against everything that can be wrong with its records: damage, keys, sizes, other processes.
#include <boost/test/unit_test.hpp>

#include <catena/tests/cuda/disk_cache_folders.h>

using namespace disk_cache_folders;

BOOST_AUTO_TEST_CASE(finds_what_was_stored) {
  const Folder folder;
  DiskCache cache(folder.records(), kPlenty);
  BOOST_CHECK(!cache.find("key"));
  const std::string big = random_bytes(1 << 20, 1), binary("k\0ey\n\xff", 6);
  BOOST_CHECK(cache.store("key", "value"));
  BOOST_CHECK(cache.store(binary, big));
  BOOST_CHECK(cache.store("", ""));
  BOOST_CHECK(cache.find("key") == "value");
  BOOST_CHECK(cache.find(binary) == big);
  BOOST_CHECK(cache.find("") == "");
  BOOST_CHECK(!cache.find("k"));
  BOOST_CHECK(cache.store("key", "another"));
  DiskCache other(folder.records(), kPlenty);
  BOOST_CHECK(other.find("key") == "another");
  const nd::cuda::DiskCacheStatistics s = cache.statistics();
  BOOST_CHECK_EQUAL(s.hits, 3u);
  BOOST_CHECK_EQUAL(s.misses, 2u);
  BOOST_CHECK_EQUAL(s.bad_records, 0u);
  BOOST_CHECK_EQUAL(s.write_failures, 0u);
  BOOST_CHECK_EQUAL(files_in(folder.records()), 3u);
}

BOOST_AUTO_TEST_CASE(without_a_folder_nothing_is_kept) {
  DiskCache cache("", kPlenty);
  BOOST_CHECK(!cache.enabled());
  BOOST_CHECK(!cache.store("key", "value"));
  BOOST_CHECK(!cache.find("key"));
  cache.discard("key");
  BOOST_CHECK_EQUAL(cache.statistics().write_failures, 0u);
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 0u);
}

// Two keys of one hash: the record of one lies where that of the other would.
BOOST_AUTO_TEST_CASE(a_record_of_another_key_is_a_miss) {
  const Folder folder;
  DiskCache cache(folder.records(), kPlenty);
  BOOST_REQUIRE(cache.store("one", "kernel one"));
  fs::copy_file(cache.path("one"), cache.path("two"));
  BOOST_CHECK(!cache.find("two"));
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 0u);
  BOOST_CHECK(cache.store("two", "kernel two"));
  BOOST_CHECK(cache.find("two") == "kernel two");
  BOOST_CHECK(cache.find("one") == "kernel one");
}

BOOST_AUTO_TEST_CASE(no_damage_goes_unnoticed) {
  const Folder folder;
  DiskCache cache(folder.records(), kPlenty);
  const std::string key = "some key", value = random_bytes(150, 2), path = cache.path(key);
  BOOST_REQUIRE(cache.store(key, value));
  const std::string good = read(path);
  BOOST_REQUIRE_GT(good.size(), key.size() + value.size());

  std::vector<std::string> bad;
  for (std::size_t n = 0; n < good.size(); ++n) bad.push_back(good.substr(0, n));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    bad.push_back(good);
    bad.back()[bit / 8] = static_cast<char>(bad.back()[bit / 8] ^ (1 << (bit % 8)));
  }
  bad.push_back(good + '\0');
  bad.push_back(good + good);
  bad.push_back(std::string(good.size(), '\0'));
  // With a good hash: another version, other magic bytes, another byte order, lengths that do not add up or overflow.
  for (const std::size_t at : {0, 8, 12, 16, 17, 23, 24, 31}) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] + 1);
    bad.back() = resealed(bad.back());
  }
  const std::uint64_t most = ~std::uint64_t(0), wrapped = most - key.size() + 1;
  bad.push_back(good);
  std::memcpy(bad.back().data() + 16, &most, 8);
  bad.back() = resealed(bad.back());
  bad.push_back(good);
  std::memcpy(bad.back().data() + 24, &wrapped, 8);
  bad.back() = resealed(bad.back());

  const std::uint64_t beyond = key.size() + value.size() + 100, negative = ~std::uint64_t(99);  // their sum is right
  bad.push_back(good);
  std::memcpy(bad.back().data() + 16, &beyond, 8);
  std::memcpy(bad.back().data() + 24, &negative, 8);
  bad.back() = resealed(bad.back());

  std::uint64_t counted = 0;
  for (const std::string& record : bad) {
    write(path, record);
    BOOST_REQUIRE(!cache.find(key));
    BOOST_REQUIRE_EQUAL(cache.statistics().bad_records, ++counted);
    BOOST_REQUIRE(!fs::exists(path));  // the next search is an ordinary miss
    BOOST_REQUIRE(!cache.find(key));
    BOOST_REQUIRE_EQUAL(cache.statistics().bad_records, counted);
  }
  BOOST_CHECK(cache.store(key, value));
  BOOST_CHECK(cache.find(key) == value);
  BOOST_CHECK_EQUAL(cache.statistics().hits, 1u);
  BOOST_CHECK_EQUAL(cache.statistics().misses, 2 * bad.size());
}

BOOST_AUTO_TEST_CASE(damage_of_a_large_record) {
  const Folder folder;
  DiskCache cache(folder.records(), kPlenty);
  const std::string value = random_bytes(600'000, 3), path = cache.path("batch");
  BOOST_REQUIRE(cache.store("batch", value));
  const std::string good = read(path);
  std::mt19937 rng(4);
  for (int k = 0; k < 60; ++k) {
    std::string record = good;
    if (k % 2 == 0) record.resize(rng() % record.size());
    else record[rng() % record.size()] ^= static_cast<char>(1 << (rng() % 8));
    write(path, record);
    BOOST_REQUIRE(!cache.find("batch"));
  }
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 60u);
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_no_record) {
  const Folder folder;
  DiskCache cache(folder.records(), kPlenty);
  BOOST_REQUIRE(cache.store("other", "value"));
  BOOST_REQUIRE_EQUAL(::mkfifo(cache.path("pipe").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", cache.path("device"));
  fs::create_symlink("nowhere", cache.path("dangling"));
  fs::create_directory(cache.path("folder"));
  for (const char* key : {"pipe", "device", "dangling", "folder"}) BOOST_CHECK_MESSAGE(!cache.find(key), key);
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 3u);  // the dangling link is nothing at all
  for (const char* key : {"pipe", "device"}) {
    BOOST_CHECK_MESSAGE(cache.store(key, "now a record"), key);
    BOOST_CHECK_MESSAGE(cache.find(key) == "now a record", key);
  }
  const Child child =
      in_child([&] { return !cache.store("folder", "value") && cache.statistics().write_failures == 1; });
  BOOST_CHECK_EQUAL(child.status, 0);
  BOOST_CHECK_EQUAL(notices(child), 1u);
}

BOOST_AUTO_TEST_CASE(discarded_records_are_gone_and_counted) {
  const Folder folder;
  DiskCache cache(folder.records(), kPlenty);
  BOOST_REQUIRE(cache.store("key", "what the driver does not take"));
  cache.discard("key");
  BOOST_CHECK(!cache.find("key"));
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 1u);
}

BOOST_AUTO_TEST_CASE(the_oldest_go_first) {
  const Folder folder;
  const std::string value(10'000, 'x');
  const auto key = [](int k) { return "kernel " + std::to_string(k); };
  {
    DiskCache unlimited(folder.records(), kPlenty);
    for (int k = 0; k < 8; ++k) {
      BOOST_REQUIRE(unlimited.store(key(k), value));
      const auto age = std::chrono::hours(100 - k);
      fs::last_write_time(unlimited.path(key(k)), fs::file_time_type::clock::now() - age);
    }
  }
  const std::string stale = folder.records() + "/0123456789abcdef.kernel.tmp-1", fresh = stale + "-1";
  const std::string foreign = folder.records() + "/README";
  for (const std::string& name : {stale, fresh, foreign}) write(name, value);
  fs::last_write_time(stale, fs::file_time_type::clock::now() - std::chrono::hours(5));
  fs::last_write_time(foreign, fs::file_time_type::clock::now() - std::chrono::hours(5000));

  DiskCache cache(folder.records(), 85'000);
  BOOST_CHECK(cache.find(key(0)) == value);  // used now, so 1 is the oldest
  BOOST_CHECK(cache.store(key(8), value));   // 9 records are too many; an eighth of the limit is made free
  for (int k = 0; k < 9; ++k) BOOST_CHECK_MESSAGE(cache.find(key(k)).has_value() == (k != 1 && k != 2), k);
  BOOST_CHECK(!fs::exists(stale));
  BOOST_CHECK(fs::exists(fresh));
  BOOST_CHECK(fs::exists(foreign));

  for (int k = 100; k < 200; ++k) BOOST_REQUIRE(cache.store(key(k), value));
  std::uintmax_t total = 0;
  for (const auto& file : fs::directory_iterator(folder.records()))
    if (file.path().extension() == ".kernel") total += file.file_size();
  BOOST_CHECK_LE(total, 85'000u);
  BOOST_CHECK(cache.find(key(199)) == value);

  const Child child = in_child([&] {
    HOLDS(!cache.store("too large", std::string(85'000, 'x')));
    HOLDS(cache.statistics().write_failures == 1);
    HOLDS(cache.find(key(199)) == value);
    return true;
  });
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  BOOST_CHECK_EQUAL(notices(child), 1u);
}

BOOST_AUTO_TEST_CASE(a_folder_that_disappears_is_made_again) {
  const Folder folder;
  DiskCache cache(folder.records(), kPlenty);
  for (int k = 0; k < 3; ++k) {
    BOOST_CHECK(cache.store("key", "value"));
    BOOST_CHECK(cache.find("key") == "value");
    fs::remove_all(folder.path);
    BOOST_CHECK(!cache.find("key"));
  }
  BOOST_CHECK_EQUAL(cache.statistics().write_failures, 0u);
  write(folder.path.string(), "a file in its place");
  const Child child = in_child([&] {
    for (int k = 0; k < 3; ++k) {
      HOLDS(!cache.store("key", "value"));
      HOLDS(!cache.find("key"));
    }
    HOLDS(cache.statistics().write_failures == 3);
    HOLDS(cache.statistics().bad_records == 0);
    return true;
  });
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  BOOST_CHECK_EQUAL(notices(child), 1u);
}

namespace {

// Processes that share a folder. Each asks for every kernel once, in an order of its own, and makes those it does not
// find.
constexpr int kProcesses = 16, kKernels = 200;

std::string kernel_key(int k) { return "kernel number " + std::to_string(k); }
std::string compiled(int k) { return random_bytes(500 + static_cast<std::size_t>(k) * 20, static_cast<unsigned>(k)); }

struct Totals {
  std::uint64_t hits, made, bad, failures, wrong;
};
std::vector<Totals> run_processes(const std::string& records, int processes) {
  std::vector<int> ends;
  std::vector<pid_t> pids;
  for (int p = 0; p < processes; ++p) {
    int pipes[2];
    BOOST_REQUIRE_EQUAL(::pipe(pipes), 0);
    const pid_t pid = ::fork();
    BOOST_REQUIRE_GE(pid, 0);
    if (pid == 0) {
      DiskCache cache(records, kPlenty);
      std::vector<int> order(kKernels);
      for (int k = 0; k < kKernels; ++k) order[static_cast<std::size_t>(k)] = k;
      std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(p % 4)));  // some neck and neck
      Totals t{};
      for (int k : order) {
        const std::optional<std::string> found = cache.find(kernel_key(k));
        if (found) {
          t.wrong += *found != compiled(k);
        } else {
          ++t.made;
          cache.store(kernel_key(k), compiled(k));
        }
      }
      const nd::cuda::DiskCacheStatistics s = cache.statistics();
      t.hits = s.hits;
      t.bad = s.bad_records;
      t.failures = s.write_failures;
      ::_exit(::write(pipes[1], &t, sizeof t) == sizeof t && s.misses == t.made ? 0 : 1);
    }
    ::close(pipes[1]);
    ends.push_back(pipes[0]);
    pids.push_back(pid);
  }
  std::vector<Totals> all;
  for (std::size_t p = 0; p < pids.size(); ++p) {
    Totals t{};
    BOOST_CHECK_EQUAL(::read(ends[p], &t, sizeof t), static_cast<ssize_t>(sizeof t));
    ::close(ends[p]);
    int status = 0;
    ::waitpid(pids[p], &status, 0);
    BOOST_CHECK_EQUAL(status, 0);
    all.push_back(t);
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(sixteen_processes_share_two_hundred_kernels) {
  const Folder folder;
  std::uint64_t made = 0;
  for (const Totals& t : run_processes(folder.records(), kProcesses)) {
    BOOST_CHECK_EQUAL(t.hits + t.made, std::uint64_t(kKernels));
    BOOST_CHECK_EQUAL(t.bad + t.failures + t.wrong, 0u);
    made += t.made;
  }
  BOOST_CHECK_GE(made, std::uint64_t(kKernels));
  BOOST_CHECK_EQUAL(files_in(folder.records()), std::size_t(kKernels));
  for (const Totals& t : run_processes(folder.records(), kProcesses))
    BOOST_CHECK_EQUAL(t.hits, std::uint64_t(kKernels));

  const DiskCache cache(folder.records(), kPlenty);
  const auto damage = [&] {
    for (int k = 0; k < kKernels; k += 10) {
      const std::string good = read(cache.path(kernel_key(k)));
      write(cache.path(kernel_key(k)), good.substr(0, good.size() / 2));
    }
  };
  damage();
  const Totals alone = run_processes(folder.records(), 1)[0];
  BOOST_CHECK_EQUAL(alone.bad, std::uint64_t(kKernels / 10));
  BOOST_CHECK_EQUAL(alone.made, std::uint64_t(kKernels / 10));
  damage();
  for (const Totals& t : run_processes(folder.records(), kProcesses)) {
    BOOST_CHECK_LE(t.made, std::uint64_t(kKernels / 10));  // at most once per process and bad record
    BOOST_CHECK_EQUAL(t.hits + t.made, std::uint64_t(kKernels));
    BOOST_CHECK_EQUAL(t.wrong + t.failures, 0u);
  }
  for (const Totals& t : run_processes(folder.records(), 2)) BOOST_CHECK_EQUAL(t.hits, std::uint64_t(kKernels));
}

BOOST_AUTO_TEST_CASE(settings_of_the_environment) {
  struct Case {
    const char *directory, *xdg, *home;
    std::string expected;
  };
  ::setenv("TMPDIR", "relative", 1);  // is not used
  const std::string own_temporary = "/tmp/catena-" + std::to_string(::geteuid()) + "/kernels";
  const Case cases[] = {
      {"/a", "/x", "/h", "/a/kernels"},
      {"", "/x", "/h", ""},
      {"off", "/x", "/h", ""},
      {nullptr, "/x", "/h", "/x/catena/kernels"},
      {nullptr, "relative", "/h", "/h/.cache/catena/kernels"},
      {nullptr, "", "/h", "/h/.cache/catena/kernels"},
      {nullptr, nullptr, "/h", "/h/.cache/catena/kernels"},
      {nullptr, nullptr, nullptr, own_temporary},
      {"here/cache", "/x", "/h", (fs::current_path() / "here/cache/kernels").string()},
  };
  const auto set = [](const char* name, const char* value) {
    return value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  };
  const Child child = in_child([&] {
    ::unsetenv("CATENA_CACHE_LIMIT");
    for (const Case& c : cases) {
      set("CATENA_CACHE_DIR", c.directory);
      set("XDG_CACHE_HOME", c.xdg);
      set("HOME", c.home);
      HOLDS(nd::cuda::disk_cache_settings().directory == c.expected);
      HOLDS(nd::cuda::disk_cache_settings().fallback == (c.expected.empty() ? "" : own_temporary));
      HOLDS(nd::cuda::disk_cache_settings().limit_bytes == 1'000'000'000);
    }
    // The reference's variable names the folder itself.
    set("CUPY_CACHE_DIR", "/cupy");
    set("CATENA_CACHE_DIR", nullptr);
    HOLDS(nd::cuda::disk_cache_settings().directory == "/cupy");
    set("CATENA_CACHE_DIR", "/catena");
    HOLDS(nd::cuda::disk_cache_settings().directory == "/catena/kernels");
    set("CUPY_CACHE_DIR", nullptr);
    set("CATENA_CACHE_LIMIT", "5000");
    HOLDS(nd::cuda::disk_cache_settings().limit_bytes == 5000);
    for (const char* text : {"1 GB", "-1", "1e9", "99999999999999999999"}) {
      set("CATENA_CACHE_LIMIT", text);
      try {
        nd::cuda::disk_cache_settings();
        HOLDS(false);
      } catch (const catena::ValueError& e) {
        HOLDS(e.what() == "CATENA_CACHE_LIMIT: \"" + std::string(text) + "\" is not a number of bytes");
      }
    }
    return true;
  });
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
}
