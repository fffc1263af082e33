// Predicted domains: clusters of residues by their predicted aligned errors.
#include "pleat/workflows/refine/chain/predicted_domains.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "pleat/cluster/cluster.h"
#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/parse_json.h"

namespace pleat::refine {

namespace {

constexpr double kMinConfidence = 70;    // pLDDT
constexpr double kMaxError = 5;          // angstrom
constexpr std::size_t kMinBlock = 10;    // residues
constexpr double kSmallestError = 0.01;  // angstrom, of different residues

using Json = nlohmann::ordered_json;

struct Residue {
    std::size_t chain = 0, number = 0;  ///< of Molecules
    double confidence = 0;
};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& text) {
    throw InputError(file.string(), 0, text);
}

/// The error matrix of the file and, for AlphaFold 3, the JSON object that contains it.
struct ErrorMatrix {
    const Json* rows = nullptr;
    const Json* object = nullptr;
};

ErrorMatrix find_matrix(const Json& json, const std::filesystem::path& file) {
    const Json* object = json.is_array() && json.size() == 1 ? &json[0] : &json;
    if (object->is_object())
        for (const char* name : {"predicted_aligned_error", "pae"})
            if (const auto found = object->find(name); found != object->end() && found->is_array())
                return {&*found, object};
    refuse(file,
           "expected JSON with a matrix 'predicted_aligned_error' (AlphaFold DB) or 'pae' "
           "(ColabFold, AlphaFold 3), found none");
}

double error_at(const Json& rows, Index row, Index column, const std::filesystem::path& file) {
    const Json& value = rows[row][column];
    const double error = value.is_number() ? value.get<double>() : -1.0;
    if (!(error >= 0 && error < 1000))
        refuse(file, fmt::format("expected errors in angstrom, found {} in row {}, column {}",
                                 value.dump().substr(0, 20), row + 1, column + 1));
    return error;
}

std::vector<Residue> residues_of(const Molecules& molecules, const Topology& topology) {
    std::vector<Residue> residues;
    double largest = 0;
    bool is_confidence = true;
    for (std::size_t chain = 0; chain < molecules.chains.size(); ++chain)
        for (std::size_t n = 0; n < molecules.chains[chain].residues.size(); ++n) {
            const Index ca = molecules.chains[chain].residues[n].ca;
            const double value = topology.atoms[ca].b_factor;
            residues.push_back({chain, n, value});
            largest = std::max(largest, value);
            is_confidence = is_confidence && value >= 0 && value <= 100;
        }
    const std::string source = topology.source.string();
    if (residues.empty())
        throw InputError(source, 0, "expected a protein with CA atoms, found none");
    if (!is_confidence || largest <= 1)
        throw InputError(
            source, 0,
            fmt::format("expected pLDDT from 0 to 100 as B factors, found at most {}", largest));
    return residues;
}

/// The row of each residue. Tokens of AlphaFold 3 have chains and numbers; a modified residue has
/// one token per atom, and the first counts.
std::vector<Index> rows_of(const std::vector<Residue>& residues, const Molecules& molecules,
                           const Topology& topology, const ErrorMatrix& matrix,
                           const std::filesystem::path& file) {
    const auto count = static_cast<Index>(matrix.rows->size());
    for (const Json& row : *matrix.rows)
        if (!row.is_array() || static_cast<Index>(row.size()) != count)
            refuse(file, fmt::format("expected a square matrix of {} rows, found another", count));
    std::vector<Index> rows;
    const auto chains = matrix.object->find("token_chain_ids"),
               numbers = matrix.object->find("token_res_ids");
    if (chains == matrix.object->end() || numbers == matrix.object->end()) {
        if (count != static_cast<Index>(residues.size()))
            refuse(file, fmt::format("expected errors of the {} residues of {}, found {}",
                                     residues.size(), topology.source.string(), count));
        for (Index row = 0; row < count; ++row) rows.push_back(row);
        return rows;
    }
    if (!chains->is_array() || !numbers->is_array())
        refuse(file,
               fmt::format("expected lists of the tokens' chains and numbers, found {} and {}",
                           chains->type_name(), numbers->type_name()));
    if (static_cast<Index>(chains->size()) != count || static_cast<Index>(numbers->size()) != count)
        refuse(file, fmt::format("expected chain and number of {} tokens, found {} and {}", count,
                                 chains->size(), numbers->size()));
    std::map<std::pair<std::string, std::int64_t>, Index> tokens;
    for (Index row = 0; row < count; ++row) {
        const Json &chain = (*chains)[row], &number = (*numbers)[row];
        if (!chain.is_string() || !number.is_number_integer())
            refuse(file, fmt::format("expected chain and number of each token, found other values "
                                     "in token {}",
                                     row + 1));
        tokens.try_emplace({chain.get<std::string>(), number.get<std::int64_t>()}, row);
    }
    for (const Residue& residue : residues) {
        const PeptideChain& chain = molecules.chains[residue.chain];
        const auto& named = topology.residues[chain.residues[residue.number].residue];
        const auto found = tokens.find({chain.name, named.number});
        if (found == tokens.end())
            refuse(file, fmt::format("expected errors of all residues of {}, found none of {}",
                                     topology.source.string(), residue_label(named)));
        rows.push_back(found->second);
    }
    return rows;
}

/// [residue]: its cluster, -1 for residues of low confidence.
std::vector<int> cluster_residues(const std::vector<Residue>& residues,
                                  const std::vector<Index>& rows, const Json& errors,
                                  const std::filesystem::path& file, const Context& context) {
    std::vector<std::size_t> confident;
    for (std::size_t n = 0; n < residues.size(); ++n)
        if (residues[n].confidence >= kMinConfidence) confident.push_back(n);
    std::vector<int> clusters(residues.size(), -1);
    if (confident.size() < 2) return clusters;
    const auto count = static_cast<Index>(confident.size());
    Array<float, 1> distances(count * (count - 1) / 2);
    Index pair = 0;
    for (std::size_t i = 0; i < confident.size(); ++i)
        for (std::size_t j = i + 1; j < confident.size(); ++j) {
            const Index a = rows[confident[i]], b = rows[confident[j]];
            const double mean = (error_at(errors, a, b, file) + error_at(errors, b, a, file)) / 2;
            distances(pair++) = static_cast<float>(std::max(mean, kSmallestError));
        }
    cluster::Parameters parameters;
    parameters.method = cluster::Method::average;
    parameters.cutoff = cluster::CutoffRange::parse(fmt::format("{}", kMaxError), "pae");
    Context own = context;
    own.checkpoint.clear();
    const Index shape[] = {distances.extent(0)};
    const auto pairs = cluster::matrix_in_memory(distances.data(), shape, file.string());
    const cluster::Result result = cluster::run(*pairs, parameters, own);
    for (std::size_t n = 0; n < confident.size(); ++n)
        clusters[confident[n]] = result.clustering.assignment[n];
    return clusters;
}

/// Consecutive residues of a chain, both ends included.
struct Span {
    std::size_t chain = 0, first = 0, last = 0;
    std::set<int> clusters;
};

/// The spans from the first to the last block of each cluster in a chain; overlaps are merged.
std::vector<Span> rigid_spans(const std::vector<Residue>& residues,
                              const std::vector<int>& clusters) {
    std::map<std::pair<std::size_t, int>, Span> of_cluster;
    for (std::size_t n = 0; n < residues.size();) {
        std::size_t end = n + 1;
        while (end < residues.size() && residues[end].chain == residues[n].chain &&
               clusters[end] == clusters[n])
            ++end;
        if (clusters[n] >= 0 && end - n >= kMinBlock)
            of_cluster
                .try_emplace({residues[n].chain, clusters[n]},
                             Span{residues[n].chain, residues[n].number, 0, {clusters[n]}})
                .first->second.last = residues[end - 1].number;
        n = end;
    }
    std::vector<Span> all, spans;
    for (const auto& [key, span] : of_cluster) all.push_back(span);
    std::sort(all.begin(), all.end(), [](const Span& a, const Span& b) {
        return std::pair(a.chain, a.first) < std::pair(b.chain, b.first);
    });
    for (const Span& span : all) {
        if (spans.empty() || spans.back().chain != span.chain || spans.back().last < span.first) {
            spans.push_back(span);
            continue;
        }
        spans.back().last = std::max(spans.back().last, span.last);
        spans.back().clusters.insert(span.clusters.begin(), span.clusters.end());
    }
    return spans;
}

class Ranges {
public:
    Ranges(const Molecules& molecules, const Topology& topology)
        : molecules_(molecules), topology_(topology) {}
    ResidueRange range(std::size_t chain, std::size_t first, std::size_t last) const {
        const std::vector<PeptideResidue>& all = molecules_.chains[chain].residues;
        return range_of(topology_.residues[all[first].residue],
                        topology_.residues[all[last].residue]);
    }
    ResidueRange range(const Span& span) const { return range(span.chain, span.first, span.last); }

private:
    const Molecules& molecules_;
    const Topology& topology_;
};

/// Adds notes on residues that are rigid only because parts of their domain are on both sides.
void note_enclosed(const std::vector<Residue>& residues, const std::vector<int>& clusters,
                   const std::vector<Span>& spans, const Ranges& ranges, Notes& notes) {
    for (const Span& span : spans) {
        if (span.clusters.size() > 1)
            notes.push_back({NoteKind::molecules,
                             fmt::format("{} is one rigid domain: it has parts of {} domains, one "
                                         "between parts of another",
                                         ranges.range(span).text(), span.clusters.size())});
        const Residue* first = nullptr;
        for (std::size_t n = 0; n < residues.size(); ++n) {
            const Residue& residue = residues[n];
            if (residue.chain != span.chain || residue.number < span.first ||
                residue.number > span.last)
                continue;
            const bool is_loop = clusters[n] < 0;
            if (is_loop && first == nullptr) first = &residue;
            if (is_loop || first == nullptr) continue;
            notes.push_back(
                {NoteKind::molecules,
                 fmt::format("{} has pLDDT below 70 and stays rigid: {} is on both sides of it",
                             ranges.range(span.chain, first->number, residue.number - 1).text(),
                             ranges.range(span).text())});
            first = nullptr;
        }
    }
}

/// Groups spans of several chains that share a cluster, each with all spans connected to it.
std::vector<std::vector<ResidueRange>> groups_of(const std::vector<Span>& spans,
                                                 const Ranges& ranges) {
    std::vector<std::size_t> group(spans.size());
    for (std::size_t n = 0; n < spans.size(); ++n) {
        group[n] = n;
        for (std::size_t m = 0; m < n; ++m) {
            const bool has_common_cluster =
                std::any_of(spans[n].clusters.begin(), spans[n].clusters.end(),
                            [&](int cluster) { return spans[m].clusters.count(cluster) > 0; });
            if (!has_common_cluster) continue;
            const std::size_t from = group[n], to = group[m];
            std::replace(group.begin(), group.begin() + static_cast<std::ptrdiff_t>(n) + 1, from,
                         to);
        }
    }
    std::map<std::size_t, std::vector<ResidueRange>> members;
    for (std::size_t n = 0; n < spans.size(); ++n)
        members[group[n]].push_back(ranges.range(spans[n]));
    std::vector<std::vector<ResidueRange>> groups;
    for (auto& [number, all] : members)
        if (all.size() > 1) groups.push_back(std::move(all));
    return groups;
}

}  // namespace

std::string PredictedDomains::options() const {
    const auto option = [](const char* name, const std::string& value) {
        return fmt::format("--{} {}", name, value);
    };
    std::string together;
    for (const std::vector<ResidueRange>& group : groups)
        together += (together.empty() ? "" : "/") + text_of(group);
    return option("linkers", text_of(linkers)) +
           (together.empty() ? "" : " " + option("group", together));
}

PredictedDomains predicted_domains(const Topology& topology, const std::filesystem::path& file,
                                   const Context& context) {
    const Molecules molecules = find_molecules(topology);
    const std::vector<Residue> residues = residues_of(molecules, topology);
    const Json json = require_json(read_file(file), file);
    const ErrorMatrix matrix = find_matrix(json, file);
    const std::vector<Index> rows = rows_of(residues, molecules, topology, matrix, file);
    const std::vector<int> clusters = cluster_residues(residues, rows, *matrix.rows, file, context);
    const std::vector<Span> spans = rigid_spans(residues, clusters);
    const Ranges ranges(molecules, topology);
    if (spans.empty())
        refuse(file, fmt::format("expected {} or more consecutive residues with pLDDT of at least "
                                 "{} and a mean error of at most {} angstrom, found none",
                                 kMinBlock, kMinConfidence, kMaxError));
    PredictedDomains found;
    for (std::size_t chain = 0; chain < molecules.chains.size(); ++chain) {
        std::size_t next = 0;
        const std::size_t count = molecules.chains[chain].residues.size();
        for (const Span& span : spans) {
            if (span.chain != chain) continue;
            if (span.first > next)
                found.linkers.push_back(ranges.range(chain, next, span.first - 1));
            next = span.last + 1;
        }
        if (next < count) found.linkers.push_back(ranges.range(chain, next, count - 1));
    }
    if (found.linkers.empty())
        refuse(file,
               "expected linkers between rigid domains, found one rigid domain in each chain");
    found.groups = groups_of(spans, ranges);
    note_enclosed(residues, clusters, spans, ranges, found.notes);
    found.notes.push_back(
        {NoteKind::molecules,
         fmt::format("domains by --pae: {} (edit it if you know better)", found.options())});
    return found;
}

}  // namespace pleat::refine
