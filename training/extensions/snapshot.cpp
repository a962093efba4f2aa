#include <catena/training/extensions/snapshot.h>

#include <filesystem>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/warning.h>
#include <catena/kernels/formats/atomic_file.h>
#include <catena/training/extensions/output_file.h>
#include <catena/training/extensions/snapshot_files.h>
#include <catena/training/extensions/snapshot_writer.h>

namespace training {

namespace fs = std::filesystem;
using catena::check;
using catena::ValueError;
using internal::SnapshotTarget;
using nn::serializers::DictionarySerializer;

namespace {

SnapshotTarget target_of(SnapshotOptions& options) {
  if (options.savefun) return {.save = std::move(options.savefun), .load = std::move(options.loadfun)};
  SnapshotTarget target{.collect = [](DictionarySerializer& s, Trainer& trainer) { s.save(trainer); },
                        .load = std::move(options.loadfun)};
  if (!target.load)
    target.load = [](const std::string& path, Trainer& trainer) { nn::serializers::load_npz(path, trainer); };
  return target;
}

SnapshotTarget with_loadfun(SnapshotTarget target, catena::Function<void(const std::string&)> loadfun) {
  if (loadfun) target.load = [loadfun](const std::string& path, Trainer&) { loadfun(path); };
  return target;
}

void check_choices(const char* op, const SnapshotTarget& target, const std::string& filename,
                   const internal::SnapshotChoices& choices) {
  check_trainer_pattern(filename);
  check<ValueError>(choices.n_retains == -1 || choices.n_retains > 0, op, "n_retains is ", choices.n_retains,
                    " and must be -1 or positive");
  check<ValueError>((choices.n_retains == -1 && !choices.autoload) ||
                        fs::path(filename).parent_path().string().find('{') == std::string::npos,
                    op, "the folder of the file name \"", filename,
                    "\" has fields; with n_retains or autoload only the last part of the name may");
  check<ValueError>(!choices.asynchronous || target.collect, op,
                    "a savefun would see the object while it changes; asynchronous is for files without one");
  check<ValueError>(!choices.autoload || target.load, op,
                    "autoload cannot read the files of a savefun; give the function that loads them as loadfun");
}

}  // namespace

SnapshotObject::SnapshotObject(SnapshotTarget target, std::string filename, TriggerSpec own_trigger,
                               internal::SnapshotChoices choices, const char* op)
    : target_(std::move(target)), filename_(std::move(filename)), choices_(choices), op_(op) {
  check_choices(op_, target_, filename_, choices_);
  trigger = std::move(own_trigger);
  priority = PRIORITY_SNAPSHOT;
}

SnapshotObject::SnapshotObject(SnapshotTarget target, std::string filename, Options options)
    : SnapshotObject(
          with_loadfun(std::move(target), std::move(options.loadfun)), std::move(filename), std::move(options.trigger),
          {options.n_retains, options.autoload, options.snapshot_on_error, options.asynchronous}, "snapshot_object") {}

SnapshotObject::SnapshotObject(catena::Function<void(const std::string&)> save, std::string filename, Options options)
    : SnapshotObject(
          SnapshotTarget{.save = [save = std::move(save)](const std::string& path, Trainer&) { save(path); }},
          std::move(filename), std::move(options)) {}

void SnapshotObject::initialize(Trainer& trainer) {
  internal::check_output_file(op_, trainer, filename_);
  if (choices_.asynchronous) writer_ = catena::Shared<internal::SnapshotWriter>::make();
  if (choices_.autoload) load_newest(trainer);
}

void SnapshotObject::operator()(Trainer& trainer) {
  if (!choices_.condition || choices_.condition()) save(trainer, !choices_.asynchronous);
}

void SnapshotObject::on_error(Trainer& trainer, const std::exception&) {
  if (choices_.snapshot_on_error) save(trainer, true);
}

void SnapshotObject::finalize() {
  if (writer_) writer_->wait();
}

// The newest file that is whole counts. A file that is whole and cannot be loaded is of another model, which is an
// error.
void SnapshotObject::load_newest(Trainer& trainer) {
  for (const std::string& path : internal::files_of_pattern(trainer.out(), filename_)) try {
      target_.load(path, trainer);
      loaded_file_ = path;
      return;
    } catch (const catena::ValueError& error) {
      if (!target_.collect || internal::is_whole_npz(path)) throw;
      catena::warn("UserWarning", catena::concat(op_, ": autoload passes over a damaged file: ", error.what()));
    }
}

void SnapshotObject::save(Trainer& trainer, bool at_once) {
  const std::string path = (fs::path(trainer.out()) / format_trainer(filename_, trainer)).string();
  if (writer_) writer_->wait();
  const auto written = [n = choices_.n_retains, out = trainer.out(), pattern = filename_, path] {
    if (n > 0) internal::remove_older_files(out, pattern, n, path);
  };
  if (!target_.collect) {
    save_by_user(trainer, path);
    return written();
  }
  DictionarySerializer state;
  target_.collect(state, trainer);
  const auto write = [state = std::move(state), path, written] {
    try {
      nn::serializers::internal::write_npz(path, state, false);
    } catch (...) {
      catena::rethrow_standard("save_npz");
    }
    written();
  };
  if (at_once) return write();
  writer_->start(write);
}

// A user's saver may write its file in several steps, so it writes to a temporary file, which is renamed when complete.
void SnapshotObject::save_by_user(Trainer& trainer, const std::string& path) const {
  catena::remove_abandoned_files(path);
  const fs::path temporary = catena::temporary_path(path);
  try {
    target_.save(temporary.string(), trainer);
    std::error_code error;
    fs::rename(temporary, path, error);
    check<catena::IOError>(!error, "snapshot", "cannot rename the written file to \"", path, "\": ", error.message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

Snapshot::Snapshot() : Snapshot(Options{}) {}

Snapshot::Snapshot(Options options)
    : SnapshotObject(target_of(options), std::move(options.filename), std::move(options.trigger),
                     {options.n_retains, options.autoload, options.snapshot_on_error,
                      options.asynchronous || options.writer.asynchronous, std::move(options.condition)},
                     "snapshot") {
  saves_trainer = true;
}

}  // namespace training
