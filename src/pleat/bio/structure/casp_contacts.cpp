// CASP contacts: the sequence and the lines of pairs behind it, checked.
#include "pleat/bio/structure/casp_contacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <deque>
#include <utility>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr Index kMaxResidues = 100000;
constexpr Index kMaxPairs = 10'000'000;
constexpr std::size_t kMaxComplaints = 10;
constexpr Index kMaxLines = Index{1} << 30;

/// Packs a pair and its line number into 16 bytes, so a large invalid file takes little memory.
struct PairLine {
    PairLine(Index i, Index j, Index line, double of_pair)
        : code(static_cast<std::uint64_t>(i * kBase + j) * kMaxLines +
               static_cast<std::uint64_t>(line)),
          probability(of_pair) {}
    Index i() const { return pair() / kBase; }
    Index j() const { return pair() % kBase; }
    Index line() const { return static_cast<Index>(code % kMaxLines); }
    Index pair() const { return static_cast<Index>(code / kMaxLines); }

    static constexpr Index kBase = Index{1} << 17;
    static_assert(kMaxResidues < kBase && kBase * kBase <= (Index{1} << 34));
    std::uint64_t code;  // in the order of pairs, then lines
    double probability;
};

bool is_record(std::string_view word) {
    constexpr std::array kRecords = {"PFRMAT", "TARGET", "AUTHOR", "REMARK",
                                     "METHOD", "MODEL",  "RMODE"};
    return std::ranges::find(kRecords, word) != kRecords.end();
}

bool is_letters(std::string_view word) {
    return std::ranges::all_of(
        word, [](unsigned char c) { return std::isalpha(c) || c == '-' || c == '*'; });
}

/// Collects the sequence and pairs, and up to ten complaints.
class Reader {
public:
    explicit Reader(const std::string& file) : complaints_(file) { read_.source = file; }

    /// False at the end of the model.
    bool take(std::string_view line, Index number) {
        if (number >= kMaxLines)
            throw InputError(read_.source.string(), number,
                             fmt::format("expected at most {} lines, found more", kMaxLines));
        const std::vector<std::string_view> cells = words(line);
        if (cells.empty() || cells[0].starts_with('#')) return true;
        if (cells[0] == "END") return false;
        if (is_record(cells[0])) return true;
        if (cells.size() == 1 && is_letters(cells[0]))
            take_letters(cells[0], number);
        else
            take_pair(line, cells, number);
        return true;
    }

    PredictedContacts finish(Index last_line) {
        complain_of_repeated_pairs();
        complaints_.throw_if_any();
        if (read_.sequence.empty())
            complaints_.add(last_line,
                            "expected the target's sequence before the pairs, found none");
        else if (pairs_.empty())
            complaints_.add(last_line, "expected pairs 'i j 0 8 probability', found none");
        complaints_.throw_if_any();
        std::ranges::sort(pairs_, [](const PairLine& a, const PairLine& b) {
            return a.probability != b.probability ? a.probability > b.probability
                                                  : a.line() < b.line();
        });
        read_.pairs.reserve(pairs_.size());
        for (const PairLine& pair : pairs_)
            read_.pairs.push_back({pair.i() - 1, pair.j() - 1, pair.probability});
        return std::move(read_);
    }

private:
    void take_letters(std::string_view letters, Index number) {
        if (!pairs_.empty())
            return complaints_.add(number,
                                   fmt::format("expected a pair, found {}", in_quotes(letters)));
        read_.sequence += in_upper_case(letters);
        if (std::ssize(read_.sequence) > kMaxResidues)
            throw InputError(read_.source.string(), number,
                             fmt::format("expected at most {} residues, found more", kMaxResidues));
    }

    void take_pair(std::string_view line, const std::vector<std::string_view>& cells,
                   Index number) {
        PredictedContact pair;
        const bool is_pair = (cells.size() == 5 || cells.size() == 3) &&
                             parse_number(cells[0], pair.i) && parse_number(cells[1], pair.j) &&
                             parse_number(cells.back(), pair.probability);
        if (!is_pair)
            return complaints_.add(
                number, fmt::format("expected 'i j 0 8 probability', found {}", in_quotes(line)));
        const auto length = std::ssize(read_.sequence);
        if (pair.i > pair.j) std::swap(pair.i, pair.j);
        if (pair.i < 1 || pair.j > length || pair.i == pair.j)
            return complaints_.add(number,
                                   fmt::format("expected two residues from 1 to {}, found {} "
                                               "and {}",
                                               length, cells[0], cells[1]));
        if (!(pair.probability >= 0 && pair.probability <= 1))
            return complaints_.add(number,
                                   fmt::format("expected a probability from 0 to 1, found {}",
                                               in_quotes(cells.back())));
        if (std::ssize(pairs_) == kMaxPairs)
            throw InputError(read_.source.string(), number,
                             fmt::format("expected at most {} pairs, found more", kMaxPairs));
        pairs_.emplace_back(pair.i, pair.j, number, pair.probability);
    }

    void complain_of_repeated_pairs() {
        std::ranges::sort(pairs_,
                          [](const PairLine& a, const PairLine& b) { return a.code < b.code; });
        std::vector<PairLine> repeated;
        const auto by_line = [](const PairLine& a, const PairLine& b) {
            return a.line() < b.line();
        };
        for (std::size_t n = 1; n < pairs_.size(); ++n) {
            if (pairs_[n].pair() != pairs_[n - 1].pair()) continue;
            repeated.push_back(pairs_[n]);
            std::push_heap(repeated.begin(), repeated.end(), by_line);
            if (repeated.size() <= kMaxComplaints) continue;
            std::pop_heap(repeated.begin(), repeated.end(), by_line);
            repeated.pop_back();
        }
        std::ranges::sort(repeated, by_line);
        for (const PairLine& pair : repeated) {
            complaints_.add(
                pair.line(),
                fmt::format("expected each pair once, found {} and {} again", pair.i(), pair.j()));
        }
    }

    PredictedContacts read_;
    Complaints complaints_;
    std::deque<PairLine> pairs_;  // residues from 1; without the copies of a vector that grows
};

}  // namespace

PredictedContacts read_casp_contacts(ByteSource& source) {
    Reader reader(source.name());
    std::string_view line;
    while (source.next(line) && reader.take(line, source.line())) {
    }
    return reader.finish(source.line());
}

PredictedContacts read_casp_contacts(const std::filesystem::path& path) {
    constexpr Index kMaxBytes = Index{1} << 30;  // a line of 40 bytes for each pair
    ByteSource source(path, kMaxBytes);
    return read_casp_contacts(source);
}

}  // namespace pleat
