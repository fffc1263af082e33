// Reference answers of mutual information: alignments, with X as a letter of its own, and numbers.
#pragma once

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/array.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/mutual_information/count/columns.h"

namespace pleat::mutual_information::test {

/// The reference alignments of data/oracles, which every clone has.
inline constexpr const char* kCommittedOracles[] = {"made24x8", "trna60x20", "trna120x24",
                                                    "trypsin90x12"};

inline std::filesystem::path shared_oracles() {
    return pleat::test::shared_folder() / "oracle" / "mutual_information";
}

inline std::filesystem::path committed_oracle(const std::string& name, const std::string& ending) {
    return pleat::test::committed_oracles("mutual_information") / (name + "." + ending);
}

inline bool is_committed(const std::string& name) {
    return std::filesystem::exists(committed_oracle(name, "npz"));
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

/// The alignment of that name, of data/oracles or of ../shared, there plain or compressed.
inline Array<std::uint8_t, 2> oracle_letters(const std::string& name) {
    if (is_committed(name)) return read_letters(committed_oracle(name, "fasta"));
    const std::filesystem::path plain = shared_oracles() / (name + ".fasta");
    if (std::filesystem::exists(plain)) return read_letters(plain);
    return read_letters(plain.string() + ".gz");
}

inline CodedColumns oracle_columns(const std::string& name) {
    return compact_columns(oracle_letters(name));
}

/// The numbers `what` ("E2", "V2", "MI2", "E3", "V3", "MI3"): of all pairs or triples in row order.
inline std::vector<double> oracle_numbers(const std::string& name, const std::string& what) {
    const NpyArray array = is_committed(name)
                               ? NpzReader(committed_oracle(name, "npz")).get(what)
                               : read_npy(shared_oracles() / (name + "." + what + ".npy"));
    return array.as<double>(what);
}

/// A pair whose tables were all enumerated: the probabilities of a smaller, an equal and a larger
/// MI than the observed one, and the number of its different values.
struct EnumeratedPair {
    Index i = 0, j = 0;
    double p_less = 0, p_equal = 0, p_greater = 0;
    Index atoms = 0;
};

inline std::vector<EnumeratedPair> enumerated_pairs(const std::string& name) {
    std::vector<EnumeratedPair> found;
    if (is_committed(name)) {
        const NpzReader oracle(committed_oracle(name, "npz"));
        const auto pairs = oracle.get("tail_pairs").as<Index>("tail_pairs");
        const auto tails = oracle.get("tails").as<double>("tails");
        const auto atoms = oracle.get("tail_atoms").as<Index>("tail_atoms");
        for (std::size_t n = 0; n < atoms.size(); ++n)
            found.push_back({pairs[2 * n], pairs[2 * n + 1], tails[3 * n], tails[3 * n + 1],
                             tails[3 * n + 2], atoms[n]});
        return found;
    }
    std::ifstream stream(shared_oracles() / (name + ".exact_pairs.json"));
    for (const auto& pair : nlohmann::json::parse(stream))
        found.push_back({pair["i"], pair["j"], pair["p_less"], pair["p_equal"], pair["p_greater"],
                         pair["atoms"]});
    return found;
}

}  // namespace pleat::mutual_information::test
