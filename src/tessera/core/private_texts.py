"""Texts without what identifies a person or a machine: the one rule for everything that is published.

Bundles are checked by it, and their messages cleaned. Provenance, results in packages and the manifests of
images are cleaned. docs/reference/bundle-format.md has the rule for people. It finds forms of texts and the
names of this machine; it cannot know names of others.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from pathlib import Path
from posixpath import normpath

# The kinds, and what stands in their place: ``[path]``, ``[secret]``, ``[name]``, ...

PATH, SECRET, MAIL, HARDWARE, NETWORK, USER, HOST = "path", "secret", "mail", "mac", "ip", "user", "host"
#: kind -> what it is, for messages
KINDS = {
    SECRET: "a password, a token, or a user of a URL",
    PATH: "an absolute path",
    MAIL: "an e-mail address",
    HARDWARE: "a hardware address",
    NETWORK: "a network address",
    HOST: "the name of the host",
    USER: "the name of the user",
}
_NAME = "[name]"
_MARKS = {kind: f"[{kind}]" for kind in KINDS} | {USER: _NAME, HOST: _NAME}
Replace = Callable[[re.Match[str]], str]
#: Kind, a part of each such text (a quick look before the search), form, what replaces it.
Form = tuple[str, str, re.Pattern[str], Replace]

# Secrets: the user of a URL (``http://alice:secret@host``), and values of arguments (``--token=...``).
#
# Texts are searched as they stand in CSV, JSON and HTML files, so nothing that is replaced goes over a comma
# or a quote that may belong to the file.

_URL_USER = re.compile(r"(?<=://)(?!\[secret\]@)[^\s/?#\"'<>\\,]+(?::[^\s/?#\"'<>\\]*)?@")
_SECRET = r"(?:token|passw(?:or)?d|passphrase|secret|credentials?|(?:api|access|private|secret)[-_]?key)"
_QUOTED = r"[^\"'\s,:<>\[\]{}\\][^\"'\n,<>\[\]{}\\]*"
_QUOTES = (r"\\\"", r"\"\"", r"\"", "'")
_VALUE = (
    rf"(?!\[secret\])(?:{'|'.join(f'{mark}{_QUOTED}{mark}' for mark in _QUOTES)}|[^\s\"'<>,;&\\\[\]{{}}]+)"
)
_ASSIGNED = re.compile(rf"({_SECRET}=){_VALUE}", re.IGNORECASE)
_OPTION = re.compile(rf"((?<![\w-])--?(?:[A-Za-z0-9]+-)*{_SECRET}[ \t]+)(?!-){_VALUE}", re.IGNORECASE)

# Absolute paths, by their form. Folders of the system are the same on every machine, so they stay.
#
# A path begins at a border: not behind a letter (``a/b``), a closing bracket (``(a-b)/N``), a placeholder
# (``<pid>/maps``), a wildcard, or a part of base64 text. Slashes may be escaped, as in JSON in HTML pages.

_SLASH = r"\\?/"
_MIDDLE = r"(?:[\w.+@%#~-]|[:=](?!\\?/))+"
_LAST = r"\.*[\w+@%#~-]+(?:\.+[\w+@%#~-]+)*"
_REST = rf"(?:{_SLASH}{_MIDDLE}(?=\\?/))*{_SLASH}(?:{_LAST})?"
_BORDER = r"(?:(?<=\\[nrt])|(?<=file://)|(?<![\w/.~<)\]}+*\\-])(?<!&gt;)(?<!base64,))"
_FLAG = r"(?:(?<=[\s\"'=,:(]-[A-Za-z])|(?<=^-[A-Za-z]))(?=/[^/\s]+/)"  #: -I/folder/include
_ABSOLUTE = re.compile(
    rf"(?=[\\/])(?:{_BORDER}|{_FLAG})(?:(?<!:)/)?(?={_SLASH}\.*[\w@])(?!/[\d.]+(?![\w/-])){_REST}",
    re.MULTILINE,
)
_HOME = re.compile(rf"(?=~)(?<![\w.~/<)\]}}+*\\-])~(?:[A-Za-z_][\w.-]*)?(?:(?:{_REST})|(?<=\w)(?![\w(]))")
_SYSTEM = re.compile(
    r"/(?:bin|sbin|boot|etc|lib|lib32|lib64|libx32|proc|sys|dev(?!/shm/)|run(?=(?:/[^/]+)?$)"
    r"|usr(?=$|/local$)|usr/(?:local/)?(?:bin|sbin|lib\w*|include|share|src)"
    r"|\.tessera)(?:/|$)"  # under the last one, recordings see the checkout
)
_TAG = re.compile(
    r"</?(?:a|b|body|br|code|dd|desc|div|dt|em|figcaption|h[1-6]|i|li|option|p|pre|small|span|strong|summary|td|text"
    r"|th|title|tspan)(?:\s[^<>]*)?/?>$"
)
_LONGEST_TAG = 300
#: The last part of a path stays if it is the name of a file or a program, and no folder of a person.
_FILE = re.compile(
    r".+\.(?:csv|tsv|json|ya?ml|toml|txt|log|md|html|svg|pdf|png|ipynb|py|sh|c|cc|cpp|h|hpp|so(?:\.\d+)*|o|a|ko"
    r"|gz|xz|zst|zip|tar|sif|deb|tst|oslog|perf|data|dat|bin|conf|cfg|lock|tmp|smk)"
)
_PROGRAM_FOLDERS = ("bin", "sbin", "libexec", "build")


def _cleaned_path(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - _LONGEST_TAG) : match.start()]
    if before.endswith(">") and not _TAG.search(before):
        return match.group()
    path = match.group().replace("\\/", "/")
    if path[0] == "/" and _SYSTEM.match(normpath("/" + path.lstrip("/"))):
        return match.group()
    *folders, last = path.split("/")
    stays = folders and (_FILE.fullmatch(last) or (last and folders[-1] in _PROGRAM_FOLDERS))
    return f"{_MARKS[PATH]}/{last}" if stays else _MARKS[PATH]


# Addresses: of persons, of network cards, of machines.

_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]+@(?:(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?![\w-])|[A-Za-z0-9][\w.-]*(?=:[\w/~]))"
)
_HARDWARE = re.compile(
    r"(?<![0-9A-Fa-f:])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}(?![0-9A-Fa-f:])"
    r"|(?<![\w-])(?=[0-9-]*[A-Fa-f])[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5}(?![\w-])"
)
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = re.compile(rf"(?=\d)(?<![\w.-]){_BYTE}(?:\.{_BYTE}){{3}}(?![\w-]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.-])[0-9A-Fa-f]{4}:[0-9A-Fa-f:]{1,40}(?!\w)")
_SMALLEST_IPV6 = 0x2000  #: first group of the addresses that machines have: global, private or link-local


def _cleaned_ipv4(match: re.Match[str]) -> str:
    """Four numbers as in 6.12.1.2 are a version, unless a port, a mask or a URL shows that they are not."""
    numbers, after = match.group().split("."), match.string[match.end() : match.end() + 2]
    address = IPv4Address(match.group())
    nobody = address.is_loopback or match.group() in ("0.0.0.0", "255.255.255.255")  # noqa: S104 - none is bound
    in_context = re.match(r"[:/]\d", after) or match.string[: match.start()].endswith(("@", "//"))
    version = int(numbers[0]) < 10 and max(map(int, numbers)) < 100 and not in_context
    return match.group() if nobody or version else _MARKS[NETWORK]


def _cleaned_ipv6(match: re.Match[str]) -> str:
    found = match.group() if match.group().endswith("::") else match.group().rstrip(":")
    try:
        first = int(IPv6Address(found)) >> 112
    except AddressValueError:
        return match.group()
    return match.group() if first < _SMALLEST_IPV6 else _MARKS[NETWORK] + match.group()[len(found) :]


def _always(mark: str) -> Replace:
    return lambda match: mark


_FORMS: tuple[Form, ...] = (
    (SECRET, "://", _URL_USER, _always(f"{_MARKS[SECRET]}@")),
    (SECRET, "=", _ASSIGNED, lambda match: f"{match[1]}{_MARKS[SECRET]}"),
    (SECRET, "-", _OPTION, lambda match: f"{match[1]}{_MARKS[SECRET]}"),
    (MAIL, "@", _MAIL, _always(_MARKS[MAIL])),  # before paths: bob@node:/data
    (PATH, "~", _HOME, _cleaned_path),
    (PATH, "/", _ABSOLUTE, _cleaned_path),
    (HARDWARE, "", _HARDWARE, _always(_MARKS[HARDWARE])),
    (NETWORK, ":", _IPV6, _cleaned_ipv6),
    (NETWORK, ".", _IPV4, _cleaned_ipv4),
)


# Names of this machine: they are removed, too, with all that the forms find.

HOSTS_FILE = Path("/etc/hosts")
#: Ordinary words, which name nobody, and the words of our marks.
_ORDINARY = frozenset(
    {"root", "user", "host", "localhost", "ubuntu", "debian", "runner", "admin", "name", *KINDS}
)
_LOOPBACK = re.compile("localhost|loopback")
_SHORTEST = 3


def names_of_this_machine() -> dict[str, str]:
    """Name -> its kind (:data:`USER` or :data:`HOST`), the longest first. No name server is asked.

    Names of the host are its own, and those beside it in ``/etc/hosts``.
    """
    own = socket.gethostname()
    hosts = {own, own.split(".")[0], *_beside_in_hosts_file({own, own.split(".")[0]})}
    found = dict.fromkeys(hosts, HOST) | dict.fromkeys((user_name(), os.environ.get("SUDO_USER", "")), USER)
    kept = {
        name: kind
        for name, kind in found.items()
        if len(name) >= _SHORTEST and name not in _ORDINARY and not _LOOPBACK.search(name)
    }
    return dict(sorted(kept.items(), key=lambda item: (-len(item[0]), item[0])))


def user_name() -> str:
    """The user of this process; empty if it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _beside_in_hosts_file(own: set[str]) -> Iterator[str]:
    try:
        lines = HOSTS_FILE.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return
    for line in lines:
        names = line.partition("#")[0].split()[1:]
        if own & set(names):
            yield from names


def _without(form: Form, text: str, kinds: list[str]) -> str:
    """The text with this form replaced; ``kinds`` gets the kind of each."""
    kind, part, pattern, new = form

    def replaced(match: re.Match[str]) -> str:
        found = new(match)
        if found != match.group():
            kinds.append(kind)
        return found

    return pattern.sub(replaced, text) if part in text else text


@dataclass(frozen=True)
class Scrubber:
    """Removes private texts.

    Attributes:
        names: name -> :data:`USER` or :data:`HOST`, each a whole word. A host's domain goes with its name.
        folders: absolute paths that become ``[path]``; what follows them stays.
        home: the user's home folder, whose name may have a space.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    home: str = ""

    @classmethod
    def of_this_machine(cls, *folders: Path | str) -> Scrubber:
        """Names of this machine; ``folders`` as the attribute."""
        known = sorted({str(one) for one in folders}, key=len, reverse=True)
        long = tuple(one for one in known if one.count("/") > 1)
        return cls(names_of_this_machine(), long, str(Path.home()))

    def without(self, words: Collection[str]) -> Scrubber:
        """One that leaves these names in."""
        return replace(self, names={name: kind for name, kind in self.names.items() if name not in words})

    def scrub(self, text: str) -> tuple[str, list[str]]:
        """The text with marks in the place of private texts, and the kind of each. Marks stay as they are."""
        kinds: list[str] = []
        for form in (*self._of_folders, *_FORMS, *self._of_names):
            text = _without(form, text, kinds)
        return text, kinds

    def clean(self, text: str) -> str:
        """The text without private ones."""
        return self.scrub(text)[0]

    def kinds(self, text: str) -> list[str]:
        """The kinds of private texts in a text, each once, in the order of :data:`KINDS`."""
        found = set(self.scrub(text)[1])
        return [kind for kind in KINDS if kind in found]

    @cached_property
    def _of_folders(self) -> list[Form]:
        marks = {folder: _MARKS[PATH] for folder in self.folders}
        if self.home.count("/") > 1:
            marks[self.home] = "~"
        return [(PATH, one, re.compile(rf"{re.escape(one)}(?![\w.-])"), _always(marks[one])) for one in marks]

    @cached_property
    def _of_names(self) -> list[Form]:
        return [
            (
                kind,
                name,
                re.compile(whole_word(name) + (_DOMAIN if kind == HOST else "")),
                _always(_MARKS[kind]),
            )
            for name, kind in self.names.items()
        ]


_DOMAIN = r"(?:(?:\.[A-Za-z0-9-]+){2,})?"


def whole_word(name: str) -> str:
    """A regular expression of the name as a whole word."""
    return rf"(?<!\w){re.escape(name)}(?!\w)"
