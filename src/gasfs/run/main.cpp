// `haichi-gasfs`: the daemons of the gather file system, and what works on their stores.
#include <sodium.h>

#include <cstdlib>

#include "base/log.h"
#include "gasfs/run/commands.h"

int main(int argc, char** argv) {
  using namespace haichi::gasfs::run;
  if (sodium_init() < 0) return kFailed;
  const char* asked = std::getenv("HAICHI_LOG");
  haichi::set_log(haichi::log_level(asked ? asked : ""), "haichi gasfs");
  CLI::App app("The daemons of the gather file system; haichi gasfs starts them.");
  app.require_subcommand(1);
  int code = 0;
  add_server(app, code);
  add_dispatcher(app, code);
  add_ask(app, code);
  add_broadcast(app, code);
  add_check(app, code);
  add_btio(app, code);
  add_write_btio(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
  return code;
}
