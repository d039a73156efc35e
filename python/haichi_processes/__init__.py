"""Starting other programs and being sure of their end.

The packages `haichi` and `haichi_bootstrap` and the tests start programs through this one alone. It
imports the standard library and nothing of theirs.
"""
