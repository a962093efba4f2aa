// The kernels that nvrtc_test.cpp compiles: every registered (kernel, loop) pair, every form of generated kernels, the
// kernels of the structural calls, and reductions with programs around them.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/registry/kernel.h>
#include <catena/ndarray/cuda/plans/codegen.h>
#include <catena/ndarray/cuda/plans/codegen_text.h>
#include <catena/tests/support/cuda_device/manifest.h>

namespace nvrtc_jobs {

using namespace nd::cuda;
using catena::KernelDef;
using catena::KernelKind;
using catena::Loop;
using cuda_device::key_of;

struct Job {
  std::string pair;  // "add ff->f"
  std::string_view form;
  GeneratedKernel kernel;
};

// The inputs of a row kernel that have one element per row, and those that are one number, where functions call it.
struct UsualRow {
  std::string_view kernel;
  std::vector<int> per_row, numbers;
};
inline const std::vector<UsualRow>& usual_rows() {
  static const std::vector<UsualRow> all = {
      {"batch_norm_fwd", {1, 2}, {3}},        {"batch_norm_bwd", {2, 3, 4}, {}}, {"layer_norm_fwd", {1}, {4, 5}},
      {"layer_norm_bwd", {2, 4, 5}, {6}},     {"rms_norm_fwd", {}, {2}},         {"rms_norm_bwd", {3}, {}},
      {"cross_entropy_bwd", {1, 2, 3, 4}, {}}};
  return all;
}

// Rows of fewer inputs stay in registers where those of more do not.
inline void add_usual_rows(const KernelDef& def, const Loop& loop, const std::string& pair, std::vector<Job>& jobs) {
  if (loop.type[0] == catena::Dtype::bfloat16) return;  // as float16
  const auto add = [&](Form form, int axes, unsigned scalars, int elements = catena::device::kRowElements,
                       int word = 16) {
    KernelKey key = key_of(def, loop, form, axes, axes);
    key.scalars = std::uint16_t(scalars);
    key.per_thread = std::uint8_t(elements);
    key.word_bytes = std::uint8_t(word);
    jobs.push_back({catena::concat(pair, " usual"), name_of(form), generate(def, loop, key)});
  };
  unsigned scalars = 0;
  for (const UsualRow& usual : usual_rows()) {
    if (usual.kernel != def.name) continue;
    for (const int k : usual.per_row) scalars |= 1u << (k + kPerRowBit);
    for (const int k : usual.numbers) scalars |= 1u << k;
  }
  add(Form::row_warp, 1, scalars);
  const int item = int(catena::itemsize(loop.type[0]));
  add(Form::row_part, 1, scalars, 8);
  add(Form::row_part, 1, scalars, 8, item);
  add(Form::row_warp, 1, scalars, 8);
  add(Form::row_warp, 1, scalars, 16);
  add(Form::row_warp, 1, scalars, 32, item);
  add(Form::row_block, 1, scalars, 8);
  add(Form::row_block, 1, scalars, 64);
  if (item <= 4 && def.nin == 1) add(Form::row_block, 1, scalars, 128);
  if (scalars == 0) return;  // the others are among those of add_jobs
  add(Form::row_block, 1, scalars);
  add(Form::row_warp, 2, scalars);
}

inline void add_jobs(const KernelDef& def, int loop_number, std::vector<Job>& jobs, std::vector<Job>& more) {
  const Loop& loop = def.loop_table[loop_number];
  const std::string pair = std::string(def.name) + " " + catena::signature(def, loop);
  const bool sample = loop.type[0] == catena::Dtype::float32;  // the other forms do not depend on the dtype
  const auto simple = [&](Form form, int rank, int reduced_rank = 1) {
    return Job{pair, name_of(form), generate(def, loop, key_of(def, loop, form, rank, reduced_rank))};
  };
  const auto shared = [&](Form form) {  // several blocks per output
    KernelKey key = key_of(def, loop, form, 1, 1);
    key.many_pieces = true;
    return Job{pair, name_of(form), generate(def, loop, key)};
  };
  const catena::EagerProgram program(def, loop_number);
  const auto looping = [&](Form form, int rank, int per_thread = 1) {
    KernelKey key = key_of(def, loop, form, rank);
    key.per_thread = std::uint8_t(per_thread);
    return Job{pair, name_of(form), generate(program, key)};
  };
  switch (def.kind) {
    case KernelKind::elementwise:
      jobs.push_back(looping(Form::contiguous, 1));
      if (sample) {
        more.push_back(looping(Form::strided, 2));
        more.push_back(looping(Form::strided, 0));
      }
      break;
    case KernelKind::indexed:
      jobs.push_back(looping(Form::indexed, 8));
      if (sample) {
        more.push_back(looping(Form::indexed, 0));
        more.push_back(looping(Form::indexed, 2, 4));
        more.push_back(looping(Form::indexed_apart, 4, 4));
      }
      break;
    case KernelKind::reduction:
      jobs.push_back(simple(Form::reduce_block, 1));
      if (sample) {
        more.push_back(simple(Form::reduce_warp, 2, 2));
        more.push_back(simple(Form::reduce_columns, 1));
        more.push_back(shared(Form::reduce_block));
        more.push_back(shared(Form::reduce_columns));
        more.push_back(simple(Form::reduce_second, 0, 0));
      }
      break;
    case KernelKind::row_wise:
      jobs.push_back(simple(Form::row_block, 1));
      add_usual_rows(def, loop, pair, more);
      if (sample) {
        more.push_back(simple(Form::row_warp, 2, 2));
        more.push_back(simple(Form::row_long, 1, 2));
        more.push_back(simple(Form::row_long, 0, 0));
        more.push_back(simple(Form::row_columns, 1));
      }
      break;
    case KernelKind::multi_tensor: jobs.push_back(simple(Form::multi_tensor, 1)); break;
  }
}

// Returns the number of pairs.
inline std::size_t add_registered_pairs(std::vector<Job>& jobs, std::vector<Job>& more) {
  std::size_t registered = 0;
  for (const catena::KernelDef& def : catena::all_kernels()) {
    registered += def.num_loops;
    for (int loop = 0; loop < def.num_loops; ++loop) add_jobs(def, loop, jobs, more);
  }
  return registered;
}

// ---- kernels of the structural calls ------------------------------------------------------------
inline void add_scans(std::vector<Job>& jobs) {
  constexpr Form forms[] = {Form::scan_rows, Form::scan_columns, Form::scan_chain, Form::scan_column_sums,
                            Form::scan_carries};
  for (const catena::KernelDef& def : catena::all_kernels()) {
    if (def.kind != KernelKind::reduction) continue;
    for (const Loop& loop : def.loops()) {
      // All forms of one dtype; the longest of the others for one kernel: nothing else depends on the dtype.
      const bool sample = loop.type[0] == Dtype::float32, other = std::string_view(def.name) == "sum";
      for (Form form : std::span(forms).first(sample ? 5 : (other ? 1 : 0)))
        jobs.push_back({std::string(def.name) + " " + catena::signature(def, loop), name_of(form),
                        generate(def, loop, key_of(def, loop, form, sample ? 0 : 1))});
    }
  }
}

inline void add_random(std::vector<Job>& jobs) {
  for (const char* name : {"random_bits", "random_uniform", "random_normal", "random_integers"}) {
    const KernelDef& def = catena::find_kernel(name);
    for (const Loop& loop : def.loops()) {
      const Dtype out = loop.type[std::size_t(def.first_output())];
      for (Dtype stored : {out, Dtype::float16, Dtype::bfloat16}) {
        if (stored != out && out != Dtype::float32) continue;  // 16-bit floats are rounded from float32
        KernelKey key = key_of(def, loop, Form::random, 1);
        key.dtypes = {stored};
        jobs.push_back(
            {std::string(name) + " " + catena::signature(def, loop), name_of(Form::random), generate(def, loop, key)});
      }
    }
  }
}

inline std::vector<Job> structural_jobs() {
  std::vector<Job> jobs;
  for (const KernelKey& key : cuda_device::structural_keys())
    jobs.push_back({catena::concat(name_of(key.form), " ", key.dtypes[0]), name_of(key.form), generate(key)});
  add_scans(jobs);
  add_random(jobs);
  return jobs;
}

inline catena::Step step_of(const char* name, const char* signature, std::initializer_list<std::uint8_t> slots) {
  catena::Step step;
  step.kernel = &catena::find_kernel(name);
  step.loop = std::uint16_t(cuda_device::loop_number(*step.kernel, signature));
  std::copy(slots.begin(), slots.end(), step.slot.begin());
  return step;
}

// Every form of a reduction with programs around it; where rank 1 is asked for, some inputs are the same for a whole
// output or for all of them. `stored`: the dtypes of the operands.
inline void add_fused_reduction(std::vector<Job>& jobs, const char* name, const char* signature,
                                const FusedPrograms& fused, std::initializer_list<Dtype> stored,
                                std::initializer_list<int> ranks) {
  const KernelDef& def = catena::find_kernel(name);
  const Loop& loop = def.loop_table[cuda_device::loop_number(def, signature)];
  KernelKey key;
  key.program = reduction_hash(def, loop, fused);
  std::copy(stored.begin(), stored.end(), key.dtypes.begin());
  for (Form form : {Form::reduce_block, Form::reduce_warp, Form::reduce_columns, Form::reduce_second}) {
    for (int rank : ranks) {
      key.form = form;
      key.rank = key.reduced_rank = std::uint8_t(rank);
      key.index32 = rank != 4;
      key.scalars = stored.size() <= 8 && rank == 1 ? 1u << 9 | 1u << 2 : 0;
      jobs.push_back({name, name_of(form), generate(def, loop, key, fused)});
    }
  }
}

inline void add_fused_reductions(std::vector<Job>& jobs) {
  using D = Dtype;
  // tanh(a * b) + a of float16, and the root of the reduced value times a number
  const catena::Step chain[] = {step_of("multiply", "ee->e", {0, 1, 3}), step_of("tanh", "e->e", {3, 4}),
                                step_of("add", "ee->e", {4, 0, 2})};
  const catena::Step root[] = {step_of("multiply", "ff->f", {0, 1, 3}), step_of("sqrt", "f->f", {3, 2})};
  const std::vector<Dtype> half(5, D::float16), single(4, D::float32);
  const catena::Program pre{chain, half, 2, 0, 1}, post{root, single, 2, 0, 1};
  add_fused_reduction(jobs, "sum", "e->e", {&pre, &post, D::float16}, {D::float16, D::float32, D::float32, D::float64},
                      {0, 1, 4});
  add_fused_reduction(jobs, "amax", "f->f", {&pre, nullptr, D::float32}, {D::float16, D::int32, D::float32}, {2});
  add_fused_reduction(jobs, "mean", "d->d", {nullptr, &post, D::float64}, {D::float64, D::float32, D::float16}, {1});
  // Comparisons: sixteen elements of a bool array would be read at once.
  const catena::Step comparison[] = {step_of("greater", "dd->?", {0, 1, 2})};
  const Dtype slots[] = {D::float64, D::float64, D::bool_};
  const catena::Program compare{comparison, slots, 2, 0, 1};
  add_fused_reduction(jobs, "all", "?->?", {&compare, nullptr, D::bool_}, {D::float64, D::float64, D::bool_}, {1});
  // As many inputs as there may be.
  std::vector<catena::Step> sums;
  for (std::uint8_t k = 0; k < 14; ++k)
    sums.push_back(
        step_of("add", "dd->d", {std::uint8_t(k == 0 ? 0 : 16), std::uint8_t(k + 1), std::uint8_t(k < 13 ? 16 : 15)}));
  const std::vector<Dtype> doubles(17, D::float64);
  const catena::Program wide{sums, doubles, 15, 0, 1};
  add_fused_reduction(jobs, "sum", "d->d", {&wide, nullptr, D::float64},
                      {D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64,
                       D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64, D::float64},
                      {1});
}

}  // namespace nvrtc_jobs
