"""The run report: its form, what can be read from it, and its text, page and trace."""
