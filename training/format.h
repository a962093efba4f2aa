// Names of files with fields in braces, as the reference writes them: "snapshot_iter_{.updater.iteration:06d}".
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <catena/training/log_entry.h>

namespace training {

class Trainer;

// Replaces every {field} or {field:spec} by lookup(field) in the form of Python's format specifications
// ([[fill]align][sign][0][width]
// [.precision][type], align one of < > ^); "{{" and "}}" stand for braces. ValueError for a pattern that is not of this
// form; lookup throws for unknown fields.
CATENA_EXPORT std::string format_fields(std::string_view pattern,
                                        const std::function<LogValue(std::string_view)>& lookup);

// Fields of a trainer: .updater.iteration, .updater.epoch, .updater.epoch_detail, .elapsed_time, .out; a 0 before the
// dot is allowed.
CATENA_EXPORT std::string format_trainer(std::string_view pattern, const Trainer& trainer);
// ValueError when format_trainer would fail: what an extension calls when it is made and not hours later.
CATENA_EXPORT void check_trainer_pattern(std::string_view pattern);

// One value in the form of a format specification.
CATENA_EXPORT std::string format_value(const LogValue& value, std::string_view spec);

}  // namespace training
