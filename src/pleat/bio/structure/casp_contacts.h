// CASP contacts: predicted contacts of one sequence, as files in the format RR list them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pleat/bio/input/byte_source.h"

namespace pleat {

/// Residues i < j of the sequence, from 0, and the probability that they are in contact.
struct PredictedContact {
    Index i = 0, j = 0;
    double probability = 0;
};

/// What a file in the format RR holds.
struct PredictedContacts {
    std::filesystem::path source;
    std::string sequence;                 ///< letters of the target, upper case
    std::vector<PredictedContact> pairs;  ///< the most probable first, equal ones as in the file
};

/// Reads the format RR of CASP 8 to 13 (predictioncenter.org/casp13/index.cgi?page=format): records
/// before the sequence are passed over, its lines joined, pairs "i j 0 8 p" read up to END; with
/// fields of CASP 14, "i j p". Plain or compressed. InputError, naming file and line, for a file
/// without a sequence or pairs, numbers beyond the sequence, a residue with itself, a pair that is
/// listed twice, and probabilities that are not from 0 to 1.
PredictedContacts read_casp_contacts(const std::filesystem::path& path);
PredictedContacts read_casp_contacts(ByteSource& source);

}  // namespace pleat
