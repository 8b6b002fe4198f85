#include <fmt/format.h>

#include <memory>

#include "leat/cli/verbs.h"
#include "leat/doors/http/access.h"
#include "leat/http/key_file.h"

namespace leat::cli {
namespace {

namespace http = doors::http;

struct KeysOptions {
  std::string file = leat::http::default_key_file();
  std::vector<std::string> rights;
  std::string removed;
};

Result<std::vector<http::KeyLine>> read_keys(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, leat::http::read_key_file(file));
  return http::parse_keys(text);
}

constexpr std::string_view kFirstKeyAdvice =
    "'leat keys add admin' or 'leat serve' make the first key";

// Never the secrets.
ExitCode run_list(Session& session, const KeysOptions& options) {
  const auto keys = read_keys(options.file);
  if (!keys) return session.fail("read the keys", keys.error(), kFirstKeyAdvice);
  std::vector<std::vector<std::string>> rows = {{"key", "rights"}};
  Json document = Json::array();
  for (const http::KeyLine& key : *keys) {
    rows.push_back({key.id, key.rights});
    document.push_back({{"key", key.id}, {"rights", key.rights}});
  }
  if (session.output().is_json()) {
    session.output().json(document);
  } else {
    session.output().table(rows);
  }
  return ExitCode::kOk;
}

ExitCode run_add(Session& session, const KeysOptions& options) {
  const std::string rights = fmt::format("{}", fmt::join(options.rights, " "));
  const auto line = http::make_key(rights);
  if (!line) return session.fail("make a key", line.error());
  const auto key = http::parse_keys(*line);
  if (!key) return session.refuse(key.error().message(), "leat keys add --help");
  if (key->size() != 1 || key->front().rights != rights) {
    return session.refuse("a right holds no '#'", "leat keys add --help");
  }
  const bool is_first = leat::http::read_key_file(options.file).failed_with(ErrorCode::kNotFound);
  const Status status = is_first ? leat::http::make_key_file(options.file, *line)
                                 : leat::http::append_to_key_file(options.file, *line);
  if (!status) return session.fail("add a key", status.error());
  const http::KeyLine& made = key->front();
  if (session.output().is_json()) {
    session.output().json({{"key", made.id}, {"secret", made.secret}, {"rights", rights}});
  } else {
    session.output().line(made.id + " " + made.secret);
    session.output().note("leat: a server that runs takes it when it is started again");
  }
  return ExitCode::kOk;
}

ExitCode run_remove(Session& session, const KeysOptions& options) {
  const Status status = leat::http::remove_from_key_file(options.file, options.removed);
  if (!status) return session.fail("remove a key", status.error(), "'leat keys ls' lists them");
  if (session.output().is_json()) {
    session.output().json({{"key", options.removed}});
    return ExitCode::kOk;
  }
  session.output().line("removed " + options.removed);
  session.output().note("leat: a server that runs takes it until it is started again");
  const auto left = read_keys(options.file);
  if (left.ok() && left->empty()) session.output().note("leat: no key is left");
  return ExitCode::kOk;
}

ExitCode run_environment(Session& session, const KeysOptions& options) {
  const auto keys = read_keys(options.file);
  if (!keys) return session.fail("read the keys", keys.error(), kFirstKeyAdvice);
  if (keys->empty()) {
    return session.fail("find a key", Error(ErrorCode::kNotFound, options.file + " has none"),
                        kFirstKeyAdvice);
  }
  session.output().line("export AWS_ACCESS_KEY_ID=" + keys->front().id);
  session.output().line("export AWS_SECRET_ACCESS_KEY=" + keys->front().secret);
  session.output().line("export AWS_DEFAULT_REGION=us-east-1");
  return ExitCode::kOk;
}

}  // namespace

void add_keys(Syntax& program, Verb& chosen) {
  Syntax& group = program.add_group("keys", "The access keys of 'leat serve'",
                                    "  eval \"$(leat keys env)\"\n  leat keys add read:images\n");
  auto options = std::make_shared<KeysOptions>();
  Syntax& list =
      add_verb(group, chosen, "ls", "List keys and their rights, not their secrets",
               "  leat keys ls\n  leat keys ls --json --keys /etc/leat/keys\n", options, run_list);
  Syntax& add =
      add_verb(group, chosen, "add", "Make a key, and show it",
               "  leat keys add admin\n  leat keys add read:images write:results/mine/\n"
               "\nA right is read, write (reads too) or admin (everything), for all buckets, one\n"
               "bucket or the names in it that begin with a prefix.\n",
               options, run_add);
  Syntax& remove = add_verb(group, chosen, "rm", "Remove a key",
                            "  leat keys rm LEATABCDEFGHIJKLMNOP\n"
                            "\nA server that runs takes it until it is started again.\n",
                            options, run_remove);
  Syntax& environment =
      add_verb(group, chosen, "env", "Print the first key as the variables that S3 clients read",
               "  eval \"$(leat keys env)\" && aws --endpoint-url http://127.0.0.1:9000 s3 ls\n",
               options, run_environment);
  for (Syntax* verb : {&list, &add, &remove, &environment}) {
    verb->value("--keys", options->file, "FILE", "the file of keys");
  }
  add.values("right", options->rights, "RIGHT", "RIGHT[:BUCKET[/PREFIX]]");
  add.require("right");
  remove.value("key", options->removed, "ACCESS-KEY", "the access key, as 'leat keys ls' shows it");
  remove.require("key");
}

}  // namespace leat::cli
