// Broken inputs: alignment files that must be refused, each with the exact text of the refusal.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "packed.h"

namespace pleat::testing {

/// A file that must be refused with "NAME:" + `complaint`, where NAME is the file as it was named.
struct BrokenInput {
    std::string name;           ///< a file name; says what is broken
    std::string bytes;          ///< the file's content
    std::string complaint;      ///< what follows the file's name and a colon, in each of its lines
    std::string format = {};    ///< as in ReadOptions
    std::string alphabet = {};  ///< as in ReadOptions

    /// The whole text of the refusal when the file is called `file`.
    std::string refusal(const std::string& file) const {
        std::string text = file + ":";
        for (char c : complaint) {
            text += c;
            if (c == '\n') text += file + ":";
        }
        return text;
    }
};

/// A sound alignment of 3 sequences and 12 columns to break, and its lines repeated.
inline std::string sound_fasta() {
    return ">a\nACDEFGHIKLMN\n>b\nACDEFGHIKLMW\n>c\nACDEFGHIKL-Y\n";
}

inline std::string repeated(std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

/// UTF-16 little endian, without a byte order mark.
inline std::string utf16(std::string_view text) {
    std::string wide;
    for (char c : text) {
        wide += c;
        wide += '\0';
    }
    return wide;
}

/// Pseudo-random residues: text that does not compress away.
inline std::string residues(std::size_t count) {
    std::string text;
    unsigned state = 12345;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 1664525u + 1013904223u;
        text += "ARNDCQEGHILKMFPSTWYV"[(state >> 16) % 20];
    }
    return text;
}

inline std::string with_byte(std::string text, std::size_t at, char value) {
    text[at] = value;
    return text;
}

/// Not an alignment, or not text.
inline std::vector<BrokenInput> broken_content() {
    using namespace std::string_literals;
    return {
        {"empty.fasta", "", "1: expected an alignment, found an empty file"},
        {"blank_lines.aln", "\n \n\t\n\n", "4: expected an alignment, found no line with content"},
        {"comments_only.a3m", "#one\n#two\n",
         "2: expected an alignment, found no line with content"},
        {"only_mark.txt", "\xef\xbb\xbf", "1: expected an alignment, found an empty file"},
        {"prose.txt", "Dear reader,\nthis is no alignment.\n",
         "1: expected an alignment (FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or PSICOV .aln), "
         "found 'Dear reader,'"},
        {"page.html", "<!DOCTYPE html>\n<html></html>\n",
         "1: expected an alignment (FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or PSICOV .aln), "
         "found '<!DOCTYPE html>'"},
        {"cut_short.phy", " 3 12\na ACDEFGHIKLMN\n",
         "1: expected 3 sequences of 12 letters, interleaved or one after another, found 1 lines "
         "that are not; the first is 'a ACDEFGHIKLMN'"},
        {"binary.aln",
         "\x7f"
         "ELF\x02\x01\x01\x00\x00"s,
         "1: expected text, found a NUL byte (binary data or UTF-16)"},
        {"bytes.aln", "\x80\x81\x1b[31m\x82\n",
         "1: expected an alignment (FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or PSICOV .aln), "
         "found '???[31m?'"},
        {"nul_inside.fasta", ">a\nACD\0EF\n>b\nACDEF\n"s,
         "2: expected text, found a NUL byte (binary data or UTF-16)"},
        {"utf16_mark.fasta", "\xff\xfe" + utf16(sound_fasta()),
         "1: expected ASCII or UTF-8 text, found UTF-16"},
        {"utf16_big.fasta", "\xfe\xff\0>\0a"s, "1: expected ASCII or UTF-8 text, found UTF-16"},
        {"utf16_bare.fasta", utf16(sound_fasta()),
         "1: expected text, found a NUL byte (binary data or UTF-16)"},
        {"packed.bz2", "BZh91AY&SY\x01\x02\x03",
         "1: expected text, gzip or Zstandard, found bzip2 data: unpack it first"},
        {"packed.xz",
         "\xfd"
         "7zXZ\0\0\0"s,
         "1: expected text, gzip or Zstandard, found xz data: unpack it first"},
        {"packed.zip", "PK\x03\x04\x14\0\0\0\0\0\0\0"s,
         "1: expected text, gzip or Zstandard, found zip data: unpack it first"},
        {"utf8_letter.fasta",
         ">a\nACDEF\n>b\nAC\xc3\x84"
         "EF\n",
         "4: expected letters and gaps, found byte 0xc3 in sequence 'b'"},
        {"digits.fasta", ">a\nACDEFG\n>b\n1 ACDEFG 6\n",
         "4: expected letters and gaps, found '1' in sequence 'b'"},
        {"at.aln", "ACDEF\nAC@EF\n", "2: expected letters and gaps, found '@' in sequence 2"},
    };
}

/// FASTA, A2M, A3M and PSICOV with wrong rows.
inline std::vector<BrokenInput> broken_rows() {
    return {
        {"ragged.fasta", ">a\nACDEFGHIKL\n>b\nACDEFGHIK\n>c\nACDEFGHIKL\n",
         "3: expected 10 aligned columns as in the first sequence, found 9 in sequence 'b'"},
        {"ragged_wrapped.fasta", ">a\nACDEF\nGHIKL\n>b\nACDEF\nGHIK\n",
         "4: expected 10 aligned columns as in the first sequence, found 9 in sequence 'b'"},
        {"ragged.aln", "ACDEFGHIKL\nACDEFGHIKLM\n",
         "2: expected 10 aligned columns as in the first sequence, found 11 in sequence 2"},
        {"ragged.a3m", ">a\nACDEFGHIKL\n>b\nACDEFghGHIKL\n>c\nACDEFGHIK\n",
         "5: expected 10 match columns (upper case and '-') as in the first sequence, found 9 in "
         "sequence 'c'"},
        {"ragged_three.aln", "ACDEF\nACDE\nACDEF\nACD\nAC\n",
         "2: expected 5 aligned columns as in the first sequence, found 4 in sequence 2\n4: "
         "expected 5 aligned columns as in the first sequence, found 3 in sequence 4\n5: expected "
         "5 aligned columns as in the first sequence, found 2 in sequence 5"},
        {"million_and_short.aln", residues(1000000) + "\nACDEF\n",
         "2: expected 1000000 aligned columns as in the first sequence, found 5 in sequence 2"},
        {"million_alone.fasta", ">a\n" + residues(1000000) + "\n",
         "1: expected at least 2 sequences, found 1"},
        {"lone_return.fasta", ">a\rACDEF\r>b\rACDE\r",
         "3: expected 5 aligned columns as in the first sequence, found 4 in sequence 'b'"},
        {"one_sequence.fasta", ">a\nACDEFGHIKL\n", "1: expected at least 2 sequences, found 1"},
        {"one_sequence.aln", "\n\nACDEFGHIKL\n", "3: expected at least 2 sequences, found 1"},
        {"one_column.fasta", ">a\nA\n>b\nE\n", "2: expected at least 2 aligned columns, found 1"},
        {"one_match_column.a3m", ">a\nAe\n>b\nE\n",
         "2: expected at least 2 match columns (upper case and '-'), found 1", "a3m"},
        {"no_match_column.a2m", ">a\nac\n>b\nde\n",
         "2: expected at least 2 match columns (upper case and '-'), found 0", "a2m"},
        {"gaps_only.fasta", ">a\n-----\n>b\n-----\n",
         "1: expected protein letters, found gaps only"},
        {"unknown_only.aln", "XXXX\nXXBZ\n", "1: expected protein letters, found gaps only"},
        {"header_only.fasta", ">a\n", "1: expected letters after the name 'a', found none"},
        {"headers_only.fasta", ">a\n>b\n",
         "1: expected letters after the name 'a', found none\n2: expected letters after the name "
         "'b', found none"},
        {"last_header_only.fasta", ">a\nACDEF\n>b\n",
         "3: expected letters after the name 'b', found none"},
        {"empty_record.fasta", ">a\nACDEF\n>b\n>c\nACDEF\n",
         "3: expected letters after the name 'b', found none"},
        {"text_before.fasta", "my family\n>a\nACDEF\n>b\nACDEW\n",
         "1: expected an alignment (FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or PSICOV .aln), "
         "found 'my family'"},
        {"annotation_only.a3m", ">ss_pred\nCCCHHH\n>ss_conf\n123456\n",
         "4: expected sequences, found none"},
        {"fits_both.fasta", ">a\nACdEF\n>b\nAcDEF\n",
         "1: expected letters of FASTA or of A3M, found rows that fit both (equal length, "
         "equal count of upper case and '-'): name the format, or give --insertions"},
        {"names_in_rows.aln", "ACDEFG\nb ACDEFG\n",
         "2: expected letters and gaps, found a blank in sequence 2"},
        {"fasta_in_rows.aln", "ACDEFG\n>b\nACDEFG\n",
         "2: expected letters and gaps, found '>' in sequence 2"},
    };
}

/// Stockholm and CLUSTAL.
inline std::vector<BrokenInput> broken_blocks() {
    using namespace std::string_literals;
    const std::string head = "# STOCKHOLM 1.0\n";
    const std::string clustal = "CLUSTAL W (1.83) multiple sequence alignment\n\n";
    return {
        {"header_only.sto", head,
         "1: expected '//' at the end of the alignment, found the end of the file (cut short)"},
        {"no_sequences.sto", head + "//\n", "2: expected sequences, found none"},
        {"no_end.sto", head + "a ACDEF\nb ACDEW\n",
         "3: expected '//' at the end of the alignment, found the end of the file (cut short)"},
        {"no_header.sto", "a ACDEF\nb ACDEW\n//\n",
         "1: expected '# STOCKHOLM 1.0', found 'a ACDEF'", "stockholm"},
        {"unknown_table.txt", "a ACDEF\nb ACDEW\n//\n",
         "1: expected an alignment (FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or PSICOV .aln), "
         "found rows of a name and letters without a header (SELEX, Pfam, PSI-BLAST); between "
         "lines "
         "'# STOCKHOLM 1.0' and '//' they can be read"},
        {"name_only.sto", head + "a ACDEF\nb\n//\n",
         "3: expected a name and its letters, found 1 word: 'b'"},
        {"three_words.sto", head + "a ACDEF\nb ACD EF\n//\n",
         "3: expected a name and its letters, found 3 words: 'b ACD EF'"},
        {"ragged.sto", head + "a ACDEF\nb ACDE\n//\n",
         "3: expected 5 columns as in the first sequence of the block, found 4 in sequence 'b'"},
        {"ragged_second_block.sto", head + "a ACDEF\nb ACDEW\n\na GHI\nb GHIK\n//\n",
         "6: expected 3 columns as in the first sequence of the block, found 4 in sequence 'b'"},
        {"duplicate.sto", head + "a ACDEF\nb ACDEW\na ACDEY\n//\n",
         "4: expected each name once in a block, found 'a' again"},
        {"block_other_name.sto", head + "a ACDEF\nb ACDEW\n\na GHI\nc GHI\n//\n",
         "6: expected sequence 'b' as in the first block, found 'c'"},
        {"block_missing.sto", head + "a ACDEF\nb ACDEW\n\na GHI\n//\n",
         "6: expected 2 sequences in each block as in the first, found 1"},
        {"block_more.sto", head + "a ACDEF\nb ACDEW\n\na GHI\nb GHI\nc GHI\n//\n",
         "7: expected 2 sequences in each block as in the first, found one more, 'c'"},
        {"text_after_the_end.sto", head + "a ACDEF\nb ACDEW\n//\nc ACDEY\n",
         "5: expected the end of the file after '//', or '# STOCKHOLM 1.0', found 'c ACDEY'"},
        {"second_cut_short.sto", head + "a ACDEF\nb ACDEW\n//\n" + head + "a AC\n",
         "6: expected '//' at the end of the alignment, found the end of the file (cut short)"},
        {"reference_of_one.sto", head + "a ACDEF\nb ACDEW\n#=GC RF x....\n//\n",
         " expected at least 2 columns that the line #=GC RF names, found 1; --insertions keep "
         "reads all"},
        {"short.phy", "2 5\na ACDEF\nb ACDE\n",
         "1: expected 2 sequences of 5 letters, interleaved or one after another, found 2 lines "
         "that are not; the first is 'a ACDEF'"},
        {"no_header.phy", "a ACDEF\n",
         "1: expected the numbers of sequences and columns, found 'a "
         "ACDEF'",
         "phylip"},
        {"one_sequence.sto", head + "a ACDEF\n//\n", "2: expected at least 2 sequences, found 1"},
        {"gaps_only.sto", head + "a ....\nb ----\n//\n",
         "2: expected protein letters, found gaps only"},
        {"digit.sto", head + "a ACDEF\nb AC1EF\n//\n",
         "3: expected letters and gaps, found '1' in sequence 'b'"},
        {"header_only.clustal", clustal, "2: expected sequences, found none"},
        {"no_header.clustal", "a ACDEF\nb ACDEW\n", "1: expected a CLUSTAL header, found 'a ACDEF'",
         "clustal"},
        {"duplicate.clustal", clustal + "a ACDEF\na ACDEW\n",
         "4: expected each name once in a block, found 'a' again"},
        {"ragged.clustal", clustal + "a ACDEF 5\nb ACDE 4\n",
         "4: expected 5 columns as in the first sequence of the block, found 4 in sequence 'b'"},
        {"block_missing.clustal", clustal + "a ACDEF\nb ACDEW\n  **** \na GHI\n",
         "6: expected 2 sequences in each block as in the first, found 1"},
        {"block_order.clustal", clustal + "a ACDEF\nb ACDEW\n\nb GHI\na GHI\n",
         "6: expected 5 columns as in the first sequence of the block, found 3 in sequence 'b'\n"
         "6: expected each name once in a block, found 'b' again\n"
         "7: expected each name once in a block, found 'a' again"},
        {"name_only.clustal", clustal + "a ACDEF\nb\n",
         "4: expected a name, letters and at most a number, found 'b'"},
        {"count_is_no_number.clustal", clustal + "a ACDEF 5\nb ACDEW x\n",
         "4: expected a name, letters and at most a number, found 'b ACDEW x'"},
        {"marks_in_row.clustal", clustal + "a ACDEF\nb AC:EF\n",
         "4: expected letters and gaps, found ':' in sequence 'b'"},
    };
}

/// Letters of another alphabet.
inline std::vector<BrokenInput> broken_alphabets() {
    return {
        {"protein_as_rna.fasta",
         sound_fasta(),
         "2: expected rna letters, found 'E' in sequence 'a'\n4: expected rna letters, found 'E' "
         "in sequence 'b'\n6: expected rna letters, found 'E' in sequence 'c'",
         {},
         "rna"},
        {"protein_as_dna.aln",
         "ACGT\nACGE\nACGT\n",
         "2: expected dna letters, found 'E' in sequence 2",
         {},
         "dna"},
        {"one_letter_off.fasta",
         ">a\n" + repeated("ACGU", 20) + "\n>b\nACGU\nACEU\n" + repeated("ACGU", 18) + "\n",
         "5: expected rna letters (detected from most of the letters: name the alphabet if it is "
         "another), found 'E' in sequence 'b'"},
        {"star_in_dna.aln", repeated("ACGT", 10) + "\n" + repeated("ACGT", 9) + "ACG*\n",
         "2: expected dna letters (detected from most of the letters: name the alphabet if it is "
         "another), found '*' in sequence 2"},
    };
}

/// Compressed data cut short, damaged, or followed by other bytes.
inline std::vector<BrokenInput> broken_packing() {
    using namespace std::string_literals;
    const std::string text = repeated(">a\n" + residues(59) + "\n", 200);
    // Stored, not deflated: 10 bytes of gzip header, 5 of block header, then the text as it is.
    const std::string stored = gzipped(text, 0), zst = zstandard(text);
    const std::string small_gz = gzipped(sound_fasta()), small_zst = zstandard(sound_fasta());
    return {
        {"magic_only.gz", small_gz.substr(0, 2),
         "1: expected the end of the gzip data, found the end of the file (cut short)"},
        {"half_header.gz", small_gz.substr(0, 8),
         "1: expected the end of the gzip data, found the end of the file (cut short)"},
        {"half.gz", stored.substr(0, 15 + 63 * 100 + 10),
         "202: expected the end of the gzip data, found the end of the file (cut short)"},
        {"no_checksum.gz", small_gz.substr(0, small_gz.size() - 8),
         "7: expected the end of the gzip data, found the end of the file (cut short)"},
        {"half_checksum.gz", small_gz.substr(0, small_gz.size() - 3),
         "7: expected the end of the gzip data, found the end of the file (cut short)"},
        {"wrong_checksum.gz", with_byte(small_gz, small_gz.size() - 7, '\x55'),
         "7: expected whole gzip data, found damage (incorrect data check)"},
        {"wrong_size.gz", with_byte(small_gz, small_gz.size() - 1, '\x55'),
         "7: expected whole gzip data, found damage (incorrect length check)"},
        {"wrong_method.gz", with_byte(small_gz, 2, '\x07'),
         "1: expected whole gzip data, found damage (unknown compression method)"},
        {"damaged.gz", with_byte(small_gz, 10, '\x07'),
         "1: expected whole gzip data, found damage (invalid block type)"},
        {"trailing.gz", small_gz + "and more",
         "7: expected the end of the file after the gzip data, found other bytes"},
        {"trailing_zeros.gz", small_gz + std::string(512, '\0'),
         "7: expected the end of the file after the gzip data, found other bytes"},
        {"second_member_cut.gz", small_gz + small_gz.substr(0, 10),
         "7: expected the end of the gzip data, found the end of the file (cut short)"},
        {"empty_inside.gz", gzipped(""), "1: expected an alignment, found an empty file"},
        {"binary_inside.gz", gzipped(gzipped(sound_fasta())),
         "1: expected text, found a NUL byte (binary data or UTF-16)"},
        {"magic_only.zst", zst.substr(0, 4),
         "1: expected the end of the Zstandard data, found the end of the file (cut short)"},
        {"half.zst", zst.substr(0, zst.size() / 2),
         "1: expected the end of the Zstandard data, found the end of the file (cut short)"},
        {"no_checksum.zst", small_zst.substr(0, small_zst.size() - 4),
         "7: expected the end of the Zstandard data, found the end of the file (cut short)"},
        {"wrong_checksum.zst", with_byte(small_zst, small_zst.size() - 1, '\x55'),
         "1: expected whole Zstandard data, found damage (Restored data doesn't match checksum)"},
        {"trailing.zst", small_zst + "and more",
         "7: expected the end of the file after the Zstandard data, found other bytes"},
        {"second_frame_cut.zst", small_zst + small_zst.substr(0, 12),
         "7: expected the end of the Zstandard data, found the end of the file (cut short)"},
        {"empty_inside.zst", zstandard(""), "1: expected an alignment, found an empty file"},
        {"damaged.zst", with_byte(small_zst, 4, '\xff'),
         "1: expected whole Zstandard data, found damage (Unsupported frame parameter)"},
    };
}

/// All of them.
inline std::vector<BrokenInput> broken_inputs() {
    std::vector<BrokenInput> all;
    for (std::vector<BrokenInput> some :
         {broken_content(), broken_rows(), broken_blocks(), broken_alphabets(), broken_packing()}) {
        for (BrokenInput& one : some) all.push_back(std::move(one));
    }
    return all;
}

}  // namespace pleat::testing
