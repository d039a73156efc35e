"""packaging/Containerfile, built as the guide says, but on a Debian root made of this machine's
package registry and not of an image registry's: by buildah, which needs no daemon."""

import tempfile
from pathlib import Path

from haichi_bootstrap import debian_root, paths, shell
from haichi_bootstrap.debian_root import LOGS

BASE = "localhost/haichi-base"
IMAGE = "localhost/haichi"


def unpack_image(archive: Path, root: Path, user: str) -> None:
    """Builds the image upon the Debian of `archive` and makes the new folder `root` what a
    container of it sees, with an account for `user`.

    Raises:
        Stop: a step failed.
    """
    with tempfile.TemporaryDirectory(prefix="images-", dir=root.parent) as name:
        folder = Path(name)
        buildah: shell.Command = ["buildah", "--storage-driver", "vfs"]
        buildah += ["--root", folder / "images", "--runroot", folder / "run"]
        log = LOGS / "container.log"
        _make_base(buildah, archive, folder / "debian", log)
        shell.step("buildah", "the image of packaging/Containerfile, which compiles haichi")
        build: shell.Command = [*buildah, "build", "--isolation", "chroot", "--tag", IMAGE]
        build += ["--build-arg", f"BASE={BASE}", "-f", paths.ROOT / "packaging" / "Containerfile"]
        shell.must([*build, paths.ROOT], "building the image", log)
        shell.must([*buildah, "from", "--name", "used", IMAGE], "starting a container", log)
        seen = shell.output([*buildah, "mount", "used"])
        if not seen:
            raise shell.Stop("buildah mount failed: is this machine's root allowed to mount?")
        shell.must(["cp", "-a", seen.strip(), root], "copying what the container sees", log)
        shell.must([*buildah, "umount", "used"], "unmounting the container", log)
    debian_root.prepare(root, user)


def _make_base(buildah: shell.Command, archive: Path, root: Path, log: Path) -> None:
    """The image that the Containerfile begins with; in it this machine's registries are known."""
    debian_root.unpack(archive, root, "root")
    shell.must([*buildah, "from", "--name", "base", "scratch"], "an empty container", log)
    shell.must([*buildah, "add", "base", root, "/"], "copying the root", log)
    for line in debian_root.passed_on():
        shell.must([*buildah, "config", "--env", line, "base"], "telling the environment", log)
    shell.must([*buildah, "commit", "base", BASE], "the image to begin with", log)
