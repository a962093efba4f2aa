// Snapshots: a trainer, or one object, as a file that is there whole or not at all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <catena/nn/serializers/npz.h>
#include <catena/training/trainer.h>

namespace training {

struct SnapshotOptions {
  std::string filename = "snapshot_iter_{.updater.iteration}";  // in the trainer's folder; see format_trainer
  std::function<void(const std::string& path, Trainer& trainer)> savefun = {};  // default: nn::serializers::save_npz
  TriggerSpec trigger = {1, epoch};
};

// Saves the whole trainer: model, optimizer, iterators with their generators, extensions, triggers and the thread's
// random generator. load_npz into a trainer that was built alike, then run() continues as if there had been no
// interruption, bit for bit. A write that fails leaves an older file of that name as it was. Runs after all other
// extensions of an iteration.
class CATENA_EXPORT Snapshot : public Extension {
 public:
  using Options = SnapshotOptions;
  explicit Snapshot(Options options);  // ValueError for an unknown field of the file name
  Snapshot() : Snapshot(Options{}) {}

  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "snapshot"; }
  TriggerSpec default_trigger() const override { return options_.trigger; }
  int default_priority() const override { return PRIORITY_SNAPSHOT; }

 private:
  Options options_;
};

struct SnapshotObjectOptions {
  TriggerSpec trigger = {1, epoch};
};

// The same for one object.
class CATENA_EXPORT SnapshotObject : public Extension {
 public:
  using Options = SnapshotObjectOptions;
  // `save` writes the object to the path it is given.
  SnapshotObject(std::function<void(const std::string& path)> save, std::string filename, Options options);

  void operator()(Trainer& trainer) override;
  std::string default_name() const override { return "snapshot_object"; }
  TriggerSpec default_trigger() const override { return options_.trigger; }
  int default_priority() const override { return PRIORITY_SNAPSHOT; }

 private:
  std::function<void(const std::string&)> save_;
  std::string filename_;
  Options options_;
};

// trainer.extend(snapshot_object(model, "model_iter_{.updater.iteration}")): `target` is anything with serialize(); an
// lvalue is borrowed, an rvalue owned. `savefun(path, target)` may be any saver.
template <class T, class Save>
SnapshotObject snapshot_object(T&& target, std::string filename, Save savefun, SnapshotObjectOptions options = {}) {
  std::shared_ptr<std::remove_reference_t<T>> held;
  if constexpr (std::is_lvalue_reference_v<T>) held = {&target, [](std::remove_reference_t<T>*) {}};
  else held = std::make_shared<T>(std::forward<T>(target));
  return {[held, savefun](const std::string& path) { savefun(path, *held); }, std::move(filename), std::move(options)};
}
template <class T>
SnapshotObject snapshot_object(T&& target, std::string filename, SnapshotObjectOptions options = {}) {
  return snapshot_object(
      std::forward<T>(target), std::move(filename),
      [](const std::string& path, auto& object) { nn::serializers::save_npz(path, object); }, std::move(options));
}

}  // namespace training
