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

__device__ float number(float value) { return value; }
__device__ float number(Bfloat16 value) { return __uint_as_float(static_cast<unsigned>(value.bits) << 16); }
__device__ float number(Half value) {
    const unsigned sign = (value.bits & 0x8000u) << 16, rest = value.bits & 0x7fffu;
    if (rest >= 0x7c00u) return __uint_as_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    const float scale = __uint_as_float(0x77800000u);  // 2^112: the exponents' biases differ by as much
    return __uint_as_float(sign | __float_as_uint(__uint_as_float(rest << 13) * scale));
}

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

template <class Number>
__device__ void size_up(const Compared* outputs, Word num_parts, Word parts_of_output, Word parts_of_row, Word width, float* sizes) {
    const float share = 1.0f / static_cast<float>(width);
    const Word lane = threadIdx.x % LANES;
    for (Word one = warp_of_grid(); one < num_parts; one += warps_of_grid()) {
        const Part part = part_of(one, parts_of_output, parts_of_row, width);
        const Number* want = reinterpret_cast<const Number*>(outputs[part.output].want);
        float size = 0.0f;
#pragma unroll 8
        for (Word i = part.first + lane; i < part.end; i += LANES) size += fabsf(number(want[i])) * share;
        for (int other = LANES / 2; other > 0; other /= 2) size += __shfl_xor_sync(ALL_LANES, size, other);
        if (lane == 0) sizes[one] = size;
    }
}

template <class Number>
__device__ void compare(const Compared* outputs, Word num_parts, Word parts_of_output, Word parts_of_row, Word width,
                        const float* sizes, float* worst) {
    const Word lane = threadIdx.x % LANES;
    for (Word one = warp_of_grid(); one < num_parts; one += warps_of_grid()) {
        const Part part = part_of(one, parts_of_output, parts_of_row, width);
        const Number* got = reinterpret_cast<const Number*>(outputs[part.output].got);
        const Number* want = reinterpret_cast<const Number*>(outputs[part.output].want);
        const float size = sizes[part.row];
        float largest = 0.0f;
#pragma unroll 8
        for (Word i = part.first + lane; i < part.end; i += LANES) {
            const float wanted = number(want[i]);
            largest = larger(largest, fabsf(number(got[i]) - wanted) / larger(size, fabsf(wanted)));
        }
        for (int other = LANES / 2; other > 0; other /= 2)
            largest = larger(largest, __shfl_xor_sync(ALL_LANES, largest, other));
        if (lane == 0) worst[one] = largest;
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
            const Word* one = reinterpret_cast<const Word*>(pair.one + first);
            const Word* other = reinterpret_cast<const Word*>(pair.other + first);
            const Word num_words = (end - first) / sizeof(Word);
#pragma unroll 8
            for (Word i = lane; i < num_words; i += LANES) is_other |= one[i] != other[i];
            byte += num_words * sizeof(Word);
        }
        const unsigned char* one = reinterpret_cast<const unsigned char*>(pair.one);
        const unsigned char* other = reinterpret_cast<const unsigned char*>(pair.other);
        for (Word i = byte + lane; i < end; i += LANES) is_other |= one[i] != other[i];
        if (is_other) *found = 1;
    }
}
