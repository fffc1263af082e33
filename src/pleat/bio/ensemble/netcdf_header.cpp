// NetCDF header: big-endian lists of dimensions, attributes and variables.
#include "pleat/bio/ensemble/netcdf_header.h"

#include <fmt/format.h>

#include <array>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::int32_t kDimensions = 10, kVariables = 11, kAttributes = 12;
constexpr std::int32_t kChar = 2, kInt = 4, kFloat = 5, kDouble = 6;
constexpr Index kMaxItems = 65536, kMaxName = 4096, kMaxText = Index{1} << 24;
constexpr Index kMaxBytes = Index{1} << 40;

class HeaderReader {
public:
    explicit HeaderReader(ByteReader& bytes) : bytes_(bytes) {}

    NetcdfHeader read() {
        const char* magic = take(4);
        version_ = magic[3];
        if (std::string_view(magic, 3) != "CDF" ||
            (version_ != 1 && version_ != 2 && version_ != 5)) {
            fail(fmt::format("NetCDF-3 (CDF-1, CDF-2 or CDF-5), found version {}",
                             static_cast<int>(version_)));
        }
        NetcdfHeader header;
        const Index streaming = version_ == 5 ? Index{-1} : Index{0xffffffff};
        header.records = number();
        if (header.records == streaming) {
            header.records = NetcdfHeader::kStreaming;
        } else if (header.records < 0) {
            fail(fmt::format("a number of records, found {}", header.records));
        }
        for (Index left = list(kDimensions); left > 0; --left) {
            std::string name = text(count(kMaxName));
            header.dimensions.push_back({std::move(name), count(kMaxBytes)});
        }
        header.attributes = attributes();
        for (Index left = list(kVariables); left > 0; --left) {
            header.variables.push_back(variable(header));
        }
        return header;
    }

private:
    [[noreturn]] void fail(std::string_view what) const {
        throw InputError(bytes_.name(), 0, fmt::format("expected {}", what));
    }

    const char* take(Index size) {
        constexpr Index kMaxHeader = Index{1} << 20;
        if (size > kMaxHeader - bytes_.position())
            fail(
                fmt::format("a NetCDF header of at most {} bytes, found a longer one", kMaxHeader));
        if (bytes_.read(buffer_, static_cast<std::size_t>(size)) < static_cast<std::size_t>(size)) {
            fail("a whole NetCDF header, found the end of the file (cut short)");
        }
        return buffer_.data();
    }

    std::int32_t integer() { return stored_number<std::int32_t>(take(4), true); }
    /// A number as wide as the version counts.
    Index number() {
        if (version_ == 5) return stored_number<std::int64_t>(take(8), true);
        return static_cast<Index>(stored_number<std::uint32_t>(take(4), true));
    }
    Index count(Index max) {
        const Index value = number();
        if (value < 0 || value > max) {
            fail(fmt::format("a count of at most {} in the NetCDF header, found {}", max, value));
        }
        return value;
    }
    /// Letters as messages may show them.
    std::string text(Index size) {
        std::string letters(take((size + 3) / 4 * 4), static_cast<std::size_t>(size));
        for (char& c : letters) {
            if (c != '\0' && (c < ' ' || c > '~')) c = '?';
        }
        return letters;
    }

    /// The number of items of a list; one without items has the tag 0.
    Index list(std::int32_t tag) {
        const std::int32_t found = integer();
        const Index items = count(kMaxItems);
        if (found != tag && !(found == 0 && items == 0)) {
            fail(fmt::format("list {} in the NetCDF header, found {}", tag, found));
        }
        return items;
    }

    std::int32_t type() {
        const std::int32_t value = integer();
        if (netcdf_type_bytes(value) == 0) fail(fmt::format("a NetCDF-3 type, found {}", value));
        return value;
    }

    std::map<std::string, NetcdfHeader::Attribute> attributes() {
        std::map<std::string, NetcdfHeader::Attribute> found;
        for (Index left = list(kAttributes); left > 0; --left) {
            const std::string name = text(count(kMaxName));
            const std::int32_t kind = type();
            const Index values = count(kMaxText);
            NetcdfHeader::Attribute& attribute = found[name];
            if (kind == kChar) {
                const std::string letters = text(values);
                attribute.text = letters.substr(0, letters.find('\0'));
                continue;
            }
            const char* value = take((values * netcdf_type_bytes(kind) + 3) / 4 * 4);
            if (values != 1) continue;
            if (kind == kInt) attribute.number = stored_number<std::int32_t>(value, true);
            if (kind == kFloat) attribute.number = stored_number<float>(value, true);
            if (kind == kDouble) attribute.number = stored_number<double>(value, true);
        }
        return found;
    }

    NetcdfHeader::Variable variable(const NetcdfHeader& header) {
        NetcdfHeader::Variable variable;
        variable.name = text(count(kMaxName));
        Index values = 1;
        const Index rank = count(1024);
        for (Index i = 0; i < rank; ++i) {
            const Index dimension = count(kMaxItems);
            if (dimension >= static_cast<Index>(header.dimensions.size())) {
                fail(fmt::format("one of {} dimensions for '{}', found {}",
                                 header.dimensions.size(), variable.name, dimension));
            }
            variable.dimensions.push_back(dimension);
            const Index length = header.dimensions[static_cast<std::size_t>(dimension)].length;
            if (length == 0 && i == 0) {
                variable.in_records = true;
            } else if (length > 0 && values > kMaxBytes / length) {
                fail(fmt::format("a variable that fits on a disk, found '{}'", variable.name));
            } else {
                values *= length;
            }
        }
        variable.attributes = attributes();
        variable.type = type();
        (void)number();  // its size, which large variables cannot say
        variable.begin = version_ == 1
                             ? static_cast<Index>(stored_number<std::uint32_t>(take(4), true))
                             : stored_number<std::int64_t>(take(8), true);
        variable.bytes = values * netcdf_type_bytes(variable.type);
        if (variable.begin < 0 || variable.begin > kMaxBytes) {
            fail(fmt::format("an offset of '{}' within the file, found {}", variable.name,
                             variable.begin));
        }
        return variable;
    }

    ByteReader& bytes_;
    std::vector<char> buffer_;
    char version_ = 0;
};

}  // namespace

Index netcdf_type_bytes(std::int32_t type) {
    constexpr std::array<Index, 12> kBytes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type < 1 || type > 11 ? 0 : kBytes[static_cast<std::size_t>(type)];
}

const NetcdfHeader::Variable* NetcdfHeader::find(const std::string& name) const {
    for (const Variable& variable : variables) {
        if (variable.name == name) return &variable;
    }
    return nullptr;
}

Index NetcdfHeader::record_bytes() const {
    Index padded = 0, plain = 0, count = 0;
    for (const Variable& variable : variables) {
        if (!variable.in_records) continue;
        padded += (variable.bytes + 3) / 4 * 4;
        plain += variable.bytes;
        ++count;
    }
    // The only variable with records is not padded.
    return count == 1 ? plain : padded;
}

NetcdfHeader read_netcdf_header(ByteReader& bytes) { return HeaderReader(bytes).read(); }

}  // namespace pleat
