// Shared folders of the disk cache: they are read after those of the user, and never changed.
#include <boost/test/unit_test.hpp>

#include <set>

#include <catena/kernels/base/config.h>
#include <catena/ndarray/chainer_cuda/config.h>
#include <catena/tests/cuda/disk_cache_folders.h>

using namespace disk_cache_folders;
using nd::cuda::DiskCacheSettings;

namespace {

DiskCacheSettings for_all_users(const std::string& directory) {
  return {.directory = directory, .limit_bytes = kPlenty, .for_all_users = true};
}
DiskCacheSettings settings(const std::string& directory, const std::string& shared) {
  return {.directory = directory, .limit_bytes = kPlenty, .shared = {shared}};
}
unsigned mode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777u : 0;
}

// A folder of the user and a shared one with two records.
struct Folders {
  Folder folder;
  std::string own = (folder.path / "own").string(), shared = (folder.path / "shared").string();
  Folders() {
    DiskCache maker(for_all_users(shared));
    BOOST_REQUIRE(maker.store("key", "of the package") && maker.store("other", "value"));
  }
  std::string shared_path(std::string_view key) const { return DiskCache(shared, kPlenty).path(key); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(all_users_may_read_what_is_made_for_them) {
  for (const mode_t mask : {0u, 077u, 0777u}) {
    const Folder folder;
    const std::string records = (folder.path / "new" / "kernels").string();
    const Child child = in_child([&] {
      ::umask(mask);
      DiskCache cache(for_all_users(records));
      HOLDS(cache.store("key", "value"));
      HOLDS(mode_of(cache.path("key")) == 0644);
      HOLDS(mode_of(records) == 0755 && mode_of((folder.path / "new").string()) == 0755);
      HOLDS(cache.find("key") == "value");
      return true;
    });
    BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  }
}

BOOST_AUTO_TEST_CASE(shared_records_are_found_behind_those_of_the_user) {
  const Folders f;
  DiskCache cache(settings(f.own, f.shared));
  BOOST_CHECK(cache.find("key") == "of the package");
  BOOST_CHECK(cache.find("other") == "value");
  BOOST_CHECK(!cache.find("unknown"));
  BOOST_CHECK_EQUAL(cache.statistics().hits, 2u);
  BOOST_CHECK_EQUAL(cache.statistics().misses, 1u);
  BOOST_CHECK(!fs::exists(f.own));  // finding a record does not copy it
  BOOST_CHECK(cache.store("key", "of the user"));
  BOOST_CHECK(cache.find("key") == "of the user");
  cache.discard("key");
  BOOST_CHECK(cache.find("key") == "of the package");

  // Several folders, in their order.
  const std::string second = (f.folder.path / "second").string();
  BOOST_REQUIRE(DiskCache(for_all_users(second)).store("key", "second"));
  DiskCache both({.directory = f.own, .limit_bytes = kPlenty, .shared = {second, f.folder.path / "none", f.shared}});
  BOOST_CHECK(both.find("key") == "second");
  BOOST_CHECK(both.find("other") == "value");
}

BOOST_AUTO_TEST_CASE(shared_folders_are_never_changed) {
  const Folders f;
  const std::string path = f.shared_path("key"), damaged = f.shared_path("damaged");
  const std::string stale = f.shared + "/0123456789abcdef.kernel.tmp-1";
  for (const std::string& name : {damaged, stale}) write(name, "no record");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(5);
  for (const std::string& name : {path, damaged, stale}) fs::last_write_time(name, long_ago);
  const auto unchanged = [&] {
    return read(damaged) == "no record" && fs::exists(stale) && files_in(f.shared) == 4 &&
           fs::last_write_time(path) == long_ago;
  };

  // A limit below the size of the shared folder: it holds for the folder of the user alone.
  DiskCacheSettings limited = settings(f.own, f.shared);
  limited.limit_bytes = 100;
  DiskCache cache(limited);
  BOOST_CHECK(!cache.find("damaged"));
  BOOST_CHECK(!cache.find("damaged"));
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 2u);
  BOOST_CHECK(cache.find("key") == "of the package");
  BOOST_CHECK(unchanged());
  cache.discard("key");
  cache.discard("damaged");
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 4u);
  BOOST_CHECK(cache.find("key") == "of the package");
  for (int k = 0; k < 10; ++k) BOOST_CHECK(cache.store(std::to_string(k), std::string(30, 'x')));
  BOOST_CHECK_LE(files_in(f.own), 1u);
  limited.limit_bytes = 10;
  BOOST_CHECK(DiskCache(limited).find("key") == "of the package");
  DiskCache unlimited(settings(f.own, f.shared));
  BOOST_CHECK(unlimited.store("damaged", "again"));
  BOOST_CHECK(unlimited.find("damaged") == "again");
  BOOST_CHECK(unchanged());
}

BOOST_AUTO_TEST_CASE(without_a_folder_of_the_user_shared_records_are_found) {
  const Folders f;
  DiskCache cache(settings("", f.shared));
  BOOST_CHECK(!cache.enabled());
  BOOST_CHECK(cache.find("key") == "of the package");
  BOOST_CHECK(!cache.store("new", "value"));
  BOOST_CHECK(!cache.find("new"));
  cache.discard("key");
  BOOST_CHECK(cache.find("key") == "of the package");
  BOOST_CHECK_EQUAL(files_in(f.shared), 2u);
  BOOST_CHECK_EQUAL(cache.statistics().write_failures, 0u);
}

BOOST_AUTO_TEST_CASE(shared_folders_that_others_may_write_are_not_used) {
  const Folders f;
  DiskCache cache(settings(f.own, f.shared));
  for (const unsigned mode : {0777u, 01777u, 0775u, 0757u}) {
    fs::permissions(f.shared, fs::perms(mode));
    BOOST_CHECK(!cache.find("key"));
  }
  fs::permissions(f.shared, fs::perms(0755));
  BOOST_CHECK(cache.find("key") == "of the package");
  fs::permissions(f.shared_path("key"), fs::perms(0664));
  BOOST_CHECK(!cache.find("key"));
  BOOST_CHECK(cache.find("other") == "value");
  BOOST_CHECK_EQUAL(cache.statistics().bad_records, 0u);

  if (::getuid() != 0) return;
  // Another user than root, who may not write the records but owns the folder.
  fs::permissions(f.folder.path, fs::perms(0755));
  const auto finds = [&] {
    return in_child([&] {
      HOLDS(drop_root());
      return DiskCache(settings(f.own, f.shared)).find("other") == "value";
    });
  };
  BOOST_CHECK_EQUAL(finds().status, 0);
  BOOST_REQUIRE_EQUAL(::chown(f.shared.c_str(), 1234, 1234), 0);
  BOOST_CHECK_EQUAL(finds().status, 1);
}

BOOST_AUTO_TEST_CASE(records_of_a_folder_are_listed) {
  const Folders f;
  write(f.shared_path("damaged"), "no record");
  write(f.shared + "/README", read(f.shared_path("key")));
  fs::copy_file(f.shared_path("key"), f.shared + "/writable.kernel");
  fs::permissions(f.shared + "/writable.kernel", fs::perms(0666));
  std::multiset<std::string> found;
  const auto add = [&](std::string_view key, std::string_view value) {
    found.insert(std::string(key) + ": " + std::string(value));
  };
  nd::cuda::for_each_record(f.shared, add);
  BOOST_CHECK(found == (std::multiset<std::string>{"key: of the package", "other: value"}));
  fs::permissions(f.shared, fs::perms(0777));
  for (const std::string& folder : {f.shared, f.own})
    BOOST_CHECK_EXCEPTION(nd::cuda::for_each_record(folder, add), catena::RuntimeError,
                          [&](const auto& e) { return std::string(e.what()).find(folder) != std::string::npos; });
}

BOOST_AUTO_TEST_CASE(shared_folders_of_the_environment) {
  const Child child = in_child([&] {
    const auto folders = [](const char* value) {
      ::setenv("CATENA_SHARED_KERNELS", value, 1);
      return nd::cuda::shared_folders();
    };
    using Paths = std::vector<std::string>;
    HOLDS(folders("/a") == Paths{"/a"});
    HOLDS((folders("/a:relative/b::/c:") == Paths{"/a", (fs::current_path() / "relative/b").string(), "/c"}));
    HOLDS(folders("off").empty());
    ::setenv("CATENA_CACHE_DIR", "off", 1);
    ::setenv("CATENA_SHARED_KERNELS", "/a", 1);
    HOLDS(nd::cuda::disk_cache_settings().directory.empty());
    HOLDS(nd::cuda::disk_cache_settings().shared == Paths{"/a"});

    // The folder of the prefix: the library is in a folder of it, if it is a shared library.
    const std::string maps = read("/proc/self/maps");
    const std::size_t name = maps.find("/libcatena_ndarray.so");
    const Paths of_prefix = folders("");
    ::unsetenv("CATENA_SHARED_KERNELS");
    HOLDS(nd::cuda::shared_folders() == of_prefix);
    if (name == std::string::npos) return holds(of_prefix.empty(), "a program without the library has no prefix");
    const std::size_t start = maps.rfind(' ', name) + 1;
    const std::string library_folder = maps.substr(start, name - start), end = "/share/catena/kernels";
    HOLDS(of_prefix.size() == 1 && of_prefix[0].ends_with(end));
    HOLDS(library_folder.starts_with(of_prefix[0].substr(0, of_prefix[0].size() - end.size()) + "/"));
    return true;
  });
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
}

BOOST_AUTO_TEST_CASE(the_configuration_names_the_shared_folders_and_why_one_is_not_used) {
  const Folders f;
  const std::string all = f.shared + ":" + (f.folder.path / "missing").string() + ":" + f.own;
  fs::create_directory(f.own);
  fs::permissions(f.own, fs::perms(0777));
  const Child child = in_child([&] {
    const auto value = [](const char* setting) {
      ::setenv("CATENA_SHARED_KERNELS", setting, 1);
      for (const catena::ConfigEntry& entry : catena::config_entries())
        if (entry.name == "CATENA_SHARED_KERNELS") return entry.value;
      return std::string();
    };
    HOLDS(value("off") == "\"off\"; in effect: none");
    HOLDS(value(all.c_str()).starts_with("\"" + all + "\"; in effect: " + f.shared + ", none: cannot use \""));
    HOLDS(value(all.c_str()).find("none: other users may write \"" + f.own + "\"") != std::string::npos);
    return true;
  });
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
}
