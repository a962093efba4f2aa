// Umbrella header of training: optimizers, data, the trainer and its extensions.
#pragma once

#include <catena/training/averaged_model.h>
#include <catena/training/checkpoint.h>
#include <catena/training/communicators/torch_distributed.h>
#include <catena/training/dataset.h>
#include <catena/training/datasets.h>
#include <catena/training/extensions.h>
#include <catena/training/grad_scaler.h>
#include <catena/training/iterator.h>
#include <catena/training/lbfgs.h>
#include <catena/training/lr_schedulers.h>
#include <catena/training/metrics.h>
#include <catena/training/optimizer.h>
#include <catena/training/optimizer_hooks.h>
#include <catena/training/optimizers.h>
#include <catena/training/parallel/async_transfer.h>
#include <catena/training/parallel/data_loader.h>
#include <catena/training/parallel/iterators.h>
#include <catena/training/parallel/multiprocess_parallel_updater.h>
#include <catena/training/parallel/parallel_updater.h>
#include <catena/training/parallel/prefetch_iterator.h>
#include <catena/training/param_group.h>
#include <catena/training/schedules.h>
#include <catena/training/train.h>
#include <catena/training/trainer.h>
#include <catena/training/transforms.h>
#include <catena/training/triggers.h>
#include <catena/training/updater.h>
#include <catena/training/weight_average.h>

// The other names of Chainer's module: training::updaters::StandardUpdater is training::StandardUpdater.
namespace training::updaters {

using training::ParallelUpdater;
using training::StandardUpdater;

}  // namespace training::updaters

namespace training {
namespace serializers = nn::serializers;
namespace iterators {
using namespace training;
}
namespace dataset {  // dataset::concat_examples, dataset::DatasetMixin
using namespace training;
}
namespace convert {
using training::concat_examples;
}
namespace extension {  // extension::Extension, extension::PRIORITY_WRITER
using namespace training;
}
namespace trigger {
using namespace training::triggers;
}
namespace optimizer {  // optimizer::WeightDecay, where the hooks were in the first versions of Chainer
using namespace training;
}
namespace optimizers {
using namespace training;
}
}  // namespace training
