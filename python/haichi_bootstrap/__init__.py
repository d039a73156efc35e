"""What `./haichi` does before there is anything: set up, build, test and check.

Standard library only, Python 3.11 or newer. The product's own Python is the package `haichi` beside
this one; it lives in .venv and may import what requirements/runtime.txt pins.
"""
