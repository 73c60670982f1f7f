#include "findings.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <tuple>

namespace cuda_on_cpu::checking {
namespace {

// Whoever reads them needs the first few: the others mostly follow from these.
constexpr size_t most_findings = 40;

using Key = std::tuple<Fault, uint32_t, uint32_t>;

// Never destroyed: the last of a program writes them when other statics are gone.
std::set<Key>& known() {
  static auto* const keys = new std::set<Key>;
  return *keys;
}

std::string& lines() {
  static auto* const text = new std::string;
  return *text;
}

const char* name_of(Fault fault) {
  switch (fault) {
    case Fault::data_race: return "data race";
    case Fault::out_of_bounds: return "out of bounds";
    case Fault::uninitialised_read: return "uninitialised read";
    case Fault::divergent_barrier: return "divergent barrier";
    case Fault::mismatched_mask: return "mismatched mask";
    case Fault::deadlock: return "deadlock";
    case Fault::misaligned_access: return "misaligned access";
    default: return "host access";
  }
}

void add_text(std::string* line, const char* text) {
  *line += '"';
  for (; *text; ++text) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') *line += '\\';
    *line += c < 0x20 ? ' ' : *text;
  }
  *line += '"';
}

void add_index(std::string* line, const char* key, uint64_t number, unsigned x, unsigned y) {
  char text[96];
  snprintf(text, sizeof text, ", \"%s\": [%llu, %llu, %llu]", key, (unsigned long long)(number % x),
           (unsigned long long)(number / x % y), (unsigned long long)(number / ((uint64_t)x * y)));
  *line += text;
}

void add_party(std::string* line, const Party& party, const Launch* launch) {
  *line += "{\"does\": ";
  add_text(line, party.does);
  *line += ", \"place\": " + std::to_string(party.place);
  if (launch) {
    add_index(line, "thread", party.thread, launch->block.x, launch->block.y);
    add_index(line, "block", party.block, launch->grid.x, launch->grid.y);
  }
  *line += '}';
}

}  // namespace

void keep(const Finding& finding) {
  const Party* const parties = finding.parties;
  const Key key{finding.fault, finding.num_parties ? parties[0].place : 0,
                finding.num_parties > 1 ? parties[1].place : 0};
  if (known().size() >= most_findings || !known().insert(key).second) return;
  std::string line = "{\"kind\": ";
  add_text(&line, name_of(finding.fault));
  line += ", \"text\": ";
  add_text(&line, finding.text);
  line += ", \"kernel\": ";
  add_text(&line, finding.launch ? finding.launch->kernel : "");
  line += ", \"parties\": [";
  for (unsigned i = 0; i < finding.num_parties; ++i) {
    if (i) line += ", ";
    add_party(&line, parties[i], finding.launch);
  }
  line += "]}\n";
  lines() += line;
}

}  // namespace cuda_on_cpu::checking

// The findings of a program go to the file that CUDA_ON_CPU_FINDINGS names.
__attribute__((destructor)) void cuda_on_cpu::checks::write_findings() {
  const char* const path = getenv("CUDA_ON_CPU_FINDINGS");
  FILE* const file = path ? fopen(path, "w") : nullptr;
  if (!file) return;
  fwrite(checking::lines().data(), 1, checking::lines().size(), file);
  fclose(file);
}

using namespace cuda_on_cpu::checking;

extern "C" {

// All findings so far, a line each; valid until the next one. They are kept.
const char* cuda_on_cpu_findings(void) { return lines().c_str(); }

}  // extern "C"
