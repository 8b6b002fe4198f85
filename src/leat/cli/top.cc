#include <fmt/format.h>

#include <charconv>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "leat/base/units.h"
#include "leat/base/url.h"
#include "leat/cli/live_screen.h"
#include "leat/cli/top_figures.h"
#include "leat/cli/verbs.h"
#include "leat/doors/http/access.h"
#include "leat/doors/http/key_file.h"
#include "leat/http/client.h"

namespace leat::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostAnswerBytes = 16 << 20;

struct TopOptions {
  std::string url = "http://127.0.0.1:9000";
  std::string keys;
  std::string interval = "1s";
  bool once = false;
};

// "http://HOST:PORT", "leat://HOST" or "HOST"; what stands behind it, such as "/leat", is nothing.
Result<http::ClientOptions> address_of(const std::string& text) {
  const bool has_scheme = text.find("://") != std::string::npos;
  ASSIGN_OR_RETURN(const Url url, Url::parse(has_scheme ? text : "http://" + text));
  if (url.scheme != "http" && url.scheme != "leat") {
    return Error(ErrorCode::kInvalidArgument, "'" + text + "' is not http://HOST:PORT");
  }
  http::ClientOptions options;
  constexpr std::uint16_t kUsualPort = 9000;
  if (!has_scheme || url.scheme == "leat") options.port = kUsualPort;
  std::string_view host = url.authority;
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  if (colon != host.npos && (bracket == host.npos || colon > bracket)) {
    const std::string_view port = host.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
    if (error != std::errc() || end != port.data() + port.size()) {
      return Error(ErrorCode::kInvalidArgument, "'" + text + "' has no such port");
    }
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) return Error(ErrorCode::kInvalidArgument, "'" + text + "' names no host");
  options.host = host;
  return options;
}

// The first key of the file. Without a file of the user's own, none: the server may not want one.
Result<http::SigningKeys> find_keys(const TopOptions& options) {
  const std::string path = options.keys.empty() ? doors::http::default_key_file() : options.keys;
  http::SigningKeys keys;
  if (path.empty()) return keys;
  const auto text = doors::http::read_key_file(path);
  if (options.keys.empty() && text.failed_with(ErrorCode::kNotFound)) return keys;
  if (!text) return text.error();
  ASSIGN_OR_RETURN(const auto lines, doors::http::parse_keys(*text));
  if (!lines.empty()) keys = {lines.front().id, lines.front().secret};
  return keys;
}

Result<StatsSample> ask(http::Client& client, const Context& context) {
  http::ClientRequest request;
  request.path = "/leat/v1/stats";
  request.query = "histograms=1";
  std::string body;
  int status_code = 0;
  RETURN_IF_ERROR(client.ask(request, context, [&](http::ClientConnection& answer) -> Status {
    status_code = answer.head().status();
    ASSIGN_OR_RETURN(body, answer.read_rest(kMostAnswerBytes, context));
    return ok_status();
  }));
  if (status_code == 200) return StatsSample::parse(body);
  if (status_code != 403) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("it answers {}, as no Leat server does", status_code));
  }
  const Json json = Json::parse(body, nullptr, false);
  std::string message = "the server refuses";
  if (json.is_object() && json.contains("error") && json["error"].is_object()) {
    message = printable(json["error"].value("message", message));
  }
  return Error(ErrorCode::kPermissionDenied, message);
}

ExitCode fail(Session& session, const TopOptions& options, const Error& error) {
  std::string_view advice = "is the server running? 'leat serve --data DIRECTORY' starts one";
  if (error.code() == ErrorCode::kPermissionDenied) {
    advice = "give the file of a key that may read every bucket with --keys";
  } else if (error.code() == ErrorCode::kInvalidArgument) {
    advice = "leat top --help";
  }
  return session.fail("see " + options.url, error, advice);
}

LiveScreen::Wish wait_quietly(milliseconds duration, const std::stop_token& token) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, token, duration, [] { return false; });
  return token.stop_requested() ? LiveScreen::Wish::kLeave : LiveScreen::Wish::kGoOn;
}

void show(Session& session, const TopOptions& options, const LiveScreen* screen,
          const Figures& figures) {
  if (session.output().is_json()) return session.output().json(to_json(figures));
  auto lines = to_lines(figures);
  if (screen != nullptr) {
    lines.insert(lines.begin(), {options.url + "   q leaves", ""});
    return screen->draw(lines);
  }
  for (const std::string& line : lines) session.output().line(line);
  if (!options.once) session.output().line("");
}

// Until somebody leaves or, for a program, until there is something to tell.
ExitCode watch(Session& session, const TopOptions& options, milliseconds interval,
               http::Client& client) {
  const auto& token = session.context().cancellation();
  auto before = ask(client, session.context());
  if (!before) return fail(session, options, before.error());
  const bool is_live = !options.once && !session.output().is_json();
  auto screen = is_live ? LiveScreen::open() : nullptr;
  if (screen) screen->draw({options.url + "   q leaves"});
  for (;;) {
    const auto wish = screen ? LiveScreen::wait(interval, token) : wait_quietly(interval, token);
    if (wish == LiveScreen::Wish::kLeave) return ExitCode::kOk;
    auto after = ask(client, session.context());
    if (!after) {
      if (token.stop_requested()) return ExitCode::kOk;
      const bool may_come_back = screen && after.failed_with(ErrorCode::kUnavailable);
      if (!may_come_back) {
        screen.reset();  // so that the error is seen
        return fail(session, options, after.error());
      }
      screen->draw({options.url + "   q leaves", "", "the server does not answer; trying again"});
      continue;
    }
    if (const auto figures = Figures::between(*before, *after)) {
      show(session, options, screen.get(), *figures);
      if (!session.output().flush()) return ExitCode::kFailed;
      if (options.once) return ExitCode::kOk;
    }
    before = std::move(after);
  }
}

ExitCode run_top(Session& session, const TopOptions& options) {
  const auto interval = parse_duration(options.interval);
  if (!interval || *interval < milliseconds(100)) {
    return session.refuse("--interval is a time of 100ms or more", "leat top --interval 2s");
  }
  auto client_options = address_of(options.url);
  if (!client_options) return session.refuse(client_options.error().message(), "leat top --help");
  auto keys = find_keys(options);
  if (!keys) return session.fail("use the keys", keys.error(), "leat keys --help");
  client_options->keys = *std::move(keys);
  client_options->attempts = 2;
  http::Client client(*std::move(client_options));
  return watch(session, options, std::chrono::duration_cast<milliseconds>(*interval), client);
}

}  // namespace

void add_top(CLI::App& app, Verb& chosen) {
  auto options = std::make_shared<TopOptions>();
  CLI::App& verb = add_verb(
      app, chosen, "top", "Watch what a server does: rates, latencies, drives",
      "  leat top\n"
      "  leat top http://127.0.0.1:9000\n"
      "  leat top --once --json | jq .total.requests_per_second\n"
      "  leat top --interval 10s >> figures.txt\n"
      "\nThe key is the first one of ~/.config/leat/keys. In a terminal, q or Ctrl-C leaves; in a\n"
      "pipe there is a table each interval.\n",
      options, run_top);
  verb.add_option("url", options->url, "the server; http://127.0.0.1:9000 by default")
      ->type_name("URL");
  verb.add_option("--keys", options->keys, "the file of keys")->type_name("FILE");
  verb.add_option("--interval", options->interval, "how long to count; 1s by default")
      ->type_name("DURATION");
  verb.add_flag("--once", options->once, "show the figures of one interval, and end");
}

}  // namespace leat::cli
