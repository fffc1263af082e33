// CASP contacts: predicted contacts of one sequence, and the reader of files in CASP's RR format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pleat/core/view.h"

#pragma GCC visibility push(default)

namespace pleat {

class ByteSource;

/// Residues i < j of the sequence, from 0, and their contact probability.
struct PredictedContact {
    Index i = 0, j = 0;
    double probability = 0;
};

/// The contents of a file in the RR format.
struct PredictedContacts {
    std::filesystem::path source;
    std::string sequence;                 ///< letters of the sequence, upper case
    std::vector<PredictedContact> pairs;  ///< the most probable first, equal ones as in the file
};

/// Reads the RR format of CASP 8 to 13 (predictioncenter.org/casp13/index.cgi?page=format), plain
/// or compressed: skips records before the sequence, joins the lines of the sequence, and reads
/// pairs "i j 0 8 p", or "i j p" as in CASP 14, up to END. Throws InputError, naming file and line,
/// for a missing sequence or no pairs, numbers beyond the sequence, a residue paired with itself, a
/// pair that is listed twice, and probabilities outside [0, 1].
PredictedContacts read_casp_contacts(const std::filesystem::path& path);
PredictedContacts read_casp_contacts(ByteSource& source);

}  // namespace pleat

#pragma GCC visibility pop
