#include <catena/training/extensions/snapshot.h>

#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>

namespace training {

namespace fs = std::filesystem;

namespace {

// A user's saver may write its file in several steps, so it writes to a temporary file, which is renamed when complete.
// (save_npz does the same itself; doing it twice is harmless.)
void save_whole(const Trainer& trainer, const std::string& pattern,
                const catena::Function<void(const std::string&)>& save) {
  const fs::path path = fs::path(trainer.out()) / format_trainer(pattern, trainer);
  catena::remove_abandoned_files(path.string());
  const fs::path temporary = catena::temporary_path(path.string());
  try {
    save(temporary.string());
    std::error_code error;
    fs::rename(temporary, path, error);
    catena::check<catena::IOError>(!error, "snapshot", "cannot rename the written file to \"", path.string(),
                                   "\": ", error.message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

}  // namespace

Snapshot::Snapshot() : Snapshot(Options{}) {}

Snapshot::Snapshot(Options options) : options_(std::move(options)) {
  check_trainer_pattern(options_.filename);
  trigger = options_.trigger;
  priority = PRIORITY_SNAPSHOT;
  saves_trainer = true;
}

void Snapshot::initialize(Trainer& trainer) { internal::check_output_file("snapshot", trainer, options_.filename); }

void Snapshot::operator()(Trainer& trainer) {
  if (options_.savefun)
    return save_whole(trainer, options_.filename, [&](const std::string& path) { options_.savefun(path, trainer); });
  nn::serializers::save_npz((fs::path(trainer.out()) / format_trainer(options_.filename, trainer)).string(), trainer,
                            false);
}

SnapshotObject::SnapshotObject(catena::Function<void(const std::string&)> save, std::string filename, Options options)
    : save_(std::move(save)), filename_(std::move(filename)) {
  check_trainer_pattern(filename_);
  trigger = std::move(options.trigger);
  priority = PRIORITY_SNAPSHOT;
}

void SnapshotObject::initialize(Trainer& trainer) {
  internal::check_output_file("snapshot_object", trainer, filename_);
}

void SnapshotObject::operator()(Trainer& trainer) { save_whole(trainer, filename_, save_); }

}  // namespace training
