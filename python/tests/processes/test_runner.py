"""The one way to run a program: real programs that hang, break off, fork and print."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from haichi_processes import marks, runner

PYTHON = Path(__file__).resolve().parents[2]


def alive(pid: int) -> bool:
    """Whether a process is there and not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(*pids: int) -> bool:
    """Whether they are, soon: a process that is killed takes a moment to end."""
    deadline = time.monotonic() + 10
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def sh(script: str) -> list[str | Path]:
    return ["sh", "-c", script]


# What it printed, and how it ended


def test_output_and_errors_are_kept_apart_with_the_exit_code() -> None:
    done = runner.run(sh("echo out; echo err >&2; exit 5"))
    assert (done.code, done.out, done.err, done.timed_out) == (5, "out\n", "err\n", False)
    assert (done.how, done.status, done.last_error) == ("exit code 5", 5, "err")


def test_a_signal_is_told_by_its_name_and_what_was_printed_is_kept() -> None:
    done = runner.run(sh("echo before; kill -SEGV $$"))
    assert (done.code, done.out) == (-signal.SIGSEGV, "before\n")
    assert (done.how, done.status) == ("ended by SIGSEGV", 139)


def test_an_exit_code_of_124_is_no_time_out() -> None:
    done = runner.run(sh("exit 124"), timeout=20)
    assert (done.code, done.timed_out, done.how) == (124, False, "exit code 124")


def test_more_than_a_pipe_holds_comes_through_on_both() -> None:
    script = "import sys; sys.stderr.write('e' * 300000); sys.stdout.write('o' * 300000)"
    done = runner.run([sys.executable, "-c", script], timeout=60)
    assert (len(done.out), len(done.err)) == (300000, 300000)


def test_what_is_no_text_is_shown_all_the_same() -> None:
    assert runner.run(sh(r"printf 'a\377b'")).out == "a�b"


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        runner.run(["/nowhere/program"])


# What it is given


def test_nothing_or_a_text_is_on_standard_input() -> None:
    assert runner.run(sh("read x || exit 3"), timeout=20).code == 3
    text = "line\n" * 100_000  # more than a pipe holds
    assert runner.run(["wc", "-l"], stdin=text, timeout=20).out.strip() == "100000"


def test_the_environment_is_the_one_given_or_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_TEST", "ours")
    assert runner.run(sh("echo $RUNNER_TEST")).out == "ours\n"
    path = {"PATH": os.environ["PATH"]}
    assert runner.run(sh("echo ${RUNNER_TEST-none}"), env=path).out == "none\n"


def test_the_folder_is_the_one_given(tmp_path: Path) -> None:
    assert runner.run(["pwd", "-P"], cwd=tmp_path).out == f"{tmp_path.resolve()}\n"


# Where the output goes


class Lines:
    """Keeps what it is shown."""

    def __init__(self) -> None:
        self.seen: list[tuple[bytes, float]] = []
        self.ended = False

    def read(self, line: bytes) -> None:
        self.seen.append((line, time.monotonic()))

    def end(self) -> None:
        self.ended = True


def test_a_log_has_output_and_errors_and_the_follower_sees_them(tmp_path: Path) -> None:
    log, lines = tmp_path / "new" / "x.log", Lines()
    done = runner.run(sh("echo a; echo b >&2; printf c"), log=log, follow=lines)
    assert (done.out, done.err, log.read_text()) == ("", "", "a\nb\nc")
    assert [line for line, _ in lines.seen] == [b"a\n", b"b\n", b"c"]
    assert lines.ended


def test_lines_are_shown_while_the_program_runs() -> None:
    lines = Lines()
    done = runner.run(sh("echo first; sleep 1; echo second"), follow=lines, timeout=20)
    (first, at), (second, later) = lines.seen
    assert (first, second, done.out) == (b"first\n", b"second\n", "first\nsecond\n")
    assert later - at > 0.5


def test_a_follower_that_breaks_off_ends_the_program() -> None:
    class Broken(Lines):
        def read(self, line: bytes) -> None:
            super().read(line)
            raise ValueError("no more")

    lines = Broken()
    with pytest.raises(ValueError, match="no more"):
        runner.run(sh("echo $$; sleep 300"), follow=lines, timeout=60)
    assert gone(int(lines.seen[0][0]))
    assert lines.ended


def test_without_capture_the_output_is_ours(capfd: pytest.CaptureFixture[str]) -> None:
    done = runner.run(sh("echo out; echo err >&2"), capture=False)
    assert (done.out, done.err) == ("", "")
    assert capfd.readouterr() == ("out\n", "err\n")


# Its end


def test_time_is_bounded_for_grandchildren_too_and_their_output_is_kept(tmp_path: Path) -> None:
    script = "sh -c 'echo $$; sleep 300' & echo $$; wait"
    begin = time.monotonic()
    done = runner.run(sh(script), timeout=1)
    assert done.timed_out and done.code == runner.TIMED_OUT and done.how == "no end in time"
    assert time.monotonic() - begin < 20
    pids = [int(line) for line in done.out.split()]
    assert len(pids) == 2 and gone(*pids)


def test_what_a_program_left_in_its_group_ends_with_it() -> None:
    begin = time.monotonic()
    done = runner.run(sh("sleep 300 & echo $!"), timeout=60)
    assert done.code == 0 and time.monotonic() - begin < 20  # the pipe is still open there
    assert gone(int(done.out))


def test_what_left_the_group_is_ended_only_where_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    daemon = f"setsid sh -c 'trap \"\" TERM HUP; echo $$ >{file}; exec sleep 300' >/dev/null 2>&1 &"
    script = f"{daemon} while ! [ -s {file} ]; do sleep 0.05; done"
    assert runner.run(sh(script), timeout=60).code == 0
    left = int(file.read_text())
    assert alive(left)
    os.kill(left, signal.SIGKILL)
    file.unlink()
    assert runner.run(sh(script), timeout=60, everywhere=True).code == 0
    assert gone(int(file.read_text()))


def test_a_polite_end_lets_a_program_say_its_last_words() -> None:
    script = "trap 'echo bye; exit 0' TERM; echo hello; while :; do sleep 0.05; done"
    assert runner.run(sh(script), timeout=1).out == "hello\n"
    done = runner.run(sh(script), timeout=1, polite=20)
    assert done.timed_out and done.out == "hello\nbye\n"
    assert done.seconds < 15


def test_after_a_whole_line_there_is_only_the_grace_left() -> None:
    done = runner.run(sh("echo result; sleep 300"), timeout=60, grace=0.3)
    assert done.timed_out and done.out == "result\n" and done.seconds < 20
    assert not runner.run(sh("sleep 1; echo result"), timeout=60, grace=0.3).timed_out


def test_programs_of_several_threads_do_not_meet() -> None:
    codes: dict[int, int] = {}

    def one(number: int) -> None:
        codes[number] = runner.run(sh(f"sleep 0.2; exit {number}"), timeout=60).code

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == {number: number for number in range(8)}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_program_and_what_is_cleaned_up_still_runs(
    number: signal.Signals, tmp_path: Path
) -> None:
    script = tmp_path / "driver.py"
    script.write_text(
        "import signal, sys\n"
        f"sys.path.insert(0, {str(PYTHON)!r})\n"
        "from haichi_processes import runner\n"
        "from haichi_processes.ending import ENDING\n"
        "ENDING.install(signal.SIGTERM, signal.SIGINT)\n"
        "try:\n"
        "    runner.run(['sh', '-c', 'echo $$; sleep 300'], capture=False)\n"
        "finally:\n"
        "    runner.run(['echo', 'cleaned up'], capture=False)\n"
    )
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    child = int(process.stdout.readline())
    process.send_signal(number)
    assert process.stdout.read() == "cleaned up\n"
    assert process.wait(timeout=20) == 128 + number
    assert gone(child)


def test_what_outlives_being_killed_is_named() -> None:
    process = subprocess.Popen(["sleep", "300"])
    try:
        # A process that is never waited for is still listed by a search that looks at its number.
        assert marks.kill_until_gone(lambda: [process.pid], patience=0.3) == [process.pid]
    finally:
        process.wait()
