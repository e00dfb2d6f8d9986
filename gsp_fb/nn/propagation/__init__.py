"""Propagations: what a layer does to neighbourhoods, each with a low and a high channel."""
