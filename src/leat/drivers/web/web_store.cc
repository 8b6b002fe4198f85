#include "leat/drivers/web/web_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "leat/base/mutex.h"
#include "leat/drivers/web/index_page.h"
#include "leat/drivers/web/name_list.h"
#include "leat/drivers/web/web_names.h"
#include "leat/drivers/web/web_object.h"
#include "leat/drivers/web/web_url.h"
#include "leat/store/listing.h"

namespace leat {
namespace {

using namespace web;  // NOLINT: the rest of this driver

constexpr std::size_t kMaxPageBytes = 256 << 20;

class WebStore final : public ObjectStore {
 public:
  explicit WebStore(StoreUrl url)
      : place_(std::move(url)), url_(place_.folder.place() + place_.naming) {}

  std::string_view url() const noexcept override { return url_; }
  Capabilities capabilities() const noexcept override {
    Capabilities capabilities;
    capabilities.writable = false;
    capabilities.preconditions = false;
    capabilities.generations = false;
    capabilities.metadata = false;
    capabilities.any_name = false;
    return capabilities;
  }

  Result<ObjectInfo> stat(std::string_view name, const Context& context) override {
    ASSIGN_OR_RETURN(const WebUrl url, url_of(name));
    return stat_object(*client_, url, context);
  }

  Result<ListPage> list(const ListRequest& request, const Context& context) override {
    RETURN_IF_ERROR(context.check());
    const auto info = [&](std::string_view name) { return stat(name, context); };
    if (!place_.naming.empty()) {
      ASSIGN_OR_RETURN(const auto names, listed_names(context));
      return list_ordered(request, *make_list_cursor(*names, info), context);
    }
    // A folder is a common prefix already; what is in it need not be known.
    const Depth depth = request.delimiter == "/" ? Depth::kOne : Depth::kAll;
    std::map<std::string, std::vector<std::string>> pages;  // of this listing
    const auto page_of = [&](const std::string& folder) -> Result<std::vector<std::string>> {
      if (const auto it = pages.find(folder); it != pages.end()) return it->second;
      ASSIGN_OR_RETURN(auto names, read_page(folder, context));
      return pages[folder] = std::move(names);
    };
    const std::string folder = request.prefix.substr(0, request.prefix.rfind('/') + 1);
    if (!folder.empty() && !is_web_name(folder.substr(0, folder.size() - 1))) return ListPage();
    return list_ordered(request, *make_page_cursor(folder, depth, page_of, info), context);
  }

  Result<std::unique_ptr<ObjectReader>> open(std::string_view name, const OpenOptions& options,
                                             const Context& context) override {
    if (options.generation) {
      return Error(ErrorCode::kUnsupported, "web servers have no generations");
    }
    ASSIGN_OR_RETURN(const WebUrl url, url_of(name));
    return open_object(client_, url, context);
  }

  void read_batch(std::span<BatchRead> reads, const Context& context) override {
    for (BatchRead& read : reads) {
      const auto url = url_of(read.name);
      read.result = url.ok() ? read_part(*client_, *url, read.range, read.target, context)
                             : Result<Slice>(url.error());
    }
  }

  Result<std::unique_ptr<ObjectWriter>> create(std::string_view, const CreateOptions&,
                                               const Context&) override {
    return read_only();
  }
  Status remove(std::string_view, const RemoveOptions&, const Context&) override {
    return read_only();
  }
  Result<ObjectInfo> copy(std::string_view, std::string_view, const CreateOptions&,
                          const Context&) override {
    return read_only();
  }

 private:
  Error read_only() const { return Error(ErrorCode::kUnsupported, url_ + " can only be read"); }

  Result<WebUrl> url_of(std::string_view name) const {
    RETURN_IF_ERROR(check_name(name));
    if (!is_web_name(name)) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("'{}' has a component that web servers do not take as it is", name));
    }
    WebUrl url = place_.folder;
    url.path += percent_encode(name, "/");
    return url;
  }

  // Where a text was found, and of which kind it is.
  struct Page {
    std::string place;
    bool is_html = false;
  };

  Result<std::string> read_text(WebUrl url, Page& page, const Context& context) {
    WebRequest request;
    request.url = std::move(url);
    ASSIGN_OR_RETURN(WebAnswer answer, client_->ask(std::move(request), context));
    if (const Status status = check_status(answer); !status.ok()) {
      answer.finish(context);
      return status.error();
    }
    page.place = answer.url.place();
    const std::string_view type = answer.head().header("content-type").value_or("");
    page.is_html = type.find("html") != type.npos;
    ASSIGN_OR_RETURN(std::string text, answer.connection->read_rest(kMaxPageBytes, context));
    answer.finish(context);
    return text;
  }

  Result<std::vector<std::string>> read_page(const std::string& folder, const Context& context) {
    WebUrl url = place_.folder;
    url.path += percent_encode(folder, "/");
    Page page;
    const auto text = read_text(url, page, context);
    // A prefix without names is nothing; the store itself must be there.
    if (text.failed_with(ErrorCode::kNotFound) && !folder.empty()) {
      return std::vector<std::string>();
    }
    if (!text.ok()) return text.error();
    if (!page.is_html) {
      return Error(ErrorCode::kUnsupported,
                   url.place() +
                       " is not an index page; give a template {000..999} or a "
                       "#manifest=FILE");
    }
    return parse_index_page(*text, page.place);
  }

  // Of the template or the manifest; read once.
  Result<std::shared_ptr<const std::vector<std::string>>> listed_names(const Context& context)
      EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (listed_) return listed_;
    }
    std::vector<std::string> names = place_.names;
    if (!place_.manifest.empty()) {
      ASSIGN_OR_RETURN(WebUrl url, place_.folder.resolve(place_.manifest));
      if (url.query.empty()) url.query = place_.folder.query;
      if (url.origin() != place_.folder.origin()) {
        return Error(ErrorCode::kInvalidArgument, "the manifest is not on the same server");
      }
      Page page;
      ASSIGN_OR_RETURN(const std::string text, read_text(std::move(url), page, context));
      ASSIGN_OR_RETURN(names, parse_manifest(text));
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    const MutexLock lock(mutex_);
    if (!listed_) listed_ = std::make_shared<const std::vector<std::string>>(std::move(names));
    return listed_;
  }

  const StoreUrl place_;
  const std::string url_;
  const std::shared_ptr<WebClient> client_ = std::make_shared<WebClient>();
  Mutex mutex_;
  std::shared_ptr<const std::vector<std::string>> listed_ GUARDED_BY(mutex_);
};

Result<StoreLocation> open_url(const Url& url, IfMissing /*if_missing*/) {
  ASSIGN_OR_RETURN(StoreUrl place, parse_store_url(url));
  std::string name = place.name;
  return StoreLocation{std::make_shared<WebStore>(std::move(place)), std::move(name)};
}

}  // namespace

void register_web(Registry& registry) {
  registry.add("http", open_url);
  registry.add("https", open_url);
}

}  // namespace leat
