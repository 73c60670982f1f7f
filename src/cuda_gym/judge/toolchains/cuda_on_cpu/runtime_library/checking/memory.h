// The memory that kernels may reach, and what was last done to each piece of it.
//
// Covered: device allocations, tensors, shared variables (with a margin around each), dynamic shared
// memory, memory that kernels allocate, and the variables of the library. Not covered: the limits
// between variables of a library; registers and the local variables of a thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../checks.h"
#include "order.h"

namespace cuda_on_cpu::checking {

// What was last done to one granule of memory.
struct Cell {
  Record write, update;  // a plain one, and an atomic one
  Record read;
  Record other_read;  // of another warp than `read`, or else of another thread

  bool is_untouched() const { return !write.serial && !update.serial && !read.serial; }
  // The block that wrote it last.
  uint32_t written_by() const {
    return write.serial > update.serial ? write.serial : update.serial;
  }
};

struct Range {
  uintptr_t start, end;
  uintptr_t first, limit;  // with its margins
  Space space;
  bool is_freed;
  bool is_forgotten;  // what was done to it is no longer all known
  char name[64];

  bool holds(uintptr_t address) const { return address >= first && address < limit; }
  // The cells of the granules that an access touches; splits granules where it needs finer ones.
  struct Cells {
    Cell* first;
    size_t count;
  };
  Cells cells(uintptr_t address, size_t bytes);
  // That a kernel, or the runtime, has written it at all: a byte for each word.
  void note_written(uintptr_t address, size_t bytes);
  size_t num_unwritten_bytes(uintptr_t address, size_t bytes);
  void forget();

 private:
  friend class Memory;
  size_t num_cells() const { return ((end - first_cell_) + granule_ - 1) / granule_; }
  void refine(unsigned granule);

  uintptr_t first_cell_ = 0;
  unsigned granule_ = 4;
  Cell* cells_ = nullptr;
  unsigned char* written_ = nullptr;
};

class Memory {
 public:
  // Replaces whatever is known of the same addresses. `margin` bytes on both sides belong to it as
  // places that nobody may touch.
  void add(uintptr_t start, size_t bytes, Space space, const char* name, size_t margin = 0);
  // The variables of the library, without those that are added one by one.
  void set_variables(uintptr_t first, uintptr_t end);
  // What is freed is remembered until its addresses are given out again.
  void mark_freed(uintptr_t start);
  void remove(uintptr_t start);
  Range* find(uintptr_t address) {
    if (last_ && last_->holds(address)) return last_;
    return search(address);
  }
  // The one that ends or begins nearest, for a message; null where nothing is within 16 MiB.
  const Range* nearest(uintptr_t address) const;
  // Gives back what takes much memory and is no longer needed.
  void end_launch();

 private:
  Range* search(uintptr_t address);
  Range* last_ = nullptr;
};

// Whether an aligned word is as the allocation left it. Reads the memory.
bool is_poisoned(uintptr_t address, size_t bytes, const Range& range);

}  // namespace cuda_on_cpu::checking
