#include "memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

namespace cuda_on_cpu::checking {
namespace {

constexpr size_t most_kept_bytes = (size_t)1 << 30;

// By the first address, margins included; they never overlap. Not destroyed: destructors of a program
// free memory after ours would have run.
std::map<uintptr_t, Range>& ranges = *new std::map<uintptr_t, Range>;
Range variables{};
size_t cell_bytes = 0;

// Zeros, which take memory where they are touched.
template <class T>
T* reserve(size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fprintf(stderr, "no memory to check device memory with: %zu bytes\n", count * sizeof(T));
    abort();
  }
  cell_bytes += count * sizeof(T);
  return static_cast<T*>(memory);
}

template <class T>
void release(T* first, size_t count) {
  if (!first) return;
  munmap(first, count * sizeof(T));
  cell_bytes -= count * sizeof(T);
}

constexpr size_t word_bytes = 4;

size_t num_words(const Range& range) { return (range.end - range.start) / word_bytes + 2; }

}  // namespace

Range::Cells Range::cells(uintptr_t address, size_t bytes) {
  const uintptr_t fine = (address | bytes) & 3;
  if (__builtin_expect(fine && granule_ > (fine & -fine), 0)) refine(fine & -fine);
  if (__builtin_expect(!cells_, 0)) {
    first_cell_ = start & ~(uintptr_t)3;
    cells_ = reserve<Cell>(num_cells());
  }
  const uintptr_t last = (address + bytes < end ? address + bytes : end) - 1;
  const size_t from = (address - first_cell_) / granule_;
  return {cells_ + from, (last - first_cell_) / granule_ - from + 1};
}

void Range::refine(unsigned granule) {
  if (cells_) {
    const size_t old_count = num_cells(), times = granule_ / granule;
    Cell* const old = cells_;
    granule_ = granule;
    cells_ = reserve<Cell>(num_cells());
    for (size_t i = 0; i < num_cells(); ++i) {
      const Cell& cell = old[i / times];
      // Most are untouched, and then so stay the pages of the new ones.
      if (!cell.is_untouched()) cells_[i] = cell;
    }
    release(old, old_count);
  }
  granule_ = granule;
}

void Range::note_written(uintptr_t address, size_t bytes) {
  if (__builtin_expect(!written_, 0)) written_ = reserve<unsigned char>(num_words(*this));
  const size_t first = (address - start) / word_bytes;
  memset(written_ + first, 1, (address + bytes - 1 - start) / word_bytes - first + 1);
}

size_t Range::num_unwritten_bytes(uintptr_t address, size_t bytes) {
  if (is_forgotten) return 0;
  if (!written_) return bytes;
  const size_t first = (address - start) / word_bytes;
  const size_t end_word = (address + bytes - 1 - start) / word_bytes + 1;
  size_t count = 0;
  for (size_t i = first; i < end_word; ++i) count += !written_[i];
  return count * word_bytes < bytes ? count * word_bytes : bytes;
}

void Range::forget() {
  release(cells_, cells_ ? num_cells() : 0);
  release(written_, num_words(*this));
  cells_ = nullptr;
  written_ = nullptr;
}

void Memory::add(uintptr_t start, size_t bytes, Space space, const char* name, size_t margin) {
  if (!bytes) return;
  Range* const known = find(start);
  if (known && known->start == start && known->end == start + bytes && !known->is_freed &&
      known->space == space) {
    if (strncmp(known->name, name, sizeof known->name - 1) != 0)
      snprintf(known->name, sizeof known->name, "%s", name);
    return;
  }
  const uintptr_t first = start - margin, limit = start + bytes + margin;
  auto at = ranges.upper_bound(first);
  if (at != ranges.begin() && std::prev(at)->second.limit > first) --at;
  while (at != ranges.end() && at->second.first < limit) {
    at->second.forget();
    at = ranges.erase(at);
  }
  last_ = nullptr;
  Range range{};
  range.start = start;
  range.end = start + bytes;
  range.first = first;
  range.limit = limit;
  range.space = space;
  snprintf(range.name, sizeof range.name, "%s", name);
  range.granule_ = 4;
  ranges.emplace(first, range);
}

void Memory::set_variables(uintptr_t first, uintptr_t end) {
  variables.forget();
  variables.start = variables.first = first;
  variables.end = variables.limit = end;
  variables.space = Space::variables;
  variables.granule_ = 4;
  snprintf(variables.name, sizeof variables.name, "the variables of the file");
}

void Memory::mark_freed(uintptr_t start) {
  Range* const range = find(start);
  if (!range || range->start != start) return;
  range->is_freed = true;
  range->forget();
}

void Memory::remove(uintptr_t start) {
  Range* const range = find(start);
  if (!range || range->start != start) return;
  range->forget();
  last_ = nullptr;
  ranges.erase(range->first);
}

Range* Memory::search(uintptr_t address) {
  const auto at = ranges.upper_bound(address);
  if (at != ranges.begin() && std::prev(at)->second.holds(address))
    return last_ = &std::prev(at)->second;
  return variables.holds(address) ? &variables : nullptr;
}

const Range* Memory::nearest(uintptr_t address) const {
  constexpr uintptr_t farthest = 16 << 20;
  const Range* best = nullptr;
  uintptr_t distance = farthest;
  auto at = ranges.upper_bound(address);
  if (at != ranges.end() && at->second.start - address < distance) {
    best = &at->second;
    distance = best->start - address;
  }
  if (at != ranges.begin()) {
    const Range& below = std::prev(at)->second;
    if (address - below.end < distance || address < below.end) best = &below;
  }
  return best;
}

void Memory::end_launch() {
  if (cell_bytes < most_kept_bytes) return;
  for (auto& [first, range] : ranges) {
    range.is_forgotten |= range.written_ != nullptr;
    range.forget();
  }
}

bool is_poisoned(uintptr_t address, size_t bytes, const Range& range) {
  const uintptr_t from = address & ~(uintptr_t)3;
  if (from < range.start || address + bytes > range.end) return false;
  for (uintptr_t word = from; word < address + bytes; word += 4) {
    uint32_t value;
    if (word + 4 > range.end) return false;
    memcpy(&value, reinterpret_cast<const void*>(word), sizeof value);
    if (value != checks::poison) return false;
  }
  return true;
}

}  // namespace cuda_on_cpu::checking
