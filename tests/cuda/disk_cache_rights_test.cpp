// The disk cache in folders that are full, cannot be written, or belong to other users.
#include <boost/test/unit_test.hpp>

#include <catena/tests/cuda/disk_cache_folders.h>

using namespace disk_cache_folders;

BOOST_AUTO_TEST_CASE(a_full_disk) {
  const Folder folder;
  const auto fill = [](const std::string& records, std::size_t too_much) {
    DiskCache cache(records, kPlenty);
    HOLDS(cache.store("small", "value"));
    for (int k = 0; k < 3; ++k) HOLDS(!cache.store("large", std::string(too_much, 'x')));
    HOLDS(cache.statistics().write_failures == 3);
    HOLDS(!cache.find("large"));
    HOLDS(cache.find("small") == "value");
    HOLDS(files_in(records) == 1);  // nothing half-written stays
    HOLDS(cache.store("small too", "value"));
    return true;
  };
  Child child = in_child([&] {
    const struct rlimit limit { 65536, 65536 };
    ::signal(SIGXFSZ, SIG_IGN);
    HOLDS(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    return fill(folder.records(), 200'000);
  });
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  BOOST_CHECK_EQUAL(notices(child), 1u);

  const std::string disk = (folder.path / "disk").string();
  fs::create_directory(disk);
  child = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0) {
      std::fprintf(stderr, "%s", std::strerror(errno));
      ::_exit(99);
    }
    return fill(disk + "/kernels", 400'000);
  });
  if (child.status == 99) {
    std::cout << "skipped: a small file system cannot be mounted here (" << child.errors
              << "); the limit of file sizes stood in for it\n";
    return;
  }
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  BOOST_CHECK_EQUAL(notices(child), 1u);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_written) {
  const Folder folder;
  {
    DiskCache cache(folder.records(), kPlenty);
    BOOST_REQUIRE(cache.store("good", "value") && cache.store("bad", "value"));
    write(cache.path("bad"), "damaged");
  }
  // The child, which is not root, may read the folders and records but not write them.
  for (const auto& file : fs::directory_iterator(folder.records())) fs::permissions(file.path(), fs::perms(0644));
  fs::permissions(folder.path, fs::perms(0755));
  fs::permissions(folder.records(), fs::perms(0555));
  const Child child = in_child([&] {
    HOLDS(drop_root());
    DiskCache cache(folder.records(), kPlenty);
    HOLDS(cache.find("good") == "value");
    HOLDS(!cache.find("bad"));  // it cannot be deleted either
    HOLDS(!cache.find("bad"));
    HOLDS(cache.statistics().bad_records == 2);
    for (int k = 0; k < 3; ++k) HOLDS(!cache.store("bad", "value"));
    HOLDS(cache.statistics().write_failures == 3);
    HOLDS(cache.find("good") == "value");
    return true;
  });
  fs::permissions(folder.records(), fs::perms(0755));
  BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  BOOST_CHECK_EQUAL(notices(child), 1u);
  BOOST_CHECK_EQUAL(files_in(folder.records()), 2u);
}

BOOST_AUTO_TEST_CASE(folders_and_files_are_private) {
  for (const mode_t mask : {0u, 002u, 077u, 0777u}) {
    const Folder folder;
    const std::string records = (folder.path / "new" / "kernels").string();
    const Child child = in_child([&] {
      ::umask(mask);
      DiskCache cache(records, kPlenty);
      HOLDS(cache.store("key", "value"));
      HOLDS(cache.find("key") == "value");
      struct stat status {};
      HOLDS(::lstat(cache.path("key").c_str(), &status) == 0 && (status.st_mode & 07777u) == 0600);
      HOLDS(::lstat(records.c_str(), &status) == 0 && (status.st_mode & 07777u) == 0700);
      HOLDS(::lstat((folder.path / "new").c_str(), &status) == 0 && (status.st_mode & 07777u) == 0700);
      return true;
    });
    BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  }
}

// A record that others may write is created again; a folder that others may write is not used at all.
BOOST_AUTO_TEST_CASE(what_other_users_may_write) {
  const Folder folder;
  const std::string fallback = (folder.path / "fallback").string();
  {
    DiskCache cache(folder.records(), kPlenty);
    BOOST_REQUIRE(cache.store("key", "value"));
    for (const unsigned mode : {0666u, 0620u, 0602u}) {
      fs::permissions(cache.path("key"), fs::perms(mode));
      BOOST_CHECK(!cache.find("key"));
      BOOST_CHECK(cache.store("key", "value"));
      BOOST_CHECK(cache.find("key") == "value");
    }
    BOOST_CHECK_EQUAL(cache.statistics().bad_records, 0u);
  }
  for (const unsigned mode : {0777u, 01777u, 0770u, 0703u}) {
    fs::permissions(folder.records(), fs::perms(mode));
    Child child = in_child([&] {
      DiskCache cache(folder.records(), kPlenty);
      HOLDS(!cache.find("key"));
      HOLDS(!cache.store("key", "value"));
      HOLDS(cache.statistics().write_failures == 1 && cache.statistics().bad_records == 0);
      return true;
    });
    BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
    BOOST_CHECK_EQUAL(notices(child), 1u);
    BOOST_CHECK(child.errors.find("chmod 700 \"" + folder.records() + "\"") != std::string::npos);
    child = in_child([&] {
      DiskCache cache(folder.records(), kPlenty, fallback);
      HOLDS(!cache.find("key"));
      HOLDS(cache.store("key", "another"));
      HOLDS(cache.find("key") == "another");
      HOLDS(cache.last_folder() == fallback);
      HOLDS(cache.statistics().write_failures == 0);
      return true;
    });
    BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
    BOOST_CHECK(child.errors.find("compiled kernels are kept in " + fallback) != std::string::npos);
    fs::remove_all(fallback);
  }
}

BOOST_AUTO_TEST_CASE(files_of_another_owner) {
  if (::getuid() != 0) {
    std::cout << "skipped: only root can make files of another owner\n";
    return;
  }
  const Folder folder;
  fs::permissions(folder.path, fs::perms(0777));
  {
    DiskCache cache(folder.records(), kPlenty);
    BOOST_REQUIRE(cache.store("of root", "value") && cache.store("of a user", "value"));
    fs::permissions(cache.path("of root"), fs::perms(0644));
    BOOST_REQUIRE_EQUAL(::chown(cache.path("of a user").c_str(), 1234, 1234), 0);
    fs::permissions(folder.records(), fs::perms(0755));
    BOOST_CHECK(cache.find("of root") == "value");
    BOOST_CHECK(!cache.find("of a user"));  // not even by root
    BOOST_CHECK_EQUAL(cache.statistics().bad_records, 0u);
  }
  const auto as_user = [&](const std::function<bool(DiskCache&)>& body) {
    const Child child = in_child([&] {
      HOLDS(drop_root());
      DiskCache cache(folder.records(), kPlenty);
      return body(cache);
    });
    BOOST_CHECK_MESSAGE(child.status == 0, child.errors);
  };
  as_user([](DiskCache& cache) {
    HOLDS(cache.find("of root") == "value");
    HOLDS(!cache.find("of a user"));
    return true;
  });
  // A folder of another user, and a link of another user to one's own folder.
  BOOST_REQUIRE_EQUAL(::chown(folder.records().c_str(), 1234, 1234), 0);
  as_user([](DiskCache& cache) { return holds(!cache.find("of root"), "the folder is not read"); });
  const std::string own = (folder.path / "own").string();
  fs::rename(folder.records(), own);
  BOOST_REQUIRE_EQUAL(::chown(own.c_str(), 65534, 65534), 0);
  fs::create_directory_symlink(own, folder.records());
  as_user([](DiskCache& cache) { return holds(cache.find("of root") == "value", "root's link is followed"); });
  BOOST_REQUIRE_EQUAL(::lchown(folder.records().c_str(), 1234, 1234), 0);
  as_user([](DiskCache& cache) { return holds(!cache.find("of root"), "another user's link is not followed"); });
}
