// Folder training/extensions: extensions for trainers: evaluation, logging, progress, snapshots. The interface
// Extension, triggers and the trainer are in training. This folder may use training, nn and autograd. This file is its
// umbrella header.
#pragma once

#include <catena/training/extensions/dump_graph.h>
#include <catena/training/extensions/evaluator.h>
#include <catena/training/extensions/exponential_shift.h>
#include <catena/training/extensions/fail_on_non_number.h>
#include <catena/training/extensions/interval_logs.h>
#include <catena/training/extensions/linear_shift.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/extensions/micro_average.h>
#include <catena/training/extensions/observe_value.h>
#include <catena/training/extensions/parameter_statistics.h>
#include <catena/training/extensions/plot_report.h>
#include <catena/training/extensions/print_report.h>
#include <catena/training/extensions/progress_bar.h>
#include <catena/training/extensions/schedule_shift.h>
#include <catena/training/extensions/snapshot.h>
