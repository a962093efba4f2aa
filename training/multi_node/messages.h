// Examples in messages between ranks. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

#include <catena/training/dataset.h>
#include <catena/training/parallel/worker_process.h>

namespace training::internal {

// Arrays on any device; they arrive on the CPU.
void put_examples(MessageWriter& w, const Examples& examples);
Examples get_examples(MessageReader& r);

}  // namespace training::internal
