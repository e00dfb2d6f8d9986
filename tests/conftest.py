"""Hypothesis profiles: repeatable by default, `--hypothesis-profile=thorough` or `long` to go looking."""

from hypothesis import HealthCheck, settings

settings.register_profile("laws", max_examples=60, deadline=None, derandomize=True, database=None)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "long", max_examples=20_000, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck)
)
settings.register_profile("mutation", max_examples=8, deadline=None, derandomize=True, database=None)
settings.load_profile("laws")
