"""The version, alone in a module so that packaging reads it without importing the package."""

__version__ = "0.2.0"
