"""README.md for a package index, where relative links lead nowhere; a metadata hook of hatch.

One variable says where the repository is, PARETOID_URL (https://HOST/OWNER/NAME): links and
pictures of the README become absolute, to the tag of the version, and the metadata name the pages
that a repository has. Without it, in a clone, the README stays as it is.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PAPER = "https://arxiv.org/abs/2307.00424"


def absolute(readme: str, url: str, version: str) -> str:
    """`readme` with links to files by blob/, and pictures, by raw/, at the tag of `version`."""

    def link(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        kind = "raw" if picture else "blob"
        return f"{picture}[{words}]({url}/{kind}/v{version}/{target})"

    return re.sub(r"(!?)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)", link, readme)


def urls(url: str, version: str) -> dict[str, str]:
    """What an index shows beside the README."""
    if not url:
        return {"Paper": PAPER}
    return {
        "Homepage": url,
        "Documentation": f"{url}/blob/v{version}/examples/README.md",
        "Changelog": f"{url}/blob/v{version}/CHANGELOG.md",
        "Issues": f"{url}/issues",
        "Paper": PAPER,
    }


class PublicLinks(MetadataHookInterface):
    """Fills in the dynamic fields readme and urls."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling when it writes metadata."""
        source = Path(self.root, "paretoid", "__init__.py").read_text(encoding="utf-8")
        version = re.search(r'^__version__ = "(.+)"$', source, re.M)
        assert version is not None
        url = os.environ.get("PARETOID_URL", "").rstrip("/")
        if url and not re.fullmatch(r"https://[^\s/]+(/[^\s/]+)+", url):
            raise ValueError(
                f"PARETOID_URL={url!r} must be the address of the repository, "
                f"https://HOST/OWNER/NAME: links of the README begin with it. Leave it out to "
                f"keep them relative."
            )
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = absolute(readme, url, version[1]) if url else readme
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = urls(url, version[1])
