#include "mpi/job/machine_file.h"

#include "base/os.h"
#include "machine/match.h"
#include "machine/profile.h"
#include "mpi/job/machine_search.h"
#include "mpi/job/machine_signature.h"
#include "mpi/job/shared_text.h"

namespace haichi::mpi {
namespace {

using Use = report::MachineUse::Kind;

// On rank 0. Its text, or "".
std::string named(const std::string& path, const placement::Placement& world, KnownMachine& known) {
  auto text = read_file(path);
  auto profile = text ? machine::parse_profile(*text) : tl::unexpected<Error>(text.error());
  if (!profile) {
    const std::string where = text ? path + ": " : "";
    known.use.why = where + profile.error().text;
    known.problem = "the machine's profile is not used, defaults count: " + known.use.why;
    return "";
  }
  known.use = {Use::named, path, profile->name, profile->made, "the setting machine names it"};
  known.machine = std::move(profile->machine);
  const machine::Match match = machine::match(profile->signature, signature_of(world));
  if (match.fits()) return *std::move(text);
  known.use.why = fmt::format("the setting machine names it, though it is of another machine: {}",
                              match.difference);
  known.problem = fmt::format(
      "{} is the profile of another machine: {}; it is used all the same, since the setting "
      "machine names it",
      path, match.difference);
  return *std::move(text);
}

// The same.
std::string found(const placement::Placement& world, KnownMachine& known) {
  FoundMachine seen = find_machine(machine_folders(), world);
  known.use.why = std::move(seen.why);
  if (!seen.profile) return "";
  known.use = {Use::found, std::move(seen.path), std::move(seen.profile->name),
               std::move(seen.profile->made), std::move(known.use.why)};
  known.machine = std::move(seen.profile->machine);
  return std::move(seen.text);
}

}  // namespace

KnownMachine know_machine(MPI_Comm comm, int rank, const Settings& settings,
                          const placement::Placement& world) {
  KnownMachine known;
  const std::string& path = settings.text("machine");
  if (path.empty() && settings.text("machines.find") == "off") {
    known.use.why = "machines.find is off";
    return known;
  }
  std::string text;
  if (rank == 0) text = path.empty() ? found(world, known) : named(path, world, known);
  text = shared_text(comm, std::move(text));
  // What rank 0 could read, every rank can: the text is the same.
  if (rank != 0 && !text.empty())
    if (auto profile = machine::parse_profile(text)) known.machine = std::move(profile->machine);
  return known;
}

}  // namespace haichi::mpi
