"""Coverage-guided fuzzing of everything that reads a file; not part of the installed package."""
