"""Coverage floors, mutation testing, long property runs, and the page of all such figures; not installed."""
