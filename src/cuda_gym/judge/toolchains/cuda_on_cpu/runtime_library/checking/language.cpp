// What -fsanitize=bounds,alignment makes the compiler call: an index outside of an array of known
// size, and an address that its type cannot have. The sanitizer's own library is not linked.

#include <cstdint>
#include <cstdio>

#include "../../include/cuda_on_cpu/block.h"
#include "accesses.h"

namespace cuda_on_cpu::checking {
namespace {

struct Location {
  const char* file;
  uint32_t line, column;
};

struct Type {
  uint16_t kind, info;
  char name[1];  // in quotes
};

struct OutOfBounds {
  Location location;
  const Type *array, *index;
};

struct TypeMismatch {
  Location location;
  const Type* type;
  unsigned char log_alignment, access;
};

bool is_on_device() { return cuda_on_cpu_block->current != nullptr; }

long long value_of(const Type& type, uintptr_t value) {
  const unsigned bits = 1u << (type.info >> 1);
  const bool is_signed = type.info & 1;
  if (!is_signed || bits >= 64) return (long long)value;
  return (long long)(value << (64 - bits)) >> (64 - bits);
}

}  // namespace
}  // namespace cuda_on_cpu::checking

using namespace cuda_on_cpu;
using namespace cuda_on_cpu::checking;

extern "C" {

void __ubsan_handle_out_of_bounds(const OutOfBounds* data, uintptr_t index) {
  if (!is_on_device()) return;
  char text[240];
  snprintf(text, sizeof text, "index %lld of an array of type %s", value_of(*data->index, index),
           data->array->name);
  stop_at_language_fault(Fault::out_of_bounds, text, (uintptr_t)__builtin_return_address(0) - 1);
}

void __ubsan_handle_type_mismatch_v1(const TypeMismatch* data, uintptr_t address) {
  const uintptr_t alignment = (uintptr_t)1 << data->log_alignment;
  if (!is_on_device() || (address & (alignment - 1)) == 0) return;
  char text[240];
  snprintf(text, sizeof text, "%s at an address that is no multiple of %llu", data->type->name,
           (unsigned long long)alignment);
  stop_at_language_fault(Fault::misaligned_access, text,
                         (uintptr_t)__builtin_return_address(0) - 1);
}

}  // extern "C"
