// NetCDF header: the dimensions, variables and attributes in front of a NetCDF-3 file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pleat/bio/input/byte_reader.h"
#include "pleat/core/view.h"

namespace pleat {

/// What a header says (NetCDF classic format: CDF-1, CDF-2 with offsets of 64 bits, CDF-5 with
/// counts of 64 bits). Texts of attributes and single numbers are kept, other attributes are not.
struct NetcdfHeader {
    struct Dimension {
        std::string name;
        Index length = 0;  ///< 0: the dimension of records
    };
    struct Attribute {
        std::string text;
        double number = 0;
    };
    struct Variable {
        std::string name;
        std::vector<Index> dimensions;  ///< indices into those of the file
        std::map<std::string, Attribute> attributes;
        std::int32_t type = 0;
        Index begin = 0;  ///< offset of its first value in the file
        Index bytes = 0;  ///< of one record, or of all, not padded
        bool in_records = false;
    };

    static constexpr Index kStreaming = -1;
    Index records = 0;  ///< or kStreaming where the writer did not finish
    std::vector<Dimension> dimensions;
    std::map<std::string, Attribute> attributes;
    std::vector<Variable> variables;

    const Variable* find(const std::string& name) const;
    /// Bytes from one record to the next.
    Index record_bytes() const;
};

/// Bytes of one value of a type, 0 for an unknown one: 1 byte, 2 char, 3 short, 4 int, 5 float,
/// 6 double, 7 to 11 the unsigned ones and those of 64 bits.
Index netcdf_type_bytes(std::int32_t type);

/// Reads the header; InputError naming the file where it is cut short or contradicts itself.
NetcdfHeader read_netcdf_header(ByteReader& bytes);

}  // namespace pleat
