#include "measure/case/case.h"

#include <stdlib.h>
#include <string.h>

#include <new>

#include "measure/case/cold.h"
#include "measure/case/watch.h"

namespace haichi::measure {
namespace {

// Thrown where all ranks know already, by what() the same on all.
struct SetUpFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void throw_if_any(const char* function, const std::string& problem) {
  if (!problem.empty()) throw CallFailed(std::string(function) + ": " + problem);
}

}  // namespace

std::string Case::set_up(const std::function<Body(Case&)>& make, Body& body) {
  const std::string problem = problem_in(make, body);
  failed_ = !problem.empty();
  return problem;
}

std::string Case::problem_in(const std::function<Body(Case&)>& make, Body& body) {
  std::string mine;
  try {
    body = make(*this);
  } catch (const SetUpFailed& known) {
    return known.what();
  } catch (const CallFailed& error) {
    mine = error.what();
  } catch (const std::bad_alloc&) {
    mine = "no memory";
  }
  return team_.problem_of_any(mine);
}

void Case::agree() const {
  const std::string problem = team_.problem_of_any("");
  if (!problem.empty()) throw SetUpFailed(problem);
}

// What a rank lacks because its call failed the others can't give back without it: they would wait
// for it. It stays with them until the job ends.
std::string Case::give_back() {
  const int of_all = failed_ ? team_.least(together_) : together_;
  std::string problem;
  for (; !ends_.empty(); ends_.pop_back())
    if (ends_.back().number < of_all) attempt(problem, ends_.back().undo);
  together_ = 0;
  return problem;
}

void Case::together(const char* function, const std::function<void()>& calls) {
  agree();
  alone(function, calls);
}

void Case::alone(const char* function, const std::function<void()>& calls) const {
  std::string problem;
  attempt(problem, calls);
  throw_if_any(function, problem);
}

// A call that fails may have made something all the same.
template <class Handle>
Handle Case::keep(const char* function, Handle none, const std::function<int(Handle*)>& make,
                  int (*free)(Handle*), bool together) {
  if (together) agree();
  Handle made = none;
  std::string problem;
  attempt(problem, [&] { must(make(&made)); });
  if (made != none)
    ends_.push_back(
        {[made, free]() mutable { must(free(&made)); }, together ? together_++ : kAlone});
  throw_if_any(function, problem);
  return made;
}

MPI_Win Case::window(const char* function, const std::function<int(MPI_Win*)>& make) {
  const MPI_Win made = keep<MPI_Win>(function, MPI_WIN_NULL, make, MPI_Win_free, true);
  alone("MPI_Win_set_errhandler", [&] { must(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN)); });
  return made;
}

MPI_Win Case::allocated_window(int64_t size) {
  void* memory = nullptr;
  return window("MPI_Win_allocate", [&](MPI_Win* made) {
    return MPI_Win_allocate(size, 1, MPI_INFO_NULL, comm, &memory, made);
  });
}

MPI_Comm Case::communicator(const char* function, const std::function<int(MPI_Comm*)>& make) {
  return keep<MPI_Comm>(function, MPI_COMM_NULL, make, MPI_Comm_free, true);
}

MPI_Comm Case::ring() {
  const int periodic = 1;
  return communicator("MPI_Cart_create", [&](MPI_Comm* made) {
    return MPI_Cart_create(comm, 1, &ranks, &periodic, 0, made);
  });
}

MPI_File Case::opened(const char* function, const std::function<int(MPI_File*)>& open) {
  return keep<MPI_File>(function, MPI_FILE_NULL, open, MPI_File_close, true);
}

MPI_File Case::opened_alone(const char* function, const std::function<int(MPI_File*)>& open) {
  return keep<MPI_File>(function, MPI_FILE_NULL, open, MPI_File_close, false);
}

MPI_Datatype Case::type(const char* function, const std::function<int(MPI_Datatype*)>& make) {
  MPI_Datatype made = keep<MPI_Datatype>(function, MPI_DATATYPE_NULL, make, MPI_Type_free, false);
  alone("MPI_Type_commit", [&] { must(MPI_Type_commit(&made)); });
  return made;
}

MPI_Group Case::group(const char* function, const std::function<int(MPI_Group*)>& make) {
  return keep<MPI_Group>(function, MPI_GROUP_NULL, make, MPI_Group_free, false);
}

MPI_Group Case::group_of_all() {
  return group("MPI_Comm_group", [&](MPI_Group* made) { return MPI_Comm_group(comm, made); });
}

MPI_Info Case::info() {
  return keep<MPI_Info>("MPI_Info_create", MPI_INFO_NULL, MPI_Info_create, MPI_Info_free, false);
}

int Case::keyval() {
  return keep<int>(
      "MPI_Comm_create_keyval", MPI_KEYVAL_INVALID,
      [](int* made) {
        return MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, made,
                                      nullptr);
      },
      MPI_Comm_free_keyval, false);
}

void Case::persistent(const char* function, MPI_Request* request,
                      const std::function<int(MPI_Request*)>& make) {
  *request = keep<MPI_Request>(function, MPI_REQUEST_NULL, make, MPI_Request_free, false);
}

void Case::persistent_of_all(const char* function, MPI_Request* request,
                             const std::function<int(MPI_Request*)>& make) {
  agree();
  persistent(function, request, make);
}

void Case::lock_all(MPI_Win window) {
  alone("MPI_Win_lock_all", [&] { must(MPI_Win_lock_all(0, window)); });
  at_end([=] { must(MPI_Win_unlock_all(window)); });
}

void Case::withdraw_at_end(MPI_Request* requests, int count) {
  at_end([=] {
    for (int i = 0; i < count; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      must(MPI_Cancel(&requests[i]));
      must(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
  });
}

char* Case::memory(int64_t size) {
  constexpr size_t kPage = 4096;
  const size_t whole = (size_t(size) / kPage + 1) * kPage;
  void* const made = aligned_alloc(kPage, whole);
  if (made == nullptr) throw CallFailed("no memory for " + std::to_string(size) + " bytes");
  memset(made, 1, whole);
  kept_.push_back(std::shared_ptr<void>(made, free));
  memory_.emplace_back(static_cast<const char*>(made), size_t(size));
  return static_cast<char*>(made);
}

void Case::cool() const {
  for (const auto& [begin, size] : memory_) take_out_of_caches(begin, size);
}

}  // namespace haichi::measure
