# Spack recipe: put this folder's file into a repository of yours as packages/haichi/package.py.
from spack.package import *


class Haichi(CMakePackage):
    """Placement-aware communication and I/O under unmodified MPI programs: collective MPI-IO and
    all-to-all collectives that follow where the ranks are; a report of what was done and why."""

    homepage = "https://example.org/haichi"  # to be set where the project is published
    git = "file:///path/to/haichi"  # or the address of a clone

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-pympistandard@0.2:", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json@3.9:", type="build")
    depends_on("tl-expected", type="build")
    depends_on("cli11@2:", type="build")
    depends_on("tomlplusplus@3:", type="build")
    depends_on("hwloc@2:")
    depends_on("mpi")
    # What reads reports; `haichi run` needs none of it.
    depends_on("py-numpy@1.26:", type="run")
    depends_on("py-pydantic@2.6:", type="run")
    depends_on("py-rich@13:", type="run")
    depends_on("py-typer@0.12:", type="run")

    build_targets = ["installable"]

    def cmake_args(self):
        mpicc = self.spec["mpi"].mpicc
        flavour = "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"
        return [
            self.define("HAICHI_TESTS", False),
            self.define("HAICHI_STUDIES", False),
            self.define("HAICHI_BUNDLE_PYTHON", False),
            self.define("HAICHI_PYTHON", self.spec["python"].command.path),
            self.define(f"HAICHI_MPICC_{flavour}", mpicc),
        ]
