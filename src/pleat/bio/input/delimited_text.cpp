// Delimited text: splitting at line ends and separators outside quotes.
#include "pleat/bio/input/delimited_text.h"

#include "pleat/bio/input/text_fields.h"

namespace pleat {

bool RecordReader::next(std::string_view& record, std::string_view& end, Index& line) {
    if (at_ >= text_.size()) return false;
    line = line_;
    bool is_quoted = false;
    std::size_t last = at_;
    for (; last < text_.size(); ++last) {
        const char c = text_[last];
        if (c == '"') is_quoted = !is_quoted;
        if (c == '\n') ++line_;
        if ((c == '\n' || c == '\r') && !is_quoted) break;
    }
    record = text_.substr(at_, last - at_);
    std::size_t size = last < text_.size() ? 1 : 0;
    if (size == 1 && text_[last] == '\r' && last + 1 < text_.size() && text_[last + 1] == '\n') {
        size = 2;
        ++line_;
    }
    end = text_.substr(last, size);
    at_ = last + size;
    return true;
}

void split_record(std::string_view record, char separator, std::vector<std::string_view>& cells) {
    cells.clear();
    std::size_t from = 0;
    bool is_quoted = false;
    for (std::size_t at = 0; at < record.size(); ++at) {
        if (record[at] == '"') is_quoted = !is_quoted;
        if (record[at] != separator || is_quoted) continue;
        cells.push_back(record.substr(from, at - from));
        from = at + 1;
    }
    cells.push_back(record.substr(from));
}

std::string cell_text(std::string_view cell) {
    cell = trimmed(cell);
    if (cell.size() < 2 || cell.front() != '"' || cell.back() != '"') return std::string(cell);
    std::string text;
    for (std::size_t at = 1; at + 1 < cell.size(); ++at) {
        text += cell[at];
        if (cell[at] == '"' && cell[at + 1] == '"') ++at;
    }
    return text;
}

}  // namespace pleat
