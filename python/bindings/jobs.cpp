// Jobs: lists of jobs as the program runs them, watched from Python's thread; and the program
// itself.
#include "parts.h"

#include <pybind11/stl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "commands.h"
#include "jobs/job_caller.h"
#include "progress.h"

namespace pleat::python {

namespace {

/// Queues messages of worker threads for Python's thread, so that no worker waits for the GIL.
class Mailbox {
public:
    void update(std::int64_t done, std::int64_t total, std::string_view note) {
        const std::lock_guard lock(mutex_);
        done_ = done;
        total_ = total;
        note_ = note;
        has_count_ = true;
        filled_.notify_one();
    }
    void message(std::string_view text) {
        const std::lock_guard lock(mutex_);
        messages_.emplace_back(text);
        filled_.notify_one();
    }
    void end() {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        filled_.notify_one();
    }
    void stop() { is_stopped_ = true; }
    bool is_stopped() const { return is_stopped_; }

    /// Passes queued messages to Python until the work has ended, and checks for Python signals
    /// meanwhile.
    void deliver(PythonProgress& to) {
        constexpr std::chrono::milliseconds kBetween{50};
        while (true) {
            std::unique_lock lock(mutex_);
            filled_.wait_for(lock, kBetween, [&] { return has_ended_ || has_count_; });
            const std::deque<std::string> messages = std::exchange(messages_, {});
            const bool has_count = std::exchange(has_count_, false), has_ended = has_ended_;
            const std::int64_t done = done_, total = total_;
            const std::string note = note_;
            lock.unlock();
            for (const std::string& text : messages) to.message(text);
            if (has_count) to.update("jobs", done, total, note);
            if (to.cancelled()) stop();
            if (has_ended) return;
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<std::string> messages_;
    std::int64_t done_ = 0, total_ = 0;
    std::string note_;
    bool has_count_ = false, has_ended_ = false;
    std::atomic<bool> is_stopped_ = false;
};

class Sender final : public Progress {
public:
    explicit Sender(Mailbox& to) : to_(to) {}
    void update(std::string_view, std::int64_t done, std::int64_t total,
                std::string_view note) override {
        to_.update(done, total, note);
    }
    bool cancelled() override { return to_.is_stopped(); }
    void message(std::string_view text) override { to_.message(text); }

private:
    Mailbox& to_;
};

JobListResult run(const program::JobCall& call, PythonProgress& shown) {
    // Workers of one list share the threads of the process (ThreadBudget); another list waits.
    static std::mutex one_list;
    const std::lock_guard lock(one_list);
    Mailbox mailbox;
    std::optional<JobListResult> result;
    std::exception_ptr error;
    // Only Python's main thread handles signals, so it runs no job.
    std::thread runner([&] {
        try {
            result = program::run_jobs(call, std::make_unique<Sender>(mailbox));
        } catch (...) {
            error = std::current_exception();
        }
        mailbox.end();
    });
    mailbox.deliver(shown);
    runner.join();
    if (error) std::rethrow_exception(error);
    return std::move(*result);
}

/// Returns lists of column names, of each row's cells, and of the jobs' folders.
py::dict table_of(const JobTable& table, const std::string& output) {
    py::list rows, folders;
    for (const JobRow& row : table.rows) {
        rows.append(py::cast(table.cells(row)));
        folders.append(py::str((std::filesystem::path(output) / row.folder).string()));
    }
    py::dict all;
    all["columns"] = py::cast(table.columns());
    all["options"] = py::cast(table.options);
    all["numbers"] = py::cast(table.numbers);
    all["rows"] = rows;
    all["folders"] = folders;
    return all;
}

}  // namespace

void add_jobs(py::module_& module) {
    module.def("run_jobs", [](const std::string& command, const std::vector<std::string>& inputs,
                              const std::string& output, const py::list& options,
                              const py::object& progress) {
        program::JobCall call{.command = command, .inputs = inputs, .options = {}};
        call.options.emplace_back("output", output);
        for (const py::handle& pair : options) {
            const auto one = pair.cast<py::tuple>();
            const auto name = one[0].cast<std::string>();
            if (PyBool_Check(one[1].ptr()))
                call.options.emplace_back(name, one[1].cast<bool>());
            else
                call.options.emplace_back(name, one[1].cast<std::string>());
        }
        PythonProgress shown(progress);
        const JobListResult result = without_lock(shown, [&] { return run(call, shown); });
        return table_of(result.table, output);
    });
    module.def("run_program", [](std::vector<std::string> arguments) {
        std::vector<char*> values(arguments.size() + 1);  // a null ends them, as in main()
        for (std::size_t n = 0; n < arguments.size(); ++n) values[n] = arguments[n].data();
        const py::gil_scoped_release others_run;
        return program::run_program(static_cast<int>(arguments.size()), values.data());
    });
}

}  // namespace pleat::python
