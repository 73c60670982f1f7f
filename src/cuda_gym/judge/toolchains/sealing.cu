// What makes a block of calls a fact: its inputs can be read by nobody before a gate opens, and when the
// gate's page says that it is over, its outputs were there. See sealed_page.py for the page, cuda_sealing.py
// for who launches this.
//
//     hold     wait for the key, which the judge writes to a page of the host
//     seal     exclusive or of a region with the key's random stream: seals, and opens again
//     sum_up   a checksum of a region, in which every bit of it counts
//     tell     write the checksum to the page
//
// The stream is Philox4x32-10 (Salmon and others, 2011): one block of 128 bits for each pair of words.

typedef unsigned long long Word;

namespace {

constexpr unsigned MULTIPLIER_0 = 0xD2511F53u, MULTIPLIER_1 = 0xCD9E8D57u;
constexpr unsigned WEYL_0 = 0x9E3779B9u, WEYL_1 = 0xBB67AE85u;
constexpr int ROUNDS = 10;

// Places in the page, in words: a cache line each.
constexpr int KEY = 0, KEY_CHECK = 1, SUM = 16, SUM_CHECK = 17;

struct Block { unsigned words[4]; };

__device__ Block philox(Word key, Word counter) {
    unsigned key_0 = static_cast<unsigned>(key), key_1 = static_cast<unsigned>(key >> 32);
    unsigned c0 = static_cast<unsigned>(counter), c1 = static_cast<unsigned>(counter >> 32), c2 = 0, c3 = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const unsigned high_0 = __umulhi(MULTIPLIER_0, c0), low_0 = MULTIPLIER_0 * c0;
        const unsigned high_1 = __umulhi(MULTIPLIER_1, c2), low_1 = MULTIPLIER_1 * c2;
        c0 = high_1 ^ c1 ^ key_0;
        c1 = low_1;
        c2 = high_0 ^ c3 ^ key_1;
        c3 = low_0;
        key_0 += WEYL_0;
        key_1 += WEYL_1;
    }
    return {{c0, c1, c2, c3}};
}

// The finaliser of SplitMix64: a bit that changes, changes half of the others.
__device__ Word mixed(Word value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

// Of what stands beside it in the page; never zero, so that an empty page has none.
__device__ Word check_of(Word value) { return mixed(value) | 1ull; }

}  // namespace

// state: the key, then the checksum. A gate that nobody opens ends by itself after so many cycles.
extern "C" __global__ void hold(volatile Word* page, Word* state, Word most_cycles) {
    const long long start = clock64();
    Word key;
    do {
        key = page[KEY];
    } while (page[KEY_CHECK] != check_of(key) && static_cast<Word>(clock64() - start) < most_cycles);
    state[0] = key;
    state[1] = 0;
}

// first: the number of the first pair of words in the stream.
extern "C" __global__ void seal(Word* words, Word count, const Word* state, Word first) {
    const Word key = state[0], stride = static_cast<Word>(gridDim.x) * blockDim.x;
    for (Word pair = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; 2 * pair < count; pair += stride) {
        const Block block = philox(key, first + pair);
        words[2 * pair] ^= static_cast<Word>(block.words[1]) << 32 | block.words[0];
        if (2 * pair + 1 < count)
            words[2 * pair + 1] ^= static_cast<Word>(block.words[3]) << 32 | block.words[2];
    }
}

extern "C" __global__ void sum_up(const Word* words, Word count, Word* state) {
    const Word stride = static_cast<Word>(gridDim.x) * blockDim.x;
    Word sum = 0;
    for (Word i = static_cast<Word>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
        sum += mixed(words[i] + (i + 1) * 0x9E3779B97F4A7C15ull);
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(&state[1], sum);
}

extern "C" __global__ void tell(volatile Word* page, const Word* state) {
    page[SUM] = state[1];
    __threadfence_system();
    page[SUM_CHECK] = check_of(state[1]);
}
