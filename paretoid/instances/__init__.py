"""Bandits by name: published ones that ship with the package, and the user's own files."""

from paretoid.instances.bundled import INSTANCES, SOURCE, load_instance
from paretoid.instances.files import read_instance, write_instance

__all__ = ["INSTANCES", "SOURCE", "load_instance", "read_instance", "write_instance"]
