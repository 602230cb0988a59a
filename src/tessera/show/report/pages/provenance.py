"""Provenance: engines and origins per quantity, configuration, versions, machine, hashes, claims' history."""

from __future__ import annotations

import hashlib
import re

import yaml

from tessera.core.units import format_bytes

#: folders of the results whose files are listed in provenance/hashes.json only
SUMMARISED = ("layouts", "models", "figures", "logs")


def page(facts) -> dict:
    parts = facts.provenance
    machine = dict(parts.get("machine") or {})
    if machine.get("memory_bytes"):
        machine["memory"] = f"{machine.pop('memory_bytes') / (1 << 30):.1f} GB"
    git = dict(parts.get("git") or {})
    history, changes = git.pop("claims_history", []), git.pop("claims_changes", "")
    hashes = parts.get("hashes") or {}
    engine = parts.get("engine") or {}
    images = {name: _manifest(content) for name, content in (engine.get("images") or {}).items()}
    if kernel := engine.get("kernel_source"):
        images["kernel source"] = f"{kernel['version']}, {kernel['origin']}"
    blocks = [
        ("Code", git),
        ("Engine", {"engine": engine.get("engine"), **images}),
        ("Machine", machine),
        ("Versions", parts.get("versions") or {}),
    ]
    return {
        "title": "Provenance",
        "quantities": (parts.get("quantities") or {}).get("cells") or [],
        "blocks": [{"title": title, "rows": _rows(values)} for title, values in blocks],
        "config_text": yaml.safe_dump(facts.config, sort_keys=False, allow_unicode=True),
        "timeline": facts.figure("timeline"),
        "history": history,
        "changes": unwrapped(changes),
        "hashes": [
            {"title": title, "count": len(hashes.get(name) or {}), "rows": _few(hashes.get(name) or {})}
            for title, name in (("Inputs of the checkout", "inputs"), ("Results", "results"))
        ],
    }


def _few(hashes: dict[str, str]) -> list[tuple[str, str]]:
    """Files and their hashes; of folders with thousands of files only how many there are."""
    rows, many = [], {}
    for path, digest in sorted(hashes.items()):
        folder = path.split("/")[0]
        if folder in SUMMARISED:
            many.setdefault(folder, []).append(digest)
        else:
            rows.append((path, digest))
    return rows + [
        (f"{name}/: {len(found)} files, hash of their hashes", _hash(found)) for name, found in many.items()
    ]


def _hash(digests: list[str]) -> str:
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _manifest(content) -> str:
    """An image's manifest in one line: its plain entries, and how long its lists are."""
    if not isinstance(content, dict):
        return str(content)
    return ", ".join(
        f"{key} {len(value)}" if isinstance(value, dict | list) else f"{key} {value}"
        for key, value in content.items()
    )


def _rows(values: dict) -> list[tuple[str, str]]:
    return [(key.replace("_", " "), _word(key, value)) for key, value in values.items()]


def _word(key: str, value) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(str(item) for item in value) or "none"
    return format_bytes(value) if key.endswith("_bytes") and isinstance(value, int) else str(value)


def unwrapped(text: str) -> str:
    """Markdown whose paragraphs and items are one line each, so that the page breaks them."""
    return re.sub(r"(?<=\S)\n *(?=[^\s#*|-])", " ", text)
