// cub::Traits: keys of a radix sort as whole numbers that are in the same order.
#pragma once

#include <cstdint>
#include <type_traits>

namespace cub {

template <class T>
struct Traits {
  using UnsignedBits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

  static constexpr UnsignedBits TwiddleIn(UnsignedBits key) {
    if (std::is_unsigned_v<T>) return key;
    return (UnsignedBits)(key ^ (is_floating && key & high_bit ? all_bits : high_bit));
  }
  static constexpr UnsignedBits TwiddleOut(UnsignedBits key) {
    if (std::is_unsigned_v<T>) return key;
    return (UnsignedBits)(key ^ (is_floating && !(key & high_bit) ? all_bits : high_bit));
  }

 private:
  static_assert(sizeof(T) <= 8, "a key has at most 8 bytes");
  // A floating type, half and bfloat16 among them: its sign is apart from its magnitude.
  static constexpr bool is_floating = !std::is_integral_v<T>;
  static constexpr UnsignedBits all_bits = (UnsignedBits)~(UnsignedBits)0;
  static constexpr UnsignedBits high_bit = (UnsignedBits)(all_bits ^ all_bits >> 1);
};

}  // namespace cub
