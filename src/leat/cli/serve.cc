#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>

#include "leat/base/units.h"
#include "leat/cli/verbs.h"
#include "leat/doors/http/front.h"
#include "leat/doors/http/native/service.h"
#include "leat/doors/http/page/service.h"
#include "leat/doors/http/s3/service.h"
#include "leat/doors/http/server.h"
#include "leat/doors/http/upload_sweeper.h"
#include "leat/http/key_file.h"

namespace leat::cli {
namespace {

namespace http = doors::http;
using http::Anonymous;

struct ServeOptions {
  std::vector<std::string> directories;
  std::string listen;
  std::size_t threads = 0;
  std::string keys;
  std::string anonymous;
  std::vector<std::string> domains;
  std::string tls_certificate;
  std::string tls_key;
};

// "HOST:PORT", "[::1]:9000", ":9000" (every address), "9000".
Result<http::ServerOptions> server_options(const ServeOptions& options,
                                           const ServeSettings& settings) {
  http::ServerOptions result = settings.server;
  if (options.threads > 0) result.loops = options.threads;
  if (!options.tls_certificate.empty()) result.tls_certificate = options.tls_certificate;
  if (!options.tls_key.empty()) result.tls_key = options.tls_key;
  if (result.tls_certificate.empty() != result.tls_key.empty()) {
    return Error(ErrorCode::kInvalidArgument, "TLS needs a certificate and its key");
  }
  const std::string listen = options.listen.empty() ? settings.listen : options.listen;
  const std::size_t colon = listen.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : listen.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string port = colon == std::string::npos ? listen : listen.substr(colon + 1);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), value);
  if (error != std::errc() || end != port.data() + port.size() || value > 65535) {
    return Error(ErrorCode::kInvalidArgument, "'" + listen + "' is not HOST:PORT");
  }
  result.host = host;
  result.port = static_cast<std::uint16_t>(value);
  return result;
}

// A server keeps more objects open than a command, as far as descriptors go.
std::size_t open_object_limit() {
  constexpr std::size_t kWanted = 4096;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min<std::size_t>(kWanted, limit.rlim_cur / 4);
}

// The store on `directories`, made if there is none.
Result<std::shared_ptr<local::LocalStore>> open_store(Session& session,
                                                      const ServeOptions& options) {
  std::vector<std::string> directories;
  for (const std::string& directory : options.directories) {
    std::error_code error;
    directories.push_back(std::filesystem::absolute(directory, error).lexically_normal().string());
    if (error) return Error::from_errno(error.value(), directory);
  }
  local::StoreOptions store_options = session.stores().settings().store;
  store_options.open_objects = open_object_limit();
  auto store = local::LocalStore::open(directories, store_options);
  if (!store.failed_with(ErrorCode::kNotFound)) return store;
  session.output().note("leat: making a new store in " +
                        fmt::format("{}", fmt::join(options.directories, ", ")));
  return local::LocalStore::create(directories, store_options);
}

struct Keys {
  std::string file;
  bool is_new = false;
  http::Access access;
};

Result<Keys> open_keys(const ServeOptions& options, const ServeSettings& settings) {
  Keys keys;
  Anonymous anonymous = settings.anonymous;
  if (options.anonymous == "none") anonymous = Anonymous::kNothing;
  if (options.anonymous == "read") anonymous = Anonymous::kRead;
  if (options.anonymous == "write") anonymous = Anonymous::kWrite;
  keys.access = http::Access(anonymous);
  keys.file = options.keys.empty() ? settings.keys : options.keys;
  if (keys.file.empty()) keys.file = leat::http::default_key_file();
  if (keys.file.empty()) {
    return Error(ErrorCode::kInvalidArgument, "neither --keys nor HOME says where keys are kept");
  }
  auto text = leat::http::read_key_file(keys.file);
  if (text.failed_with(ErrorCode::kNotFound)) {
    ASSIGN_OR_RETURN(const std::string line, http::make_key("admin"));
    RETURN_IF_ERROR(leat::http::make_key_file(keys.file, line));
    keys.is_new = true;
    text = leat::http::read_key_file(keys.file);
  }
  if (!text) return text.error();
  if (const Status status = keys.access.add_keys(*text); !status) {
    return Error(status.error().code(), fmt::format("{}: {}", keys.file, status.error().message()));
  }
  return keys;
}

// As many descriptors as the system lets us have: each connection is one.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void wait_for(const std::stop_token& token) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait(lock, token, [] { return false; });
}

void greet(Session& session, const std::string& url, const Keys& keys,
           const ServeOptions& options) {
  if (session.output().is_json()) {
    session.output().json({{"url", url}, {"keys", keys.file}});
    return;
  }
  session.output().line(fmt::format("serving {} at {}", fmt::join(options.directories, ", "), url));
  if (keys.is_new) session.output().line("made a key, kept in " + keys.file);
  session.output().line(
      fmt::format("try: eval \"$(leat keys env{})\" && aws --endpoint-url {} s3 ls",
                  keys.file == leat::http::default_key_file() ? "" : " --keys " + keys.file, url));
  session.output().line(fmt::format("look: {}/leat, or leat top {}", url, url));
}

ExitCode run_serve(Session& session, const ServeOptions& options) {
  raise_descriptor_limit();
  const ServeSettings& settings = session.stores().settings().serve;
  const auto address = server_options(options, settings);
  if (!address) return session.refuse(address.error().message(), "leat serve --help");
  // First of all: a port that is taken leaves no store and no key behind.
  auto listener = http::Listener::bind(address->host, address->port);
  constexpr std::string_view kListenAdvice = "choose another address with --listen";
  if (!listener) return session.fail("listen", listener.error(), kListenAdvice);
  auto keys = open_keys(options, settings);
  if (!keys) return session.fail("use the keys", keys.error(), "leat keys --help");
  auto store = open_store(session, options);
  if (!store) return session.fail("open the store", store.error());
  auto domains = options.domains.empty() ? settings.domains : options.domains;
  for (std::string& domain : domains) domain = leat::http::to_lower(domain);
  const auto buckets = std::make_shared<http::Buckets>(*store);
  const auto access = std::make_shared<const http::Access>(keys->access);
  const auto stats = std::make_shared<http::RequestStats>();
  http::native::NativeService native(buckets, access, stats, {.hosts = domains});
  http::s3::S3Service s3(buckets, access, stats, {.domains = domains});
  http::page::PageService page;
  http::Front front({.page = page, .native = native, .s3 = s3}, domains);
  auto server = http::Server::start(*address, front, *std::move(listener));
  if (!server) return session.fail("listen", server.error(), kListenAdvice);
  const std::string host = address->host.find(':') != std::string::npos ? "[" + address->host + "]"
                           : address->host.empty()                      ? "127.0.0.1"
                                                                        : address->host;
  const std::string_view scheme = address->tls_certificate.empty() ? "http" : "https";
  const std::string url = fmt::format("{}://{}:{}", scheme, host, (*server)->port());
  // A hint to those who find the store taken; on a full disk there is none.
  const std::string_view store_scheme = address->tls_certificate.empty() ? "leat" : "leats";
  const Status announced =
      (*store)->announce(fmt::format("{}://{}:{}", store_scheme, host, (*server)->port()));
  if (!announced) {
    session.output().note(fmt::format("leat: nobody is told where the store is served: {}",
                                      announced.error().message()));
  }
  native.set_server_counts([&server] { return (*server)->counts(); });
  greet(session, url, *keys, options);
  if (!session.output().flush()) return session.fail("greet", Error(ErrorCode::kIoError));
  {
    const http::UploadSweeper sweeper(*store, settings.abandoned_uploads);
    wait_for(session.context().cancellation());
  }
  native.set_draining();
  session.output().note("leat: stopping; a second signal stops at once");
  (*server)->stop(std::chrono::ceil<std::chrono::milliseconds>(settings.drain_timeout));
  const Status closed = (*store)->close(Context());
  return closed ? ExitCode::kOk : session.fail("close the store", closed.error());
}

}  // namespace

void add_serve(Syntax& program, Verb& chosen) {
  auto options = std::make_shared<ServeOptions>();
  Syntax& verb =
      add_verb(program, chosen, "serve", "Serve a store over HTTP, to every S3 client",
               "  leat serve --data /data/store\n"
               "  leat serve --data /disk1/store --data /disk2/store --listen :9000\n"
               "  leat serve --data /data/store --anonymous read\n"
               "  eval \"$(leat keys env)\" && aws --endpoint-url http://127.0.0.1:9000 s3 ls\n"
               "\nThe first start makes the store and an access key. SIGTERM or Ctrl-C lets "
               "requests end; a\n"
               "second one stops at once.\n",
               options, run_serve);
  verb.values("--data", options->directories, "DIRECTORY", "a directory of the store, one a disk");
  verb.require("--data");
  verb.value("--listen", options->listen, "HOST:PORT",
             "where to listen; 127.0.0.1:9000 by default, :9000 is every address");
  verb.number("--threads", options->threads, 1, 1024, "event loops; one a core by default");
  verb.value("--keys", options->keys, "FILE",
             "the file of access keys; ~/.config/leat/keys by default");
  verb.value("--tls-certificate", options->tls_certificate, "FILE", "a PEM file: serve HTTPS");
  verb.value("--tls-key", options->tls_key, "FILE", "the PEM file of its key");
  verb.values("--domain", options->domains, "NAME",
              "a name of this server under which buckets are hosts: BUCKET.NAME");
  verb.choice("--anonymous", options->anonymous, {"none", "read", "write"},
              "what requests without a key may do: none (default), read or write");
}

}  // namespace leat::cli
