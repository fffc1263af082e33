// NXcanSAS: every one-dimensional SASdata of an HDF5 file in memory, read by libhdf5.
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Owns an HDF5 object and closes it; a negative id means no object.
class Handle {
public:
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator hid_t() const { return id_; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

/// The first string of an attribute; empty if there is none.
std::string text_of(hid_t object, const char* name) {
    if (H5Aexists(object, name) <= 0) return {};
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute), H5Tclose);
    const Handle space(H5Aget_space(attribute), H5Sclose);
    if (attribute < 0 || type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING) return {};
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count < 1 || count > 64) return {};
    std::string text;
    if (H5Tis_variable_str(type) > 0) {
        std::vector<char*> strings(count, nullptr);
        if (H5Aread(attribute, type, strings.data()) < 0) return {};
        if (strings.front() != nullptr) text = strings.front();
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, strings.data());
    } else {
        const std::size_t width = H5Tget_size(type);
        if (width == 0 || width > 65536) return {};
        std::vector<char> bytes(width * static_cast<std::size_t>(count));
        if (H5Aread(attribute, type, bytes.data()) < 0) return {};
        text.assign(bytes.data(), width);
        text.resize(std::min(text.find('\0'), text.size()));
        text.resize(text.find_last_not_of(' ') + 1);
    }
    return text;
}

/// The numbers of a one-dimensional data set (further dimensions of length 1 are ignored); empty if
/// it does not exist.
std::vector<double> numbers_of(const std::string& file, hid_t group, const std::string& name) {
    if (name.empty() || H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0) return {};
    const Handle data(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (data < 0) return {};
    const Handle space(H5Dget_space(data), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > H5S_MAX_RANK) return {};
    std::vector<hsize_t> extents(rank);
    H5Sget_simple_extent_dims(space, extents.data(), nullptr);
    int longer = 0;
    for (const hsize_t extent : extents) longer += extent != 1;
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (longer > 1 || count < 1 || count > hssize_t{kMaxCurvePoints}) return {};
    std::vector<double> numbers(count);
    if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()) < 0)
        throw InputError(file, 0,
                         "expected numbers that HDF5 can read in data set '" + name +
                             "', found damaged or unusually compressed ones");
    return numbers;
}

std::string text_of_data(hid_t group, const std::string& name, const char* attribute) {
    if (H5Lexists(group, name.c_str(), H5P_DEFAULT) <= 0) return {};
    const Handle data(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
    return data < 0 ? std::string() : text_of(data, attribute);
}

/// Reads a group of class SASdata; a curve without points if it is not one-dimensional.
CurveTable curve_of(const std::string& file, hid_t group, const std::string& path) {
    const auto or_else = [](std::string name, const char* usual) {
        return name.empty() ? usual : std::move(name);
    };
    const std::string signal = or_else(text_of(group, "signal"), "I");
    CurveTable curve{.name = path, .q_unit = text_of_data(group, "Q", "units")};
    const std::vector<double> q = numbers_of(file, group, "Q"),
                              intensity = numbers_of(file, group, signal);
    if (q.empty() || q.size() != intensity.size()) return curve;
    const std::vector<double> error =
        numbers_of(file, group, or_else(text_of_data(group, signal, "uncertainties"), "Idev"));
    std::string width = text_of_data(group, "Q", "resolutions");
    if (width.empty()) width = text_of_data(group, "Q", "uncertainties");
    const std::vector<double> dq = numbers_of(file, group, or_else(std::move(width), "Qdev"));
    for (std::size_t k = 0; k < q.size(); ++k)
        curve.rows.emplace_back().values = {q[k], intensity[k], k < error.size() ? error[k] : NAN,
                                            k < dq.size() ? dq[k] : NAN};
    return curve;
}

/// Finds curves in the groups of a file; external links are not followed. `is_default_curve`: no
/// parent group names another group as its default.
void find_curves(const std::string& file, hid_t group, const std::string& path, int depth,
                 bool is_default_curve, std::vector<CurveTable>& curves) {
    constexpr int kMaxDepth = 8;
    constexpr hsize_t kMaxChildren = 10000;
    if (text_of(group, "canSAS_class") == "SASdata" || text_of(group, "NX_class") == "SASdata") {
        curves.push_back(curve_of(file, group, path));
        curves.back().is_default_curve = is_default_curve;
        return;
    }
    const std::string shown = text_of(group, "default");
    H5G_info_t info;
    if (depth == kMaxDepth || H5Gget_info(group, &info) < 0) return;
    for (hsize_t n = 0; n < std::min(info.nlinks, kMaxChildren); ++n) {
        char name[256] = "";
        H5L_info_t link;
        if (H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, n, name, sizeof name,
                               H5P_DEFAULT) < 0 ||
            H5Lget_info(group, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD)
            continue;
        const Handle child(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
        if (child >= 0 && H5Iget_type(child) == H5I_GROUP)
            find_curves(file, child, path.empty() ? name : path + "/" + name, depth + 1,
                        is_default_curve && (shown.empty() || shown == name), curves);
    }
}

}  // namespace

std::vector<CurveTable> curves_from_hdf5(const std::string& file, std::string_view bytes) {
    static std::mutex mutex;  // the library is not made for several threads
    const std::lock_guard<std::mutex> locked(mutex);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    std::string copy(bytes);  // HDF5 wants bytes that it may write to
    H5Pset_fapl_core(access, std::size_t{1} << 16, false);
    H5Pset_file_image(access, copy.data(), copy.size());
    // HDF5 does not open an image in memory under the name of an existing file.
    const Handle opened(H5Fopen("/dev/null/image", H5F_ACC_RDONLY, access), H5Fclose);
    if (opened < 0) throw InputError(file, 0, "expected HDF5, found a damaged file of it");
    const Handle root(H5Gopen2(opened, "/", H5P_DEFAULT), H5Gclose);
    std::vector<CurveTable> curves;
    find_curves(file, root, "", 0, true, curves);
    const std::size_t all = curves.size();
    std::erase_if(curves, [](const CurveTable& curve) { return curve.rows.empty(); });
    if (curves.empty())
        throw InputError(file, 0,
                         all > 0 ? "expected a curve, found NXcanSAS data of two dimensions alone"
                                 : "expected NXcanSAS (a group of canSAS_class SASdata), found "
                                   "HDF5 of another kind");
    return curves;
}

}  // namespace pleat
