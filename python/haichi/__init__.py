"""The parts of haichi that are not in the path of a program: lab, demo, measurements, reports."""
