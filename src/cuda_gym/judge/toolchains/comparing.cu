// What comparisons of a race cost when each number is read no more often than it must be: a few calls of the
// device for all outputs of a block, and no wait. See cuda_comparing.py for who launches this.
//
//     size_up_*  of each part of a row: the mean size of what is wanted, as far as it lies in this part
//     compare_*  of each part of a row: the largest error, over the size of its element or of its row
//     differ     whether some memory holds what other memory holds
//
// Each part is a warp's. Outputs are read once: whoever wrote them may still write there. What is no number
// stays: a largest error of NaN is NaN.

typedef unsigned long long Word;

namespace {

constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr Word LANES = 32, PART = 4096, SHARE_WORDS = 2048;

// One output: where it came back, and what is wanted.
struct Compared { Word got, want; };

// Two pieces of memory, and the number of the first share that they are cut into.
struct Twins { Word one, other, num_bytes, first_share; };

struct Half { unsigned short bits; };
struct Bfloat16 { unsigned short bits; };

__device__ Word number(Word value) { return value; }
__device__ float number(float value) { return value; }
__device__ float number(Bfloat16 value) { return __uint_as_float(static_cast<unsigned>(value.bits) << 16); }
__device__ float number(Half value) {
    const unsigned sign = (value.bits & 0x8000u) << 16, rest = value.bits & 0x7fffu;
    if (rest >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    const float scale = __uint_as_float(0x77800000u);  // 2^112: the exponents' biases differ by as much
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(rest << 13) * scale));
}

// As many numbers as are loaded at once. Several are under way before the first is looked at: memory is far.
constexpr int UNDER_WAY = 4;
constexpr Word PACK_BYTES = 16;
template <class Number> struct alignas(PACK_BYTES) Pack {
    static constexpr int SIZE = PACK_BYTES / sizeof(Number);
    Number numbers[SIZE];
};

__device__ bool is_packed(Word address) { return address % PACK_BYTES == 0; }

__device__ Word warp_of_grid() { return (static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x) / LANES; }
__device__ Word warps_of_grid() { return static_cast<Word>(gridDim.x) * blockDim.x / LANES; }

// NaN is larger than anything.
__device__ float larger(float one, float other) { return other > one || other != other ? other : one; }

// Where a part is: its output, its row among all rows of all outputs, and its elements within the output.
struct Part { Word output, row, first, end; };

__device__ Part part_of(Word number, Word parts_of_output, Word parts_of_row, Word width) {
    const Word output = number / parts_of_output, row = number / parts_of_row;
    const Word first_of_row = (row - output * (parts_of_output / parts_of_row)) * width;
    const Word first = number % parts_of_row * PART, end = first + PART < width ? first + PART : width;
    return {output, row, first_of_row + first, first_of_row + end};
}

// Each lane looks at its elements from `first` to `end` of two arrays.
template <class Number, class Look>
__device__ void each_pair(const Number* got, const Number* want, Word first, Word end, Look look) {
    using Packed = Pack<Number>;
    const Word lane = threadIdx.x % LANES;
    if (is_packed(reinterpret_cast<Word>(want + first)) && is_packed(reinterpret_cast<Word>(got + first))) {
        const Packed* packs = reinterpret_cast<const Packed*>(want + first);
        const Packed* others = reinterpret_cast<const Packed*>(got + first);
        const Word count = (end - first) / Packed::SIZE;
        for (Word i = lane; i < count; i += UNDER_WAY * LANES) {
            Packed wanted[UNDER_WAY], came[UNDER_WAY];
#pragma unroll
            for (int k = 0; k < UNDER_WAY; ++k)
                if (i + k * LANES < count) {
                    wanted[k] = packs[i + k * LANES];
                    came[k] = others[i + k * LANES];
                }
#pragma unroll
            for (int k = 0; k < UNDER_WAY; ++k)
                if (i + k * LANES < count)
                    for (int n = 0; n < Packed::SIZE; ++n)
                        look(number(came[k].numbers[n]), number(wanted[k].numbers[n]));
        }
        first += count * Packed::SIZE;
    }
    for (Word i = first + lane; i < end; i += LANES) look(number(got[i]), number(want[i]));
}

template <class Number>
__device__ void size_up(const Compared* outputs, Word num_parts, Word parts_of_output, Word parts_of_row, Word width, float* sizes) {
    const float share = 1.0f / static_cast<float>(width);
    for (Word one = warp_of_grid(); one < num_parts; one += warps_of_grid()) {
        const Part part = part_of(one, parts_of_output, parts_of_row, width);
        float size = 0.0f;
        const Number* want = reinterpret_cast<const Number*>(outputs[part.output].want);
        each_pair(want, want, part.first, part.end, [&](float, float wanted) { size += fabsf(wanted) * share; });
        for (int other = LANES / 2; other > 0; other /= 2) size += __shfl_xor_sync(ALL_LANES, size, other);
        if (threadIdx.x % LANES == 0) sizes[one] = size;
    }
}

template <class Number>
__device__ void compare(const Compared* outputs, Word num_parts, Word parts_of_output, Word parts_of_row, Word width,
                        const float* sizes, float* worst) {
    for (Word one = warp_of_grid(); one < num_parts; one += warps_of_grid()) {
        const Part part = part_of(one, parts_of_output, parts_of_row, width);
        const float size = sizes[part.row];
        float largest = 0.0f;
        each_pair(reinterpret_cast<const Number*>(outputs[part.output].got),
                  reinterpret_cast<const Number*>(outputs[part.output].want), part.first, part.end,
                  [&](float came, float wanted) {
                      const float error = fabsf(came - wanted);
                      // Most are right to the last bit, and a division takes long.
                      if (error != 0.0f) largest = larger(largest, error / larger(size, fabsf(wanted)));
                  });
        for (int other = LANES / 2; other > 0; other /= 2)
            largest = larger(largest, __shfl_xor_sync(ALL_LANES, largest, other));
        if (threadIdx.x % LANES == 0) worst[one] = largest;
    }
}

}  // namespace

// outputs: of one form, contiguous. num_parts: of all of them. width: of a row.
// sizes: for each part; those of a row add up to its mean size.
#define SIZE_UP(name, Number)                                                                                      \
    extern "C" __global__ void name(const Compared* outputs, Word num_parts, Word parts_of_output,                 \
                                    Word parts_of_row, Word width, float* sizes) {                                 \
        size_up<Number>(outputs, num_parts, parts_of_output, parts_of_row, width, sizes);                          \
    }
SIZE_UP(size_up_float32, float)
SIZE_UP(size_up_float16, Half)
SIZE_UP(size_up_bfloat16, Bfloat16)

// sizes: of each row of all outputs. worst: for each part.
#define COMPARE(name, Number)                                                                                      \
    extern "C" __global__ void name(const Compared* outputs, Word num_parts, Word parts_of_output,                 \
                                    Word parts_of_row, Word width, const float* sizes, float* worst) {             \
        compare<Number>(outputs, num_parts, parts_of_output, parts_of_row, width, sizes, worst);                   \
    }
COMPARE(compare_float32, float)
COMPARE(compare_float16, Half)
COMPARE(compare_bfloat16, Bfloat16)

// found: becomes 1 where two pieces differ.
extern "C" __global__ void differ(const Twins* twins, Word num_twins, Word num_shares, unsigned* found) {
    const Word lane = threadIdx.x % LANES;
    for (Word share = warp_of_grid(); share < num_shares; share += warps_of_grid()) {
        Word low = 0, high = num_twins;  // the last one whose first share is this one or before
        while (high - low > 1) {
            const Word middle = (low + high) / 2;
            if (twins[middle].first_share <= share) low = middle;
            else high = middle;
        }
        const Twins pair = twins[low];
        const Word first = (share - pair.first_share) * SHARE_WORDS * sizeof(Word);
        Word end = first + SHARE_WORDS * sizeof(Word);
        if (end > pair.num_bytes) end = pair.num_bytes;
        bool is_other = false;
        Word byte = first;
        if ((pair.one | pair.other) % sizeof(Word) == 0) {
            byte = end - end % sizeof(Word);
            each_pair(reinterpret_cast<const Word*>(pair.one), reinterpret_cast<const Word*>(pair.other),
                      first / sizeof(Word), end / sizeof(Word), [&](Word one, Word other) { is_other |= one != other; });
        }
        const unsigned char* one = reinterpret_cast<const unsigned char*>(pair.one);
        const unsigned char* other = reinterpret_cast<const unsigned char*>(pair.other);
        for (Word i = byte + lane; i < end; i += LANES) is_other |= one[i] != other[i];
        if (is_other) *found = 1;
    }
}
