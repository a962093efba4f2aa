// Folder training/extensions: extensions for trainers: evaluation, logging, progress, snapshots. The interface
// Extension, triggers and the trainer are in training. This folder may use training, nn and autograd. This file is its
// umbrella header.
#pragma once

#include <catena/training/extensions/dump_graph.h>
#include <catena/training/extensions/evaluator.h>
#include <catena/training/extensions/exponential_shift.h>
#include <catena/training/extensions/fail_on_non_number.h>
#include <catena/training/extensions/formula_shifts.h>
#include <catena/training/extensions/interval_logs.h>
#include <catena/training/extensions/linear_shift.h>
#include <catena/training/extensions/log_report.h>
#include <catena/training/extensions/micro_average.h>
#include <catena/training/extensions/observe_value.h>
#include <catena/training/extensions/parameter_statistics.h>
#include <catena/training/extensions/plot_report.h>
#include <catena/training/extensions/print_report.h>
#include <catena/training/extensions/profile_report.h>
#include <catena/training/extensions/progress_bar.h>
#include <catena/training/extensions/schedule_shift.h>
#include <catena/training/extensions/snapshot.h>
#include <catena/training/extensions/stop_on_signal.h>
#include <catena/training/extensions/trace_report.h>
#include <catena/training/extensions/variable_statistics_plot.h>
#include <catena/training/weight_average.h>

// The names of Chainer's module: training::extensions::Evaluator is training::Evaluator.
namespace training::extensions {

using training::dump_graph, training::DumpGraph, training::Evaluator, training::ExponentialShift,
    training::FailOnNonNumber, training::InverseShift, training::JsonLinesLog, training::LinearShift,
    training::LogReport, training::MicroAverage, training::MultistepShift, training::observe_lr,
    training::observe_value, training::ObserveValue, training::ParameterStatistics, training::PlateauShift,
    training::PlotReport, training::PolynomialShift, training::PrintReport, training::ProfileReport,
    training::ProgressBar, training::ScheduleShift, training::Snapshot, training::snapshot, training::snapshot_object,
    training::SnapshotObject, training::StepShift, training::StopOnSignal, training::TensorBoardLog,
    training::TraceReport, training::VariableStatisticsPlot, training::WarmupShift, training::WeightAverage;

namespace snapshot_writers = training::snapshot_writers;

}  // namespace training::extensions
