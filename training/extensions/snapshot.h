// Snapshots: a trainer, or one object, as a file that is written atomically.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <catena/kernels/base/function.h>
#include <catena/kernels/base/pointers.h>
#include <catena/nn/serializers/npz.h>
#include <catena/training/trainer.h>

namespace training {

struct SnapshotOptions {
  std::string filename = "snapshot_iter_{.updater.iteration}";  // in the trainer's folder; see format_trainer
  // Default: nn::serializers::save_npz without compression, because compressing weights takes long and saves little.
  catena::Function<void(const std::string& path, Trainer& trainer)> savefun = {};
  TriggerSpec trigger = {1, epoch};
};

// Saves the whole trainer: model, optimizer with changed hyperparameters, iterators with their generators, extensions,
// triggers, the thread's random generator and those of nd::random. To resume, build an equal trainer, load the file
// with load_npz and call run(): the result equals that of an uninterrupted run bit for bit. If writing fails, the
// previous file of that name is unchanged. Runs after everything else of an iteration, whatever its priority.
class CATENA_EXPORT Snapshot : public Extension {
 public:
  using Options = SnapshotOptions;
  explicit Snapshot(Options options);  // ValueError for an unknown field of the file name
  Snapshot();

  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "snapshot"; }

 private:
  Options options_;
};

// trainer.extend(snapshot(), {.trigger = {10, "epoch"}})
inline Snapshot snapshot(SnapshotOptions options = {}) { return Snapshot(std::move(options)); }

struct SnapshotObjectOptions {
  TriggerSpec trigger = {1, epoch};
};

// The same for one object. If the object is a trainer, it also runs after everything else of an iteration.
class CATENA_EXPORT SnapshotObject : public Extension {
 public:
  using Options = SnapshotObjectOptions;
  // save(path) writes the object to `path`.
  SnapshotObject(catena::Function<void(const std::string& path)> save, std::string filename, Options options);

  void initialize(Trainer& trainer) override;  // IOError for a file that cannot be written
  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "snapshot_object"; }

 private:
  catena::Function<void(const std::string&)> save_;
  std::string filename_;
};

// trainer.extend(snapshot_object(model, "model_iter_{.updater.iteration}")). `target` is any object with serialize();
// an lvalue is borrowed, an rvalue owned. savefun(path, target) may be any saver; default as in Snapshot.
template <class T, class Save>
SnapshotObject snapshot_object(T&& target, std::string filename, Save savefun, SnapshotObjectOptions options = {}) {
  using Target = catena::Shared<std::remove_reference_t<T>>;
  Target held;
  if constexpr (std::is_lvalue_reference_v<T>) held = Target::borrowed(&target);
  else held = Target::make(std::forward<T>(target));
  SnapshotObject result([held, savefun](const std::string& path) { savefun(path, *held); }, std::move(filename),
                        std::move(options));
  result.saves_trainer = std::is_base_of_v<Trainer, std::remove_reference_t<T>>;
  return result;
}
template <class T>
SnapshotObject snapshot_object(T&& target, std::string filename, SnapshotObjectOptions options = {}) {
  return snapshot_object(
      std::forward<T>(target), std::move(filename),
      [](const std::string& path, auto& object) { nn::serializers::save_npz(path, object, false); },
      std::move(options));
}

}  // namespace training
