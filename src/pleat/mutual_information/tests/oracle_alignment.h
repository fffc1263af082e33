// The oracle of mutual information: its alignments, with X as a letter of its own, and its numbers.
#pragma once

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/array.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/mutual_information/count/columns.h"

namespace pleat::mutual_information::test {

/// The file NAME.ENDING of the oracle, whether or not it is there.
inline std::filesystem::path oracle_file(const std::string& name, const std::string& ending) {
    return pleat::test::shared_folder() / "oracle" / "mutual_information" / (name + "." + ending);
}

/// Where the alignment stands: plain or compressed; empty when it is absent.
inline std::filesystem::path oracle_alignment_file(const std::string& name) {
    for (const char* ending : {"fasta", "fasta.gz"}) {
        auto file = oracle_file(name, ending);
        if (std::filesystem::exists(file)) return file;
    }
    return {};
}

inline bool oracle_is_present(const std::string& name) {
    return !oracle_alignment_file(name).empty();
}

/// Letter codes below 32 of an alignment, [sequence, column]: gap is 0, and A to Z are 1 to 26, so
/// that X keeps a code of its own. Upper and lower case are the same letter, and U is T.
inline Array<std::uint8_t, 2> read_letters(const std::filesystem::path& path) {
    std::vector<std::string> rows;
    ByteSource source(path);
    std::string_view line;
    while (source.next(line)) {
        if (line.empty()) continue;
        if (line[0] == '>') {
            rows.emplace_back();
            continue;
        }
        rows.back() += line;
    }
    const Index row_count = static_cast<Index>(rows.size());
    const Index columns = row_count == 0 ? 0 : static_cast<Index>(rows[0].size());
    Array<std::uint8_t, 2> letters(row_count, columns);
    for (Index row = 0; row < row_count; ++row) {
        for (Index column = 0; column < columns; ++column) {
            const int letter = std::toupper(static_cast<unsigned char>(rows[row].at(column)));
            if (letter < 'A' || letter > 'Z') continue;
            letters(row, column) =
                static_cast<std::uint8_t>((letter == 'U' ? 'T' : letter) - 'A' + 1);
        }
    }
    return letters;
}

inline Array<std::uint8_t, 2> oracle_letters(const std::string& name) {
    return read_letters(oracle_alignment_file(name));
}

inline Columns oracle_columns(const std::string& name) { return compact(oracle_letters(name)); }

/// The numbers of NAME.WHAT.npy ("E2", "V2", "MI2", "E3", "V3", "MI3"), in the oracle's order.
inline std::vector<double> oracle_numbers(const std::string& name, const std::string& what) {
    return read_npy(oracle_file(name, what + ".npy")).as<double>(what);
}

}  // namespace pleat::mutual_information::test
