// Fuzzer of the reader of tables of mutants: any bytes give rows that come back as they were, or an
// InputError, nothing else.
#include <cmath>
#include <vector>

#include "harness.h"
#include "pleat/workflows/mutants/mutant_table.h"
#include "pleat/workflows/mutants/output.h"
#include "pleat/workflows/mutants/predictor.h"

namespace {

namespace mutants = pleat::mutants;

void check_rows(const mutants::MutantTable& table) {
    std::vector<mutants::Substitution> substitutions;
    for (const mutants::MutantRow& row : table.rows) {
        if (!mutants::parse_mutant(row.mutant, substitutions)) continue;
        for (const mutants::Substitution& one : substitutions)
            fuzz::require(one.wild_type >= 'A' && one.wild_type <= 'Z');
    }
    fuzz::require(table.numbers.size() == table.number_names.size());
    for (const std::vector<double>& column : table.numbers) {
        fuzz::require(column.size() == table.rows.size());
        for (const double value : column) fuzz::require(std::isnan(value) || std::isfinite(value));
    }
    (void)mutants::listed_letters(table);
}

/// The rows behind one another are the file, and each begins a row of the table with predictions.
void check_text(const mutants::MutantTable& table, std::string_view bytes) {
    std::string whole(table.bytes.data(), table.header.data());
    whole += table.header;
    whole += table.header_end;
    for (const mutants::MutantRow& row : table.rows) {
        whole += row.text;
        whole += row.line_end;
    }
    fuzz::require(whole == bytes);
    const std::vector<mutants::Listed> listed(table.rows.size());
    std::string written;
    for (const std::string& piece : mutants::listed_table(table, listed, 1)) written += piece;
    std::string_view left = written;
    for (const mutants::MutantRow& row : table.rows) {
        const std::size_t at = left.find(row.text);
        fuzz::require(at != std::string_view::npos);
        left.remove_prefix(at + row.text.size());
    }
}

}  // namespace

/// The first byte is left out, as seeds have one before the file; there is nothing to choose.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
    (void)mutants::is_mutant_table(bytes);
    try {
        const mutants::MutantTable table = mutants::parse_mutant_table("fuzz", std::string(bytes));
        check_rows(table);
        check_text(table, bytes);
    } catch (const pleat::InputError& error) {
        fuzz::require_refusal(error);
    }
    return 0;
}
