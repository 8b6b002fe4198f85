#include <fmt/format.h>

#include <condition_variable>
#include <memory>
#include <mutex>

#include "leat/base/units.h"
#include "leat/base/url.h"
#include "leat/cli/live_screen.h"
#include "leat/cli/top_figures.h"
#include "leat/cli/verbs.h"
#include "leat/http/authority.h"
#include "leat/http/client.h"
#include "leat/http/key_file.h"

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

// "http://HOST:PORT", "leats://HOST" or "HOST"; what stands behind it, such as "/leat", is nothing.
Result<http::ClientOptions> client_options_of(const TopOptions& top) {
  const bool has_scheme = top.url.find("://") != std::string::npos;
  ASSIGN_OR_RETURN(const Url url, Url::parse(has_scheme ? top.url : "leat://" + top.url));
  const bool is_web = url.scheme == "http" || url.scheme == "https";
  const bool is_tls = url.scheme == "https" || url.scheme == "leats";
  if (!is_web && !is_tls && url.scheme != "leat") {
    return Error(ErrorCode::kInvalidArgument, "'" + top.url + "' is not http://HOST:PORT");
  }
  constexpr std::uint16_t kUsualPort = 9000;
  const std::uint16_t web_port = is_tls ? 443 : 80;
  ASSIGN_OR_RETURN(const auto authority,
                   http::parse_authority(url.authority, is_web ? web_port : kUsualPort));
  http::ClientOptions options;
  options.host = authority.host;
  options.port = authority.port;
  options.attempts = 2;
  if (is_tls) {
    ASSIGN_OR_RETURN(options.tls, http::TlsTrust::system());
  }
  return options;
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
  auto client_options = client_options_of(options);
  if (!client_options) return session.refuse(client_options.error().message(), "leat top --help");
  auto keys = http::find_signing_keys(options.keys);
  if (!keys) return session.fail("use the keys", keys.error(), "leat keys --help");
  client_options->keys = *std::move(keys);
  http::Client client(*std::move(client_options));
  return watch(session, options, std::chrono::duration_cast<milliseconds>(*interval), client);
}

}  // namespace

void add_top(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<TopOptions>();
  Syntax& verb =
      add_verb(program, chosen, "top", "Watch what a server does: rates, latencies, drives",
               "  leat top\n"
               "  leat top http://127.0.0.1:9000\n"
               "  leat top --once --json | jq .total.requests_per_second\n"
               "  leat top --interval 10s >> figures.txt\n"
               "\nThe key is that of --keys, of LEAT_KEYS or of ~/.config/leat/keys. In a "
               "terminal, q or Ctrl-C leaves; in a\n"
               "pipe there is a table each interval.\n",
               options, run_top);
  verb.value("url", options->url, "URL", "the server; http://127.0.0.1:9000 by default");
  verb.value("--keys", options->keys, "FILE", "the file of keys");
  verb.value("--interval", options->interval, "DURATION", "how long to count; 1s by default");
  verb.flag("--once", options->once, "show the figures of one interval, and end");
}

}  // namespace leat::cli
