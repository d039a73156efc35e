#include "machine/profile.h"

#include <errno.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"

namespace haichi::machine {
namespace {

using nlohmann::json;

// More is no profile of haichi's, and would only take memory.
constexpr size_t kMostCurves = 1024, kMostPieces = 4096;

constexpr std::string_view kRemedy = "`haichi fit` writes such a file anew";

Status read_seats(const json& value, Machine& machine) {
  if (!value.is_array()) return fail(EINVAL, "seats takes a list of whole numbers");
  for (const json& each : value) {
    const auto seat = whole_number(each);
    if (!seat || *seat < 0)
      return fail(EINVAL, "seats takes whole numbers from 0, not {}", shown(each));
    machine.seats.push_back(*seat);
  }
  return {};
}

// What both forms have beside numbers; false if the key is none of that.
Result<bool> read_shape(const std::string& key, const json& value, Machine& machine) {
  if (key == "network") {
    if (!value.is_string()) return fail(EINVAL, "network takes a text, not {}", shown(value));
    machine.network = value.get<std::string>();
    return true;
  }
  if (key != "seats") return false;
  if (auto done = read_seats(value, machine); !done) return tl::unexpected(done.error());
  return true;
}

Result<Profile> read_first_form(const json& fields) {
  Profile profile;
  for (const auto& [key, value] : fields.items()) {
    if (key == "schema") continue;
    const auto shape = read_shape(key, value, profile.machine);
    if (!shape) return tl::unexpected(shape.error());
    if (*shape) continue;
    if (!value.is_number()) return fail(EINVAL, "{} takes a number, not {}", key, shown(value));
    if (auto done = set_field(profile.machine, key, value.get<double>()); !done)
      return tl::unexpected(done.error());
  }
  return profile;
}

// --- haichi.machine/2 --------------------------------------------------------------------------

bool absent(const json& object, const char* key) {
  return !object.contains(key) || object[key].is_null();
}

Status read_text(const json& object, const char* key, const std::string& where, std::string& text) {
  if (absent(object, key)) return {};
  if (!object[key].is_string())
    return fail(EINVAL, "{}{} takes a text, not {}", where, key, shown(object[key]));
  text = object[key].get<std::string>();
  return {};
}

struct Range {
  double least, most;
};
constexpr Range kBytes{0, 1e18}, kSeconds{0, 1e6}, kAnySeconds{-1e6, 1e6};

Status read_number(const json& object, const char* key, const std::string& where, Range range,
                   double& number) {
  const json value = object.contains(key) ? object[key] : json();
  if (!value.is_number())
    return fail(EINVAL, "{}{} takes a number, not {}", where, key, shown(value));
  number = value.get<double>();
  if (!(number >= range.least && number <= range.most))
    return fail(EINVAL, "{}{} takes a number from {:g} up to {:g}, not {}", where, key, range.least,
                range.most, shown(value));
  return {};
}

Status read_numbers(const json& numbers, Machine& machine) {
  if (!numbers.is_object()) return fail(EINVAL, "numbers takes an object, not {}", shown(numbers));
  for (const auto& [name, entry] : numbers.items()) {
    const json value = entry.is_object() && entry.contains("value") ? entry["value"] : json();
    if (!value.is_number())
      return fail(EINVAL, "numbers.{} takes {{\"value\": number}}, not {}", name, shown(entry));
    if (auto done = set_field(machine, name, value.get<double>()); !done)
      return fail(EINVAL, "numbers: {}", done.error().text);
  }
  return {};
}

Status read_signature(const json& object, Signature& signature) {
  if (!object.is_object()) return fail(EINVAL, "signature takes an object, not {}", shown(object));
  const std::string where = "signature.";
  if (auto done = read_text(object, "library", where, signature.library); !done) return done;
  if (auto done = read_text(object, "processor", where, signature.processor); !done) return done;
  if (!absent(object, "cores")) {
    const auto cores = whole_number(object["cores"]);
    if (!cores || *cores < 1)
      return fail(EINVAL, "signature.cores takes a whole number from 1, not {}",
                  shown(object["cores"]));
    signature.cores = *cores;
  }
  if (!absent(object, "network")) {
    if (!object["network"].is_boolean())
      return fail(EINVAL, "signature.network takes true or false, not {}",
                  shown(object["network"]));
    signature.network = object["network"].get<bool>();
  }
  if (absent(object, "node_names")) return {};
  const json& names = object["node_names"];
  if (!names.is_array()) return fail(EINVAL, "signature.node_names takes a list of texts");
  for (const json& name : names) {
    if (!name.is_string())
      return fail(EINVAL, "signature.node_names takes texts, not {}", shown(name));
    signature.node_names.push_back(name.get<std::string>());
  }
  return {};
}

// The sizes that were measured, and their times.
Status read_points(const json& curve, const std::string& where, SizeCurve& points) {
  if (absent(curve, "bytes")) return {};
  const json& sizes = curve["bytes"];
  if (!sizes.is_array()) return fail(EINVAL, "{}bytes takes a list of numbers", where);
  for (const json& size : sizes) {
    const double last = points.bytes.empty() ? -1 : points.bytes.back();
    if (!size.is_number() || !(size.get<double>() > last))
      return fail(EINVAL, "{}bytes takes ascending numbers from 0: {} does not follow {:g}", where,
                  shown(size), last);
    points.bytes.push_back(size.get<double>());
  }
  const std::pair<const char*, std::vector<double>*> lists[] = {
      {"seconds", &points.seconds}, {"low", &points.low}, {"high", &points.high}};
  for (const auto& [key, times] : lists) {
    if (absent(curve, key)) continue;
    if (!curve[key].is_array() || curve[key].size() != sizes.size())
      return fail(EINVAL, "{}{} takes as many numbers as {}bytes has, {}", where, key, where,
                  sizes.size());
    for (const json& each : curve[key]) {
      if (!each.is_number() || !(each.get<double>() >= 0))
        return fail(EINVAL, "{}{} takes numbers from 0, not {}", where, key, shown(each));
      times->push_back(each.get<double>());
    }
  }
  if (points.seconds.empty()) points = {};  // sizes alone tell nothing
  return {};
}

Result<Piece> read_piece(const json& entry, const std::string& where, double after) {
  Piece piece{};
  if (!entry.is_object()) return fail(EINVAL, "{} takes an object, not {}", where, shown(entry));
  const std::string inside = where + ".";
  Status done = read_number(entry, "from", inside, kBytes, piece.from);
  if (done) done = read_number(entry, "to", inside, kBytes, piece.to);
  if (done) done = read_number(entry, "latency_s", inside, kAnySeconds, piece.latency);
  if (done) done = read_number(entry, "s_per_byte", inside, kSeconds, piece.per_byte);
  if (!done) return tl::unexpected(done.error());
  if (piece.from < after || piece.to < piece.from)
    return fail(EINVAL, "{} goes from {:g} to {:g} bytes, and the pieces must ascend", where,
                piece.from, piece.to);
  if (piece.seconds(piece.from) < 0)
    return fail(EINVAL, "{} says less than 0 s for {:g} bytes", where, piece.from);
  return piece;
}

std::optional<Place> place_of(const json& curve) {
  const std::string name = curve.contains("place") && curve["place"].is_string()
                               ? curve["place"].get<std::string>()
                               : "";
  const auto at = std::find(kPlaceNames.begin(), kPlaceNames.end(), name);
  if (at == kPlaceNames.end()) return std::nullopt;
  return Place(at - kPlaceNames.begin());
}

Status read_curve(const json& entry, const std::string& where, Machine& machine) {
  if (!entry.is_object()) return fail(EINVAL, "{} takes an object, not {}", where, shown(entry));
  const std::string inside = where + ".";
  const auto place = place_of(entry);
  if (!place) return fail(EINVAL, "{}place takes core, numa, node or network", inside);
  Curve curve{*place, {}};
  if (auto done = read_points(entry, inside, curve.points); !done) return done;
  if (absent(entry, "pieces")) return {};
  const json& pieces = entry["pieces"];
  if (!pieces.is_array() || pieces.size() > kMostPieces)
    return fail(EINVAL, "{}pieces takes a list of {} objects at most", inside, kMostPieces);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const double after = curve.pieces.empty() ? 0 : curve.pieces.back().to;
    const auto piece = read_piece(pieces[i], fmt::format("{}pieces[{}]", inside, i), after);
    if (!piece) return tl::unexpected(piece.error());
    curve.pieces.push_back(*piece);
  }
  if (curve.pieces.empty()) return {};
  const bool known = std::any_of(machine.curves.begin(), machine.curves.end(),
                                 [&](const Curve& each) { return each.place == curve.place; });
  if (!known) machine.curves.push_back(std::move(curve));
  return {};
}

Status read_curves(const json& curves, Machine& machine) {
  if (!curves.is_array() || curves.size() > kMostCurves)
    return fail(EINVAL, "curves takes a list of {} objects at most", kMostCurves);
  for (size_t i = 0; i < curves.size(); ++i)
    if (auto done = read_curve(curves[i], fmt::format("curves[{}]", i), machine); !done)
      return done;
  return {};
}

Status read_collectives(const json& curves, std::vector<CollectiveCurve>& collectives) {
  if (!curves.is_array() || curves.size() > kMostCurves)
    return fail(EINVAL, "collectives takes a list of {} objects at most", kMostCurves);
  for (size_t i = 0; i < curves.size(); ++i) {
    const std::string where = fmt::format("collectives[{}]", i), inside = where + ".";
    if (!curves[i].is_object())
      return fail(EINVAL, "{} takes an object, not {}", where, shown(curves[i]));
    CollectiveCurve made;
    if (auto done = read_text(curves[i], "name", inside, made.name); !done) return done;
    for (const auto& [key, number] : {std::pair{"ranks", &made.ranks}, {"nodes", &made.nodes}}) {
      const auto whole = whole_number(curves[i].value(key, json()));
      if (!whole || *whole < 1)
        return fail(EINVAL, "{}{} takes a whole number from 1, not {}", inside, key,
                    shown(curves[i].value(key, json())));
      *number = *whole;
    }
    if (auto done = read_points(curves[i], inside, made.curve); !done) return done;
    collectives.push_back(std::move(made));
  }
  return {};
}

Result<Profile> read_second_form(const json& fields) {
  Profile profile;
  Status done = read_text(fields, "name", "", profile.name);
  if (done) done = read_text(fields, "source", "", profile.source);
  if (done && !absent(fields, "made") && fields["made"].is_object())
    done = read_text(fields["made"], "when", "made.", profile.made);
  if (done && !absent(fields, "signature"))
    done = read_signature(fields["signature"], profile.signature);
  if (done && !absent(fields, "numbers")) done = read_numbers(fields["numbers"], profile.machine);
  if (done && !absent(fields, "curves")) done = read_curves(fields["curves"], profile.machine);
  if (done && !absent(fields, "collectives"))
    done = read_collectives(fields["collectives"], profile.collectives);
  if (!done) return tl::unexpected(done.error());
  if (!absent(fields, "numa")) {
    auto numa = read_numa(fields["numa"]);
    if (!numa) return tl::unexpected(numa.error());
    profile.numa = std::move(*numa);
  }
  for (const char* key : {"network", "seats"}) {
    if (absent(fields, key)) continue;
    if (const auto shape = read_shape(key, fields[key], profile.machine); !shape)
      return tl::unexpected(shape.error());
  }
  return profile;
}

}  // namespace

Result<Profile> parse_profile(std::string_view text) {
  const auto fields = parse_json(text);
  if (!fields) return fail(EINVAL, "not JSON: {}; {}", fields.error().text, kRemedy);
  if (!fields->is_object()) return fail(EINVAL, "not a JSON object; {}", kRemedy);
  const json schema = fields->value("schema", json());
  if (schema == kSchema1) return read_first_form(*fields);
  if (schema != kSchema2)
    return fail(EINVAL, "\"schema\" is {}, not \"{}\" or \"{}\"; {}",
                schema.is_null() ? "left out" : shown(schema), kSchema2, kSchema1, kRemedy);
  auto profile = read_second_form(*fields);
  if (!profile) return fail(EINVAL, "{}; {}", profile.error().text, kRemedy);
  return profile;
}

}  // namespace haichi::machine
