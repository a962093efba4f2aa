// Snapshots: a trainer, or one object, as a file that is written atomically.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/hdf5.h>
#include <catena/nn/serializers/npz.h>
#include <catena/training/trainer.h>

namespace training {

// Of a trainer, an optimizer or a model: save_npz(path, trainer).
using nn::serializers::load_hdf5, nn::serializers::load_npz, nn::serializers::save_hdf5, nn::serializers::save_npz;

namespace internal {
class SnapshotWriter;

// An object that snapshots save, without its type. One of `collect` and `save` is there.
struct SnapshotTarget {
  catena::Function<void(nn::serializers::DictionarySerializer& s, Trainer& trainer)> collect = {};
  catena::Function<void(const std::string& path, Trainer& trainer)> save = {};  // the user's saver
  catena::Function<void(const std::string& path, Trainer& trainer)> load = {};  // empty: there is none
};
struct SnapshotChoices {
  std::int64_t n_retains;
  bool autoload, snapshot_on_error, asynchronous;
  catena::Function<bool()> condition = {};
};
}  // namespace internal

// Chainer's names of the ways to write a file: at once, or by a thread (see `asynchronous`).
struct SnapshotWriterChoice {
  bool asynchronous = false;
};
namespace snapshot_writers {
// Writes at once.
struct SimpleWriter : SnapshotWriterChoice {};
// Writes in a thread.
struct ThreadWriter : SnapshotWriterChoice {
  ThreadWriter() : SnapshotWriterChoice{true} {}
};
}  // namespace snapshot_writers

struct SnapshotOptions {
  std::string filename = "snapshot_iter_{.updater.iteration}";  // in the trainer's folder; see format_trainer
  // Default: nn::serializers::save_npz without compression, because compressing weights takes long and saves little.
  catena::Function<void(const std::string& path, Trainer& trainer)> savefun = {};
  catena::Function<bool()> condition = {};  // false: no file is written at this call
  SnapshotWriterChoice writer = {};         // ThreadWriter() is the same as `asynchronous`
  TriggerSpec trigger = {1, epoch};
  // Only this number of files is kept: after a file is written, the oldest ones whose names the file name may have are
  // removed, also those of earlier runs in the folder. -1: all are kept.
  std::int64_t n_retains = -1;
  // Loads the newest file whose name `filename` may have, if there is one, before the training begins: a program that
  // was killed goes on when it is started again. A damaged file is passed over with a warning.
  bool autoload = false;
  // Saves as well when an exception ends the training, with the state that is there then: the last updates are done,
  // but not all extensions of the last iteration may have run.
  bool snapshot_on_error = false;
  // The state is copied, and a thread writes the file while the training goes on. If writing fails, the next snapshot,
  // or the end of the training, throws the error.
  bool asynchronous = false;
  catena::Function<void(const std::string& path, Trainer& trainer)> loadfun = {};  // for autoload; default: load_npz
};

struct SnapshotObjectOptions {
  TriggerSpec trigger = {1, epoch};
  std::int64_t n_retains = -1;  // these as for a Snapshot
  bool autoload = false;
  bool snapshot_on_error = false;
  bool asynchronous = false;
  catena::Function<void(const std::string& path)> loadfun = {};
};

// The same for one object. If the object is a trainer, it also runs after everything else of an iteration.
//
// ValueError for a pattern with an unknown field; for an n_retains that is neither -1 nor positive; with n_retains or
// autoload, for fields in the name of the folder of the file; for `asynchronous` beside a savefun, which would see the
// object while it changes; for `autoload` beside a savefun without a loadfun.
class CATENA_EXPORT SnapshotObject : public Extension {
 public:
  using Options = SnapshotObjectOptions;
  // save(path) writes the object to `path`.
  SnapshotObject(catena::Function<void(const std::string& path)> save, std::string filename, Options options);
  SnapshotObject(internal::SnapshotTarget target, std::string filename, Options options);

  void initialize(Trainer& trainer) override;  // loads with `autoload`; IOError for a file that cannot be written
  void operator()(Trainer& trainer) override;
  void on_error(Trainer& trainer, const std::exception& error) override;
  void finalize() override;  // waits until the last file is written
  std::string default_name() const override { return "snapshot_object"; }
  // The path of the file that `autoload` has loaded; empty if there was none.
  const std::string& loaded_file() const noexcept { return loaded_file_; }

 protected:
  SnapshotObject(internal::SnapshotTarget target, std::string filename, TriggerSpec trigger,
                 internal::SnapshotChoices choices, const char* op);

 private:
  void load_newest(Trainer& trainer);
  void save(Trainer& trainer, bool at_once);
  void save_by_user(Trainer& trainer, const std::string& path) const;

  internal::SnapshotTarget target_;
  std::string filename_;
  internal::SnapshotChoices choices_;
  const char* op_;
  std::string loaded_file_;
  catena::Shared<internal::SnapshotWriter> writer_;
};

// Saves the whole trainer: model, optimizer with changed hyperparameters, iterators with their generators, extensions,
// triggers, the thread's random generator and those of nd::random. To resume, build an equal trainer, load the file
// with load_npz (or use `autoload`) and call run(): the result equals that of an uninterrupted run bit for bit. If
// writing fails, the previous file of that name is unchanged. Every array in a file has a checksum (CRC-32), which is
// compared when it is loaded. Runs after everything else of an iteration, whatever its priority.
class CATENA_EXPORT Snapshot : public SnapshotObject {
 public:
  using Options = SnapshotOptions;
  explicit Snapshot(Options options);  // errors as for a SnapshotObject
  Snapshot();
  std::string default_name() const override { return "snapshot"; }
};

// trainer.extend(snapshot(), {.trigger = {10, "epoch"}})
inline Snapshot snapshot(SnapshotOptions options = {}) { return Snapshot(std::move(options)); }

namespace internal {
template <class T> auto hold_target(T&& target) {
  using Target = catena::Shared<std::remove_reference_t<T>>;
  if constexpr (std::is_lvalue_reference_v<T>) return Target::borrowed(&target);
  else return Target::make(std::forward<T>(target));
}
template <class T>
SnapshotObject snapshot_object_of(SnapshotTarget target, std::string filename, SnapshotObjectOptions options) {
  SnapshotObject result(std::move(target), std::move(filename), std::move(options));
  result.saves_trainer = std::is_base_of_v<Trainer, std::remove_reference_t<T>>;
  return result;
}
}  // namespace internal

// trainer.extend(snapshot_object(model, "model_iter_{.updater.iteration}")). `target` is any object with serialize();
// an lvalue is borrowed, an rvalue owned. savefun(path, target) may be any saver; default as in Snapshot. With a fixed
// name and a trigger for the best value, the file is that of the best model:
//   trainer.extend(snapshot_object(model, "best.npz"), {.trigger = MaxValueTrigger("validation/main/accuracy")});
template <class T, class Save>
SnapshotObject snapshot_object(T&& target, std::string filename, Save savefun, SnapshotObjectOptions options = {}) {
  const auto held = internal::hold_target(std::forward<T>(target));
  return internal::snapshot_object_of<T>(
      {.save = [held, savefun](const std::string& path, Trainer&) { savefun(path, *held); }}, std::move(filename),
      std::move(options));
}
template <class T>
SnapshotObject snapshot_object(T&& target, std::string filename, SnapshotObjectOptions options = {}) {
  const auto held = internal::hold_target(std::forward<T>(target));
  return internal::snapshot_object_of<T>(
      {.collect = [held](nn::serializers::DictionarySerializer& s, Trainer&) { s.save(*held); },
       .load = [held](const std::string& path, Trainer&) { nn::serializers::load_npz(path, *held); }},
      std::move(filename), std::move(options));
}

}  // namespace training
