// Runs the rows of the migration tables and prints their counts.
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "scene.h"

namespace {

struct Row {
  const char* where;
  void (*run)();
};
struct Counts {
  int rows = 0, offered = 0, absent = 0;
};

std::vector<Row>& all_rows() {
  static std::vector<Row> rows;
  return rows;
}
std::map<std::string, Counts>& all_tables() {
  static std::map<std::string, Counts> tables;
  return tables;
}

std::string table_of(const std::string& where) {
  const std::size_t folder = where.rfind('/') + 1;
  return where.substr(folder, where.find('.', folder) - folder);
}

}  // namespace

Registered::Registered(const char* where, void (*run)()) { all_rows().push_back({where, run}); }
Table::Table(const char* name, int rows, int offered, int absent) { all_tables()[name] = {rows, offered, absent}; }

int main() {
  int failures = 0;
  std::map<std::string, int> run, compared;
  for (const Row& row : all_rows()) {
    const std::string table = table_of(row.where);
    const int before = comparisons;
    try {
      row.run();
      ++run[table];
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", row.where, error.what());
      ++failures;
    }
    compared[table] += comparisons > before;
  }
  for (const auto& [name, counts] : all_tables())
    std::printf("%s: %d rows, %d compiled, %d run, %d compared with recorded values, %d not offered\n", name.c_str(),
                counts.rows, counts.offered, run[name], compared[name], counts.absent);
  return failures == 0 ? 0 : 1;
}
