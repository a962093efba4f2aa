// Stores the state of running means in snapshots. Internal to training and training/extensions.
#pragma once

#include <catena/nn/reporter.h>
#include <catena/nn/serializers/serializer.h>

namespace training::internal {

// Uses the keys of later versions of Chainer: "_names" (a JSON list) and "_summaries/<i>/_x", "_x2", "_n". If a file
// has no names, loading clears the summary.
CATENA_EXPORT void serialize_summary(nn::Serializer& s, nn::DictSummary& summary);

}  // namespace training::internal
