// Written trajectories: small binary files made by the tests, by hand and not by what is tested.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pleat::testing {

/// Appends numbers in one byte order.
struct Bytes {
    bool big = true;
    std::string text;

    template <class T>
    Bytes& put(T value) {
        char raw[sizeof(T)];
        std::memcpy(raw, &value, sizeof(T));
        for (std::size_t i = 0; i < sizeof(T); ++i) text += raw[big ? sizeof(T) - 1 - i : i];
        return *this;
    }
    Bytes& integer(std::int64_t value) { return put(static_cast<std::int32_t>(value)); }
    Bytes& word(std::string_view letters) {  // as XDR and NetCDF do: length, letters, padding
        integer(static_cast<std::int64_t>(letters.size()));
        text += letters;
        while (text.size() % 4 != 0) text += '\0';
        return *this;
    }
};

/// Coordinate of frame f, axis a and atom i, different for each, exact in every format.
inline float place(int f, int a, int i) { return static_cast<float>(100 * f + 10 * a + i) * 0.25f; }

struct DcdShape {
    bool big = false;
    int marker = 4;
    int atoms = 3, frames = 2, announced = 2;
    bool cell = false, fourth = false, charmm = true;
    int fixed = 0;  // the first atoms
};

inline std::string dcd_file(const DcdShape& shape) {
    Bytes file{shape.big, {}};
    const auto mark = [&](std::size_t n) {
        if (shape.marker == 8) {
            file.put(static_cast<std::uint64_t>(n));
        } else {
            file.put(static_cast<std::uint32_t>(n));
        }
    };
    const auto record = [&](const Bytes& inside) {
        mark(inside.text.size());
        file.text += inside.text;
        mark(inside.text.size());
    };
    Bytes header{shape.big, "CORD"};
    for (int i = 0; i < 20; ++i) {
        header.integer(i == 0                    ? shape.announced
                       : i == 8                  ? shape.fixed
                       : i == 10 && shape.cell   ? 1
                       : i == 11 && shape.fourth ? 1
                       : i == 19 && shape.charmm ? 24
                                                 : 0);
    }
    record(header);
    Bytes titles{shape.big, {}};
    titles.integer(1).text += std::string(80, '*');
    record(titles);
    record(Bytes{shape.big, {}}.integer(shape.atoms));
    if (shape.fixed > 0) {
        Bytes free{shape.big, {}};
        for (int i = shape.fixed; i < shape.atoms; ++i) free.integer(i + 1);
        record(free);
    }
    for (int f = 0; f < shape.frames; ++f) {
        if (shape.cell) record(Bytes{shape.big, std::string(48, '\1')});
        for (int a = 0; a < (shape.fourth ? 4 : 3); ++a) {
            Bytes axis{shape.big, {}};
            for (int i = f > 0 ? shape.fixed : 0; i < shape.atoms; ++i) axis.put(place(f, a, i));
            record(axis);
        }
    }
    return file.text;
}

/// Bits from the most significant one of each byte on.
struct Bits {
    std::string text;
    int used = 8;
    void put(std::uint64_t value, int count) {
        while (count-- > 0) {
            if (used == 8) {
                text += '\0';
                used = 0;
            }
            const auto bit = static_cast<char>((value >> count & 1) << (7 - used));
            text.back() = static_cast<char>(text.back() | bit);
            ++used;
        }
    }
    /// Three numbers below `ranges` as one number, its bytes from the least significant one on.
    void mixed(const std::array<std::uint64_t, 3>& v, const std::array<std::uint64_t, 3>& ranges,
               int count) {
        std::uint64_t number = (v[0] * ranges[1] + v[1]) * ranges[2] + v[2];
        for (; count > 8; count -= 8, number >>= 8) put(number & 255, 8);
        put(number, count);
    }
};

/// The header of an XTC frame up to its coordinates.
inline Bytes xtc_start(int atoms, int magic) {
    Bytes frame;
    frame.integer(magic).integer(atoms).integer(7).put(0.5f);
    for (int i = 0; i < 9; ++i) frame.put(0.f);
    frame.integer(atoms);
    return frame;
}

/// Coordinates of the packed frame below in thousandths of a nanometre.
inline std::array<int, 3> packed_place(int i) { return {10 * i - 40, 500 - 3 * i, i % 3}; }

/// Twelve atoms: a run of three, an atom alone, a run of one, and then the same length again.
inline std::string xtc_packed_frame(int magic) {
    constexpr std::uint64_t kExtent = 1000;  // of each axis; three of them in 30 bits
    constexpr int kMin = -400, kSmall = 20, kRange = 101;
    Bits bits;
    const auto full = [&](int i) {
        const auto p = packed_place(i);
        std::array<std::uint64_t, 3> v;
        for (std::size_t a = 0; a < 3; ++a) v[a] = static_cast<std::uint64_t>(p[a] - kMin);
        bits.mixed(v, {kExtent, kExtent, kExtent}, 30);
    };
    const auto small = [&](int i, int before) {
        const auto p = packed_place(i), q = packed_place(before);
        std::array<std::uint64_t, 3> v;
        for (std::size_t a = 0; a < 3; ++a) {
            v[a] = static_cast<std::uint64_t>(std::int64_t{p[a]} - q[a] + kRange / 2);
        }
        bits.mixed(v, {kRange, kRange, kRange}, kSmall);
    };
    const auto group = [&](int first, int run, bool changed) {
        full(run > 0 ? first + 1 : first);
        bits.put(changed, 1);
        if (changed) bits.put(static_cast<std::uint64_t>(std::int64_t{3} * run + 1), 5);
        for (int k = 0; k < run; ++k) {
            if (k == 0) {
                small(first, first + 1);
            } else {
                small(first + k + 1, k == 1 ? first : first + k);
            }
        }
    };
    group(0, 3, true);
    group(4, 0, true);
    group(5, 1, true);
    group(7, 1, false);
    group(9, 0, true);
    group(10, 0, false);
    group(11, 0, false);
    Bytes frame = xtc_start(12, magic);
    frame.put(1000.f);
    for (int a = 0; a < 3; ++a) frame.integer(kMin);
    for (int a = 0; a < 3; ++a) frame.integer(kMin + static_cast<int>(kExtent) - 1);
    frame.integer(kSmall);
    if (magic == 2023) {
        frame.put(static_cast<std::int64_t>(bits.text.size()));
    } else {
        frame.integer(static_cast<std::int64_t>(bits.text.size()));
    }
    frame.text += bits.text;
    while (frame.text.size() % 4 != 0) frame.text += '\0';
    return frame.text;
}

/// Up to nine atoms are floats, in nanometre.
inline std::string xtc_plain_frame(int f, int atoms) {
    Bytes frame = xtc_start(atoms, 1995);
    for (int i = 0; i < atoms; ++i) {
        for (int a = 0; a < 3; ++a) frame.put(place(f, a, i) / 10);
    }
    return frame.text;
}

template <class Real>
std::string trr_frame(int f, int atoms, bool places, bool speeds) {
    constexpr int kWidth = sizeof(Real);
    Bytes frame;
    frame.integer(1993).integer(13).word("GMX_trn_file");
    const int three = 3 * atoms * kWidth;
    for (const int size :
         {0, 0, 9 * kWidth, 0, 0, 0, 0, places ? three : 0, speeds ? three : 0, 0}) {
        frame.integer(size);
    }
    frame.integer(atoms).integer(f).integer(0).put(static_cast<Real>(f) / 4).put(Real(0));
    for (int i = 0; i < 9; ++i) frame.put(Real(i % 4 == 0 ? 5 : 0));
    for (int i = 0; places && i < 3 * atoms; ++i)
        frame.put(static_cast<Real>(place(f, i % 3, i / 3)) / 10);
    for (int i = 0; speeds && i < 3 * atoms; ++i) frame.put(Real(99));
    return frame.text;
}

/// An AMBER trajectory with a time in front of the coordinates of each frame.
inline std::string netcdf_file(int version, int atoms, int frames, std::int64_t announced,
                               std::string_view convention = "AMBER") {
    Bytes file;
    file.text = std::string("CDF") + static_cast<char>(version);
    const auto count = [&](std::int64_t n) {
        if (version == 5) {
            file.put(n);
        } else {
            file.integer(n);
        }
    };
    const auto word = [&](std::string_view letters) {
        count(static_cast<std::int64_t>(letters.size()));
        file.text += letters;
        while (file.text.size() % 4 != 0) file.text += '\0';
    };
    std::size_t begin = 0;  // found by writing the header twice
    for (int pass = 0; pass < 2; ++pass) {
        file.text.resize(4);
        const auto offset = [&](std::size_t at) {
            if (version == 1) {
                file.integer(static_cast<std::int64_t>(at));
            } else {
                file.put(static_cast<std::int64_t>(at));
            }
        };
        count(announced);
        file.integer(10);
        count(3);
        word("frame"), count(0), word("spatial"), count(3), word("atom"), count(atoms);
        file.integer(12);
        count(1);
        word("Conventions"), file.integer(2), word(convention);
        file.integer(11);
        count(2);
        word("time"), count(1), count(0), file.integer(0), count(0), file.integer(5), count(4);
        offset(begin);
        word("coordinates"), count(3), count(0), count(2), count(1), file.integer(12), count(1);
        word("units"), file.integer(2), word("angstrom"), file.integer(5), count(12 * atoms);
        offset(begin + 4);
        begin = file.text.size();
    }
    for (int f = 0; f < frames; ++f) {
        file.put(static_cast<float>(f));
        for (int i = 0; i < 3 * atoms; ++i) file.put(place(f, i % 3, i / 3));
    }
    return file.text;
}

}  // namespace pleat::testing
