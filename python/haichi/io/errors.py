"""What is wrong with a file that arrays were to come from."""


class FormatError(ValueError):
    """The file is not what it should be."""
