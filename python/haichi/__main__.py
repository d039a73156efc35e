"""`python -m haichi`: what ./haichi starts for everything that is not run, where or config."""

from haichi.cli import app

app(prog_name="haichi")
