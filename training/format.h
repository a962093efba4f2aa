// File names with fields in braces, as in Chainer: "snapshot_iter_{.updater.iteration:06d}".
#pragma once

#include <string>
#include <string_view>

#include <catena/kernels/base/function.h>
#include <catena/training/log_entry.h>

namespace training {

class Trainer;

// Replaces every {field} or {field:spec} by lookup(field), formatted by a format specification as in Python:
// [[fill]align][sign][0][width][.precision][type], where align is one of < > ^. "{{" and "}}" mean braces. ValueError
// for an invalid pattern; lookup must throw for unknown fields.
CATENA_EXPORT std::string format_fields(std::string_view pattern,
                                        const catena::Function<LogValue(std::string_view)>& lookup);

// Formats fields of a trainer: .updater.iteration, .updater.epoch, .updater.epoch_detail, .elapsed_time, .out; a 0 may
// precede the dot.
CATENA_EXPORT std::string format_trainer(std::string_view pattern, const Trainer& trainer);
// Throws a ValueError if format_trainer would fail. Extensions call it in their constructor, so that the error appears
// before training.
CATENA_EXPORT void check_trainer_pattern(std::string_view pattern);

// Returns one value, formatted by a format specification.
CATENA_EXPORT std::string format_value(const LogValue& value, std::string_view spec);

}  // namespace training
