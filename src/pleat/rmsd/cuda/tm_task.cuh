// TM task: how one warp searches the superpositions of one pair, with up to 64 of them at a time.
#pragma once

#include <cstdint>

#include "pleat/core/cuda/host_device.h"
#include "pleat/core/view.h"
#include "pleat/rmsd/superposition/superpose.h"

namespace pleat::rmsd::cuda {

/// The polynomial of the key matrix of a covariance whose squares sum to 1, and its derivative:
/// P(x) = (x^2 - 1)^2 - 8 determinant x - 4 minors.
template <class T>
struct KeyPolynomial {
    T determinant, minors;
    __device__ T value(T x) const {
        const T t = x * x - 1;
        return t * t - 8 * determinant * x - 4 * minors;
    }
    __device__ T slope(T x) const { return 4 * x * (x * x - 1) - 8 * determinant; }
};

/// The largest root, by Newton's method from above. Roots that are not nearly double are first
/// found in float32; in either precision a float32 reciprocal of the slope suffices.
static __device__ __forceinline__ double largest_root(const KeyPolynomial<double>& key) {
    constexpr double kBound = 1.7320508075688774;  // of the sum of singular values: sqrt(3)
    constexpr float kMinSlope = 0.05f;             // the float32 root is within 1e-4 then
    const KeyPolynomial<float> rough{static_cast<float>(key.determinant),
                                     static_cast<float>(key.minors)};
    auto guess = static_cast<float>(kBound);
    for (int n = 0; n < 12; ++n) {
        const float step = rough.value(guess) * pleat::cuda::rough_inverse(rough.slope(guess));
        guess -= step;
        if (!(step > 1e-5f)) break;
    }
    double x = rough.slope(guess) > kMinSlope ? double{guess} + 1e-4 : kBound;
    for (int n = 0; n < 20; ++n) {
        const double step =
            key.value(x) * pleat::cuda::rough_inverse(static_cast<float>(key.slope(x)));
        x -= step;
        if (!(fabs(step) > 1e-13)) break;
    }
    return x;
}

/// The adjugate of a symmetric 4 x 4 matrix of rank 3: each column is its null vector. Returns the
/// column with the largest entry on the diagonal in `column`, and that entry.
static __device__ __forceinline__ double null_vector(const double (&n)[4][4], double (&column)[4]) {
    // Minors of the upper and of the lower two rows: of columns 01, 02, 03, 12, 13, 23.
    double u[6], l[6];
    int next = 0;
#pragma unroll
    for (int a = 0; a < 3; ++a) {
#pragma unroll
        for (int b = a + 1; b < 4; ++b, ++next) {
            u[next] = n[0][a] * n[1][b] - n[1][a] * n[0][b];
            l[next] = n[2][a] * n[3][b] - n[3][a] * n[2][b];
        }
    }
    double largest = -1.0;
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        // Laplace's expansion along the other row of its half; the sign does not matter.
        const double(&v)[4] = n[c ^ 1];
        const double(&m)[6] = c < 2 ? l : u;
        const double entries[4] = {
            v[1] * m[5] - v[2] * m[4] + v[3] * m[3], v[2] * m[2] - v[0] * m[5] - v[3] * m[1],
            v[0] * m[4] - v[1] * m[2] + v[3] * m[0], v[1] * m[1] - v[0] * m[3] - v[2] * m[0]};
        const double size = fabs(entries[c]);
        const bool is_larger = size > largest;
        largest = is_larger ? size : largest;
#pragma unroll
        for (int a = 0; a < 4; ++a) column[a] = is_larger ? entries[a] : column[a];
    }
    return largest;
}

/// rotation_by_jacobi() as a function call, because it is rare.
static __device__ __attribute__((noinline)) void call_jacobi(const double (&r)[9], double (&m)[9]) {
    rotation_by_jacobi(r, m);
}

/// The rotation `m` of the covariance `r`, as rotation_of_covariance() finds it: Jacobi if the
/// largest root of the key matrix is not separated from the next.
static __device__ __forceinline__ void find_rotation(const double (&r)[9], double (&m)[9]) {
    double square = 0.0;
#pragma unroll
    for (int n = 0; n < 9; ++n) square += r[n] * r[n];
    const double scale = rsqrt(square);
    double unit[9];
#pragma unroll
    for (int n = 0; n < 9; ++n) unit[n] = r[n] * scale;
    KeyPolynomial<double> key{0.0, 0.0};
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const int u = 3 * ((a + 1) % 3), v = 3 * ((a + 2) % 3);
#pragma unroll
        for (int b = 0; b < 3; ++b) {
            const int s = (b + 1) % 3, t = (b + 2) % 3;
            const double minor = unit[u + s] * unit[v + t] - unit[u + t] * unit[v + s];
            key.minors += minor * minor;
            if (a == 0) key.determinant += unit[b] * minor;
        }
    }
    const double root = largest_root(key);
    double n[4][4], quaternion[4] = {};
    key_matrix(unit, n);
#pragma unroll
    for (int a = 0; a < 4; ++a) n[a][a] -= root;
    // The product of the gaps to the other roots times the square of the largest component.
    constexpr double kMinGaps = 1e-3;
    const double gaps = null_vector(n, quaternion);
    if (!(gaps > kMinGaps * root * root * root)) return call_jacobi(r, m);
    rotation_of(quaternion, m);
}

constexpr int kTmThreads = 32;  ///< one warp searches a pair
constexpr int kTmItems = 2;     ///< superpositions of a thread
constexpr int kTmBatch = kTmThreads * kTmItems;

/// The sets of atoms that one warp has found, in order.
struct TmSets {
    std::uint32_t* bits;       ///< [word of 32 atoms][position]
    std::int32_t* table;       ///< positions plus 1; 0: free
    int words, capacity;       ///< of positions; the last kTmBatch are for candidates
    unsigned mask;             ///< table size, a power of two, less 1
    int first = 0, count = 0;  ///< of the sets that are superposed in this round
    int end = 0;               ///< sets of the next round end here

    __device__ std::uint32_t& word(int n, int position) const {
        return bits[static_cast<Index>(n) * capacity + position];
    }
    __device__ int room() const { return capacity - kTmBatch - end; }

    __device__ void clear_table() const {
        for (unsigned n = threadIdx.x; n <= mask; n += kTmThreads) table[n] = 0;
        __syncwarp();
    }

    /// Starts a round that superposes the sets found since the last call. Reserves room for as many
    /// again; if there is none, forgets the sets of earlier rounds, which only costs time.
    __device__ void next_round() {
        first += count;
        count = end - first;
        if (room() >= count) return;
        for (int from = 0; from < count; from += kTmThreads) {
            const int position = from + static_cast<int>(threadIdx.x);
            for (int n = 0; n < words; ++n) {
                const std::uint32_t some = position < count ? word(n, first + position) : 0;
                __syncwarp();
                if (position < count) word(n, position) = some;
            }
        }
        first = 0;
        end = count;
        clear_table();
    }

    __device__ bool are_equal(int one, int other) const {
        for (int n = 0; n < words; ++n)
            if (word(n, one) != word(n, other)) return false;
        return true;
    }

    /// Keeps those candidates, at positions behind `end`, that are not among the sets. All threads
    /// call it, with positions in their order or, without a candidate, with `is_valid` false.
    __device__ void insert(bool is_valid, int candidate, std::uint32_t hash) {
        __syncwarp();
        bool is_new = false;
        unsigned slot = hash & mask;
        while (is_valid) {
            const int found = atomicCAS(table + slot, 0, candidate + 1);
            is_new = found == 0;
            if (is_new || are_equal(found - 1, candidate)) break;
            slot = (slot + 1) & mask;
        }
        const unsigned kept = __ballot_sync(0xffffffffu, is_new);
        const int position = end + __popc(kept & ((1u << threadIdx.x) - 1));
        for (int n = 0; n < words; ++n) {
            const std::uint32_t some = is_new ? word(n, candidate) : 0;
            __syncwarp();
            if (is_new) word(n, position) = some;
        }
        if (is_new) table[slot] = position + 1;
        end += __popc(kept);
        __syncwarp();
    }
};

constexpr int kMaxTmLengths = 6, kMaxTmRounds = 20;
constexpr unsigned kAllLanes = 0xffffffffu;

/// What all pairs have in common.
struct TmSettings {
    int atoms = 0, lengths = 0, starts = 0;
    int length[kMaxTmLengths] = {};  ///< of the fragments, the longest first
    double per_square = 0.0;         ///< 1 / d0^2
    double first_limit = 0.0, limit = 0.0;
};

/// An atom of both frames.
struct TmAtom {
    double2 xy, zu, vw;  ///< x y z of the first, u v w of the second frame
};

/// An atom of both frames in float32.
struct RoughAtom {
    float4 xyzu;
    float2 vw;
};

struct TmPairAtoms {
    const TmAtom* atoms;
    const float4* xyzu;
    const float2* vw;
    double extent;  ///< the largest coordinate of either frame

    __device__ __forceinline__ RoughAtom rough(int k) const { return {xyzu[k], vw[k]}; }
};

/// The sums over a set of atoms that its superposition needs.
struct TmSums {
    double count = 0.0, p[3] = {}, q[3] = {}, r[9] = {};

    __device__ __forceinline__ void add(const TmAtom& at) {
        const double x[3] = {at.xy.x, at.xy.y, at.zu.x}, u[3] = {at.zu.y, at.vw.x, at.vw.y};
#pragma unroll
        for (int a = 0; a < 3; ++a) {
            p[a] += x[a];
            q[a] += u[a];
#pragma unroll
            for (int b = 0; b < 3; ++b) r[3 * a + b] += x[a] * u[b];
        }
    }
    /// Adds those of `lanes` neighbouring threads.
    __device__ __forceinline__ void join(int lanes) {
        for (int apart = 1; apart < lanes; apart *= 2) {
            count += __shfl_xor_sync(kAllLanes, count, apart);
#pragma unroll
            for (int a = 0; a < 3; ++a) {
                p[a] += __shfl_xor_sync(kAllLanes, p[a], apart);
                q[a] += __shfl_xor_sync(kAllLanes, q[a], apart);
            }
#pragma unroll
            for (int n = 0; n < 9; ++n) r[n] += __shfl_xor_sync(kAllLanes, r[n], apart);
        }
    }
};

/// A rotation and a shift of the first frame.
struct TmMotion {
    double m[9], t[3];

    /// The squared distance between an atom and its position in the second frame.
    __device__ __forceinline__ double square(const TmAtom& at) const {
        const double x = m[0] * at.xy.x + (m[1] * at.xy.y + (m[2] * at.zu.x + t[0])) - at.zu.y;
        const double y = m[3] * at.xy.x + (m[4] * at.xy.y + (m[5] * at.zu.x + t[1])) - at.vw.x;
        const double z = m[6] * at.xy.x + (m[7] * at.xy.y + (m[8] * at.zu.x + t[2])) - at.vw.y;
        return z * z + (y * y + x * x);
    }
};

/// The same in float32. A coordinate of the difference of an atom's places is off by at most
/// kRoughError times the largest coordinate c: rotated coordinates are at most sqrt(3) c and shifts
/// (1 + sqrt(3)) c; 5 roundings of these (of both factors, or of the sum) are below 27 c 2^-24.
struct RoughMotion {
    float m[9], t[3];

    __device__ __forceinline__ float square(const RoughAtom& at) const {
        const float4 p = at.xyzu;
        const float x = m[0] * p.x + (m[1] * p.y + (m[2] * p.z + t[0])) - p.w;
        const float y = m[3] * p.x + (m[4] * p.y + (m[5] * p.z + t[1])) - at.vw.x;
        const float z = m[6] * p.x + (m[7] * p.y + (m[8] * p.z + t[2])) - at.vw.y;
        return z * z + (y * y + x * x);
    }
};
constexpr double kRoughError = 32.0 / (1 << 24);

/// How close a float32 square may be to that of `distance` to be uncertain: `error` is that of a
/// coordinate, and a square is off by 2 sqrt(3) times this error times its distance.
static __device__ __forceinline__ float rough_window(double error, double distance) {
    return static_cast<float>(4.0 * error * (distance + error) + 1e-6 * distance * distance);
}

/// The best motion for a set of atoms. A call, since its code is long.
static __device__ __attribute__((noinline)) void superpose(const TmSums& sums, TmMotion& motion,
                                                           RoughMotion& rough) {
    double p[3], q[3], r[9];
    const double inverse = 1.0 / sums.count;
#pragma unroll
    for (int a = 0; a < 3; ++a) p[a] = sums.p[a] * inverse, q[a] = sums.q[a] * inverse;
#pragma unroll
    for (int n = 0; n < 9; ++n) r[n] = sums.r[n] - sums.p[n / 3] * q[n % 3];
    find_rotation(r, motion.m);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
        const double* const row = motion.m + 3 * a;
        motion.t[a] = q[a] - (row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);
        rough.t[a] = static_cast<float>(motion.t[a]);
    }
#pragma unroll
    for (int n = 0; n < 9; ++n) rough.m[n] = static_cast<float>(motion.m[n]);
}

/// The atoms that come near in one superposition.
struct TmNear {
    int count = 0;
    std::uint32_t hash = 0;

    __device__ __forceinline__ void add(std::uint32_t word) {
        count += __popc(word);
        hash = (hash ^ word) * 0x9e3779b1u;
        hash ^= hash >> 15;
    }
};

/// What float32 tells of a superposition.
struct RoughScores {
    float sum = 0.0f;      ///< of shares, of the TM-score
    int within[4] = {};    ///< atoms that may be within 1, 2, 4 and 8 angstrom
    float margin = 3e38f;  ///< the least difference of a square from that of the limit

    /// Of `lanes` neighbouring threads.
    __device__ __forceinline__ void join(int lanes) {
        for (int apart = 1; apart < lanes; apart *= 2) {
            sum += __shfl_xor_sync(kAllLanes, sum, apart);
            margin = fminf(margin, __shfl_xor_sync(kAllLanes, margin, apart));
            for (int& count : within) count += __shfl_xor_sync(kAllLanes, count, apart);
        }
    }
};

/// A warp with one pair. Each thread has two superpositions, so that an atom is loaded once for
/// both. If there are few, groups of `lanes` neighbouring threads share theirs: each takes every
/// `lanes`-th atom. Sums of a set depend on nothing but the set and `lanes`, which depends on how
/// many sets there are; so a value depends only on its pair.
///
/// Sums and motions are float64; all atoms are first measured in float32. If an atom is closer to
/// the limit than the error, or a superposition may have the best score so far, the whole warp
/// measures it again in float64, which decides.
template <bool kIsGdt>
class TmWarp {
public:
    __device__ TmWarp(const TmSettings& settings, const TmPairAtoms& pair, TmSets& sets)
        : settings_(settings), pair_(pair), sets_(sets), error_(kRoughError * pair.extent) {
        // The derivative of an atom's share of the score by its distance is at most 0.65 / d0.
        sum_error_ =
            static_cast<float>(settings.atoms * (2.0 * error_ * sqrt(settings.per_square) + 2e-6));
    }

    __device__ double search() {
        sets_.clear_table();
        for (int round = -1; round < kMaxTmRounds; ++round) {
            const bool is_first = round < 0;
            if (!is_first) sets_.next_round();
            const int count = is_first ? settings_.starts : sets_.count;
            if (count == 0) break;
            for (int first = 0; first < count; first += kTmBatch) {
                Items items;
                int lanes = 1;
                if (is_first)
                    superpose_fragments(first, items);
                else
                    lanes = superpose_sets(first, items);
                measure(items, lanes, is_first ? settings_.first_limit : settings_.limit);
            }
        }
        if constexpr (!kIsGdt) return best_sum_ / settings_.atoms;
        double score = 0.0;
        for (const int count : max_within_) score += 0.25 * count / settings_.atoms;
        return score;
    }

private:
    /// Superpositions of this thread.
    struct Items {
        TmMotion motion[kTmItems];
        RoughMotion rough[kTmItems];
        int position[kTmItems];  ///< of its set of near atoms
        bool is_own[kTmItems];   ///< whether this thread keeps it
    };

    __device__ static int lane() { return static_cast<int>(threadIdx.x); }

    __device__ __forceinline__ void superpose_fragments(int first, Items& items) const {
#pragma unroll
        for (int h = 0; h < kTmItems; ++h) {
            const int item = lane() + h * kTmThreads;
            items.is_own[h] = first + item < settings_.starts;
            items.position[h] = sets_.end + item;
            const TmSums sums = sums_of_fragment(min(first + item, settings_.starts - 1));
            superpose(sums, items.motion[h], items.rough[h]);
        }
    }

    __device__ __forceinline__ TmSums sums_of_fragment(int start) const {
        int first = start, length = 0;
        for (int n = 0; n < settings_.lengths; ++n) {
            length = settings_.length[n];
            const int fragments = settings_.atoms - length + 1;
            if (first < fragments) break;
            first -= fragments;
        }
        TmSums sums;
        sums.count = length;
        const TmAtom* const from = pair_.atoms + first;
        for (int k = 0; k < length; ++k) sums.add(from[k]);
        return sums;
    }

    /// Superposes the sets of this round from `first` on, up to kTmBatch of them. Returns how many
    /// threads share one set.
    __device__ __forceinline__ int superpose_sets(int first, Items& items) const {
        const int count = min(sets_.count - first, kTmBatch);
        int lanes = 1;
        while (2 * lanes * count <= kTmBatch && lanes < kTmThreads) lanes *= 2;
        int position[kTmItems];
#pragma unroll
        for (int h = 0; h < kTmItems; ++h) {
            const int item = lane() / lanes + h * (kTmThreads / lanes);
            items.is_own[h] = item < count && lane() % lanes == 0;
            items.position[h] = sets_.end + item;
            position[h] = sets_.first + first + min(item, count - 1);
        }
        TmSums sums[kTmItems];
        add_sets(position, lanes, sums);
#pragma unroll
        for (int h = 0; h < kTmItems; ++h) {
            sums[h].join(lanes);
            const TmSums passed = sums[h];  // by address, which would take all from registers
            superpose(passed, items.motion[h], items.rough[h]);
        }
        return lanes;
    }

    /// This thread's share of the sums.
    __device__ __forceinline__ void add_sets(const int (&position)[kTmItems], int lanes,
                                             TmSums (&sums)[kTmItems]) const {
        int count[kTmItems] = {};
        for (int n = 0; n < sets_.words; ++n) {
            std::uint32_t word[kTmItems];
#pragma unroll
            for (int h = 0; h < kTmItems; ++h) word[h] = sets_.word(n, position[h]);
            const TmAtom* const from = pair_.atoms + 32 * n;
            const int atoms = min(settings_.atoms - 32 * n, 32);
            for (int k = lane() % lanes; k < atoms; k += lanes) {
                const TmAtom at = from[k];
#pragma unroll
                for (int h = 0; h < kTmItems; ++h) {
                    if ((word[h] >> k & 1) == 0) continue;
                    sums[h].add(at);
                    ++count[h];
                }
            }
        }
#pragma unroll
        for (int h = 0; h < kTmItems; ++h) sums[h].count = count[h];
    }

    /// Measures all atoms, and keeps new sets of atoms nearer than `limit`.
    __device__ __forceinline__ void measure(const Items& items, int lanes, double limit) {
        TmNear near[kTmItems];
        RoughScores rough[kTmItems];
        measure_roughly(items, lanes, limit, near, rough);
        const float window = rough_window(error_, limit);
#pragma unroll
        for (int h = 0; h < kTmItems; ++h) {
            rough[h].join(lanes);
            bool is_doubtful = items.is_own[h] && rough[h].margin <= window;
            bool is_rough = items.is_own[h];
            for (;;) {
                const bool is_wanted = is_doubtful || (is_rough && may_improve(rough[h]));
                // Starts with the best one, which may rule out others. Positive numbers are ordered
                // like their bits.
                const unsigned key = !is_wanted ? 0
                                     : kIsGdt   ? 1 + rough[h].within[0] + rough[h].within[1] +
                                                    rough[h].within[2] + rough[h].within[3]
                                              : 1 + __float_as_uint(rough[h].sum);
                const unsigned largest = __reduce_max_sync(kAllLanes, key);
                if (largest == 0) break;
                const unsigned having = __ballot_sync(kAllLanes, key == largest);
                const int chosen = __popc((having & (0u - having)) - 1);
                const TmNear exact =
                    measure_exactly(items.motion[h], items.position[h], chosen, limit);
                if (lane() != chosen) continue;
                near[h] = exact;
                is_doubtful = is_rough = false;
            }
            if (items.is_own[h] && near[h].count < 3 && settings_.atoms > 3)
                near[h] = take_three(items.motion[h], limit, items.position[h]);
        }
#pragma unroll
        for (int h = 0; h < kTmItems; ++h)
            sets_.insert(items.is_own[h] && near[h].count >= min(3, settings_.atoms),
                         items.position[h], near[h].hash);
    }

    __device__ __forceinline__ void measure_roughly(const Items& items, int lanes, double limit,
                                                    TmNear (&near)[kTmItems],
                                                    RoughScores (&rough)[kTmItems]) {
        const RoughMotion motion[kTmItems] = {items.rough[0], items.rough[1]};
        const auto max_square = static_cast<float>(limit * limit),
                   per_square = static_cast<float>(settings_.per_square);
        float may_be_within[4];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
            const double distance = 1 << n;
            may_be_within[n] =
                static_cast<float>(distance * distance) + rough_window(error_, distance);
        }
        for (int n = 0; n < sets_.words; ++n) {
            const int atoms = min(settings_.atoms - 32 * n, 32);
            std::uint32_t word[kTmItems] = {};
            float shares[kTmItems] = {};
#pragma unroll 4
            for (int k = lane() % lanes; k < atoms; k += lanes) {
                const RoughAtom at = pair_.rough(32 * n + k);
#pragma unroll
                for (int h = 0; h < kTmItems; ++h) {
                    const float square = motion[h].square(at);
                    if (square < max_square) word[h] |= 1u << k;
                    rough[h].margin = fminf(rough[h].margin, fabsf(square - max_square));
                    if constexpr (kIsGdt) {
#pragma unroll
                        for (int i = 0; i < 4; ++i)
                            rough[h].within[i] += square <= may_be_within[i];
                    } else {
                        shares[h] += pleat::cuda::rough_inverse(1.0f + square * per_square);
                    }
                }
            }
#pragma unroll
            for (int h = 0; h < kTmItems; ++h) {
                for (int apart = 1; apart < lanes; apart *= 2)
                    word[h] |= __shfl_xor_sync(kAllLanes, word[h], apart);
                rough[h].sum += shares[h];
                near[h].add(word[h]);
                if (items.is_own[h]) sets_.word(n, items.position[h]) = word[h];
            }
        }
    }

    /// Whether the exact score may be above the best so far.
    __device__ __forceinline__ bool may_improve(const RoughScores& rough) const {
        if constexpr (!kIsGdt) return rough.sum + sum_error_ > best_sum_;
        bool may = false;
        for (int n = 0; n < 4; ++n) may = may || rough.within[n] > max_within_[n];
        return may;
    }

    /// Measures all atoms by the motion of thread `chosen` in float64, each thread every 32nd, and
    /// keeps the best scores.
    __device__ TmNear measure_exactly(const TmMotion& own, int own_position, int chosen,
                                      double limit) {
        TmMotion motion;
        for (int n = 0; n < 9; ++n) motion.m[n] = __shfl_sync(kAllLanes, own.m[n], chosen);
        for (int a = 0; a < 3; ++a) motion.t[a] = __shfl_sync(kAllLanes, own.t[a], chosen);
        const int position = __shfl_sync(kAllLanes, own_position, chosen);
        TmNear near;
        double sum = 0.0;
        int within[4] = {};
        for (int n = 0; n < sets_.words; ++n) {
            const int k = 32 * n + lane();
            const bool is_atom = k < settings_.atoms;
            const double square = motion.square(pair_.atoms[min(k, settings_.atoms - 1)]);
            const std::uint32_t word = __ballot_sync(kAllLanes, is_atom && square < limit * limit);
            near.add(word);
            if (lane() == chosen) sets_.word(n, position) = word;
            if (!is_atom) continue;
            sum += 1.0 / (1.0 + square * settings_.per_square);
            for (int i = 0; i < 4; ++i) within[i] += square <= static_cast<double>(1 << 2 * i);
        }
        if constexpr (kIsGdt) {
            for (int i = 0; i < 4; ++i)
                max_within_[i] = max(max_within_[i], __reduce_add_sync(kAllLanes, within[i]));
        } else {
            for (int apart = 1; apart < kTmThreads; apart *= 2)
                sum += __shfl_xor_sync(kAllLanes, sum, apart);
            best_sum_ = max(best_sum_, sum);
        }
        return near;
    }

    /// Replaces a set with fewer than three near atoms: increases the limit in steps until it
    /// includes three.
    __device__ TmNear take_three(const TmMotion& motion, double limit, int position) const {
        constexpr double kStep = 0.5;
        constexpr double kFar = 1e300;
        double first = kFar, second = kFar, third = kFar;
        for (int k = 0; k < settings_.atoms; ++k) {
            const double square = motion.square(pair_.atoms[k]);
            if (square < first) {
                third = second, second = first, first = square;
            } else if (square < second) {
                third = second, second = square;
            } else if (square < third) {
                third = square;
            }
        }
        limit += kStep * (floor((sqrt(third) - limit) / kStep) + 1.0);
        // Ensures that rounding does not exclude the third atom.
        const long long limit_bits =
            max(__double_as_longlong(limit * limit), __double_as_longlong(third) + 1);
        TmNear near;
        for (int n = 0; n < sets_.words; ++n) {
            std::uint32_t word = 0;
            const int atoms = min(settings_.atoms - 32 * n, 32);
            for (int k = 0; k < atoms; ++k)
                if (__double_as_longlong(motion.square(pair_.atoms[32 * n + k])) < limit_bits)
                    word |= 1u << k;
            near.add(word);
            sets_.word(n, position) = word;
        }
        return near;
    }

    const TmSettings& settings_;
    const TmPairAtoms& pair_;
    TmSets& sets_;
    double error_;     ///< of a coordinate in float32
    float sum_error_;  ///< of a sum of shares in float32
    double best_sum_ = 0.0;
    int max_within_[4] = {};
};

}  // namespace pleat::rmsd::cuda
