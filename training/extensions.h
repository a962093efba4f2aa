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

using training::dump_graph;
using training::DumpGraph;
using training::Evaluator;
using training::ExponentialShift;
using training::FailOnNonNumber;
using training::JsonLinesLog;
using training::LinearShift;
using training::LogReport;
using training::MicroAverage;
using training::observe_lr;
using training::observe_value;
using training::ObserveValue;
using training::ParameterStatistics;
using training::PlateauShift;
using training::PlotReport;
using training::PrintReport;
using training::ProfileReport;
using training::ProgressBar;
using training::ScheduleShift;
using training::Snapshot;
using training::snapshot;
using training::snapshot_object;
using training::SnapshotObject;
using training::StopOnSignal;
using training::TensorBoardLog;
using training::TraceReport;
using training::VariableStatisticsPlot;
using training::WeightAverage;

}  // namespace training::extensions
