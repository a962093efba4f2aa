#include <catena/training/train.h>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/training/extensions.h>
#include <catena/training/extensions/console.h>
#include <catena/training/optimizers.h>

namespace training {

namespace {

bool has_target(const Optimizer& optimizer, const Link& model) {
  try {
    return &optimizer.target() == &model;
  } catch (const catena::RuntimeError&) {
    return false;
  }
}

Log run(Link& model, AnyDataset train, std::optional<AnyDataset> test, TrainOptions options) try {
  catena::check<catena::ValueError>(options.epochs > 0 && options.batch_size >= 1, "train", "epochs is ",
                                    options.epochs, " and batch_size ", options.batch_size,
                                    "; epochs must be positive and batch_size at least 1");
  Adam usual;
  Optimizer& optimizer = options.optimizer ? **options.optimizer : usual;
  if (!has_target(optimizer, model)) optimizer.setup(model);
  Trainer trainer(StandardUpdater(SerialIterator(std::move(train), options.batch_size), optimizer,
                                  {.device = options.device, .loss_func = options.loss_func}),
                  {options.epochs, epoch}, options.out);
  if (options.resume) trainer.extend(Snapshot({.filename = "snapshot", .autoload = true}));
  if (test)
    trainer.extend(Evaluator(SerialIterator(std::move(*test), options.batch_size, {.repeat = false, .shuffle = false}),
                             model, {.device = options.device, .eval_func = options.loss_func, .weighted = true}));
  const LogReport& log = trainer.extend(LogReport());
  if (options.verbose) {
    trainer.extend(PrintReport());
    if (internal::Console(nullptr, {}).terminal) trainer.extend(ProgressBar());
  }
  trainer.run();
  return log.log();
} catch (...) {
  catena::rethrow_standard("train");
}

}  // namespace

Log train(Link& model, AnyDataset train, AnyDataset test, TrainOptions options) {
  return run(model, std::move(train), std::move(test), std::move(options));
}

Log train(Link& model, AnyDataset train, TrainOptions options) {
  return run(model, std::move(train), {}, std::move(options));
}

}  // namespace training
