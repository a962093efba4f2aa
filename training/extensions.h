// All extensions.
#pragma once

#include <catena/training/extensions/evaluator.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/extensions/print_report.h>
#include <catena/training/extensions/progress_bar.h>
#include <catena/training/extensions/snapshot.h>
