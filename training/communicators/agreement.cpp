#include <catena/training/communicators/agreement.h>

#include <algorithm>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/text.h>
#include <catena/training/communicators/messages.h>

namespace training::communicators::internal {
namespace {

struct Record {
  std::uint64_t fingerprint, detail, has_problem;
};

// The first line in which the texts differ, of both; "nothing" where a text has ended.
struct Difference {
  std::string a, b;
};
Difference first_difference(const std::string& a, const std::string& b) {
  const std::vector<std::string> of_a = catena::parts_of(a, '\n'), of_b = catena::parts_of(b, '\n');
  std::size_t i = 0;
  while (i < of_a.size() && i < of_b.size() && of_a[i] == of_b[i]) ++i;
  const auto line = [i](const std::vector<std::string>& lines) { return i < lines.size() ? lines[i] : "nothing"; };
  return {line(of_a), line(of_b)};
}

[[noreturn]] void fail_together(Transport& t, const std::vector<Record>& records, const Intent& intent,
                                const catena::Function<std::string()>& describe) {
  const auto problem = std::find_if(records.begin(), records.end(), [](const Record& r) { return r.has_problem != 0; });
  if (problem != records.end()) {
    const auto rank = static_cast<int>(problem - records.begin());
    const std::string text = broadcast_text(t, intent.problem, rank);
    throw catena::ValueError(t.size() == 1 ? text : catena::concat(text, " (rank ", rank, ")"));
  }
  const auto other = std::find_if(records.begin(), records.end(),
                                  [&](const Record& r) { return r.fingerprint != records[0].fingerprint; });
  const auto rank = static_cast<int>(other - records.begin());
  const std::string own = describe();
  const Difference difference = first_difference(broadcast_text(t, own, 0), broadcast_text(t, own, rank));
  throw catena::ValueError(
      catena::concat("the ranks disagree: rank 0 has ", difference.a, ", rank ", rank, " has ", difference.b));
}

}  // namespace

bool agree(Transport& t, const Intent& intent, const catena::Function<std::string()>& describe) {
  const std::vector<Record> records =
      all_gather(t, Record{intent.fingerprint, intent.detail, intent.problem.empty() ? 0u : 1u});
  bool same = true;
  for (const Record& r : records) {
    if (r.fingerprint != records[0].fingerprint || r.has_problem != 0) fail_together(t, records, intent, describe);
    same = same && r.detail == records[0].detail;
  }
  return same;
}

void agree(Transport& t, std::string_view description, std::string problem) {
  agree(t, {Fingerprint().add(description).value(), 0, std::move(problem)}, [&] { return std::string(description); });
}

}  // namespace training::communicators::internal
