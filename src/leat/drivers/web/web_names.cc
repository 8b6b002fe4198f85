#include "leat/drivers/web/web_names.h"

#include <algorithm>

namespace leat::web {
namespace {

constexpr std::size_t kMaxDepth = 64;

class ListCursor final : public OrderedCursor {
 public:
  ListCursor(const std::vector<std::string>& names, InfoSource info)
      : names_(names), info_(std::move(info)), at_(names.end()) {}

  Status seek(std::string_view at_or_after) override {
    at_ = std::lower_bound(names_.begin(), names_.end(), at_or_after);
    return ok_status();
  }
  bool valid() const override { return at_ != names_.end(); }
  std::string_view name() const override { return *at_; }
  Status next() override {
    ++at_;
    return ok_status();
  }
  Result<ObjectInfo> info() const override {
    auto info = info_(*at_);
    if (!info.failed_with(ErrorCode::kNotFound)) return info;
    // Somebody said that it is there: it must not go missing in silence.
    return Error(ErrorCode::kIoError, *at_ + " is listed, but the server has none");
  }

 private:
  const std::vector<std::string>& names_;
  const InfoSource info_;
  std::vector<std::string>::const_iterator at_;
};

// A walk down the folders, each page read when it is reached. A folder's name with its '/' sorts
// where everything beneath it does.
class PageCursor final : public OrderedCursor {
 public:
  PageCursor(std::string folder, Depth depth, PageSource pages, InfoSource info)
      : base_(std::move(folder)), depth_(depth), pages_(std::move(pages)), info_(std::move(info)) {}

  Status seek(std::string_view at_or_after) override {
    levels_.clear();
    const std::string target(at_or_after);
    RETURN_IF_ERROR(enter(base_, target));
    return settle(target);
  }
  bool valid() const override { return !levels_.empty(); }
  std::string_view name() const override { return name_; }
  Status next() override {
    ++levels_.back().at;
    return settle("");
  }
  Result<ObjectInfo> info() const override { return info_(name_); }

 private:
  struct Level {
    std::string folder;
    std::vector<std::string> entries;
    std::size_t at = 0;
  };

  // Stands at the first entry of the folder that is not wholly before `target`.
  Status enter(const std::string& folder, const std::string& target) {
    if (levels_.size() == kMaxDepth) {
      return Error(ErrorCode::kTooLarge, "the folders of " + folder + " are too deep");
    }
    Level level;
    level.folder = folder;
    ASSIGN_OR_RETURN(level.entries, pages_(folder));
    while (level.at < level.entries.size()) {
      const std::string full = folder + level.entries[level.at];
      const bool is_entered = depth_ == Depth::kAll && full.ends_with('/');
      if (full >= target || (is_entered && target.starts_with(full))) break;
      ++level.at;
    }
    levels_.push_back(std::move(level));
    return ok_status();
  }

  // From where it stands to the next object: into folders, out of those that end.
  Status settle(const std::string& target) {
    while (!levels_.empty()) {
      Level& level = levels_.back();
      if (level.at == level.entries.size()) {
        levels_.pop_back();
        if (!levels_.empty()) ++levels_.back().at;
        continue;
      }
      name_ = level.folder + level.entries[level.at];
      if (depth_ == Depth::kOne || !name_.ends_with('/')) return ok_status();
      RETURN_IF_ERROR(enter(std::string(name_), target));
    }
    return ok_status();
  }

  const std::string base_;
  const Depth depth_;
  const PageSource pages_;
  const InfoSource info_;
  std::vector<Level> levels_;
  std::string name_;
};

}  // namespace

std::unique_ptr<OrderedCursor> make_list_cursor(const std::vector<std::string>& names,
                                                InfoSource info) {
  return std::make_unique<ListCursor>(names, std::move(info));
}

std::unique_ptr<OrderedCursor> make_page_cursor(std::string folder, Depth depth, PageSource pages,
                                                InfoSource info) {
  return std::make_unique<PageCursor>(std::move(folder), depth, std::move(pages), std::move(info));
}

}  // namespace leat::web
