"""Benchmarks: ratios measured in one run, each a module to execute."""
