// Byte sources: opening, and cutting the decoded bytes into lines.
#include "pleat/bio/input/byte_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "pleat/core/error.h"

namespace pleat {

struct ByteSource::Implementation {
    static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

    std::unique_ptr<ByteReader> bytes;
    std::string name;
    Index max_bytes;
    static constexpr std::size_t kChunk = std::size_t{1} << 18;
    std::vector<char> buffer = std::vector<char>(kChunk);
    std::size_t first = 0;  // the unused part of `buffer`: [first, last)
    std::size_t last = 0;
    std::size_t newline = kUnknown;  // the first LF at or after `first`, `last` when there is none
    Index total = 0;
    Index line = 0;
    std::string_view current;
    bool held = false;
    Index record = 0;
    bool record_ended = false, ends_record = false;  // before the next line; after this one
    bool allows_records = false;
    bool after_return = false;  // the line before ended in CR: an LF that follows belongs to it

    Implementation(std::unique_ptr<ByteReader> from, Index max_text)
        : bytes(std::move(from)), name(bytes->name()), max_bytes(max_text) {
        open();
    }

    void open() {
        while (last < 3 && refill()) {
        }
        const std::string_view start(buffer.data(), last);
        if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff")) {
            fail("expected ASCII or UTF-8 text, found UTF-16");
        }
        if (start.starts_with("\xef\xbb\xbf")) first = 3;
    }

    [[noreturn]] void fail(std::string_view text) const { throw InputError(name, line + 1, text); }

    /// Appends decoded bytes to the buffer; false at the end.
    bool refill() {
        if (first > 0) {
            std::memmove(buffer.data(), buffer.data() + first, last - first);
            last -= first;
            first = 0;
        }
        newline = kUnknown;
        // Never beyond the longest line that is allowed.
        if (last == buffer.size()) buffer.resize(std::min(last * 2, kMaxLine + kChunk));
        const std::size_t read = bytes->read_some(buffer.data() + last, buffer.size() - last);
        if (read == 0 && bytes->is_cut_short()) throw CutShort(name, line + 1, bytes->problem());
        if (read == 0 && !bytes->problem().empty()) fail(bytes->problem());
        last += read;
        total += static_cast<Index>(read);
        if (total > max_bytes) {
            fail(fmt::format("expected at most {} bytes of text, found more", max_bytes));
        }
        return read > 0;
    }

    /// Position of the first `c` in [from, to), or `to`.
    std::size_t find(char c, std::size_t from, std::size_t to) const {
        const void* at = std::memchr(buffer.data() + from, c, to - from);
        if (at == nullptr) return to;
        return static_cast<std::size_t>(static_cast<const char*>(at) - buffer.data());
    }

    void take(std::size_t end, std::size_t next_first) {
        current = {buffer.data() + first, end - first};
        first = next_first;
        if (std::memchr(current.data(), '\0', current.size()) != nullptr) take_record_ends();
        if (!current.empty()) {
            record += record == 0 || record_ended;
            record_ended = ends_record;
            ends_record = false;
        }
        if (record > 1 && !allows_records) fail_at_nul();
        ++line;
    }

    [[noreturn]] void fail_at_nul() const {
        fail("expected text, found a NUL byte (binary data or UTF-16)");
    }

    /// Removes a NUL byte from each end of the line, where they end records.
    void take_record_ends() {
        if (current.front() == '\0') {
            record_ended = record > 0;
            current.remove_prefix(1);
        }
        if (!current.empty() && current.back() == '\0') {
            ends_record = true;
            current.remove_suffix(1);
        }
        if (current.find('\0') != std::string_view::npos) fail_at_nul();
    }

    bool next() {
        if (after_return) {
            if (first == last) refill();
            if (first < last && buffer[first] == '\n') ++first;
            after_return = false;
        }
        std::size_t scanned = 0;
        for (;;) {
            const std::size_t from = first + scanned;
            // Remembered, so that a file whose lines end in CR only is not searched for LF once per
            // line.
            if (newline == kUnknown || newline < from) newline = find('\n', from, last);
            const std::size_t carriage_return = find('\r', from, newline);
            if (carriage_return < newline) {
                take(carriage_return, carriage_return + 1);
                after_return = true;
                return true;
            }
            if (newline < last) {
                take(newline, newline + 1);
                return true;
            }
            scanned = last - first;
            if (static_cast<Index>(scanned) > kMaxLine) {
                fail(fmt::format("expected lines of at most {} bytes, found a longer one",
                                 kMaxLine));
            }
            if (refill()) continue;
            if (scanned == 0) return false;
            take(last, last);
            return true;
        }
    }
};

ByteSource::ByteSource(const std::filesystem::path& path, Index max_bytes)
    : ByteSource(std::make_unique<ByteReader>(path), max_bytes) {}

ByteSource::ByteSource(std::string name, std::string_view bytes, Index max_bytes)
    : ByteSource(std::make_unique<ByteReader>(std::move(name), bytes), max_bytes) {}

ByteSource::ByteSource(std::unique_ptr<ByteReader> bytes, Index max_bytes)
    : implementation_(std::make_unique<Implementation>(std::move(bytes), max_bytes)) {}

ByteSource::~ByteSource() = default;

bool ByteSource::next(std::string_view& line) {
    Implementation& my = *implementation_;
    if (my.held) {
        my.held = false;
    } else if (!my.next()) {
        return false;
    }
    line = my.current;
    return true;
}

void ByteSource::hold() { implementation_->held = true; }
Index ByteSource::line() const { return implementation_->line; }
Index ByteSource::record() const { return implementation_->record; }
void ByteSource::allow_records() { implementation_->allows_records = true; }
bool ByteSource::is_from_pipe() const { return implementation_->bytes->is_from_pipe(); }
const std::string& ByteSource::name() const { return implementation_->name; }

}  // namespace pleat
